package differential

import (
	appsv1 "k8s.io/api/apps/v1"
)

const (
	orphaning = `{"propagationPolicy":"Orphan"}`
	foreseen  = `{"propagationPolicy":"Foreground"}`
)

// statefulSets is about claims that come and go with a StatefulSet.
func statefulSets() []history {
	running := want{"pod/db-0 phase": "Running", "pvc/data-db-0 phase": "Bound"}
	return []history{
		{name: "a StatefulSet is scaled, and its claims stay", acts: []act{
			create(statefulSet("db", 2)).is(running).is(want{"pod/db-1 phase": "Running", "sts/db status.ready": "2"}),
			patch("sts/db:scale", merge, `{"spec":{"replicas":0}}`).is(want{
				"pod/db-0 exists": "", "pod/db-1 exists": "", "pvc/data-db-1 phase": "Bound", "pvc/data-db-1 since": "act 2",
			}),
			patch("sts/db:scale", merge, `{"spec":{"replicas":2}}`).is(running).is(want{"pvc/data-db-1 since": "act 2", "pod/db-1 since": "act 4"}),
		}},
		{name: "orphaned and made again with another template: nothing restarts", acts: []act{
			create(statefulSet("db", 2, retention(onRetain, onDelete))).is(running),
			patch("sts/db", merge, `{"spec":{"volumeClaimTemplates":[]}}`).fails("422", "Invalid"),
			remove("sts/db", orphaning).is(want{"sts/db exists": "", "pod/db-0 owners": "", "pvc/data-db-0 owners": ""}).is(running),
			create(statefulSet("db", 2, retention(onRetain, onDelete), templateModes(rwop))).is(running).is(want{
				"pod/db-0 since": "act 2", "pvc/data-db-0 since": "act 2", "pvc/data-db-0 modes": "ReadWriteOnce",
				"pvc/data-db-0 owners": "StatefulSet sts/db controller=true blocks=true", "sts/db template data": "ReadWriteOncePod 1Gi",
			}),
			patch("sts/db:scale", merge, `{"spec":{"replicas":3}}`).is(want{"pvc/data-db-2 modes": "ReadWriteOncePod"}),
		}},
		{name: "orphaned, the claim replaced, made again", acts: []act{
			create(statefulSet("db", 1)).is(running),
			patch("sts/db:scale", merge, `{"spec":{"replicas":0}}`),
			remove("sts/db", orphaning).is(want{"sts/db exists": ""}),
			note("pvc/data-db-0"),
			patchVolumeOf("pvc/data-db-0", toRetain),
			remove("pvc/data-db-0", "").is(want{"pv/pvc-{pvc/data-db-0} phase": "Released"}),
			patchNoted("pvc/data-db-0", `{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},`+
				`"spec":{"accessModes":["ReadWriteOncePod"],"claimRef":{"uid":null,"resourceVersion":null}}}`).
				is(want{"pv/pvc-{pvc/data-db-0} phase": "Available"}),
			createFor("pvc/data-db-0", claim("data-db-0", asksClass(made), asksModes(rwop))).is(want{
				"pvc/data-db-0 phase": "Bound", "pvc/data-db-0 modes": "ReadWriteOncePod",
			}),
			create(statefulSet("db", 1, templateModes(rwop))).is(running),
		}},
		{name: "a claim is deleted under a StatefulSet that wants it", acts: []act{
			create(statefulSet("db", 1)).is(running),
			remove("pvc/data-db-0", "").is(want{"pvc/data-db-0 deleting": "yes", "pvc/data-db-0 phase": "Bound"}),
			remove("pod/db-0", "").is(want{"pod/db-0 phase": "Running", "pvc/data-db-0 since": "act 4", "pvc/data-db-0 deleting": "no"}),
		}},
		{name: "both retention policies Delete, scaled and then deleted", acts: []act{
			create(statefulSet("db", 2, retention(onDelete, onDelete))).is(running),
			patch("sts/db:scale", merge, `{"spec":{"replicas":1}}`).is(want{"pvc/data-db-1 exists": ""}).is(running),
			remove("sts/db", "").is(want{"pvc/data-db-0 exists": "", "pod/db-0 exists": "", "sts/db exists": ""}),
		}},
		{name: "both retention policies Delete, but orphaned", acts: []act{
			create(statefulSet("db", 1, retention(onDelete, onDelete))).is(running),
			remove("sts/db", orphaning).is(want{"sts/db exists": ""}).is(running),
		}},
		{name: "a retention policy is changed on a live StatefulSet", acts: []act{
			create(statefulSet("db", 2, retention(onDelete, onDelete))).is(running),
			patch("sts/db", merge, `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Retain","whenDeleted":"Retain"}}}`).
				is(want{"pvc/data-db-0 owners": ""}),
			patch("sts/db:scale", merge, `{"spec":{"replicas":1}}`).is(want{"pvc/data-db-1 phase": "Bound"}),
			remove("sts/db", "").is(want{"pvc/data-db-0 phase": "Bound"}),
		}},
		{name: "deleted in the foreground, claims retained", acts: []act{
			create(statefulSet("db", 2)).is(running),
			remove("sts/db", foreseen).is(want{"sts/db exists": "", "pod/db-0 exists": "", "pvc/data-db-0 phase": "Bound"}),
		}},
		{name: "a StatefulSet waits for the first pod, and starts all at once", acts: []act{
			create(statefulSet("db", 2, templateClass(slow))).is(want{"pod/db-0 phase": "Pending", "pod/db-1 exists": "", "pvc/data-db-0 phase": "Pending"}),
			create(volume("vol")).is(want{"pod/db-0 phase": "Running", "pod/db-1 phase": "Pending"}),
			create(volume("vol-1")).is(want{"pod/db-1 phase": "Running"}),
			create(statefulSet("web", 3, templateClass(slow), func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement })).
				is(want{"pod/web-2 phase": "Pending", "pvc/data-web-2 phase": "Pending"}),
		}},
		{name: "a StatefulSet adopts the claims that are there", acts: []act{
			given(volume("vol")),
			create(claim("data-db-0")).is(want{"pvc/data-db-0 phase": "Bound"}),
			create(statefulSet("db", 1)).is(running).is(want{"pvc/data-db-0 volumeName": "$-vol", "pvc/data-db-0 owners": ""}),
		}},
		{name: "a StatefulSet with another template restarts its pods", acts: []act{
			create(statefulSet("db", 2)).is(running),
			patch("sts/db", merge, `{"spec":{"template":{"metadata":{"annotations":{"restarted":"yes"}}}}}`).
				is(want{"pod/db-0 since": "act 3", "pod/db-1 since": "act 3", "pvc/data-db-0 since": "act 2"}).is(running),
		}},
		{name: "a pod that is stuck holds the scaled-down claim", acts: []act{
			create(statefulSet("db", 1, retention(onDelete, onRetain), func(s *appsv1.StatefulSet) {
				s.Spec.Template.Annotations = map[string]string{"kubelet.claimref.test/stuck": "true"}
			})).is(running),
			patch("sts/db:scale", merge, `{"spec":{"replicas":0}}`).is(want{"pod/db-0 deleting": "yes", "pvc/data-db-0 phase": "Bound"}),
			remove("pod/db-0", `{"gracePeriodSeconds":0}`).is(want{"pod/db-0 exists": "", "pvc/data-db-0 exists": ""}),
		}},
	}
}

func templateClass(name string) stsEdit {
	return func(s *appsv1.StatefulSet) { s.Spec.VolumeClaimTemplates[0].Spec.StorageClassName = &name }
}

// workloads is about the other workloads, as far as claims are concerned.
func workloads() []history {
	return []history{
		{name: "a DaemonSet uses a claim on every node", acts: []act{
			given(volume("vol", withModes(rwx))),
			create(claim("data", asksModes(rwx))).is(boundPair),
			create(daemonSet("agent", "data")).is(want{"pod/agent-* phase": "Running", "pod/agent-*#2 phase": "Running"}),
			remove("pvc/data", "").is(want{"pvc/data deleting": "yes"}),
			remove("ds/agent", "").is(want{"pod/agent-* exists": "", "pvc/data exists": "", "pv/vol phase": "Released"}),
		}},
		{name: "a Job that is done holds its claim until it is deleted with its pod", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(job("load", "data")).is(want{"pod/load-* phase": "Succeeded"}),
			remove("pvc/data", "").is(want{"pvc/data deleting": "yes"}),
			remove("job/load", `{"propagationPolicy":"Background"}`).is(want{"pod/load-* exists": "", "pvc/data exists": ""}),
		}},
		{name: "a Job that is deleted by default leaves its pod", acts: []act{
			create(job("load", "")).is(want{"pod/load-* phase": "Succeeded"}),
			remove("job/load", "").is(want{"job/load exists": "", "pod/load-* exists": "yes", "pod/load-* owners": ""}),
		}},
		{name: "a Deployment is scaled to nothing and back", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(deployment("web", "data", 1)).is(want{"deploy/web status.ready": "1"}),
			remove("pvc/data", "").is(want{"pvc/data deleting": "yes"}).is(boundPair),
			patch("deploy/web:scale", merge, `{"spec":{"replicas":0}}`).is(want{"pvc/data exists": "", "pv/vol phase": "Released"}),
			patch("deploy/web:scale", merge, `{"spec":{"replicas":1}}`).is(want{"deploy/web status.ready": "0"}),
		}},
		{name: "a Deployment is orphaned, then deleted", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(deployment("web", "data", 1)).is(want{"deploy/web status.ready": "1"}),
			remove("deploy/web", orphaning).is(want{"deploy/web exists": "", "rs/web-{hash} owners": ""}),
			create(deployment("web", "data", 1)).is(want{"deploy/web status.ready": "1"}),
			remove("deploy/web", "").is(want{"deploy/web exists": "", "rs/web-{hash} exists": ""}),
		}},
	}
}

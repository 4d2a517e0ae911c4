package differential

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func ownedBy(kind, name, uid string) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) {
		pvc.OwnerReferences = append(pvc.OwnerReferences, metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(uid),
		})
	}
}

// protection is about what keeps claims and volumes from going.
func protection() []history {
	withPod := func(edit ...podEdit) []act {
		return []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(pod("app", "data", edit...)),
		}
	}
	kept, gone := want{"pvc/data deleting": "yes"}, want{"pvc/data exists": "", "pv/vol phase": "Released"}
	return []history{
		{name: "a running pod holds its claim", acts: append(withPod(),
			remove("pvc/data", "").is(kept),
			create(claim("data")).fails("409", "AlreadyExists"),
			create(pod("late", "data")).is(want{"pod/late node": "no"}),
			remove("pod/app", "").is(gone))},
		{name: "a pod that succeeded holds its claim", acts: append(withPod(succeeds),
			remove("pvc/data", "").is(kept).is(want{"pod/app phase": "Succeeded"}),
			remove("pod/app", "").is(gone))},
		{name: "a pod without a node does not hold its claim", acts: append(withPod(nowhere),
			remove("pvc/data", "").is(gone).is(want{"pod/app phase": "Pending"}))},
		{name: "a pod that can't end holds its claim", acts: append(withPod(stuck),
			remove("pvc/data", ""),
			remove("pod/app", "").is(kept).is(want{"pod/app deleting": "yes"}),
			remove("pod/app", `{"gracePeriodSeconds":0}`).is(gone))},
		{name: "one of two pods that use a claim goes", acts: append(withPod(),
			create(pod("second", "data")),
			remove("pvc/data", ""),
			remove("pod/app", "").is(kept),
			remove("pod/second", "").is(gone))},
		{name: "a bound volume is held, and goes with its claim", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			remove("pv/vol", "").is(want{"pv/vol deleting": "yes"}).is(boundPair),
			create(volume("vol")).fails("409", "AlreadyExists"),
			remove("pvc/data", "").is(want{"pv/vol exists": "", "pvc/data exists": ""}),
		}},
		{name: "a free volume goes at once", acts: []act{
			given(volume("vol")),
			remove("pv/vol", "").is(want{"pv/vol exists": ""}),
			remove("pv/vol", "").fails("404", "NotFound"),
		}},
		{name: "a released volume goes, and keeps its data", acts: append(released(),
			remove("pv/vol", "").is(want{"pv/vol exists": "", "data/vol exists": "yes"}))},
		{name: "a bound volume with Delete is deleted, then its claim", acts: []act{
			create(claim("data", asksClass(made))),
			removeVolumeOf("pvc/data").is(want{"pv/pvc-{pvc/data} deleting": "yes", "pvc/data phase": "Bound"}),
			remove("pvc/data", "").is(want{"pv/pvc-{pvc/data} exists": "", "data/pvc-{pvc/data} exists": "no"}),
		}},
		{name: "the finalizers are taken off by hand", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			remove("pv/vol", ""),
			patch("pv/vol", merge, `{"metadata":{"finalizers":null}}`).is(want{"pv/vol exists": "", "pvc/data phase": "Lost"}),
		}},
		{name: "a finalizer of somebody else holds a claim", acts: []act{
			given(volume("vol")),
			create(claim("data", func(pvc *corev1.PersistentVolumeClaim) { pvc.Finalizers = []string{"example.com/hold"} })).is(boundPair),
			remove("pvc/data", "").is(want{"pvc/data finalizers": "example.com/hold", "pvc/data deleting": "yes"}),
			patch("pvc/data", merge, `{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}`).fails("422", "Invalid"),
			patch("pvc/data", jsonPatch, `[{"op":"remove","path":"/metadata/finalizers/0"}]`).is(gone),
		}},
		{name: "the claim of a dead owner is collected", acts: []act{
			given(volume("vol")),
			create(claim("data", ownedBy("StatefulSet", "db", staleUID))).is(want{"pvc/data exists": ""}),
		}},
		{name: "an owner that is there keeps the claim, a dead one does not count", acts: []act{
			create(statefulSet("db", 0)),
			create(claim("data", ownedBy("StatefulSet", "db", "{{uid `sts/db`}}"), ownedBy("StatefulSet", "old", staleUID))).
				is(want{"pvc/data phase": "Pending", "pvc/data owners": "StatefulSet sts/db controller=false blocks=false"}),
			remove("sts/db", "").is(want{"pvc/data exists": ""}),
		}},
		{name: "a namespace goes with all that is in it", acts: append(withPod(),
			remove("ns/", "").is(want{"ns/ exists": "", "pvc/data exists": "", "pv/vol phase": "Released"}))},
		{name: "ReadWriteOncePod: a second pod waits, a finished one does not hold", acts: []act{
			given(volume("vol", withModes(rwop))),
			create(claim("data", asksModes(rwop))).is(boundPair),
			create(pod("app", "data")).is(want{"pod/app phase": "Running"}),
			create(pod("second", "data")).is(want{"pod/second node": "no"}),
			remove("pod/app", "").is(want{"pod/second phase": "Running"}),
			create(pod("third", "data")).is(want{"pod/third node": "no"}),
		}},
		{name: "ReadWriteOncePod: a pod that succeeded does not hold", acts: []act{
			given(volume("vol", withModes(rwop))),
			create(claim("data", asksModes(rwop))).is(boundPair),
			create(pod("app", "data", succeeds)).is(want{"pod/app phase": "Succeeded"}),
			create(pod("second", "data")).is(want{"pod/second phase": "Running"}),
		}},
	}
}

// lostClaims has a history for each cause.
func lostClaims() []history {
	return []history{
		{name: "lost: the volume is gone, and comes back", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			remove("pv/vol", ""),
			patch("pv/vol", jsonPatch, `[{"op":"remove","path":"/metadata/finalizers"}]`).is(want{
				"pvc/data phase": "Lost", "pvc/data status.capacity": absent, "pvc/data status.modes": "",
			}),
			create(pod("app", "data")).is(want{"pod/app node": "no"}),
			create(volume("vol")).is(boundPair),
		}},
		{name: "lost: a claim whose volume never was", acts: []act{
			create(claim("data", names("vol"), annotated("pv.kubernetes.io/bind-completed", "yes"))).is(want{"pvc/data phase": "Lost"}),
			create(volume("vol", reserved("data"))).is(want{"pvc/data phase": "Lost", "pv/vol phase": "Available"}),
		}},
		{name: "lost: a claim that does not say which volume", acts: []act{
			create(claim("data", annotated("pv.kubernetes.io/bind-completed", "yes"))).is(want{"pvc/data phase": "Lost"}),
			given(volume("vol")),
			patch("pvc/data", merge, `{"spec":{"volumeName":"$-vol"}}`).is(boundPair),
		}},
		{name: "lost: the volume is another claim's", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(claim("rival")),
			patch("pv/vol", merge, `{"spec":{"claimRef":{"name":"rival","uid":"{{uid "pvc/rival"}}","resourceVersion":null}}}`).
				is(want{"pvc/data phase": "Lost", "pvc/rival phase": "Bound"}),
			remove("pvc/data", "").is(want{"pvc/data exists": "", "pvc/rival phase": "Bound", "pv/vol phase": "Bound"}),
		}},
	}
}

// removeVolumeOf deletes the volume that was made for a claim.
func removeVolumeOf(claim string) act {
	return remove(ref("pv/"+uidMark+"{{uid `"+claim+"`}}"), "")
}

// createFor makes a claim that names the volume which was made for one that was
// noted.
func createFor(noted string, pvc *corev1.PersistentVolumeClaim) act {
	pvc.Spec.VolumeName = "pvc-{{noted `" + noted + "`}}"
	return create(pvc)
}

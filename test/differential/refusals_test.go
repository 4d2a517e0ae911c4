package differential

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/test/controlplane"
)

// preconditions is about requests that only hold for a certain version.
func preconditions() []history {
	return []history{
		{name: "patches of a stale version", acts: []act{
			given(volume("vol")),
			patch("pv/vol", merge, `{"metadata":{"resourceVersion":"1"},"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`).fails("409", "Conflict"),
			patch("pv/vol", strategic, `{"metadata":{"resourceVersion":"1"},"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`).fails("409", "Conflict"),
			patch("pv/vol", jsonPatch, `[{"op":"test","path":"/metadata/resourceVersion","value":"1"},{"op":"remove","path":"/spec/claimRef"}]`).fails("422", "Invalid"),
			patch("pv/vol", jsonPatch, `[{"op":"replace","path":"/metadata/resourceVersion","value":"1"}]`).fails("409", "Conflict"),
			patch("pv/vol", merge, `{"metadata":{"resourceVersion":"{{rv "pv/vol"}}"},"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`).
				is(want{"pv/vol policy": "Delete"}),
			patch("pv/vol", jsonPatch, `[{"op":"test","path":"/status/phase","value":"Available"},{"op":"replace","path":"/spec/persistentVolumeReclaimPolicy","value":"Retain"}]`).
				is(want{"pv/vol policy": "Retain"}),
			patch("pv/vol", jsonPatch, `[{"op":"test","path":"/status/phase","value":"Released"},{"op":"replace","path":"/spec/persistentVolumeReclaimPolicy","value":"Delete"}]`).
				fails("422", "Invalid"),
			patch("pv/vol", jsonPatch, `[{"op":"remove","path":"/spec/claimRef"}]`).fails("422", "Invalid"),
		}},
		{name: "a wrong uid in patches and updates", acts: []act{
			given(volume("vol")),
			patch("pv/vol", merge, `{"metadata":{"uid":"`+staleUID+`"}}`).fails("422", "Invalid"),
			patch("pv/vol", jsonPatch, `[{"op":"test","path":"/metadata/uid","value":"`+staleUID+`"}]`).fails("422", "Invalid"),
			update("pv/vol", func(o object) { o.SetUID(staleUID) }).fails("409", "Conflict"),
			update("pv/vol", func(o object) { o.SetResourceVersion("1") }).fails("409", "Conflict"),
			update("pv/vol", func(o object) { o.SetResourceVersion("") }),
			update("pv/vol", func(o object) { o.SetLabels(map[string]string{"a": "b"}) }),
			update("pv/vol", func(o object) { o.SetName("another") }).fails("400", "BadRequest"),
		}},
		{name: "deletions with preconditions", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			remove("pvc/data", `{"preconditions":{"uid":"`+staleUID+`"}}`).fails("409", "Conflict"),
			remove("pvc/data", `{"preconditions":{"resourceVersion":"1"}}`).fails("409", "Conflict"),
			remove("pvc/none", `{"preconditions":{"uid":"`+staleUID+`"}}`).fails("404", "NotFound"),
			dry(remove("pvc/data", `{"preconditions":{"uid":"`+staleUID+`"}}`)).fails("409", "Conflict"),
			remove("pvc/data", `{"preconditions":{"uid":"{{uid "pvc/data"}}","resourceVersion":"{{rv "pvc/data"}}"}}`).is(want{"pvc/data exists": ""}),
			remove("pv/vol", `{"propagationPolicy":"Sideways"}`).fails("422", "Invalid"),
			remove("pv/vol", `{"propagationPolicy":"Orphan","orphanDependents":true}`).fails("422", "Invalid"),
		}},
		{name: "scales of another version or object", acts: []act{
			create(statefulSet("db", 1, templateClass(slow))),
			patch("sts/db:scale", merge, `{"metadata":{"resourceVersion":"1"},"spec":{"replicas":2}}`).fails("409", "Conflict"),
			patch("sts/db:scale", merge, `{"metadata":{"uid":"`+staleUID+`"},"spec":{"replicas":2}}`).fails("409", "Conflict"),
			patch("sts/db:scale", merge, `{"spec":{"replicas":-1}}`).fails("422", "Invalid"),
			patch("sts/none:scale", merge, `{"spec":{"replicas":1}}`).fails("404", "NotFound"),
			dry(patch("sts/db:scale", merge, `{"spec":{"replicas":0}}`)).is(want{"sts/db replicas": "1", "pod/db-0 exists": "yes"}),
			patch("sts/db:scale", merge, `{"metadata":{"resourceVersion":"{{rv "sts/db"}}","uid":"{{uid "sts/db"}}"},"spec":{"replicas":0}}`).
				is(want{"pod/db-0 exists": ""}),
		}},
		{name: "patches of what is not there, or in vain", acts: []act{
			patch("pv/none", merge, unclaim).fails("404", "NotFound"),
			patch("pvc/none", jsonPatch, `[]`).fails("404", "NotFound"),
			patch("pv/none", merge, `{`).fails("400", "BadRequest"),
			given(volume("vol")),
			patch("pv/vol", merge, `{`).fails("400", "BadRequest"),
			patch("pv/vol", jsonPatch, `{"a":1}`).fails("400", "BadRequest"),
			patch("pv/vol", merge, `{}`).is(want{"outcome answer.resourceVersion": "unchanged"}),
			patch("pv/vol", merge, `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`).is(want{"outcome answer.resourceVersion": "unchanged"}),
			patch("pv/vol", merge, `{"spec":{"capacity":"much"}}`).fails("422", "Invalid"),
		}},
	}
}

// rights is about users who may not.
func rights() []history {
	return []history{
		{name: "a viewer may not write, whatever it is", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			as(controlplane.Viewer, patch("pv/vol", merge, unclaim)).fails("403", "Forbidden"),
			as(controlplane.Viewer, dry(patch("pv/vol", merge, unclaim))).fails("403", "Forbidden"),
			as(controlplane.Viewer, patch("pv/none", merge, `{`)).fails("403", "Forbidden"),
			as(controlplane.Viewer, create(claim("data"))).fails("403", "Forbidden"),
			as(controlplane.Viewer, remove("pvc/data", "")).fails("403", "Forbidden"),
			as(controlplane.Viewer, patch("pvc/data:status", merge, `{"status":{"phase":"Lost"}}`)).fails("403", "Forbidden"),
			as(controlplane.Viewer, patch("sts/none:scale", merge, `{"spec":{"replicas":1}}`)).fails("403", "Forbidden"),
			as(controlplane.Nobody, patch("pv/vol", merge, unclaim)).fails("403", "Forbidden"),
		}},
		{name: "fields that nobody knows", acts: []act{
			given(volume("vol")),
			strict(patch("pv/vol", merge, `{"spec":{"colour":"red"}}`)).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"colour":"red"}}`).is(want{"outcome answer.resourceVersion": "unchanged"}),
			strict(dry(patch("pv/vol", strategic, `{"spec":{"claimRef":{"colour":"red"}}}`))).fails("422", "Invalid"),
			strict(patch("pv/vol", jsonPatch, `[{"op":"add","path":"/spec/colour","value":"red"}]`)).fails("422", "Invalid"),
			strict(patch("pv/vol", merge, `{"spec":{"storageClassName":"a","storageClassName":"b"}}`)).fails("422", "Invalid"),
		}},
	}
}

// immutability is about the fields that stay as they were made.
func immutability() []history {
	return []history{
		{name: "what of a volume can't be changed", acts: []act{
			given(volume("vol", tied("example.com/place", "here"))),
			patch("pv/vol", merge, `{"spec":{"csi":{"volumeHandle":"another"}}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"csi":null,"hostPath":{"path":"/var/x"}}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"volumeMode":"Block"}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"nodeAffinity":null}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"accessModes":["ReadWriteOncePod","ReadWriteOnce"]}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"accessModes":[]}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"accessModes":["ReadSometimes"]}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"capacity":{"storage":"0"}}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"spec":{"persistentVolumeReclaimPolicy":"Burn"}}`).fails("422", "Invalid"),
			patch("pv/vol", merge, `{"metadata":{"name":"another"}}`).fails("400", "BadRequest"),
			patch("pv/vol", merge, `{"spec":{"storageClassName":"$-elsewhere","accessModes":["ReadWriteMany"],"capacity":{"storage":"9Gi"},"persistentVolumeReclaimPolicy":"Delete"}}`),
			patch("pv/vol", merge, `{"spec":{"volumeAttributesClassName":"gold"}}`),
			patch("pv/vol", merge, `{"spec":{"volumeAttributesClassName":null}}`).fails("422", "Invalid"),
		}},
		{name: "what of a claim can't be changed", acts: []act{
			given(volume("vol", size("3Gi"))),
			create(claim("data")).is(boundPair),
			patch("pvc/data", merge, `{"spec":{"accessModes":["ReadWriteOncePod"]}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"volumeName":"another"}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"volumeName":null}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"storageClassName":"another"}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"volumeMode":"Block"}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"resources":{"requests":{"storage":"500Mi"}}}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}}}`),
			patch("pvc/data:status", merge, `{"status":{"phase":"Pending"},"spec":{"volumeName":"another"}}`).is(boundPair),
			update("pvc/data", func(o object) { o.(*corev1.PersistentVolumeClaim).Spec.VolumeName = "another" }).fails("422", "Invalid"),
		}},
		{name: "what of a waiting claim can be changed", acts: []act{
			create(claim("data", noBody)),
			patch("pvc/data", merge, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`).fails("422", "Invalid"),
			patch("pvc/data", merge, `{"spec":{"volumeName":"$-vol"}}`),
			patch("pvc/data", merge, `{"spec":{"volumeName":"$-other"}}`).fails("422", "Invalid"),
			create(volume("vol")).is(boundPair),
		}},
		{name: "what of a StatefulSet can't be changed", acts: []act{
			create(statefulSet("db", 0)),
			patch("sts/db", merge, `{"spec":{"volumeClaimTemplates":null}}`).fails("422", "Invalid"),
			patch("sts/db", jsonPatch, `[{"op":"replace","path":"/spec/volumeClaimTemplates/0/spec/accessModes","value":["ReadWriteOncePod"]}]`).fails("422", "Invalid"),
			patch("sts/db", merge, `{"spec":{"serviceName":"another"}}`).fails("422", "Invalid"),
			patch("sts/db", merge, `{"spec":{"podManagementPolicy":"Parallel"}}`).fails("422", "Invalid"),
			patch("sts/db", merge, `{"spec":{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}}`).fails("422", "Invalid"),
			patch("sts/db", merge, `{"spec":{"template":{"metadata":{"labels":{"app":"other"}}}}}`).fails("422", "Invalid"),
			patch("sts/db", merge, `{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Sometimes"}}}`).fails("422", "Invalid"),
			patch("sts/db", merge, `{"spec":{"minReadySeconds":1,"revisionHistoryLimit":3,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"}}}`),
		}},
	}
}

func noBody(*corev1.PersistentVolumeClaim) {}

func inNamespace(ns string) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Namespace = ns }
}

// creations is about what can't be created.
func creations() []history {
	quota := func(claims string) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: "claims"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"persistentvolumeclaims": resource.MustParse(claims)}},
		}
	}
	limits := func(least, most string) *corev1.LimitRange {
		return &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: "sizes"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypePersistentVolumeClaim,
				Min:  corev1.ResourceList{"storage": resource.MustParse(least)}, Max: corev1.ResourceList{"storage": resource.MustParse(most)},
			}}},
		}
	}
	return []history{
		{name: "a name that is taken", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(claim("data")).fails("409", "AlreadyExists"),
			dry(create(claim("data"))).fails("409", "AlreadyExists"),
			create(volume("vol")).fails("409", "AlreadyExists"),
			dry(create(volume("vol"))).fails("409", "AlreadyExists"),
			create(statefulSet("db", 0)),
			dry(create(statefulSet("db", 0))).fails("409", "AlreadyExists"),
			create(namespace("$")).fails("409", "AlreadyExists"),
		}},
		{name: "a StatefulSet that is being deleted blocks its name", acts: []act{
			create(statefulSet("db", 0, func(s *appsv1.StatefulSet) { s.Finalizers = []string{"example.com/hold"} })),
			remove("sts/db", ""),
			create(statefulSet("db", 0)).fails("409", "AlreadyExists"),
			dry(create(statefulSet("db", 0))).fails("409", "AlreadyExists"),
			patch("sts/db", merge, `{"metadata":{"finalizers":null}}`).is(want{"sts/db exists": ""}),
			create(statefulSet("db", 0)),
		}},
		{name: "a namespace that is not there, or on its way out", acts: []act{
			create(claim("data", inNamespace("$-none"))).fails("404", "NotFound"),
			dry(create(claim("data", inNamespace("$-none")))).fails("404", "NotFound"),
			create(namespace("$-going")),
			create(claim("data", inNamespace("$-going"), func(pvc *corev1.PersistentVolumeClaim) { pvc.Finalizers = []string{"example.com/hold"} })),
			remove("ns/going", "").is(want{"ns/going phase": "Terminating"}),
			create(claim("late", inNamespace("$-going"))).fails("403", "Forbidden"),
			dry(create(claim("late", inNamespace("$-going")))).fails("403", "Forbidden"),
			patch("pvc/$-going/data", merge, `{"metadata":{"finalizers":null}}`).is(want{"ns/going exists": ""}),
		}},
		{name: "a quota is used up", acts: []act{
			create(quota("1")),
			patch("quota/claims:status", merge, `{"status":{"hard":{"persistentvolumeclaims":"1"},"used":{"persistentvolumeclaims":"0"}}}`),
			dry(create(claim("data"))),
			create(claim("data")),
			create(claim("second")).fails("403", "Forbidden"),
			dry(create(claim("second"))).fails("403", "Forbidden"),
		}},
		{name: "a LimitRange", acts: []act{
			create(limits("2Gi", "3Gi")),
			create(claim("small", asks("1Gi"))).fails("403", "Forbidden"),
			create(claim("large", asks("4Gi"))).fails("403", "Forbidden"),
			dry(create(claim("large", asks("4Gi")))).fails("403", "Forbidden"),
			create(claim("data", asks("2Gi"))),
			patch("limits/sizes", merge, `{"spec":{"limits":[{"type":"PersistentVolumeClaim","min":{"storage":"3Gi"}}]}}`),
			patch("pvc/data", merge, `{"metadata":{"labels":{"a":"b"}}}`).fails("403", "Forbidden"),
			patch("pvc/data:status", merge, `{"status":{"conditions":[{"type":"Unused","status":"True"}]}}`),
			remove("limits/sizes", ""),
			patch("pvc/data", merge, `{"metadata":{"labels":{"a":"b"}}}`),
		}},
		{name: "claims that are not valid", acts: []act{
			create(claim("data", asksModes(rwop, rwo))).fails("422", "Invalid"),
			create(claim("data", asksModes())).fails("422", "Invalid"),
			create(claim("data", asks("0"))).fails("422", "Invalid"),
			create(claim("data", asks("-1Gi"))).fails("422", "Invalid"),
			create(claim("Data")).fails("422", "Invalid"),
			create(claim("data", asksClass("Not A Class"))).fails("422", "Invalid"),
			create(claim("data", func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.Resources.Requests = nil })).fails("422", "Invalid"),
			create(claim("data", func(pvc *corev1.PersistentVolumeClaim) {
				pvc.Spec.VolumeMode = new(corev1.PersistentVolumeMode("Tape"))
			})).fails("422", "Invalid"),
			create(claim("data", asksClass("$-unknown"))).is(want{"pvc/data phase": "Pending"}),
			dry(create(claim("more", func(pvc *corev1.PersistentVolumeClaim) { pvc.ResourceVersion = "5" }))),
			create(claim("more", func(pvc *corev1.PersistentVolumeClaim) {
				pvc.UID, pvc.ResourceVersion = staleUID, "5"
			})).fails("500", ""),
			create(claim("more", func(pvc *corev1.PersistentVolumeClaim) { pvc.UID = staleUID })),
			create(claim("more", func(pvc *corev1.PersistentVolumeClaim) { pvc.ResourceVersion = "5" })).fails("500", ""),
			create(claim("saved", func(pvc *corev1.PersistentVolumeClaim) {
				pvc.DeletionTimestamp, pvc.DeletionGracePeriodSeconds = new(metav1.Now()), new(int64(0))
				pvc.Generation = 7
				pvc.SetSelfLink("/old")
				pvc.Status.Phase = corev1.ClaimBound
			})).is(want{"pvc/saved phase": "Pending", "pvc/saved deleting": "no"}),
		}},
		{name: "volumes that are not valid", acts: []act{
			create(volume("vol", withModes(rwop, rox))).fails("422", "Invalid"),
			create(volume("vol", withModes())).fails("422", "Invalid"),
			create(volume("vol", size("0"))).fails("422", "Invalid"),
			create(volume("vol", func(pv *corev1.PersistentVolume) { pv.Spec.CSI = nil })).fails("422", "Invalid"),
			create(volume("vol", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "" })).fails("422", "Invalid"),
			create(volume("vol", func(pv *corev1.PersistentVolume) { pv.Spec.Capacity = nil })).fails("422", "Invalid"),
			create(volume("vol", hostPath("/a/../b"))).fails("422", "Invalid"),
			create(volume("vol", hostPath("/"), func(pv *corev1.PersistentVolume) {
				pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRecycle
			})).fails("422", "Invalid"),
		}},
		{name: "StatefulSets that are not valid", acts: []act{
			create(statefulSet("db", -1)).fails("422", "Invalid"),
			create(statefulSet("db", 1, func(s *appsv1.StatefulSet) { s.Spec.Selector = nil })).fails("422", "Invalid"),
			create(statefulSet("db", 1, func(s *appsv1.StatefulSet) { s.Spec.Selector.MatchLabels = map[string]string{"app": "other"} })).fails("422", "Invalid"),
			create(statefulSet("db", 1, templateModes(rwop, rwo))).fails("422", "Invalid"),
			create(statefulSet("db", 1, retention("Never", onRetain))).fails("422", "Invalid"),
			create(statefulSet("db", 1, func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers = nil })).fails("422", "Invalid"),
		}},
	}
}

// dryRuns shows that a dry run answers as the real thing does, and that nothing
// comes of it.
func dryRuns() []history {
	return []history{
		{name: "dry runs of creations", acts: []act{
			dry(create(volume("vol"))).is(want{"pv/vol exists": "", "outcome answer.resourceVersion": "none", "outcome answer.uid": "new"}),
			dry(create(claim("data"))).is(want{"pvc/data exists": "", "outcome answer.finalizers": "kubernetes.io/pvc-protection"}),
			dry(create(statefulSet("db", 2))).is(want{"sts/db exists": ""}),
			dry(create(claim("data", asksModes(rwop, rwo)))).fails("422", "Invalid"),
		}},
		{name: "dry runs of patches", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			dry(patch("pv/vol", merge, unclaim)).is(boundPair).is(want{"outcome answer.claimRef": absent, "outcome answer.resourceVersion": "unchanged"}),
			dry(patch("pv/vol", strategic, unclaimID)).is(boundPair).is(want{"outcome answer.claimRef.uid": ""}),
			dry(patch("pv/vol", merge, toDelete)).is(want{"pv/vol policy": "Retain", "outcome answer.policy": "Delete"}),
			dry(patch("pv/vol", jsonPatch, `[{"op":"replace","path":"/spec/accessModes","value":["ReadWriteOncePod"]}]`)).
				is(want{"pv/vol modes": "ReadWriteOnce", "outcome answer.modes": "ReadWriteOncePod"}),
			dry(patch("pvc/data", merge, `{"spec":{"volumeName":"another"}}`)).fails("422", "Invalid"),
			dry(patch("pv/vol", merge, `{"metadata":{"resourceVersion":"1"}}`)).fails("409", "Conflict"),
			patch("pv/vol", strategic, `{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}}}`).
				is(want{"pv/vol pv.kubernetes.io/bound-by-controller": ""}).is(boundPair),
		}},
		{name: "dry runs of deletions", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			dry(remove("pvc/data", "")).is(boundPair).is(want{"pvc/data deleting": "no", "outcome answer.deleting": "yes"}),
			dry(remove("pv/vol", "")).is(want{"pv/vol deleting": "no"}),
			create(statefulSet("db", 1, templateClass(slow))),
			dry(remove("sts/db", orphaning)).is(want{"sts/db deleting": "no", "outcome answer.finalizers": "orphan"}),
			dry(remove("sts/db", "")).is(want{"sts/db exists": "yes"}),
			dry(remove("pvc/none", "")).fails("404", "NotFound"),
			create(pod("app", "data")),
			dry(remove("pod/app", "")).is(want{"pod/app deleting": "no"}),
		}},
	}
}

// defaultClasses is about claims that name no class. Default classes are for the
// whole cluster, so these histories are played one after the other.
func defaultClasses() []history {
	const nobody = "kubernetes.io/no-provisioner"
	demote := func(name string) act {
		return patch("sc/"+name, merge, `{"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":null}}}`)
	}
	return []history{
		{name: "no default class, then one", alone: true, acts: []act{
			given(volume("vol", ofClass("$-usual"), size("50Gi"))),
			// Volumes without a class are for the claims of all histories: these
			// ask for more than there is.
			create(claim("data", noClass, asks("50Gi"))).is(want{"pvc/data class": absent, "pvc/data phase": "Pending"}),
			create(claim("empty", asksClass(""), asks("100Gi"))),
			create(class("$-usual", nobody, isDefault)).is(want{"pvc/data class": "$-usual", "pvc/empty class": ""}).is(boundPair),
			demote("usual"),
		}},
		{name: "two default classes: the newer one counts", alone: true, acts: []act{
			create(class("$-early", nobody, isDefault)),
			create(class("$-late", nobody, isDefault)),
			create(claim("data", noClass)).is(want{"pvc/data class": "$-late"}),
			dry(create(claim("more", noClass))).is(want{"outcome answer.class": "$-late"}),
			create(claim("beta", noClass, annotated(corev1.BetaStorageClassAnnotation, slow))).is(want{"pvc/beta class": absent}),
			demote("late"),
			create(claim("third", noClass)).is(want{"pvc/third class": "$-early"}),
			demote("early"),
		}},
		{name: "a claim without a class takes a volume without one", alone: true, acts: []act{
			create(claim("data", noClass, asksModes(rwx))).is(want{"pvc/data class": absent, "pvc/data phase": "Pending"}),
			create(volume("vol", ofClass(""), withModes(rwx))).is(boundPair).is(want{"pvc/data class": absent}),
			create(class("$-usual", nobody, isDefault)).is(want{"pvc/data class": absent}),
			patch("pvc/data", merge, `{"spec":{"storageClassName":"x"}}`).is(want{"pvc/data class": "x"}).is(boundPair),
			patch("pvc/data", merge, `{"spec":{"storageClassName":"y"}}`).fails("422", "Invalid"),
			demote("usual"),
		}},
		{name: "the default by the old annotation", alone: true, acts: []act{
			create(class("$-usual", nobody, func(c *storagev1.StorageClass) {
				c.Annotations = map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"}
			})),
			create(claim("data", noClass)).is(want{"pvc/data class": "$-usual"}),
			patch("sc/usual", merge, `{"metadata":{"annotations":null}}`),
			create(claim("more", noClass, asks("100Gi"))).is(want{"pvc/more class": absent}),
			patch("pvc/more", merge, `{"spec":{"storageClassName":"$-usual"}}`).is(want{"pvc/more class": "$-usual"}),
		}},
	}
}

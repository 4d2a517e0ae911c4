package differential

import (
	corev1 "k8s.io/api/core/v1"
)

// histories are all there are.
func histories() []history {
	var all []history
	for _, group := range [][]history{
		truthTable(), bindingPaths(), dataLoss(), statefulSets(), workloads(), protection(),
		preconditions(), rights(), immutability(), creations(), dryRuns(), defaultClasses(), reclaiming(), lostClaims(),
	} {
		all = append(all, group...)
	}
	return all
}

const (
	unclaim   = `{"spec":{"claimRef":null}}`
	unclaimID = `{"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`
	toRetain  = `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`
	toDelete  = `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`
	staleUID  = "00000000-0000-4000-8000-00000000dead"
	// uidOfData is quoted so that it comes through JSON unharmed.
	uidOfData = "{{uid `pvc/data`}}"
)

var (
	boundPair = want{
		"pv/vol phase": "Bound", "pv/vol claimRef": "$/data", "pv/vol claimRef.uid": "pvc/data",
		"pvc/data phase": "Bound", "pvc/data volumeName": "$-vol",
	}
	dataKept = want{"data/vol exists": "yes"}
	dataLost = want{"data/vol exists": "no", "pv/vol exists": ""}
)

// truthTable has a history for each row of what becomes of a claimRef.
func truthTable() []history {
	return []history{
		{name: "T1 an unclaimed volume is for any claim, and the smallest that fits is taken", acts: []act{
			given(volume("small"), volume("vol", size("2Gi")), volume("large", size("5Gi"))),
			create(claim("data", asks("2Gi"))).is(boundPair).is(want{"pv/large phase": "Available"}),
			create(claim("more", asks("3Gi"))).is(want{"pvc/more volumeName": "$-large"}),
			create(claim("most", asks("6Gi"))).is(want{"pvc/most phase": "Pending", "pv/small phase": "Available"}),
		}},
		{name: "T2 a claim that names an unclaimed volume", acts: []act{
			given(volume("vol"), volume("other")),
			create(claim("data", names("vol"))).is(boundPair).is(want{"pvc/data pv.kubernetes.io/bound-by-controller": ""}),
		}},
		{name: "T2 a claim that names a volume which comes later", acts: []act{
			create(claim("data", names("vol"))).is(want{"pvc/data phase": "Pending"}),
			create(volume("vol")).is(boundPair),
		}},
		{name: "T2 a claim that names a volume of somebody else", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(claim("rival", names("vol"))).is(want{"pvc/rival phase": "Pending"}).is(boundPair),
			remove("pvc/data", "").is(want{"pv/vol phase": "Released", "pvc/rival phase": "Pending"}),
			patch("pv/vol", merge, unclaim).is(want{"pvc/rival phase": "Bound", "pv/vol claimRef.uid": "pvc/rival"}),
		}},
		{name: "T3 to unreserve a bound volume is undone", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			patch("pv/vol", merge, unclaim).is(boundPair),
		}},
		{name: "T4 a reserved volume is nobody else's", acts: []act{
			create(volume("vol", reserved("data"))).is(want{"pv/vol phase": "Available"}),
			create(claim("other")).is(want{"pvc/other phase": "Pending", "pv/vol phase": "Available"}),
			create(claim("data")).is(boundPair),
		}},
		{name: "T5 a reservation is honoured whatever the class", acts: []act{
			given(volume("vol", reserved("data"), ofClass("$-elsewhere"))),
			create(claim("data")).is(boundPair).is(want{"pvc/data pv.kubernetes.io/bound-by-controller": "yes"}),
		}},
		{name: "T5 a reservation loses to a volume with fewer modes", acts: []act{
			given(volume("vol", reserved("data"), withModes(rwo, rox)), volume("other")),
			create(claim("data")).is(want{"pvc/data volumeName": "$-other", "pv/vol phase": "Available"}),
		}},
		{name: "T5 the same, whatever the volumes are called", acts: []act{
			given(volume("early", reserved("data"), withModes(rox, rwo)), volume("late")),
			create(claim("data")).is(want{"pvc/data volumeName": "$-late", "pv/early phase": "Available"}),
			create(claim("other")).is(want{"pvc/other phase": "Pending"}),
		}},
		{name: "T1 fewer modes come before less space", acts: []act{
			given(volume("early", withModes(rwo, rox, rwx)), volume("late", size("9Gi"))),
			create(claim("data")).is(want{"pvc/data volumeName": "$-late"}),
			create(claim("more")).is(want{"pvc/more volumeName": "$-early"}),
		}},
		{name: "T6 both name each other: no check at all", acts: []act{
			given(volume("vol", reserved("data"), ofClass("$-elsewhere"))),
			create(claim("data", names("vol"), asks("50Gi"), asksModes(rwop))).is(boundPair).
				is(want{"pvc/data status.modes": "ReadWriteOnce", "pvc/data status.capacity": "1Gi"}),
		}},
		{name: "T7 a uid that is taken off a live binding, and the repair", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			patch("pv/vol", merge, unclaimID).is(want{"pvc/data phase": "Lost", "pv/vol phase": "Available"}),
			patch("pv/vol", merge, `{"spec":{"claimRef":{"uid":"{{uid "pvc/data"}}"}}}`).is(boundPair),
			patch("pv/vol", merge, unclaimID).is(want{"pvc/data phase": "Lost"}),
			patch("pv/vol", merge, unclaim).is(boundPair),
		}},
		{name: "T7 a claim made again with its old annotations", acts: []act{
			given(volume("vol", reserved("data"))),
			create(claim("data", names("vol"), annotated("pv.kubernetes.io/bind-completed", "yes"))).
				is(want{"pvc/data phase": "Lost", "pv/vol phase": "Available"}),
		}},
		{name: "T3 a claim made again with its old annotations, unreserved", acts: []act{
			given(volume("vol", size("500Mi"))),
			create(claim("data", names("vol"), annotated("pv.kubernetes.io/bind-completed", "yes"))).is(boundPair),
		}},
		{name: "T8 a reservation for a claim that has another volume", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			create(volume("second", reserved("data"))).is(want{"pv/second phase": "Available", "pv/second claimRef": "$/data"}).is(boundPair),
		}},
		{name: "T9 the uid of the claim that has it", acts: []act{
			create(claim("data", names("vol"))),
			create(volume("vol", claimed("data", uidOfData))).is(boundPair),
		}},
		{name: "T9 the uid of the claim that does not yet name it", acts: []act{
			create(claim("data")),
			create(volume("vol", claimed("data", uidOfData))).is(boundPair),
		}},
		{name: "T10 a claim that is gone, Retain", acts: []act{
			create(volume("vol", claimed("data", staleUID))).is(want{"pv/vol phase": "Released", "pv/vol claimRef.uid": "stale"}),
			create(claim("data", names("vol"))).is(want{"pv/vol phase": "Released", "pvc/data phase": "Pending"}),
			patch("pv/vol", merge, unclaimID).is(boundPair),
		}},
		{name: "T10 a claim that was made again under its name", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			remove("pvc/data", "").is(want{"pv/vol phase": "Released"}),
			create(claim("data")).is(want{"pv/vol phase": "Released", "pvc/data phase": "Pending"}),
			patch("pv/vol", merge, `{"metadata":{"resourceVersion":"{{rv "pv/vol"}}"},"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`).is(boundPair),
		}},
		{name: "T11 for a claim that has another volume, dynamic and Delete", acts: []act{
			given(volume("other")),
			create(claim("data")).is(want{"pvc/data volumeName": "$-other"}),
			data("$-vol"),
			create(volume("vol", folder, dynamic, deletes, claimed("data", uidOfData))).is(dataLost),
		}},
		{name: "T11 for a claim that has another volume, reserved by a user", acts: []act{
			given(volume("other")),
			create(claim("data")).is(want{"pvc/data volumeName": "$-other"}),
			data("$-vol"),
			create(volume("vol", folder, dynamic, claimed("data", uidOfData))).is(dataKept).
				is(want{"pv/vol phase": "Available", "pv/vol claimRef": "$/data", "pv/vol claimRef.uid": ""}),
		}},
		{name: "T11 for a claim that has another volume, reserved by the controller", acts: []act{
			given(volume("other")),
			create(claim("data")).is(want{"pvc/data volumeName": "$-other"}),
			create(volume("vol", claimed("data", uidOfData), func(pv *corev1.PersistentVolume) {
				pv.Annotations = map[string]string{"pv.kubernetes.io/bound-by-controller": "yes"}
			})).is(want{"pv/vol phase": "Available", "pv/vol claimRef": absent}),
		}},
		{name: "T11 for a claim that has another volume, Delete but made by hand", acts: []act{
			given(volume("other")),
			create(claim("data")).is(want{"pvc/data volumeName": "$-other"}),
			data("$-vol"),
			create(volume("vol", folder, deletes, claimed("data", uidOfData))).is(dataKept).
				is(want{"pv/vol phase": "Available", "pv/vol claimRef.uid": ""}),
		}},
	}
}

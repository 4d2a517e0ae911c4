package differential

import (
	corev1 "k8s.io/api/core/v1"
)

const madeVolume = "pvc-{pvc/data}"

// released lets a claim for the volume "vol" come and go.
func released(edit ...pvEdit) []act {
	return []act{
		data("$-vol"),
		given(volume("vol", append([]pvEdit{folder}, edit...)...)),
		create(claim("data")).is(boundPair),
		remove("pvc/data", "").is(want{"pv/vol phase": "Released"}).is(dataKept),
	}
}

// dataLoss has a history for each way in which data is lost, or is not.
func dataLoss() []history {
	madeKept := want{"data/" + madeVolume + " exists": "yes"}
	madeLost := want{"data/" + madeVolume + " exists": "no", "pv/" + madeVolume + " exists": ""}
	return []history{
		{name: "the claim of a volume with Delete is deleted", acts: []act{
			create(claim("data", asksClass(made))).is(want{"pvc/data phase": "Bound"}).is(madeKept),
			remove("pvc/data", "").is(madeLost),
		}},
		{name: "Retain, then the claim is deleted, then Delete", acts: []act{
			create(claim("data", asksClass(made))).is(madeKept),
			note("pvc/data"),
			patchVolumeOf("pvc/data", toRetain).is(madeKept),
			remove("pvc/data", "").is(want{"pv/" + madeVolume + " phase": "Released"}).is(madeKept),
			patchNoted("pvc/data", toDelete).is(madeLost),
		}},
		{name: "a static volume of the driver is lost, too", acts: append(released(),
			patch("pv/vol", merge, toDelete).is(dataLost))},
		{name: "Bound, Delete, and made by hand", acts: []act{
			data("$-vol"),
			given(volume("vol", folder, deletes)),
			create(claim("data")).is(boundPair),
			remove("pvc/data", "").is(dataLost),
		}},
		{name: "Released and Retain, unreserved step by step", acts: append(released(),
			patch("pv/vol", merge, unclaim).is(want{"pv/vol phase": "Available"}).is(dataKept),
			patch("pv/vol", merge, toDelete).is(want{"pv/vol phase": "Available"}).is(dataKept),
			create(claim("other")).is(want{"pvc/other phase": "Bound"}).is(dataKept),
			remove("pvc/other", "").is(dataLost))},
		{name: "Released and Retain, reserved step by step", acts: append(released(),
			patch("pv/vol", merge, unclaimID).is(want{"pv/vol phase": "Available"}).is(dataKept),
			patch("pv/vol", merge, toDelete).is(want{"pv/vol phase": "Available"}).is(dataKept),
			create(claim("data", names("vol"))).is(boundPair).is(dataKept))},
		{name: "one patch while the controllers lag, claimRef nil", lags: true, acts: append(released(),
			lag(true),
			patch("pv/vol", merge, `{"spec":{"claimRef":null,"persistentVolumeReclaimPolicy":"Delete"}}`).is(want{"data/vol exists": "no"}),
			lag(false).is(dataLost))},
		{name: "one patch while the controllers lag, uid taken off", lags: true, acts: append(released(),
			lag(true),
			patch("pv/vol", merge, `{"spec":{"claimRef":{"uid":null,"resourceVersion":null},"persistentVolumeReclaimPolicy":"Delete"}}`).
				is(want{"data/vol exists": "no"}),
			lag(false).is(dataLost))},
		{name: "one patch while the controllers lag, Retain", lags: true, acts: append(released(),
			lag(true),
			patch("pv/vol", merge, unclaim).is(want{"pv/vol phase": "Released"}).is(dataKept),
			lag(false).is(want{"pv/vol phase": "Available"}).is(dataKept))},
		{name: "one patch while the controllers lag, built-in plugin", lags: true, acts: []act{
			data(hostDirMark + "/$-vol"),
			create(volume("vol", hostPath(hostDirMark+"/$-vol"))),
			create(claim("data")).is(boundPair),
			remove("pvc/data", "").is(want{"pv/vol phase": "Released"}),
			lag(true),
			patch("pv/vol", merge, `{"spec":{"claimRef":null,"persistentVolumeReclaimPolicy":"Delete"}}`).is(dataKept),
			lag(false).is(want{"pv/vol phase": "Available"}).is(dataKept),
		}},
		{name: "a claim is deleted while the controllers lag", lags: true, acts: []act{
			data("$-vol"),
			given(volume("vol", folder, deletes)),
			create(claim("data")).is(boundPair),
			lag(true),
			remove("pvc/data", "").is(want{"pvc/data deleting": "yes", "pv/vol phase": "Bound"}).is(dataKept),
			patch("pv/vol", merge, toRetain).is(dataKept),
			lag(false).is(want{"pv/vol phase": "Released", "pvc/data exists": ""}).is(dataKept),
		}},
		{name: "a restored volume whose claim is gone, Delete", acts: []act{
			data("$-vol"),
			create(volume("vol", folder, deletes, claimed("data", staleUID))).is(dataLost),
		}},
		{name: "a restored volume whose claim is gone, Retain", acts: []act{
			data("$-vol"),
			create(volume("vol", folder, claimed("data", staleUID))).is(want{"pv/vol phase": "Released"}).is(dataKept),
		}},
		{name: "scaled down, whenScaled Delete", acts: []act{
			create(statefulSet("db", 2, retention(onDelete, onRetain))).
				is(want{"pod/db-1 phase": "Running", "pvc/data-db-1 phase": "Bound"}),
			patch("sts/db:scale", merge, `{"spec":{"replicas":1}}`).is(want{
				"pod/db-1 exists": "", "pvc/data-db-1 exists": "", "data/pvc-{pvc/data-db-1} exists": "no", "data/pvc-{pvc/data-db-0} exists": "yes",
			}),
		}},
		{name: "deleted, whenDeleted Delete", acts: []act{
			create(statefulSet("db", 1, retention(onRetain, onDelete))).
				is(want{"pvc/data-db-0 owners": "StatefulSet sts/db controller=true blocks=true"}),
			remove("sts/db", "").is(want{"pvc/data-db-0 exists": "", "data/pvc-{pvc/data-db-0} exists": "no"}),
		}},
	}
}

// patchVolumeOf patches the volume that was made for a claim which is there.
func patchVolumeOf(claim, body string) act {
	return patch("pv/"+uidMark+"{{uid `"+claim+"`}}", merge, body)
}

// patchNoted does the same for a claim that was noted.
func patchNoted(claim, body string) act {
	return patch("pv/"+uidMark+"{{noted `"+claim+"`}}", merge, body)
}

// reclaiming is about the built-in plugins, and about volumes that nothing
// reclaims.
func reclaiming() []history {
	recycle := func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRecycle
	}
	nfs := func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/$"}}
	}
	goes := func(after want, edit ...pvEdit) []act {
		return []act{
			create(volume("vol", edit...)),
			create(claim("data")).is(boundPair),
			remove("pvc/data", "").is(after),
		}
	}
	hosted := hostPath(hostDirMark + "/$-vol")
	return []history{
		{name: "a host path below /tmp, Delete", acts: append([]act{data(hostDirMark + "/$-vol")}, goes(dataLost, hosted, deletes)...)},
		{name: "a host path elsewhere, Delete: Failed, and what leads out of it", acts: append(
			goes(want{"pv/vol phase": "Failed"}, hostPath("/var/lib/$-vol"), deletes),
			patch("pv/vol", merge, toRetain).is(want{"pv/vol phase": "Failed"}),
			patch("pv/vol", merge, unclaimID).is(want{"pv/vol phase": "Available"}),
			create(claim("data", names("vol"))).is(boundPair))},
		{name: "a host path elsewhere, Failed, and claimed anew by uid", acts: append(
			goes(want{"pv/vol phase": "Failed"}, hostPath("/var/lib/$-vol"), deletes),
			create(claim("data", names("vol"))).is(want{"pv/vol phase": "Failed", "pvc/data phase": "Pending"}),
			patch("pv/vol", merge, `{"spec":{"claimRef":{"uid":"{{uid "pvc/data"}}"}}}`).is(boundPair))},
		{name: "Retain to Delete on a released host path", acts: append([]act{data(hostDirMark + "/$-vol")}, append(
			goes(want{"pv/vol phase": "Released"}, hosted), patch("pv/vol", merge, toDelete).is(dataLost))...)},
		{name: "no plugin for the volume, Delete", acts: goes(want{"pv/vol phase": "Failed"}, nfs, deletes)},
		{name: "a driver that nobody runs, Delete: it stays", acts: goes(want{"pv/vol phase": "Released"}, deletes)},
		{name: "a driver that nobody runs, Recycle", acts: goes(want{"pv/vol phase": "Failed"}, recycle)},
		{name: "a host path that the built-in provisioner makes", acts: []act{
			given(class("$-hosted", "kubernetes.io/host-path")),
			create(claim("data", asksClass("$-hosted"))).is(want{"pvc/data phase": "Bound"}),
			note("pvc/data"),
			patchVolumeOf("pvc/data", toRetain).is(want{"pv/pvc-{pvc/data} finalizers": "kubernetes.io/pv-protection"}),
			patchVolumeOf("pvc/data", toDelete).is(want{
				"pv/pvc-{pvc/data} finalizers": "kubernetes.io/pv-controller, kubernetes.io/pv-protection",
			}),
			remove("pvc/data", "").is(want{"pv/pvc-{pvc/data} exists": ""}),
		}},
		{name: "a provisioner's finalizer comes and goes with the policy", acts: []act{
			create(claim("data", asksClass(made))),
			note("pvc/data"),
			patchVolumeOf("pvc/data", toRetain).is(want{"pv/pvc-{pvc/data} finalizers": "kubernetes.io/pv-protection"}),
			patchVolumeOf("pvc/data", toDelete).is(want{
				"pv/pvc-{pvc/data} finalizers": "external-provisioner.volume.kubernetes.io/finalizer, kubernetes.io/pv-protection",
			}),
		}},
	}
}

package actions

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// singlePod plans ReadWriteOncePod the light way: the volume's access modes
// alone. A claim's own cannot be changed, so that the scheduler, which reads
// the claim, goes on as before (plugins/volumerestrictions). The kubelet reads
// the volume, and refuses a second pod on its node (operation_generator.go,
// GenerateMountVolumeFunc).
//
// The policy stays as it is: nothing here lets go of the volume.
func (d *draft) singlePod() {
	d.allowed()
	d.notInOperation()
	d.notTerminating()
	if d.pv.DeletionTimestamp == nil {
		if why := d.w.notHeld(d.pv); why != "" {
			d.block("not-bound", "Only a volume that a claim holds can be changed this way: "+why,
				"Look at the volume's phase and claim first")
		}
	}
	d.onlyOnce()
	if d.blocked() {
		return
	}
	d.onePod()
	d.enforced()
	d.singlePodSteps()
}

// onlyOnce: nothing but ReadWriteOnce is promised to become ReadWriteOncePod,
// and the API server allows no other mode beside it
// (pkg/apis/core/validation, ValidatePersistentVolumeSpec).
func (d *draft) onlyOnce() {
	modes := d.pv.Spec.AccessModes
	switch {
	case sameModes(modes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}):
		d.block("already-single-pod", "Volume "+d.pv.Name+" is ReadWriteOncePod already", "")
	case !sameModes(modes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}):
		d.block("modes", fmt.Sprintf("Only ReadWriteOnce can become ReadWriteOncePod, and volume %s has %s", d.pv.Name, modeList(modes)),
			"Find out who needs the other modes; their data would have to be copied to a volume of one mode")
	}
}

// enforced says who will hold pods to the new mode, and who will not.
func (d *draft) enforced() {
	if d.pv.Spec.CSI == nil {
		d.warn("not-csi", "Kubernetes supports ReadWriteOncePod for CSI volumes only, and this is none: whether it is enforced is not certain",
			"Do not rely on it before you have seen a second pod refused")
	}
	if claim := d.w.owner(d.pv); !sameModes(claim.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
		key := claimKey(claim)
		d.warn("claim-stays",
			fmt.Sprintf("Claim %s keeps %s in its spec, which can't be changed; its status shows ReadWriteOncePod within 15 seconds by default", key, modeList(claim.Spec.AccessModes)),
			"Migrate the whole way, with a new claim, if the claim itself must say so")
		d.warn("scheduler-unaware",
			"The scheduler reads the claim, and does not enforce it: only the kubelet, which reads the volume, refuses a second pod, on the same node",
			"Such a pod waits there until the first one is gone; see FailedMount among its events")
	}
	d.pass("mounts-stay", "A pod that has the volume mounted keeps it; the new mode counts from the next mount on")
}

// modesPatch replaces the whole list, as a merge patch does.
func modesPatch(mode corev1.PersistentVolumeAccessMode) json.RawMessage {
	return json.RawMessage(`{"spec":{"accessModes":["` + string(mode) + `"]}}`)
}

func (d *draft) singlePodSteps() {
	// Another policy, set since, is no reason against anything here.
	is := func(mode corev1.PersistentVolumeAccessMode) VolumeCondition {
		c := d.boundAs("")
		c.Modes = []corev1.PersistentVolumeAccessMode{mode}
		return c
	}
	key := keyOf(d.pv.Spec.ClaimRef)
	d.plan.Steps = []Step{{
		ID: stepModes, Title: "Set the volume's access mode to ReadWriteOncePod",
		Why:    "The kubelet then lets only one pod at a time use the volume",
		Target: d.target(),
		Patch:  modesPatch(corev1.ReadWriteOncePod),
		Before: is(corev1.ReadWriteOnce),
		After:  is(corev1.ReadWriteOncePod),
		Then:   "The status of claim " + key.String() + " follows when the controller looks at it next, which takes up to 15 seconds by default",
	}}
	d.plan.Undo = []Step{{
		ID: stepModesBack, Title: "Set the volume's access mode back to ReadWriteOnce",
		Why:    "Brings back the access mode as it was",
		Target: d.target(),
		Patch:  modesPatch(corev1.ReadWriteOnce),
		Before: is(corev1.ReadWriteOncePod),
		After:  is(corev1.ReadWriteOnce),
		Then:   "The status of claim " + key.String() + " follows, as before",
	}}
	d.plan.UndoNote = "An undo is possible while the volume stays Bound to the same claim"
}

package actions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

// setPolicy plans another reclaim policy.
func (d *draft) setPolicy() {
	d.allowed()
	now, want := d.pv.Spec.PersistentVolumeReclaimPolicy, d.req.Policy
	switch {
	case want == corev1.PersistentVolumeReclaimRecycle:
		d.block("policy-recycle", "Recycle is deprecated, and erases the volume's files when its claim goes",
			"Choose Retain or Delete")
	case want != corev1.PersistentVolumeReclaimRetain && want != corev1.PersistentVolumeReclaimDelete:
		d.block("policy-unknown", fmt.Sprintf("%q is not a reclaim policy", string(want)), "Choose Retain or Delete")
	case want == now:
		d.block("policy-same", fmt.Sprintf("The reclaim policy of %s is %s already", d.pv.Name, now), "")
	case want == corev1.PersistentVolumeReclaimRetain:
		d.toRetain(now)
	default:
		d.toDelete(now)
	}
}

// toRetain is harmless in every state.
func (d *draft) toRetain(now corev1.PersistentVolumeReclaimPolicy) {
	released := storedPhase(d.pv) == corev1.VolumeReleased || storedPhase(d.pv) == corev1.VolumeFailed
	d.deletionUnderWay()
	switch {
	case d.pv.DeletionTimestamp != nil:
		d.warn("volume-terminating",
			"Volume "+d.pv.Name+" is being deleted, which can't be taken back: the object goes all the same, the data behind it are kept from now on",
			"Write down where the data are, to make a new volume from them")
	case released && now == corev1.PersistentVolumeReclaimRecycle:
		d.warn("recycle", "The policy is Recycle and the volume is released: its files may be being erased right now",
			"Retain does not stop a pod that is at it already; look for one, then look at the files")
	default:
		d.pass("keeps-data", "With Retain the data are kept when the claim goes; the volume is then Released until somebody decides")
	}
	d.plan.Steps = []Step{{
		ID: stepPolicy, Title: "Set the reclaim policy to Retain",
		Why:    "Nothing then deletes the data when the claim goes",
		Target: d.target(),
		Patch:  policyPatch(corev1.PersistentVolumeReclaimRetain),
		// In whatever phase it meets the volume, Retain is right.
		Before: VolumeCondition{Policy: now},
		After:  VolumeCondition{Policy: corev1.PersistentVolumeReclaimRetain},
	}}
	switch why := d.w.keepsFromDelete(d.pv); {
	case now != corev1.PersistentVolumeReclaimDelete:
		d.plan.UndoNote = fmt.Sprintf("There is no undo: %s is not brought back, as it can destroy data", now)
	case why != "":
		d.plan.UndoNote = "There is no undo: to set Delete again could destroy the data, because " + why
	default:
		d.plan.Undo = []Step{{
			ID: stepRevert, Title: "Set the reclaim policy back to Delete",
			Why:    "Brings back the policy as it was",
			Target: d.target(),
			Patch:  policyPatch(corev1.PersistentVolumeReclaimDelete),
			Before: d.boundAs(corev1.PersistentVolumeReclaimRetain),
			After:  VolumeCondition{Policy: corev1.PersistentVolumeReclaimDelete},
			// As on the way there: Delete is typed, not pressed.
			Confirm: d.pv.Name,
		}}
		d.plan.UndoNote = "An undo is possible while the volume stays Bound to the same claim"
	}
}

// toDelete is allowed only while a claim provably holds the volume: anything
// else is deleted at once, or as soon as a controller looks (invariant 1).
func (d *draft) toDelete(now corev1.PersistentVolumeReclaimPolicy) {
	if why := d.w.keepsFromDelete(d.pv); why != "" {
		remedy := "Keep Retain until a claim holds the volume; to get rid of the data, delete them where they are stored"
		if InOperation(d.pv) {
			remedy = "Open the operation and carry it on, or take it back: the policy that the volume had comes back at its end"
		}
		d.block("delete-unbound", "To set Delete now could destroy the data: "+why, remedy)
		return
	}
	claim := keyOf(d.pv.Spec.ClaimRef)
	d.warn("dies-with-claim",
		fmt.Sprintf("With Delete the volume and its data go when claim %s goes", claim),
		"Keep Retain for data that must survive their claim")
	d.provisioned()
	d.plan.Steps = []Step{{
		ID: stepPolicy, Title: "Set the reclaim policy to Delete",
		Why:    "The volume and its data are then removed together with the claim",
		Target: d.target(),
		Patch:  policyPatch(corev1.PersistentVolumeReclaimDelete),
		Before: d.boundAs(now),
		After:  VolumeCondition{Policy: corev1.PersistentVolumeReclaimDelete},
		Then:   "Whoever deletes claim " + claim.String() + " deletes the data",
		// The data will hang on a claim that anybody may delete.
		Confirm: d.pv.Name,
	}}
	if now != corev1.PersistentVolumeReclaimRetain {
		d.plan.UndoNote = fmt.Sprintf("There is no undo: %s is not brought back, as it can destroy data", now)
		return
	}
	d.plan.Undo = []Step{{
		ID: stepRevert, Title: "Set the reclaim policy back to Retain",
		Why:    "Brings back the policy as it was",
		Target: d.target(),
		Patch:  policyPatch(corev1.PersistentVolumeReclaimRetain),
		Before: VolumeCondition{Policy: corev1.PersistentVolumeReclaimDelete},
		After:  VolumeCondition{Policy: corev1.PersistentVolumeReclaimRetain},
	}}
}

// boundAs describes the volume Bound to the very claim that it is bound to.
func (d *draft) boundAs(policy corev1.PersistentVolumeReclaimPolicy) VolumeCondition {
	return VolumeCondition{
		Phases:   []corev1.PersistentVolumePhase{corev1.VolumeBound},
		Policy:   policy,
		ClaimRef: seenRef(d.pv.Spec.ClaimRef),
	}
}

// provisioned says whether anybody is known who would delete the data. No
// provisioner on record means a volume made by hand: the controller then
// finds no plugin and calls it Failed, unless it is a CSI volume, which newer
// provisioners delete by its driver alone.
func (d *draft) provisioned() {
	if by := d.pv.Annotations[volume.AnnDynamicallyProvisioned]; by != "" {
		d.pass("provisioner", "The volume was made by "+by+", which is expected to delete it")
		return
	}
	if metav1.HasAnnotation(d.pv.ObjectMeta, volume.AnnMigratedTo) {
		return
	}
	if csi := d.pv.Spec.CSI; csi != nil {
		d.warn("not-provisioned",
			"The volume was made by hand: newer provisioners of driver "+csi.Driver+" delete it all the same, older ones leave it as it is",
			"Find out which one runs here, if it matters")
		return
	}
	d.warn("not-provisioned",
		"The volume was made by hand: when its claim goes, the deletion may fail and leave it Failed",
		"Keep Retain if nobody is meant to delete the data")
}

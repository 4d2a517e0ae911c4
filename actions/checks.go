package actions

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

// present checks that there is a volume, and that it is the one meant.
func (d *draft) present() bool {
	name := d.req.Volume.Name
	switch {
	case d.pv == nil || d.pv.Name != name:
		d.block("volume-gone", "Volume "+name+" is gone", "There is nothing left to change")
		return false
	case d.req.Volume.UID != "" && d.req.Volume.UID != d.pv.UID:
		d.block("volume-replaced",
			"Volume "+name+" was deleted, and another of the same name was made",
			"Go back and look at the new one before you decide")
		return false
	}
	return true
}

// allowed checks the one right that every step needs.
func (d *draft) allowed() {
	if slices.Contains(d.w.Denied, "patch persistentvolumes") {
		d.block("right-patch", "The server says that you may not change volumes",
			"Ask for the right to patch persistentvolumes")
	}
}

// annotationOperation is on every volume of an operation of several steps,
// until that has ended.
const annotationOperation = "claimref.io/plan"

// InOperation says that an operation of several steps on a volume is
// unfinished. Until it has ended, nothing else is to change the volume.
func InOperation(pv *corev1.PersistentVolume) bool {
	return metav1.HasAnnotation(pv.ObjectMeta, annotationOperation)
}

// notInOperation: what an operation has made so is not to be changed under it,
// by whomever it was begun.
func (d *draft) notInOperation() {
	if InOperation(d.pv) {
		d.block("in-operation", "An operation on volume "+d.pv.Name+" is unfinished",
			"Open it and carry it on, or take it back, before anything else")
	}
}

// notTerminating: a volume that is being deleted is never matched again, and
// a deletion can't be taken back (component-helpers, FindMatchingVolume).
func (d *draft) notTerminating() {
	if d.pv.DeletionTimestamp != nil {
		d.block("volume-terminating",
			"Volume "+d.pv.Name+" is being deleted, which can't be taken back; no claim can get it any more",
			"Set its policy to Retain if the data must survive it, then make a new volume from the same disk")
	}
}

// notRecycling: under Recycle the controller erases a released volume, and it
// tries again after a failure; a pod may be at it right now.
func (d *draft) notRecycling() {
	released := storedPhase(d.pv) == corev1.VolumeReleased || storedPhase(d.pv) == corev1.VolumeFailed
	if released && d.pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		d.block("recycle",
			"The policy is Recycle and the volume is released: its files may be being erased right now",
			"Set the policy to Retain first, then look at what is left")
	}
}

// deletionUnderWay warns of what Retain may come too late for.
func (d *draft) deletionUnderWay() {
	if d.pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return
	}
	const remedy = "Setting Retain stops what has not begun; look at the data before you rely on them"
	switch storedPhase(d.pv) {
	case corev1.VolumeReleased:
		d.warn("deletion-under-way",
			"The volume is Released under policy Delete: its deletion may already be under way", remedy)
	case corev1.VolumeFailed:
		d.warn("deletion-under-way",
			"The volume is Failed under policy Delete: its deletion may have been tried, and may be tried again", remedy)
	default:
		// Nothing deletes a volume that a claim holds or may yet take.
	}
}

// notBound checks that no claim holds the volume. danger says what the
// operation would do to such a claim.
func (d *draft) notBound(danger string) {
	ref := d.pv.Spec.ClaimRef
	bound := storedPhase(d.pv) == corev1.VolumeBound
	owner := d.w.owner(d.pv)
	switch {
	case owner != nil && bound && elsewhere(owner, d.pv):
		d.block("volume-bound",
			fmt.Sprintf("Volume %s still counts as Bound, though claim %s uses volume %s", d.pv.Name, claimKey(owner), owner.Spec.VolumeName),
			"Wait until the controller has looked at it, then try again")
	case owner != nil && elsewhere(owner, d.pv):
		d.boundElsewhere(owner)
	case owner != nil && !bound:
		d.block("volume-bound",
			fmt.Sprintf("Claim %s is being bound to volume %s; %s", claimKey(owner), d.pv.Name, danger),
			"Wait until both are Bound")
	case owner != nil:
		d.block("volume-bound",
			fmt.Sprintf("Volume %s is Bound to claim %s; %s", d.pv.Name, claimKey(owner), danger),
			"To give the volume away, set Retain, stop the claim's pods, and delete the claim first")
	case bound && d.unread("persistentvolumeclaims"):
		d.block("volume-bound",
			fmt.Sprintf("Volume %s is Bound, and claims could not be read; %s", d.pv.Name, danger),
			"Try again as somebody who may read claims")
	case bound && ref != nil && ref.UID != "":
		d.block("volume-bound",
			fmt.Sprintf("Volume %s still counts as Bound, though claim %s is gone", d.pv.Name, keyOf(ref)),
			"Wait until the controller marks it Released, then try again")
	case bound:
		d.block("volume-bound",
			fmt.Sprintf("Volume %s still counts as Bound, though it carries no claim's uid", d.pv.Name),
			"Wait until the controller has looked at it, then try again")
	}
}

func elsewhere(pvc *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume) bool {
	return pvc.Spec.VolumeName != "" && pvc.Spec.VolumeName != pv.Name
}

// boundElsewhere: the volume carries the uid of a claim that another volume
// serves. The controller is about to let go of it, or to delete it.
func (d *draft) boundElsewhere(owner *corev1.PersistentVolumeClaim) {
	text := fmt.Sprintf("Claim %s, whose uid the volume carries, uses volume %s instead: the controller is about to let go of this one",
		claimKey(owner), owner.Spec.VolumeName)
	if d.pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete &&
		metav1.HasAnnotation(d.pv.ObjectMeta, volume.AnnDynamicallyProvisioned) {
		text = fmt.Sprintf("Claim %s, whose uid the volume carries, uses volume %s instead: the controller deletes such a volume under policy Delete",
			claimKey(owner), owner.Spec.VolumeName)
	}
	d.warn("claim-elsewhere", text, "Expect the controller to write at the same time; look again afterwards")
}

// claimsRead warns when claims could not be read, as all that is said about
// them is then a guess.
func (d *draft) claimsRead(what string) bool {
	if !d.unread("persistentvolumeclaims") {
		return true
	}
	const id = "claims-unread"
	if slices.ContainsFunc(d.plan.Checks, func(c Check) bool { return c.ID == id }) {
		return false // It has been said.
	}
	d.warn(id, "Claims could not be read, so "+what,
		"Look as somebody who may read claims in all namespaces before you go on")
	return false
}

func isLost(pvc *corev1.PersistentVolumeClaim) bool {
	return binding.ClaimState(pvc).Stored == binding.Lost
}

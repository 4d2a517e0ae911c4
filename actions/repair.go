package actions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube/binding"
)

// repair plans that a Lost claim gets its volume back. The controller calls a
// claim Lost that was bound before and whose uid the volume does not carry;
// with the uid in its place both sides name each other again, and it binds
// them without any check (pv_controller.go, syncBoundClaim).
func (d *draft) repair() {
	d.allowed()
	d.notInOperation()
	d.notTerminating()
	d.notRecycling()
	claim := d.lostClaim()
	if claim == nil {
		return
	}
	d.notTaken(claim)
	d.deletionUnderWay()
	if d.blocked() {
		return
	}
	d.formerTie()
	d.rebinds(claim)
	d.repairSteps(claim)
}

// lostClaim is the claim to repair; nil when there is nothing to repair, or
// nothing that this volume could help.
func (d *draft) lostClaim() *corev1.PersistentVolumeClaim {
	key := d.req.Claim
	claim := d.w.claim(key)
	switch {
	case claim == nil && d.unread("persistentvolumeclaims"):
		d.block("claim-unread", fmt.Sprintf("Claim %s could not be read, so it is not known to be Lost", key),
			"Try again as somebody who may read claims")
	case claim == nil:
		d.block("claim-gone", fmt.Sprintf("Claim %s does not exist", key),
			"Reserve the volume for it instead, and create the claim anew")
	case claim.DeletionTimestamp != nil:
		d.block("claim-terminating", fmt.Sprintf("Claim %s is being deleted, which can't be taken back", key),
			"Wait until it is gone, then reserve the volume for the claim that takes its place")
	case claim.Spec.VolumeName != d.pv.Name:
		names := "names volume " + claim.Spec.VolumeName
		if claim.Spec.VolumeName == "" {
			names = "names no volume"
		}
		d.block("claim-names-other", fmt.Sprintf("Claim %s %s, so this one can't be given back to it", key, names),
			"Delete the claim and make it anew; reserve the volume for it first")
	case !binding.BindCompleted(claim):
		d.block("claim-not-marked", fmt.Sprintf("Claim %s was not bound before (it lacks pv.kubernetes.io/bind-completed)", key),
			"Reserve the volume for it instead")
	case d.w.owner(d.pv) == claim:
		d.block("claim-tied", fmt.Sprintf("Volume %s carries the uid of claim %s already", d.pv.Name, key),
			"Wait for the controller, which looks at both every 15 seconds by default")
	case !isLost(claim):
		d.block("claim-not-lost", fmt.Sprintf("Claim %s is %s, not Lost", key, binding.ClaimState(claim).Stored),
			"Wait until the controller has looked at it, then try again")
	default:
		return claim
	}
	return nil
}

// notTaken checks that nobody else has the volume, or counts on it: two claims
// would then write to one disk.
func (d *draft) notTaken(claim *corev1.PersistentVolumeClaim) {
	ref := d.pv.Spec.ClaimRef
	switch owner := d.w.owner(d.pv); {
	case owner != nil && elsewhere(owner, d.pv):
		d.boundElsewhere(owner)
	case owner != nil:
		d.block("volume-taken",
			fmt.Sprintf("Claim %s holds volume %s now: given back, the volume would serve two claims", claimKey(owner), d.pv.Name),
			"Decide which of the two claims is to have the data, and delete the other one first")
	case ref != nil && ref.UID != "" && keyOf(ref) != claimKey(claim) && d.unread("persistentvolumeclaims"):
		d.block("volume-taken",
			fmt.Sprintf("Claims could not be read, so it is not certain that claim %s no longer holds volume %s", keyOf(ref), d.pv.Name),
			"Try again as somebody who may read claims in all namespaces")
	}
	d.claimsRead("whether another one counts on this volume is not known")
	for _, c := range d.w.marked(d.pv) {
		switch {
		case c == claim:
		case isLost(c):
			d.warn("claim-lost", fmt.Sprintf("Claim %s was bound to this volume too and is Lost; it stays so", claimKey(c)),
				"Make sure that the claim to repair is the one whose data these are")
		default:
			d.block("volume-taken",
				fmt.Sprintf("Claim %s was bound to this volume too, and still counts on it", claimKey(c)),
				"Decide which of the two claims is to have the data, and delete the other one first")
		}
	}
}

// formerTie says what the volume's claimRef names until now.
func (d *draft) formerTie() {
	ref := d.pv.Spec.ClaimRef
	if ref == nil {
		d.pass("open", "The volume has no claimRef: the controller would give it back to the claim by itself, unless another claim is faster")
		return
	}
	d.successor()
	if ref.UID != "" && keyOf(ref) != d.req.Claim {
		d.warn("used-by-other",
			fmt.Sprintf("The volume was bound to claim %s since: the data on it may be that claim's", keyOf(ref)),
			"Look at the data before the claim's pods start")
	}
}

// rebinds says what is not compared when a claim gets its volume back.
func (d *draft) rebinds(claim *corev1.PersistentVolumeClaim) {
	sim := retied(d.pv, d.req.Claim, claim.UID)
	sim.Status.Phase = corev1.VolumeAvailable
	if verdict := binding.Judge(sim, claim, d.w.Classes); len(verdict.Ignored) > 0 {
		d.warn("binds-unchecked",
			fmt.Sprintf("Claim %s gets the volume back without any check, although they do not fit: %s", d.req.Claim, binding.Texts(verdict.Ignored)),
			"Go on only if this is the volume that the claim had")
		return
	}
	d.pass("binds", fmt.Sprintf("Claim %s names this volume and fits", d.req.Claim))
}

// retied is the volume with a claimRef that carries a uid.
func retied(pv *corev1.PersistentVolume, claim ClaimKey, uid types.UID) *corev1.PersistentVolume {
	c := reserved(pv, claim)
	c.Spec.ClaimRef.UID = uid
	return c
}

// repairSteps writes the whole claimRef in one patch: namespace and name with
// another claim's uid, or the other way round, would make the volume Released.
func (d *draft) repairSteps(claim *corev1.PersistentVolumeClaim) {
	d.retainFirst()
	key, ref := d.req.Claim, d.pv.Spec.ClaimRef
	after := retied(d.pv, key, claim.UID)
	tied := &ClaimRefCondition{Claim: key, UID: claim.UID}
	d.plan.Steps = append(d.plan.Steps, Step{
		ID:     stepRepair,
		Title:  "Put the uid of claim " + key.String() + " into the claimRef",
		Why:    "The claim is Lost because the volume does not carry its uid; with it, both name each other again",
		Target: d.target(),
		Patch:  mergePatch(d.pv, after),
		Before: VolumeCondition{
			Phases: d.phases(), Policy: corev1.PersistentVolumeReclaimRetain, ClaimRef: seenRef(ref),
		},
		After: VolumeCondition{
			Phases:   []corev1.PersistentVolumePhase{corev1.VolumeBound},
			Policy:   corev1.PersistentVolumeReclaimRetain,
			ClaimRef: tied,
		},
		Then: "The volume becomes Bound, and the claim too when the controller looks at it next, which takes up to 15 seconds by default",
	})
	switch {
	case d.w.owner(d.pv) != nil:
		d.addUndoNote("The claimRef is not brought back: it names a claim that uses another volume")
	case ref == nil:
		d.addUndoNote("There is no undo: without a claimRef the volume would be open to any claim")
	default:
		d.undoRepair(after, tied)
	}
}

// undoRepair plans the way back, which takes the volume from the claim again.
func (d *draft) undoRepair(after *corev1.PersistentVolume, tied *ClaimRefCondition) {
	ref, key := d.pv.Spec.ClaimRef, d.req.Claim
	phases := d.undoPhases()
	step := Step{
		ID:     stepRestore,
		Title:  "Put back the claimRef as it was",
		Why:    "Brings back the claimRef as it was; claim " + key.String() + " loses the volume",
		Target: d.target(),
		Patch:  mergePatch(after, d.pv),
		Before: VolumeCondition{
			Phases: append(phases, corev1.VolumeBound), Policy: corev1.PersistentVolumeReclaimRetain, ClaimRef: tied,
		},
		After:   VolumeCondition{ClaimRef: seenRef(ref), Policy: corev1.PersistentVolumeReclaimRetain},
		Then:    "Claim " + key.String() + " is Lost again; under Retain the data are kept",
		Confirm: d.pv.Name,
	}
	switch {
	case ref.UID != "":
		step.After.Phases = []corev1.PersistentVolumePhase{corev1.VolumeReleased, corev1.VolumeFailed}
	case keyOf(ref) == key:
		step.After.Phases = []corev1.PersistentVolumePhase{corev1.VolumeAvailable}
	default:
		// The claim for which it was reserved may take it at once.
		step.After.ClaimRef.AnyUID = true
		step.After.Phases = []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound}
	}
	d.plan.Undo = []Step{step}
	d.addUndoNote("An undo makes the claim Lost again; stop its pods first")
}

package actions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
)

// reserve plans that a volume waits for one claim, which may not exist yet.
func (d *draft) reserve() {
	d.reservable()
	if d.validClaim() && !d.alreadyReserved() {
		d.successor()
		d.reservedTarget()
		d.reservedNamespace()
		d.otherReservations()
	}
	d.reserveSteps()
}

// reservable checks what does not depend on the claim.
func (d *draft) reservable() {
	d.allowed()
	d.notInOperation()
	d.notTerminating()
	d.notRecycling()
	d.notBound("to reserve the volume would turn that claim Lost")
	d.claimsRead("whether one of them still counts on this volume is not known")
	d.notMarked()
	d.deletionUnderWay()
}

// notMarked: a claim that was bound to the volume before, by its annotation,
// is declared Lost as soon as the volume carries a claimRef without its uid.
// A claim that is Lost already cannot lose more, unless it is the one to
// reserve for.
func (d *draft) notMarked() {
	for _, c := range d.w.marked(d.pv) {
		key := claimKey(c)
		switch {
		case key == d.req.Claim:
			d.block("claim-marked",
				fmt.Sprintf("Claim %s carries the mark of an earlier binding to this volume (pv.kubernetes.io/bind-completed): reserved for it, the claim would be Lost", key),
				"Re-create the claim without that annotation, or unreserve the volume: without a claimRef such a claim gets it back")
		case isLost(c):
			d.warn("claim-lost", fmt.Sprintf("Claim %s was bound to this volume and is Lost; it stays so", key),
				"If that claim should have the volume, unreserve instead")
		default:
			d.block("volume-bound",
				fmt.Sprintf("Claim %s was bound to this volume and still counts on it: reserved for another, that claim would be Lost", key),
				"Delete that claim first, or unreserve the volume to give it back")
		}
	}
}

// validClaim checks the claim's name, which the API server does not do for a
// claimRef.
func (d *draft) validClaim() bool {
	key := d.req.Claim
	if msgs := validation.ValidateNamespaceName(key.Namespace, false); len(msgs) > 0 {
		d.block("claim-name", fmt.Sprintf("%q cannot be a namespace: %s", key.Namespace, msgs[0]), "Correct the namespace")
		return false
	}
	// Claims are named by the rule for volumes (pkg/apis/core/validation,
	// ValidatePersistentVolumeName).
	if msgs := validation.NameIsDNSSubdomain(key.Name, false); len(msgs) > 0 {
		d.block("claim-name", fmt.Sprintf("%q cannot be the name of a claim: %s", key.Name, msgs[0]), "Correct the name")
		return false
	}
	return true
}

// alreadyReserved blocks calmly when nothing is left to do.
func (d *draft) alreadyReserved() bool {
	if d.pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain ||
		d.pv.Spec.ClaimRef == nil || mergePatch(d.pv, reserved(d.pv, d.req.Claim)) != nil {
		return false
	}
	text := fmt.Sprintf("Volume %s is already reserved for claim %s", d.pv.Name, d.req.Claim)
	if storedPhase(d.pv) != corev1.VolumeAvailable {
		text += "; the controller has yet to mark it Available"
	}
	d.block("already-reserved", text, "")
	return true
}

// successor says what becomes of the claim that the volume names now.
func (d *draft) successor() {
	ref := d.pv.Spec.ClaimRef
	if ref == nil {
		return
	}
	old := keyOf(ref)
	living := d.w.claim(old)
	same := old == d.req.Claim
	switch {
	case ref.UID == "" && !same:
		d.warn("reserved-for-other",
			fmt.Sprintf("The volume is reserved for claim %s, which loses this reservation", old),
			"Go on only if that claim no longer needs the volume")
	case ref.UID == "" || living != nil && living.UID == ref.UID:
		// A reservation for the same claim, or a claim served elsewhere.
	case living != nil && same:
		d.pass("recreated", fmt.Sprintf("Claim %s was re-created: its uid differs from the one that the volume remembers, which keeps them apart", old))
	case living != nil:
		d.warn("recreated",
			fmt.Sprintf("The volume's former claim %s was re-created, and does not get the volume", old),
			"Reserve for that claim instead if it should")
	case !d.unread("persistentvolumeclaims"):
		d.pass("former-gone", fmt.Sprintf("The volume's former claim %s is gone", old))
	}
}

// reservedNamespace looks at where the claim is, or will be.
func (d *draft) reservedNamespace() {
	ns := d.req.Claim.Namespace
	if d.w.Namespaces == nil {
		return
	}
	deleting, exists := d.w.Namespaces[ns]
	switch {
	case !exists:
		d.warn("namespace-missing", fmt.Sprintf("Namespace %s does not exist", ns),
			"The volume will wait; make the namespace, and the claim in it")
	case deleting:
		d.warn("namespace-deleting",
			fmt.Sprintf("Namespace %s is being deleted: its claims go, and no new one can be made there", ns),
			"The volume will wait until the namespace is there again; or reserve for a claim elsewhere")
	}
}

// otherReservations warns of a second volume that waits for the same claim.
func (d *draft) otherReservations() {
	target := d.w.claim(d.req.Claim)
	if target != nil && target.Spec.VolumeName == d.pv.Name {
		return // The claim itself says which one it takes.
	}
	for _, v := range d.w.Volumes {
		ref := v.Spec.ClaimRef
		if v.Name == d.pv.Name || ref == nil || keyOf(ref) != d.req.Claim {
			continue
		}
		switch {
		case ref.UID == "":
			d.warn("other-reservation",
				fmt.Sprintf("Volume %s is reserved for claim %s too: which one it gets is not certain", v.Name, d.req.Claim),
				"Unreserve the one that it should not get, or name the volume in the claim (volumeName)")
		case target != nil && ref.UID == target.UID && target.Spec.VolumeName == "":
			d.warn("other-binding",
				fmt.Sprintf("Volume %s is already being bound to claim %s", v.Name, d.req.Claim),
				"Wait, and see which volume the claim gets")
		}
	}
}

// reserveSteps writes one patch: the claimRef and the annotation must never
// be seen apart (invariant 2).
func (d *draft) reserveSteps() {
	d.retainFirst()
	after := reserved(d.pv, d.req.Claim)
	patch := mergePatch(d.pv, after)
	if patch == nil {
		return
	}
	key, ref := d.req.Claim, d.pv.Spec.ClaimRef
	title := "Reserve the volume for claim " + key.String()
	switch {
	case ref == nil || keyOf(ref) != key:
	case ref.UID == "":
		title = "Complete the reservation for claim " + key.String()
	default:
		title = "Clear the former uid, and keep the volume reserved for claim " + key.String()
	}
	step := Step{
		ID:     stepReserve,
		Title:  title,
		Why:    "A claimRef without a uid keeps the volume for the claim of that name, and lets no other have it",
		Target: d.target(),
		Patch:  patch,
		Before: VolumeCondition{
			Phases: d.phases(), Policy: corev1.PersistentVolumeReclaimRetain, ClaimRef: seenRef(ref),
		},
		After: VolumeCondition{
			Phases: []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound},
			Policy: corev1.PersistentVolumeReclaimRetain,
			// The claim may take it at once.
			ClaimRef: &ClaimRefCondition{Claim: key, AnyUID: true},
		},
		Then: "The volume becomes Available, for that claim only",
	}
	if ref != nil && ref.UID != "" {
		step.After.NotClaimRef = seenRef(ref)
	}
	d.plan.Steps = append(d.plan.Steps, step)
	d.undoClaimRef(after, VolumeCondition{
		Phases: d.undoPhases(), Policy: corev1.PersistentVolumeReclaimRetain,
		ClaimRef: &ClaimRefCondition{Claim: key},
	})
}

// undoClaimRef plans the way back from a claimRef that was changed, to the
// very one it was. It works only as long as no claim has taken the volume.
func (d *draft) undoClaimRef(after *corev1.PersistentVolume, before VolumeCondition) {
	if d.w.owner(d.pv) != nil {
		d.addUndoNote("The claimRef is not brought back: it names a claim that uses another volume")
		return
	}
	ref := d.pv.Spec.ClaimRef
	step := Step{
		ID:     stepRestore,
		Why:    "Brings back the claimRef as it was",
		Target: d.target(),
		Patch:  mergePatch(after, d.pv),
		Before: before,
		After:  VolumeCondition{ClaimRef: seenRef(ref), Policy: corev1.PersistentVolumeReclaimRetain},
	}
	switch {
	case ref == nil:
		step.Title = "Open the volume to any claim again"
		step.Then = "The volume is Available to any claim that fits"
		step.Confirm = d.pv.Name
		step.After.ClaimRef = nil
		step.After.NotClaimRef = &ClaimRefCondition{Claim: d.req.Claim, AnyUID: true}
		step.After.Phases = []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound}
	case ref.UID == "":
		step.Title = "Reserve the volume for claim " + keyOf(ref).String() + " again"
		step.Then = "The volume waits for that claim, as before"
		step.After.ClaimRef.AnyUID = true
		step.After.Phases = []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound}
	default:
		step.Title = "Put back the uid of the former claim " + keyOf(ref).String()
		step.Then = "The controller marks the volume Released again; under Retain its data are kept"
		step.After.Phases = []corev1.PersistentVolumePhase{corev1.VolumeReleased, corev1.VolumeFailed}
	}
	d.plan.Undo = []Step{step}
	d.addUndoNote("An undo is possible until a claim takes the volume")
}

func (d *draft) addUndoNote(note string) {
	if d.plan.UndoNote != "" {
		d.plan.UndoNote += ". "
	}
	d.plan.UndoNote += note
}

package actions

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Make plans a request from what is known of the cluster. It always returns a
// plan with all its checks; one that is blocked has no steps.
func Make(req Request, w World) Plan {
	d := &draft{req: req, w: w, pv: w.Volume}
	d.plan.Request = req
	d.plan.Title = title(req)
	if d.present() {
		switch req.Verb {
		case Reserve:
			d.reserve()
		case Unreserve:
			d.unreserve()
		case SetPolicy:
			d.setPolicy()
		case Repair:
			d.repair()
		case SinglePodLight:
			d.singlePod()
		default:
			d.block("verb", "This version does not know the operation "+string(req.Verb), "")
		}
	}
	if d.blocked() {
		d.plan.Steps, d.plan.Undo, d.plan.UndoNote = nil, nil, ""
	}
	return d.plan
}

func title(req Request) string {
	switch req.Verb {
	case Reserve:
		return "Reserve " + req.Volume.Name + " for " + req.Claim.String()
	case Unreserve:
		return "Unreserve " + req.Volume.Name
	case Repair:
		return "Give " + req.Volume.Name + " back to claim " + req.Claim.String()
	case SinglePodLight:
		return "Make " + req.Volume.Name + " ReadWriteOncePod"
	case SetPolicy:
		return "Set the reclaim policy of " + req.Volume.Name + " to " + string(req.Policy)
	default:
		return string(req.Verb) + " " + req.Volume.Name
	}
}

// Blocked is the reason why the plan cannot be carried out, or empty.
func (p Plan) Blocked() string {
	for _, c := range p.Checks {
		if c.Severity != Block {
			continue
		}
		if c.Remedy == "" {
			return c.Text
		}
		return c.Text + ". " + c.Remedy
	}
	return ""
}

// Worst is the highest severity among the checks.
func (p Plan) Worst() Severity {
	worst := Pass
	for _, c := range p.Checks {
		worst = max(worst, c.Severity)
	}
	return worst
}

// draft is a plan in the making.
type draft struct {
	req  Request
	w    World
	pv   *corev1.PersistentVolume
	plan Plan
}

func (d *draft) pass(id, text string) {
	d.plan.Checks = append(d.plan.Checks, Check{ID: id, Severity: Pass, Text: text})
}

func (d *draft) warn(id, text, remedy string) {
	d.plan.Checks = append(d.plan.Checks, Check{ID: id, Severity: Warn, Text: text, Remedy: remedy})
}

func (d *draft) block(id, text, remedy string) {
	d.plan.Checks = append(d.plan.Checks, Check{ID: id, Severity: Block, Text: text, Remedy: remedy})
}

func (d *draft) blocked() bool { return d.plan.Worst() == Block }

func (d *draft) unread(resource string) bool { return d.w.unread(resource) }

// target names the volume as it was seen, so that a later one of the same
// name is never written to.
func (d *draft) target() Ref {
	return Ref{Kind: VolumeKind, Name: d.pv.Name, UID: d.pv.UID}
}

// The steps' IDs.
const (
	stepRetain    = "retain"
	stepReserve   = "reserve"
	stepUnreserve = "unreserve"
	stepPolicy    = "policy"
	stepRepair    = "repair"
	stepRestore   = "restore-claimref"
	stepRevert    = "restore-policy"
	stepModes     = "access-modes"
	stepModesBack = "restore-access-modes"
)

// retainFirst adds the step that sets Retain, unless it is set. Both verbs
// that touch the claimRef need it: an external provisioner destroys what is
// Released under Delete and does not look at the claimRef at all
// (sig-storage-lib-external-provisioner, controller.go, shouldDelete), and a
// dynamically provisioned volume under Delete is given up when its claim is
// served elsewhere (pv_controller.go, syncVolume).
func (d *draft) retainFirst() {
	policy := d.pv.Spec.PersistentVolumeReclaimPolicy
	if policy == corev1.PersistentVolumeReclaimRetain {
		d.pass("policy", "The reclaim policy is Retain: the data are kept, whatever happens to the claim")
		return
	}
	why := "Until a claim holds the volume for certain, nothing must be able to remove its data"
	if storedPhase(d.pv) == corev1.VolumeReleased || storedPhase(d.pv) == corev1.VolumeFailed {
		why = "A released volume under policy Delete is destroyed, whatever its claimRef says"
	}
	d.plan.Steps = append(d.plan.Steps, Step{
		ID:     stepRetain,
		Title:  "Set the reclaim policy to Retain",
		Why:    why,
		Target: d.target(),
		Patch:  policyPatch(corev1.PersistentVolumeReclaimRetain),
		Before: VolumeCondition{Phases: d.phases(), Policy: policy, ClaimRef: seenRef(d.pv.Spec.ClaimRef)},
		After:  VolumeCondition{Policy: corev1.PersistentVolumeReclaimRetain},
		Then:   "The data are kept from now on; the policy is not set back by this plan",
	})
	d.plan.UndoNote = "The reclaim policy stays Retain: to set " + string(policy) +
		" on a volume that is not bound could destroy its data"
}

// phases are the stored phases that the next write may meet: the one that was
// seen, or the one that the controller gives to such a claimRef when it comes
// to look (pv_controller.go, syncVolume).
func (d *draft) phases() []corev1.PersistentVolumePhase {
	seen, next := storedPhase(d.pv), corev1.VolumeReleased
	if ref := d.pv.Spec.ClaimRef; ref == nil || ref.UID == "" {
		next = corev1.VolumeAvailable
	}
	// A failure is not overwritten as long as the uid is there.
	if seen == next || seen == corev1.VolumeFailed && next == corev1.VolumeReleased {
		return []corev1.PersistentVolumePhase{seen}
	}
	return []corev1.PersistentVolumePhase{seen, next}
}

// undoPhases are those that an undo may meet: the one that the plan leads to
// or, when the controller is slow, still the one that it began with.
func (d *draft) undoPhases() []corev1.PersistentVolumePhase {
	phases := d.phases()
	if !slices.Contains(phases, corev1.VolumeAvailable) {
		phases = append(phases, corev1.VolumeAvailable)
	}
	return phases
}

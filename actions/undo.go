package actions

import corev1 "k8s.io/api/core/v1"

// UndoChecks are the checks of a step of an undo, by the world as it is now.
// Most steps back are harmless and have none; one that opens a volume or sets
// Delete is judged as if it had been asked for.
func UndoChecks(step Step, w World) []Check {
	req := Request{Volume: step.Target}
	switch {
	case w.Volume != nil && InOperation(w.Volume):
		d := &draft{req: req, w: w, pv: w.Volume}
		d.notInOperation()
		return d.plan.Checks
	case step.After.Policy == corev1.PersistentVolumeReclaimDelete:
		req.Verb, req.Policy = SetPolicy, corev1.PersistentVolumeReclaimDelete
	case step.opens():
		req.Verb = Unreserve
	case len(step.After.Modes) > 0:
		return []Check{{
			ID: "modes-back", Severity: Warn,
			Text:   "With " + modeList(step.After.Modes) + " a second pod on the same node may use the volume again",
			Remedy: "Go on if that is meant; the pod that uses it now keeps it",
		}}
	case step.takesAway():
		return []Check{{
			ID: "claim-lost", Severity: Warn,
			Text:   "Claim " + step.Before.ClaimRef.Claim.String() + " loses the volume and is Lost again",
			Remedy: "Stop the claim's pods first: they would go on writing to a volume that is not theirs",
		}}
	default:
		return nil
	}
	return Make(req, w).Checks
}

// opens says that a step leaves a volume without a claimRef, to anybody.
func (s Step) opens() bool {
	return s.After.ClaimRef == nil && s.After.NotClaimRef != nil
}

// takesAway says that a step takes a volume from the claim that holds it.
func (s Step) takesAway() bool {
	before, after := s.Before.ClaimRef, s.After.ClaimRef
	return before != nil && before.UID != "" && after != nil && *after != *before
}

package actions

import corev1 "k8s.io/api/core/v1"

// UndoChecks are the checks of a step of an undo, by the world as it is now.
// Most steps back are harmless and have none; one that opens a volume or sets
// Delete is judged as if it had been asked for.
func UndoChecks(step Step, w World) []Check {
	req := Request{Volume: step.Target}
	switch {
	case step.After.Policy == corev1.PersistentVolumeReclaimDelete:
		req.Verb, req.Policy = SetPolicy, corev1.PersistentVolumeReclaimDelete
	case step.opens():
		req.Verb = Unreserve
	default:
		return nil
	}
	return Make(req, w).Checks
}

// opens says that a step leaves a volume without a claimRef, to anybody.
func (s Step) opens() bool {
	return s.After.ClaimRef == nil && s.After.NotClaimRef != nil
}

package actions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Next says what to do next with the steps of a plan (p.Steps or p.Undo), by
// nothing but what the world looks like. So a plan can be taken up again at
// any point, by anybody, without a record of how far it came.
//
// A step counts as taken when its After holds and it is not needed. It is
// needed when its Before holds and its patch would change the volume: an
// After that happens to hold from the start hides no step, and a volume that
// a claim has taken meanwhile no longer meets Before, so that the step which
// led there is not repeated. The first step that is not taken decides:
//
//   - needed: Act;
//   - written, with only the phase yet to follow: Wait;
//   - otherwise Halt, with what is not as it should be.
func Next(p Plan, steps []Step, w World) Move {
	if reason := p.Blocked(); reason != "" {
		return Move{Kind: Halt, Reason: reason}
	}
	for i, s := range steps {
		pv := w.Volume
		if reason := s.Target.missing(pv); reason != "" {
			return Move{Kind: Halt, Step: i, Reason: reason}
		}
		before, after := s.Before.Mismatch(pv), s.After.Mismatch(pv)
		change := changes(s.Patch, pv)
		switch {
		case before == "" && change:
			return s.act(i, w)
		case after == "":
			continue
		case !change && s.After.AnyPhase().Mismatch(pv) == "":
			return Move{Kind: Wait, Step: i, Reason: after}
		case before != "":
			return Move{Kind: Halt, Step: i, Reason: before}
		default:
			return Move{Kind: Halt, Step: i, Reason: after}
		}
	}
	return Move{Kind: Done, Step: len(steps)}
}

// act gives the step free, but for Delete, which is looked at once more with
// the claims as they are now: the volume's own state does not show that its
// claim has begun to go.
func (s Step) act(i int, w World) Move {
	if s.After.Policy == corev1.PersistentVolumeReclaimDelete {
		if why := w.keepsFromDelete(w.Volume); why != "" {
			return Move{Kind: Halt, Step: i, Reason: "to set Delete now could destroy the data: " + why}
		}
	}
	return Move{Kind: Act, Step: i}
}

// missing says that the object a step is about is not there.
func (r Ref) missing(pv *corev1.PersistentVolume) string {
	switch {
	case r.Kind != VolumeKind:
		return fmt.Sprintf("this version cannot change a %s", r.Kind)
	case pv == nil || pv.Name != r.Name:
		return "the volume is gone"
	case r.UID != "" && pv.UID != r.UID:
		return "the volume was deleted, and another of the same name was made"
	}
	return ""
}

// AnyPhase is the condition without the phase, which is the controller's to
// bring: what is left is there as soon as the request is accepted.
func (c VolumeCondition) AnyPhase() VolumeCondition {
	c.Phases = nil
	return c
}

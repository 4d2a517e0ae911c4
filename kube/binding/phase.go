package binding

import (
	corev1 "k8s.io/api/core/v1"
)

// Phase is the state of a volume or a claim as an operator needs to know it.
// It refines the API's phases: a volume that is reserved, or an object that
// is being deleted, has an API phase that hides it.
type Phase string

// The phases. Reserved and Terminating are derived, the others are the API's.
const (
	Pending     Phase = "Pending"
	Available   Phase = "Available"
	Reserved    Phase = "Reserved"
	Bound       Phase = "Bound"
	Released    Phase = "Released"
	Failed      Phase = "Failed"
	Lost        Phase = "Lost"
	Terminating Phase = "Terminating"
	Unknown     Phase = "Unknown"
)

// State is a derived phase together with the one the API server stores.
type State struct {
	// Phase is what to show.
	Phase Phase
	// Stored is status.phase. It differs from Phase for Reserved (stored
	// Available) and Terminating (stored anything).
	Stored Phase
}

// VolumeState derives a volume's state.
//
// Terminating wins, because a volume with a deletionTimestamp is never matched
// again and cannot be rescued. Reserved is a volume whose claimRef names a
// claim but carries no uid: the controller calls it Available
// (pkg/controller/volume/persistentvolume/pv_controller.go, syncVolume), yet
// only the claim of that name can take it. It is derived from the claimRef
// alone once the controller has seen it, that is when the stored phase is
// Available or not yet set.
func VolumeState(pv *corev1.PersistentVolume) State {
	s := State{Stored: storedPhase(string(pv.Status.Phase))}
	s.Phase = s.Stored
	switch {
	case pv.DeletionTimestamp != nil:
		s.Phase = Terminating
	case s.Stored == Available && pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.UID == "":
		s.Phase = Reserved
	}
	return s
}

// ClaimState derives a claim's state.
func ClaimState(pvc *corev1.PersistentVolumeClaim) State {
	s := State{Stored: storedPhase(string(pvc.Status.Phase))}
	s.Phase = s.Stored
	if pvc.DeletionTimestamp != nil {
		s.Phase = Terminating
	}
	return s
}

// storedPhase reads an API phase. An object that no controller has looked at
// yet has none and is Pending; a word that this version does not know is kept
// apart rather than guessed.
func storedPhase(p string) Phase {
	switch Phase(p) {
	case "":
		return Pending
	case Pending, Available, Bound, Released, Failed, Lost:
		return Phase(p)
	default:
		return Unknown
	}
}

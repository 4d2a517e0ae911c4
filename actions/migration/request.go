package migration

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// Verb is what the user wants done.
type Verb string

// The operations.
const (
	// SinglePod makes a ReadWriteOnce volume a ReadWriteOncePod one.
	SinglePod Verb = "single-pod"
	// MoveClaim gives the volume to a claim of another name or namespace.
	MoveClaim Verb = "move"
	// RecreateClaim makes the claim that a volume lacks.
	RecreateClaim Verb = "recreate"
)

// Request is a user's wish. It is small and stable, so that the plan can be
// made anew from fresh objects until its first step is written.
type Request struct {
	Verb Verb `json:"verb"`
	// Volume is the one that the user chose. For a StatefulSet's volume the
	// others of the set come along, see Ordinals.
	Volume actions.Ref `json:"volume"`
	// Ordinals are those of the StatefulSet's claims that are migrated, for
	// SinglePod; nil for all of them.
	Ordinals []int `json:"ordinals,omitempty"`
	// KeepTemplates leaves a StatefulSet's volumeClaimTemplates as they are:
	// claims that it makes later are ReadWriteOnce again.
	KeepTemplates bool `json:"keepTemplates,omitempty"`
	// Recreate sets a Deployment's strategy to Recreate, so that a rollout
	// does not wait for itself.
	Recreate bool `json:"recreate,omitempty"`
	// DeleteCompleted deletes pods that have run to their end and hold the
	// claim.
	DeleteCompleted bool `json:"deleteCompleted,omitempty"`
	// Operators are the custom resources that own a workload and that the user
	// takes responsibility for, as "Kind namespace/name".
	Operators []string `json:"operators,omitempty"`
	// To is the claim that gets the volume, for MoveClaim.
	To actions.ClaimKey `json:"to,omitzero"`
	// Manifest is the claim to make, for RecreateClaim, where there is a backup of
	// it; nil to make one that fits the volume.
	Manifest *corev1.PersistentVolumeClaim `json:"manifest,omitempty"`
}

// The modes between which SinglePod migrates.
const (
	fromMode = corev1.ReadWriteOnce
	toMode   = corev1.ReadWriteOncePod
)

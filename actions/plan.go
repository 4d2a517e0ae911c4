package actions

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Kind is the kind of an object.
type Kind string

// The kinds. Steps change volumes; the others are looked at.
const (
	VolumeKind Kind = "PersistentVolume"
	ClaimKind  Kind = "PersistentVolumeClaim"
	ClassKind  Kind = "StorageClass"
)

// Ref names one object. UID tells it from a later one of the same name.
type Ref struct {
	Kind      Kind      `json:"kind"`
	Namespace string    `json:"namespace,omitempty"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid,omitempty"`
}

// ClaimKey names a claim, existing or not.
type ClaimKey struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// String writes the key as namespace/name.
func (k ClaimKey) String() string { return k.Namespace + "/" + k.Name }

// Verb is what the user wants done.
type Verb string

// The guided operations.
const (
	Reserve   Verb = "reserve"
	Unreserve Verb = "unreserve"
	SetPolicy Verb = "set-policy"
	// Repair gives a Lost claim its volume back.
	Repair Verb = "repair"
	// SinglePodLight makes the access modes of a volume ReadWriteOncePod, and
	// leaves its claim as it is.
	SinglePodLight Verb = "single-pod-light"
)

// Request is a user's wish, the input of a plan. It is small and stable, so
// that the plan can be made anew from fresh objects at any time.
type Request struct {
	Verb   Verb `json:"verb"`
	Volume Ref  `json:"volume"`
	// Claim is the claim to reserve for, or to repair (Reserve and Repair).
	Claim ClaimKey `json:"claim,omitzero"`
	// Policy is the policy to set (SetPolicy only).
	Policy corev1.PersistentVolumeReclaimPolicy `json:"policy,omitempty"`
}

// World is what a plan is made from. Objects are read only.
type World struct {
	// Volume is the volume the request is about; nil when it is gone.
	Volume *corev1.PersistentVolume
	// Volumes, Claims and Classes are all that could be read. Fresh copies
	// stand in for cached ones where the caller has them.
	Volumes []*corev1.PersistentVolume
	Claims  []*corev1.PersistentVolumeClaim
	Classes []*storagev1.StorageClass
	// Unread lists the resources that could not be read ("persistentvolumeclaims",
	// "storageclasses", "namespaces"), for which absence proves nothing.
	Unread []string
	// Namespaces are the namespaces known to exist, with true for those that
	// are being deleted. Nil when unread.
	Namespaces map[string]bool
	// Denied lists the rights that the server said the user lacks, in the
	// form "patch persistentvolumes".
	Denied []string
	// Users are who uses the volume through the claim that it names.
	Users Users
}

// Severity says what a check means for the plan.
type Severity int

// The severities, from harmless to final.
const (
	Pass Severity = iota
	Warn
	Block
)

// Check is one thing looked at before anything is written.
type Check struct {
	// ID is stable and names the rule, for tests and journals.
	ID       string   `json:"id"`
	Severity Severity `json:"severity"`
	// Text is one sentence without a trailing period: the fact and its cause.
	Text string `json:"text"`
	// Remedy says what to do about a Warn or a Block.
	Remedy string `json:"remedy,omitempty"`
}

// VolumeCondition describes a volume. Empty fields match anything.
type VolumeCondition struct {
	// Phases are the stored phases (status.phase), any of which matches.
	Phases []corev1.PersistentVolumePhase       `json:"phases,omitempty"`
	Policy corev1.PersistentVolumeReclaimPolicy `json:"policy,omitempty"`
	// Modes are the access modes, all of them, in whatever order.
	Modes []corev1.PersistentVolumeAccessMode `json:"modes,omitempty"`
	// ClaimRef describes spec.claimRef.
	ClaimRef *ClaimRefCondition `json:"claimRef,omitempty"`
	// NotClaimRef describes what spec.claimRef must not be any more. It tells
	// a volume that was opened, and taken at once, from one left as it was.
	NotClaimRef *ClaimRefCondition `json:"notClaimRef,omitempty"`
}

// ClaimRefCondition describes spec.claimRef. The zero value is "no claimRef".
type ClaimRefCondition struct {
	// Claim is the claim it must name; zero for no claimRef at all.
	Claim ClaimKey `json:"claim,omitzero"`
	// UID is the uid it must carry; empty for a reservation.
	UID types.UID `json:"uid,omitempty"`
	// AnyUID accepts whatever uid: a reservation that its claim has taken
	// meanwhile is a success, not a surprise.
	AnyUID bool `json:"anyUID,omitempty"`
}

// Step is one request to the API server.
type Step struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Why says what the step is for, in a sentence.
	Why    string `json:"why"`
	Target Ref    `json:"target"`
	// Patch is a JSON merge patch without metadata.resourceVersion, which
	// the executor adds: the one the approved diff was made from.
	Patch json.RawMessage `json:"patch"`
	// Before must hold on a fresh copy right before the request.
	Before VolumeCondition `json:"before"`
	// After is what the watch must show when the step has taken effect.
	After VolumeCondition `json:"after"`
	// Then says what will happen next, in a sentence.
	Then string `json:"then,omitempty"`
	// Confirm is the word that must be typed before this step is sent, since
	// it exposes or destroys data. Empty where a key press is enough.
	Confirm string `json:"confirm,omitempty"`
}

// Plan is what will be done for a request, in order.
type Plan struct {
	Request Request `json:"request"`
	Title   string  `json:"title"`
	Checks  []Check `json:"checks"`
	Steps   []Step  `json:"steps"`
	// Undo brings back what Steps change, in the order to be carried out.
	// Empty when nothing can or need be taken back; UndoNote says why, or
	// what an undo cannot bring back.
	Undo     []Step `json:"undo,omitempty"`
	UndoNote string `json:"undoNote,omitempty"`
}

// MoveKind says what Next found.
type MoveKind int

// The moves.
const (
	// Act carries out Step.
	Act MoveKind = iota
	// Done: every step has taken effect.
	Done
	// Halt: the world is not as the plan needs it; Reason says how.
	Halt
	// Wait: Step is written, and the controller has yet to show its effect.
	Wait
)

// Move is the answer of Next.
type Move struct {
	Kind   MoveKind
	Step   int
	Reason string
}

// Offer is one entry of the actions menu for a volume.
type Offer struct {
	// Request is complete, except for an offer that still needs a choice
	// (NeedsClaim, NeedsPolicy).
	Request     Request
	NeedsClaim  bool
	NeedsPolicy bool
	Title       string
	// Note says in a few words what would happen.
	Note string
	// Disabled is the reason why the offer can't be taken now; empty if it can.
	Disabled string
}

package actions

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Mismatch says in a sentence what keeps a volume from being as described, or
// nothing when it is. That it is the same object, by uid, is not looked at.
func (c VolumeCondition) Mismatch(pv *corev1.PersistentVolume) string {
	if pv == nil {
		return "the volume is gone"
	}
	if phase := storedPhase(pv); len(c.Phases) > 0 && !slices.Contains(c.Phases, phase) {
		return fmt.Sprintf("the volume is %s, not %s", phase, phaseList(c.Phases))
	}
	if policy := pv.Spec.PersistentVolumeReclaimPolicy; c.Policy != "" && policy != c.Policy {
		return fmt.Sprintf("the reclaim policy is %s, not %s", policy, c.Policy)
	}
	if len(c.Modes) > 0 && !sameModes(pv.Spec.AccessModes, c.Modes) {
		return fmt.Sprintf("the access modes are %s, not %s", modeList(pv.Spec.AccessModes), modeList(c.Modes))
	}
	if c.ClaimRef != nil && !c.ClaimRef.matches(pv.Spec.ClaimRef) {
		return fmt.Sprintf("the volume %s, and should %s", refText(pv.Spec.ClaimRef), c.ClaimRef)
	}
	if c.NotClaimRef != nil && c.NotClaimRef.matches(pv.Spec.ClaimRef) {
		return "the volume still " + refText(pv.Spec.ClaimRef)
	}
	return ""
}

func (c ClaimRefCondition) matches(ref *corev1.ObjectReference) bool {
	if ref == nil {
		return c.Claim == ClaimKey{}
	}
	// A claimRef that names nothing is still a claimRef.
	return c.Claim != ClaimKey{} && c.Claim == keyOf(ref) && (c.AnyUID || c.UID == ref.UID)
}

// String completes "the volume should ...".
func (c ClaimRefCondition) String() string {
	switch {
	case c.Claim == ClaimKey{}:
		return "have no claimRef"
	case c.AnyUID:
		return "name claim " + c.Claim.String()
	case c.UID == "":
		return fmt.Sprintf("be reserved for claim %s, without a uid", c.Claim)
	default:
		return fmt.Sprintf("name claim %s with uid %s", c.Claim, c.UID)
	}
}

// refText completes "the volume ...".
func refText(ref *corev1.ObjectReference) string {
	switch {
	case ref == nil:
		return "has no claimRef"
	case ref.UID == "":
		return fmt.Sprintf("is reserved for claim %s", keyOf(ref))
	default:
		return fmt.Sprintf("names claim %s with uid %s", keyOf(ref), ref.UID)
	}
}

// seenRef describes a claimRef exactly as it is.
func seenRef(ref *corev1.ObjectReference) *ClaimRefCondition {
	if ref == nil {
		return &ClaimRefCondition{}
	}
	return &ClaimRefCondition{Claim: keyOf(ref), UID: ref.UID}
}

func keyOf(ref *corev1.ObjectReference) ClaimKey {
	return ClaimKey{Namespace: ref.Namespace, Name: ref.Name}
}

// storedPhase is status.phase; a volume that no controller has seen yet has
// none, which the API server writes as Pending.
func storedPhase(pv *corev1.PersistentVolume) corev1.PersistentVolumePhase {
	if pv.Status.Phase == "" {
		return corev1.VolumePending
	}
	return pv.Status.Phase
}

// sameModes compares access modes as the set that they are.
func sameModes(a, b []corev1.PersistentVolumeAccessMode) bool {
	within := func(some, all []corev1.PersistentVolumeAccessMode) bool {
		return !slices.ContainsFunc(some, func(m corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(all, m) })
	}
	return within(a, b) && within(b, a)
}

func modeList(modes []corev1.PersistentVolumeAccessMode) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

func phaseList(phases []corev1.PersistentVolumePhase) string {
	names := make([]string, len(phases))
	for i, p := range phases {
		names[i] = string(p)
	}
	return strings.Join(names, " or ")
}

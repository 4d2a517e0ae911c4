package migration

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// side is a volume as seen from the end that the operation is walking to.
type side struct {
	v  Volume
	pv *corev1.PersistentVolume
	// goal is the claim that the volume shall have, other the one that has to
	// go; either may be nil.
	goal, other *corev1.PersistentVolumeClaim
	// goalUID is that of the goal where it may still be the original claim,
	// otherUID that of the other one where it must be.
	goalUID, otherUID string
	// atGoal and atOther are the claims of those names as they are now.
	atGoal, atOther *corev1.PersistentVolumeClaim
	modes           []corev1.PersistentVolumeAccessMode
	// ref is the claimRef that the volume shall have where it has no goal.
	ref *corev1.ObjectReference
}

// target is the claim that a volume shall have in the end.
func (m *machine) target(v Volume) *corev1.PersistentVolumeClaim {
	if m.dir == Back {
		return v.From
	}
	return v.To
}

func (m *machine) side(v Volume) side {
	s := side{v: v, pv: m.s.Volumes[v.Ref.Name], modes: v.Modes, ref: v.ClaimRef}
	if m.dir == Back {
		s.goal, s.goalUID, s.other = v.From, string(v.FromUID), v.To
	} else {
		s.goal, s.other, s.otherUID = v.To, v.From, string(v.FromUID)
		if m.j.Request.Verb == SinglePod {
			s.modes = []corev1.PersistentVolumeAccessMode{toMode}
		}
	}
	if s.goal != nil {
		s.atGoal = m.s.Claims[claimKey(s.goal)]
	}
	if s.other != nil {
		s.atOther = m.s.Claims[claimKey(s.other)]
	}
	return s
}

// reached says that the claim of the goal's name is the one that the volume
// shall have: nobody else's, and not the one that has to go.
func (s side) reached() bool {
	c := s.atGoal
	switch {
	case c == nil || c.DeletionTimestamp != nil:
		return false
	case s.goalUID != "" && string(c.UID) == s.goalUID:
		return true
	case s.otherUID != "" && string(c.UID) == s.otherUID:
		return false
	}
	return c.Spec.VolumeName == s.v.Ref.Name && sameModes(c.Spec.AccessModes, s.goal.Spec.AccessModes)
}

// isBound says that volume and claim are bound to each other, by uid, as they
// shall be. Without a claim to come, that the volume is as it was.
func (s side) isBound() bool {
	if s.goal == nil {
		return s.otherGone() && s.ready()
	}
	return s.reached() && s.ready() && s.pv.Status.Phase == corev1.VolumeBound &&
		s.pv.Spec.ClaimRef.UID == s.atGoal.UID && s.atGoal.Status.Phase == corev1.ClaimBound
}

// otherGone says that the claim that has to go is gone. Once the volume has its
// claim of another name, the former name is anybody's.
func (s side) otherGone() bool {
	if s.atOther == nil {
		return true
	}
	if s.goal == nil || !s.reached() {
		return false
	}
	return claimKey(s.goal) == claimKey(s.other) || !s.isOther()
}

// namesOther says that the volume names the claim that has to go, and no other
// of its name.
func (s side) namesOther() bool {
	if s.pv == nil || s.pv.Spec.ClaimRef == nil || refKey(s.pv.Spec.ClaimRef) != claimKey(s.atOther) {
		return false
	}
	// One that was created by this operation may not be bound yet.
	uid := s.pv.Spec.ClaimRef.UID
	return uid == s.atOther.UID || uid == "" && string(s.atOther.UID) != s.otherUID
}

// isOther says that the claim of the other's name is the one that this
// operation has to do with, and not somebody else's: the original one, or one
// that was created in its shape and that the volume itself says is its own.
func (s side) isOther() bool {
	c := s.atOther
	if s.otherUID != "" && string(c.UID) == s.otherUID {
		// A uid is what the journal says, and this what the claim says itself.
		return c.Spec.VolumeName == s.v.Ref.Name
	}
	if s.goalUID != "" && string(c.UID) == s.goalUID || !sameClaim(c, s.other) {
		return false
	}
	return s.namesOther()
}

// sameClaim says that a claim asks for what a manifest asks for.
func sameClaim(c, as *corev1.PersistentVolumeClaim) bool {
	a, b := c.Spec, as.Spec
	return a.VolumeName == b.VolumeName && sameModes(a.AccessModes, b.AccessModes) &&
		apiequality.Semantic.DeepEqual(a.StorageClassName, b.StorageClassName) &&
		a.Resources.Requests.Storage().Cmp(*b.Resources.Requests.Storage()) == 0
}

// ready says that the volume has the modes that it shall have, and names the
// claim that it shall be bound to.
func (s side) ready() bool {
	if s.pv == nil || !sameModes(s.pv.Spec.AccessModes, s.modes) {
		return false
	}
	ref := s.pv.Spec.ClaimRef
	if s.goal == nil {
		return sameRef(ref, s.ref)
	}
	if ref == nil || refKey(ref) != claimKey(s.goal) {
		return false
	}
	// Reserved, or taken by the claim that it was reserved for.
	return ref.UID == "" || s.reached() && ref.UID == s.atGoal.UID
}

// holdsGoal says that the volume names, by uid, the claim that it shall have,
// whatever its modes are.
func (s side) holdsGoal() bool {
	if s.pv == nil || s.goal == nil || !s.reached() {
		return false
	}
	ref := s.pv.Spec.ClaimRef
	return ref != nil && refKey(ref) == claimKey(s.goal) && ref.UID == s.atGoal.UID
}

func sameRef(a, b *corev1.ObjectReference) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return refKey(a) == refKey(b) && a.UID == b.UID
}

// sameModes compares access modes, whose order says nothing.
func sameModes(a, b []corev1.PersistentVolumeAccessMode) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(mode corev1.PersistentVolumeAccessMode) bool {
		return !slices.Contains(b, mode)
	})
}

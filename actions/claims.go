package actions

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube/binding"
)

func claimKey(pvc *corev1.PersistentVolumeClaim) ClaimKey {
	return ClaimKey{Namespace: pvc.Namespace, Name: pvc.Name}
}

// claim finds a claim by its name.
func (w World) claim(key ClaimKey) *corev1.PersistentVolumeClaim {
	for _, c := range w.Claims {
		if claimKey(c) == key {
			return c
		}
	}
	return nil
}

// owner is the living claim whose uid the volume's claimRef carries.
func (w World) owner(pv *corev1.PersistentVolume) *corev1.PersistentVolumeClaim {
	ref := pv.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		return nil
	}
	if c := w.claim(keyOf(ref)); c != nil && c.UID == ref.UID {
		return c
	}
	return nil
}

// marked are the claims that were bound to the volume, by their own account,
// and are not confirmed by it: with a claimRef in the volume that has not
// their uid, the controller calls them Lost (pv_controller.go,
// syncBoundClaim).
func (w World) marked(pv *corev1.PersistentVolume) []*corev1.PersistentVolumeClaim {
	owner := w.owner(pv)
	var found []*corev1.PersistentVolumeClaim
	for _, c := range w.Claims {
		if c != owner && c.Spec.VolumeName == pv.Name && binding.BindCompleted(c) {
			found = append(found, c)
		}
	}
	return found
}

// volumes are all volumes, with pv in the place of its cached copy.
func (w World) volumes(pv *corev1.PersistentVolume) []*corev1.PersistentVolume {
	out := make([]*corev1.PersistentVolume, 0, len(w.Volumes)+1)
	for _, v := range w.Volumes {
		if v.Name != pv.Name {
			out = append(out, v)
		}
	}
	return append(out, pv)
}

// keepsFromDelete says why policy Delete must not be set on a volume: it may
// be set only while the volume and a claim are bound to each other. Under any
// other circumstances Delete destroys the data now, or as soon as the
// controllers look.
func (w World) keepsFromDelete(pv *corev1.PersistentVolume) string {
	if InOperation(pv) {
		return "an operation on the volume is unfinished"
	}
	return w.notHeld(pv)
}

// notHeld says why a volume and a claim do not provably hold each other: both
// are Bound, by uid, and neither is on its way out.
func (w World) notHeld(pv *corev1.PersistentVolume) string {
	ref := pv.Spec.ClaimRef
	switch {
	case pv.DeletionTimestamp != nil:
		return "the volume is being deleted"
	case storedPhase(pv) != corev1.VolumeBound:
		return fmt.Sprintf("the volume is %s, not Bound", binding.VolumeState(pv).Phase)
	case ref == nil || ref.UID == "":
		return "the volume carries no claim's uid"
	}
	owner := w.owner(pv)
	key := keyOf(ref)
	switch {
	case owner == nil && w.unread("persistentvolumeclaims"):
		return fmt.Sprintf("claims could not be read, so it is not certain that claim %s still holds the volume", key)
	case owner == nil:
		return fmt.Sprintf("claim %s, which held the volume, is gone", key)
	case owner.DeletionTimestamp != nil:
		return fmt.Sprintf("claim %s is being deleted", key)
	case owner.Spec.VolumeName != pv.Name || owner.Status.Phase != corev1.ClaimBound:
		return fmt.Sprintf("claim %s is not Bound to the volume from its side", key)
	}
	return ""
}

// nameList lists claims, the first few by name.
func nameList(keys []string) string {
	const few = 5
	if len(keys) <= few {
		return strings.Join(keys, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(keys[:few], ", "), len(keys)-few)
}

// unread says whether a resource could not be read, so that its absence
// proves nothing.
func (w World) unread(resource string) bool { return slices.Contains(w.Unread, resource) }

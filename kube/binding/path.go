package binding

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

// Path is the way by which a claim can come to a volume. Each has its own
// rules (pv_controller.go, syncUnboundClaim and syncBoundClaim).
type Path string

// The paths.
const (
	// None: the volume is somebody else's, or the claim asks for another one.
	None Path = ""
	// Ordinary: neither names the other; everything is compared.
	Ordinary Path = "ordinary"
	// ByVolumeName: the claim names the volume, which has no claimRef.
	ByVolumeName Path = "volumeName"
	// ByClaimRef: the volume is reserved for the claim, which names none.
	ByClaimRef Path = "claimRef"
	// ByBoth: they name each other. Nothing at all is compared.
	ByBoth Path = "both"
	// Rebind: the claim was bound to the volume before, and the volume is
	// still its or nobody's. Nothing is compared.
	Rebind Path = "rebind"
)

// PathOf says which path applies to a pair. That a path applies does not say
// that the claim binds: see Judge.
func PathOf(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) Path {
	ref := pv.Spec.ClaimRef
	if BindCompleted(pvc) {
		// An empty uid is nobody's, whatever the claim's is: the controller
		// compares a real uid with it and finds them different.
		if pvc.Spec.VolumeName == pv.Name && (ref == nil || ref.UID != "" && ref.UID == pvc.UID) {
			return Rebind
		}
		return None
	}
	if pvc.Spec.VolumeName != "" && pvc.Spec.VolumeName != pv.Name {
		return None
	}
	named := pvc.Spec.VolumeName != ""
	switch {
	case ref == nil && named:
		return ByVolumeName
	case ref == nil:
		return Ordinary
	case !volume.IsVolumeBoundToClaim(pv, pvc):
		return None
	case named:
		return ByBoth
	default:
		return ByClaimRef
	}
}

// BindCompleted says whether a claim carries the mark of a binding that was
// carried through. The controller treats such a claim as bound, whatever its
// phase, and never looks for a volume for it again.
func BindCompleted(pvc *corev1.PersistentVolumeClaim) bool {
	return metav1.HasAnnotation(pvc.ObjectMeta, volume.AnnBindCompleted)
}

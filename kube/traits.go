package kube

import (
	"math/bits"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/claimref/claimref/kube/binding"
)

// Traits are what the binding rules ask of an object, as bits. They repeat
// what the object says: who compares a claim with every volume there is has
// the records at hand, and each object itself is a walk through memory.
type Traits uint16

// The traits of volumes and claims.
const (
	// The access modes that are offered or asked for, one bit each.
	TraitOnce Traits = 1 << iota
	TraitReadMany
	TraitMany
	TraitOncePod
	// TraitOtherMode: there is a mode besides these four.
	TraitOtherMode
	// TraitBlock: volumeMode Block.
	TraitBlock
	// TraitTerminating: it is being deleted.
	TraitTerminating
	// TraitFraction: the size offered or asked for is no whole number of bytes.
	TraitFraction
	// TraitAttributes: it names a VolumeAttributesClass.
	TraitAttributes
)

// The traits of volumes alone.
const (
	// TraitAvailable: the stored phase is Available.
	TraitAvailable Traits = 1 << (iota + 9)
	// TraitReferred: it has a claimRef.
	TraitReferred
)

// The traits of claims alone.
const (
	// TraitNames: it names a volume.
	TraitNames Traits = 1 << (iota + 9)
	// TraitMarked: it carries the mark of a finished binding.
	TraitMarked
	// TraitSelects: it has a selector.
	TraitSelects
)

// TraitModes are the bits of the access modes that Kubernetes knows.
const TraitModes = TraitOnce | TraitReadMany | TraitMany | TraitOncePod

// Modes is how many access modes there are of those that Kubernetes knows.
func (t Traits) Modes() int { return bits.OnesCount16(uint16(t & TraitModes)) }

// VolumeTraits reads the traits of a volume.
func VolumeTraits(pv *corev1.PersistentVolume) Traits {
	t := modeTraits(pv.Spec.AccessModes) | commonTraits(pv.Spec.VolumeMode, pv.Spec.VolumeAttributesClassName, pv.Spec.Capacity)
	return t | trait(TraitTerminating, pv.DeletionTimestamp != nil) |
		trait(TraitAvailable, pv.Status.Phase == corev1.VolumeAvailable) |
		trait(TraitReferred, pv.Spec.ClaimRef != nil)
}

// ClaimTraits reads the traits of a claim.
func ClaimTraits(pvc *corev1.PersistentVolumeClaim) Traits {
	t := modeTraits(pvc.Spec.AccessModes) | commonTraits(pvc.Spec.VolumeMode, pvc.Spec.VolumeAttributesClassName, pvc.Spec.Resources.Requests)
	return t | trait(TraitTerminating, pvc.DeletionTimestamp != nil) |
		trait(TraitNames, pvc.Spec.VolumeName != "") |
		trait(TraitMarked, binding.BindCompleted(pvc)) |
		trait(TraitSelects, pvc.Spec.Selector != nil)
}

func trait(bit Traits, yes bool) Traits {
	if yes {
		return bit
	}
	return 0
}

func commonTraits(mode *corev1.PersistentVolumeMode, attributes *string, sizes corev1.ResourceList) Traits {
	size := sizes[corev1.ResourceStorage]
	whole := size.Cmp(*resource.NewQuantity(size.Value(), resource.BinarySI)) == 0
	return trait(TraitBlock, mode != nil && *mode == corev1.PersistentVolumeBlock) |
		trait(TraitAttributes, attributes != nil && *attributes != "") |
		trait(TraitFraction, !whole)
}

func modeTraits(modes []corev1.PersistentVolumeAccessMode) Traits {
	var t Traits
	for _, m := range modes {
		switch m {
		case corev1.ReadWriteOnce:
			t |= TraitOnce
		case corev1.ReadOnlyMany:
			t |= TraitReadMany
		case corev1.ReadWriteMany:
			t |= TraitMany
		case corev1.ReadWriteOncePod:
			t |= TraitOncePod
		default:
			t |= TraitOtherMode
		}
	}
	return t
}

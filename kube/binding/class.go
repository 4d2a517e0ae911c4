package binding

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/storage/volume"
)

// The annotations that make a class a default one
// (pkg/volume/util/storageclass.go).
const (
	annDefaultClass     = "storageclass.kubernetes.io/is-default-class"
	annBetaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
)

// VolumeClass is a volume's effective class: the beta annotation, if there is
// one, else the field.
func VolumeClass(pv *corev1.PersistentVolume) string {
	return volume.GetPersistentVolumeClass(pv)
}

// ClaimClass is the class a claim asks for. A claim that asks for none (set is
// false) gets the default class filled in; one that asks for "" never does.
// The beta annotation wins over the field, even when it is empty.
func ClaimClass(pvc *corev1.PersistentVolumeClaim) (name string, set, beta bool) {
	_, beta = pvc.Annotations[corev1.BetaStorageClassAnnotation]
	return volume.GetPersistentVolumeClaimClass(pvc), volume.PersistentVolumeClaimHasClass(pvc), beta
}

// IsDefault says whether a class is marked as default by either annotation.
func IsDefault(class *storagev1.StorageClass) bool {
	return class.Annotations[annDefaultClass] == "true" ||
		class.Annotations[annBetaDefaultClass] == "true"
}

// EffectiveDefault is the class that claims without one get: of several
// defaults the newest, then the first by name (pkg/volume/util/storageclass.go,
// GetDefaultClass). Nil when there is none.
func EffectiveDefault(classes []*storagev1.StorageClass) *storagev1.StorageClass {
	var best *storagev1.StorageClass
	for _, c := range classes {
		if !IsDefault(c) {
			continue
		}
		if best == nil || newer(c, best) {
			best = c
		}
	}
	return best
}

func newer(a, b *storagev1.StorageClass) bool {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order > 0
	}
	return a.Name < b.Name
}

// Delays says whether a claim of this class waits for its first pod before an
// ordinary volume is chosen for it.
func Delays(pvc *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) bool {
	delays, err := volume.IsDelayBindingMode(pvc, lister(classes))
	return err == nil && delays
}

// withDefault is the claim as the controller rewrites it when nothing fits a
// claim without a class (pv_controller.go, assignDefaultStorageClass). Nil
// when it would not rewrite it.
func withDefault(pvc *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) *corev1.PersistentVolumeClaim {
	if volume.PersistentVolumeClaimHasClass(pvc) {
		return nil
	}
	class := EffectiveDefault(classes)
	if class == nil {
		return nil
	}
	filled := pvc.DeepCopy()
	filled.Spec.StorageClassName = &class.Name
	return filled
}

// lister gives component-helpers the classes in the form it asks for.
type lister []*storagev1.StorageClass

// List returns the classes that match.
func (l lister) List(selector labels.Selector) ([]*storagev1.StorageClass, error) {
	var found []*storagev1.StorageClass
	for _, c := range l {
		if selector.Matches(labels.Set(c.Labels)) {
			found = append(found, c)
		}
	}
	return found, nil
}

// Get returns the class of that name.
func (l lister) Get(name string) (*storagev1.StorageClass, error) {
	for _, c := range l {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, apierrors.NewNotFound(storagev1.Resource("storageclasses"), name)
}

package prediction

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// waveSize bounds how many pairs are there at a time.
const waveSize = 80

// defaultClass is the one that claims without a class get.
const defaultClass = "standard"

// olderClass is there from the beginning, and is marked as default as well in
// one of the settings: the newest counts. It is marked last, so that the
// controllers never see it as the only default.
const olderClass = defaultClass + "-before"

// setting says which classes are marked as default.
type setting string

const (
	none      setting = "none"
	immediate setting = "immediate"
	waiting   setting = "waits"
	several   setting = "several"
)

func settings() []setting { return []setting{none, immediate, waiting, several} }

// classes are those that are made for it.
func (s setting) classes() []*storagev1.StorageClass {
	class := newClass(defaultClass)
	metav1.SetMetaDataAnnotation(&class.ObjectMeta, "storageclass.kubernetes.io/is-default-class", "true")
	switch s {
	case immediate:
		return []*storagev1.StorageClass{class}
	case waiting:
		class.Annotations = map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"}
		class.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
		return []*storagev1.StorageClass{class}
	case several: // The older one is there already.
		return []*storagev1.StorageClass{class}
	default:
		return nil
	}
}

// wave is what is on the cluster at a time.
type wave struct {
	setting setting
	pairs   []*pair
}

// waves puts pairs that might meet into different waves. Those without a
// default class come first.
func waves(pairs []*pair) []*wave {
	var all []*wave
	for _, s := range settings() {
		var ofSetting []*wave
		for _, p := range pairs {
			if p.setting != s {
				continue
			}
			i := slices.IndexFunc(ofSetting, func(w *wave) bool { return w.holds(p) })
			if i < 0 {
				ofSetting = append(ofSetting, &wave{setting: s})
				i = len(ofSetting) - 1
			}
			ofSetting[i].pairs = append(ofSetting[i].pairs, p)
		}
		all = append(all, ofSetting...)
	}
	return all
}

// holds says whether a pair can be added.
func (w *wave) holds(p *pair) bool {
	return len(w.pairs) < waveSize && !slices.ContainsFunc(w.pairs, func(other *pair) bool {
		return meet(p, other) || meet(other, p)
	})
}

// meet says whether a claim might choose a volume of the other pair. Size and
// access modes are left out: it may say yes too often.
func meet(p, other *pair) bool {
	if p.pvc.Spec.VolumeName != "" {
		return false
	}
	asked := []string{""}
	if beta, ok := p.pvc.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		asked = []string{beta}
	} else if class := p.pvc.Spec.StorageClassName; class != nil {
		asked = []string{*class}
	} else if p.setting != none {
		asked = append(asked, defaultClass)
	}
	selector := labels.Everything()
	if p.pvc.Spec.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(p.pvc.Spec.Selector); err != nil {
			selector = labels.Everything()
		}
	}
	return slices.ContainsFunc(other.volumes(), func(pv *corev1.PersistentVolume) bool {
		class := pv.Spec.StorageClassName
		if beta, ok := pv.Annotations[corev1.BetaStorageClassAnnotation]; ok {
			class = beta
		}
		return slices.Contains(asked, class) &&
			selector.Matches(labels.Set(pv.Labels)) &&
			textOf(pv.Spec.VolumeAttributesClassName, "") == textOf(p.pvc.Spec.VolumeAttributesClassName, "") &&
			textOf(pv.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) == textOf(p.pvc.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	})
}

func textOf[T ~string](p *T, unset T) T {
	if p == nil {
		return unset
	}
	return *p
}

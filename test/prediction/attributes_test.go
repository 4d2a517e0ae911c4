package prediction

import (
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type edit = func(*rand.Rand, *pair)

// attribute is a respect in which a volume and a claim may suit each other.
// Whether they really do is not taken from here.
type attribute struct {
	fits, differs []edit
}

func attributes() []attribute {
	return []attribute{sizes(), modes(), volumeModes(), classes(), attributesClasses(), selectors(), deletion(), phases(), bindingModes(), defaults(), rivals()}
}

func sizes() attribute {
	of := func(has, asks string) edit {
		return func(_ *rand.Rand, p *pair) {
			p.pv.Spec.Capacity, p.pvc.Spec.Resources.Requests = storage(has), storage(asks)
			p.note("%s for %s", has, asks)
		}
	}
	return attribute{
		fits: []edit{of("1Gi", "1Gi"), of("2Gi", "1Gi"), of("1Gi", "1024Mi"), of("1074M", "1Gi"), of("1025Mi", "1Gi")},
		differs: []edit{
			of("1023Mi", "1Gi"), of("1G", "1Gi"), of("1Gi", "2Gi"),
			// Less than a byte too small: one of the two ways rounds it up.
			of("1073741823500m", "1Gi"),
		},
	}
}

func modes() attribute {
	const rwo, rox, rwx, rwop = corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod
	type set = []corev1.PersistentVolumeAccessMode
	of := func(has, asks set) edit {
		return func(_ *rand.Rand, p *pair) {
			p.pv.Spec.AccessModes, p.pvc.Spec.AccessModes = has, asks
			p.note("%v for %v", has, asks)
		}
	}
	return attribute{
		fits: []edit{
			of(set{rwo}, set{rwo}), of(set{rwop}, set{rwop}), of(set{rox, rwo}, set{rwo}), of(set{rwx, rox, rwo}, set{rwo, rwx}),
			of(set{rwo, rox}, set{rox, rwo}), of(set{rwx}, set{rwx}), of(set{rox}, set{rox}), of(set{rwo, rwx}, set{rwx, rwx}),
		},
		differs: []edit{
			of(set{rwo}, set{rwop}), of(set{rwop}, set{rwo}), of(set{rwo}, set{rwx}), of(set{rwx}, set{rwo}),
			of(set{rwo, rox}, set{rwo, rwx}), of(set{rwo}, set{rwo, rox}), of(set{rwx, rox, rwo}, set{rwop}),
		},
	}
}

func volumeModes() attribute {
	files, block := corev1.PersistentVolumeFilesystem, corev1.PersistentVolumeBlock
	of := func(has, asks *corev1.PersistentVolumeMode) edit {
		return func(_ *rand.Rand, p *pair) {
			p.pv.Spec.VolumeMode, p.pvc.Spec.VolumeMode = has, asks
			if has == &block || asks == &block {
				p.note("block: volume %t, claim %t", has == &block, asks == &block)
			}
		}
	}
	return attribute{
		fits:    []edit{of(nil, nil), of(&files, nil), of(nil, &files), of(&block, &block)},
		differs: []edit{of(nil, &block), of(&block, nil), of(&files, &block), of(&block, &files)},
	}
}

func classes() attribute {
	// The volume's class and annotation, then the claim's; "own" stands for
	// the class of the pair's name.
	of := func(has string, hasBeta, asks, asksBeta *string) edit {
		return func(_ *rand.Rand, p *pair) {
			named := func(name string) string {
				if name == "own" || name == "other" {
					return p.id + map[string]string{"own": "", "other": "-other"}[name]
				}
				return name
			}
			p.pv.Spec.StorageClassName, p.pvc.Spec.StorageClassName = named(has), nil
			if asks != nil {
				p.pvc.Spec.StorageClassName = new(named(*asks))
			}
			if hasBeta != nil {
				metav1.SetMetaDataAnnotation(&p.pv.ObjectMeta, corev1.BetaStorageClassAnnotation, named(*hasBeta))
			}
			if asksBeta != nil {
				metav1.SetMetaDataAnnotation(&p.pvc.ObjectMeta, corev1.BetaStorageClassAnnotation, named(*asksBeta))
			}
			p.note("class %q/%s for %s/%s", has, shown(hasBeta), shown(asks), shown(asksBeta))
		}
	}
	own, other, empty := new("own"), new("other"), new("")
	same := of("own", nil, own, nil)
	return attribute{
		fits: []edit{
			same, same, same, same, same, same, of("own", nil, nil, own), of("other", own, own, nil), of("", own, other, own),
			of("own", nil, empty, own), of("", nil, empty, nil), of("", nil, nil, nil), of("own", empty, nil, empty), of(defaultClass, nil, nil, nil),
		},
		differs: []edit{
			of("other", nil, own, nil), of("", nil, own, nil), of("own", nil, empty, nil), of("own", nil, nil, nil),
			of("own", other, own, nil), of("own", empty, own, nil), of("own", nil, own, empty), of("own", nil, own, other), of("other", nil, nil, own),
			of(defaultClass, nil, empty, nil), of("", nil, nil, own),
		},
	}
}

func attributesClasses() attribute {
	gold, silver, empty := new("gold"), new("silver"), new("")
	of := func(has, asks *string) edit {
		return func(_ *rand.Rand, p *pair) {
			p.pv.Spec.VolumeAttributesClassName, p.pvc.Spec.VolumeAttributesClassName = has, asks
			p.note("attributes class %s for %s", shown(has), shown(asks))
		}
	}
	// A name of the pair's own keeps it apart from pairs without a class.
	own := func(_ *rand.Rand, p *pair) {
		p.pv.Spec.VolumeAttributesClassName, p.pvc.Spec.VolumeAttributesClassName = &p.id, &p.id
		p.note("an attributes class of its own")
	}
	return attribute{
		fits:    []edit{of(nil, nil), of(gold, gold), own, own, of(nil, empty)},
		differs: []edit{of(nil, gold), of(gold, nil), of(gold, silver), of(gold, empty)},
	}
}

func selectors() attribute {
	type requirements = []metav1.LabelSelectorRequirement
	labels := func(set map[string]string) edit {
		return func(_ *rand.Rand, p *pair) {
			p.pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: set}
			p.note("selector %v", set)
		}
	}
	expression := func(key string, operator metav1.LabelSelectorOperator, values ...string) edit {
		return func(_ *rand.Rand, p *pair) {
			p.pvc.Spec.Selector = &metav1.LabelSelector{MatchExpressions: requirements{{Key: key, Operator: operator, Values: values}}}
			p.note("selector %s %s %v", key, operator, values)
		}
	}
	nothing := func(*rand.Rand, *pair) {}
	own := func(_ *rand.Rand, p *pair) {
		p.pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{pairKey: p.id}}
		p.note("its own selector")
	}
	return attribute{
		fits: []edit{
			nothing, nothing, own, own, labels(map[string]string{tier: "fast"}),
			expression(tier, metav1.LabelSelectorOpIn, "fast", "slow"), expression(tier, metav1.LabelSelectorOpNotIn, "slow"),
			expression(tier, metav1.LabelSelectorOpExists), expression("rack", metav1.LabelSelectorOpDoesNotExist),
		},
		differs: []edit{
			labels(map[string]string{tier: "slow"}), labels(map[string]string{tier: "fast", "rack": "1"}),
			expression(tier, metav1.LabelSelectorOpIn, "slow"), expression(tier, metav1.LabelSelectorOpNotIn, "fast"),
			expression("rack", metav1.LabelSelectorOpExists), expression(tier, metav1.LabelSelectorOpDoesNotExist),
		},
	}
}

func deletion() attribute {
	return attribute{
		fits: []edit{func(*rand.Rand, *pair) {}},
		differs: []edit{func(_ *rand.Rand, p *pair) {
			p.deleted = !p.owned
			p.note("deleted %t", p.deleted)
		}},
	}
}

// phases other than Available last only if the controller is kept from setting
// them right. That is done for the ordinary way alone: of others the
// controller writes more than the phase.
func phases() attribute {
	return attribute{
		fits: []edit{func(*rand.Rand, *pair) {}},
		differs: []edit{func(r *rand.Rand, p *pair) {
			if p.way != "ordinary" {
				return
			}
			p.phase = one(r, []corev1.PersistentVolumePhase{"", corev1.VolumeReleased, corev1.VolumeFailed, corev1.VolumeBound})
			p.frozen = true
			p.pv.Labels[frozen] = "yes"
			p.note("frozen")
		}},
	}
}

// bindingModes of the class. A claim that waits takes no ordinary volume
// whatever it is like, so that other differences would not show.
func bindingModes() attribute {
	return attribute{
		fits: []edit{func(*rand.Rand, *pair) {}},
		differs: []edit{func(_ *rand.Rand, p *pair) {
			p.class.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
			p.pv.Spec.StorageClassName, p.pvc.Spec.StorageClassName = p.id, &p.id
			delete(p.pv.Annotations, corev1.BetaStorageClassAnnotation)
			delete(p.pvc.Annotations, corev1.BetaStorageClassAnnotation)
			p.note("a class of its own that waits for the first consumer")
		}},
	}
}

func shown(s *string) string {
	if s == nil {
		return "none"
	}
	return `"` + *s + `"`
}

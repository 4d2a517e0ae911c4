package prediction

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

// circumstance is something that may be with any pair.
type circumstance struct {
	percent int
	apply   edit
}

func circumstances() []circumstance {
	return []circumstance{
		{30, func(_ *rand.Rand, p *pair) {
			if p.class.VolumeBindingMode == nil {
				p.class = nil
				p.note("no class object")
			}
		}},
		{15, func(_ *rand.Rand, p *pair) {
			p.pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "rack", Operator: corev1.NodeSelectorOpIn, Values: []string{"nowhere"}}},
			}}}}
			p.note("node affinity")
		}},
		{10, func(_ *rand.Rand, p *pair) {
			p.pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
			p.note("policy Delete")
		}},
		{10, func(_ *rand.Rand, p *pair) {
			metav1.SetMetaDataAnnotation(&p.pv.ObjectMeta, volume.AnnBoundByController, "yes")
			p.note("volume bound by the controller")
		}},
		{10, func(_ *rand.Rand, p *pair) {
			metav1.SetMetaDataAnnotation(&p.pvc.ObjectMeta, volume.AnnBoundByController, "yes")
			p.note("claim bound by the controller")
		}},
		{20, func(r *rand.Rand, p *pair) {
			if p.frozen {
				return
			}
			p.phase = one(r, []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeReleased, corev1.VolumeFailed, corev1.VolumeBound})
		}},
		{30, addRivals},
	}
}

// defaults fill in the class of a claim that has none.
func defaults() attribute {
	of := func(in setting, class string) edit {
		return func(_ *rand.Rand, p *pair) {
			p.setting = in
			p.pv.Spec.StorageClassName, p.pvc.Spec.StorageClassName = class, nil
			delete(p.pv.Annotations, corev1.BetaStorageClassAnnotation)
			delete(p.pvc.Annotations, corev1.BetaStorageClassAnnotation)
			// It keeps the pair apart from others without a class.
			p.pv.Spec.VolumeAttributesClassName, p.pvc.Spec.VolumeAttributesClassName = &p.id, &p.id
			p.note("class %q for none, an attributes class of its own", class)
		}
	}
	return attribute{
		fits: []edit{func(*rand.Rand, *pair) {}},
		differs: []edit{
			of(immediate, defaultClass), of(immediate, ""), of(several, defaultClass), of(waiting, defaultClass), of(several, ""),
			of(waiting, ""), of(several, olderClass), of(immediate, "elsewhere"),
		},
	}
}

// rivals are volumes that the claim may like better.
func rivals() attribute {
	const rwo, rox, rwx = corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany
	alone := func(p *pair) {
		p.pv.Spec.StorageClassName, p.pvc.Spec.StorageClassName = p.id, &p.id
		p.pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{rwo, rox, rwx}
		p.pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{rwo}
		p.pv.Spec.Capacity = storage("3Gi")
		p.note("the volume has 3Gi, %v for %v", p.pv.Spec.AccessModes, p.pvc.Spec.AccessModes)
	}
	return attribute{
		fits: []edit{func(*rand.Rand, *pair) {}},
		differs: []edit{
			func(_ *rand.Rand, p *pair) { alone(p); p.rival("2Gi", rwo, rox, rwx) },
			func(_ *rand.Rand, p *pair) { alone(p); p.rival("4Gi", rwo) },
			func(_ *rand.Rand, p *pair) { alone(p); p.rival("4Gi", rwo, rox, rwx); p.rival("512Mi", rwo) },
			func(_ *rand.Rand, p *pair) { alone(p); p.rival("3Gi", rwx, rox, rwo); p.rival("2Gi", rwo, rwx) },
			func(_ *rand.Rand, p *pair) { alone(p); p.rival("5Gi", rwo, rwx); p.rival("4Gi", rwo, rox) },
		},
	}
}

// addRivals gives claims of a class of their own more than one volume.
func addRivals(r *rand.Rand, p *pair) {
	class := p.pvc.Spec.StorageClassName
	if len(p.rivals) > 0 || class == nil || *class != p.id {
		return
	}
	for range 1 + r.IntN(2) {
		modes := one(r, [][]corev1.PersistentVolumeAccessMode{
			p.pv.Spec.AccessModes, p.pvc.Spec.AccessModes, {corev1.ReadWriteOnce, corev1.ReadOnlyMany}, {corev1.ReadWriteOnce},
		})
		p.rival(one(r, []string{"1Gi", "1Gi", "2Gi", "1500Mi", "512Mi"}), modes...)
	}
}

// rival adds a volume, if the claim chooses.
func (p *pair) rival(size string, modes ...corev1.PersistentVolumeAccessMode) {
	if p.owned || p.pvc.Spec.VolumeName != "" {
		return
	}
	rival := newVolume(fmt.Sprintf("%s-rival-%d", p.id, len(p.rivals)), p.id)
	rival.Spec.Capacity, rival.Spec.AccessModes = storage(size), modes
	rival.Spec.VolumeMode = p.pvc.Spec.VolumeMode
	if asked := p.pvc.Spec.VolumeAttributesClassName; asked != nil && *asked != "" {
		rival.Spec.VolumeAttributesClassName = asked // A volume's may not be "".
	}
	p.rivals = append(p.rivals, rival)
	p.note("rival of %s %v", size, modes)
}

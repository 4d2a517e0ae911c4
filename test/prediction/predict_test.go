package prediction

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube/binding"
)

// picture is what is stored while the controllers are paused.
type picture struct {
	volumes map[string]*corev1.PersistentVolume
	claims  map[string]*corev1.PersistentVolumeClaim
	classes []*storagev1.StorageClass
}

// prediction is what the controllers will come to.
type prediction struct {
	verdict binding.Verdict
	// rivals: the claim may choose another volume than the one judged.
	rivals bool
	// volumes are those that the claim may get; none if it gets none.
	volumes []string
	// unequal: one of them is better than another, so that there is no choice.
	unequal bool
	claim   corev1.PersistentVolumeClaimPhase
	volume  corev1.PersistentVolumePhase
	// class is what the claim has for a class in the end.
	class string
	// told are the events that have to be there, and the only ones of those
	// that tell why a volume and a claim do not come together.
	told []told
	// lax: what is told about a loss depends on what the controller sees first.
	lax bool
}

// told is an event.
type told struct{ reason, message string }

// apart says whether an event tells why a claim does not get a certain volume.
func (t told) apart() bool {
	return strings.HasPrefix(t.message, "Cannot bind ") || strings.HasSuffix(t.message, "already bound to a different claim.") ||
		strings.HasPrefix(t.reason, "Claim")
}

// settled is a volume as it is once the controller has seen it. What it calls
// one without a claim of a certain uid does not depend on what it was before.
func settled(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	switch ref := pv.Spec.ClaimRef; {
	case pv.Labels[frozen] != "":
		return pv
	case ref == nil:
		return binding.Opened(pv)
	case ref.UID == "":
		return binding.ReservedFor(pv, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	default:
		return pv
	}
}

// predict says what becomes of a pair.
func (p *pair) predict(seen picture) prediction {
	pvc := seen.claims[p.pvc.Name]
	var volumes []*corev1.PersistentVolume
	for _, pv := range p.volumes() {
		volumes = append(volumes, settled(seen.volumes[pv.Name]))
	}
	pv := volumes[0]
	f := prediction{verdict: binding.Judge(pv, pvc, seen.classes), rivals: len(p.rivals) > 0, claim: corev1.ClaimPending}
	choices := binding.Choices(pvc, volumes, seen.classes)
	for _, v := range choices {
		f.volumes = append(f.volumes, v.Name)
	}
	f.unequal = unequal(choices)
	misses := seen.volumes[pvc.Spec.VolumeName] == nil && pvc.Spec.VolumeName != ""
	switch {
	case len(f.volumes) > 0:
		f.claim = corev1.ClaimBound
	case f.verdict.Lost, binding.BindCompleted(pvc) && misses:
		f.claim = corev1.ClaimLost
	}
	f.volume = volumePhase(pv, pvc, f)
	asked := asksFor(pv, pvc, f, seen.classes)
	f.class, _, _ = binding.ClaimClass(asked)
	f.told = tells(pv, pvc, asked, f, seen.classes)
	f.lax = f.claim == corev1.ClaimLost && p.order != volumeFirst
	return f
}

// unequal says whether one of several volumes is better than another: of a
// group with fewer modes, or the smaller one of a group. None here is one of
// several that are reserved for a claim.
func unequal(volumes []*corev1.PersistentVolume) bool {
	sizes := make(map[string]resource.Quantity)
	for _, pv := range volumes {
		modes := slices.Sorted(slices.Values(pv.Spec.AccessModes))
		modes = slices.Compact(modes)
		group, size := fmt.Sprint(modes), *pv.Spec.Capacity.Storage()
		for other, known := range sizes {
			if strings.Count(other, " ") != strings.Count(group, " ") || other == group && size.Cmp(known) != 0 {
				return true
			}
		}
		sizes[group] = size
	}
	return false
}

// asksFor has the default class filled in if the claim will get it: when it
// has none, and as it is no volume is found for it.
func asksFor(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim, f prediction, classes []*storagev1.StorageClass) *corev1.PersistentVolumeClaim {
	_, set, _ := binding.ClaimClass(pvc)
	class := binding.EffectiveDefault(classes)
	asIs := len(f.volumes) > 0 && (f.verdict.Path == binding.ByClaimRef || binding.VolumeClass(pv) == "")
	if set || class == nil || pvc.Spec.VolumeName != "" || binding.BindCompleted(pvc) || asIs {
		return pvc
	}
	filled := pvc.DeepCopy()
	filled.Spec.StorageClassName = &class.Name
	return filled
}

// volumePhase is what the controller makes of a volume (pv_controller.go,
// syncVolume), with what becomes of the claim.
func volumePhase(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim, f prediction) corev1.PersistentVolumePhase {
	ref := pv.Spec.ClaimRef
	switch {
	case slices.Contains(f.volumes, pv.Name):
		return corev1.VolumeBound
	case pv.Labels[frozen] != "":
		return pv.Status.Phase
	case ref == nil || ref.UID == "":
		return corev1.VolumeAvailable
	case ref.UID == pvc.UID && pvc.Spec.VolumeName == "":
		return pv.Status.Phase // It waits for the claim.
	case ref.UID == pvc.UID:
		return corev1.VolumeAvailable // It is given back, as the claim wants another.
	case pv.Status.Phase == corev1.VolumeFailed:
		return corev1.VolumeFailed
	default:
		return corev1.VolumeReleased
	}
}

// tells are the events on the claim.
func tells(pv *corev1.PersistentVolume, pvc, asked *corev1.PersistentVolumeClaim, f prediction, classes []*storagev1.StorageClass) []told {
	kinds := make([]binding.MismatchKind, len(f.verdict.Blocking))
	for i, m := range f.verdict.Blocking {
		kinds[i] = m.Kind
	}
	has := func(k binding.MismatchKind) bool { return slices.Contains(kinds, k) }
	switch {
	case f.claim == corev1.ClaimBound:
		return nil
	case f.claim == corev1.ClaimLost && has(binding.AsksForOther):
		return []told{{"ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"}}
	case f.claim == corev1.ClaimLost && pvc.Spec.VolumeName == "":
		return []told{{"ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"}}
	case f.claim == corev1.ClaimLost:
		return []told{{"ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly"}}
	case has(binding.AsksForOther):
		return nil
	case has(binding.ReservedForOther) && pvc.Spec.VolumeName != "":
		return []told{{"FailedBinding", fmt.Sprintf("volume %q already bound to a different claim.", pv.Name)}}
	case f.verdict.Path == binding.ByVolumeName:
		return []told{{"VolumeMismatch", fmt.Sprintf("Cannot bind to requested volume %q: %s", pv.Name, first(kinds, pv.Name))}}
	}
	all := []told{looksElsewhere(asked, classes)}
	if f.verdict.Path == binding.ByClaimRef && pv.Spec.ClaimRef.UID != "" && has(binding.VolumeMode) {
		all = append(all, told{"VolumeMismatch", fmt.Sprintf(
			"Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", pv.Name)})
	}
	return all
}

// first is the mismatch that the controller names (pv_controller.go,
// checkVolumeSatisfyClaim): the first in its order.
func first(kinds []binding.MismatchKind, volume string) string {
	for _, why := range []struct {
		kind binding.MismatchKind
		text string
	}{
		{binding.Deletion, fmt.Sprintf("the volume is marked for deletion %q", volume)},
		{binding.Capacity, "requested PV is too small"},
		{binding.Class, "storageClassName does not match"},
		{binding.AttributesClass, "volumeAttributesClassName does not match"},
		{binding.VolumeMode, "incompatible volumeMode"},
		{binding.AccessModes, "incompatible accessMode"},
	} {
		if slices.Contains(kinds, why.kind) {
			return why.text
		}
	}
	return fmt.Sprintf("not one of %v", kinds)
}

// looksElsewhere is what is told of a claim for which no volume is found.
func looksElsewhere(asked *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) told {
	switch class, _, _ := binding.ClaimClass(asked); {
	case binding.Delays(asked, classes):
		return told{"WaitForFirstConsumer", "waiting for first consumer to be created before binding"}
	case class == "":
		return told{"FailedBinding", "no persistent volumes available for this claim and no storage class is set"}
	case slices.ContainsFunc(classes, func(c *storagev1.StorageClass) bool { return c.Name == class }):
		return told{"ProvisioningFailed", `no volume plugin matched name: kubernetes.io/no-provisioner`}
	default:
		return told{"ProvisioningFailed", fmt.Sprintf(`storageclass.storage.k8s.io %q not found`, class)}
	}
}

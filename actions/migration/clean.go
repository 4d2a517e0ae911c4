package migration

import (
	"maps"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/binding"
)

// cleanedClaim is a member's claim as it can be created again, under a name:
// what the server and the controllers write is left out. A claim that still
// said it was bound would be Lost at once (pv_controller.go, syncBoundClaim),
// and one with an owner that is gone would be collected as garbage.
func (d *draft) cleanedClaim(m member, key actions.ClaimKey) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		TypeMeta: metav1.TypeMeta{Kind: string(actions.ClaimKind), APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			Labels:          unlessEmpty(m.claim.Labels),
			Annotations:     keptAnnotations(m.claim.Annotations, claimAnnotation),
			OwnerReferences: d.keptOwners(m.claim, key),
		},
		Spec: *m.claim.Spec.DeepCopy(),
	}
	// A source of data would be read again, if anything still looked at it.
	c.Spec.DataSource, c.Spec.DataSourceRef = nil, nil
	// Named, so that the default class is never filled in.
	class := effectiveClass(m)
	c.Spec.StorageClassName = &class
	c.Spec.VolumeName = m.pv.Name
	return c
}

// effectiveClass is the class that a claim counts for; its volume's if it
// names none.
func effectiveClass(m member) string {
	if m.claim != nil {
		if class, set, _ := binding.ClaimClass(m.claim); set {
			return class
		}
	}
	return binding.VolumeClass(m.pv)
}

// cleanedSet is a StatefulSet as it can be created again. Its spec is left as
// it is, byte for byte: with another pod template its pods would be restarted,
// and with another selector they would be left alone.
func (d *draft) cleanedSet(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	c := &appsv1.StatefulSet{
		TypeMeta: metav1.TypeMeta{Kind: string(StatefulSetKind), APIVersion: "apps/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name,
			Labels:          unlessEmpty(set.Labels),
			Annotations:     keptAnnotations(set.Annotations, setAnnotation),
			OwnerReferences: d.livingOwners(set),
		},
		Spec: *set.Spec.DeepCopy(),
	}
	for i := range c.Spec.VolumeClaimTemplates {
		c.Spec.VolumeClaimTemplates[i].Status = corev1.PersistentVolumeClaimStatus{}
	}
	return c
}

// migratedSet is a StatefulSet whose template makes ReadWriteOncePod claims.
func migratedSet(from *appsv1.StatefulSet, template string) *appsv1.StatefulSet {
	to := from.DeepCopy()
	for i := range to.Spec.VolumeClaimTemplates {
		if t := &to.Spec.VolumeClaimTemplates[i]; t.Name == template {
			t.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{toMode}
		}
	}
	return to
}

// annStorageResizer is written by the controller that expands in-tree volumes
// (pkg/volume/util/types, VolumeResizerKey).
const annStorageResizer = "volume.kubernetes.io/storage-resizer"

// claimAnnotation says whether an annotation is the claim's own. What is left
// out is written by the controllers, or kubectl's copy of what was applied.
func claimAnnotation(name string) bool {
	switch name {
	case volume.AnnSelectedNode, volume.AnnStorageProvisioner, volume.AnnBetaStorageProvisioner,
		annStorageResizer, corev1.BetaStorageClassAnnotation, corev1.LastAppliedConfigAnnotation:
		return false
	}
	return !strings.HasPrefix(name, "pv.kubernetes.io/")
}

func setAnnotation(name string) bool { return name != corev1.LastAppliedConfigAnnotation }

func keptAnnotations(all map[string]string, keep func(string) bool) map[string]string {
	kept := maps.Clone(all)
	maps.DeleteFunc(kept, func(name, _ string) bool { return !keep(name) })
	return unlessEmpty(kept)
}

// unlessEmpty copies a map. An empty one is nil, as it is after it was written
// and read.
func unlessEmpty(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return maps.Clone(m)
}

// keptOwners are the owners that the claim to come has, too. The StatefulSet
// or pod that owns a claim makes itself its owner again; an owner in another
// namespace would count as gone, and one that a backup names may well be.
func (d *draft) keptOwners(claim *corev1.PersistentVolumeClaim, key actions.ClaimKey) []metav1.OwnerReference {
	if key.Namespace != claim.Namespace || d.req.Verb == RecreateClaim {
		return nil
	}
	var kept []metav1.OwnerReference
	for _, ref := range d.livingOwners(claim) {
		if !isKind(ref, PodKind) && !isKind(ref, StatefulSetKind) {
			kept = append(kept, ref)
		}
	}
	return kept
}

// livingOwners leaves out those owners that are known to be gone.
func (d *draft) livingOwners(o metav1.Object) []metav1.OwnerReference {
	var living []metav1.OwnerReference
	for _, ref := range o.GetOwnerReferences() {
		if !d.ownerGone(ref) {
			living = append(living, *ref.DeepCopy())
		}
	}
	return living
}

func boundByController(pv *corev1.PersistentVolume) bool {
	return metav1.HasAnnotation(pv.ObjectMeta, volume.AnnBoundByController)
}

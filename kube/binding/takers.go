package binding

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

// Taker is a claim that would take a volume if it were opened.
type Taker struct {
	Claim *corev1.PersistentVolumeClaim
	Path  Path
	// Delayed: it waits for its first pod, and might take the volume when
	// that pod is scheduled.
	Delayed bool
	// Instead names a volume that the claim would rather take. It takes this
	// one only if another claim is faster there.
	Instead string
	// Reason is a clause that says why.
	Reason string
}

// AtOnce says whether the claim takes the volume by itself as soon as it is
// open, unless another one is faster.
func (t Taker) AtOnce() bool { return !t.Delayed && t.Instead == "" }

// Takers are the claims that would take pv if it had no claimRef and were
// Available: those that take it at once first, then those that might, each
// by namespace and name. Which of several comes first is not determined,
// because the controller's queue has no order that can be known.
//
// A claim that is being deleted, but is held by a finalizer, takes volumes like
// any other: the controller does not ask (pv_controller.go, syncUnboundClaim).
func Takers(pv *corev1.PersistentVolume, volumes []*corev1.PersistentVolume, claims []*corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) []Taker {
	opened := Opened(pv)
	return TakersBy(opened, claims, classes, newPool(replace(volumes, opened), classes).choices)
}

// TakersBy is Takers for those who have a faster way to what a claim would
// choose. The volume is one that Opened made; choose answers what Choices does
// for all volumes with this one among them, and is asked about claims that
// name none.
func TakersBy(opened *corev1.PersistentVolume, claims []*corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass, choose func(*corev1.PersistentVolumeClaim) []*corev1.PersistentVolume) []Taker {
	var takers, elsewhere []Taker
	for _, pvc := range claims {
		t := Taker{Claim: pvc, Path: PathOf(opened, pvc)}
		if t.Path == None {
			continue // Nearly all: bound elsewhere.
		}
		verdict := Judge(opened, pvc, classes)
		switch {
		case verdict.Delayed && len(choose(pvc)) == 0:
			t.Delayed, t.Reason = true, "fits, and waits for its first pod"
			takers = append(takers, t)
		case !verdict.Binds:
		case t.Path == Rebind:
			t.Reason = "was bound to this volume before, and takes it again without any check"
			takers = append(takers, t)
		case t.Path == ByVolumeName:
			t.Reason = "asks for this volume by name"
			takers = append(takers, t)
		default:
			found := choose(pvc)
			if len(found) == 0 {
				continue
			}
			if !slices.Contains(found, opened) {
				t.Instead = found[0].Name
				elsewhere = append(elsewhere, t)
				continue
			}
			t.Reason = "fits, and no other available volume suits it better"
			if len(found) > 1 {
				t.Reason = "fits, as well as another available volume"
			}
			takers = append(takers, t)
		}
	}
	takers = append(takers, contested(elsewhere, wanted(claims, elsewhere, choose))...)
	for i := range takers {
		if takers[i].Claim.DeletionTimestamp != nil {
			takers[i].Reason += ", even though it is being deleted"
		}
	}
	slices.SortStableFunc(takers, Taker.Compare)
	return takers
}

// Compare orders those first that take the volume at once, then those that
// might, each by namespace and name.
func (t Taker) Compare(u Taker) int {
	return cmp.Or(
		cmp.Compare(t.rank(), u.rank()),
		cmp.Compare(t.Claim.Namespace, u.Claim.Namespace),
		cmp.Compare(t.Claim.Name, u.Claim.Name),
	)
}

func (t Taker) rank() int {
	switch {
	case t.AtOnce():
		return 0
	case t.Instead != "":
		return 1
	default:
		return 2
	}
}

// wanted counts, by volume, the claims that are not bound yet and would take
// it: also those to which the volume in question would be of no use. It looks
// only if there is somebody who wants another volume.
func wanted(claims []*corev1.PersistentVolumeClaim, elsewhere []Taker, choose func(*corev1.PersistentVolumeClaim) []*corev1.PersistentVolume) map[string]int {
	count := map[string]int{}
	if len(elsewhere) == 0 {
		return count
	}
	for _, pvc := range claims {
		switch {
		case BindCompleted(pvc):
		case pvc.Spec.VolumeName != "":
			count[pvc.Spec.VolumeName]++
		default:
			for _, v := range choose(pvc) {
				count[v.Name]++
			}
		}
	}
	return count
}

// contested keeps the claims that want another volume which some other claim
// wants too: one of them will have to look further, and this volume fits.
func contested(elsewhere []Taker, wanted map[string]int) []Taker {
	var kept []Taker
	for _, t := range elsewhere {
		if wanted[t.Instead] > 1 {
			t.Reason = "fits, if another claim is faster to take " + t.Instead
			kept = append(kept, t)
		}
	}
	return kept
}

// Opened is the volume as it would be without a claimRef, once the controller
// has seen that. The argument is not changed.
func Opened(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	return retied(pv, nil)
}

// ReservedFor is the volume as it would be reserved for a claim, once the
// controller has seen that. The argument is not changed.
func ReservedFor(pv *corev1.PersistentVolume, claim types.NamespacedName) *corev1.PersistentVolume {
	return retied(pv, &corev1.ObjectReference{
		APIVersion: "v1", Kind: "PersistentVolumeClaim",
		Namespace: claim.Namespace, Name: claim.Name,
	})
}

// retied gives a volume another claimRef without a uid. The controller calls
// such a volume Available, whatever it was before (pv_controller.go,
// syncVolume).
func retied(pv *corev1.PersistentVolume, ref *corev1.ObjectReference) *corev1.PersistentVolume {
	c := pv.DeepCopy()
	c.Spec.ClaimRef = ref
	c.Status.Phase = corev1.VolumeAvailable
	if metav1.HasAnnotation(c.ObjectMeta, volume.AnnBoundByController) {
		delete(c.Annotations, volume.AnnBoundByController)
	}
	return c
}

// replace puts pv in the place of the volume of its name.
func replace(volumes []*corev1.PersistentVolume, pv *corev1.PersistentVolume) []*corev1.PersistentVolume {
	out := make([]*corev1.PersistentVolume, 0, len(volumes)+1)
	for _, v := range volumes {
		if v.Name != pv.Name {
			out = append(out, v)
		}
	}
	return append(out, pv)
}

package binding

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

type (
	pvOpt    func(*corev1.PersistentVolume)
	pvcOpt   func(*corev1.PersistentVolumeClaim)
	classOpt func(*storagev1.StorageClass)
)

// testPV is an Available 10Gi ReadWriteOnce volume of class "fast".
func testPV(name string, opts ...pvOpt) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: "fast",
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
	for _, o := range opts {
		o(pv)
	}
	return pv
}

// testPVC is a Pending claim shop/name that testPV fits.
func testPVC(name string, opts ...pvcOpt) *corev1.PersistentVolumeClaim {
	class := "fast"
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID("uid-" + name)},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	for _, o := range opts {
		o(pvc)
	}
	return pvc
}

func testClass(name string, opts ...classOpt) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingImmediate
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &mode}
	for _, o := range opts {
		o(c)
	}
	return c
}

func waits(c *storagev1.StorageClass) {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	c.VolumeBindingMode = &mode
}

func isDefault(annotation string, age time.Duration) classOpt {
	return func(c *storagev1.StorageClass) {
		c.Annotations = map[string]string{annotation: "true"}
		c.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(-age))
	}
}

func size(s string) pvOpt {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse(s)
	}
}

func wants(s string) pvcOpt {
	return func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(s)
	}
}

func parseModes(s string) []corev1.PersistentVolumeAccessMode {
	long := map[string]corev1.PersistentVolumeAccessMode{
		"RWO": corev1.ReadWriteOnce, "ROX": corev1.ReadOnlyMany,
		"RWX": corev1.ReadWriteMany, "RWOP": corev1.ReadWriteOncePod,
	}
	var modes []corev1.PersistentVolumeAccessMode
	for m := range strings.SplitSeq(s, ",") {
		modes = append(modes, long[m])
	}
	return modes
}

func offers(modes string) pvOpt {
	return func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = parseModes(modes) }
}

func asks(modes string) pvcOpt {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.AccessModes = parseModes(modes) }
}

func pvClass(name string) pvOpt {
	return func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = name }
}

func pvcClass(name string) pvcOpt {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.StorageClassName = &name }
}

func noClass(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.StorageClassName = nil }

func names(volume string) pvcOpt {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeName = volume }
}

// tied gives a volume a claimRef to shop/claim.
func tied(claim, uid string) pvOpt {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim",
			Namespace: "shop", Name: claim, UID: types.UID(uid),
		}
	}
}

func phase(p corev1.PersistentVolumePhase) pvOpt {
	return func(pv *corev1.PersistentVolume) { pv.Status.Phase = p }
}

func bindCompleted(pvc *corev1.PersistentVolumeClaim) {
	metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, volume.AnnBindCompleted, "yes")
}

func volumeNames(list []*corev1.PersistentVolume) string {
	var out []string
	for _, v := range list {
		out = append(out, v.Name)
	}
	return strings.Join(out, " ")
}

package kube

import (
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// versions numbers the versions of the objects that the tests make, as an API
// server would.
var versions atomic.Int64

func nextVersion() string { return fmt.Sprint(versions.Add(1) + 100) }

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name), ResourceVersion: nextVersion()}
}

type volumeOption func(*corev1.PersistentVolume)

func newVolume(name string, options ...volumeOption) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		ObjectMeta: named("", name),
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              "slow",
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
	for _, o := range options {
		o(pv)
	}
	return pv
}

func claimedBy(namespace, name string, uid types.UID) volumeOption {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name, UID: uid,
		}
		if uid != "" {
			pv.Status.Phase = corev1.VolumeBound
		}
	}
}

func inPhase(phase corev1.PersistentVolumePhase) volumeOption {
	return func(pv *corev1.PersistentVolume) { pv.Status.Phase = phase }
}

type claimOption func(*corev1.PersistentVolumeClaim)

func newClaim(namespace, name string, options ...claimOption) *corev1.PersistentVolumeClaim {
	class := "slow"
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: named(namespace, name),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("512Mi")},
			},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	for _, o := range options {
		o(pvc)
	}
	return pvc
}

func boundTo(volume string) claimOption {
	return func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Spec.VolumeName = volume
		pvc.Status.Phase = corev1.ClaimBound
	}
}

func newPod(namespace, name string, owner *metav1.OwnerReference, claims ...string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: named(namespace, name),
		Spec:       corev1.PodSpec{NodeName: "node-a", Volumes: claimVolumes(claims...)},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	if owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	return pod
}

func claimVolumes(claims ...string) []corev1.Volume {
	volumes := []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	for i, claim := range claims {
		volumes = append(volumes, corev1.Volume{Name: fmt.Sprint("v", i), VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
	return volumes
}

func template(claims ...string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: claimVolumes(claims...)}}
}

func controlledBy(kind, name string) *metav1.OwnerReference {
	yes := true
	return &metav1.OwnerReference{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: &yes}
}

type nodeOption func(*corev1.Node)

func newNode(name string, options ...nodeOption) *corev1.Node {
	node := &corev1.Node{
		ObjectMeta: named("", name),
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	node.Labels = map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: "zone-1"}
	for _, o := range options {
		o(node)
	}
	return node
}

func notReady(node *corev1.Node) { node.Status.Conditions[0].Status = corev1.ConditionUnknown }

func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: named("", name), Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}}
}

func newAttachment(name, volume, node string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{
		ObjectMeta: named("", name),
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "csi.example.com", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
		},
		Status: storagev1.VolumeAttachmentStatus{Attached: true},
	}
}

func newClass(name string, isDefault bool) *storagev1.StorageClass {
	sc := &storagev1.StorageClass{ObjectMeta: named("", name), Provisioner: "example.com/disk"}
	if isDefault {
		sc.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	return sc
}

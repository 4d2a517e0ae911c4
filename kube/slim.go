package kube

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// slim carries a record from its mailbox to the join, which drops the rest.
type slim[T any] struct {
	namespace string
	name      string
	// value is nil for what is of no interest.
	value *T
}

// GetObjectMeta makes the record an object that a cache can key.
func (s slim[T]) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: s.namespace, Name: s.name}
}

func slimmed[T any](o metav1.Object, value *T) slim[T] {
	return slim[T]{o.GetNamespace(), o.GetName(), value}
}

// podRecord is what is kept of a pod. One without claims says no more than
// its name, and is dropped at the join.
type podRecord struct {
	Pod
	namespace string
	// claims are the names of the claims it uses, sorted.
	claims []string
	owner  Owner
}

// GetObjectMeta makes the record an object that a cache can key.
func (p *podRecord) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: p.namespace, Name: p.Name, UID: p.UID}
}

// same tells whether nothing that is kept has changed. Most updates of a pod
// are of no interest to storage.
func (p *podRecord) same(q *podRecord) bool {
	return p.Pod == q.Pod && p.namespace == q.namespace && p.owner == q.owner && slices.Equal(p.claims, q.claims)
}

func equalPointers[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// objectKey is the key of an object in all of this package's maps, the same
// that client-go's caches use.
func objectKey(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func (t trimmer) pod(pod *corev1.Pod) *podRecord {
	p := &podRecord{Pod: Pod{Name: pod.Name, UID: pod.UID}, namespace: text(pod.Namespace)}
	p.claims = podClaims(pod.Name, pod.Spec.Volumes)
	if p.claims == nil {
		return p
	}
	p.Phase = corev1.PodPhase(text(string(pod.Status.Phase)))
	p.Node = text(pod.Spec.NodeName)
	p.Terminating = pod.DeletionTimestamp != nil
	p.owner = controllerOf(pod.OwnerReferences)
	return p
}

// podClaims names the claims of a pod. A generic ephemeral volume has a claim
// that is named after the pod and the volume.
func podClaims(pod string, volumes []corev1.Volume) []string {
	var names []string
	for i := range volumes {
		switch v := &volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil && pod != "":
			names = append(names, pod+"-"+v.Name)
		}
	}
	slices.Sort(names)
	return slices.Clip(slices.Compact(names))
}

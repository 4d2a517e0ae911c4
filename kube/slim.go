package kube

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// owner is a controller reference.
type owner struct {
	kind string
	name string
	uid  types.UID
}

// podRecord is what is kept of a pod. One without claims says no more than
// its name, and is dropped at the join.
type podRecord struct {
	Pod
	namespace string
	// claims are the names of the claims it uses, sorted.
	claims []string
	owner  owner
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

// workload is what is kept of a workload.
type workload struct {
	kind      string
	namespace string
	name      string
	uid       types.UID
	owner     owner
	// claims are the names of the claims in its pod template, sorted.
	claims []string
	// templates are the names of its volumeClaimTemplates.
	templates []string
	replicas  *int32
	// finished: it will start no more pods.
	finished bool
}

// GetObjectMeta makes the record an object that a cache can key.
func (w *workload) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: w.namespace, Name: w.name, UID: w.uid}
}

func (w *workload) same(v *workload) bool {
	return w.kind == v.kind && w.namespace == v.namespace && w.name == v.name && w.uid == v.uid && w.owner == v.owner &&
		w.finished == v.finished && equalPointers(w.replicas, v.replicas) &&
		slices.Equal(w.claims, v.claims) && slices.Equal(w.templates, v.templates)
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

// workload makes the record of a workload; nil for anything else.
func (t trimmer) workload(obj any) *workload {
	switch o := obj.(type) {
	case *appsv1.StatefulSet:
		w := newWorkload("StatefulSet", o.ObjectMeta, o.Spec.Template, o.Spec.Replicas)
		for i := range o.Spec.VolumeClaimTemplates {
			w.templates = append(w.templates, o.Spec.VolumeClaimTemplates[i].Name)
		}
		return w
	case *appsv1.Deployment:
		return newWorkload("Deployment", o.ObjectMeta, o.Spec.Template, o.Spec.Replicas)
	case *appsv1.ReplicaSet:
		return newWorkload("ReplicaSet", o.ObjectMeta, o.Spec.Template, o.Spec.Replicas)
	case *appsv1.DaemonSet:
		return newWorkload("DaemonSet", o.ObjectMeta, o.Spec.Template, nil)
	case *batchv1.Job:
		w := newWorkload("Job", o.ObjectMeta, o.Spec.Template, nil)
		w.finished = slices.ContainsFunc(o.Status.Conditions, func(c batchv1.JobCondition) bool {
			return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
		})
		return w
	case *batchv1.CronJob:
		return newWorkload("CronJob", o.ObjectMeta, o.Spec.JobTemplate.Spec.Template, nil)
	}
	return nil
}

func newWorkload(kind string, m metav1.ObjectMeta, template corev1.PodTemplateSpec, replicas *int32) *workload {
	w := &workload{
		kind:      kind,
		namespace: text(m.Namespace),
		name:      m.Name,
		uid:       m.UID,
		owner:     controllerOf(m.OwnerReferences),
		claims:    podClaims("", template.Spec.Volumes),
	}
	if replicas != nil {
		// A pointer into the object would keep all of it.
		n := *replicas
		w.replicas = &n
	}
	return w
}

func controllerOf(refs []metav1.OwnerReference) owner {
	for i := range refs {
		if c := refs[i].Controller; c != nil && *c {
			return owner{kind: text(refs[i].Kind), name: text(refs[i].Name), uid: types.UID(text(string(refs[i].UID)))}
		}
	}
	return owner{}
}

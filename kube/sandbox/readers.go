package sandbox

import (
	"iter"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// The typed readers. What they give is shared and must be copied before it is
// changed. Those of one object give nil when there is none.

// Namespace is a namespace, nil when there is none of the name.
func (s *State) Namespace(name string) *corev1.Namespace {
	return read[*corev1.Namespace](s, Key{Namespaces, "", name})
}

// Node is a node, nil when there is none of the name.
func (s *State) Node(name string) *corev1.Node { return read[*corev1.Node](s, Key{Nodes, "", name}) }

// Volume is a volume, nil when there is none of the name.
func (s *State) Volume(name string) *corev1.PersistentVolume {
	return read[*corev1.PersistentVolume](s, Key{Volumes, "", name})
}

// Claim is a claim, nil when there is none of the name.
func (s *State) Claim(namespace, name string) *corev1.PersistentVolumeClaim {
	return read[*corev1.PersistentVolumeClaim](s, Key{Claims, namespace, name})
}

// Pod is a pod, nil when there is none of the name.
func (s *State) Pod(namespace, name string) *corev1.Pod {
	return read[*corev1.Pod](s, Key{Pods, namespace, name})
}

// Class is a class, nil when there is none of the name.
func (s *State) Class(name string) *storagev1.StorageClass {
	return read[*storagev1.StorageClass](s, Key{Classes, "", name})
}

// Attachment is an attachment, nil when there is none of the name.
func (s *State) Attachment(name string) *storagev1.VolumeAttachment {
	return read[*storagev1.VolumeAttachment](s, Key{Attachments, "", name})
}

// Driver is a CSI driver, nil when there is none of the name.
func (s *State) Driver(name string) *storagev1.CSIDriver {
	return read[*storagev1.CSIDriver](s, Key{Drivers, "", name})
}

// StatefulSet is a StatefulSet, nil when there is none of the name.
func (s *State) StatefulSet(namespace, name string) *appsv1.StatefulSet {
	return read[*appsv1.StatefulSet](s, Key{StatefulSets, namespace, name})
}

// Deployment is a Deployment, nil when there is none of the name.
func (s *State) Deployment(namespace, name string) *appsv1.Deployment {
	return read[*appsv1.Deployment](s, Key{Deployments, namespace, name})
}

// ReplicaSet is a ReplicaSet, nil when there is none of the name.
func (s *State) ReplicaSet(namespace, name string) *appsv1.ReplicaSet {
	return read[*appsv1.ReplicaSet](s, Key{ReplicaSets, namespace, name})
}

// DaemonSet is a DaemonSet, nil when there is none of the name.
func (s *State) DaemonSet(namespace, name string) *appsv1.DaemonSet {
	return read[*appsv1.DaemonSet](s, Key{DaemonSets, namespace, name})
}

// Job is a Job, nil when there is none of the name.
func (s *State) Job(namespace, name string) *batchv1.Job {
	return read[*batchv1.Job](s, Key{Jobs, namespace, name})
}

// CronJob is a CronJob, nil when there is none of the name.
func (s *State) CronJob(namespace, name string) *batchv1.CronJob {
	return read[*batchv1.CronJob](s, Key{CronJobs, namespace, name})
}

// Autoscaler is a HorizontalPodAutoscaler, nil when there is none of the name.
func (s *State) Autoscaler(namespace, name string) *autoscalingv2.HorizontalPodAutoscaler {
	return read[*autoscalingv2.HorizontalPodAutoscaler](s, Key{Autoscalers, namespace, name})
}

// The readers of many go in the order of namespace and name. Those that take a
// namespace read only that one, or all if it is "".

// Namespaces are the namespaces.
func (s *State) Namespaces() iter.Seq[*corev1.Namespace] {
	return all[*corev1.Namespace](s, Namespaces, "")
}

// Nodes are the nodes.
func (s *State) Nodes() iter.Seq[*corev1.Node] { return all[*corev1.Node](s, Nodes, "") }

// Volumes are the volumes.
func (s *State) Volumes() iter.Seq[*corev1.PersistentVolume] {
	return all[*corev1.PersistentVolume](s, Volumes, "")
}

// Claims are the claims of a namespace, or of all.
func (s *State) Claims(namespace string) iter.Seq[*corev1.PersistentVolumeClaim] {
	return all[*corev1.PersistentVolumeClaim](s, Claims, namespace)
}

// Pods are the pods of a namespace, or of all.
func (s *State) Pods(namespace string) iter.Seq[*corev1.Pod] {
	return all[*corev1.Pod](s, Pods, namespace)
}

// Events are the events of a namespace, or of all.
func (s *State) Events(namespace string) iter.Seq[*corev1.Event] {
	return all[*corev1.Event](s, Events, namespace)
}

// Quotas are the quotas of a namespace, or of all.
func (s *State) Quotas(namespace string) iter.Seq[*corev1.ResourceQuota] {
	return all[*corev1.ResourceQuota](s, Quotas, namespace)
}

// LimitRanges are the LimitRanges of a namespace, or of all.
func (s *State) LimitRanges(namespace string) iter.Seq[*corev1.LimitRange] {
	return all[*corev1.LimitRange](s, LimitRanges, namespace)
}

// Classes are the classes.
func (s *State) Classes() iter.Seq[*storagev1.StorageClass] {
	return all[*storagev1.StorageClass](s, Classes, "")
}

// Attachments are the attachments.
func (s *State) Attachments() iter.Seq[*storagev1.VolumeAttachment] {
	return all[*storagev1.VolumeAttachment](s, Attachments, "")
}

// Drivers are the CSI drivers.
func (s *State) Drivers() iter.Seq[*storagev1.CSIDriver] {
	return all[*storagev1.CSIDriver](s, Drivers, "")
}

// StatefulSets are the StatefulSets of a namespace, or of all.
func (s *State) StatefulSets(namespace string) iter.Seq[*appsv1.StatefulSet] {
	return all[*appsv1.StatefulSet](s, StatefulSets, namespace)
}

// Deployments are the Deployments of a namespace, or of all.
func (s *State) Deployments(namespace string) iter.Seq[*appsv1.Deployment] {
	return all[*appsv1.Deployment](s, Deployments, namespace)
}

// ReplicaSets are the ReplicaSets of a namespace, or of all.
func (s *State) ReplicaSets(namespace string) iter.Seq[*appsv1.ReplicaSet] {
	return all[*appsv1.ReplicaSet](s, ReplicaSets, namespace)
}

// DaemonSets are the DaemonSets of a namespace, or of all.
func (s *State) DaemonSets(namespace string) iter.Seq[*appsv1.DaemonSet] {
	return all[*appsv1.DaemonSet](s, DaemonSets, namespace)
}

// Jobs are the Jobs of a namespace, or of all.
func (s *State) Jobs(namespace string) iter.Seq[*batchv1.Job] {
	return all[*batchv1.Job](s, Jobs, namespace)
}

// CronJobs are the CronJobs of a namespace, or of all.
func (s *State) CronJobs(namespace string) iter.Seq[*batchv1.CronJob] {
	return all[*batchv1.CronJob](s, CronJobs, namespace)
}

// Autoscalers are the HorizontalPodAutoscalers of a namespace, or of all.
func (s *State) Autoscalers(namespace string) iter.Seq[*autoscalingv2.HorizontalPodAutoscaler] {
	return all[*autoscalingv2.HorizontalPodAutoscaler](s, Autoscalers, namespace)
}

func read[T Object](s *State, k Key) T {
	// A nil Object does not hold a T; the zero T, a nil pointer, is the answer.
	o, _ := s.Get(k).(T)
	return o
}

func all[T Object](s *State, r Resource, namespace string) iter.Seq[T] {
	shelf := s.shelves[r]
	if namespace != "" {
		shelf = shelf.within(namespace)
	}
	return func(yield func(T) bool) {
		for _, r := range shelf {
			if o, ok := r.object.(T); ok && !yield(o) {
				return
			}
		}
	}
}

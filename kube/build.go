package kube

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Objects are the objects of a cluster.
type Objects struct {
	Volumes      []*corev1.PersistentVolume
	Claims       []*corev1.PersistentVolumeClaim
	Classes      []*storagev1.StorageClass
	Nodes        []*corev1.Node
	Namespaces   []*corev1.Namespace
	Attachments  []*storagev1.VolumeAttachment
	Pods         []*corev1.Pod
	StatefulSets []*appsv1.StatefulSet
	Deployments  []*appsv1.Deployment
	ReplicaSets  []*appsv1.ReplicaSet
	DaemonSets   []*appsv1.DaemonSet
	Jobs         []*batchv1.Job
	CronJobs     []*batchv1.CronJob
}

// NewSnapshot joins objects into a snapshot, as the feed would show it when
// everything has been read. It leaves the objects as they are.
func NewSnapshot(objects Objects) *Snapshot {
	trim := newTrimmer()
	j := newJoin()
	load(j, trim, PersistentVolumes, objects.Volumes)
	load(j, trim, PersistentVolumeClaims, objects.Claims)
	load(j, trim, StorageClasses, objects.Classes)
	load(j, trim, Nodes, objects.Nodes)
	load(j, trim, Namespaces, objects.Namespaces)
	load(j, trim, VolumeAttachments, objects.Attachments)
	load(j, trim, Pods, objects.Pods)
	load(j, trim, StatefulSets, objects.StatefulSets)
	load(j, trim, Deployments, objects.Deployments)
	load(j, trim, ReplicaSets, objects.ReplicaSets)
	load(j, trim, DaemonSets, objects.DaemonSets)
	load(j, trim, Jobs, objects.Jobs)
	load(j, trim, CronJobs, objects.CronJobs)
	j.rebuild()
	s := j.snapshot()
	s.Revision = 1
	s.Link = Link{Phase: Live}
	return s
}

// apiObject is an API object with its name.
type apiObject interface {
	runtime.Object
	GetNamespace() string
	GetName() string
}

func load[T apiObject](j *join, trim trimmer, resource Resource, objects []T) {
	d := delivery{replaced: true, state: ResourceState{Phase: Synced}, changes: make(map[string]any, len(objects))}
	for _, o := range objects {
		d.changes[objectKey(o.GetNamespace(), o.GetName())] = trim.trim(o.DeepCopyObject())
	}
	j.apply(resource, d)
}

// snapshot is what the join shows now, without what it does not know of.
func (j *join) snapshot() *Snapshot {
	return &Snapshot{
		Volumes:    j.volumeList,
		Claims:     j.claimList,
		Classes:    j.classList,
		Nodes:      j.nodes.list,
		Namespaces: j.namespaces.list,
		Workloads:  j.loadList,
		Resources:  maps.Clone(j.states),
		Scope:      j.states[PersistentVolumeClaims].Namespace,
	}
}

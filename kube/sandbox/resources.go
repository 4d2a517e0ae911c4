package sandbox

import (
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources that are modelled.
const (
	Namespaces    Resource = "namespaces"
	Nodes         Resource = "nodes"
	Volumes       Resource = "persistentvolumes"
	Claims        Resource = "persistentvolumeclaims"
	Pods          Resource = "pods"
	Events        Resource = "events"
	Quotas        Resource = "resourcequotas"
	LimitRanges   Resource = "limitranges"
	Classes       Resource = "storageclasses"
	Attachments   Resource = "volumeattachments"
	Drivers       Resource = "csidrivers"
	StatefulSets  Resource = "statefulsets"
	Deployments   Resource = "deployments"
	ReplicaSets   Resource = "replicasets"
	DaemonSets    Resource = "daemonsets"
	Jobs          Resource = "jobs"
	CronJobs      Resource = "cronjobs"
	Autoscalers   Resource = "horizontalpodautoscalers"
	accessReviews Resource = "selfsubjectaccessreviews"
)

// The subresources that are modelled.
const (
	subStatus = "status"
	subScale  = "scale"
)

// firstVersion is the version of the core group, and of what belongs to none.
const firstVersion = "v1"

// kind is one row of the table of resources.
type kind struct {
	resource   Resource
	gvk        schema.GroupVersionKind
	short      []string
	namespaced bool
	status     bool
	scale      bool
	// make makes an empty object of the kind.
	make func() Object
}

func (k kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.gvk.Group, Resource: string(k.resource)}
}

// kinds is the table of resources, the ones of a group version together.
func kinds() []kind {
	core := func(k string) schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind(k) }
	apps := func(k string) schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind(k) }
	batch := func(k string) schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind(k) }
	storage := func(k string) schema.GroupVersionKind { return storagev1.SchemeGroupVersion.WithKind(k) }
	return []kind{
		{Namespaces, core("Namespace"), []string{"ns"}, false, true, false, func() Object { return &corev1.Namespace{} }},
		{Nodes, core("Node"), []string{"no"}, false, true, false, func() Object { return &corev1.Node{} }},
		{Volumes, core("PersistentVolume"), []string{"pv"}, false, true, false, func() Object { return &corev1.PersistentVolume{} }},
		{Claims, core("PersistentVolumeClaim"), []string{"pvc"}, true, true, false, func() Object { return &corev1.PersistentVolumeClaim{} }},
		{Pods, core("Pod"), []string{"po"}, true, true, false, func() Object { return &corev1.Pod{} }},
		{Events, core("Event"), []string{"ev"}, true, false, false, func() Object { return &corev1.Event{} }},
		{Quotas, core("ResourceQuota"), []string{"quota"}, true, true, false, func() Object { return &corev1.ResourceQuota{} }},
		{LimitRanges, core("LimitRange"), []string{"limits"}, true, false, false, func() Object { return &corev1.LimitRange{} }},
		{Classes, storage("StorageClass"), []string{"sc"}, false, false, false, func() Object { return &storagev1.StorageClass{} }},
		{Attachments, storage("VolumeAttachment"), nil, false, true, false, func() Object { return &storagev1.VolumeAttachment{} }},
		{Drivers, storage("CSIDriver"), nil, false, false, false, func() Object { return &storagev1.CSIDriver{} }},
		{StatefulSets, apps("StatefulSet"), []string{"sts"}, true, true, true, func() Object { return &appsv1.StatefulSet{} }},
		{Deployments, apps("Deployment"), []string{"deploy"}, true, true, true, func() Object { return &appsv1.Deployment{} }},
		{ReplicaSets, apps("ReplicaSet"), []string{"rs"}, true, true, true, func() Object { return &appsv1.ReplicaSet{} }},
		{DaemonSets, apps("DaemonSet"), []string{"ds"}, true, true, false, func() Object { return &appsv1.DaemonSet{} }},
		{Jobs, batch("Job"), nil, true, true, false, func() Object { return &batchv1.Job{} }},
		{CronJobs, batch("CronJob"), []string{"cj"}, true, true, false, func() Object { return &batchv1.CronJob{} }},
		{
			Autoscalers, autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
			[]string{"hpa"},
			true, true, false,
			func() Object { return &autoscalingv2.HorizontalPodAutoscaler{} },
		},
		{
			accessReviews, authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), nil, false, false, false,
			func() Object { return &authorizationv1.SelfSubjectAccessReview{} },
		},
	}
}

// resourceOf is the resource that an object is of, "" if none that is stored.
func resourceOf(o Object) Resource {
	switch o.(type) {
	case *corev1.Namespace:
		return Namespaces
	case *corev1.Node:
		return Nodes
	case *corev1.PersistentVolume:
		return Volumes
	case *corev1.PersistentVolumeClaim:
		return Claims
	case *corev1.Pod:
		return Pods
	case *corev1.Event:
		return Events
	case *corev1.ResourceQuota:
		return Quotas
	case *corev1.LimitRange:
		return LimitRanges
	case *storagev1.StorageClass:
		return Classes
	case *storagev1.VolumeAttachment:
		return Attachments
	case *storagev1.CSIDriver:
		return Drivers
	case *appsv1.StatefulSet:
		return StatefulSets
	case *appsv1.Deployment:
		return Deployments
	case *appsv1.ReplicaSet:
		return ReplicaSets
	case *appsv1.DaemonSet:
		return DaemonSets
	case *batchv1.Job:
		return Jobs
	case *batchv1.CronJob:
		return CronJobs
	case *autoscalingv2.HorizontalPodAutoscaler:
		return Autoscalers
	}
	return ""
}

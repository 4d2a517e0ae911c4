package sandbox

import (
	"math"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// setDefaults fills in what a client left out, as defaults.go in Kubernetes'
// pkg/apis does for each group. It covers the fields that the modelled kinds
// are commonly written with; ports, probes and projected volumes are left.
func setDefaults(o Object) {
	switch o := o.(type) {
	case *corev1.Namespace:
		if o.Name != "" {
			if o.Labels == nil {
				o.Labels = map[string]string{}
			}
			o.Labels[corev1.LabelMetadataName] = o.Name
		}
		defaultTo(&o.Status.Phase, corev1.NamespaceActive)
	case *corev1.PersistentVolume:
		defaultTo(&o.Status.Phase, corev1.VolumePending)
		defaultTo(&o.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		defaultPointer(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		if path := o.Spec.HostPath; path != nil {
			defaultPointer(&path.Type, corev1.HostPathUnset)
		}
	case *corev1.PersistentVolumeClaim:
		defaultTo(&o.Status.Phase, corev1.ClaimPending)
		defaultPointer(&o.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *corev1.Pod:
		defaultTo(&o.Status.Phase, corev1.PodPending)
		defaultPodSpec(&o.Spec)
		defaultPointer(&o.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	case *storagev1.StorageClass:
		defaultPointer(&o.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		defaultPointer(&o.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	case *storagev1.CSIDriver:
		defaultDriver(&o.Spec)
	case *autoscalingv2.HorizontalPodAutoscaler:
		defaultPointer(&o.Spec.MinReplicas, 1)
	default:
		defaultWorkload(o)
	}
}

func defaultWorkload(o Object) {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		defaultStatefulSet(&o.Spec)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *appsv1.Deployment:
		defaultDeployment(&o.Spec)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *appsv1.ReplicaSet:
		defaultPointer(&o.Spec.Replicas, 1)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *appsv1.DaemonSet:
		defaultDaemonSet(&o.Spec)
		defaultPodSpec(&o.Spec.Template.Spec)
	case *batchv1.Job:
		if len(o.Labels) == 0 {
			o.Labels = o.Spec.Template.Labels
		}
		defaultJob(&o.Spec)
	case *batchv1.CronJob:
		defaultTo(&o.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		defaultPointer(&o.Spec.Suspend, false)
		defaultPointer(&o.Spec.SuccessfulJobsHistoryLimit, 3)
		defaultPointer(&o.Spec.FailedJobsHistoryLimit, 1)
		defaultPodSpec(&o.Spec.JobTemplate.Spec.Template.Spec)
	}
}

func defaultTo[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func defaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func defaultStatefulSet(s *appsv1.StatefulSetSpec) {
	defaultTo(&s.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if s.UpdateStrategy.Type == "" {
		s.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		defaultPointer(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if u := s.UpdateStrategy.RollingUpdate; u != nil && s.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		defaultPointer(&u.Partition, 0)
		defaultPointer(&u.MaxUnavailable, intstr.FromInt32(1))
	}
	defaultPointer(&s.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	defaultTo(&s.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	defaultTo(&s.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	defaultPointer(&s.Replicas, 1)
	defaultPointer(&s.RevisionHistoryLimit, 10)
	for i := range s.VolumeClaimTemplates {
		claim := &s.VolumeClaimTemplates[i]
		// Templates are whole objects, and are stored with their kind.
		claim.APIVersion, claim.Kind = corev1.SchemeGroupVersion.String(), "PersistentVolumeClaim"
		setDefaults(claim)
	}
}

func defaultDeployment(s *appsv1.DeploymentSpec) {
	defaultPointer(&s.Replicas, 1)
	defaultTo(&s.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if s.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		defaultPointer(&s.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		defaultPointer(&s.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		defaultPointer(&s.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	defaultPointer(&s.RevisionHistoryLimit, 10)
	defaultPointer(&s.ProgressDeadlineSeconds, 600)
}

func defaultDaemonSet(s *appsv1.DaemonSetSpec) {
	defaultTo(&s.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if s.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		defaultPointer(&s.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		defaultPointer(&s.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		defaultPointer(&s.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	defaultPointer(&s.RevisionHistoryLimit, 10)
}

func defaultJob(s *batchv1.JobSpec) {
	if s.Parallelism == nil {
		defaultPointer(&s.Completions, 1)
	}
	defaultPointer(&s.Parallelism, 1)
	tries := int32(6)
	if s.BackoffLimitPerIndex != nil {
		tries = math.MaxInt32
	}
	defaultPointer(&s.BackoffLimit, tries)
	defaultPointer(&s.CompletionMode, batchv1.NonIndexedCompletion)
	defaultPointer(&s.Suspend, false)
	replacement := batchv1.TerminatingOrFailed
	if s.PodFailurePolicy != nil {
		replacement = batchv1.Failed
	}
	defaultPointer(&s.PodReplacementPolicy, replacement)
	defaultPointer(&s.ManualSelector, false)
	defaultPodSpec(&s.Template.Spec)
}

func defaultDriver(s *storagev1.CSIDriverSpec) {
	defaultPointer(&s.AttachRequired, true)
	defaultPointer(&s.PodInfoOnMount, false)
	defaultPointer(&s.StorageCapacity, false)
	defaultPointer(&s.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	if len(s.VolumeLifecycleModes) == 0 {
		s.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	defaultPointer(&s.RequiresRepublish, false)
	defaultPointer(&s.SELinuxMount, false)
}

func defaultPodSpec(s *corev1.PodSpec) {
	defaultTo(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	defaultTo(&s.DNSPolicy, corev1.DNSClusterFirst)
	defaultTo(&s.RestartPolicy, corev1.RestartPolicyAlways)
	defaultPointer(&s.SecurityContext, corev1.PodSecurityContext{})
	defaultPointer(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	defaultTo(&s.SchedulerName, corev1.DefaultSchedulerName)
	for i := range s.Volumes {
		v := &s.Volumes[i].VolumeSource
		if *v == (corev1.VolumeSource{}) {
			v.EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		if v.HostPath != nil {
			defaultPointer(&v.HostPath.Type, corev1.HostPathUnset)
		}
	}
	for i := range s.InitContainers {
		defaultContainer(&s.InitContainers[i])
	}
	for i := range s.Containers {
		defaultContainer(&s.Containers[i])
	}
}

func defaultContainer(c *corev1.Container) {
	policy := corev1.PullIfNotPresent
	name := c.Image[strings.LastIndex(c.Image, "/")+1:]
	if strings.HasSuffix(name, ":latest") || !strings.ContainsAny(name, ":@") {
		policy = corev1.PullAlways
	}
	defaultTo(&c.ImagePullPolicy, policy)
	defaultTo(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	defaultTo(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

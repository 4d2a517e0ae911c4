package sandbox

import (
	"reflect"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prepareCreate drops what only controllers may say, as PrepareForCreate of the
// strategies in Kubernetes' pkg/registry does.
func prepareCreate(o Object, now time.Time) {
	switch o := o.(type) {
	case *corev1.Namespace:
		o.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
		o.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	case *corev1.PersistentVolume:
		o.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: new(metav1.NewTime(now))}
	case *corev1.PersistentVolumeClaim:
		o.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		normalizeDataSources(&o.Spec)
	case *corev1.Pod:
		o.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}
	case *corev1.ResourceQuota:
		o.Status = corev1.ResourceQuotaStatus{}
	case *storagev1.VolumeAttachment:
		o.Status = storagev1.VolumeAttachmentStatus{}
	case *appsv1.StatefulSet:
		o.Status = appsv1.StatefulSetStatus{}
	case *appsv1.Deployment:
		o.Status = appsv1.DeploymentStatus{}
	case *appsv1.ReplicaSet:
		o.Status = appsv1.ReplicaSetStatus{}
	case *appsv1.DaemonSet:
		o.Status = appsv1.DaemonSetStatus{}
	case *batchv1.Job:
		o.Status = batchv1.JobStatus{}
	case *batchv1.CronJob:
		o.Status = batchv1.CronJobStatus{}
	case *autoscalingv2.HorizontalPodAutoscaler:
		o.Status = autoscalingv2.HorizontalPodAutoscalerStatus{}
	}
}

// normalizeDataSources keeps the two fields for one thing in step
// (NormalizeDataSources in pkg/api/persistentvolumeclaim/util.go).
func normalizeDataSources(s *corev1.PersistentVolumeClaimSpec) {
	if s.DataSourceRef != nil && s.DataSourceRef.Namespace != nil && *s.DataSourceRef.Namespace != "" {
		return
	}
	switch from, to := s.DataSource, s.DataSourceRef; {
	case from != nil && to == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: from.APIGroup, Kind: from.Kind, Name: from.Name}
	case from == nil && to != nil:
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: to.APIGroup, Kind: to.Kind, Name: to.Name}
	}
}

// prepareUpdate lets each way in change its own half: the object its spec, the
// status subresource its status (PrepareForUpdate of the strategies). What of
// the metadata nobody may change, it keeps (BeforeUpdate in
// registry/rest/update.go of k8s.io/apiserver).
func prepareUpdate(before, wanted Object, sub string, now time.Time) {
	wanted.SetGeneration(before.GetGeneration())
	if wanted.GetUID() == "" {
		wanted.SetUID(before.GetUID())
	}
	wanted.SetCreationTimestamp(before.GetCreationTimestamp())
	if before.GetDeletionTimestamp() != nil {
		wanted.SetDeletionTimestamp(before.GetDeletionTimestamp())
	}
	if before.GetDeletionGracePeriodSeconds() != nil && wanted.GetDeletionGracePeriodSeconds() == nil {
		wanted.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	}
	if sub == subStatus {
		keepSpec(before, wanted)
		if pv, ok := wanted.(*corev1.PersistentVolume); ok {
			stampPhase(before, pv, now)
		}
		return
	}
	keepStatus(before, wanted)
	if pvc, ok := wanted.(*corev1.PersistentVolumeClaim); ok {
		normalizeDataSources(&pvc.Spec)
	}
}

// stampPhase is persistentvolumeStatusStrategy.PrepareForUpdate in
// registry/core/persistentvolume/strategy.go.
func stampPhase(before Object, pv *corev1.PersistentVolume, now time.Time) {
	old, ok := before.(*corev1.PersistentVolume)
	if !ok {
		return
	}
	was, is := old.Status, &pv.Status
	switch {
	case was.Phase == is.Phase && is.LastPhaseTransitionTime == nil:
		is.LastPhaseTransitionTime = was.LastPhaseTransitionTime
	case was.Phase != is.Phase && (is.LastPhaseTransitionTime == nil || is.LastPhaseTransitionTime.Equal(was.LastPhaseTransitionTime)):
		is.LastPhaseTransitionTime = new(metav1.NewTime(now))
	}
}

// keepSpec and keepStatus carry a half over. Every kind that has a status
// subresource has its two halves in fields of these names.
func keepSpec(before, wanted Object) {
	keep(before, wanted, "Spec")
	if was, ok := before.(*appsv1.Deployment); ok {
		// Its labels are not for the status' writers, either
		// (registry/apps/deployment/strategy.go).
		wanted.SetLabels(was.Labels)
	}
}

func keepStatus(before, wanted Object) {
	keep(before, wanted, "Status")
	was, ok := before.(*corev1.Namespace)
	if is, same := wanted.(*corev1.Namespace); ok && same {
		is.Spec.Finalizers = was.Spec.Finalizers
	}
}

// keep makes a field of one object that of another of the same type. What they
// share of it then is not written to.
func keep(before, wanted Object, field string) {
	from := reflect.ValueOf(before).Elem().FieldByName(field)
	to := reflect.ValueOf(wanted).Elem().FieldByName(field)
	if from.IsValid() && to.IsValid() {
		to.Set(from)
	}
}

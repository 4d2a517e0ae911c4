package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/claimref/claimref/actions"
)

// lister lists one resource.
type lister[L any] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
}

// inAll lists a resource and adds what it finds. Where it may not be listed,
// that is noted.
func inAll[L runtime.Object, T any](s *survey, from lister[L], resource string, items func(L) []T, into *[]*T) func(context.Context) {
	return func(ctx context.Context) {
		ctx, cancel := s.bounded(ctx)
		defer cancel()
		list, err := from.List(ctx, metav1.ListOptions{})
		// Without the pods, nobody knows who is using the data.
		needed := s.strict && resource == string(Pods)
		if err != nil && !needed && s.unreadable(err, resource) {
			return
		}
		if err != nil {
			err = fmt.Errorf("list %s: %w", resource, err)
		}
		s.note(err, func() {
			found := items(list)
			for i := range found {
				*into = append(*into, &found[i])
			}
		})
	}
}

// The resources that are read only when an operation is planned.
const (
	autoscalers = "horizontalpodautoscalers"
	quotas      = "resourcequotas"
	limitRanges = "limitranges"
	csiDrivers  = "csidrivers"
)

// namespace lists what is in a namespace: its pods, and all that makes or
// bounds them.
func (s *survey) namespace(crew *crew, ns string) {
	core, apps, batch := s.client.api.CoreV1(), s.client.api.AppsV1(), s.client.api.BatchV1()
	found := &s.scene
	for _, list := range []func(context.Context){
		inAll(s, core.Pods(ns), string(Pods), func(l *corev1.PodList) []corev1.Pod { return l.Items }, &found.Pods),
		inAll(s, apps.StatefulSets(ns), string(StatefulSets), func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }, &found.StatefulSets),
		inAll(s, apps.Deployments(ns), string(Deployments), func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items }, &found.Deployments),
		inAll(s, apps.ReplicaSets(ns), string(ReplicaSets), func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, &found.ReplicaSets),
		inAll(s, apps.DaemonSets(ns), string(DaemonSets), func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, &found.DaemonSets),
		inAll(s, batch.Jobs(ns), string(Jobs), func(l *batchv1.JobList) []batchv1.Job { return l.Items }, &found.Jobs),
		inAll(s, batch.CronJobs(ns), string(CronJobs), func(l *batchv1.CronJobList) []batchv1.CronJob { return l.Items }, &found.CronJobs),
	} {
		crew.ask(list)
	}
	if s.brief {
		return
	}
	scaling := s.client.api.AutoscalingV2()
	crew.ask(inAll(s, scaling.HorizontalPodAutoscalers(ns), autoscalers,
		func(l *autoscalingv2.HorizontalPodAutoscalerList) []autoscalingv2.HorizontalPodAutoscaler {
			return l.Items
		}, &found.Autoscalers))
	crew.ask(inAll(s, core.ResourceQuotas(ns), quotas,
		func(l *corev1.ResourceQuotaList) []corev1.ResourceQuota { return l.Items }, &found.Quotas))
	crew.ask(inAll(s, core.LimitRanges(ns), limitRanges,
		func(l *corev1.LimitRangeList) []corev1.LimitRange { return l.Items }, &found.LimitRanges))
}

func (s *survey) classes(ctx context.Context) {
	inAll(s, s.client.api.StorageV1().StorageClasses(), string(StorageClasses),
		func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }, &s.scene.Classes)(ctx)
}

// attachments lists those of the volumes of the operation.
func (s *survey) attachments(ctx context.Context) {
	ofOurs := func(l *storagev1.VolumeAttachmentList) []storagev1.VolumeAttachment {
		return slices.DeleteFunc(l.Items, func(a storagev1.VolumeAttachment) bool {
			name := a.Spec.Source.PersistentVolumeName
			return name == nil || s.scene.Volumes[*name] == nil
		})
	}
	inAll(s, s.client.api.StorageV1().VolumeAttachments(), string(VolumeAttachments), ofOurs, &s.scene.Attachments)(ctx)
}

func (s *survey) driver(ctx context.Context, name string) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	driver, err := s.client.api.StorageV1().CSIDrivers().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		driver, err = nil, nil
	case err != nil && s.unreadable(err, csiDrivers):
		return
	case err != nil:
		err = fmt.Errorf("get CSI driver %s: %w", name, err)
	}
	s.note(err, func() { s.scene.Drivers[name] = driver })
}

func (s *survey) namespaceObject(ctx context.Context, name string) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	namespace, err := s.client.api.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		namespace, err = nil, nil
	case err != nil && s.unreadable(err, string(Namespaces)):
		return
	case err != nil:
		err = fmt.Errorf("get namespace %s: %w", name, err)
	}
	s.note(err, func() { s.scene.Namespaces[name] = namespace })
}

// relatedVolumes finds all other volumes.
func (s *survey) relatedVolumes(ctx context.Context, snap *Snapshot) {
	var all []*corev1.PersistentVolume
	if snap != nil && snap.vouches(PersistentVolumes) {
		for _, v := range snap.Volumes {
			all = append(all, v.Object)
		}
	} else {
		ctx, cancel := s.bounded(ctx)
		defer cancel()
		var err error
		if all, err = s.client.listVolumes(ctx); err != nil {
			s.missing(err, PersistentVolumes)
		}
	}
	s.note(nil, func() {
		for _, pv := range all {
			if _, own := s.scene.Volumes[pv.Name]; !own {
				s.scene.RelatedVolumes = append(s.scene.RelatedVolumes, pv)
			}
		}
	})
}

// relatedClaims finds all other claims.
func (s *survey) relatedClaims(ctx context.Context, snap *Snapshot) {
	var all []*corev1.PersistentVolumeClaim
	if snap != nil && snap.vouches(PersistentVolumeClaims) {
		for _, c := range snap.Claims {
			all = append(all, c.Object)
		}
	} else {
		ctx, cancel := s.bounded(ctx)
		defer cancel()
		scope := ""
		if snap != nil {
			scope = snap.Scope
		}
		var complete bool
		if all, complete = s.client.listClaims(ctx, scope); !complete {
			s.missing(nil, PersistentVolumeClaims)
		}
	}
	s.note(nil, func() {
		for _, pvc := range all {
			if _, own := s.scene.Claims[actions.ClaimKey{Namespace: pvc.Namespace, Name: pvc.Name}]; !own {
				s.scene.RelatedClaims = append(s.scene.RelatedClaims, pvc)
			}
		}
	})
}

// missing notes that the others of a resource, which are only looked at for
// rivals, are not all known.
func (s *survey) missing(err error, resource Resource) {
	why := "not all of them could be listed"
	if err != nil {
		why = clean(cause(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scene.Unread[string(resource)] = why
}

// sort puts the lists in the order of their names, so that the same cluster
// makes the same Scene.
func (s *survey) sort() {
	byName(s.scene.Pods)
	byName(s.scene.StatefulSets)
	byName(s.scene.Deployments)
	byName(s.scene.ReplicaSets)
	byName(s.scene.DaemonSets)
	byName(s.scene.Jobs)
	byName(s.scene.CronJobs)
	byName(s.scene.Autoscalers)
	byName(s.scene.Quotas)
	byName(s.scene.LimitRanges)
	byName(s.scene.Attachments)
	byName(s.scene.Classes)
}

func byName[O metav1.Object](objects []O) {
	slices.SortFunc(objects, func(a, b O) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

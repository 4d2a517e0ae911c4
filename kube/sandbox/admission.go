package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

// The finalizers that hold volumes and claims as long as they are in use
// (pkg/volume/util/finalizer.go).
const (
	volumeProtectionFinalizer = "kubernetes.io/pv-protection"
	claimProtectionFinalizer  = "kubernetes.io/pvc-protection"
)

// admitCreate is the mutating half of the admission of a new object, and what
// the namespace has to say about it.
func admitCreate(s *State, k kind, o Object) error {
	if err := admitNamespace(s, k, o); err != nil {
		return err
	}
	switch o := o.(type) {
	case *corev1.PersistentVolume:
		protect(o, volumeProtectionFinalizer)
	case *corev1.PersistentVolumeClaim:
		admitClass(s, o)
		protect(o, claimProtectionFinalizer)
	case *batchv1.Job:
		// Not admission, but like it in that it fills in what depends on the
		// uid: generateSelectorIfNeeded in registry/batch/job/strategy.go.
		o.SetUID(s.NextUID())
		selectJob(o)
	}
	return nil
}

// admitNamespace is the NamespaceLifecycle plugin
// (k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle).
func admitNamespace(s *State, k kind, o Object) error {
	if !k.namespaced {
		return nil
	}
	ns := s.Namespace(o.GetNamespace())
	if ns == nil {
		return apierrors.NewNotFound(corev1.Resource(string(Namespaces)), o.GetNamespace())
	}
	if ns.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	refusal := apierrors.NewForbidden(k.groupResource(), o.GetName(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", ns.Name))
	refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", ns.Name),
		Field:   "metadata.namespace",
	})
	return refusal
}

// protect is the StorageObjectInUseProtection plugin
// (plugin/pkg/admission/storage/storageobjectinuseprotection).
func protect(o Object, finalizer string) {
	if !slices.Contains(o.GetFinalizers(), finalizer) {
		o.SetFinalizers(append(slices.Clone(o.GetFinalizers()), finalizer))
	}
}

// admitClass is the DefaultStorageClass plugin
// (plugin/pkg/admission/storage/storageclass/setdefault).
func admitClass(s *State, pvc *corev1.PersistentVolumeClaim) {
	if volume.PersistentVolumeClaimHasClass(pvc) {
		return
	}
	if class := binding.EffectiveDefault(slices.Collect(s.Classes())); class != nil {
		pvc.Spec.StorageClassName = new(class.Name)
	}
}

func selectJob(job *batchv1.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	found := job.Spec.Template.Labels
	job.Spec.Template.Labels = map[string]string{
		"job-name": job.Name, batchv1.JobNameLabel: job.Name,
		"controller-uid": string(job.UID), batchv1.ControllerUidLabel: string(job.UID),
	}
	maps.Copy(job.Spec.Template.Labels, found)
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, ok := job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(job.UID)
	}
}

// admitUpdate is the LimitRanger plugin, the PersistentVolumeClaimResize plugin
// (plugin/pkg/admission/storage/persistentvolume/resize), and the quota.
func admitUpdate(s *State, k kind, before, wanted Object) error {
	was, ok := before.(*corev1.PersistentVolumeClaim)
	is, same := wanted.(*corev1.PersistentVolumeClaim)
	if !ok || !same {
		return nil
	}
	if err := checkLimits(s, k, before, wanted); err != nil {
		return err
	}
	newSize, oldSize := is.Spec.Resources.Requests[corev1.ResourceStorage], was.Spec.Resources.Requests[corev1.ResourceStorage]
	if newSize.Cmp(oldSize) <= 0 {
		return nil
	}
	refuse := func(text string) error {
		return apierrors.NewForbidden(k.groupResource(), is.Name, errors.New(text))
	}
	if was.Status.Phase != corev1.ClaimBound {
		return refuse("Only bound persistent volume claims can be expanded")
	}
	name := volume.GetPersistentVolumeClaimClass(is)
	class := s.Class(name)
	if class == nil || name != volume.GetPersistentVolumeClaimClass(was) || class.AllowVolumeExpansion == nil || !*class.AllowVolumeExpansion {
		return refuse("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return checkQuota(s, k, before, wanted)
}

// admitDelete guards the namespaces that a cluster can't do without.
func admitDelete(c call) error {
	if c.kind.resource != Namespaces {
		return nil
	}
	switch c.name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(c.kind.groupResource(), c.name, errors.New("this namespace may not be deleted"))
	}
	return nil
}

// checkQuota is the ResourceQuota plugin of k8s.io/apiserver with the evaluator
// of claims (pkg/quota/v1/evaluator/core/persistent_volume_claims.go). What is
// used is counted, rather than taken from the status, which lags behind.
func checkQuota(s *State, k kind, before, wanted Object) error {
	pvc, ok := wanted.(*corev1.PersistentVolumeClaim)
	if !ok {
		return nil
	}
	more := usage(pvc)
	if was, ok := before.(*corev1.PersistentVolumeClaim); ok {
		add(more, usage(was), -1)
	}
	used := corev1.ResourceList{}
	for other := range s.Claims(pvc.Namespace) {
		add(used, usage(other), 1)
	}
	for quota := range s.Quotas(pvc.Namespace) {
		hard, requested, before := corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}
		for name, limit := range quota.Spec.Hard {
			extra, counted := more[name]
			if !counted || extra.Sign() <= 0 {
				continue
			}
			total := used[name].DeepCopy()
			total.Add(extra)
			if total.Cmp(limit) > 0 {
				hard[name], requested[name], before[name] = limit, extra, used[name]
			}
		}
		if len(hard) > 0 {
			return apierrors.NewForbidden(k.groupResource(), pvc.Name, fmt.Errorf(
				"exceeded quota: %s, requested: %s, used: %s, limited: %s", quota.Name, amounts(requested), amounts(before), amounts(hard)))
		}
	}
	return nil
}

// usage is what a claim counts for in a quota.
func usage(pvc *corev1.PersistentVolumeClaim) corev1.ResourceList {
	const ofClass = ".storageclass.storage.k8s.io/"
	one, size := *resource.NewQuantity(1, resource.DecimalSI), pvc.Spec.Resources.Requests[corev1.ResourceStorage]
	list := corev1.ResourceList{
		corev1.ResourcePersistentVolumeClaims: one, "count/persistentvolumeclaims": one, corev1.ResourceRequestsStorage: size,
	}
	if class := volume.GetPersistentVolumeClaimClass(pvc); class != "" {
		list[corev1.ResourceName(class+ofClass+string(corev1.ResourcePersistentVolumeClaims))] = one
		list[corev1.ResourceName(class+ofClass+string(corev1.ResourceRequestsStorage))] = size
	}
	return list
}

func add(sum, list corev1.ResourceList, sign int64) {
	for name, amount := range list {
		total := sum[name].DeepCopy()
		amount = amount.DeepCopy()
		amount.Mul(sign)
		total.Add(amount)
		sum[name] = total
	}
}

func amounts(list corev1.ResourceList) string {
	parts := make([]string, 0, len(list))
	for _, name := range slices.Sorted(maps.Keys(list)) {
		amount := list[name]
		parts = append(parts, string(name)+"="+amount.String())
	}
	return strings.Join(parts, ",")
}

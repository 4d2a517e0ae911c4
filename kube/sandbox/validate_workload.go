package sandbox

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of this file are from pkg/apis/apps/validation, pkg/apis/batch/validation
// and pkg/apis/core/validation in Kubernetes.

func validateWorkload(o Object, spec *field.Path) field.ErrorList {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return validateStatefulSet(&o.Spec, spec)
	case *appsv1.Deployment:
		errs := validateReplicas(o.Spec.Replicas, spec)
		return append(errs, validateTemplate("deployment", o.Spec.Selector, &o.Spec.Template, spec)...)
	case *appsv1.ReplicaSet:
		errs := validateReplicas(o.Spec.Replicas, spec)
		return append(errs, validateTemplate("replicaset", o.Spec.Selector, &o.Spec.Template, spec)...)
	case *appsv1.DaemonSet:
		return validateTemplate("daemonset", o.Spec.Selector, &o.Spec.Template, spec)
	case *batchv1.Job:
		return validateJob(&o.Spec, spec)
	case *batchv1.CronJob:
		var errs field.ErrorList
		if o.Spec.Schedule == "" {
			errs = append(errs, field.Required(spec.Child("schedule"), ""))
		}
		return append(errs, validateJob(&o.Spec.JobTemplate.Spec, spec.Child("jobTemplate", "spec"))...)
	}
	return nil
}

func validateReplicas(n *int32, spec *field.Path) field.ErrorList {
	if n == nil {
		return nil
	}
	return apivalidation.ValidateNonnegativeField(int64(*n), spec.Child("replicas"))
}

// validateStatefulSet is ValidateStatefulSetSpec.
func validateStatefulSet(s *appsv1.StatefulSetSpec, spec *field.Path) field.ErrorList {
	errs := validateReplicas(s.Replicas, spec)
	if p := s.PodManagementPolicy; p != appsv1.OrderedReadyPodManagement && p != appsv1.ParallelPodManagement {
		errs = append(errs, field.Invalid(spec.Child("podManagementPolicy"), p,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	if p := s.PersistentVolumeClaimRetentionPolicy; p != nil {
		known := []string{string(appsv1.RetainPersistentVolumeClaimRetentionPolicyType), string(appsv1.DeletePersistentVolumeClaimRetentionPolicyType)}
		path := spec.Child("persistentVolumeClaimRetentionPolicy")
		for name, value := range map[string]appsv1.PersistentVolumeClaimRetentionPolicyType{"whenDeleted": p.WhenDeleted, "whenScaled": p.WhenScaled} {
			if string(value) != known[0] && string(value) != known[1] {
				errs = append(errs, field.NotSupported(path.Child(name), value, known))
			}
		}
	}
	for i := range s.VolumeClaimTemplates {
		errs = append(errs, validateClaimSpec(&s.VolumeClaimTemplates[i].Spec, spec.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
	}
	if s.ServiceName != "" {
		for _, text := range apivalidation.NameIsDNSLabel(s.ServiceName, false) {
			errs = append(errs, field.Invalid(spec.Child("serviceName"), s.ServiceName, text))
		}
	}
	// The claims of the templates take the place of volumes of their names.
	template := s.Template.DeepCopy()
	for _, claim := range s.VolumeClaimTemplates {
		template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: claim.Name})
	}
	return append(errs, validateTemplate("statefulset", s.Selector, template, spec)...)
}

func validateTemplate(of string, s *metav1.LabelSelector, template *corev1.PodTemplateSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	path := spec.Child("selector")
	switch {
	case s == nil:
		errs = append(errs, field.Required(path, ""))
	case len(s.MatchLabels)+len(s.MatchExpressions) == 0:
		errs = append(errs, field.Invalid(path, s, "empty selector is invalid for "+of))
	default:
		errs = append(errs, unversioned.ValidateLabelSelector(s, unversioned.LabelSelectorValidationOptions{}, path)...)
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return append(errs, field.Invalid(path, s, "invalid label selector"))
	}
	if !selector.Empty() && !selector.Matches(labels.Set(template.Labels)) {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), template.Labels, "`selector` does not match template `labels`"))
	}
	errs = append(errs, validatePodSpec(&template.Spec, spec.Child("template", "spec"))...)
	if p := template.Spec.RestartPolicy; p != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(spec.Child("template", "spec", "restartPolicy"), p, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	return errs
}

func validateJob(s *batchv1.JobSpec, spec *field.Path) field.ErrorList {
	template := spec.Child("template", "spec")
	errs := validatePodSpec(&s.Template.Spec, template)
	switch p := s.Template.Spec.RestartPolicy; p {
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	case corev1.RestartPolicyAlways:
		errs = append(errs, field.Required(template.Child("restartPolicy"),
			fmt.Sprintf("valid values: %q, %q", corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)))
	default:
		errs = append(errs, field.NotSupported(template.Child("restartPolicy"), p,
			[]corev1.RestartPolicy{corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}))
	}
	return errs
}

// validatePodSpec is what of ValidatePodSpec a manifest by hand gets wrong.
func validatePodSpec(s *corev1.PodSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	volumes := map[string]bool{}
	for i, v := range s.Volumes {
		at := path.Child("volumes").Index(i)
		if v.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if c := v.PersistentVolumeClaim; c != nil && c.ClaimName == "" {
			errs = append(errs, field.Required(at.Child("persistentVolumeClaim", "claimName"), ""))
		}
		volumes[v.Name] = true
	}
	containers := path.Child("containers")
	if len(s.Containers) == 0 {
		errs = append(errs, field.Required(containers, ""))
	}
	for i, c := range s.Containers {
		at := containers.Index(i)
		if c.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		for j, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				errs = append(errs, field.NotFound(at.Child("volumeMounts").Index(j).Child("name"), m.Name))
			}
		}
	}
	return errs
}

// validatePodUpdate is ValidatePodUpdate: of a pod's spec, only little may
// change.
func validatePodUpdate(is, was *corev1.Pod) field.ErrorList {
	spec := field.NewPath("spec")
	if len(is.Spec.Containers) != len(was.Spec.Containers) {
		return field.ErrorList{field.Forbidden(spec.Child("containers"), "pod updates may not add or remove containers")}
	}
	if len(is.Spec.InitContainers) != len(was.Spec.InitContainers) {
		return field.ErrorList{field.Forbidden(spec.Child("initContainers"), "pod updates may not add or remove containers")}
	}
	wanted := is.Spec.DeepCopy()
	for i := range wanted.Containers {
		wanted.Containers[i].Image = was.Spec.Containers[i].Image
	}
	for i := range wanted.InitContainers {
		wanted.InitContainers[i].Image = was.Spec.InitContainers[i].Image
	}
	wanted.ActiveDeadlineSeconds = was.Spec.ActiveDeadlineSeconds
	wanted.SchedulingGates, wanted.Tolerations = was.Spec.SchedulingGates, was.Spec.Tolerations
	if equality.Semantic.DeepEqual(*wanted, was.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(spec, "pod updates may not change fields other than "+
		"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"+
		"`spec.tolerations` (only additions to existing tolerations),"+
		"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n"+diff.Diff(was.Spec, *wanted))}
}

package sandbox

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Of what Kubernetes validates, only what the product's requests and plans may
// run into is checked here; apimachinery's own code does it where there is
// some. The rest would be accepted, too.

// validateCreate is ValidateCreate in registry/rest/create.go of k8s.io/apiserver
// with the Validate of the kind's strategy.
func validateCreate(o Object, k kind) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessor(o, k.namespaced, nameRule(o), field.NewPath("metadata"))
	return append(errs, validateContent(o)...)
}

// nameRule is how an object may be called: mostly a DNS subdomain, but what
// pods or namespaces are called by must be a label.
func nameRule(o Object) apivalidation.ValidateNameFunc {
	switch o.(type) {
	case *corev1.Namespace, *appsv1.StatefulSet:
		return apivalidation.NameIsDNSLabel
	case *corev1.Event:
		return pathSegment
	}
	return apivalidation.NameIsDNSSubdomain
}

func pathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// validateContent is what holds for an object whenever it is written.
func validateContent(o Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch o := o.(type) {
	case *corev1.PersistentVolume:
		return validateVolumeSpec(&o.Spec, spec)
	case *corev1.PersistentVolumeClaim:
		return validateClaimSpec(&o.Spec, spec)
	case *storagev1.StorageClass:
		return validateClass(o)
	case *corev1.Pod:
		return validatePodSpec(&o.Spec, spec)
	case *corev1.Event:
		return validateEvent(o)
	default:
		return validateWorkload(o, spec)
	}
}

// validateUpdate is ValidateUpdate in registry/rest/update.go with the
// ValidateUpdate of the kind's strategy. Its status is taken as it comes.
func validateUpdate(before, wanted Object, c call) field.ErrorList {
	meta := field.NewPath("metadata")
	errs := apivalidation.ValidateObjectMetaAccessor(wanted, c.kind.namespaced, pathSegment, meta)
	errs = append(errs, apivalidation.ValidateObjectMetaAccessorUpdate(wanted, before, meta)...)
	if c.sub != "" {
		return errs
	}
	errs = append(errs, validateContent(wanted)...)
	return append(errs, validateTransition(before, wanted)...)
}

// validateTransition is what may not change.
func validateTransition(before, wanted Object) field.ErrorList {
	spec := field.NewPath("spec")
	switch was := before.(type) {
	case *corev1.PersistentVolume:
		return compared(wanted, func(is *corev1.PersistentVolume) field.ErrorList { return validateVolumeUpdate(is, was) })
	case *corev1.PersistentVolumeClaim:
		return compared(wanted, func(is *corev1.PersistentVolumeClaim) field.ErrorList { return validateClaimUpdate(is, was) })
	case *storagev1.StorageClass:
		return compared(wanted, func(is *storagev1.StorageClass) field.ErrorList {
			return immutable(nil,
				part{"parameters", is.Parameters, was.Parameters}, part{"provisioner", is.Provisioner, was.Provisioner},
				part{"reclaimPolicy", is.ReclaimPolicy, was.ReclaimPolicy}, part{"volumeBindingMode", is.VolumeBindingMode, was.VolumeBindingMode})
		})
	case *storagev1.VolumeAttachment:
		return compared(wanted, func(is *storagev1.VolumeAttachment) field.ErrorList {
			if equality.Semantic.DeepEqual(is.Spec, was.Spec) {
				return nil
			}
			return field.ErrorList{field.Invalid(spec, is.Spec, "field is immutable")}
		})
	case *corev1.Pod:
		return compared(wanted, func(is *corev1.Pod) field.ErrorList { return validatePodUpdate(is, was) })
	case *appsv1.StatefulSet:
		return compared(wanted, func(is *appsv1.StatefulSet) field.ErrorList {
			return immutable(spec,
				part{"selector", is.Spec.Selector, was.Spec.Selector},
				part{"volumeClaimTemplates", is.Spec.VolumeClaimTemplates, was.Spec.VolumeClaimTemplates},
				part{"serviceName", is.Spec.ServiceName, was.Spec.ServiceName},
				part{"podManagementPolicy", is.Spec.PodManagementPolicy, was.Spec.PodManagementPolicy})
		})
	case *appsv1.Deployment:
		return compared(wanted, func(is *appsv1.Deployment) field.ErrorList {
			return immutable(spec, part{"selector", is.Spec.Selector, was.Spec.Selector})
		})
	case *appsv1.ReplicaSet:
		return compared(wanted, func(is *appsv1.ReplicaSet) field.ErrorList {
			return immutable(spec, part{"selector", is.Spec.Selector, was.Spec.Selector})
		})
	case *appsv1.DaemonSet:
		return compared(wanted, func(is *appsv1.DaemonSet) field.ErrorList {
			return immutable(spec, part{"selector", is.Spec.Selector, was.Spec.Selector})
		})
	case *batchv1.Job:
		return compared(wanted, func(is *batchv1.Job) field.ErrorList {
			return immutable(spec, part{"selector", is.Spec.Selector, was.Spec.Selector}, part{"template", is.Spec.Template, was.Spec.Template},
				part{"completionMode", is.Spec.CompletionMode, was.Spec.CompletionMode})
		})
	}
	return nil
}

func compared[T Object](wanted Object, rule func(T) field.ErrorList) field.ErrorList {
	if is, ok := wanted.(T); ok {
		return rule(is)
	}
	return nil
}

// part is a field and what it is and was.
type part struct {
	name    string
	is, was any
}

func immutable(under *field.Path, parts ...part) field.ErrorList {
	errs := make(field.ErrorList, 0, len(parts))
	for _, p := range parts {
		// Child of a nil path is a path that begins there.
		errs = append(errs, apivalidation.ValidateImmutableField(p.is, p.was, under.Child(p.name))...)
	}
	return errs
}

// validateEvent is the part of ValidateEvent (pkg/apis/core/validation/events.go)
// that is easy to get wrong: events about cluster-wide objects are in default.
func validateEvent(e *corev1.Event) field.ErrorList {
	about := e.InvolvedObject.Namespace
	if (about == "" && (e.Namespace == corev1.NamespaceDefault || e.Namespace == "kube-system")) || about == e.Namespace {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")}
}

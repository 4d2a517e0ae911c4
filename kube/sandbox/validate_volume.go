package sandbox

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	unversioned "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules of this file are those of pkg/apis/core/validation/validation.go in
// Kubernetes, in its words.

func accessModes() []corev1.PersistentVolumeAccessMode {
	return []corev1.PersistentVolumeAccessMode{
		corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod,
	}
}

// validateAccessModes are the rules that volumes and claims have in common.
func validateAccessModes(modes []corev1.PersistentVolumeAccessMode, path *field.Path, missing string) field.ErrorList {
	var errs field.ErrorList
	if len(modes) == 0 {
		errs = append(errs, field.Required(path, missing))
	}
	single, others := false, false
	for _, mode := range modes {
		switch {
		case !slices.Contains(accessModes(), mode):
			errs = append(errs, field.NotSupported(path, mode, accessModes()))
		case mode == corev1.ReadWriteOncePod:
			single = true
		default:
			others = true
		}
	}
	if single && others {
		errs = append(errs, field.Forbidden(path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

func validatePositive(q resource.Quantity, path *field.Path) field.ErrorList {
	if q.Sign() <= 0 {
		return field.ErrorList{field.Invalid(path, q.String(), "must be greater than zero")}
	}
	return nil
}

func validateClassName(name string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name != "" {
		for _, text := range apivalidation.NameIsDNSSubdomain(name, false) {
			errs = append(errs, field.Invalid(path, name, text))
		}
	}
	return errs
}

func validateVolumeMode(mode *corev1.PersistentVolumeMode, path *field.Path) field.ErrorList {
	known := []corev1.PersistentVolumeMode{corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem}
	if mode == nil || slices.Contains(known, *mode) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *mode, known)}
}

// validateVolumeSpec is ValidatePersistentVolumeSpec. Of the sources it looks
// into, there are those that a laptop or a CSI driver has.
func validateVolumeSpec(s *corev1.PersistentVolumeSpec, path *field.Path) field.ErrorList {
	errs := validateAccessModes(s.AccessModes, path.Child("accessModes"), "")
	capacity := path.Child("capacity")
	if len(s.Capacity) == 0 {
		errs = append(errs, field.Required(capacity, ""))
	}
	if _, ok := s.Capacity[corev1.ResourceStorage]; !ok || len(s.Capacity) > 1 {
		errs = append(errs, field.NotSupported(capacity, s.Capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Capacity)) {
		errs = append(errs, validatePositive(s.Capacity[name], capacity.Key(string(name)))...)
	}
	policies := []corev1.PersistentVolumeReclaimPolicy{
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain,
	}
	if p := s.PersistentVolumeReclaimPolicy; p != "" && !slices.Contains(policies, p) {
		errs = append(errs, field.NotSupported(path.Child("persistentVolumeReclaimPolicy"), p, policies))
	}
	errs = append(errs, validateSource(s, path)...)
	errs = append(errs, validateClassName(s.StorageClassName, path.Child("storageClassName"))...)
	errs = append(errs, validateVolumeMode(s.VolumeMode, path.Child("volumeMode"))...)
	if name := s.VolumeAttributesClassName; name != nil {
		attributes := path.Child("volumeAttributesClassName")
		if *name == "" {
			errs = append(errs, field.Required(attributes, "an empty string is disallowed"))
		}
		errs = append(errs, validateClassName(*name, attributes)...)
		if s.CSI == nil {
			errs = append(errs, field.Required(path.Child("csi"), "has to be specified when using volumeAttributesClassName"))
		}
	}
	return errs
}

func validateSource(s *corev1.PersistentVolumeSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	sources := reflect.ValueOf(s.PersistentVolumeSource)
	found := 0
	for i := range sources.NumField() {
		if sources.Field(i).IsNil() {
			continue
		}
		if found++; found > 1 {
			name := sources.Type().Field(i).Tag.Get("json")
			name = name[:len(name)-len(",omitempty")]
			errs = append(errs, field.Forbidden(path.Child(name), "may not specify more than 1 volume type"))
		}
	}
	if found == 0 {
		errs = append(errs, field.Required(path, "must specify a volume type"))
	}
	if s.HostPath != nil {
		errs = append(errs, validateHostPath(s, path)...)
	}
	if s.Local != nil {
		if s.Local.Path == "" {
			errs = append(errs, field.Required(path.Child("local", "path"), ""))
		}
		if s.NodeAffinity == nil || s.NodeAffinity.Required == nil {
			errs = append(errs, field.Required(path.Child("nodeAffinity"), "Local volume requires node affinity"))
		}
	}
	if s.CSI != nil {
		if s.CSI.Driver == "" {
			errs = append(errs, field.Required(path.Child("csi", "driver"), ""))
		}
		if s.CSI.VolumeHandle == "" {
			errs = append(errs, field.Required(path.Child("csi", "volumeHandle"), ""))
		}
	}
	return errs
}

// validateHostPath is validateHostPathVolumeSource and what
// ValidatePersistentVolumeSpec adds to it.
func validateHostPath(s *corev1.PersistentVolumeSpec, path *field.Path) field.ErrorList {
	where := path.Child("hostPath", "path")
	switch host := s.HostPath.Path; {
	case host == "":
		return field.ErrorList{field.Required(where, "")}
	case slices.Contains(strings.Split(filepath.ToSlash(host), "/"), ".."):
		return field.ErrorList{field.Invalid(where, host, "must not contain '..'")}
	case filepath.Clean(host) == "/" && s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle:
		return field.ErrorList{field.Forbidden(path.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'")}
	}
	return nil
}

// validateVolumeUpdate is the rest of ValidatePersistentVolumeUpdate. Some of
// its paths begin at the spec, as the originals do.
func validateVolumeUpdate(is, was *corev1.PersistentVolume) field.ErrorList {
	var errs field.ErrorList
	source := is.Spec.PersistentVolumeSource
	if old := was.Spec.CSI; old != nil && old.ControllerExpandSecretRef == nil && source.CSI != nil {
		// This one may be added later.
		source.CSI = source.CSI.DeepCopy()
		source.CSI.ControllerExpandSecretRef = nil
	}
	if !equality.Semantic.DeepEqual(source, was.Spec.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+diff.Diff(was.Spec.PersistentVolumeSource, source)))
	}
	errs = append(errs, immutable(nil, part{"volumeMode", is.Spec.VolumeMode, was.Spec.VolumeMode})...)
	if was.Spec.NodeAffinity != nil && !equality.Semantic.DeepEqual(is.Spec.NodeAffinity, was.Spec.NodeAffinity) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), is.Spec.NodeAffinity,
			"field is immutable, except for updating from beta label to GA"))
	}
	if was.Spec.VolumeAttributesClassName != nil && is.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

// validateClaimSpec is ValidatePersistentVolumeClaimSpec.
func validateClaimSpec(s *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	errs := validateAccessModes(s.AccessModes, path.Child("accessModes"), "at least 1 access mode is required")
	if s.Selector != nil {
		errs = append(errs, unversioned.ValidateLabelSelector(s.Selector, unversioned.LabelSelectorValidationOptions{}, path.Child("selector"))...)
	}
	storage := path.Child("resources").Key(string(corev1.ResourceStorage))
	if request, ok := s.Resources.Requests[corev1.ResourceStorage]; ok {
		errs = append(errs, validatePositive(request, storage)...)
	} else {
		errs = append(errs, field.Required(storage, ""))
	}
	if s.StorageClassName != nil {
		errs = append(errs, validateClassName(*s.StorageClassName, path.Child("storageClassName"))...)
	}
	errs = append(errs, validateVolumeMode(s.VolumeMode, path.Child("volumeMode"))...)
	if s.VolumeAttributesClassName != nil {
		errs = append(errs, validateClassName(*s.VolumeAttributesClassName, path.Child("volumeAttributesClassName"))...)
	}
	return errs
}

// validateClaimUpdate is the rest of ValidatePersistentVolumeClaimUpdate.
func validateClaimUpdate(is, was *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	wanted, old := is.Spec.DeepCopy(), was.Spec.DeepCopy()
	if old.VolumeName == "" {
		old.VolumeName = wanted.VolumeName
	}
	beta, annotated := was.Annotations[corev1.BetaStorageClassAnnotation]
	newBeta, stillAnnotated := is.Annotations[corev1.BetaStorageClassAnnotation]
	named := old.StorageClassName == nil && wanted.StorageClassName != nil
	upgrade := named && annotated && *wanted.StorageClassName == beta && (!stillAnnotated || newBeta == beta)
	if upgrade || (named && (!annotated || *wanted.StorageClassName == beta)) {
		wanted.StorageClassName = nil
	}
	if !upgrade && newBeta != beta {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "annotations", corev1.BetaStorageClassAnnotation), newBeta, "field is immutable"))
	}
	newSize, oldSize := wanted.Resources.Requests[corev1.ResourceStorage], old.Resources.Requests[corev1.ResourceStorage]
	if is.Status.Phase == corev1.ClaimBound {
		if wanted.Resources.Requests != nil {
			wanted.Resources.Requests[corev1.ResourceStorage] = oldSize
		}
		wanted.VolumeAttributesClassName = old.VolumeAttributesClassName
	}
	if !equality.Semantic.DeepEqual(wanted, old) {
		errs = append(errs, field.Forbidden(spec, fmt.Sprintf(
			"spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%v", diff.Diff(old, wanted))))
	}
	if capacity := was.Status.Capacity[corev1.ResourceStorage]; newSize.Cmp(oldSize) < 0 && newSize.Cmp(capacity) <= 0 {
		errs = append(errs, field.Forbidden(spec.Child("resources", "requests", "storage"), "field can not be less than status.capacity"))
	}
	errs = append(errs, immutable(nil, part{"volumeMode", is.Spec.VolumeMode, was.Spec.VolumeMode})...)
	if was.Status.CurrentVolumeAttributesClassName != nil {
		text := ""
		switch name := is.Spec.VolumeAttributesClassName; {
		case name == nil:
			text = "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"
		case *name == "":
			text = "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"
		}
		if text != "" {
			errs = append(errs, field.Forbidden(spec.Child("volumeAttributesClassName"), text))
		}
	}
	return errs
}

// validateClass is ValidateStorageClass in pkg/apis/storage/validation.
func validateClass(c *storagev1.StorageClass) field.ErrorList {
	if c.Provisioner == "" {
		return field.ErrorList{field.Required(field.NewPath("provisioner"), "")}
	}
	return nil
}

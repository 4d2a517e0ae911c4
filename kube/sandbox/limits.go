package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// checkLimits is the LimitRanger plugin as far as it is about claims
// (plugin/pkg/admission/limitranger). It looks at every update, too: a claim
// that a later LimitRange would not allow can no longer be changed, until it is
// being deleted.
func checkLimits(s *State, k kind, before, wanted Object) error {
	pvc, ok := wanted.(*corev1.PersistentVolumeClaim)
	if !ok || before != nil && before.GetDeletionTimestamp() != nil {
		return nil
	}
	for limits := range s.LimitRanges(pvc.Namespace) {
		var errs []error
		for _, limit := range limits.Spec.Limits {
			if limit.Type != corev1.LimitTypePersistentVolumeClaim {
				continue
			}
			errs = append(errs, outside("minimum", limit.Min, pvc.Spec.Resources.Requests, -1)...)
			errs = append(errs, outside("maximum", limit.Max, pvc.Spec.Resources.Requests, 1)...)
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return apierrors.NewForbidden(k.groupResource(), pvc.Name, err)
		}
	}
	return nil
}

// outside is what is not requested, or is on the wrong side of its bound.
func outside(bound string, bounds, requests corev1.ResourceList, wrong int) []error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		limit := bounds[name]
		text := fmt.Sprintf("%s %s usage per %s is %s", bound, name, corev1.LimitTypePersistentVolumeClaim, limit.String())
		request, asked := requests[name]
		switch {
		case !asked:
			errs = append(errs, errors.New(text+".  No request is specified"))
		case compare(request, limit) == wrong:
			errs = append(errs, fmt.Errorf("%s, but request is %s", text, request.String()))
		}
	}
	return errs
}

// compare is requestLimitEnforcedValues: what is beyond the thousandth is
// rounded up, or for large numbers what is beyond the whole.
func compare(a, b resource.Quantity) int {
	if a.Value() <= resource.MaxMilliValue && b.Value() <= resource.MaxMilliValue {
		return cmp.Compare(a.MilliValue(), b.MilliValue())
	}
	return cmp.Compare(a.Value(), b.Value())
}

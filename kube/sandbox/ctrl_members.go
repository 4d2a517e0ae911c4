package sandbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// claimMember is ClaimObject of pkg/controller/controller_ref_manager.go: what
// a selector matches and nobody owns is adopted, what it does not match any
// more is let go. It says whether the object is the owner's, and whether one of
// these two is to be done first.
func claimMember[T Object](a *agenda, owner Object, kind schema.GroupVersionKind, by *metav1.LabelSelector, o T) (mine, busy bool) {
	selector, err := metav1.LabelSelectorAsSelector(by)
	if err != nil {
		return false, false
	}
	matches := selector.Matches(labels.Set(o.GetLabels()))
	ref := metav1.GetControllerOf(o)
	switch {
	case ref != nil && ref.UID != owner.GetUID():
		return false, false
	case ref != nil && matches:
		return true, false
	case owner.GetDeletionTimestamp() != nil:
		return false, false
	case ref != nil:
		change(a, "release", o, func(o T) { disown(o, owner.GetUID()) })
		return false, true
	case !matches || o.GetDeletionTimestamp() != nil:
		return false, false
	}
	change(a, "adopt", o, func(o T) {
		o.SetOwnerReferences(append(o.GetOwnerReferences(), *metav1.NewControllerRef(owner, kind)))
	})
	return false, true
}

// disown takes the references to some owners off an object.
func disown(o Object, owners ...types.UID) {
	o.SetOwnerReferences(slices.DeleteFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return slices.Contains(owners, r.UID)
	}))
}

// members are a controller's pods; see claimMember.
func members(a *agenda, owner Object, kind schema.GroupVersionKind, by *metav1.LabelSelector) (pods []*corev1.Pod, busy bool) {
	for pod := range a.s.Pods(owner.GetNamespace()) {
		mine, wait := claimMember(a, owner, kind, by, pod)
		busy = busy || wait
		if mine {
			pods = append(pods, pod)
		}
	}
	return pods, busy
}

// active says whether a pod counts as one of those wanted (IsPodActive in
// pkg/controller/controller_utils.go).
func active(pod *corev1.Pod) bool { return !ended(pod) && pod.DeletionTimestamp == nil }

// freeName is a name for the next pod of an owner. In Kubernetes it is random;
// here it is the first of a fixed sequence that is free, so that equal
// histories give equal States.
func freeName(s *State, owner Object) string {
	const suffix = 5
	for i := 0; ; i++ {
		name := owner.GetName() + "-" + digest(owner.GetName(), string(rune('a'+i)))[:suffix]
		if s.Pod(owner.GetNamespace(), name) == nil {
			return name
		}
	}
}

package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Delete is what a client's delete does: an object that has finalizers, or a
// grace period, stays with a deletionTimestamp; any other goes. It looks at the
// grace period and the propagation policy of the options; their preconditions
// are for the server to check, before.
//
// It follows Store.Delete in registry/generic/registry/store.go and BeforeDelete
// in registry/rest/delete.go of k8s.io/apiserver.
func (s *State) Delete(k Key, o metav1.DeleteOptions) *State {
	shelf := s.shelves[k.Resource]
	i, ok := shelf.find(k.Namespace, k.Name)
	if !ok {
		return s
	}
	before := shelf[i].object
	stored, ok := before.DeepCopyObject().(Object)
	if !ok {
		return s
	}
	graceful, pending := grace(stored, &o, s.now)
	if pending {
		// Even its finalizers can't be changed by deleting it again.
		return s
	}
	stored.SetFinalizers(deletionFinalizers(stored, o))
	switch {
	case !graceful && !held(stored):
		return s.Remove(k)
	case !graceful:
		s.markDeleting(stored)
	}
	next := s
	if !equality.Semantic.DeepEqual(before, stored) {
		next = s.change(Change{Key: k, Before: before, After: stored}, shelf.replaced(i, stored))
	}
	if graceful && !held(stored) && *o.GracePeriodSeconds == 0 {
		// A pod that need not be waited for is marked all the same, and then
		// goes (updateForGracefulDeletionAndFinalizers).
		return next.Remove(k)
	}
	return next
}

// grace is BeforeDelete: it says whether the object, which it may change, is
// deleted gracefully, and whether it already is and nothing is left to do. Only
// pods know grace (CheckGracefulDelete in registry/core/pod/strategy.go).
func grace(o Object, options *metav1.DeleteOptions, now time.Time) (graceful, pending bool) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return false, false
	}
	if g := options.GracePeriodSeconds; g != nil && *g < 0 {
		options.GracePeriodSeconds = new(int64(1))
	}
	if pod.DeletionTimestamp != nil {
		return shortenGrace(pod, options, now)
	}
	var period int64
	switch {
	case pod.Spec.NodeName == "", pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded:
	case options.GracePeriodSeconds != nil:
		period = *options.GracePeriodSeconds
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		period = *pod.Spec.TerminationGracePeriodSeconds
	}
	options.GracePeriodSeconds = &period
	pod.DeletionTimestamp = new(metav1.NewTime(now.Add(time.Duration(period) * time.Second)))
	pod.DeletionGracePeriodSeconds = new(period)
	if pod.Generation > 0 {
		pod.Generation++
	}
	return true, false
}

// shortenGrace is the second deletion of a pod: it may only hurry the first.
func shortenGrace(pod *corev1.Pod, options *metav1.DeleteOptions, now time.Time) (graceful, pending bool) {
	before := pod.DeletionGracePeriodSeconds
	if before == nil || *before == 0 {
		return false, false
	}
	if options.GracePeriodSeconds == nil || *options.GracePeriodSeconds >= *before {
		return false, true
	}
	period := *options.GracePeriodSeconds
	end := pod.DeletionTimestamp.Add(time.Duration(period-*before) * time.Second)
	if end.Before(now) {
		end = now
		if period != 0 {
			period = 1
		}
	}
	options.GracePeriodSeconds = &period
	pod.DeletionTimestamp = new(metav1.NewTime(end))
	pod.DeletionGracePeriodSeconds = &period
	return true, false
}

// markDeleting is markAsDeleting in registry/generic/registry/store.go.
func (s *State) markDeleting(o Object) {
	if o.GetDeletionTimestamp() == nil && o.GetGeneration() > 0 {
		o.SetGeneration(o.GetGeneration() + 1)
	}
	if t := o.GetDeletionTimestamp(); t == nil || t.After(s.now) {
		o.SetDeletionTimestamp(new(metav1.NewTime(s.now)))
	}
	if ns, ok := o.(*corev1.Namespace); ok {
		// registry/core/namespace/storage/storage.go, which knows no grace.
		ns.Status.Phase = corev1.NamespaceTerminating
		return
	}
	o.SetDeletionGracePeriodSeconds(new(int64(0)))
}

// deletionFinalizers are an object's finalizers once it is deleted with the
// options: the two that the garbage collector serves are put on or taken off
// (deletionFinalizersForGarbageCollection in registry/generic/registry/store.go).
func deletionFinalizers(o Object, options metav1.DeleteOptions) []string {
	if _, event := o.(*corev1.Event); event {
		return o.GetFinalizers()
	}
	policy := propagation(o, options)
	kept := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch policy {
	case metav1.DeletePropagationOrphan:
		kept = append(kept, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		kept = append(kept, metav1.FinalizerDeleteDependents)
	default:
		// The garbage collector finds what is left behind by itself.
	}
	// The same set in another order is no change.
	if len(kept) == len(o.GetFinalizers()) && !slices.ContainsFunc(kept, func(f string) bool {
		return !slices.Contains(o.GetFinalizers(), f)
	}) {
		return o.GetFinalizers()
	}
	return kept
}

func propagation(o Object, options metav1.DeleteOptions) metav1.DeletionPropagation {
	//nolint:staticcheck // clients may still send the deprecated field, and the server still obeys it
	if orphan := options.OrphanDependents; orphan != nil {
		if *orphan {
			return metav1.DeletePropagationOrphan
		}
		return metav1.DeletePropagationBackground
	}
	if options.PropagationPolicy != nil {
		return *options.PropagationPolicy
	}
	for _, f := range o.GetFinalizers() {
		switch f {
		case metav1.FinalizerOrphanDependents:
			return metav1.DeletePropagationOrphan
		case metav1.FinalizerDeleteDependents:
			return metav1.DeletePropagationForeground
		}
	}
	if _, job := o.(*batchv1.Job); job {
		// For compatibility with old clients: registry/batch/job/strategy.go.
		return metav1.DeletePropagationOrphan
	}
	return metav1.DeletePropagationBackground
}

// goesNow says whether an object as it would be stored has been waiting for its
// finalizers only, and the last one is off.
func goesNow(o Object) bool {
	g := o.GetDeletionGracePeriodSeconds()
	return !held(o) && o.GetDeletionTimestamp() != nil && (g == nil || *g == 0)
}

// held says whether finalizers keep an object. A namespace has some in its spec,
// too, for its content.
func held(o Object) bool {
	ns, ok := o.(*corev1.Namespace)
	return len(o.GetFinalizers()) > 0 || (ok && len(ns.Spec.Finalizers) > 0)
}

// NextUID is the uid of the next creation. It looks like any other, is the same
// in every run, and can be told from uids that come from elsewhere.
func (s *State) NextUID() types.UID {
	n := uint64(s.uids + 1)
	// The finaliser of splitmix64, so that neighbours do not look alike.
	z := n * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return types.UID(fmt.Sprintf("%08x-%04x-"+uidMark+"-%012x", z>>32, z&0xffff, n))
}

// issueOf is the number of a uid that NextUID made, and 0 for any other.
func issueOf(uid types.UID) int64 {
	const at = len("00000000-0000-" + uidMark + "-")
	if len(uid) <= at || string(uid[14:at-1]) != uidMark {
		return 0
	}
	n, err := strconv.ParseInt(string(uid[at:]), 16, 64)
	if err != nil {
		return 0
	}
	return n
}

// firstGeneration is the generation a kind of object is created with, as its
// strategy's PrepareForCreate in Kubernetes' pkg/registry says; most have none.
func firstGeneration(o Object) int64 {
	if specOf(o) == nil {
		return 0
	}
	return 1
}

// nextGeneration counts the changes of what a controller should act on, as
// PrepareForUpdate of the strategies does.
func nextGeneration(before, after Object) int64 {
	was, is := specOf(before), specOf(after)
	if pod, ok := before.(*corev1.Pod); ok {
		if next, ok := after.(*corev1.Pod); ok && pod.Spec.NodeName == "" && next.Spec.NodeName != "" {
			// That a pod gets its node is a binding, which does not count.
			spec := *pod.Spec.DeepCopy()
			spec.NodeName = next.Spec.NodeName
			was = &spec
		}
	}
	if was == nil || equality.Semantic.DeepEqual(was, is) {
		return before.GetGeneration()
	}
	return before.GetGeneration() + 1
}

// specOf is the part of an object that its generation counts the changes of;
// nil for kinds that have no generation.
func specOf(o Object) any {
	switch o := o.(type) {
	case *corev1.Pod:
		return &o.Spec
	case *appsv1.StatefulSet:
		return &o.Spec
	case *appsv1.Deployment:
		return &o.Spec
	case *appsv1.ReplicaSet:
		return &o.Spec
	case *appsv1.DaemonSet:
		return &o.Spec
	case *batchv1.Job:
		return &o.Spec
	case *batchv1.CronJob:
		return &o.Spec
	case *autoscalingv2.HorizontalPodAutoscaler:
		return &o.Spec
	case *storagev1.CSIDriver:
		return &o.Spec
	}
	return nil
}

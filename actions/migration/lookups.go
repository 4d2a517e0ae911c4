package migration

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

func find[T metav1.Object](objects []T, ref actions.Ref) (found T) {
	for _, o := range objects {
		if o.GetNamespace() == ref.Namespace && o.GetName() == ref.Name {
			return o
		}
	}
	return found
}

func (m *machine) set(w Workload) *appsv1.StatefulSet { return find(m.s.StatefulSets, w.Ref) }

func (m *machine) deployment(w Workload) *appsv1.Deployment { return find(m.s.Deployments, w.Ref) }

func (m *machine) cronJob(w Workload) *batchv1.CronJob { return find(m.s.CronJobs, w.Ref) }

// live is the object as it is now: it may have been made anew, by this
// operation or by somebody else, and is written to by what it is now.
func (m *machine) live(w Workload, o metav1.Object) actions.Ref {
	ref := w.Ref
	ref.UID = ""
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		if o != nil {
			ref.UID = o.UID
		}
	case *appsv1.Deployment:
		if o != nil {
			ref.UID = o.UID
		}
	case *appsv1.ReplicaSet:
		if o != nil {
			ref.UID = o.UID
		}
	case *batchv1.CronJob:
		if o != nil {
			ref.UID = o.UID
		}
	}
	return ref
}

// scaled is a workload as it is now, without a uid when it is gone, and how
// many pods it is to have.
func (m *machine) scaled(w Workload) (actions.Ref, int32) {
	var replicas *int32
	var ref actions.Ref
	switch w.Ref.Kind {
	case StatefulSetKind:
		set := m.set(w)
		if ref = m.live(w, set); set != nil {
			replicas = set.Spec.Replicas
		}
	case DeploymentKind:
		d := m.deployment(w)
		if ref = m.live(w, d); d != nil {
			replicas = d.Spec.Replicas
		}
	default:
		rs := find(m.s.ReplicaSets, w.Ref)
		if ref = m.live(w, rs); rs != nil {
			replicas = rs.Spec.Replicas
		}
	}
	switch {
	case ref.UID == "":
		return ref, 0
	case replicas == nil:
		return ref, 1
	}
	return ref, *replicas
}

// unready says what of a workload is not ready yet.
func (m *machine) unready(w Workload) []string {
	ref, want := m.scaled(w)
	if ref.UID == "" {
		return []string{describe(w.Ref) + " is gone"}
	}
	var ready int32
	var current bool
	switch w.Ref.Kind {
	case StatefulSetKind:
		set := m.set(w)
		ready, current = set.Status.ReadyReplicas, set.Status.ObservedGeneration >= set.Generation
	case DeploymentKind:
		d := m.deployment(w)
		ready, current = d.Status.ReadyReplicas, d.Status.ObservedGeneration >= d.Generation
	default:
		rs := find(m.s.ReplicaSets, w.Ref)
		ready, current = rs.Status.ReadyReplicas, rs.Status.ObservedGeneration >= rs.Generation
	}
	if current && ready+w.Unready >= want {
		return nil
	}
	return []string{fmt.Sprintf("%s has %d of %d pods ready", describe(w.Ref), min(ready, want), want)}
}

// changer names who wrote last what a step had changed; empty when it can't be
// told.
func (m *machine) changer(s Step) string {
	var o metav1.Object
	switch s.Target.Kind {
	case actions.VolumeKind:
		if pv := m.s.Volumes[s.Target.Name]; pv != nil {
			o = pv
		}
	case StatefulSetKind:
		if set := find(m.s.StatefulSets, s.Target); set != nil {
			o = set
		}
	case DeploymentKind:
		if d := find(m.s.Deployments, s.Target); d != nil {
			o = d
		}
	case ReplicaSetKind:
		if rs := find(m.s.ReplicaSets, s.Target); rs != nil {
			o = rs
		}
	case CronJobKind:
		if c := find(m.s.CronJobs, s.Target); c != nil {
			o = c
		}
	default:
		// Claims and pods are made and deleted, not changed.
	}
	if o == nil {
		return ""
	}
	return managerOfAny(o, leaves(s.Patch))
}

func (w Wanted) sorted() Wanted {
	slices.Sort(w.Volumes)
	slices.Sort(w.Namespaces)
	slices.SortFunc(w.Claims, func(a, b actions.ClaimKey) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	w.Volumes, w.Namespaces, w.Claims = slices.Compact(w.Volumes), slices.Compact(w.Namespaces), slices.Compact(w.Claims)
	return w
}

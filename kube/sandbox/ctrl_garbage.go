package sandbox

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// garbageCollector is pkg/controller/garbagecollector. It sees all references
// at once; that a new one may come too late to be orphaned is not modelled.
type garbageCollector struct{}

func (garbageCollector) Name() string { return "garbage-collector" }

func (c garbageCollector) Enabled(s *State) []Transition {
	g := collection{agenda: agenda{name: c.Name(), s: s}, dependents: map[types.UID][]Object{}, namespaced: map[string]bool{}}
	var items []Object
	for _, k := range kinds() {
		g.namespaced[k.gvk.GroupVersion().String()+"/"+k.gvk.Kind] = k.namespaced
		if k.resource == Events {
			continue // It does not look at them either (ignored resources).
		}
		for o := range all[Object](s, k.resource, "") {
			for _, r := range o.GetOwnerReferences() {
				g.dependents[r.UID] = append(g.dependents[r.UID], o)
			}
			if len(o.GetOwnerReferences()) > 0 || o.GetDeletionTimestamp() != nil {
				items = append(items, o)
			}
		}
	}
	for _, o := range items {
		g.process(o)
	}
	return g.list
}

type collection struct {
	agenda
	dependents map[types.UID][]Object
	// namespaced has the kinds that are known, by version and kind.
	namespaced map[string]bool
}

func (g *collection) process(o Object) {
	finalizers := o.GetFinalizers()
	switch deleting := o.GetDeletionTimestamp() != nil; {
	case deleting && slices.Contains(finalizers, metav1.FinalizerOrphanDependents):
		g.orphan(o)
	case deleting && slices.Contains(finalizers, metav1.FinalizerDeleteDependents):
		g.awaitDependents(o)
	case !deleting:
		g.collect(o)
	}
}

// orphan takes the owner off all its dependents and then lets it go
// (orphanDependents).
func (g *collection) orphan(owner Object) {
	for _, o := range g.dependents[owner.GetUID()] {
		change(&g.agenda, "orphan", o, func(o Object) { disown(o, owner.GetUID()) })
	}
	if len(g.dependents[owner.GetUID()]) == 0 {
		change(&g.agenda, "let go of", owner, func(o Object) { dropFinalizer(o, metav1.FinalizerOrphanDependents) })
	}
}

// awaitDependents is processDeletingDependentsItem.
func (g *collection) awaitDependents(owner Object) {
	if !slices.ContainsFunc(g.dependents[owner.GetUID()], func(o Object) bool {
		return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return r.UID == owner.GetUID() && deref(r.BlockOwnerDeletion, false)
		})
	}) {
		change(&g.agenda, "let go of", owner, func(o Object) { dropFinalizer(o, metav1.FinalizerDeleteDependents) })
	}
}

// collect is attemptToDeleteItem.
func (g *collection) collect(o Object) {
	var gone, leaving []types.UID
	solid := 0
	for _, r := range o.GetOwnerReferences() {
		namespaced, known := g.namespaced[r.APIVersion+"/"+r.Kind]
		if !known || namespaced && o.GetNamespace() == "" {
			return // An error; the object stays.
		}
		owner := g.s.ByUID(r.UID)
		switch {
		case owner == nil, owner.GetName() != r.Name, namespaced && owner.GetNamespace() != o.GetNamespace():
			gone = append(gone, r.UID)
		case owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerDeleteDependents):
			leaving = append(leaving, r.UID)
		default:
			solid++
		}
	}
	policy := metav1.DeletePropagationBackground
	switch {
	case solid > 0 && len(gone)+len(leaving) > 0:
		change(&g.agenda, "drop dead owners of", o, func(o Object) { disown(o, append(gone, leaving...)...) })
		return
	case len(gone)+len(leaving) == 0:
		return
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents):
		policy = metav1.DeletePropagationOrphan
	case slices.Contains(o.GetFinalizers(), metav1.FinalizerDeleteDependents),
		len(leaving) > 0 && len(g.dependents[o.GetUID()]) > 0:
		policy = metav1.DeletePropagationForeground
	}
	g.add("delete", o, func(s *State) *State { return s.Delete(KeyOf(o), metav1.DeleteOptions{PropagationPolicy: &policy}) })
}

// namespaces is pkg/controller/namespace: it empties namespaces that are being
// deleted.
type namespaces struct{}

func (namespaces) Name() string { return "namespace" }

func (c namespaces) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for ns := range s.Namespaces() {
		if ns.DeletionTimestamp == nil {
			continue
		}
		empty := true
		for _, k := range kinds() {
			if !k.namespaced {
				continue
			}
			var left []Object
			for o := range all[Object](s, k.resource, ns.Name) {
				empty = false
				if o.GetDeletionTimestamp() == nil {
					left = append(left, o)
				}
			}
			if len(left) > 0 {
				a.add("delete the "+string(k.resource)+" of", ns, func(s *State) *State {
					for _, o := range left {
						s = s.Delete(KeyOf(o), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
					}
					return s
				})
			}
		}
		if empty && len(ns.Spec.Finalizers) > 0 {
			change(&a, "finish", ns, func(ns *corev1.Namespace) { ns.Spec.Finalizers = nil })
		}
	}
	return a.list
}

// autoscalers is the bounds of pkg/controller/podautoscaler; there are no
// metrics to scale by. A target at zero is left alone.
type autoscalers struct{}

func (autoscalers) Name() string { return "horizontal-pod-autoscaler" }

func (c autoscalers) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for h := range s.Autoscalers("") {
		switch ref := h.Spec.ScaleTargetRef; ref.Kind {
		case "Deployment":
			if d := s.Deployment(h.Namespace, ref.Name); d != nil {
				bound(&a, h, d, d.Spec.Replicas, func(d *appsv1.Deployment, n int32) { d.Spec.Replicas = &n })
			}
		case "StatefulSet":
			if set := s.StatefulSet(h.Namespace, ref.Name); set != nil {
				bound(&a, h, set, set.Spec.Replicas, func(set *appsv1.StatefulSet, n int32) { set.Spec.Replicas = &n })
			}
		}
	}
	return a.list
}

func bound[T Object](a *agenda, h *autoscalingv2.HorizontalPodAutoscaler, target T, replicas *int32, set func(T, int32)) {
	has := deref(replicas, 1)
	want := min(max(has, deref(h.Spec.MinReplicas, 1)), h.Spec.MaxReplicas)
	if has != 0 && want != has && target.GetDeletionTimestamp() == nil {
		change(a, "scale to "+strconv.Itoa(int(want)), target, func(o T) { set(o, want) })
	}
}

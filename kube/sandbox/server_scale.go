package sandbox

import (
	"errors"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func scaleKind() schema.GroupVersionKind { return autoscalingv1.SchemeGroupVersion.WithKind("Scale") }

// scalable is the part of a workload that its scale is about.
type scalable struct {
	replicas **int32
	current  int32
	selector *metav1.LabelSelector
}

func scalableOf(o Object) (scalable, bool) {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		return scalable{&o.Spec.Replicas, o.Status.Replicas, o.Spec.Selector}, true
	case *appsv1.Deployment:
		return scalable{&o.Spec.Replicas, o.Status.Replicas, o.Spec.Selector}, true
	case *appsv1.ReplicaSet:
		return scalable{&o.Spec.Replicas, o.Status.Replicas, o.Spec.Selector}, true
	}
	return scalable{}, false
}

// scaleOf is scaleFromStatefulSet in registry/apps/statefulset/storage, and its
// like for the other kinds.
func scaleOf(o Object) (*autoscalingv1.Scale, error) {
	part, ok := scalableOf(o)
	if !ok {
		return nil, fmt.Errorf("a %T has no scale", o)
	}
	selector, err := metav1.LabelSelectorAsSelector(part.selector)
	if err != nil {
		return nil, fmt.Errorf("the selector of %s: %w", o.GetName(), err)
	}
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: o.GetName(), Namespace: o.GetNamespace(), UID: o.GetUID(),
			ResourceVersion: o.GetResourceVersion(), CreationTimestamp: o.GetCreationTimestamp(),
		},
		Status: autoscalingv1.ScaleStatus{Replicas: part.current, Selector: selector.String()},
	}
	if *part.replicas != nil {
		scale.Spec.Replicas = **part.replicas
	}
	return scale, nil
}

func (s *Server) getScale(c call) (answer, error) {
	o := s.State().Get(c.key())
	if o == nil {
		return answer{}, c.notFound()
	}
	scale, err := scaleOf(o)
	if err != nil {
		return answer{}, err
	}
	return answer{http.StatusOK, scale, autoscalingv1.SchemeGroupVersion}, nil
}

func (s *Server) putScale(r *http.Request, c call, o options) (answer, error) {
	data, err := body(r)
	if err != nil {
		return answer{}, err
	}
	wanted := &autoscalingv1.Scale{}
	if err := s.codec.decode(r, data, scaleKind(), wanted, o.strict); err != nil {
		return answer{}, err
	}
	if err := c.named(wanted); err != nil {
		return answer{}, err
	}
	return s.scale(c, o, func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error) { return wanted, nil })
}

func (s *Server) patchScale(c call, o options, p patcher) (answer, error) {
	return s.scale(c, o, func(before *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
		patched := &autoscalingv1.Scale{}
		if err := p.apply(before, patched, scaleKind()); err != nil {
			return nil, err
		}
		return patched, c.named(patched)
	})
}

// scale is ScaleREST.Update: the uid and the resourceVersion of a Scale are
// those of its workload, and hold for it.
func (s *Server) scale(c call, o options, make func(*autoscalingv1.Scale) (*autoscalingv1.Scale, error)) (answer, error) {
	return s.write(o.dryRun, func(state *State) (*State, answer, error) {
		before := state.Get(c.key())
		if before == nil {
			return nil, answer{}, c.notFound()
		}
		current, err := scaleOf(before)
		if err != nil {
			return nil, answer{}, err
		}
		wanted, err := make(current)
		if err != nil {
			return nil, answer{}, err
		}
		if wanted.UID != "" && wanted.UID != before.GetUID() {
			resource := schema.GroupResource{Group: c.kind.gvk.Group, Resource: string(c.kind.resource) + "/" + subScale}
			return nil, answer{}, apierrors.NewConflict(resource, c.name, errors.New(uidText(wanted.UID, before.GetUID())))
		}
		if wanted.Spec.Replicas < 0 {
			return nil, answer{}, apierrors.NewInvalid(scaleKind().GroupKind(), c.name, field.ErrorList{
				field.Invalid(field.NewPath("spec", "replicas"), wanted.Spec.Replicas, "must be greater than or equal to 0"),
			})
		}
		return scaleIn(state, c, before, wanted, o.dryRun)
	})
}

func scaleIn(s *State, c call, before Object, wanted *autoscalingv1.Scale, dryRun bool) (*State, answer, error) {
	changed, ok := before.DeepCopyObject().(Object)
	if !ok {
		return nil, answer{}, errors.New("scale: not an object")
	}
	part, ok := scalableOf(changed)
	if !ok {
		return nil, answer{}, c.notFound()
	}
	*part.replicas = new(wanted.Spec.Replicas)
	changed.SetResourceVersion(wanted.ResourceVersion)
	c.sub = ""
	next, stored, err := updateIn(s, c, before, changed)
	if err != nil {
		return nil, answer{}, err
	}
	scale, err := scaleOf(stored)
	if err != nil {
		return nil, answer{}, err
	}
	if dryRun {
		scale.ResourceVersion = before.GetResourceVersion()
	}
	return next, answer{http.StatusOK, scale, autoscalingv1.SchemeGroupVersion}, nil
}

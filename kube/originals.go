package kube

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions/migration"
)

// originalsOf writes all objects of an operation as they are: its volumes, their
// claims, and the workloads that it stops.
func originalsOf(j migration.Journal, s migration.Scene) ([]Original, error) {
	var found []runtime.Object
	for _, v := range j.Volumes {
		if pv := s.Volumes[v.Ref.Name]; pv != nil {
			found = append(found, pv)
		}
	}
	for _, key := range j.Wanted().Claims {
		if pvc := s.Claims[key]; pvc != nil {
			found = append(found, pvc)
		}
	}
	for _, w := range j.Workloads {
		switch w.Ref.Kind {
		case migration.StatefulSetKind:
			found = appendNamed(found, s.StatefulSets, w)
		case migration.DeploymentKind:
			found = appendNamed(found, s.Deployments, w)
		case migration.ReplicaSetKind:
			found = appendNamed(found, s.ReplicaSets, w)
		case migration.CronJobKind:
			found = appendNamed(found, s.CronJobs, w)
		default:
			// Other kinds are not changed.
		}
	}
	originals := make([]Original, 0, len(found))
	for _, o := range found {
		original, err := originalOf(o)
		if err != nil {
			return nil, err
		}
		originals = append(originals, original)
	}
	return originals, nil
}

func appendNamed[O interface {
	runtime.Object
	metav1.Object
}](found []runtime.Object, objects []O, w migration.Workload,
) []runtime.Object {
	for _, o := range objects {
		if o.GetNamespace() == w.Ref.Namespace && o.GetName() == w.Ref.Name {
			found = append(found, o)
		}
	}
	return found
}

// originalOf writes an object, with the kind that a typed client leaves out.
func originalOf(o runtime.Object) (Original, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil || len(kinds) == 0 {
		return Original{}, fmt.Errorf("back an object up: %w", err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return Original{}, fmt.Errorf("back a %s up: %w", kinds[0].Kind, err)
	}
	whole := &unstructured.Unstructured{Object: fields}
	whole.SetGroupVersionKind(kinds[0])
	text, err := yaml.Marshal(whole.Object)
	if err != nil {
		return Original{}, fmt.Errorf("back %s %s up: %w", kinds[0].Kind, whole.GetName(), err)
	}
	return Original{Kind: kinds[0].Kind, Namespace: whole.GetNamespace(), Name: whole.GetName(), YAML: string(text)}, nil
}

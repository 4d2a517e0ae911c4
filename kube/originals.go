package kube

import (
	"fmt"
	"path/filepath"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions"
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
		if again, ok, err := againOf(o); err != nil {
			return nil, err
		} else if ok {
			originals = append(originals, again)
		}
	}
	return originals, nil
}

// againPrefix begins the kind in the name of a file by which a workload can be
// created again. The server refuses the original, which has a resourceVersion.
const againPrefix = "again-"

// againOf is a workload as it can be created again, without pods; false for
// other objects.
func againOf(o runtime.Object) (Original, bool, error) {
	switch o.(type) {
	case *corev1.PersistentVolume, *corev1.PersistentVolumeClaim:
		return Original{}, false, nil
	}
	whole, err := asObject(o)
	if err != nil {
		return Original{}, false, err
	}
	made := plain(whole)
	unstructured.RemoveNestedField(made.Object, "status")
	// What is resumed starts it, as soon as nothing stands against that. What
	// owned it may be gone as well, and the garbage collector would take it.
	unstructured.RemoveNestedField(made.Object, "metadata", "ownerReferences")
	unstructured.RemoveNestedField(made.Object, "metadata", "finalizers")
	stopped, at := any(int64(0)), "replicas"
	if _, cron := o.(*batchv1.CronJob); cron {
		stopped, at = true, "suspend"
	}
	if err := unstructured.SetNestedField(made.Object, stopped, "spec", at); err != nil {
		return Original{}, false, fmt.Errorf("back %s %s up: %w", made.GetKind(), made.GetName(), err)
	}
	text, err := yaml.Marshal(made.Object)
	if err != nil {
		return Original{}, false, fmt.Errorf("back %s %s up: %w", made.GetKind(), made.GetName(), err)
	}
	return Original{Kind: againPrefix + made.GetKind(), Namespace: made.GetNamespace(), Name: made.GetName(), YAML: string(text)}, true, nil
}

// createAgain is the command that creates a workload again.
func createAgain(folder string, ref actions.Ref) string {
	file := fileName(Original{Kind: againPrefix + string(ref.Kind), Namespace: ref.Namespace, Name: ref.Name})
	return clean("kubectl create -f " + actions.ShellWord(filepath.Join(folder, file)))
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

// asObject is an object with the kind that a typed client leaves out.
func asObject(o runtime.Object) (*object, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil || len(kinds) == 0 {
		return nil, fmt.Errorf("back an object up: %w", err)
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("back a %s up: %w", kinds[0].Kind, err)
	}
	whole := &unstructured.Unstructured{Object: fields}
	whole.SetGroupVersionKind(kinds[0])
	return whole, nil
}

// originalOf writes an object as it is.
func originalOf(o runtime.Object) (Original, error) {
	whole, err := asObject(o)
	if err != nil {
		return Original{}, err
	}
	text, err := yaml.Marshal(whole.Object)
	if err != nil {
		return Original{}, fmt.Errorf("back %s %s up: %w", whole.GetKind(), whole.GetName(), err)
	}
	return Original{Kind: whole.GetKind(), Namespace: whole.GetNamespace(), Name: whole.GetName(), YAML: string(text)}, nil
}

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// AnnotationThen says what is done with an object once it has settled: a
	// claim or volume when it is Bound, a pod when it runs, and a claim not
	// before the pods that use it run.
	AnnotationThen = "scenarios.claimref.test/then"
	// ThenDelete deletes the object and does not wait for it to be gone,
	// because some objects are meant to stay Terminating.
	ThenDelete = "delete"
)

// settleTimeout is generous: a busy machine runs the controllers slowly.
const settleTimeout = time.Minute

// errUnknownThen means that a manifest asks for what the loader cannot do.
var errUnknownThen = errors.New("unknown value of " + AnnotationThen)

func (a *applier) then(ctx context.Context, object *unstructured.Unstructured) error {
	switch object.GetAnnotations()[AnnotationThen] {
	case "":
		return nil
	case ThenDelete:
	default:
		return fmt.Errorf("%s: %w", describe(object), errUnknownThen)
	}
	resource, err := a.resource(object)
	if err != nil {
		return err
	}
	var last *unstructured.Unstructured
	err = wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, settleTimeout, true, func(ctx context.Context) (bool, error) {
		var err error
		if last, err = resource.Get(ctx, object.GetName(), metav1.GetOptions{}); err != nil {
			return false, err
		}
		return a.settled(ctx, last)
	})
	if err != nil {
		return fmt.Errorf("wait for %s to settle: %w", describe(object), err)
	}
	err = resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(last.GetUID()))})
	if err != nil {
		return fmt.Errorf("delete %s: %w", describe(object), err)
	}
	return nil
}

func (a *applier) settled(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	phase, _, err := unstructured.NestedString(object.Object, "status", "phase")
	if err != nil {
		return false, fmt.Errorf("read the phase: %w", err)
	}
	switch object.GetKind() {
	case "Pod":
		return phase == string(corev1.PodRunning), nil
	case "PersistentVolumeClaim":
		if phase != string(corev1.ClaimBound) {
			return false, nil
		}
		return a.usersRun(ctx, object.GetNamespace(), object.GetName())
	default:
		return phase == string(corev1.VolumeBound), nil
	}
}

// usersRun reports whether all pods that use a claim run.
func (a *applier) usersRun(ctx context.Context, namespace, claim string) (bool, error) {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	list, err := a.client.Resource(pods).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, fmt.Errorf("list the users of claim %s/%s: %w", namespace, claim, err)
	}
	for _, item := range list.Items {
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &pod); err != nil {
			return false, fmt.Errorf("read pod %s/%s: %w", namespace, item.GetName(), err)
		}
		for _, volume := range pod.Spec.Volumes {
			source := volume.PersistentVolumeClaim
			if source != nil && source.ClaimName == claim && pod.Status.Phase == corev1.PodPending {
				return false, nil
			}
		}
	}
	return true, nil
}

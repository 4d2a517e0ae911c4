package scenarios

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

const fieldManager = "claimref-scenarios"

// applier applies manifests to a cluster.
type applier struct {
	client dynamic.Interface
	mapper meta.RESTMapper
}

func newApplier(config *rest.Config) (*applier, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	groups, err := restmapper.GetAPIGroupResources(discoverer)
	if err != nil {
		return nil, fmt.Errorf("discover the API: %w", err)
	}
	return &applier{client: client, mapper: restmapper.NewDiscoveryRESTMapper(groups)}, nil
}

// Apply applies the objects of a manifest in their order, as kubectl apply
// --server-side does, and then does what AnnotationThen says.
func Apply(ctx context.Context, config *rest.Config, manifest []byte) error {
	objects, err := decode(manifest)
	if err != nil {
		return err
	}
	a, err := newApplier(config)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := a.apply(ctx, object); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := a.then(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

func decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4<<10)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("decode document %d: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

func (a *applier) apply(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := a.resource(object)
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("apply %s: %w", describe(object), err)
	}
	return awaitOffer(ctx, resource, object)
}

// awaitOffer waits until a volume that anybody may claim is on offer. A claim
// that comes earlier has to wait for the next round of the volume binder.
func awaitOffer(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) error {
	_, reserved, err := unstructured.NestedMap(object.Object, "spec", "claimRef")
	if object.GetKind() != "PersistentVolume" || reserved || err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, settleTimeout, true, func(ctx context.Context) (bool, error) {
		volume, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		phase, _, err := unstructured.NestedString(volume.Object, "status", "phase")
		return phase != "" && phase != string(corev1.VolumePending), err
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", describe(object), err)
	}
	return nil
}

func (a *applier) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := a.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s: %w", describe(object), err)
	}
	resource := a.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return resource.Namespace(object.GetNamespace()), nil
	}
	return resource, nil
}

func describe(object *unstructured.Unstructured) string {
	if ns := object.GetNamespace(); ns != "" {
		return fmt.Sprintf("%s %s/%s", object.GetKind(), ns, object.GetName())
	}
	return fmt.Sprintf("%s %s", object.GetKind(), object.GetName())
}

package sandbox

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// reading are the calls that a typed client makes to read a resource.
type reading struct {
	group string
	list  func(context.Context, kubernetes.Interface) (runtime.Object, error)
	watch func(context.Context, kubernetes.Interface) (watch.Interface, error)
	// object is the one that comes and goes.
	object Object
}

func surroundings() map[Resource]reading {
	all := metav1.ListOptions{}
	return map[Resource]reading{
		Nodes: {
			"",
			func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
				return c.CoreV1().Nodes().List(ctx, all)
			},
			func(ctx context.Context, c kubernetes.Interface) (watch.Interface, error) {
				return c.CoreV1().Nodes().Watch(ctx, all)
			},
			demoNode("x"),
		},
		Namespaces: {
			"",
			func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
				return c.CoreV1().Namespaces().List(ctx, all)
			},
			func(ctx context.Context, c kubernetes.Interface) (watch.Interface, error) {
				return c.CoreV1().Namespaces().Watch(ctx, all)
			},
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "x"}},
		},
		Attachments: {
			storagev1.GroupName,
			func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
				return c.StorageV1().VolumeAttachments().List(ctx, all)
			},
			func(ctx context.Context, c kubernetes.Interface) (watch.Interface, error) {
				return c.StorageV1().VolumeAttachments().Watch(ctx, all)
			},
			&storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: storagev1.VolumeAttachmentSpec{
				Attacher: "csi.example.com", NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("v")},
			}},
		},
	}
}

// TestSurroundings reads what surrounds volumes as the program does: who may,
// sees what is there and what changes; who may not is told so.
func TestSurroundings(t *testing.T) {
	for resource, how := range surroundings() {
		t.Run(string(resource), func(t *testing.T) {
			rule := rbacv1.PolicyRule{APIGroups: []string{how.group}, Resources: []string{string(resource)}, Verbs: []string{"list", "watch"}}
			server, admin := serve(t, ServerOptions{Access: map[string][]Rule{"reader": {{"", rule}}, "nobody": {}}})
			nobody := clientFor(t, server.RESTConfig("nobody"))
			if _, err := how.list(t.Context(), nobody); !apierrors.IsForbidden(err) {
				t.Errorf("list without the right: %v", err)
			}
			if _, err := how.watch(t.Context(), nobody); !apierrors.IsForbidden(err) {
				t.Errorf("watch without the right: %v", err)
			}
			reader := clientFor(t, server.RESTConfig("reader"))
			w, err := how.watch(t.Context(), reader)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(w.Stop)
			create(t, admin, how.object)
			awaitNamed(t, w, watch.Added)
			list, err := how.list(t.Context(), reader)
			if err != nil {
				t.Fatal(err)
			}
			items, err := meta.ExtractList(list)
			if err != nil || len(items) == 0 {
				t.Errorf("the list has %d items, %v", len(items), err)
			}
			remove := metav1.DeleteOptions{}
			switch resource {
			case Nodes:
				err = admin.CoreV1().Nodes().Delete(t.Context(), "x", remove)
			case Attachments:
				err = admin.StorageV1().VolumeAttachments().Delete(t.Context(), "x", remove)
			default:
				err = admin.CoreV1().Namespaces().Delete(t.Context(), "x", remove)
			}
			if err != nil {
				t.Fatal(err)
			}
			// A namespace is emptied first.
			awaitNamed(t, w, watch.Deleted, watch.Modified)
		})
	}
}

func create(t *testing.T, c kubernetes.Interface, object Object) {
	t.Helper()
	var err error
	switch o := object.(type) {
	case *corev1.Node:
		_, err = c.CoreV1().Nodes().Create(t.Context(), o, metav1.CreateOptions{})
	case *corev1.Namespace:
		_, err = c.CoreV1().Namespaces().Create(t.Context(), o, metav1.CreateOptions{})
	case *storagev1.VolumeAttachment:
		_, err = c.StorageV1().VolumeAttachments().Create(t.Context(), o, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// awaitNamed waits for an event of one of the types about the object x.
func awaitNamed(t *testing.T, w watch.Interface, types ...watch.EventType) {
	t.Helper()
	for {
		select {
		case e, open := <-w.ResultChan():
			if !open {
				t.Fatal("the watch has ended")
			}
			object, err := meta.Accessor(e.Object)
			if err != nil {
				t.Fatal(err)
			}
			if object.GetName() != "x" {
				continue
			}
			if slices.Contains(types, e.Type) {
				return
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("no event of %v", types)
		}
	}
}

package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/claimref/claimref/kube"
)

// World is a cluster that stories can be played in.
type World interface {
	Config() *rest.Config
	// Rest returns when nothing more happens by itself. What the cluster looks
	// like is told by the function.
	Rest(ctx context.Context, look func(context.Context) (View, error)) (View, error)
	// Noticed returns when the controllers know a volume that was made just now.
	// Without it, a claim that comes next may be given another one.
	Noticed(ctx context.Context, volume string) error
}

// Wrong is what is not as expected.
type Wrong struct {
	Part int
	What string
}

func (w Wrong) String() string { return fmt.Sprintf("document %d: %s", w.Part+2, w.What) }

// Play plays a story: it does what happens in it, and compares what is said
// with what is expected. It returns what is wrong, and what the cluster looked
// like whenever it had come to rest. The error says that it could not be played.
func Play(ctx context.Context, s *Story, w World) ([]Wrong, []View, error) {
	p, err := newPlayer(s, w)
	if err != nil {
		return nil, nil, err
	}
	var wrong []Wrong
	for i, part := range s.Parts {
		acted := i > 0 && s.Parts[i-1].Act != nil
		if (part.Object == nil || acted) && !p.rested {
			if err := p.rest(ctx); err != nil {
				return wrong, p.views, fmt.Errorf("before document %d: %w", i+2, err)
			}
		}
		switch {
		case part.Object != nil:
			err = p.create(ctx, part.Object)
		case part.Act != nil:
			err = p.act(ctx, part.Act)
		default:
			var said []string
			said, err = p.expect(ctx, part.Expect)
			for _, text := range said {
				wrong = append(wrong, Wrong{i, text})
			}
		}
		if err != nil {
			return wrong, p.views, fmt.Errorf("document %d: %w", i+2, err)
		}
	}
	return wrong, p.views, nil
}

type player struct {
	story   *Story
	world   World
	api     kubernetes.Interface
	dynamic dynamic.Interface
	client  *kube.Client
	rested  bool
	views   []View
}

func newPlayer(s *Story, w World) (*player, error) {
	p := &player{story: s, world: w}
	config := rest.CopyConfig(w.Config())
	// Here nobody is to be spared.
	config.QPS = -1
	var err error
	if p.api, err = kubernetes.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if p.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	p.client, err = kube.Connect(kube.Config{ClientConfig: direct(s.refusing(s.forbidding(config)))})
	return p, err
}

func (p *player) rest(ctx context.Context) error {
	view, err := p.world.Rest(ctx, p.look)
	if err != nil {
		return err
	}
	p.rested = true
	p.views = append(p.views, view)
	return nil
}

// resource finds where objects of a kind are.
func (p *player) resource(kind, namespace string) (dynamic.ResourceInterface, error) {
	for _, k := range kinds() {
		if k.kind != kind {
			continue
		}
		resource := p.dynamic.Resource(k.at)
		if k.namespaced {
			return resource.Namespace(namespace), nil
		}
		return resource, nil
	}
	return nil, fmt.Errorf("kind %s is not known here", kind)
}

type kindAt struct {
	kind       string
	at         schema.GroupVersionResource
	namespaced bool
}

func kinds() []kindAt {
	at := func(group, resource string) schema.GroupVersionResource {
		version := "v1"
		if group == "autoscaling" {
			version = "v2"
		}
		return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	}
	return []kindAt{
		{"Namespace", at("", "namespaces"), false},
		{"Node", at("", "nodes"), false},
		{kindVolume, at("", "persistentvolumes"), false},
		{"PersistentVolumeClaim", at("", "persistentvolumeclaims"), true},
		{"Pod", at("", "pods"), true},
		{"ResourceQuota", at("", "resourcequotas"), true},
		{"StorageClass", at("storage.k8s.io", "storageclasses"), false},
		{"VolumeAttachment", at("storage.k8s.io", "volumeattachments"), false},
		{"CSIDriver", at("storage.k8s.io", "csidrivers"), false},
		{"StatefulSet", at("apps", "statefulsets"), true},
		{"Deployment", at("apps", "deployments"), true},
		{"ReplicaSet", at("apps", "replicasets"), true},
		{"DaemonSet", at("apps", "daemonsets"), true},
		{"Job", at("batch", "jobs"), true},
		{"CronJob", at("batch", "cronjobs"), true},
		{"HorizontalPodAutoscaler", at("autoscaling", "horizontalpodautoscalers"), true},
	}
}

// create makes an object, and brings its status, if it has one that no
// controller writes.
func (p *player) create(ctx context.Context, o *unstructured.Unstructured) error {
	p.rested = false
	resource, err := p.resource(o.GetKind(), o.GetNamespace())
	if err != nil {
		return err
	}
	if _, err := resource.Create(ctx, o, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	status, found := o.Object["status"]
	if found {
		err = p.patch(ctx, resource, o.GetName(), map[string]any{"status": status}, "status")
	}
	if err == nil && o.GetKind() == kindVolume {
		err = p.world.Noticed(ctx, o.GetName())
	}
	return err
}

func (p *player) patch(ctx context.Context, resource dynamic.ResourceInterface, name string, patch map[string]any, subresources ...string) error {
	text, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("patch %s: %w", name, err)
	}
	if _, err := resource.Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{}, subresources...); err != nil {
		return fmt.Errorf("patch %s: %w", name, err)
	}
	return nil
}

func (p *player) act(ctx context.Context, a *Act) error {
	if a.Delete == "" && a.Patch == "" {
		return nil
	}
	p.rested = false
	err := p.write(ctx, a)
	switch {
	case a.Refused == "":
		return err
	case err == nil:
		return fmt.Errorf("the server was to refuse this: %s", a.Refused)
	case !strings.Contains(err.Error(), a.Refused):
		return fmt.Errorf("the server was to say %q: %w", a.Refused, err)
	}
	return nil
}

func (p *player) write(ctx context.Context, a *Act) error {
	kind, namespace, name, err := p.find(ctx, a.Delete+a.Patch)
	if err != nil {
		return err
	}
	resource, err := p.resource(kind, namespace)
	if err != nil {
		return err
	}
	switch {
	case a.Delete != "":
		if err := resource.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return fmt.Errorf("delete %s: %w", a.Delete, err)
		}
		return nil
	case a.Status:
		return p.patch(ctx, resource, name, a.With, "status")
	default:
		return p.patch(ctx, resource, name, a.With)
	}
}

// find reads how a story calls an object: "PersistentVolume disk", "Pod
// shop/web", or "PersistentVolume of shop/data" for the volume of a claim,
// whose own name nobody can know; "formerly of" is one that carries the uid of
// an earlier claim.
func (p *player) find(ctx context.Context, text string) (kind, namespace, name string, err error) {
	kind, name, _ = strings.Cut(text, " ")
	of, formerly := strings.CutPrefix(name, "formerly of ")
	of, isOf := strings.CutPrefix(of, "of ")
	if ns, rest, found := strings.Cut(of, "/"); found {
		namespace, of = ns, rest
	}
	if !isOf && !formerly {
		return kind, namespace, of, nil
	}
	var uid types.UID
	claim, err := p.api.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, of, metav1.GetOptions{})
	switch {
	case err == nil:
		uid = claim.UID
	case !apierrors.IsNotFound(err):
		return "", "", "", fmt.Errorf("find the volume of a claim: %w", err)
	}
	list, err := p.api.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", "", "", fmt.Errorf("find the volume of a claim: %w", err)
	}
	for i := range list.Items {
		ref := list.Items[i].Spec.ClaimRef
		if ref == nil || ref.Namespace != namespace || ref.Name != of {
			continue
		}
		if former := ref.UID != "" && ref.UID != uid; former == formerly || uid == "" {
			return kind, "", list.Items[i].Name, nil
		}
	}
	return "", "", "", fmt.Errorf("there is no %s", text)
}

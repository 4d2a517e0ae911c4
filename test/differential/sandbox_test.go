package differential

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/kube/sandbox"
	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/controlplane/folders"
)

// settleSteps is more transitions than any act here leads to.
const settleSteps = 2000

func nodes() []string { return []string{"n1", "n2"} }

// sandboxWorld is a sandbox for a single history.
type sandboxWorld struct {
	server *sandbox.Server
	api    kubernetes.Interface
	lags   bool
}

func newSandboxWorld(ctx context.Context) (*sandboxWorld, error) {
	w := &sandboxWorld{server: sandbox.NewServer(sandbox.NewState(time.Now()), sandbox.ServerOptions{
		Access: map[string][]sandbox.Rule{
			controlplane.Viewer: {{PolicyRule: rbacv1.PolicyRule{
				APIGroups: []string{"", "apps", "storage.k8s.io"}, Resources: []string{rbacv1.ResourceAll}, Verbs: []string{"get", "list", "watch"},
			}}},
			controlplane.Nobody: nil,
		},
	})}
	client, err := kubernetes.NewForConfig(w.server.RESTConfig(sandbox.Admin))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	w.api = client
	for _, name := range nodes() {
		_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
		}}, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("add node %s: %w", name, err)
		}
	}
	return w, nil
}

func (w *sandboxWorld) name() string { return "sandbox" }

func (w *sandboxWorld) client() kubernetes.Interface { return w.api }

func (w *sandboxWorld) as(user string) (kubernetes.Interface, error) {
	if user == "" {
		return w.api, nil
	}
	return kubernetes.NewForConfig(w.server.RESTConfig(user))
}

func (w *sandboxWorld) objects(ctx context.Context) ([]object, error) {
	var all []object
	add := func(list runtime.Object, err error) error {
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		return each(list, func(o object) { all = append(all, o) })
	}
	o := metav1.ListOptions{}
	for _, list := range []func() (runtime.Object, error){
		func() (runtime.Object, error) { return w.api.CoreV1().Namespaces().List(ctx, o) },
		func() (runtime.Object, error) { return w.api.CoreV1().PersistentVolumeClaims("").List(ctx, o) },
		func() (runtime.Object, error) { return w.api.CoreV1().PersistentVolumes().List(ctx, o) },
		func() (runtime.Object, error) { return w.api.CoreV1().Pods("").List(ctx, o) },
		func() (runtime.Object, error) { return w.api.AppsV1().StatefulSets("").List(ctx, o) },
		func() (runtime.Object, error) { return w.api.AppsV1().Deployments("").List(ctx, o) },
		func() (runtime.Object, error) { return w.api.AppsV1().ReplicaSets("").List(ctx, o) },
		func() (runtime.Object, error) { return w.api.AppsV1().DaemonSets("").List(ctx, o) },
		func() (runtime.Object, error) { return w.api.BatchV1().Jobs("").List(ctx, o) },
	} {
		if err := add(list()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// settle lets the controllers do all they want to.
func (w *sandboxWorld) settle(ctx context.Context, look func(context.Context) (view, error)) (view, error) {
	controllers := sandbox.Controllers(folders.Name)
	if w.lags {
		// All others are in the controller manager.
		controllers = slices.DeleteFunc(controllers, func(c sandbox.Controller) bool {
			return !slices.Contains([]string{"external-provisioner", "scheduler", "kubelet"}, c.Name())
		})
	}
	var failed error
	w.server.Apply(func(s *sandbox.State) *sandbox.State {
		s, failed = sandbox.Settle(s, controllers, settleSteps)
		// Times have a resolution of a second, and things that follow one upon
		// the other are a second apart.
		return s.WithNow(s.Now().Add(2 * time.Second))
	})
	if failed != nil {
		return nil, failed
	}
	return look(ctx)
}

func (w *sandboxWorld) addData(handle string) error {
	w.server.Apply(func(s *sandbox.State) *sandbox.State { return s.WithData(handle) })
	return nil
}

func (w *sandboxWorld) hasData(handle string) bool { return w.server.State().HasData(handle) }

func (w *sandboxWorld) lag(on bool) error {
	w.lags = on
	return nil
}

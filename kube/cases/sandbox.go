package cases

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/claimref/claimref/kube/sandbox"
)

// settleLimit is more transitions than any story's acts lead to.
const settleLimit = 5000

// Sandbox is a cluster in memory with the nodes n1 and n2.
type Sandbox struct {
	server      *sandbox.Server
	controllers []sandbox.Controller
}

// NewSandbox makes one in which provisioners of some names run. A story takes
// place at most a day before now.
func NewSandbox(now time.Time, provisioners ...string) *Sandbox {
	s := sandbox.NewState(now.Add(-24 * time.Hour))
	for _, name := range []string{"n1", "n2"} {
		s = s.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
		}})
	}
	return &Sandbox{sandbox.NewServer(s, sandbox.ServerOptions{}), sandbox.Controllers(provisioners...)}
}

// Config implements World.
func (w *Sandbox) Config() *rest.Config { return w.server.RESTConfig(sandbox.Admin) }

// Rest lets the controllers do all that they would.
func (w *Sandbox) Rest(ctx context.Context, look func(context.Context) (View, error)) (View, error) {
	var failed error
	w.server.Apply(func(s *sandbox.State) *sandbox.State {
		settled, err := sandbox.Settle(s, w.controllers, settleLimit)
		if err != nil {
			failed = fmt.Errorf("settle: %w", err)
			return s
		}
		// Times have a resolution of a second, and of two default classes the
		// newer one counts.
		return settled.WithNow(settled.Now().Add(2 * time.Second))
	})
	if failed != nil {
		return nil, failed
	}
	return look(ctx)
}

// Noticed implements World. Here nobody acts before all is there.
func (w *Sandbox) Noticed(context.Context, string) error { return nil }

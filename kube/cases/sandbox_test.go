package cases_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/claimref/claimref/kube/cases"
	"github.com/claimref/claimref/kube/sandbox"
)

// tellings is how often each story is told anew, besides as it is written.
const tellings = 3

// settleLimit is more than any story's acts lead to.
const settleLimit = 5000

// sandboxWorld is a cluster in memory.
type sandboxWorld struct {
	server      *sandbox.Server
	controllers []sandbox.Controller
}

func newSandbox() *sandboxWorld {
	s := sandbox.NewState(time.Now().Add(-24 * time.Hour))
	for _, name := range []string{"n1", "n2"} {
		s = s.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}})
	}
	return &sandboxWorld{
		server:      sandbox.NewServer(s, sandbox.ServerOptions{}),
		controllers: sandbox.Controllers("folders.claimref.test"),
	}
}

func (w *sandboxWorld) Config() *rest.Config { return w.server.RESTConfig(sandbox.Admin) }

func (w *sandboxWorld) Rest(ctx context.Context, look func(context.Context) (cases.View, error)) (cases.View, error) {
	var failed error
	w.server.Apply(func(s *sandbox.State) *sandbox.State {
		settled, err := sandbox.Settle(s, w.controllers, settleLimit)
		if err != nil {
			failed = fmt.Errorf("settle: %w", err)
			return s
		}
		// Times have a resolution of a second.
		return settled.WithNow(settled.Now().Add(2 * time.Second))
	})
	if failed != nil {
		return nil, failed
	}
	return look(ctx)
}

// TestStories plays every story in the sandbox, as it is written and with other
// names, sizes and orders.
func TestStories(t *testing.T) {
	all, err := cases.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range all {
		t.Run(story.Name, func(t *testing.T) {
			t.Parallel()
			play(t, story)
			for seed := range uint64(tellings) {
				varied, err := story.Vary(seed)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { play(t, varied) })
			}
		})
	}
	t.Logf("%d stories", len(all))
}

func play(t *testing.T, story *cases.Story) {
	t.Helper()
	if story.Expects() == 0 {
		t.Error("nothing is expected")
	}
	wrong, _, err := cases.Play(t.Context(), story, newSandbox())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrong {
		t.Error(w)
	}
}

package migration

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube/sandbox"
)

// halting is a world in which an operation on a Deployment's claim has come to
// just before the step of a prefix.
func halting(t *testing.T, name, before string) (*model, *walker) {
	t.Helper()
	all := kinds()
	k := all[slices.IndexFunc(all, func(k kind) bool { return k.name == name })]
	m, j := k.start(t).drafted(t)
	w := m.walk(j, "a")
	w.before = func(step Step) bool { return strings.HasPrefix(step.ID, before) }
	if move := w.toTheEnd(); move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, before) {
		t.Fatalf("did not come to %s: %v", before, move)
	}
	w.before = nil
	return m, w
}

func (m *model) patchVolume(name, patch, manager string) {
	m.t.Helper()
	_, err := m.api.CoreV1().PersistentVolumes().Patch(m.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager})
	if err != nil {
		m.t.Fatal(err)
	}
}

// TestHalts has somebody do what the operation must not go on after.
func TestHalts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kind, before string
		meddle             func(m *model, w *walker, scene *Scene)
		reason             string
	}{
		{"policy changed back", "deployment", "delete/", func(m *model, w *walker, _ *Scene) {
			m.patchVolume(w.j.Lead(), `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, "terraform")
		}, "has been changed back"},
		{"scaled back", "deployment", "delete/", func(m *model, _ *walker, _ *Scene) {
			if _, err := m.api.AppsV1().Deployments("exam").Patch(m.t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":1}}`), metav1.PatchOptions{FieldManager: "argocd"}); err != nil {
				m.t.Fatal(err)
			}
		}, "has been changed back"},
		{"taken over", "deployment", "delete/", func(m *model, w *walker, _ *Scene) {
			m.takeOver(w.j, "b", Forward)
		}, "b has been at work on this"},
		{"volume deleted", "claim", "create/", func(m *model, w *walker, _ *Scene) {
			m.server.Apply(func(s *sandbox.State) *sandbox.State {
				return s.Remove(sandbox.Key{Resource: sandbox.Volumes, Name: w.j.Lead()})
			})
		}, "is gone"},
		{"pods hidden", "claim", "delete/", func(_ *model, _ *walker, scene *Scene) {
			scene.Unread = map[string]string{"pods": "forbidden"}
		}, "pods can't be read"},
		{"workloads hidden", "deployment", "delete/", func(_ *model, _ *walker, scene *Scene) {
			scene.Unread = map[string]string{"deployments": "forbidden"}
		}, "deployments can't be read"},
		{"another operation", "set", "stop/", func(m *model, w *walker, _ *Scene) {
			m.patchVolume(w.j.Volumes[1].Ref.Name, `{"metadata":{"annotations":{"claimref.io/plan":"ffff0000 elsewhere"}}}`, "claimref")
		}, "another operation"},
		{"given away", "claim", "create/", func(m *model, w *walker, _ *Scene) {
			m.patchVolume(w.j.Lead(), `{"spec":{"claimRef":{"namespace":"other","name":"thief"}}}`, "somebody")
		}, "names claim other/thief"},
		{"journal taken off", "claim", "create/", func(m *model, w *walker, _ *Scene) {
			m.patchVolume(w.j.Lead(), `{"metadata":{"annotations":{"claimref.io/journal":null,"claimref.io/plan":null,"claimref.io/holder":null}}}`, "somebody")
		}, "changed back"},
		{"set edited", "set", "remove/", func(m *model, _ *walker, _ *Scene) {
			if _, err := m.api.AppsV1().StatefulSets("exam").Patch(t.Context(), "db", types.MergePatchType, []byte(`{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`), metav1.PatchOptions{FieldManager: "helm"}); err != nil {
				m.t.Fatal(err)
			}
		}, "was changed meanwhile (spec.template)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, w := halting(t, tt.kind, tt.before)
			var hide Scene
			tt.meddle(m, w, &hide)
			scene := m.scene(w.j.Wanted())
			scene.Unread = hide.Unread
			move := Next(w.j, w.run, scene)
			if move.Kind != Halt || !strings.Contains(move.Reason, tt.reason) || move.Remedy == "" {
				t.Errorf("%v, and not a halt with %q", move, tt.reason)
			}
		})
	}
}

// TestWaits says what an operation is waiting for.
func TestWaits(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "deployment", "stop/")
	move := w.scaleDownAndLook(t)
	if move.Kind != WaitNow || len(move.Holds) != 1 || !strings.Contains(move.Holds[0], "pod exam/web-") {
		t.Errorf("%v, and not a wait for the pod", move)
	}
	m.settle()
	if _, move := w.look(); move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, "delete/") {
		t.Errorf("%v, and not the deletion of the claim", move)
	}
}

func (w *walker) scaleDownAndLook(t *testing.T) Move {
	t.Helper()
	_, move := w.look()
	if err := w.perform(move.Step); err != nil {
		t.Fatal(err)
	}
	_, move = w.look()
	return move
}

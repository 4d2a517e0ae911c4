package views

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// TestWizardRunsTheRest: one word covers what was reviewed.
func TestWizardRunsTheRest(t *testing.T) {
	r := review(t)
	r.runRest()
	r.wantOn("Type the claim's name to run all that was reviewed", "The run stops when anything is not as it was rehearsed.")
	r.typeText("web-data")
	r.press("enter")
	if r.walk.stage != atEnd || len(r.cluster.op.sent) != 8 {
		t.Fatalf("the run ended at %v with %v sent\n%s", r.walk.stage, r.cluster.op.ids(), r.screen())
	}
}

// TestWizardRunStops: whatever is not as it was reviewed ends the run before
// anything else is written.
func TestWizardRunStops(t *testing.T) {
	deletion := "delete/" + webVolume
	for name, tc := range map[string]struct {
		play func(*fakeOperation)
		sent int
		said string
	}{
		"another preview": {func(f *fakeOperation) {
			f.previews = func(p *kube.StepPreview) error {
				if p.Step.ID == deletion {
					// A server that could take part then, and can't now.
					p.DryRun = kube.DryRunResult{Reason: "webhook w does not support dry run"}
				}
				return nil
			}
		}, 2, "not as it was rehearsed"},
		"a halt": {func(f *fakeOperation) {
			f.moves[deletion] = migration.Move{Kind: migration.Halt, Reason: "somebody made another claim", Remedy: "Look at it"}
		}, 2, "somebody made another claim. Look at it."},
		"another outcome": {func(f *fakeOperation) {
			f.answer = func(p kube.StepPreview) (kube.Performed, error) {
				if p.Step.ID == "stop/shop/web" {
					return kube.Performed{Step: p.Step, Unexpected: "spec.replicas differs"}, nil
				}
				return kube.Performed{}, nil
			}
		}, 2, "The server did something else than its dry run said: spec.replicas differs."},
		"a refusal": {func(f *fakeOperation) {
			f.answer = func(p kube.StepPreview) (kube.Performed, error) {
				if p.Step.ID == deletion {
					return kube.Performed{}, apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "web-data", errors.New("no"))
				}
				return kube.Performed{}, nil
			}
		}, 3, "Halted:"},
		"an unknown outcome": {func(f *fakeOperation) {
			f.answer = func(p kube.StepPreview) (kube.Performed, error) {
				if p.Step.ID == deletion {
					return kube.Performed{}, fmt.Errorf("delete: %w", kube.ErrOutcomeUnknown)
				}
				return kube.Performed{}, nil
			}
		}, 3, "r reads it back"},
	} {
		t.Run(name, func(t *testing.T) {
			r := review(t)
			tc.play(r.cluster.op)
			r.runRest()
			r.typeText("web-data")
			r.press("enter")
			if !strings.Contains(strings.Join(strings.Fields(r.walk.pager.Text()), " ")+r.screen(), tc.said) {
				t.Errorf("not said: %q\n%s", tc.said, r.screen())
			}
			if r.walk.running || len(r.cluster.op.sent) != tc.sent {
				t.Errorf("running %v, sent %v", r.walk.running, r.cluster.op.ids())
			}
		})
	}
}

// TestRunAsksForWhatWasNotDryRun: what the server never dry-ran is sent on a
// word of its own, in a run too.
func TestRunAsksForWhatWasNotDryRun(t *testing.T) {
	r := webRig(t)
	unsupported := func(p *kube.StepPreview) error {
		if p.Step.ID == "stop/shop/web" {
			p.DryRun = kube.DryRunResult{Reason: "webhook w does not support dry run"}
		}
		return nil
	}
	op := r.cluster.op
	op.rehearsals, op.previews = unsupported, unsupported
	r.press("a", "m", "f", "enter")
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	if got := op.ids(); len(got) != 1 {
		t.Fatalf("sent without the word for what was not dry-run: %v\n%s", got, r.screen())
	}
	r.wantText("could not dry-run this step, so that the run stopped before it")
	r.approve("web")
	if got := op.ids(); len(got) != 2 {
		t.Errorf("with the word, sent %v\n%s", got, r.screen())
	}
}

// TestRunCanBeAskedForWhileWaiting: the seconds that pass while the word is
// typed change nothing about what it is typed for.
func TestRunCanBeAskedForWhileWaiting(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 1000 })
	r.approve("")
	r.approve("")
	r.runRest()
	r.typeText("web-")
	r.send(tickMsg(noon().Add(time.Second)))
	r.see(webShop())
	r.typeText("data")
	r.press("enter")
	if !r.walk.running {
		t.Errorf("it does not run\n%s", r.screen())
	}
}

// TestRunUnderQuota: a creation that a quota stands in the way of until the old
// claim is gone is worked out by this program in the rehearsal, without what the
// server adds. The run says so before, stops there, and goes on after a look.
func TestRunUnderQuota(t *testing.T) {
	claim := func(finalizers ...any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"kind": "PersistentVolumeClaim", "metadata": map[string]any{"name": "web-data"}}}
		if len(finalizers) > 0 {
			o.Object["metadata"].(map[string]any)["finalizers"] = finalizers
		}
		return o
	}
	creation := func(p *kube.StepPreview) bool { return p.Step.Act == migration.Create }
	r := webRig(t)
	op := r.cluster.op
	op.rehearsals = func(p *kube.StepPreview) error {
		if creation(p) {
			p.Temporary, p.After = "", claim()
			p.DryRun = kube.DryRunResult{Later: true, Reason: "not before the steps before it: the quota still counts the claim that is to be deleted"}
		}
		return nil
	}
	op.previews = func(p *kube.StepPreview) error {
		if creation(p) {
			p.After = claim("kubernetes.io/pvc-protection")
			p.Diff += "+  finalizers:\n+  - kubernetes.io/pvc-protection\n"
		}
		return nil
	}
	r.press("a", "m", "f", "enter")
	r.runRest()
	if shown := strings.Join(strings.Fields(r.dialog()), " "); !strings.Contains(shown, "It stops before create claim web-data, which the server can dry-run only then") {
		t.Errorf("it is not said where it stops\n%s", r.screen())
	}
	r.typeText("web-data")
	r.press("enter")
	sent := len(op.sent)
	if r.walk.stage != atDiff || r.walk.fresh.Step.Act != migration.Create {
		t.Fatalf("it stands at %v, %s\n%s", r.walk.stage, r.walk.fresh.Step.ID, r.screen())
	}
	r.wantText("The server can dry-run this step only now, so that the run stopped before it.")
	r.press("r")
	r.wantOn("1 difference to look at before it can run by itself")
	if len(op.sent) != sent {
		t.Fatal("it was sent before it was looked at")
	}
	r.runRest()
	r.wantOn("Type the claim's name to run all that was reviewed")
	r.wantOff("It stops before")
	r.typeText("web-data")
	r.press("enter")
	if r.walk.stage != atEnd {
		t.Errorf("it stands at %v\n%s", r.walk.stage, r.screen())
	}
}

// TestRunStopsAgain: what was looked at after a stop is what goes on, and nothing
// else.
func TestRunStopsAgain(t *testing.T) {
	r := review(t)
	r.runRest()
	version := 0
	r.cluster.op.previews = func(p *kube.StepPreview) error {
		if p.Step.Act == migration.Create {
			version++
			p.After = &unstructured.Unstructured{Object: map[string]any{"kind": "PersistentVolumeClaim", "spec": map[string]any{"version": int64(version)}}}
			p.Diff += fmt.Sprintf("+  version: %d\n", version)
		}
		return nil
	}
	for range 3 {
		r.typeText("web-data")
		r.press("enter")
		if r.walk.stage != atDiff {
			t.Fatalf("it stands at %v\n%s", r.walk.stage, r.screen())
		}
		r.wantText("This step is not as it was rehearsed")
		r.runRest()
	}
}

// TestRunThatEndsWhileAsked: who answers that the run is to stop when it has
// ended by itself is not led away from its report.
func TestRunThatEndsWhileAsked(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 1000 })
	r.approve("")
	r.approve("")
	r.runRest()
	r.typeText("web-data")
	r.press("enter", "esc")
	r.wantOn("Stop the run?")
	r.cluster.op.waits["unused"] = 0
	r.send(tickMsg(noon().Add(time.Second)))
	if r.walk.stage != atEnd {
		t.Fatalf("the question holds the run: it stands at %v", r.walk.stage)
	}
	r.press("y")
	r.wantOn("The run has ended meanwhile.", "This report is kept")
}

// TestRunIsNotLeftUnasked: no way leads from a run but the one that asks.
func TestRunIsNotLeftUnasked(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 1000 })
	r.approve("")
	r.approve("")
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	r.app.nav.Pop()
	r.app.show(claimsTab)
	if !r.walk.running || !r.app.nav.Showing(r.walk) {
		t.Errorf("the run was left\n%s", r.screen())
	}
	r.wantOn("esc asks about that first")
	// Stopped in the middle of a request, it stays until the answer is there.
	r.walk.stage = atWrite
	r.press("esc", "y")
	if r.walk.running || !r.app.nav.Showing(r.walk) {
		t.Errorf("running %v\n%s", r.walk.running, r.screen())
	}
	r.wantOn("It stops after the request that is on its way.")
}

// TestStoppedPodsComeFirst: what cannot wait stands first in the notice of the
// tables, and in what is said when the program ends.
func TestStoppedPodsComeFirst(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 1000 })
	r.approve("")
	r.approve("")
	r.send(tickMsg(noon().Add(103 * time.Second)))
	r.press("esc")
	note := noted(t, r.cluster.op.journal, "bob on desk-1", "mine")
	r.see(webShop(note))
	r.wantOff("PODS STOPPED")
	stopped := webShop(note)
	none := int32(0)
	for _, d := range stopped.Deployments {
		if d.Name == "web" {
			d.Spec.Replicas = &none
		}
	}
	r.see(stopped)
	r.wantOn("PODS STOPPED 1:43 R opens what is unfinished")
	if got := r.parted(); !strings.Contains(got, "Pods have been stopped for 1:43: deploy/web (1 pod).") {
		t.Errorf("said at the end: %q", got)
	}
}

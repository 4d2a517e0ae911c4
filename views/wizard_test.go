package views

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

func TestWizardStartIsTyped(t *testing.T) {
	r := review(t)
	r.press("enter")
	r.wantOn("Type the claim's name to start", "Pods are stopped until the end: deploy/web (1 pod).", "1 deletion among them")
	// A key that is held down types no word.
	r.press("enter", "enter", "enter")
	r.typeText("yes")
	r.press("enter")
	if r.walk.confirmed || len(r.cluster.op.sent) != 0 {
		t.Fatal("it was started without the word")
	}
	r.press("esc")
	r.wantOn("enter start")
}

// TestWizardStepByStep walks to the end by hand: nothing is sent that was not
// approved, the deletion is typed, and the report is kept.
func TestWizardStepByStep(t *testing.T) {
	r := started(t)
	op := r.cluster.op
	r.wantOn("step 1 of 13", "Step 1 is not written yet.")
	r.press("enter", "enter", "enter")
	if len(op.sent) != 0 {
		t.Fatal("a key that was pressed before the diff could be seen approved it")
	}
	r.wantOn("the diff has only just appeared")
	for range 20 {
		if r.walk.stage == atEnd {
			break
		}
		word := ""
		if destroys(r.walk.fresh.Step) {
			r.settleWalk()
			r.press("pgdown", "enter")
			r.wantOn("Type web-data to go on", "This can't be taken back")
			r.press("enter")
			r.wantOn("type web-data to go on, esc to go back")
			r.typeText("web-data")
			r.press("enter")
			continue
		}
		before := len(op.sent)
		r.approve(word)
		if len(op.sent) != before+1 {
			t.Fatalf("%d requests went out for one yes\n%s", len(op.sent)-before, r.screen())
		}
	}
	var want []string
	for _, item := range op.items {
		if item.Act != migration.Await {
			want = append(want, item.ID)
		}
	}
	if !slices.Equal(op.ids(), want) {
		t.Errorf("sent %v, want %v", op.ids(), want)
	}
	r.wantOn("Done, and seen to be done.", "What is different now", "This report is kept in /backups")
	if !strings.Contains(r.cluster.report, "ReadWriteOncePod") {
		t.Errorf("the report that was kept is %q", r.cluster.report)
	}
	r.press("enter", "u", "r")
	if len(op.sent) != len(want) {
		t.Error("a key after the end sent another request")
	}
}

// TestWizardConflictAsksAgain: the new diff is shown, and approved anew.
func TestWizardConflictAsksAgain(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.answer = func(kube.StepPreview) (kube.Performed, error) {
			return kube.Performed{}, apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumes"}, webVolume, errors.New("modified"))
		}
	})
	r.approve("")
	r.wantText("Things changed while you looked. This step was not written")
	r.press("enter")
	if n := len(r.cluster.op.sent); n != 1 {
		t.Fatalf("%d requests were sent, want 1", n)
	}
	// It does not go on for ever.
	for range conflictTries {
		r.approve("")
	}
	r.wantText("the object has changed since it was read")
	r.wantOn("r look again")
}

// TestWizardPlanChanges: until the first write the plan is what it is made
// from; when that changes, the review begins anew.
func TestWizardPlanChanges(t *testing.T) {
	r := started(t)
	r.cluster.plan = func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		_, checks := migration.Draft(webRequest(), webScene())
		j := r.cluster.op.journal
		j.ID = "op-2"
		j.Workloads = slices.Clone(j.Workloads)
		j.Workloads[0].Replicas = 3
		return j, checks, r.cluster.op.items, nil
	}
	r.approve("")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("a plan was carried out that no longer fits")
	}
	r.wantText("What this depends on changed since you reviewed it. Nothing was written")
	r.wantOn("enter start")

	// What forbids it ends it.
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
	r.cluster.plan = func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		return migration.Journal{}, []actions.Check{{Severity: actions.Block, Text: "A second pod uses it"}}, nil, nil
	}
	r.approve("")
	r.wantOn("forbids it now: A second pod uses it")
	if len(r.cluster.op.sent) != 0 {
		t.Error("a plan was carried out that is forbidden")
	}
}

// TestWizardWaits: a wait is looked at with every snapshot and every second,
// says what holds it, and goes on by itself to the next question.
func TestWizardWaits(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 3 })
	op := r.cluster.op
	r.approve("")
	r.approve("")
	r.wantOn("Waiting for 0:00", "pods stopped for 0:00", "You may leave")
	r.wantText("pod shop/web-6d9f (Terminating)", "is attached to node n1")
	looks := op.looks
	r.send(tickMsg(noon().Add(time.Second)))
	r.see(webShop())
	if op.looks != looks+2 {
		t.Errorf("%d looks for a second and a snapshot, want 2", op.looks-looks)
	}
	op.lookErr = errors.New("connection refused")
	r.send(tickMsg(noon().Add(41 * time.Second)))
	r.wantOn("Waiting for 0:41", "It can't be looked at", "pods stopped for 0:41")
	op.lookErr = nil
	r.send(tickMsg(noon().Add(42 * time.Second)))
	r.wantOn("step 4 of 13", "Delete claim shop/web-data", "pods stopped for 0:42")
}

// TestWizardLeaveAndReturn: a wait can be left, and is gone on with.
func TestWizardLeaveAndReturn(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 1000 })
	r.approve("")
	r.approve("")
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	if !r.walk.running {
		t.Fatal("it does not run")
	}
	r.wantOn("Leaving stops the run here.")
	r.wantOff("You may leave")
	// It is asked first, and the run goes on meanwhile.
	for _, answer := range []string{"esc", "n"} {
		r.press("esc")
		r.wantOn("Stop the run? Pods of deploy/web (1 pod) stay stopped")
		r.press(answer)
		r.wantOn("Waiting for")
		r.wantOff("Stop the run?")
		if !r.walk.running {
			t.Fatalf("%s has stopped the run", answer)
		}
	}
	r.press("esc", "y")
	r.wantOn("1 Volumes", "The operation stays where it is")
	r.see(webShop(noted(t, r.cluster.op.journal, "bob on desk-1", "mine")))
	r.press("g")
	r.wantOn("R opens what is unfinished: Migrate to ReadWriteOncePod of shop/web-data, begun 2m ago by ann on laptop-7", "Unfinished:")
	looks := r.cluster.op.looks
	r.send(tickMsg(noon().Add(time.Second)))
	if r.cluster.op.looks != looks {
		t.Error("a page that was left goes on looking")
	}
	r.press("R")
	r.wantOn("step 3 of 13", "Waiting for")
	r.wantOff("R opens what is unfinished")
	if r.walk.running || len(r.cluster.resumed) != 0 {
		t.Errorf("running %v, resumed as another one: %v", r.walk.running, r.cluster.resumed)
	}
}

func TestWizardCannotBeLeftWhileSending(t *testing.T) {
	r := started(t)
	r.walk.stage = atWrite
	r.press("esc")
	r.wantOn("a request is on its way")
	r.press("q")
	r.wantOn("a request is on its way")
}

// TestWizardHaltAndUndo: from a halt the way back is shown, typed, noted, and
// rehearsed before anything of it is written.
func TestWizardHaltAndUndo(t *testing.T) {
	deletion := "delete/" + webVolume
	r := started(t, func(f *fakeOperation) {
		f.moves[deletion] = migration.Move{Kind: migration.Halt, Reason: "somebody made another claim", Remedy: "Look at it"}
	})
	op := r.cluster.op
	r.approve("")
	r.approve("")
	r.wantOn("Halted: somebody made another claim. Look at it.", "r look again and resume", "u undo")
	r.press("enter")
	if len(op.sent) != 2 {
		t.Fatal("enter went on over a halt")
	}
	delete(op.moves, deletion)
	r.press("u")
	r.wantOn("Undo from here on", "After that nothing is deleted or made anew", "esc cancel")
	r.wantText("Noted on the volume, so that whoever goes on from another machine undoes it too")
	r.press("esc")
	r.wantOn("Delete claim shop/web-data")
	if len(op.sent) != 2 {
		t.Fatal("an undo that was cancelled was written")
	}
	r.press("u")
	r.settleWalk()
	r.press("enter")
	r.wantOn("Type web-data to go on")
	r.typeText("web-data")
	r.press("enter")
	if got := op.ids(); got[len(got)-1] != "turn" {
		t.Fatalf("sent %v", got)
	}
	r.wantOn("Undo: Migrate to ReadWriteOncePod", "being undone", "enter go on", "u go on after all")
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	r.wantOn("Undone.", "Undone: Migrate to ReadWriteOncePod")
	r.wantOff("What to change in the manifests")
}

// TestWizardNothingToUndo: before the first write there is nothing to take
// back.
func TestWizardNothingToUndo(t *testing.T) {
	r := started(t)
	r.press("u")
	r.wantOn("undo: nothing was written yet")
}

// TestWizardRehearsalFails: what could not be rehearsed is not started.
func TestWizardRehearsalFails(t *testing.T) {
	r := webRig(t)
	r.cluster.op.rehearsals = func(p *kube.StepPreview) error {
		if p.Step.Act == migration.Create {
			return errors.New("the webhook says no")
		}
		return nil
	}
	r.press("a", "m", "f", "enter")
	r.wantOn("It can't be started", "the webhook says no")
	r.press("enter")
	r.wantOn("start: not all of it could be rehearsed")
	r.cluster.op.rehearsals = nil
	r.press("r")
	r.wantOn("enter start")
}

func TestWizardDryRunOnly(t *testing.T) {
	r := review(t, func(o *Options) { o.DryRun = true })
	r.wantOn("Dry run only: nothing will be written.")
	r.press("enter", "r")
	r.wantOn("started with --dry-run: nothing is written")
	if len(r.cluster.op.sent) != 0 {
		t.Error("something was written")
	}
}

// TestWizardDropsOldAnswers: an answer to a question that is no longer asked
// changes nothing.
func TestWizardDropsOldAnswers(t *testing.T) {
	r := started(t)
	p := r.walk
	old := p.turn - 1
	r.send(
		lookedMsg{page: p, turn: old, err: errors.New("too late")},
		stepPreviewedMsg{page: p, turn: old, err: errors.New("too late")},
		performedMsg{page: p, turn: old, err: errors.New("too late")},
	)
	r.wantOff("too late")
}

func TestWizardCommands(t *testing.T) {
	r := review(t)
	r.press("c")
	r.wantOn("kubectl patch pv/"+webVolume, "Migrate to ReadWriteOncePod: shop/web-data on "+webVolume)
	r.press("esc")
	r.wantOn("enter start")
}

// TestBegunGoesOnWithoutFullRehearsal: what is under way is not locked by a
// dry run of a later step.
func TestBegunGoesOnWithoutFullRehearsal(t *testing.T) {
	r := webRig(t)
	op := r.cluster.op
	op.holder, op.done = op.run.Holder, 3
	op.rehearsals = func(p *kube.StepPreview) error {
		if p.Step.Act == migration.Create {
			return errors.New("the webhook says no")
		}
		return nil
	}
	r.see(webShop(noted(t, op.journal, "bob on desk-1", "mine")))
	r.press("R")
	r.wantOn("not all that is left could be rehearsed: the webhook says no", "enter go on")
	r.wantOff("It can't be started", "r run the rest")
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
	if r.walk.stage != atDiff {
		t.Errorf("stage %v\n%s", r.walk.stage, r.screen())
	}
	r.press("r")
	r.wantOn("run the rest: not all of it could be rehearsed")
}

// TestUnexpectedAtTheEnd: what the last write did otherwise is said.
func TestUnexpectedAtTheEnd(t *testing.T) {
	r := review(t)
	op := r.cluster.op
	last := ""
	for _, i := range op.items {
		if i.Act != migration.Await {
			last = i.ID
		}
	}
	op.answer = func(p kube.StepPreview) (kube.Performed, error) {
		if p.Step.ID == last {
			return kube.Performed{Step: p.Step, Unexpected: "metadata.labels.x differs"}, nil
		}
		return kube.Performed{}, nil
	}
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	if r.walk.stage != atEnd {
		t.Fatalf("stage %v", r.walk.stage)
	}
	r.wantText("What the server did otherwise than its dry run said", "metadata.labels.x differs")
	if !strings.Contains(r.cluster.report, "metadata.labels.x differs") {
		t.Errorf("not in the report that is kept:\n%s", r.cluster.report)
	}
}

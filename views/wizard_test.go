package views

import (
	"errors"
	"fmt"
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

// webRig is the shop with the claim that is to be migrated, and the operation
// that does it.
func webRig(t *testing.T, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, shop(), edit...)
	r.toWeb()
	return r
}

func (r *rig) toWeb() {
	r.t.Helper()
	r.see(webShop())
	r.cluster.op = newFakeOperation(r.t)
	r.press("/")
	r.typeText("web-data")
	r.press("enter")
}

// review opens the review of the operation.
func review(t *testing.T, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, shop(), edit...)
	r.toReview()
	return r
}

func (r *rig) toReview() {
	r.t.Helper()
	r.toWeb()
	r.press("a", "m", "f", "enter")
}

// lookAtAll looks at every difference for as long as it takes.
func (r *rig) lookAtAll() {
	r.t.Helper()
	for range 400 {
		unseen := r.walk.unseen()
		if len(unseen) == 0 {
			return
		}
		if here, _ := r.walk.list.Selected(); !slices.Contains(unseen, here) || r.walk.narrow && !r.walk.detail {
			r.press("v")
		}
		if r.press("pgdown"); r.walk.pager.Read(r.walk.diffEnd) {
			r.send(tickMsg(r.walk.now))
		}
	}
	r.t.Fatalf("%v are not looked at\n%s", r.walk.unseen(), r.screen())
}

// runRest asks for the rest, after it was looked at.
func (r *rig) runRest() {
	r.t.Helper()
	r.lookAtAll()
	r.press("r")
}

// started has typed the word, and stands before the first step.
func started(t *testing.T, edit ...func(*fakeOperation)) *rig {
	t.Helper()
	r := newRig(t, shop())
	r.toStart(edit...)
	return r
}

func (r *rig) toStart(edit ...func(*fakeOperation)) {
	r.t.Helper()
	r.toReview()
	for _, e := range edit {
		e(r.cluster.op)
	}
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
}

// settleWalk lets the diff on the page of the operation have been seen long
// enough.
func (r *rig) settleWalk() {
	r.send(walkSettledMsg{page: r.walk, turn: r.walk.turn, wait: r.walk.wait, shown: true})
}

// approve reads the diff to its end and says yes; a word is typed where one is
// asked for.
func (r *rig) approve(word string) {
	r.t.Helper()
	r.settleWalk()
	r.press("pgdown", "pgdown", "enter")
	if word != "" {
		r.typeText(word)
		r.press("enter")
	}
}

// wantText looks for sentences in the text of the step, which the list beside it
// takes apart on the screen.
func (r *rig) wantText(texts ...string) {
	r.t.Helper()
	flat := strings.Join(strings.Fields(r.walk.pager.Text()), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			r.t.Errorf("not said: %q\n%s", text, r.screen())
		}
	}
}

func TestWizardChecksFirst(t *testing.T) {
	r := webRig(t)
	r.press("a")
	r.wantOn("Migrate to ReadWriteOncePod…", "Move or rename the claim…", "Re-create the claim… not now: its claim is there")
	r.press("m", "down")
	r.wantOn("Full", "Light", "and no pod stops")
	r.press("f")
	r.wantOn("What was looked at before anything is written", "Nothing is written yet.", "are Bound to each other", "enter review")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("something was written before the review")
	}
	r.press("enter")
	r.wantOn("step", "Retain, note the plan", "dry run by the server: ok", "enter start", "v next difference")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("something was written by the review")
	}
}

func TestWizardLightWay(t *testing.T) {
	r := webRig(t)
	r.press("a", "m", "l")
	if p := r.top(); p == nil || p.req.Verb != actions.SinglePodLight || p.req.Volume.Name != webVolume {
		t.Fatalf("the light way opens %+v", p)
	}
}

// TestWizardMenuReasons: what is plainly impossible is said in the menu.
func TestWizardMenuReasons(t *testing.T) {
	for name, want := range map[string][]string{
		"nfs-archive": {"Migrate to ReadWriteOncePod… not now: its modes are RWX", "Move or rename the claim… not now: the volume has no claim", "Re-create the claim… not now: it names no claim"},
		"pvc-5e28b8":  {"Migrate to ReadWriteOncePod… not now: its claim is gone; re-create that first", "Re-create the claim… make the claim that the volume lacks"},
		"pvc-77b1":    {"Migrate to ReadWriteOncePod… not now: the volume is being deleted"},
		"example-pv":  {"Migrate to ReadWriteOncePod… not now: it is no CSI volume"},
	} {
		r := newRig(t, shop())
		r.resize(160, 45)
		r.press("/")
		r.typeText(name)
		r.press("enter", "a")
		r.wantOn(want...)
	}
	r := webRig(t, func(o *Options) { o.ReadOnly = true })
	r.press("a", "m")
	r.wantOn("Migrate to ReadWriteOncePod… not now: started with --read-only")
	if len(r.cluster.planned) != 0 {
		t.Error("something was planned in spite of --read-only")
	}
}

func TestWizardBlocked(t *testing.T) {
	r := webRig(t)
	r.cluster.plan = func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		return migration.Journal{}, []actions.Check{
			{Severity: actions.Pass, Text: "All is well"},
			{Severity: actions.Block, Text: "Two pods use it", Remedy: "Stop one of them"},
		}, nil, nil
	}
	r.press("a", "m", "f")
	r.wantOn("It can't be started: 1 check forbids it", "Blocked, nothing is written: Two pods use it.", "Stop one of them")
	if at, ok := strings.Index(r.screen(), "Two pods"), strings.Index(r.screen(), "All is well"); at > ok {
		t.Error("what is worst does not come first")
	}
	r.press("enter")
	r.wantOff("Steps")
	r.wantOn("review: Two pods use it")
	r.cluster.plan = nil
	r.press("r")
	r.wantOn("enter review")
}

func TestWizardOptionsReplan(t *testing.T) {
	r := webRig(t)
	r.cluster.operators = []string{"Kafka shop/main"}
	r.cluster.plan = func(req migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		var checks []actions.Check
		if !req.Recreate {
			checks = append(checks, actions.Check{ID: "surge", Severity: actions.Warn, Text: "It would wait for itself"})
		}
		if !req.DeleteCompleted {
			checks = append(checks, actions.Check{ID: "pods-hold", Severity: actions.Block, Text: "Completed pods hold it"})
		}
		if len(req.Operators) == 0 {
			checks = append(checks, actions.Check{
				ID: "owner-operator", Severity: actions.Block, Text: "It belongs to Kafka shop/main",
				Remedy: "Pause its operator",
			})
		}
		return r.cluster.op.journal, checks, r.cluster.op.items, nil
	}
	r.press("a", "m", "f", "s", "x")
	r.wantOn("Strategy Recreate: set", "Completed pods: deleted", "Responsibility taken: not yet for Kafka shop/main")
	r.press("A")
	r.typeText("Kafka shop/other")
	r.press("enter")
	r.wantOn("type Kafka shop/main to go on")
	for range "other" {
		r.press("backspace")
	}
	r.typeText("main")
	r.press("enter")
	r.wantOn("Responsibility taken: Kafka shop/main", "enter review")
	last := r.cluster.planned[len(r.cluster.planned)-1]
	if !last.Recreate || !last.DeleteCompleted || !slices.Equal(last.Operators, []string{"Kafka shop/main"}) {
		t.Errorf("planned with %+v", last)
	}
}

func TestParseOrdinals(t *testing.T) {
	all := []int{0, 1, 2, 5}
	for text, want := range map[string][]int{"all": nil, "": nil, "0": {0}, "2, 0": {0, 2}, "1-5": {1, 2, 5}, "0-5": nil} {
		if got, err := parseOrdinals(text, all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "3", "0-9", "2-1", "0,,1", "-1"} {
		if got, err := parseOrdinals(text, all); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

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
		}, 3, "Stopped:"},
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
	r.press("esc")
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
	r.wantOn("Stopped: somebody made another claim. Look at it.", "r look again", "u undo")
	r.press("enter")
	if len(op.sent) != 2 {
		t.Fatal("enter went on over a halt")
	}
	delete(op.moves, deletion)
	r.press("u")
	r.wantOn("Undo from here on", "Noted on the volume, so that whoever goes on from another machine undoes it too", "esc cancel")
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

// TestWizardAnotherSession: what somebody else has begun is seen on the volume;
// it is taken over by a typed word, and rehearsed before it goes on.
func TestWizardAnotherSession(t *testing.T) {
	r := webRig(t)
	op := r.cluster.op
	op.holder = migration.Holder{Who: "ann on laptop-7", Token: "hers", Since: noon().Add(-2 * time.Minute)}
	op.done = 3
	r.see(webShop(noted(t, op.journal, "ann on laptop-7", "hers")))
	r.wantOn("R opens what is unfinished", "▶ pvc-3f0c", "Unfinished: Migrate to ReadWriteOncePod of shop/web-data, begun 2m ago by ann on laptop-7")
	r.press("a")
	r.wantOn("not now: an operation is unfinished on it; R opens that")
	r.press("esc", "R")
	r.wantOn("ann on laptop-7 has been at work on this", "t take over")
	r.wantText("Ask them, or take it over.")
	if len(r.cluster.resumed) != 1 || r.cluster.resumed[0].ID != "op-1" {
		t.Fatalf("resumed %+v", r.cluster.resumed)
	}
	r.press("u")
	r.wantOn("undo: somebody else holds it; take it over first")
	r.press("t")
	r.settleWalk()
	r.press("enter")
	r.wantOn("Type web-data to go on", "Only one may be at work on it")
	r.typeText("web-data")
	r.press("enter")
	if !slices.Equal(op.ids(), []string{"take-over"}) {
		t.Fatalf("sent %v", op.ids())
	}
	r.wantOn("Under way, begun by ann on laptop-7.", "enter go on", "step 4 of 13")
	r.press("enter")
	r.wantOn("Step 4 is not written yet.")
	// For how long the pods were stopped before is not known.
	r.wantOn("pods stopped for more than 0:00")
}

// TestWizardOwnOtherSession: one's own run that crashed is told from somebody
// else's.
func TestWizardOwnOtherSession(t *testing.T) {
	r := webRig(t)
	op := r.cluster.op
	op.holder, op.done = migration.Holder{Who: op.run.Holder.Who, Token: "former"}, 2
	r.see(webShop(noted(t, op.journal, op.run.Holder.Who, "former")))
	r.press("R")
	r.wantOn("That is this program, run by you another time")
}

func TestWizardBrokenJournal(t *testing.T) {
	r := webRig(t)
	broken := noted(t, r.cluster.op.journal, "ann", "x")
	objects := webShop(broken)
	for _, v := range objects.Volumes {
		if v.Name == webVolume {
			v.Annotations[migration.AnnotationJournal] = "{"
		}
	}
	r.see(objects)
	r.wantOn("R looks for a backup: the note of an unfinished operation can't be used", "An unfinished operation is noted on it, which can't be used")
	r.press("R")
	r.wantOn("Unfinished operations, and backups", "the operation noted on volume")
	r.press("esc")
	r.cluster.backups = []kube.Backup{{Path: "/backups/op-1", Journal: r.cluster.op.journal}, {Path: "/backups/bad", Err: errors.New("no journal")}}
	r.press("R")
	r.typeText("from the backup")
	r.press("enter")
	r.wantOn("13 steps", "enter start")
	if len(r.cluster.resumed) != 1 || r.cluster.resumed[0].Journal == nil {
		t.Errorf("resumed %+v", r.cluster.resumed)
	}
}

// TestWizardMember: a volume that only points to its lead leads there.
func TestWizardMember(t *testing.T) {
	r := webRig(t)
	objects := webShop(noted(t, r.cluster.op.journal, "ann", "x"))
	for _, v := range objects.Volumes {
		if v.Name == "nfs-archive" {
			v.Annotations = map[string]string{migration.AnnotationPlan: "op-1 " + webVolume}
		}
	}
	r.see(objects)
	r.press("esc", "/")
	r.typeText("nfs-archive")
	r.press("enter")
	r.wantOn("Part of an unfinished operation, noted on volume " + webVolume)
	r.press("R")
	if len(r.cluster.resumed) != 1 || r.cluster.resumed[0].Lead != webVolume {
		t.Errorf("resumed %+v", r.cluster.resumed)
	}
}

func TestWizardNoOperations(t *testing.T) {
	r := webRig(t)
	r.press("R")
	r.wantOn("No operation is unfinished, and there are no backups of any.")
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

// TestWizardNeedsTheWholeDiff: what was not on the screen to its end is not
// approved, and neither is a step that is not the one on screen.
func TestWizardNeedsTheWholeDiff(t *testing.T) {
	r := review(t)
	r.resize(80, 24)
	r.cluster.op.previews = func(p *kube.StepPreview) error {
		p.Diff = "@@ -1 +1 @@\n" + strings.Repeat("-  line\n", 60)
		return nil
	}
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
	r.settleWalk()
	r.press("enter")
	r.wantOn("the difference goes on below")
	r.press("tab", "enter")
	r.wantOn("the difference is on the other side")
	r.press("tab", "G", "enter")
	r.wantOn("was skipped")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("a diff was approved that had not been on the screen")
	}
	r.press("home")
	for range 8 {
		r.press("pgdown")
	}
	r.press("j", "enter")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("a step was approved while another one was on the screen")
	}
	// Enter led back to the step; its diff has to be read again.
	r.settleWalk()
	for range 8 {
		r.press("pgdown")
	}
	r.press("enter")
	if len(r.cluster.op.sent) != 1 {
		t.Errorf("after all of it was on the screen it can't be approved\n%s", r.screen())
	}
}

// TestWizardUnsupportedIsTyped: what the server can't dry-run is said, and
// typed.
func TestWizardUnsupportedIsTyped(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.previews = func(p *kube.StepPreview) error {
			p.DryRun = kube.DryRunResult{Reason: "webhook w does not support dry run"}
			return nil
		}
	})
	r.wantOn("NOT dry-run by the server")
	r.settleWalk()
	r.press("enter")
	r.wantOn("The server could not dry-run this")
	r.press("enter")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("it was sent without the word")
	}
	r.typeText(webVolume)
	r.press("enter")
	if len(r.cluster.op.sent) != 1 {
		t.Error("it was not sent with the word")
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

func TestWizardMoveTarget(t *testing.T) {
	r := webRig(t)
	r.press("a", "v")
	r.wantOn("Move claim shop/web-data to", "that is the claim it has")
	for range "web-data" {
		r.press("backspace")
	}
	r.typeText("Web_Data")
	r.wantOn("can't be a claim's name")
	for range "Web_Data" {
		r.press("backspace")
	}
	r.typeText("web-files")
	r.press("enter")
	if len(r.cluster.planned) != 1 || r.cluster.planned[0].To.String() != "shop/web-files" || r.cluster.planned[0].Verb != migration.MoveClaim {
		t.Errorf("planned %+v", r.cluster.planned)
	}
}

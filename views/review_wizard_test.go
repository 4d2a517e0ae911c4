package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

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

// TestTurnKeepsToTheHolder: an operation that somebody else holds is not turned
// around after a look that failed.
func TestTurnKeepsToTheHolder(t *testing.T) {
	r := webRig(t)
	op := r.cluster.op
	op.holder = migration.Holder{Who: "ann on laptop-7", Token: "hers", Since: noon()}
	op.done = 3
	r.see(webShop(noted(t, op.journal, "ann on laptop-7", "hers")))
	r.press("R")
	op.lookErr = errors.New("connection refused")
	r.press("r")
	r.wantOn("Stopped: ")
	r.press("u")
	if r.walk.aside != nil {
		t.Fatalf("the way back is offered while somebody else holds it\n%s", r.screen())
	}
	r.wantOn("somebody else holds it")
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

// TestClockOfPodsThatRun: an operation that is turned around after the pods
// were started again has stopped none.
func TestClockOfPodsThatRun(t *testing.T) {
	item := func(id string, state migration.State) migration.Item {
		return migration.Item{Step: migration.Step{ID: id}, State: state}
	}
	steps := func(stop, started migration.State) []migration.Item {
		return []migration.Item{item("note/v", migration.Done), item("stop/shop/web", stop), item("started/shop/web", started)}
	}
	at := func(minutes int) time.Time { return noon().Add(time.Duration(minutes) * time.Minute) }
	var c walkClock
	c.see(steps(migration.Now, migration.Later), at(0))
	c.see(steps(migration.Done, migration.Later), at(1))
	if got := c.pods(at(2)); got != "pods stopped for 1:00" {
		t.Errorf("stopped: %q", got)
	}
	turned := c
	turned.again()
	if got := turned.pods(at(3)); got != "pods stopped for 2:00" {
		t.Errorf("turned around while they are stopped: %q", got)
	}
	c.see(steps(migration.Done, migration.Done), at(3))
	if got := c.pods(at(9)); got != "pods were stopped for 2:00" {
		t.Errorf("started: %q", got)
	}
	c.again()
	if got := c.pods(at(60)); got != "" {
		t.Errorf("turned around while they run: %q", got)
	}
	c.see(steps(migration.Done, migration.Later), at(61))
	if got := c.pods(at(62)); got != "pods stopped for 1:00" {
		t.Errorf("stopped on the way back: %q", got)
	}
}

// TestStartKeepsWhatCounts: where there is no room for all that is said before
// the word, the number of deletions and the pods that stop are said.
func TestStartKeepsWhatCounts(t *testing.T) {
	r := newRig(t, shop())
	r.resize(80, 24)
	r.toWeb()
	r.cluster.plan = func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		var checks []actions.Check
		for i := range 30 {
			checks = append(checks, actions.Check{ID: fmt.Sprint(i), Severity: actions.Warn, Text: fmt.Sprintf("Warning %d is a long one so that it goes on on the next line of the prompt", i)})
		}
		return r.cluster.op.journal, checks, r.cluster.op.items, nil
	}
	r.press("a", "m", "f", "enter")
	r.runRest()
	shown := strings.Join(strings.Fields(r.dialog()), " ")
	for _, want := range []string{"1 deletion among them", "Pods are stopped until the end: deploy/web (1 pod).", "Warning 0", "type web-data to go on"} {
		if !strings.Contains(shown, want) {
			t.Errorf("not said: %q\n%s", want, r.screen())
		}
	}
}

// TestWayOutIsShown: on a small screen, too, the key that leaves is named.
func TestWayOutIsShown(t *testing.T) {
	held := func(r *rig) {
		r.toWeb()
		r.cluster.op.done = 3
		r.cluster.op.holder = migration.Holder{Who: "ann on laptop-7", Token: "hers", Since: noon()}
		r.see(webShop(noted(r.t, r.cluster.op.journal, "ann on laptop-7", "hers")))
		r.press("R")
	}
	for name, open := range map[string]func(*rig){
		"review": func(r *rig) { r.toReview() },
		"diff":   func(r *rig) { r.toStart(); r.approve(""); r.settleWalk() },
		"wait": func(r *rig) {
			r.toStart(func(f *fakeOperation) { f.waits["unused"] = 1000 })
			r.approve("")
			r.approve("")
		},
		"undo": func(r *rig) {
			r.toStart()
			r.approve("")
			r.approve("")
			r.press("u")
			r.settleWalk()
		},
		"held": held,
	} {
		r := newRig(t, shop())
		open(r)
		for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 15}} {
			r.resize(size[0], size[1])
			lines := strings.Split(r.screen(), "\n")
			if last := lines[len(lines)-1]; !strings.Contains(last, "esc ") {
				t.Errorf("%s at %v: %q", name, size, last)
			}
		}
	}
}

// TestLongWordIsShown: a word that fits neither the title nor the field of the
// prompt is in its text, whole.
func TestLongWordIsShown(t *testing.T) {
	name := strings.Repeat("abcdefghi-", 20) + "end"
	for _, size := range [][2]int{{120, 40}, {60, 15}} {
		r := started(t, func(f *fakeOperation) {
			f.previews = func(p *kube.StepPreview) error {
				p.DryRun = kube.DryRunResult{Reason: "webhook w does not support dry run"}
				p.Step.Target.Name = name
				return nil
			}
		})
		r.settleWalk()
		r.resize(size[0], size[1])
		r.press("pgdown", "pgdown", "pgdown", "pgdown", "enter")
		if shown := strings.Join(strings.Fields(r.dialog()), ""); !strings.Contains(shown, name) {
			t.Errorf("the word is not shown whole at %v\n%s", size, r.screen())
		}
	}
}

// dialog is what stands in the box that is open.
func (r *rig) dialog() string {
	r.t.Helper()
	var b strings.Builder
	from, to := -1, 0
	for line := range strings.SplitSeq(r.screen(), "\n") {
		cells := []rune(line)
		switch at := slices.Index(cells, '╭'); {
		case at >= 0:
			from, to = at+1, slices.Index(cells, '╮')
		case slices.Contains(cells, '╰'):
			return b.String()
		case from > 0:
			b.WriteString(string(cells[from:to]) + "\n")
		}
	}
	r.t.Fatalf("no dialog is open\n%s", r.screen())
	return ""
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

// TestReadOnlyResume: nothing is claimed that was not done.
func TestReadOnlyResume(t *testing.T) {
	r := webRig(t, func(o *Options) { o.ReadOnly = true })
	op := r.cluster.op
	op.holder, op.done = op.run.Holder, 3
	r.see(webShop(noted(t, op.journal, "bob on desk-1", "mine")))
	r.press("R")
	r.wantOn("Read-only: nothing will be written, and nothing was rehearsed.")
	r.wantOff("What is left was rehearsed", "enter goes on")
}

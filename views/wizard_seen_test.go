package views

import (
	"testing"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// TestRunTakesWhatWasSeen: what a run writes without further questions has been
// on the screen, to its end and for as long as it takes to look.
func TestRunTakesWhatWasSeen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		r := newRig(t, shop())
		r.resize(size[0], size[1])
		r.toReview()
		r.press("r")
		r.wantOn("to look at before it can run by itself: v shows the next")
		r.wantOff("Type the claim's name")
		// A key that is held down flashes through them all.
		for range 40 {
			r.press("v")
		}
		r.send(tickMsg(r.walk.now))
		r.press("r")
		r.wantOff("Type the claim's name")
		r.runRest()
		r.wantOn("Type the claim's name to run")
		r.typeText("web-data")
		r.press("enter")
		if r.walk.stage != atEnd {
			t.Errorf("%v: stage %v, sent %v", size, r.walk.stage, r.cluster.op.ids())
		}
	}
}

// TestResumeAfterAHalt: to look again after a halt is to resume, which is
// confirmed anew.
func TestResumeAfterAHalt(t *testing.T) {
	const deletion = "delete/" + webVolume
	r := started(t, func(f *fakeOperation) {
		f.moves[deletion] = migration.Move{Kind: migration.Halt, Reason: "somebody scaled it back", Remedy: "Find out who"}
	})
	r.approve("")
	r.approve("")
	r.wantOn("somebody scaled it back")
	delete(r.cluster.op.moves, deletion)
	r.press("r")
	if r.cluster.op.resumed != 1 {
		t.Errorf("resumed %d times", r.cluster.op.resumed)
	}
	sent := len(r.cluster.op.sent)
	r.settleWalk()
	r.press("enter")
	if got := len(r.cluster.op.sent); got != sent {
		t.Errorf("%d requests went out without another word\n%s", got-sent, r.screen())
	}
}

// TestFreshDifferenceCounts: a step that was looked at as it is now need not be
// looked at as it was rehearsed.
func TestFreshDifferenceCounts(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.previews = func(p *kube.StepPreview) error {
			p.Diff += " status:\n+  phase: another\n"
			return nil
		}
	})
	r.settleWalk()
	before := len(r.walk.unseen())
	for range 3 {
		r.press("pgdown")
		r.send(tickMsg(r.walk.now))
	}
	if after := len(r.walk.unseen()); after != before-1 {
		t.Errorf("%d differences were left, and are %d after one was looked at\n%s", before, after, r.screen())
	}
}

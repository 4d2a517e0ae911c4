package views

import (
	"strings"
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

// TestFlashesAreNotSeen: a difference that comes back to the screen as a second
// passes has not been there all the while.
func TestFlashesAreNotSeen(t *testing.T) {
	for _, tc := range []struct {
		w, h int
		keys []string
	}{{120, 40, []string{"j", "k"}}, {80, 24, []string{"tab", "tab"}}} {
		r := newRig(t, shop())
		r.resize(tc.w, tc.h)
		r.toReview()
		r.press("v")
		r.press("pgdown")
		before := len(r.walk.unseen())
		for range 5 {
			r.press(tc.keys...)
			r.press("pgdown")
			r.send(tickMsg(r.walk.now))
		}
		if after := len(r.walk.unseen()); after != before {
			t.Errorf("%v at %dx%d: %d differences were left, and %d are", tc.keys, tc.w, tc.h, before, after)
		}
		r.send(tickMsg(r.walk.now))
		if after := len(r.walk.unseen()); after != before-1 {
			t.Errorf("%v at %dx%d: a look does not count: %d differences were left, and %d are\n%s", tc.keys, tc.w, tc.h, before, after, r.screen())
		}
	}
}

// TestOneKeyReadsAll: v, or the space bar, turns a long difference by screens and
// then goes to the next, until none is left. It never leaves one before that has
// been on the screen to its end for as long as it takes to look.
func TestOneKeyReadsAll(t *testing.T) {
	for _, key := range []string{"v", "space"} {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {60, 15}} {
			r := newRig(t, shop())
			r.resize(size[0], size[1])
			r.toWeb()
			r.cluster.op.rehearsals = func(p *kube.StepPreview) error {
				if p.Step.Act == migration.Create {
					p.Diff += strings.Repeat("+  a long line\n", 90)
				}
				return nil
			}
			r.press("a", "m", "f", "enter")
			for range 100 {
				if len(r.walk.unseen()) == 0 {
					break
				}
				r.press(key)
				r.send(tickMsg(r.walk.now), tickMsg(r.walk.now))
			}
			if left := r.walk.unseen(); len(left) > 0 {
				t.Fatalf("%s at %v: %v are left\n%s", key, size, left, r.screen())
			}
			r.press("r")
			r.wantOn("run all that was reviewed")
		}
	}
	r := review(t)
	r.press("v")
	here, _ := r.walk.list.Selected()
	r.press("v", "v", "v")
	if now, _ := r.walk.list.Selected(); now != here || len(r.walk.unseen()) == 0 {
		t.Errorf("from %s it went on to %s before that was looked at", here, now)
	}
	r.wantOn("look at it for a second, then v goes to the next")
}

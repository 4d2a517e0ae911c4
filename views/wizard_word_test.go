package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

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

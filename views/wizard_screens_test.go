package views

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// wizardScenes are the states of an operation.
func wizardScenes() []scene {
	deletion := "delete/" + webVolume
	return []scene{
		{"wizard-ways", func(r *rig) { r.toWeb(); r.press("a", "m") }},
		{"wizard-checks", func(r *rig) { r.toWeb(); r.press("a", "m", "f") }},
		{"wizard-blocked", func(r *rig) {
			r.toWeb()
			r.cluster.plan = func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
				return migration.Journal{}, []actions.Check{
					{Severity: actions.Pass, Text: "Volume and claim are Bound to each other"},
					{ID: "surge", Severity: actions.Warn, Text: "A rollout would wait for itself", Remedy: "Set the strategy to Recreate"},
					{Severity: actions.Block, Text: "Two pods use the claim", Remedy: "Stop one of them"},
				}, nil, nil
			}
			r.press("a", "m", "f")
		}},
		{"wizard-review", func(r *rig) { r.toReview(); r.press("j", "j", "j") }},
		{"wizard-start", func(r *rig) { r.toReview(); r.runRest() }},
		{"wizard-step", func(r *rig) { r.toStart(); r.settleWalk() }},
		{"wizard-typed", func(r *rig) {
			r.toStart()
			r.approve("")
			r.approve("")
			r.settleWalk()
			r.press("pgdown", "enter")
		}},
		{"wizard-wait", func(r *rig) {
			r.toStart(func(f *fakeOperation) { f.waits["unused"] = 1000 })
			r.approve("")
			r.approve("")
			r.send(tickMsg(noon().Add(41 * time.Second)))
		}},
		{"wizard-halt", func(r *rig) {
			r.toStart(func(f *fakeOperation) {
				f.moves[deletion] = migration.Move{
					Kind: migration.Halt, Reason: "claim shop/web-data is not the one that this is about: another of that name was made, by helm",
					Remedy: "Look at what it holds; keep whoever made it from making it again, and delete it; then resume",
				}
			})
			r.approve("")
			r.approve("")
		}},
		{"wizard-undo", func(r *rig) {
			r.toStart()
			r.approve("")
			r.approve("")
			r.press("u")
			r.settleWalk()
		}},
		{"wizard-held", func(r *rig) {
			r.toWeb()
			r.cluster.op.done = 3
			r.cluster.op.holder = migration.Holder{Who: "ann on laptop-7", Token: "hers", Since: noon()}
			r.see(webShop(noted(r.t, r.cluster.op.journal, "ann on laptop-7", "hers")))
			r.press("R")
		}},
		{"wizard-end", func(r *rig) {
			r.toReview()
			r.runRest()
			r.typeText("web-data")
			r.press("enter")
		}},
		{"unfinished", func(r *rig) {
			r.toWeb()
			r.press("esc")
			r.see(webShop(noted(r.t, r.cluster.op.journal, "ann on laptop-7", "hers")))
		}},
	}
}

// TestWizardLooks compares a step in colour, for a light background, and in
// ASCII.
func TestWizardLooks(t *testing.T) {
	for name, edit := range map[string]func(*Options){
		"light": func(o *Options) { o.Dark = false },
		"ascii": func(o *Options) { o.ASCII = true; o.Color = false },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, shop(), edit)
			r.resize(120, 30)
			r.toStart()
			r.approve("")
			r.settleWalk()
			golden.RequireEqual(t, r.app.View().Content)
		})
	}
}

// TestWizardHostileNames: what the cluster and the note on a volume say never
// drives the terminal, and never breaks the frame.
func TestWizardHostileNames(t *testing.T) {
	evil := "x\x1b[31m\x1b]0;owned\x07\u202e\u200b\x9b2J\r\n"
	r := newRig(t, shop())
	r.toReview()
	op := r.cluster.op
	op.items[0].Title += evil
	op.items[0].Why += evil
	op.items[2].ID, op.items[2].Title = evil, evil+strings.Repeat("長", 80)
	op.moves[evil] = migration.Move{Kind: migration.Halt, Reason: evil, Remedy: evil}
	op.previews = func(p *kube.StepPreview) error {
		p.Diff = "@@ -1 +1 @@\n-" + evil + strings.Repeat("長", 200) + "\n"
		return nil
	}
	op.holder = migration.Holder{Who: evil, Token: "mine"}
	looks := func(what string) {
		t.Helper()
		for _, size := range [][2]int{{60, 15}, {80, 24}, {111, 20}, {160, 45}} {
			r.resize(size[0], size[1])
			text := r.app.View().Content
			for _, bad := range []string{"\x1b]", "\x07", "\u202e", "\u200b", "\x9b", "\r", "[31m\x1b]"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s: %q reaches the terminal", what, bad)
				}
			}
			for line := range strings.SplitSeq(text, "\n") {
				if got := ansi.StringWidth(line); got != size[0] {
					t.Errorf("%s at %v: a line is %d wide", what, size, got)
				}
			}
		}
		r.resize(120, 40)
	}
	looks("review")
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
	looks("diff")
	r.approve("")
	r.approve("")
	looks("halt")
	r.press("c")
	looks("commands")
	r.press("esc", "esc")
	j := op.journal
	j.By = evil
	j.Request.Verb = migration.Verb(evil)
	r.see(webShop(noted(t, j, "who", "x"), func(v *corev1.PersistentVolume) { v.Name = webVolume }))
	looks("table")
	r.press("R")
	looks("resumed")
}

package views

import (
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// TestReviewIsRehearsedAnew: a review that was left is good for as long as what
// it is about is as it was. After that it is rehearsed anew, and what is new has
// to be looked at before it can run.
func TestReviewIsRehearsedAnew(t *testing.T) {
	web := actions.ClaimKey{Namespace: "shop", Name: "web-data"}
	for name, tc := range map[string]struct {
		change func(*migration.Scene)
		anew   bool
	}{
		"nothing":               {func(*migration.Scene) {}, false},
		"the pods":              {func(s *migration.Scene) { s.Pods = nil }, false},
		"a workload's status":   {func(s *migration.Scene) { s.Deployments[0].ResourceVersion = "2" }, false},
		"another workload":      {func(s *migration.Scene) { s.ReplicaSets[0].Generation++ }, false},
		"the volume":            {func(s *migration.Scene) { s.Volumes[webVolume].ResourceVersion = "777" }, true},
		"the claim":             {func(s *migration.Scene) { s.Claims[web].ResourceVersion = "777" }, true},
		"the claim is gone":     {func(s *migration.Scene) { s.Claims[web] = nil }, true},
		"what a workload wants": {func(s *migration.Scene) { s.Deployments[0].Generation++ }, true},
		"the workload is gone":  {func(s *migration.Scene) { s.Deployments = nil }, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := review(t)
			op := r.cluster.op
			r.lookAtAll()
			r.press("esc")
			op.scene = tc.change
			op.rehearsals = func(p *kube.StepPreview) error {
				if p.Step.Act == migration.Scale {
					p.Diff += "+  set: by a webhook\n"
				}
				return nil
			}
			r.press("enter")
			r.press("r")
			if !tc.anew {
				if op.rehearsed != 1 {
					t.Errorf("rehearsed %d times", op.rehearsed)
				}
				r.wantOn("Type the claim's name to run")
				return
			}
			if op.rehearsed != 2 {
				t.Errorf("rehearsed %d times, want 2", op.rehearsed)
			}
			r.wantOff("Type the claim's name to run")
			r.wantText("What this is about changed since you left it")
			r.runRest()
			r.wantOn("Type the claim's name to run")
		})
	}
}

// TestReturnRehearsesAnew: so it is with an operation under way, whose rest may
// be run.
func TestReturnRehearsesAnew(t *testing.T) {
	r := started(t, func(f *fakeOperation) { f.waits["unused"] = 1000 })
	r.approve("")
	r.approve("")
	r.wantOn("Waiting for")
	r.press("esc")
	r.see(webShop(noted(t, r.cluster.op.journal, "bob on desk-1", "mine")))
	r.cluster.op.scene = func(s *migration.Scene) { s.Volumes[webVolume].ResourceVersion = "777" }
	r.press("R")
	if r.cluster.op.rehearsed != 2 || r.walk.stage != atReview {
		t.Errorf("rehearsed %d times, stage %v", r.cluster.op.rehearsed, r.walk.stage)
	}
	r.wantText("What this is about changed since you left it")
	r.press("enter")
	r.wantOn("Waiting for")
}

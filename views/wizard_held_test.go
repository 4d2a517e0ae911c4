package views

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/claimref/claimref/actions/migration"
)

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
	r.wantOn("Halted: ")
	r.press("u")
	if r.walk.aside != nil {
		t.Fatalf("the way back is offered while somebody else holds it\n%s", r.screen())
	}
	r.wantOn("somebody else holds it")
}

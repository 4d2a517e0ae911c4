package views

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/kube"
)

// parted is what is said when the program ends now.
func (r *rig) parted() string { return strings.Join(r.app.Partings(0), "\n") }

func (r *rig) wantParted(want string) {
	r.t.Helper()
	if got := r.parted(); got != want {
		r.t.Errorf("said at the end: %q\nwant %q", got, want)
	}
}

// TestPartingOfBulk: whenever the program ends, it is said how many of how many
// were done, and what became of the request that was on its way.
func TestPartingOfBulk(t *testing.T) {
	r := protectStep(t, 6)
	// Nothing was approved.
	r.wantParted("")
	ready := r.bulk.in(bulkReady)
	first := r.bulk.run(ready)
	r.wantParted("Protect 6 volumes: 0 of 5 done, 5 not sent")
	// It is answered, and nobody takes the answer in.
	msg := first()
	r.wantParted("Protect 6 volumes: 1 of 5 done, 1 of them accepted, and their effect not seen yet, 4 not sent")
	r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
		switch p.Step.Target.Name {
		case "disk-1":
			return kube.Applied{}, conflict("disk-1")
		case "disk-2":
			return kube.Applied{}, kube.ErrNotSent
		case "disk-3":
			return kube.Applied{}, fmt.Errorf("apply: %w", kube.ErrOutcomeUnknown)
		}
		return accepts("101")(p)
	}
	r.see(store(retained("101", "disk-0")))
	_, next := r.app.Update(msg)
	_, next = r.app.Update(next())
	unsent := next()
	r.see(store(retained("101", "disk-0")))
	r.wantParted("Protect 6 volumes: 1 of 5 done, 1 left out or failed, 3 not sent")
	_, next = r.app.Update(unsent)
	lost := next()
	if got := r.parted(); !strings.Contains(got, "1 of 5 done") || !strings.Contains(got, "the request for disk-3 failed: ") {
		t.Errorf("of a lost answer is said %q", got)
	}
	r.send(lost)
	if r.press("esc"); r.app.Partings(0) == nil {
		t.Error("a page that was left is forgotten")
	}
}

// TestPartingOfOperation: that it is unfinished is said, and how it is gone on
// with, whether it was left or not.
func TestPartingOfOperation(t *testing.T) {
	r := review(t)
	r.wantParted("")
	r.press("enter")
	r.typeText("web-data")
	r.press("enter")
	r.wantParted("")
	first := r.walk.send()
	what := "Migrate to ReadWriteOncePod, shop/web-data on " + webVolume
	r.wantParted(what + ": it was not begun, since its first request was not sent")
	msg := first()
	if got := r.parted(); !strings.HasPrefix(got, what+": it is unfinished, at step 1 of 13; the request to set Retain on volume "+webVolume) ||
		!strings.Contains(got, " was accepted by the server as the program ended. ") || !strings.HasSuffix(got, "start claimref again and press R") {
		t.Errorf("said %q", got)
	}
	r.send(msg)
	r.wantOn("Step 2 is not written yet")
	got := r.parted()
	for _, want := range []string{"it is unfinished, at step 2 of 13; the request to ", " was not sent. ", "start claimref again and press R"} {
		if !strings.Contains(got, want) {
			t.Errorf("said %q, without %q", got, want)
		}
	}
	r.press("esc")
	if again := r.parted(); again != got {
		t.Errorf("after it was left: %q", again)
	}
	r.press("R")
	r.see(webShop(noted(t, r.cluster.op.journal, "bob on desk-1", "mine")))
	r.press("R")
	r.runRest()
	r.typeText("web-data")
	r.press("enter")
	if r.walk.stage != atEnd {
		t.Fatalf("it stands at %v\n%s", r.walk.stage, r.screen())
	}
	r.wantParted("")
}

// TestPartingOfStep: of one request it is said whether it was sent.
func TestPartingOfStep(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("a", "r")
	p := r.top()
	r.wantParted("")
	cmd := p.send()
	const what = "Volume pvc-5e28b8a0-13ff-11e7-a430-5254001ba551: the request to clear the former uid"
	if got := r.parted(); !strings.HasPrefix(got, what) || !strings.HasSuffix(got, " was not sent") {
		t.Errorf("said %q", got)
	}
	r.cluster.apply = accepts("101")
	msg := cmd()
	if got := r.parted(); !strings.HasPrefix(got, what) || !strings.HasSuffix(got, " was accepted by the server as the program ended") {
		t.Errorf("said %q", got)
	}
	r.send(msg)
	if got := r.parted(); !strings.HasSuffix(got, " was accepted, and its effect not seen yet") {
		t.Errorf("said %q", got)
	}
}

// TestPartingOfRefusal: of an operation whose first request was refused nothing
// is left to go on with.
func TestPartingOfRefusal(t *testing.T) {
	r := started(t, func(f *fakeOperation) {
		f.answer = func(kube.StepPreview) (kube.Performed, error) {
			return kube.Performed{}, apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumes"}, webVolume, errors.New("no"))
		}
	})
	r.approve("")
	r.wantOn("Halted:")
	r.wantParted("")
}

package views

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// These tests play what others do between the look at a diff and the request,
// and between the request and its effect.

// boundShop is the shop with a volume that is Bound under Retain.
func boundShop(edit ...func(*kube.Objects)) kube.Objects {
	objects := shop()
	for _, v := range objects.Volumes {
		if strings.HasPrefix(v.Name, "pvc-11aa") {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}
	}
	for _, e := range edit {
		e(&objects)
	}
	return objects
}

// claimLeaves lets the claim that holds the volume begin to go. The volume
// itself does not change by that.
func claimLeaves(objects *kube.Objects) {
	at := before(0)
	for _, c := range objects.Claims {
		if c.Name == "train-cache" {
			c.DeletionTimestamp, c.Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
		}
	}
}

// deleteStep opens the page that sets Delete on the bound volume.
func deleteStep(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, boundShop())
	r.cluster.apply = accept("101")
	r.press("/")
	r.typeText("pvc-11aa")
	r.press("enter", "a", "d")
	r.settleTop()
	r.press("enter")
	r.wantOn("Type pvc-11aa07c3-aaaa-4444-8888-0000000c0de1 to go on")
	return r
}

// TestApprovalIsOfTheChecks: the claim begins to go while the diff is on
// screen. The volume's version is the one that was approved, so that the
// server would take the request; the data would go with the claim.
func TestApprovalIsOfTheChecks(t *testing.T) {
	r := deleteStep(t)
	r.see(boundShop(claimLeaves))
	r.typeText("pvc-11aa07c3-aaaa-4444-8888-0000000c0de1")
	r.press("enter")
	if len(r.cluster.applied) != 0 {
		t.Fatal("Delete was set on a volume whose claim is being deleted")
	}
	r.wantOn("is being deleted", "Blocked, nothing is written")
}

// TestApprovalHoldsForTheSame: nothing changed, and what was approved is sent.
func TestApprovalHoldsForTheSame(t *testing.T) {
	r := deleteStep(t)
	r.typeText("pvc-11aa07c3-aaaa-4444-8888-0000000c0de1")
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Errorf("%d requests were sent, want 1\n%s", len(r.cluster.applied), r.screen())
	}
}

// TestNewTakerIsShownFirst: a claim that would take the volume comes while
// the diff is on screen, when nobody had to be warned of.
func TestNewTakerIsShownFirst(t *testing.T) {
	quiet := shop()
	quiet.Claims = quiet.Claims[:2]
	r := newRig(t, quiet)
	r.onReleased()
	r.press("a", "u")
	r.settleTop()
	r.wantOn("No claim would take the volume at once")
	r.see(shop())
	r.press("enter")
	if len(r.cluster.applied) != 0 {
		t.Fatal("the volume was opened to claims that were not on the screen")
	}
	r.wantOn("What this depends on changed while you looked", "would take the volume at once")
	r.settleTop()
	r.press("enter")
	r.wantOn("Type " + releasedVolume + " to go on")
}

// TestConfirmStandsBeforeTheStep: the word is typed for the step that opens
// the volume, not for the harmless one before it.
func TestConfirmStandsBeforeTheStep(t *testing.T) {
	remove := func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}
	r := newRig(t, after("100", remove))
	r.cluster.apply = accept("101")
	r.onReleased()
	r.press("a", "u")
	r.settleTop()
	r.press("enter")
	if len(r.cluster.applied) != 1 || r.cluster.applied[0].ID != "retain" {
		t.Fatalf("sent %v, want retain without a word\n%s", r.cluster.applied, r.screen())
	}
	r.see(after("101", func(*corev1.PersistentVolume) {}))
	r.settleTop()
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Fatal("the volume was opened by a key press")
	}
	r.wantOn("Type " + releasedVolume + " to go on")
}

// TestUndoThatOpensIsJudged: taking back the reservation of a volume that was
// open before opens it to whoever waits now.
func TestUndoThatOpensIsJudged(t *testing.T) {
	open := func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef, v.Status.Phase = nil, corev1.VolumeAvailable
	}
	r := newRig(t, after("100", open))
	r.cluster.apply = accept("101")
	r.press("/")
	r.typeText("pvc-5e28")
	r.press("enter", "a", "o")
	r.typeText("web/mine")
	r.press("enter")
	r.settleTop()
	r.press("enter")
	r.see(after("102", func(v *corev1.PersistentVolume) {
		claimedBy("web", "mine", "")(v)
		v.Status.Phase = corev1.VolumeAvailable
	}))
	r.wantOn("seen to be done")
	r.press("u")
	r.settleTop()
	r.wantOn("would take the volume at once")
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Fatal("the undo opened the volume by a key press")
	}
	r.wantOn("Type " + releasedVolume + " to go on")
}

// TestLookingAgainKeepsTheUndo: reading everything again after a write finds
// it done, and does not forget what was there before.
func TestLookingAgainKeepsTheUndo(t *testing.T) {
	for name, at := range map[string]struct {
		look func(*rig)
		said string
	}{
		"while waiting": {func(r *rig) {
			r.see(after("101", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }))
		}, "Accepted by the server"},
		"after the end": {func(r *rig) { r.see(after("102", reserved)) }, "Done"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reserveStep(t)
			r.press("enter")
			at.look(r)
			r.press("r")
			r.wantOn(at.said)
			r.wantOff("Blocked", "nothing is written")
			r.see(after("103", reserved))
			r.press("u")
			r.settleTop()
			r.wantOn("Put back the uid of the former claim")
		})
	}
}

// TestLostAnswerIsReadBack: the request took effect, its answer got lost, and
// the advised key finds that out; it can still be taken back.
func TestLostAnswerIsReadBack(t *testing.T) {
	r := reserveStep(t)
	r.cluster.apply = func(kube.Preview) (kube.Applied, error) { return kube.Applied{}, kube.ErrOutcomeUnknown }
	r.press("enter")
	r.wantOn("r reads it back")
	r.see(after("102", reserved))
	r.press("r")
	r.wantOn("found so", "Done, and seen to be done.")
	r.press("u")
	r.settleTop()
	r.wantOn("Put back the uid of the former claim")
}

// TestOverwrittenIsNotLate: somebody wrote after us. That is not a controller
// that takes its time.
func TestOverwrittenIsNotLate(t *testing.T) {
	r := reserveStep(t)
	r.press("enter")
	r.see(after("105", func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef, v.Status.Phase = nil, corev1.VolumeAvailable
	}))
	r.wantOn("somebody changed the volume again after the request was accepted")
	r.wantOff("Waiting to see it happen", "This is late")
}

// TestHeldKeyApprovesNothing: a key that is held down from the menu on never
// approves, however long.
func TestHeldKeyApprovesNothing(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("a", "r")
	p := r.top()
	for range 20 {
		asked := settledMsg{page: p, turn: p.turn, wait: p.wait, shown: true}
		r.press("enter")
		// The pause that began before the key came is over now.
		r.send(asked)
	}
	if len(r.cluster.applied) != 0 {
		t.Error("a held key approved a diff")
	}
	r.settle(p)
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Error("after a pause the diff can't be approved")
	}
}

// TestAnswerFindsItsPage: no way leads off the page while a request is on its
// way.
func TestAnswerFindsItsPage(t *testing.T) {
	r := reserveStep(t)
	r.top().stage = applying
	for _, leave := range [][]string{{"esc"}, {"q"}, {":"}} {
		r.press(leave...)
		if leave[0] == ":" {
			r.typeText("claims")
			r.press("enter")
		}
		r.wantOn("Volumes › Reserve", "a request is on its way")
	}
}

// TestPreviewConflictIsRetried: a controller reacts to our own write between
// two looks; that is no reason to stop.
func TestPreviewConflictIsRetried(t *testing.T) {
	r := newRig(t, shop())
	tries := 0
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		if tries++; tries < 3 {
			return kube.Preview{}, &kube.GuardError{Reason: "the volume is Pending"}
		}
		return kube.Preview{Step: s, Diff: "@@ -1 +1 @@\n-x\n", DryRun: kube.DryRunResult{Supported: true}}, nil
	}
	r.onReleased()
	r.press("a", "r")
	r.wantOn("dry run by the server: ok")
	tries = -100
	r.press("r")
	r.wantOn("the volume is Pending", "Stopped.")
}

// TestDryRunWalkBeginsAnew: looking again in the middle of a walk.
func TestDryRunWalkBeginsAnew(t *testing.T) {
	r := newRig(t, after("100", func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}), func(o *Options) { o.DryRun = true })
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	r.press("enter")
	r.press("r")
	if last := r.cluster.dry[len(r.cluster.dry)-1]; len(last) != 0 {
		t.Errorf("the first step is dry-run on top of %v", last)
	}
}

// TestCommandsNameTheCluster: what is copied works on this cluster, or not at
// all; on the page of an undo it is the undo.
func TestCommandsNameTheCluster(t *testing.T) {
	r := reserveStep(t, func(o *Options) { o.KubectlFlags = []string{"--context=prod-tokyo"} })
	r.press("c")
	r.wantOn("kubectl --context=prod-tokyo patch pv")
	r.press("esc", "enter")
	r.see(after("102", reserved))
	r.press("u")
	r.settleTop()
	r.press("c")
	r.wantOn(`"uid":"old"`)
	r.wantOff(`"uid":null`)
}

// TestCoveredPageSettlesNothing: the pause after which a diff can be approved
// does not run while the diff can't be seen.
func TestCoveredPageSettlesNothing(t *testing.T) {
	for name, cover := range map[string]struct{ over, back func(*rig) }{
		"by the commands":   {func(r *rig) { r.press("c") }, func(r *rig) { r.press("esc") }},
		"by the help":       {func(r *rig) { r.press("?") }, func(r *rig) { r.press("esc") }},
		"by a small screen": {func(r *rig) { r.resize(20, 5) }, func(r *rig) { r.resize(120, 40) }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, shop())
			r.onReleased()
			r.press("a", "r")
			p := r.top()
			cover.over(r)
			r.settle(p)
			cover.back(r)
			r.press("enter")
			if len(r.cluster.applied) != 0 {
				t.Fatal("a diff was approved that had been covered all the time")
			}
			r.settle(p)
			r.press("enter")
			if len(r.cluster.applied) != 1 {
				t.Error("once it has been seen it can't be approved")
			}
		})
	}
}

// TestFreshPlanIsAdopted: after Retain was written the controller lets go of
// the volume by itself, so that the second step as it was planned no longer
// fits. Looking again plans it anew.
func TestFreshPlanIsAdopted(t *testing.T) {
	remove := func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}
	r := newRig(t, after("100", remove))
	r.cluster.apply = accept("101")
	r.onReleased()
	r.press("a", "o")
	r.typeText("web/mine")
	r.press("enter")
	r.settleTop()
	r.press("enter")
	r.see(after("102", reserved))
	r.settleTop()
	r.wantOn("dry run by the server: ok", "Set the reclaim policy to Retain")
	r.wantOff("Stopped.")
	r.press("enter")
	if n := len(r.cluster.applied); n != 2 || r.cluster.applied[1].ID != "reserve" {
		t.Fatalf("sent %d requests, want the reservation as the second\n%s", n, r.screen())
	}
}

// TestUndoOfRetainAlone: nothing that was sent can be taken back, which is
// said, rather than that nothing had to be done.
func TestUndoOfRetainAlone(t *testing.T) {
	remove := func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}
	r := newRig(t, after("100", remove))
	r.cluster.apply = accept("101")
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	r.press("enter")
	r.see(after("101", func(*corev1.PersistentVolume) {}))
	r.settleTop()
	r.wantOn("This step is not written yet.")
	r.press("u")
	r.wantOn("The reclaim policy stays Retain")
	r.wantOff("Undo:")
}

// TestQuitCommandIsHeld: the command line is no way around a request.
func TestQuitCommandIsHeld(t *testing.T) {
	r := reserveStep(t)
	r.top().stage = applying
	if cmd := r.app.quit(); cmd != nil {
		t.Error("quit ends the program while a request is on its way")
	}
	r.wantOn("a request is on its way")
}

// TestModesStandFirst: a long context does not hide that nothing is written.
func TestModesStandFirst(t *testing.T) {
	r := newRig(t, shop(), func(o *Options) {
		o.Identity.Context = "arn:aws:eks:ap-northeast-1:123456789012:cluster/production-storage"
		o.DryRun = true
	})
	r.resize(80, 24)
	r.wantOn("dry run only")
}

// TestNewWarningIsShownFirst: the step is the same and its patch is, but what
// is said about it is not: another volume now waits for the same claim.
func TestNewWarningIsShownFirst(t *testing.T) {
	r := reserveStep(t)
	rivals := shop()
	rivals.Volumes = append(rivals.Volumes, pv("twin", corev1.VolumeAvailable, claimedBy("shop", "data-orders-0", "")))
	r.see(rivals)
	r.press("enter")
	if len(r.cluster.applied) != 0 {
		t.Fatal("a step was sent about which something new is to be said")
	}
	r.wantOn("What this depends on changed while you looked", "Volume twin is reserved for claim shop/data-orders-0 too")
}

// TestPauseBegunOutOfSight: a diff that came up behind another page has not
// been looked at when that page goes just before the pause ends.
func TestPauseBegunOutOfSight(t *testing.T) {
	r := reserveStep(t)
	p := r.top()
	var ends []func(time.Time) tea.Msg
	r.app.after = func(_ time.Duration, end func(time.Time) tea.Msg) tea.Cmd {
		ends = append(ends, end)
		return nil
	}
	r.press("c")
	p.settled = false
	p.settleAgain()
	r.press("esc")
	r.send(ends[0](noon()))
	r.press("enter")
	if len(r.cluster.applied) != 0 {
		t.Error("a pause that began out of sight counts as a look")
	}
}

// TestTypedWordIsForOneDiff: a word that was asked for one diff approves no
// other one.
func TestTypedWordIsForOneDiff(t *testing.T) {
	r := deleteStep(t)
	p := r.top()
	r.run(p.replan())
	r.typeText("pvc-11aa07c3-aaaa-4444-8888-0000000c0de1")
	r.press("enter")
	if len(r.cluster.applied) != 0 {
		t.Error("the word approved a diff that it was not asked for")
	}
	r.wantOn("The diff changed meanwhile")
}

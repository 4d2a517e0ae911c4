package views

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

const releasedVolume = "pvc-5e28b8a0-13ff-11e7-a430-5254001ba551"

// after is the shop once the released volume has been changed, as version.
func after(version string, edit func(*corev1.PersistentVolume)) kube.Objects {
	objects := shop()
	for _, v := range objects.Volumes {
		if v.Name == releasedVolume {
			v.ResourceVersion = version
			edit(v)
		}
	}
	return objects
}

func reserved(v *corev1.PersistentVolume) {
	v.Spec.ClaimRef.UID = ""
	v.Status.Phase = corev1.VolumeAvailable
}

// accept is a server that takes the request and answers with a version.
func accept(version string) func(kube.Preview) (kube.Applied, error) {
	return func(p kube.Preview) (kube.Applied, error) {
		return kube.Applied{ResourceVersion: version, Object: pv(p.Step.Target.Name, corev1.VolumeReleased)}, nil
	}
}

// reserveStep opens the page that reserves the released volume for its former
// claim, with its diff approved for reading.
func reserveStep(t *testing.T, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, shop(), edit...)
	r.cluster.apply = accept("101")
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	return r
}

func TestStepAppliesAndWaits(t *testing.T) {
	r := reserveStep(t)
	r.wantOn("dry run by the server: ok", "uid: old", "Nothing is written yet", "enter apply")
	if len(r.cluster.applied) != 0 {
		t.Fatal("something was applied before the diff was approved")
	}
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Fatalf("%d requests were sent, want 1", len(r.cluster.applied))
	}
	r.wantOn("Accepted by the server. Waiting to see it happen")
	r.wantOff("seen to be done")

	// A snapshot from before the request proves nothing, whatever it shows.
	r.see(after("99", reserved))
	r.wantOff("seen to be done")
	// The request has arrived, the controller has not reacted yet.
	r.see(after("101", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }))
	r.wantOff("seen to be done")
	r.wantOn("Waiting to see it happen")
	// Now it has.
	r.see(after("102", reserved))
	r.wantOn("Done, and seen to be done.", "Reserved, claim shop/data-orders-0, policy Retain")
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Error("enter after the end sent another request")
	}
}

func TestStepSaysThatItIsLate(t *testing.T) {
	r := reserveStep(t)
	r.press("enter")
	r.see(after("101", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }))
	r.wantOff("This is late")
	r.send(tickMsg(noon().Add(overdue + time.Second)))
	r.wantOn("This is late")
	r.see(after("101", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }), func(s *kube.Snapshot) { s.Link.Phase = kube.Unreachable })
	r.wantOn("The connection is not live")
}

func TestStepVolumeGoesMeanwhile(t *testing.T) {
	r := reserveStep(t)
	r.press("enter")
	objects := shop()
	objects.Volumes = objects.Volumes[1:]
	r.see(objects)
	r.wantOn("the volume is gone")
}

func TestStepConflictShowsTheNewDiff(t *testing.T) {
	r := reserveStep(t)
	r.cluster.apply = func(kube.Preview) (kube.Applied, error) {
		return kube.Applied{}, apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumes"}, releasedVolume, errors.New("modified"))
	}
	r.press("enter")
	r.wantOn("The volume changed while you looked. This step was not written")
	// The new diff has only just appeared: the same key press approves nothing.
	r.press("enter")
	if len(r.cluster.applied) != 1 {
		t.Errorf("%d requests were sent, want 1", len(r.cluster.applied))
	}
	r.wantOn("the diff has only just appeared")
	r.cluster.apply = accept("103")
	r.settleTop()
	r.press("enter")
	if len(r.cluster.applied) != 2 {
		t.Errorf("%d requests were sent, want 2", len(r.cluster.applied))
	}
}

func TestStepNeedsTimeToLook(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("a", "r", "enter", "enter")
	if len(r.cluster.applied) != 0 {
		t.Error("a key that was pressed before the diff could be seen approved it")
	}
	r.wantOn("the diff has only just appeared")
}

func TestStepNeedsTheWholeDiff(t *testing.T) {
	r := newRig(t, shop())
	r.resize(80, 24)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		return kube.Preview{Step: s, Diff: "@@ -1 +1 @@\n" + strings.Repeat("-  line\n", 60), DryRun: kube.DryRunResult{Supported: true}}, nil
	}
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	r.wantOn("The difference goes on below")
	r.press("enter")
	if len(r.cluster.applied) != 0 {
		t.Fatal("a diff was approved that had not been on the screen to its end")
	}
	r.wantOn("scroll down")
	// To jump to the end is not to look at it.
	r.press("G", "enter")
	if len(r.cluster.applied) != 0 {
		t.Fatal("a diff was approved of which the middle had not been on the screen")
	}
	r.wantOn("was skipped")
	r.press("g", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "enter")
	if len(r.cluster.applied) != 1 {
		t.Errorf("after all of it was on the screen it can't be approved\n%s", r.screen())
	}
}

func TestStepTypedConfirmation(t *testing.T) {
	for name, tc := range map[string]struct {
		preview func(actions.Step) (kube.Preview, error)
		key     string
		said    string
	}{
		"claims would take it": {nil, "u", "would take the volume"},
		"no dry run by the server": {func(s actions.Step) (kube.Preview, error) {
			return kube.Preview{Step: s, Diff: "@@ -1 +1 @@\n-x\n", DryRun: kube.DryRunResult{Reason: `webhook "w" does not support dry run`}}, nil
		}, "r", "could not dry-run"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, shop())
			r.cluster.preview = tc.preview
			r.cluster.apply = accept("101")
			r.onReleased()
			r.press("a", tc.key)
			r.settleTop()
			r.press("enter")
			r.wantOn("Type "+releasedVolume+" to go on", tc.said)
			r.typeText("yes")
			r.press("enter")
			if len(r.cluster.applied) != 0 {
				t.Fatal("the wrong word was taken")
			}
			for range "yes" {
				r.press("backspace")
			}
			r.typeText(releasedVolume)
			r.press("enter")
			if len(r.cluster.applied) != 1 {
				t.Errorf("%d requests were sent, want 1", len(r.cluster.applied))
			}
		})
	}
}

func TestStepFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		apply error
		said  string
	}{
		"refused": {apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumes"}, "x", errors.New("no")), "may not"},
		"unknown": {fmt.Errorf("apply: %w", kube.ErrOutcomeUnknown), "r reads it back"},
	} {
		t.Run(name, func(t *testing.T) {
			r := reserveStep(t)
			r.cluster.apply = func(kube.Preview) (kube.Applied, error) { return kube.Applied{}, tc.apply }
			r.press("enter")
			r.wantOn(tc.said, "r looks again")
			r.wantOff("seen to be done", "Waiting to see")
			r.press("enter")
			if len(r.cluster.applied) != 1 {
				t.Error("enter repeated a request that failed")
			}
			r.press("r")
			r.wantOn("dry run by the server: ok")
		})
	}
}

func TestStepUndo(t *testing.T) {
	r := reserveStep(t)
	r.press("enter")
	r.see(after("102", reserved))
	r.wantOn("seen to be done")
	r.cluster.apply = accept("103")
	r.press("u")
	r.settleTop()
	r.wantOn("Undo")
	r.press("enter")
	if n := len(r.cluster.applied); n != 2 {
		t.Fatalf("%d requests were sent, want 2", n)
	}
	if body := string(r.cluster.applied[1].Patch); !strings.Contains(body, `"uid":"old"`) {
		t.Errorf("undo does not bring back the uid: %s", body)
	}
	r.see(after("104", func(*corev1.PersistentVolume) {}))
	r.wantOn("Undone.")
}

// TestStepUndoAfterTheClaimCame: once a claim has taken the volume, an undo
// would tear a live binding apart.
func TestStepUndoAfterTheClaimCame(t *testing.T) {
	r := reserveStep(t)
	r.press("enter")
	taken := after("102", func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef.UID = "pvc-shop-data-orders-0"
		v.Status.Phase = corev1.VolumeBound
	})
	taken.Claims = append(taken.Claims, pvc("shop", "data-orders-0", corev1.ClaimBound, releasedVolume))
	r.see(taken)
	r.wantOn("seen to be done")
	r.press("u")
	r.settleTop()
	r.press("enter")
	if n := len(r.cluster.applied); n != 1 {
		t.Errorf("%d requests were sent, want 1: the undo must not be", n)
	}
	r.wantOn("the volume is Bound, not Released or Available")
}

func TestStepTwoSteps(t *testing.T) {
	r := newRig(t, after("100", func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}))
	r.cluster.apply = accept("101")
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	r.press("enter")
	if got := r.cluster.applied[0].After.Policy; got != corev1.PersistentVolumeReclaimRetain {
		t.Fatalf("the first step leads to policy %q, want Retain", got)
	}
	// The policy is Retain; the second step is planned afresh, and asked for.
	r.see(after("101", func(*corev1.PersistentVolume) {}))
	r.wantOn("dry run by the server: ok")
	r.wantOff("seen to be done")
	r.settleTop()
	r.cluster.apply = accept("102")
	r.press("enter")
	if n := len(r.cluster.applied); n != 2 {
		t.Fatalf("%d requests were sent, want 2", n)
	}
	r.see(after("103", reserved))
	r.wantOn("seen to be done")
	if r.top().cannotUndo() != "" {
		t.Errorf("it can't be undone: %s", r.top().cannotUndo())
	}
}

func TestStepDryRunOnly(t *testing.T) {
	r := newRig(t, after("100", func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}), func(o *Options) { o.DryRun = true })
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	r.wantOn("dry run only", "Dry run only: nothing will be written.", "enter next")
	r.press("enter")
	r.settleTop()
	r.press("enter")
	r.wantOn("Walked to the end by dry runs; nothing was written.")
	if len(r.cluster.applied) != 0 {
		t.Error("something was applied")
	}
	// The second dry run is made as if the first step had been carried out.
	if n := len(r.cluster.dry); n != 2 || len(r.cluster.dry[0]) != 0 || len(r.cluster.dry[1]) != 1 {
		t.Errorf("the dry runs built on %v", r.cluster.dry)
	}
}

func TestStepReadOnly(t *testing.T) {
	r := newRig(t, shop(), func(o *Options) { o.ReadOnly = true })
	r.onReleased()
	r.press("a")
	r.wantOn("not now: started with --read-only")
	r.press("r", "enter")
	if len(r.cluster.dry) != 0 || len(r.cluster.applied) != 0 {
		t.Error("something was asked of the server")
	}
}

func TestStepCannotBeLeftWhileSending(t *testing.T) {
	r := reserveStep(t)
	r.top().stage = applying
	r.press("esc")
	r.wantOn("a request is on its way")
	r.press("q")
	r.wantOn("a request is on its way")
}

// TestStepDropsOldAnswers: an answer to a question that is no longer asked
// changes nothing.
func TestStepDropsOldAnswers(t *testing.T) {
	r := reserveStep(t)
	p := r.top()
	old := p.turn
	r.press("r")
	r.settleTop()
	r.send(previewedMsg{page: p, turn: old, err: errors.New("too late")})
	r.send(appliedMsg{page: p, turn: old, err: errors.New("too late")})
	r.wantOff("too late")
}

func TestStepCommands(t *testing.T) {
	r := reserveStep(t)
	r.press("c")
	r.wantOn("kubectl patch pv " + releasedVolume)
	r.press("esc")
	r.wantOn("dry run by the server: ok")
}

func TestTypedClaim(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("a", "o")
	r.typeText("new-one")
	// Without a namespace the former claim's is meant.
	r.wantOn("shop/new-one does not exist yet")
	r.press("enter")
	r.settleTop()
	r.wantOn("for shop/new-one")
}

// TestClaimsNotRead: while claims are being read, or can't be, none is said
// not to exist.
func TestClaimsNotRead(t *testing.T) {
	for phase, want := range map[kube.ReadPhase]string{
		kube.Loading:   "The claims are still being read",
		kube.Forbidden: "may or may not exist",
	} {
		r := newRig(t, shop())
		r.see(shop(), func(s *kube.Snapshot) {
			s.Resources[kube.PersistentVolumeClaims] = kube.ResourceState{Phase: phase, Missing: "list persistentvolumeclaims"}
		})
		r.onReleased()
		r.press("a", "o")
		if phase == kube.Forbidden {
			r.typeText("shop/unseen")
		}
		r.wantOn(want)
		r.wantOff("does not exist yet")
	}
}

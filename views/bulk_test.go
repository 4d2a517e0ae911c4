package views

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

func TestBulkProtect(t *testing.T) {
	r := marked(t, store(), 6)
	r.wantOn("Actions on 6 marked volumes", "Protect 6 volumes", "5 of them have another one now")
	r.press("p")
	r.wantOn("Protect 6 volumes", "6 volumes: 5 will be set to Retain, 1 is Retain already", "Nothing of this is written yet")
	if n := len(r.cluster.dry); n != 5 {
		t.Errorf("%d dry runs, want 5", n)
	}
	r.settleBulk()
	r.confirm("5")
	r.wantTargets("disk-0 disk-1 disk-2 disk-3 disk-4")
	r.wantOn("5 accepted", "waiting to see it happen")
	r.wantOff("seen to be done")
	// A snapshot from before the requests proves nothing, whatever it shows.
	r.see(store(retained("99", "disk-0", "disk-1")))
	r.wantOff("seen to be done")
	r.see(store(retained("101", "disk-0", "disk-1", "disk-2")))
	r.wantOn("3 done and seen to be done, 2 accepted")
	r.see(store(retained("101", "disk-0", "disk-1", "disk-2", "disk-3", "disk-4")))
	r.wantOn("5 done and seen to be done, 1 is Retain already", "u takes it back")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-2 disk-3 disk-4")
}

// TestBulkConflictOnOne: one is left out and says so, the others go on; it can
// be looked at again.
func TestBulkConflictOnOne(t *testing.T) {
	r := protectStep(t, 4)
	r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
		if p.Step.Target.Name == "disk-1" {
			return kube.Applied{}, conflict("disk-1")
		}
		return accepts("101")(p)
	}
	r.confirm("4")
	r.wantTargets("disk-0 disk-1 disk-2 disk-3")
	r.see(store(retained("101", "disk-0", "disk-2", "disk-3")))
	r.wantOn("3 done and seen to be done, 1 skipped: not written: it changed in the moment", "r looks again at what was not done")
	r.cluster.apply = accepts("102")
	r.press("r")
	r.wantOn("3 done and seen to be done, 1 will be set to Retain")
	r.settleBulk()
	r.confirm("1")
	r.wantTargets("disk-0 disk-1 disk-2 disk-3 disk-1")
	r.see(store(retained("102", "disk-0", "disk-1", "disk-2", "disk-3")))
	r.wantOn("4 done and seen to be done")
	// The undo is for all of them.
	r.press("u")
	r.wantOn("4 will be taken back")
}

// TestBulkChangedSinceApproval: a volume's difference, or what speaks about it,
// is not what was approved.
func TestBulkChangedSinceApproval(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"the difference": func(r *rig) {
			r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
				p, err := policyDiff(s)
				if s.Target.Name == "disk-1" {
					p.Diff += "-  mountOptions: x\n"
				}
				return p, err
			}
		},
		"the server can't dry-run it any more": func(r *rig) {
			r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
				p, err := policyDiff(s)
				p.DryRun.Supported = s.Target.Name != "disk-1"
				return p, err
			}
		},
		"it can't be looked at": func(r *rig) {
			r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
				if s.Target.Name == "disk-1" {
					return kube.Preview{}, &kube.GuardError{Reason: "the volume is Failed"}
				}
				return policyDiff(s)
			}
		},
		"the checks": func(r *rig) {
			r.see(store(on("disk-1", "100", func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeReleased })))
		},
		"the policy": func(r *rig) { r.see(store(retained("100", "disk-1"))) },
		"it is gone": func(r *rig) {
			r.see(store(func(o *kube.Objects) { o.Volumes = slices.Delete(o.Volumes, 1, 2) }))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := protectStep(t, 3)
			r.press("enter")
			change(r)
			r.typeText("3")
			r.press("enter")
			r.wantTargets("disk-0 disk-2")
			if s := r.state("disk-1"); s != bulkSkipped && s != bulkFailed {
				t.Errorf("disk-1 is in state %d", s)
			}
			if r.state("disk-0") != bulkWaiting || r.state("disk-2") != bulkWaiting {
				t.Error("the others did not go on")
			}
		})
	}
}

// TestBulkStops: when nobody answers any more, or the user says so, the rest is
// not tried.
func TestBulkStops(t *testing.T) {
	r := protectStep(t, 4)
	r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
		if p.Step.Target.Name == "disk-1" {
			return kube.Applied{}, fmt.Errorf("apply: %w", kube.ErrOutcomeUnknown)
		}
		return accepts("101")(p)
	}
	r.confirm("4")
	r.wantTargets("disk-0 disk-1")
	r.wantOn("1 failed", "2 not tried")
	// It did take effect, which is found when it is looked at again.
	r.see(store(retained("101", "disk-0", "disk-1")))
	r.press("r")
	r.wantOn("2 done and seen to be done, 2 will be set to Retain")
	r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
		r.bulk.stop()
		return accepts("102")(p)
	}
	r.settleBulk()
	r.confirm("2")
	r.wantTargets("disk-0 disk-1 disk-2")
	if r.state("disk-3") != bulkUntried {
		t.Errorf("disk-3 is in state %d", r.state("disk-3"))
	}
	r.press("u")
	r.wantOn("Undo on 3 volumes")
}

// TestBulkRefusalOnOne: what the server says of one says nothing of the others.
func TestBulkRefusalOnOne(t *testing.T) {
	r := protectStep(t, 3)
	r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
		if p.Step.Target.Name == "disk-0" {
			return kube.Applied{}, apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumes"}, "disk-0", errors.New("no"))
		}
		return accepts("101")(p)
	}
	r.confirm("3")
	r.wantTargets("disk-0 disk-1 disk-2")
	r.see(store(retained("101", "disk-1", "disk-2")))
	r.wantOn("2 done and seen to be done, 1 failed")
	r.press("u")
	r.wantOn("Undo on 2 volumes")
}

// TestBulkSomebodyWritesAgain: what the watch shows later is not what was sent.
func TestBulkSomebodyWritesAgain(t *testing.T) {
	r := protectStep(t, 2)
	r.confirm("2")
	r.see(store(retained("101", "disk-0"), on("disk-1", "102", func(*corev1.PersistentVolume) {})))
	r.wantOn("1 done and seen to be done, 1 failed: somebody changed the volume again")
	if r.state("disk-0") != bulkDone {
		t.Error("the other is not done")
	}
}

func TestBulkVolumeGoesMeanwhile(t *testing.T) {
	r := protectStep(t, 2)
	r.confirm("2")
	r.see(store(retained("101", "disk-0"), func(o *kube.Objects) { o.Volumes = slices.Delete(o.Volumes, 1, 2) }))
	r.wantOn("1 failed: the volume is gone")
}

func TestBulkSaysThatItIsLate(t *testing.T) {
	r := protectStep(t, 2)
	r.confirm("2")
	r.wantOff("This is late")
	r.send(tickMsg(noon().Add(overdue + time.Second)))
	r.wantOn("This is late")
}

func TestBulkModes(t *testing.T) {
	r := marked(t, store(), 3, func(o *Options) { o.ReadOnly = true })
	r.wantOn("not now: started with --read-only")
	r.press("p", "enter")
	if r.bulk != nil || len(r.cluster.dry) != 0 {
		t.Error("something was asked of the server")
	}

	r = protectStep(t, 3, func(o *Options) { o.DryRun = true })
	r.wantOn("Dry run only: nothing will be written.")
	r.press("enter")
	r.wantOn("Walked to the end by dry runs; nothing was written.")
	r.wantTargets("")
}

// TestBulkMenu: what is not possible says why; without marks the menu is that
// of the selected volume, with the one action on all that are shown.
func TestBulkMenu(t *testing.T) {
	r := marked(t, store(), 2)
	r.wantOn("none of them is Released", "Protect all shown", "5 of 6 volumes")
	r.press("r", "enter")
	if r.bulk != nil {
		t.Error("an action for none was opened")
	}
	r.press("esc", "esc")
	r = newRig(t, store())
	r.cluster.preview = policyDiff
	r.press("/")
	r.typeText("data-")
	r.press("enter", "a")
	r.wantOn("Actions on disk-0", "Protect all that match the filter")
	r.press("P")
	r.wantOn("Protect 5 volumes", "5 will be set to Retain")
}

// TestBulkTooMany: more than a person could look through.
func TestBulkTooMany(t *testing.T) {
	r := newRig(t, store(func(o *kube.Objects) {
		for i := range bulkMost {
			o.Volumes = append(o.Volumes, pv(fmt.Sprint("more-", i), corev1.VolumeAvailable, withPolicy(corev1.PersistentVolumeReclaimDelete)))
		}
	}))
	r.press("a", "P")
	r.wantOn("505 volumes are too many to look through at once, at most 500")
}

// TestBulkHolds: what was approved is not left behind.
func TestBulkHolds(t *testing.T) {
	r := protectStep(t, 2)
	r.bulk.stage = bulkRunning
	r.press("esc")
	r.wantOn("requests are on their way")
	r.bulk.stage = bulkEnded
	r.press("esc")
	r.wantOn("1 Volumes")
}

func TestBulkDropsOldAnswers(t *testing.T) {
	r := protectStep(t, 2)
	old := r.bulk.turn
	r.press("r")
	r.send(bulkLookedMsg{page: r.bulk, turn: old, look: bulkLook{err: errors.New("too late")}})
	r.send(bulkAppliedMsg{page: r.bulk, turn: old, err: errors.New("too late")})
	r.wantOff("too late")
}

func TestBulkCommands(t *testing.T) {
	r := protectStep(t, 2)
	r.press("c")
	r.wantOn("kubectl patch pv disk-0", "kubectl patch pv disk-1", "Retain")
}

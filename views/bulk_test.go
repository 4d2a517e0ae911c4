package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// store is a cluster of volumes disk-0 to disk-4, each Bound to claim
// shop/data-N under Delete, and one that is Retain already.
func store(edit ...func(*kube.Objects)) kube.Objects {
	objects := kube.Objects{}
	for i := range 5 {
		name, claim := fmt.Sprint("disk-", i), fmt.Sprint("data-", i)
		objects.Volumes = append(objects.Volumes, pv(name, corev1.VolumeBound, claimedBy("shop", claim, "pvc-shop-"+claim), withPolicy(corev1.PersistentVolumeReclaimDelete)))
		objects.Claims = append(objects.Claims, pvc("shop", claim, corev1.ClaimBound, name))
	}
	objects.Volumes = append(objects.Volumes, pv("disk-kept", corev1.VolumeBound, claimedBy("shop", "kept", "pvc-shop-kept")))
	objects.Claims = append(objects.Claims, pvc("shop", "kept", corev1.ClaimBound, "disk-kept"))
	objects.Classes = shop().Classes
	for _, e := range edit {
		e(&objects)
	}
	return objects
}

// on edits one volume of the objects.
func on(name, version string, edit func(*corev1.PersistentVolume)) func(*kube.Objects) {
	return func(o *kube.Objects) {
		for _, v := range o.Volumes {
			if v.Name == name {
				v.ResourceVersion = version
				edit(v)
			}
		}
	}
}

func retained(version string, names ...string) func(*kube.Objects) {
	return func(o *kube.Objects) {
		for _, name := range names {
			on(name, version, func(v *corev1.PersistentVolume) {
				v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
			})(o)
		}
	}
}

// policyDiff is how a policy change looks.
func policyDiff(s actions.Step) (kube.Preview, error) {
	from, to := "Delete", "Retain"
	if s.After.Policy == corev1.PersistentVolumeReclaimDelete {
		from, to = to, from
	}
	return kube.Preview{
		Step: s, ResourceVersion: "100", DryRun: kube.DryRunResult{Supported: true},
		Diff: "--- now\n+++ then\n@@ -9,3 +9,3 @@\n   volumeHandle: " + s.Target.Name +
			"\n-  persistentVolumeReclaimPolicy: " + from + "\n+  persistentVolumeReclaimPolicy: " + to + "\n",
	}, nil
}

// accepts answers as a server that knows each volume by its own uid.
func accepts(version string) func(kube.Preview) (kube.Applied, error) {
	return func(p kube.Preview) (kube.Applied, error) {
		return kube.Applied{ResourceVersion: version, Object: pv(p.Step.Target.Name, corev1.VolumeBound)}, nil
	}
}

func conflict(name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumes"}, name, errors.New("modified"))
}

// marked opens the actions menu of the first volumes of the table.
func marked(t *testing.T, objects kube.Objects, n int, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, objects, edit...)
	r.cluster.preview, r.cluster.apply = policyDiff, accepts("101")
	for range n {
		r.press("space")
	}
	r.press("a")
	return r
}

// protectStep has the first n volumes looked at and settled.
func protectStep(t *testing.T, n int, edit ...func(*Options)) *rig {
	t.Helper()
	r := marked(t, store(), n, edit...)
	r.press("p")
	r.settleBulk()
	return r
}

func (r *rig) settleBulk() {
	r.t.Helper()
	r.send(bulkSettledMsg{page: r.bulk, turn: r.bulk.turn, wait: r.bulk.wait, shown: true})
}

// confirm approves all that is ready.
func (r *rig) confirm(number string) {
	r.t.Helper()
	r.press("enter")
	r.wantOn("Type " + number + " to change")
	r.typeText(number)
	r.press("enter")
}

// targets are the volumes that were written, in that order.
func (r *rig) targets() string {
	var names []string
	for _, s := range r.cluster.applied {
		names = append(names, s.Target.Name)
	}
	return strings.Join(names, " ")
}

func (r *rig) wantTargets(want string) {
	r.t.Helper()
	if got := r.targets(); got != want {
		r.t.Fatalf("written: %q, want %q\n%s", got, want, r.screen())
	}
}

// state finds an item by its volume.
func (r *rig) state(name string) bulkState {
	r.t.Helper()
	i := slices.IndexFunc(r.bulk.items, func(it *bulkItem) bool { return it.req.Volume.Name == name })
	if i < 0 {
		r.t.Fatalf("no item %s", name)
	}
	return r.bulk.items[i].state
}

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

// TestBulkUndo brings back Delete, for those only whose claims still hold them.
func TestBulkUndo(t *testing.T) {
	r := protectStep(t, 3)
	r.confirm("3")
	after := []func(*kube.Objects){retained("101", "disk-0", "disk-1", "disk-2")}
	r.see(store(after...))
	r.wantOn("3 done and seen to be done")
	// The claim of one has begun to go: Delete would take its data along.
	going := func(o *kube.Objects) {
		at := before(0)
		o.Claims[1].DeletionTimestamp, o.Claims[1].Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	}
	r.see(store(append(after, going)...))
	r.press("u")
	r.wantOn("Undo on 3 volumes", "2 will be taken back, 1 is blocked: to set Delete now could destroy the data", "claim shop/data-1 is being deleted")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-2")
	r.settleBulk()
	r.cluster.apply = accepts("102")
	r.confirm("2")
	r.wantTargets("disk-0 disk-1 disk-2 disk-0 disk-2")
	for _, s := range r.cluster.applied[3:] {
		if string(s.Patch) != `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}` || s.Before.ClaimRef == nil || s.Before.ClaimRef.UID == "" {
			t.Errorf("the undo is %+v", s)
		}
	}
	back := func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}
	r.see(store(append(after, on("disk-0", "102", back), on("disk-2", "102", back))...))
	r.wantOn("2 done and seen to be done")
	if why := r.bulk.cannotUndo(); why == "" {
		t.Error("an undo can be undone")
	}
}

// TestBulkUndoLooksAgain: between the diff of the undo and its request the
// claim begins to go.
func TestBulkUndoLooksAgain(t *testing.T) {
	r := protectStep(t, 2)
	r.confirm("2")
	after := retained("101", "disk-0", "disk-1")
	r.see(store(after))
	r.press("u")
	r.settleBulk()
	r.press("enter")
	r.see(store(after, func(o *kube.Objects) {
		at := before(0)
		o.Claims[0].DeletionTimestamp, o.Claims[0].Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	}))
	r.typeText("2")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-1")
	if r.state("disk-0") != bulkSkipped {
		t.Errorf("disk-0 is in state %d", r.state("disk-0"))
	}
	r.wantOn("1 skipped: not written")
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

// TestBulkHeldKey: a key that is held down, or pressed again and again, never
// approves anything.
func TestBulkHeldKey(t *testing.T) {
	r := marked(t, store(), 3)
	r.press("p", "enter", "enter", "enter")
	r.wantOn("the differences have only just appeared")
	r.wantOff("Type 3")
	// The pause that the last press began anew is another one.
	r.send(bulkSettledMsg{page: r.bulk, turn: r.bulk.turn, wait: r.bulk.wait - 1, shown: true})
	r.press("enter")
	r.wantOff("Type 3")
	r.send(bulkSettledMsg{page: r.bulk, turn: r.bulk.turn, wait: r.bulk.wait, shown: false})
	r.press("enter")
	r.wantOff("Type 3")
	r.settleBulk()
	r.press("enter", "enter", "enter")
	r.wantOn("Type 3 to change 3 volumes")
	for _, wrong := range []string{"4", "03", "yes"} {
		r.typeText(wrong)
		r.press("enter")
		for range wrong {
			r.press("backspace")
		}
	}
	r.wantTargets("")
	r.typeText("3")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-2")
}

// TestBulkEveryKindIsSeen: one that makes another difference than the others
// has to be looked at, too.
func TestBulkEveryKindIsSeen(t *testing.T) {
	r := marked(t, store(), 4)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		p, err := policyDiff(s)
		if s.Target.Name == "disk-2" {
			p.Diff += "+  labels: set by a webhook\n"
		}
		return p, err
	}
	r.press("p")
	r.settleBulk()
	r.wantOn("1 kind of difference has not been looked at")
	r.press("enter")
	r.wantOff("Type 4")
	r.wantOn("not all differences have been on the screen")
	r.press("tab")
	r.wantOn("set by a webhook")
	r.wantOff("has not been looked at")
	r.press("enter")
	r.wantOn("Type 4 to change 4 volumes")
}

// TestBulkLongDifference: the part below the screen must have been seen.
func TestBulkLongDifference(t *testing.T) {
	r := marked(t, store(), 2)
	r.resize(80, 24)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		p, err := policyDiff(s)
		p.Diff += strings.Repeat("+  line\n", 20)
		return p, err
	}
	r.press("p")
	r.settleBulk()
	r.press("enter")
	r.wantOff("Type 2")
	for range 12 {
		r.press("J")
	}
	r.press("enter")
	r.wantOn("Type 2 to change 2 volumes")
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

// past are three Released volumes of former claims, and one that is Bound.
func past(edit ...func(*kube.Objects)) kube.Objects {
	objects := kube.Objects{Classes: shop().Classes}
	for i := range 3 {
		objects.Volumes = append(objects.Volumes, pv(fmt.Sprint("disk-", i), corev1.VolumeReleased, claimedBy("shop", fmt.Sprint("data-", i), "old")))
	}
	objects.Volumes = append(objects.Volumes, pv("disk-held", corev1.VolumeBound, claimedBy("shop", "held", "pvc-shop-held")))
	objects.Claims = append(objects.Claims, pvc("shop", "held", corev1.ClaimBound, "disk-held"))
	for _, e := range edit {
		e(&objects)
	}
	return objects
}

// refDiff is how it looks when a uid goes: each has its own.
func refDiff(s actions.Step) (kube.Preview, error) {
	return kube.Preview{
		Step: s, ResourceVersion: "100", DryRun: kube.DryRunResult{Supported: true},
		Diff: "--- now\n+++ then\n@@ -1,5 +1,4 @@\n   claimRef:\n-    uid: of " + s.Target.Name + "\n",
	}, nil
}

func TestBulkReserve(t *testing.T) {
	r := marked(t, past(), 4)
	r.cluster.preview = refDiff
	r.wantOn("Reserve 3 for their former claims")
	r.press("r")
	// Which uid goes makes no difference to look at.
	r.wantOn("3 volumes: 3 will be reserved for their former claims")
	r.wantOff("not been looked at")
	r.settleBulk()
	r.confirm("3")
	r.wantTargets("disk-0 disk-1 disk-2")
	for i, s := range r.cluster.applied {
		if want := fmt.Sprint("data-", i); s.After.ClaimRef.Claim.Name != want || s.After.ClaimRef.UID != "" {
			t.Errorf("%s is reserved for %+v, want %s", s.Target.Name, s.After.ClaimRef, want)
		}
	}
	free := func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID, v.Status.Phase = "", corev1.VolumeAvailable }
	r.see(past(on("disk-0", "101", free), on("disk-1", "101", free), on("disk-2", "101", free)))
	r.wantOn("3 done and seen to be done")
}

// TestBulkReserveBlocked: one is under Delete and takes two steps, two were the
// same claim's.
func TestBulkReserveBlocked(t *testing.T) {
	r := marked(t, past(
		on("disk-0", "100", withPolicy(corev1.PersistentVolumeReclaimDelete)),
		on("disk-2", "100", claimedBy("shop", "data-1", "older")),
	), 4)
	r.cluster.preview = refDiff
	r.press("r")
	r.wantOn("3 are blocked: This takes 2 steps", "and so on", "would be reserved for claim shop/data-1 too")
	r.settleBulk()
	r.press("enter")
	r.wantOn("there is nothing to change")
	r.wantTargets("")
}

// TestBulkUnreserve: two volumes that one claim could take, whichever comes
// first, are not opened; one that nobody waits for is.
func TestBulkUnreserve(t *testing.T) {
	waits := func(o *kube.Objects) { o.Claims = append(o.Claims, pvc("shop", "waits", corev1.ClaimPending, "")) }
	other := func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "example-sc" }
	r := marked(t, past(waits, on("disk-2", "100", other)), 4)
	r.cluster.preview = refDiff
	r.press("u")
	r.wantOn("1 will be open to any claim, 2 are blocked: Claim shop/waits would take this volume or volume disk-1, whichever comes first")
	r.settleBulk()
	r.confirm("1")
	r.wantTargets("disk-2")
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

// TestBulkScreens compares the page with its golden files.
func TestBulkScreens(t *testing.T) {
	scenes := map[string]func(*testing.T) *rig{
		"ready": func(t *testing.T) *rig {
			r := marked(t, store(), 6)
			r.press("p")
			r.settleBulk()
			return r
		},
		"blocked": func(t *testing.T) *rig {
			r := marked(t, past(func(o *kube.Objects) {
				o.Claims = append(o.Claims, pvc("shop", "waits", corev1.ClaimPending, ""))
			}, on("disk-2", "100", func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "example-sc" })), 4)
			r.cluster.preview = refDiff
			r.press("u")
			r.settleBulk()
			return r
		},
		"confirm": func(t *testing.T) *rig {
			r := protectStep(t, 6)
			r.press("enter")
			return r
		},
		"ended": func(t *testing.T) *rig {
			r := protectStep(t, 6)
			r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
				if p.Step.Target.Name == "disk-1" {
					return kube.Applied{}, conflict("disk-1")
				}
				return accepts("101")(p)
			}
			r.confirm("5")
			r.see(store(retained("101", "disk-0", "disk-2", "disk-3", "disk-4")))
			return r
		},
	}
	for name, play := range scenes {
		for _, size := range []struct{ w, h int }{{80, 24}, {160, 45}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				r := play(t)
				r.resize(size.w, size.h)
				golden.RequireEqual(t, r.screen())
			})
		}
	}
}

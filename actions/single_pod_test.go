package actions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const (
	rwo  = corev1.ReadWriteOnce
	rwop = corev1.ReadWriteOncePod
	rwx  = corev1.ReadWriteMany
	rox  = corev1.ReadOnlyMany
)

// single is "disk", a CSI volume Bound to shop/data that one pod of a
// Deployment uses.
func single(opts ...option) *setup {
	opts = append([]option{bound, vol(func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "disk"}
	}), func(s *setup) {
		s.w.Users = Users{
			Pods: []UserPod{{Name: "web-1"}}, PodsKnown: true,
			Workloads: []UserWorkload{{Kind: "Deployment", Name: "web", Shared: true, Replicas: replicas(1)}}, WorkloadsKnown: true,
		}
	}}, opts...)
	return world(SinglePodLight, opts...)
}

func replicas(n int32) *int32 { return new(n) }

func modes(list ...corev1.PersistentVolumeAccessMode) option {
	return vol(func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = list })
}

func usedBy(change func(*Users)) option { return func(s *setup) { change(&s.w.Users) } }

func load(kind string, shared bool, n *int32) option {
	return usedBy(func(u *Users) {
		u.Workloads = []UserWorkload{{Kind: kind, Name: "web", Shared: shared, Replicas: n}}
	})
}

func TestSinglePodChecks(t *testing.T) {
	inTree := vol(func(pv *corev1.PersistentVolume) { pv.Spec.CSI = nil })
	pods := func(list ...UserPod) option { return usedBy(func(u *Users) { u.Pods = list }) }
	claimModes := func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{rwop} }
	runChecks(t, []checkCase{
		{"being deleted", single(terminating), "volume-terminating", Block, "is being deleted"},
		{"there to stay", single(), "volume-terminating", none, ""},
		{"being deleted is said once", single(terminating), "not-bound", none, ""},

		{"both Bound, by uid", single(), "not-bound", none, ""},
		{"Released", single(phase(corev1.VolumeReleased)), "not-bound", Block, "the volume is Released, not Bound"},
		{"no uid", single(tied("data", "")), "not-bound", Block, "carries no claim's uid"},
		{"no claimRef", single(untied), "not-bound", Block, "carries no claim's uid"},
		{"another uid", single(tied("data", "uid-other")), "not-bound", Block, "shop/data, which held the volume, is gone"},
		{"claims unread", single(func(s *setup) { s.w.Claims = nil }, unread("persistentvolumeclaims")), "not-bound", Block, "claims could not be read"},
		{"claim bound elsewhere", single(spoil(boundTo("else"))), "not-bound", Block, "not Bound to the volume from its side"},
		{"claim Lost", single(spoil(lost)), "not-bound", Block, "not Bound to the volume from its side"},
		{"claim going", single(spoil(deletingPVC)), "not-bound", Block, "shop/data is being deleted"},

		{"RWO", single(), "modes", none, ""},
		{"RWX", single(modes(rwx)), "modes", Block, "Only ReadWriteOnce can become ReadWriteOncePod, and volume disk has ReadWriteMany"},
		{"ROX", single(modes(rox)), "modes", Block, "has ReadOnlyMany"},
		{"mixed", single(modes(rwo, rox)), "modes", Block, "has ReadWriteOnce, ReadOnlyMany"},
		{"RWOP", single(modes(rwop)), "already-single-pod", Block, "already"},
		{"RWO is not yet", single(), "already-single-pod", none, ""},

		{"pods unread", single(usedBy(func(u *Users) { *u = Users{} })), "pods-unknown", Block, "Whether several pods use it is not known"},
		{"pods read", single(), "pods-unknown", none, ""},
		{"no pod", single(pods()), "pods", Pass, "No pod uses"},
		{"one pod", single(), "pods", Pass, "web-1"},
		{"two pods", single(pods(UserPod{Name: "b"}, UserPod{Name: "a"})), "pods-several", Block, "2 pods use the volume: a, b"},
		{"one of two has ended", single(pods(UserPod{Name: "b", Ended: true}, UserPod{Name: "a"})), "pods-several", none, ""},

		{"two replicas", single(load("Deployment", true, replicas(2))), "workload-several", Block, "Deployment web is to have 2 pods"},
		{"two replicas, and no pod now", single(pods(), load("ReplicaSet", true, replicas(2))), "workload-several", Block, "ReplicaSet web"},
		{"one replica", single(), "workload-several", none, ""},
		{"none", single(load("Deployment", true, replicas(0))), "workload-several", none, ""},
		{"on every node", single(load("DaemonSet", true, nil)), "workload-several", Block, "on every node"},
		{"a claim for each of the set's pods", single(load("StatefulSet", false, replicas(3))), "workload-several", none, ""},
		{"one claim for all of the set's pods", single(load("StatefulSet", true, replicas(3))), "workload-several", Block, "3 pods"},
		{"a number that is not known", single(load("Rollout", true, nil)), "workload-several", none, ""},

		{"surge", single(usedBy(func(u *Users) { u.Workloads[0].Surges = true })), "surges", Warn, "before the old one is gone"},
		{"no surge", single(), "surges", none, ""},
		{"workloads unread", single(usedBy(func(u *Users) { u.WorkloadsKnown = false })), "workloads-unknown", Warn, ""},
		{"workloads read", single(), "workloads-unknown", none, ""},

		{"not CSI", single(inTree), "not-csi", Warn, "for CSI volumes only"},
		{"CSI", single(), "not-csi", none, ""},
		{"the claim stays", single(), "claim-stays", Warn, "shop/data keeps ReadWriteOnce in its spec"},
		{"the scheduler", single(), "scheduler-unaware", Warn, "does not enforce it"},
		{"a claim that says so itself", single(spoil(claimModes)), "claim-stays", none, ""},
		{"a claim that the scheduler knows of", single(spoil(claimModes)), "scheduler-unaware", none, ""},
		{"mounts", single(), "mounts-stay", Pass, ""},
	})
}

func TestSinglePodPlan(t *testing.T) {
	s := single(policy(remove))
	p := s.plan()
	if len(p.Steps) != 1 || string(p.Steps[0].Patch) != `{"spec":{"accessModes":["ReadWriteOncePod"]}}` {
		t.Fatalf("steps: %+v; checks: %+v", p.Steps, p.Checks)
	}
	if len(p.Undo) != 1 || string(p.Undo[0].Patch) != `{"spec":{"accessModes":["ReadWriteOnce"]}}` {
		t.Fatalf("undo: %+v", p.Undo)
	}
	is := func(mode corev1.PersistentVolumeAccessMode) VolumeCondition {
		return VolumeCondition{
			Phases: []corev1.PersistentVolumePhase{corev1.VolumeBound}, Modes: []corev1.PersistentVolumeAccessMode{mode},
			ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, UID: "uid-data"},
		}
	}
	for _, tt := range []struct {
		what      string
		got, want VolumeCondition
	}{
		{"before", p.Steps[0].Before, is(rwo)},
		{"after", p.Steps[0].After, is(rwop)},
		{"undo before", p.Undo[0].Before, is(rwop)},
		{"undo after", p.Undo[0].After, is(rwo)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.what, diff)
		}
	}
	text := p.Kubectl()
	for _, want := range []string{
		`kubectl patch pv disk --type=merge -p '{"spec":{"accessModes":["ReadWriteOncePod"]}}'`,
		`{"spec":{"accessModes":["ReadWriteOnce"]}}`,
		"# Before: phase Bound, access modes ReadWriteOnce, must name claim shop/data with uid uid-data",
		"# After: phase Bound, access modes ReadWriteOncePod,",
		"# Warning: The scheduler reads the claim",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("kubectl lacks %q:\n%s", want, text)
		}
	}
}

func TestSinglePodNext(t *testing.T) {
	s := single()
	p := s.plan()
	begin := s.w.Volume
	next := func(steps []Step, pv *corev1.PersistentVolume) Move {
		w := s.w
		w.Volume = pv
		return Next(p, steps, w)
	}
	done := apply(t, begin, p.Steps[0].Patch)
	if m := next(p.Steps, begin); m.Kind != Act {
		t.Errorf("before: %+v", m)
	}
	if m := next(p.Steps, done); m.Kind != Done {
		t.Errorf("after: %+v", m)
	}
	other := begin.DeepCopy()
	other.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{rwx}
	if m := next(p.Steps, other); m.Kind != Halt || !strings.Contains(m.Reason, "the access modes are ReadWriteMany, not ReadWriteOnce") {
		t.Errorf("other modes: %+v", m)
	}
	if m := next(p.Undo, done); m.Kind != Act {
		t.Errorf("undo: %+v", m)
	}
	released := done.DeepCopy()
	released.Status.Phase = corev1.VolumeReleased
	if m := next(p.Undo, released); m.Kind != Halt {
		t.Errorf("undo on a released volume: %+v", m)
	}
	if checks := UndoChecks(p.Undo[0], s.w); len(checks) != 1 || checks[0].ID != "modes-back" || checks[0].Severity != Warn {
		t.Errorf("checks of the undo: %+v", checks)
	}
	if checks := UndoChecks(world(Reserve).plan().Undo[0], s.w); len(checks) != 0 {
		t.Errorf("checks of an undo that changes no mode: %+v", checks)
	}
}

// TestModesCondition: no modes match anything; those given are all that there
// may be, in whatever order.
func TestModesCondition(t *testing.T) {
	type list = []corev1.PersistentVolumeAccessMode
	for _, tt := range []struct {
		want, have list
		ok         bool
	}{
		{nil, list{rwo}, true},
		{list{rwo}, list{rwo}, true},
		{list{rwo, rox}, list{rox, rwo}, true},
		{list{rwo}, list{rwo, rox}, false},
		{list{rwo, rox}, list{rwo}, false},
		{list{rwo}, list{rwop}, false},
	} {
		pv := world(Reserve, modes(tt.have...)).w.Volume
		if why := (VolumeCondition{Modes: tt.want}).Mismatch(pv); (why == "") != tt.ok {
			t.Errorf("%v on %v: %q", tt.want, tt.have, why)
		}
	}
}

// TestRepairOffer: a volume with a Lost claim that had it can be given back.
func TestRepairOffer(t *testing.T) {
	s := broken()
	offers := Offers(s.w.Volume, s.w)
	if o := offers[0]; o.Request.Verb != Repair || o.Request.Claim != (ClaimKey{"shop", "data"}) || o.Disabled != "" {
		t.Errorf("first offer: %+v", o)
	}
	for _, s := range []*setup{world(""), world("", bound), broken(spoil(boundTo("disk")))} {
		for _, o := range Offers(s.w.Volume, s.w) {
			if o.Request.Verb == Repair {
				t.Errorf("nothing is Lost: %+v", o)
			}
		}
	}
}

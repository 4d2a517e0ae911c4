package actions

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
	"pgregory.net/rapid"
)

func TestNext(t *testing.T) {
	type change = func(*setup)
	do := func(opts ...option) change {
		return func(s *setup) {
			for _, o := range opts {
				o(s)
			}
		}
	}
	taken := do(unmarked, tied("data", "uid-new"), phase(corev1.VolumeBound), withClaim("data", "uid-new", boundTo("disk")))
	written := do(unmarked, tied("data", ""))
	for _, tt := range []struct {
		what   string
		s      *setup
		change change
		undo   bool
		kind   MoveKind
		step   int
		reason string
	}{
		{"from the start", world(Reserve, policy(remove)), do(), false, Act, 0, ""},
		{"after the first step", world(Reserve, policy(remove)), do(policy(keep)), false, Act, 1, ""},
		{"written, not yet seen", world(Reserve, policy(remove)), do(policy(keep), written), false, Wait, 1, "is Released"},
		{"done", world(Reserve, policy(remove)), do(policy(keep), written, phase(corev1.VolumeAvailable)), false, Done, 2, ""},
		{"done, and taken by its claim", world(Reserve, policy(remove)), do(policy(keep), taken), false, Done, 2, ""},
		{"somebody sets Delete afterwards", world(Reserve, policy(remove)), do(written, phase(corev1.VolumeAvailable)), false, Halt, 0, "is Available"},
		{"somebody sets Delete in between", world(Reserve), do(policy(remove)), false, Halt, 0, "policy is Delete"},
		{"somebody reserves for another", world(Reserve), do(tied("x", "")), false, Halt, 0, "reserved for claim shop/x"},
		{"somebody opens it", world(Reserve), do(untied, phase(corev1.VolumeAvailable)), false, Halt, 0, "is Available"},
		{"gone", world(Reserve), func(s *setup) { s.w.Volume = nil }, false, Halt, 0, "gone"},
		{"replaced", world(Reserve), do(vol(func(pv *corev1.PersistentVolume) { pv.UID = "uid-2" })), false, Halt, 0, "another of the same name"},
		// An After that holds from the start.
		{"only the mark is left", world(Reserve, tied("data", ""), phase(corev1.VolumeAvailable)), do(), false, Act, 0, ""},
		{"the mark is off", world(Reserve, tied("data", ""), phase(corev1.VolumeAvailable)), do(unmarked), false, Done, 1, ""},
		{"the mark is on, in a phase that nobody expected", world(Reserve, tied("data", ""), phase(corev1.VolumeAvailable)), do(phase(corev1.VolumeFailed)), false, Halt, 0, "is Failed"},
		{"a stale uid in an Available volume", world(Reserve, phase(corev1.VolumeAvailable)), do(), false, Act, 0, ""},

		{"unreserve", world(Unreserve), do(), false, Act, 0, ""},
		{"opened", world(Unreserve), do(untied, unmarked, phase(corev1.VolumeAvailable)), false, Done, 1, ""},
		{"opened, not yet seen", world(Unreserve), do(untied, unmarked), false, Wait, 0, "Released"},
		{"opened and taken", world(Unreserve), do(tied("x", "uid-x"), phase(corev1.VolumeBound)), false, Done, 1, ""},
		{"opened and taken by the former name", world(Unreserve), do(tied("data", "uid-new"), phase(corev1.VolumeBound)), false, Done, 1, ""},
		{"its claim was faster", world(Unreserve, tied("data", ""), phase(corev1.VolumeAvailable)), do(tied("data", "uid-new"), phase(corev1.VolumeBound)), false, Halt, 0, "is Bound"},

		{"delete", world(SetPolicy, toPolicy(remove), bound), do(), false, Act, 0, ""},
		{"deleted", world(SetPolicy, toPolicy(remove), bound), do(policy(remove)), false, Done, 1, ""},
		{"the claim is being deleted", world(SetPolicy, toPolicy(remove), bound), func(s *setup) { deletingPVC(s.w.Claims[0]) }, false, Halt, 0, "being deleted"},
		{"the claim is gone", world(SetPolicy, toPolicy(remove), bound), func(s *setup) { s.w.Claims = nil }, false, Halt, 0, "gone"},
		{"the volume is Released", world(SetPolicy, toPolicy(remove), bound), do(phase(corev1.VolumeReleased)), false, Halt, 0, "is Released"},
		{"retain, in whatever phase", world(SetPolicy, toPolicy(keep), bound, policy(remove)), do(phase(corev1.VolumeReleased), tied("x", "y")), false, Act, 0, ""},

		{"undo", world(Reserve), do(written, phase(corev1.VolumeAvailable)), true, Act, 0, ""},
		{"undo before the controller looked", world(Reserve), do(written), true, Act, 0, ""},
		{"undo when nothing was done", world(Reserve), do(), true, Done, 1, ""},
		{"undo, but the claim took it", world(Reserve), taken, true, Halt, 0, "is Bound"},
		{"undo, but the claim is taking it", world(Reserve), do(unmarked, tied("data", "uid-new"), phase(corev1.VolumeAvailable)), true, Halt, 0, "uid-new"},
		{"undo, but somebody set Delete", world(Reserve), do(written, phase(corev1.VolumeAvailable), policy(remove)), true, Halt, 0, "policy is Delete"},
		{"undo an opening", world(Unreserve), do(untied, unmarked, phase(corev1.VolumeAvailable)), true, Act, 0, ""},
		{"undo an opening, but somebody took it", world(Unreserve), do(tied("x", "uid-x"), phase(corev1.VolumeBound)), true, Halt, 0, "is Bound"},
		{"undo Retain", world(SetPolicy, toPolicy(keep), bound, policy(remove)), do(policy(keep)), true, Act, 0, ""},
		{"undo Retain, but the claim is going", world(SetPolicy, toPolicy(keep), bound, policy(remove)), func(s *setup) {
			policy(keep)(s)
			deletingPVC(s.w.Claims[0])
		}, true, Halt, 0, "being deleted"},
		{"undo Retain, but the volume is Released", world(SetPolicy, toPolicy(keep), bound, policy(remove)), do(policy(keep), phase(corev1.VolumeReleased)), true, Halt, 0, "is Released"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p := tt.s.plan()
			steps := p.Steps
			if tt.undo {
				steps = p.Undo
			}
			if len(steps) == 0 {
				t.Fatalf("no steps: %+v", p.Checks)
			}
			tt.change(tt.s)
			m := Next(p, steps, tt.s.w)
			if m.Kind != tt.kind || m.Step != tt.step || !strings.Contains(m.Reason, tt.reason) {
				t.Errorf("got %+v", m)
			}
			if stuck := m.Kind == Halt || m.Kind == Wait; stuck != (m.Reason != "") {
				t.Errorf("a reason is needed exactly when nothing can be done: %+v", m)
			}
		})
	}
}

func TestNextBlocked(t *testing.T) {
	s := world(Unreserve, bound)
	p := s.plan()
	if m := Next(p, p.Steps, s.w); m.Kind != Halt || m.Reason == "" {
		t.Errorf("a blocked plan is never done: %+v", m)
	}
	p = world(Reserve).plan()
	p.Steps[0].Target.Kind = ClaimKind
	if m := Next(p, p.Steps, s.w); m.Kind != Halt {
		t.Errorf("got %+v", m)
	}
}

// drawWorld is any volume in any state, with claims that may have to do with
// it.
func drawWorld(t *rapid.T) *setup {
	s := world(rapid.SampledFrom([]Verb{Reserve, Unreserve, SetPolicy, Repair, SinglePodLight}).Draw(t, "verb"))
	phase(rapid.SampledFrom([]corev1.PersistentVolumePhase{
		"", corev1.VolumeAvailable, corev1.VolumeReleased, corev1.VolumeReleased, corev1.VolumeFailed, corev1.VolumeBound,
	}).Draw(t, "phase"))(s)
	policy(rapid.SampledFrom([]corev1.PersistentVolumeReclaimPolicy{keep, keep, remove, recycle}).Draw(t, "policy"))(s)
	switch rapid.IntRange(0, 5).Draw(t, "ref") {
	case 0:
		untied(s)
	case 1:
		tied("data", "")(s)
	case 2:
		tied("data", "uid-data")(s)
	case 3:
		tied("x", "uid-old")(s)
	}
	if rapid.Bool().Draw(t, "unmarked") {
		unmarked(s)
	}
	if rapid.Bool().Draw(t, "no annotations") {
		delete(s.w.Volume.Annotations, "team")
	}
	changes := []func(*corev1.PersistentVolumeClaim){
		func(*corev1.PersistentVolumeClaim) {}, named("disk"), named("else"), boundTo("disk"), boundTo("else"), wants("99Gi"), ofClass("x"), deletingPVC, lost, lostOver,
	}
	for _, name := range []string{"data", "x"} {
		if rapid.Bool().Draw(t, "claim") {
			uid := rapid.SampledFrom([]string{"uid-data", "uid-new"}).Draw(t, "uid")
			withClaim(name, uid, rapid.SampledFrom(changes).Draw(t, "change"))(s)
		}
	}
	toPolicy(rapid.SampledFrom([]corev1.PersistentVolumeReclaimPolicy{keep, remove, recycle}).Draw(t, "to"))(s)
	if s.req.Verb == Reserve && rapid.Bool().Draw(t, "other") {
		s.req.Claim = ClaimKey{"lab", "y"}
	}
	if s.req.Verb == SinglePodLight {
		s.w.Users = Users{PodsKnown: true, WorkloadsKnown: rapid.Bool().Draw(t, "workloads")}
	}
	if s.req.Verb == Repair {
		s.req.Claim = ClaimKey{"shop", "data"}
		if rapid.Bool().Draw(t, "broken") {
			s.w.Claims = slices.DeleteFunc(s.w.Claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Name == "data" })
			withClaim("data", "uid-data", lostOver)(s)
		}
	}
	return s
}

// Whatever the state, a plan that is not blocked runs through, keeps the
// invariants on its way, and its undo brings back the spec and the
// annotations exactly, except a policy that is not brought back on purpose.
func TestPlanRunsAndUndoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawWorld(t)
		begin := s.w.Volume.DeepCopy()
		p := s.plan()
		if p.Blocked() != "" {
			if len(p.Steps)+len(p.Undo) > 0 {
				t.Fatalf("blocked, with steps: %+v", p)
			}
			return
		}
		if len(p.Steps) == 0 {
			t.Fatalf("neither blocked nor anything to do: %+v", p)
		}
		if len(p.Undo) == 0 && p.UndoNote == "" {
			t.Fatalf("no undo, and no word why: %+v", p)
		}
		run := func(steps []Step) {
			for i := range steps {
				if m := Next(p, steps, s.w); m.Kind != Act || m.Step != i {
					t.Fatalf("step %d of %q: %+v", i, stepIDs(steps), m)
				}
				pv := apply(t, s.w.Volume, steps[i].Patch)
				// Neither of these lets go of the volume.
				bound := s.req.Verb == SetPolicy || s.req.Verb == SinglePodLight
				if !bound && pv.Spec.PersistentVolumeReclaimPolicy != keep {
					t.Fatalf("not under Retain after %s", steps[i].ID)
				}
				if ref := pv.Spec.ClaimRef; s.req.Verb == Reserve && steps[i].ID == stepReserve && (ref == nil || ref.UID != "" || keyOf(ref) != s.req.Claim) {
					t.Fatalf("not reserved: %+v", ref)
				}
				if ref := pv.Spec.ClaimRef; steps[i].ID == stepRepair && (ref == nil || ref.UID != s.w.claim(s.req.Claim).UID || keyOf(ref) != s.req.Claim) {
					t.Fatalf("not given back: %+v", ref)
				}
				if _, marked := pv.Annotations[volume.AnnBoundByController]; marked && (steps[i].ID == stepReserve || steps[i].ID == stepUnreserve) {
					t.Fatal("the mark goes with the uid")
				}
				control(pv, s.w.Claims)
				s.w.Volume = pv
				if why := steps[i].After.Mismatch(pv); why != "" {
					t.Fatalf("after %s: %s", steps[i].ID, why)
				}
			}
			if m := Next(p, steps, s.w); m.Kind != Done {
				t.Fatalf("not done: %+v", m)
			}
		}
		run(p.Steps)
		if len(p.Undo) == 0 {
			return
		}
		run(p.Undo)
		end := s.w.Volume.DeepCopy()
		if begin.Spec.PersistentVolumeReclaimPolicy != end.Spec.PersistentVolumeReclaimPolicy {
			if s.req.Verb == SetPolicy || !strings.Contains(p.UndoNote, "stays Retain") {
				t.Fatalf("the policy was not brought back, and nobody said so: %+v", p)
			}
			end.Spec.PersistentVolumeReclaimPolicy = begin.Spec.PersistentVolumeReclaimPolicy
		}
		if patch := mergePatch(begin, end); patch != nil && len(diffMaps(specAndAnnotations(begin), specAndAnnotations(end))) > 0 {
			t.Fatalf("the undo leaves %s", patch)
		}
	})
}

func specAndAnnotations(pv *corev1.PersistentVolume) map[string]any {
	m := asMap(pv)
	delete(m, "status")
	return m
}

// A merge patch made from two volumes turns one into the other, and is
// recognised as taken afterwards.
func TestMergePatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := drawWorld(t).w.Volume, drawWorld(t).w.Volume
		from.Status, to.Status = corev1.PersistentVolumeStatus{}, corev1.PersistentVolumeStatus{}
		patch := mergePatch(from, to)
		if patch == nil {
			if mergePatch(to, from) != nil {
				t.Fatal("no change one way, but the other")
			}
			return
		}
		if !changes(patch, from) {
			t.Fatalf("%s changes nothing", patch)
		}
		got := apply(t, from, patch)
		if rest := mergePatch(got, to); rest != nil {
			t.Fatalf("%s leaves %s", patch, rest)
		}
		if changes(patch, got) {
			t.Fatalf("%s would change the volume again", patch)
		}
	})
}

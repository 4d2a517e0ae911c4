package actions

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestUndoInAnOperation: an undo does not reach into an operation that was
// begun since.
func TestUndoInAnOperation(t *testing.T) {
	s := world(Reserve)
	undo := s.plan().Undo[0]
	if checks := UndoChecks(undo, s.w); len(checks) != 0 {
		t.Errorf("got %+v", checks)
	}
	s.w.Volume.Annotations["claimref.io/plan"] = "x"
	if p := (Plan{Checks: UndoChecks(undo, s.w)}); p.Blocked() == "" {
		t.Errorf("got %+v", p.Checks)
	}
}

// TestUndoChecks: a step back that opens the volume, or sets Delete, is judged
// as if it had been asked for, and typed; the others are not.
func TestUndoChecks(t *testing.T) {
	available := phase(corev1.VolumeAvailable)
	for _, tt := range []struct {
		what    string
		plan    *setup
		now     *setup
		check   string
		confirm bool
	}{
		{
			"back to a stale uid", world(Reserve), world(Reserve, tied("data", ""), available),
			"", false,
		},
		{
			"back to nobody, with a claim waiting",
			world(Reserve, untied, available, unmarked),
			world(Reserve, tied("data", ""), available, withClaim("stranger", "uid-s", ofClass("fast"))),
			"takers", true,
		},
		{
			"back to Delete", world(SetPolicy, toPolicy(corev1.PersistentVolumeReclaimRetain), bound, policy(corev1.PersistentVolumeReclaimDelete)),
			world(SetPolicy, bound), "dies-with-claim", true,
		},
		{
			"back to Delete, with the claim on its way out",
			world(SetPolicy, toPolicy(corev1.PersistentVolumeReclaimRetain), bound, policy(corev1.PersistentVolumeReclaimDelete)),
			world(SetPolicy, bound, func(s *setup) { deletingPVC(s.w.Claims[0]) }), "delete-unbound", true,
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			undo := tt.plan.plan().Undo
			if len(undo) != 1 {
				t.Fatalf("the plan has %d steps back, want 1", len(undo))
			}
			checks := Plan{Checks: UndoChecks(undo[0], tt.now.w)}
			if tt.check == "" && len(checks.Checks) > 0 || tt.check != "" && find(checks, tt.check) == nil {
				t.Errorf("checks are %+v, want %q", checks.Checks, tt.check)
			}
			if got := undo[0].Confirm != ""; got != tt.confirm {
				t.Errorf("it is typed: %v, want %v", got, tt.confirm)
			}
		})
	}
}

// TestReserveWithClaimsUnread: claims that can't be seen may count on the
// volume, whether or not the claim to reserve for is known.
func TestReserveWithClaimsUnread(t *testing.T) {
	for _, s := range []*setup{
		world(Reserve, unread("persistentvolumeclaims")),
		world(Reserve, unread("persistentvolumeclaims"), withClaim("data", "uid-new")),
	} {
		n := 0
		for _, c := range s.plan().Checks {
			if c.ID == "claims-unread" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("it is said %d times, want once: %+v", n, s.plan().Checks)
		}
	}
	if c := find(world(Reserve).plan(), "claims-unread"); c != nil {
		t.Errorf("claims were read, but: %s", c.Text)
	}
}

// TestKubectlFlags: each command says which cluster it is for.
func TestKubectlFlags(t *testing.T) {
	p := world(Reserve, policy(corev1.PersistentVolumeReclaimDelete)).plan()
	text := p.Kubectl("--context", "prod tokyo", "--as=me")
	commands := 0
	for line := range strings.Lines(text) {
		if strings.Contains(line, "kubectl ") {
			commands++
			if !strings.Contains(line, "kubectl --context 'prod tokyo' --as=me patch pv disk") {
				t.Errorf("no cluster is named: %s", line)
			}
		}
	}
	if commands < 4 {
		t.Errorf("only %d commands:\n%s", commands, text)
	}
}

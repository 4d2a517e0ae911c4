package actions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

// lostOver is a claim that was bound to "disk" and is Lost.
func lostOver(c *corev1.PersistentVolumeClaim) {
	boundTo("disk")(c)
	lost(c)
}

// broken is the field case of a claimRef whose uid was taken off under a
// living binding: the volume is Available and reserved, the claim is Lost.
func broken(opts ...option) *setup {
	opts = append([]option{
		tied("data", ""), unmarked, phase(corev1.VolumeAvailable), withClaim("data", "uid-data", lostOver), forClaim("shop", "data"),
	}, opts...)
	return world(Repair, opts...)
}

// spoil changes the claim that is to be repaired.
func spoil(change func(*corev1.PersistentVolumeClaim)) option {
	return func(s *setup) { change(s.w.Claims[0]) }
}

func TestRepairChecks(t *testing.T) {
	unmark := func(c *corev1.PersistentVolumeClaim) { delete(c.Annotations, volume.AnnBindCompleted) }
	nothing := func(s *setup) { s.w.Claims = nil }
	denied := func(s *setup) { s.w.Denied = []string{"patch persistentvolumes"} }
	const warn, block, pass = Warn, Block, Pass
	runChecks(t, []checkCase{
		{"no right", broken(denied), "right-patch", block, "may not change"},
		{"being deleted", broken(terminating), "volume-terminating", block, ""},
		{"may be being erased", broken(tied("x", "uid-x"), phase(corev1.VolumeReleased), policy(recycle)), "recycle", block, ""},
		{"replaced", broken(vol(func(pv *corev1.PersistentVolume) { pv.UID = "uid-2" })), "volume-replaced", block, ""},

		{"no claim", broken(nothing), "claim-gone", block, "shop/data does not exist"},
		{"claims unread", broken(nothing, unread("persistentvolumeclaims")), "claim-unread", block, "not known to be Lost"},
		{"claim going", broken(spoil(deletingPVC)), "claim-terminating", block, ""},
		{"names another volume", broken(spoil(named("else"))), "claim-names-other", block, "names volume else"},
		{"names none", broken(spoil(named(""))), "claim-names-other", block, "names no volume"},
		{"never bound", broken(spoil(unmark)), "claim-not-marked", block, "not bound before"},
		{"bound", broken(spoil(boundTo("disk"))), "claim-not-lost", block, "is Bound, not Lost"},
		{"tied already", broken(tied("data", "uid-data")), "claim-tied", block, "carries the uid"},

		{"fits", broken(), "binds", pass, ""},
		{"of another size", broken(spoil(wants("99Gi"))), "binds-unchecked", warn, "99Gi"},
		{"Available or not does not matter", broken(phase(corev1.VolumeReleased)), "binds-unchecked", none, ""},
		{"open", broken(untied), "open", pass, "unless another claim is faster"},

		{"held by another", broken(tied("x", "uid-x"), phase(corev1.VolumeBound), withClaim("x", "uid-x", boundTo("disk"))), "volume-taken", block, "shop/x holds volume disk"},
		{"being bound to another", broken(tied("x", "uid-x"), withClaim("x", "uid-x")), "volume-taken", block, "shop/x holds volume disk"},
		{"another counts on it", broken(withClaim("x", "uid-x", boundTo("disk"))), "volume-taken", block, "shop/x was bound to this volume too"},
		{"another is Lost too", broken(withClaim("x", "uid-x", lostOver)), "claim-lost", warn, "shop/x"},
		{"a third one's uid, and claims unread", broken(tied("x", "uid-x"), phase(corev1.VolumeReleased), unread("persistentvolumeclaims")), "volume-taken", block, "not certain"},
		{"its own stale uid, and claims unread", broken(tied("data", "uid-old"), phase(corev1.VolumeReleased), unread("persistentvolumeclaims")), "volume-taken", none, ""},
		{"claims unread", broken(unread("persistentvolumeclaims")), "claims-unread", warn, "counts on this volume"},
		{"a claim that is served elsewhere", broken(tied("x", "uid-x"), withClaim("x", "uid-x", boundTo("else"))), "claim-elsewhere", warn, "uses volume else"},

		{"bound to another since", broken(tied("x", "uid-x"), phase(corev1.VolumeReleased)), "used-by-other", warn, "shop/x since"},
		{"only reserved for another since", broken(tied("x", "")), "used-by-other", none, ""},
		{"reserved for another", broken(tied("x", "")), "reserved-for-other", warn, "shop/x"},
		{"its own reservation", broken(), "reserved-for-other", none, ""},
		{"under Delete", broken(tied("data", "uid-old"), phase(corev1.VolumeReleased), policy(remove)), "deletion-under-way", warn, ""},
	})
}

func TestRepairPlan(t *testing.T) {
	for _, tt := range []struct {
		what               string
		s                  *setup
		steps, patch, undo string
		note               string
	}{
		{
			"the uid alone", broken(), "repair", `{"spec":{"claimRef":{"uid":"uid-data"}}}`, "restore-claimref", "Lost again",
		},
		{
			"the mark goes with the former uid", broken(tied("data", "uid-old"), phase(corev1.VolumeReleased), func(s *setup) {
				metav1.SetMetaDataAnnotation(&s.w.Volume.ObjectMeta, volume.AnnBoundByController, "yes")
			}), "repair",
			`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},"spec":{"claimRef":{"uid":"uid-data"}}}`, "restore-claimref", "",
		},
		{
			"the name too", broken(tied("x", "")), "repair", `{"spec":{"claimRef":{"name":"data","uid":"uid-data"}}}`, "restore-claimref", "",
		},
		{
			"all of it", broken(untied), "repair",
			`{"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","name":"data","namespace":"shop","uid":"uid-data"}}}`, "", "no undo",
		},
		{
			"Retain first", broken(policy(remove)), "retain repair", `{"spec":{"claimRef":{"uid":"uid-data"}}}`, "restore-claimref", "stays Retain",
		},
		{
			"not back to a claim that is served elsewhere", broken(tied("x", "uid-x"), withClaim("x", "uid-x", boundTo("else"))), "repair",
			`{"spec":{"claimRef":{"name":"data","uid":"uid-data"}}}`, "", "not brought back",
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p := tt.s.plan()
			if got := stepIDs(p.Steps); got != tt.steps {
				t.Fatalf("steps: %q, want %q; checks %+v", got, tt.steps, p.Checks)
			}
			last := p.Steps[len(p.Steps)-1]
			if string(last.Patch) != tt.patch {
				t.Errorf("patch:\n%s, want\n%s", last.Patch, tt.patch)
			}
			want := VolumeCondition{
				Phases: []corev1.PersistentVolumePhase{corev1.VolumeBound}, Policy: keep,
				ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, UID: "uid-data"},
			}
			if diff := cmp.Diff(want, last.After); diff != "" {
				t.Errorf("after (-want +got):\n%s", diff)
			}
			if last.Before.Policy != keep || last.Before.ClaimRef == nil {
				t.Errorf("before: %+v", last.Before)
			}
			if got := stepIDs(p.Undo); got != tt.undo || !strings.Contains(p.UndoNote, tt.note) {
				t.Errorf("undo: %q, %q", got, p.UndoNote)
			}
		})
	}
}

// TestRepairUndo: the way back takes the volume from a claim, and is typed.
func TestRepairUndo(t *testing.T) {
	s := broken()
	p := s.plan()
	undo := p.Undo[0]
	if undo.Confirm != "disk" {
		t.Errorf("it is confirmed by %q", undo.Confirm)
	}
	s.w.Volume = apply(t, s.w.Volume, p.Steps[0].Patch)
	control(s.w.Volume, s.w.Claims)
	if c := find(Plan{Checks: UndoChecks(undo, s.w)}, "claim-lost"); c == nil || c.Severity != Warn || !strings.Contains(c.Text, "shop/data") {
		t.Errorf("checks: %+v", c)
	}
	if m := Next(p, p.Undo, s.w); m.Kind != Act {
		t.Errorf("got %+v", m)
	}
	// Somebody gave the volume to another claim meanwhile.
	tied("x", "uid-x")(s)
	if m := Next(p, p.Undo, s.w); m.Kind != Halt {
		t.Errorf("got %+v", m)
	}
}

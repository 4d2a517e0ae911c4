package actions

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func stepIDs(steps []Step) string {
	var ids []string
	for _, s := range steps {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

// What each plan consists of, from each state.
func TestPlanShape(t *testing.T) {
	const (
		available = corev1.VolumeAvailable
	)
	for _, tt := range []struct {
		what    string
		s       *setup
		steps   string
		patch   string // of the last step
		undo    string
		confirm string
		note    string
	}{
		{
			"reserve for the former claim", world(Reserve), "reserve",
			`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},"spec":{"claimRef":{"resourceVersion":null,"uid":null}}}`,
			"restore-claimref", "", "until a claim takes the volume",
		},
		{
			"reserve for another claim", world(Reserve, unmarked, forClaim("lab", "x")), "reserve",
			`{"spec":{"claimRef":{"name":"x","namespace":"lab","resourceVersion":null,"uid":null}}}`,
			"restore-claimref", "", "",
		},
		{
			"reserve what is open", world(Reserve, untied, unmarked, phase(available)), "reserve",
			`{"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","name":"data","namespace":"shop"}}}`,
			"restore-claimref", "", "",
		},
		{
			"fill in what a hand-written claimRef lacks", world(Reserve, unmarked, tied("data", ""), vol(func(pv *corev1.PersistentVolume) {
				pv.Spec.ClaimRef.Kind, pv.Spec.ClaimRef.APIVersion = "", ""
			})), "reserve",
			`{"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim"}}}`,
			"restore-claimref", "", "",
		},
		{
			"the mark alone", world(Reserve, tied("data", ""), phase(available)), "reserve",
			`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}}}`, "restore-claimref", "", "",
		},
		{
			"the mark alone, the only annotation", world(Reserve, tied("data", ""), phase(available), vol(func(pv *corev1.PersistentVolume) {
				delete(pv.Annotations, "team")
			})), "reserve",
			`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}}}`, "restore-claimref", "", "",
		},
		{
			"reserve under Delete", world(Reserve, policy(remove)), "retain reserve",
			`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},"spec":{"claimRef":{"resourceVersion":null,"uid":null}}}`,
			"restore-claimref", "", "policy stays Retain",
		},
		{
			"reserved under Delete", world(Reserve, unmarked, tied("data", ""), phase(available), policy(remove)), "retain",
			`{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`, "", "", "policy stays Retain",
		},
		{
			"unreserve, nobody waits", world(Unreserve), "unreserve",
			`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},"spec":{"claimRef":null}}`,
			"restore-claimref", "", "until a claim takes the volume",
		},
		{"unreserve, somebody waits", world(Unreserve, withClaim("x", "uid-x")), "unreserve", "", "restore-claimref", "disk", ""},
		{"unreserve, claims unread", world(Unreserve, unread("persistentvolumeclaims")), "unreserve", "", "restore-claimref", "disk", ""},
		{"unreserve under Delete", world(Unreserve, policy(remove)), "retain unreserve", "", "restore-claimref", "", "policy stays Retain"},
		{
			"no way back to a claim served elsewhere",
			world(Unreserve, tied("data", "uid-data"), withClaim("data", "uid-data", boundTo("else"))), "unreserve", "", "", "", "not brought back",
		},
		{
			"Retain on a bound volume", world(SetPolicy, toPolicy(keep), bound, policy(remove)), "policy",
			`{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`, "restore-policy", "", "while the volume stays Bound",
		},
		{"Retain on a released volume", world(SetPolicy, toPolicy(keep), policy(remove)), "policy", "", "", "", "could destroy the data, because the volume is Released"},
		{"Retain instead of Recycle", world(SetPolicy, toPolicy(keep), bound, policy(recycle)), "policy", "", "", "", "Recycle is not brought back"},
		{
			"Delete", world(SetPolicy, toPolicy(remove), bound), "policy",
			`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`, "restore-policy", "disk", "",
		},
		{"Delete instead of Recycle", world(SetPolicy, toPolicy(remove), bound, policy(recycle)), "policy", "", "", "disk", "Recycle is not brought back"},
		{"blocked", world(Unreserve, bound), "", "", "", "", ""},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p := tt.s.plan()
			if got := stepIDs(p.Steps); got != tt.steps {
				t.Fatalf("steps: %q, want %q; checks %+v", got, tt.steps, p.Checks)
			}
			if tt.patch != "" {
				if got := string(p.Steps[len(p.Steps)-1].Patch); got != tt.patch {
					t.Errorf("patch:\n%s, want\n%s", got, tt.patch)
				}
			}
			if got := stepIDs(p.Undo); got != tt.undo {
				t.Errorf("undo: %q, want %q", got, tt.undo)
			}
			// A typed word stands before the step that exposes or destroys,
			// which is the last one, and before no other.
			for i, s := range p.Steps {
				want := ""
				if i == len(p.Steps)-1 {
					want = tt.confirm
				}
				if s.Confirm != want {
					t.Errorf("%s is confirmed by %q, want %q", s.ID, s.Confirm, want)
				}
			}
			if !strings.Contains(p.UndoNote, tt.note) {
				t.Errorf("note: %q", p.UndoNote)
			}
			for _, s := range append(p.Steps, p.Undo...) {
				if s.Title == "" || s.Why == "" || s.Target != (Ref{Kind: VolumeKind, Name: "disk", UID: "uid-disk"}) {
					t.Errorf("incomplete: %+v", s)
				}
				if strings.Contains(string(s.Patch), "metadata\":{\"resourceVersion") {
					t.Errorf("the executor adds the resourceVersion: %s", s.Patch)
				}
			}
		})
	}
}

// The guards of the steps, literally.
func TestPlanConditions(t *testing.T) {
	phases := func(p ...corev1.PersistentVolumePhase) []corev1.PersistentVolumePhase { return p }
	old := &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, UID: "uid-old"}
	p := world(Reserve, policy(remove)).plan()
	for _, tt := range []struct {
		what      string
		got, want VolumeCondition
	}{
		{"retain before", p.Steps[0].Before, VolumeCondition{Phases: phases(corev1.VolumeReleased), Policy: remove, ClaimRef: old}},
		{"retain after", p.Steps[0].After, VolumeCondition{Policy: keep}},
		{"reserve before", p.Steps[1].Before, VolumeCondition{Phases: phases(corev1.VolumeReleased), Policy: keep, ClaimRef: old}},
		{"reserve after", p.Steps[1].After, VolumeCondition{
			Phases: phases(corev1.VolumeAvailable, corev1.VolumeBound), Policy: keep,
			ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, AnyUID: true}, NotClaimRef: old,
		}},
		{"undo before", p.Undo[0].Before, VolumeCondition{
			Phases: phases(corev1.VolumeReleased, corev1.VolumeAvailable), Policy: keep,
			ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}},
		}},
		{"undo after", p.Undo[0].After, VolumeCondition{
			Phases: phases(corev1.VolumeReleased, corev1.VolumeFailed), Policy: keep, ClaimRef: old,
		}},
		{"delete before", world(SetPolicy, toPolicy(remove), bound).plan().Steps[0].Before, VolumeCondition{
			Phases: phases(corev1.VolumeBound), Policy: keep,
			ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, UID: "uid-data"},
		}},
		{"delete again before", world(SetPolicy, toPolicy(keep), bound, policy(remove)).plan().Undo[0].Before, VolumeCondition{
			Phases: phases(corev1.VolumeBound), Policy: keep,
			ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, UID: "uid-data"},
		}},
		{"a failure stays one as long as the uid is there", world(Reserve, phase(corev1.VolumeFailed)).plan().Steps[0].Before, VolumeCondition{
			Phases: phases(corev1.VolumeFailed), Policy: keep, ClaimRef: old,
		}},
		{"unreserve a reservation", world(Unreserve, tied("data", ""), phase(corev1.VolumeAvailable)).plan().Steps[0].After, VolumeCondition{
			Phases: phases(corev1.VolumeAvailable, corev1.VolumeBound), Policy: keep,
			NotClaimRef: &ClaimRefCondition{Claim: ClaimKey{"shop", "data"}, AnyUID: true},
		}},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.what, diff)
		}
	}
}

// A plan survives being written down and read again.
func TestPlanIsData(t *testing.T) {
	want := world(Reserve, policy(remove), withClaim("data", "uid-new", wants("99Gi"))).plan()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMismatch(t *testing.T) {
	s := world(Reserve)
	key := ClaimKey{"shop", "data"}
	for _, tt := range []struct {
		what string
		c    VolumeCondition
		pv   *corev1.PersistentVolume
		want string
	}{
		{"anything", VolumeCondition{}, s.w.Volume, ""},
		{"gone", VolumeCondition{}, nil, "the volume is gone"},
		{"phase", VolumeCondition{Phases: []corev1.PersistentVolumePhase{"Bound", "Available"}}, s.w.Volume, "the volume is Released, not Bound or Available"},
		{"unset phase", VolumeCondition{Phases: []corev1.PersistentVolumePhase{"Pending"}}, &corev1.PersistentVolume{}, ""},
		{"policy", VolumeCondition{Policy: remove}, s.w.Volume, "the reclaim policy is Retain, not Delete"},
		{"right uid", VolumeCondition{ClaimRef: &ClaimRefCondition{Claim: key, UID: "uid-old"}}, s.w.Volume, ""},
		{"any uid", VolumeCondition{ClaimRef: &ClaimRefCondition{Claim: key, AnyUID: true}}, s.w.Volume, ""},
		{"no uid", VolumeCondition{ClaimRef: &ClaimRefCondition{Claim: key}}, s.w.Volume, "the volume names claim shop/data with uid uid-old, and should be reserved for claim shop/data, without a uid"},
		{"other claim", VolumeCondition{ClaimRef: &ClaimRefCondition{Claim: ClaimKey{"a", "b"}, AnyUID: true}}, s.w.Volume, "the volume names claim shop/data with uid uid-old, and should name claim a/b"},
		{"other uid", VolumeCondition{ClaimRef: &ClaimRefCondition{Claim: key, UID: "u"}}, s.w.Volume, "the volume names claim shop/data with uid uid-old, and should name claim shop/data with uid u"},
		{"none", VolumeCondition{ClaimRef: &ClaimRefCondition{}}, s.w.Volume, "the volume names claim shop/data with uid uid-old, and should have no claimRef"},
		{"none there", VolumeCondition{ClaimRef: &ClaimRefCondition{}}, &corev1.PersistentVolume{}, ""},
		{"an empty one is not none", VolumeCondition{ClaimRef: &ClaimRefCondition{}}, &corev1.PersistentVolume{
			Spec: corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{}},
		}, "the volume is reserved for claim /, and should have no claimRef"},
		{"still", VolumeCondition{NotClaimRef: &ClaimRefCondition{Claim: key, UID: "uid-old"}}, s.w.Volume, "the volume still names claim shop/data with uid uid-old"},
		{"no longer", VolumeCondition{NotClaimRef: &ClaimRefCondition{Claim: key, UID: "uid-older"}}, s.w.Volume, ""},
	} {
		if got := tt.c.Mismatch(tt.pv); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}

// TestReserveTitle: what the step says of the claimRef is what it does to it.
func TestReserveTitle(t *testing.T) {
	handWritten := vol(func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.Kind, pv.Spec.ClaimRef.APIVersion = "", "" })
	for title, s := range map[string]*setup{
		"Complete the reservation for claim shop/data":                           world(Reserve, unmarked, tied("data", ""), handWritten),
		"Clear the former uid, and keep the volume reserved for claim shop/data": world(Reserve),
		"Reserve the volume for claim shop/data":                                 world(Reserve, tied("other", "")),
	} {
		p := s.plan()
		if got := p.Steps[len(p.Steps)-1].Title; got != title {
			t.Errorf("got %q, want %q", got, title)
		}
	}
}

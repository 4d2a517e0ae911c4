package actions

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// releasedToo adds another Released volume, formerly of shop/claim.
func releasedToo(name, claim string, changes ...func(*corev1.PersistentVolume)) option {
	return withVolume(name, append([]func(*corev1.PersistentVolume){func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: claim, UID: types.UID("old-" + claim),
		}
		v.Status.Phase = corev1.VolumeReleased
	}}, changes...)...)
}

func capacity(size string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.Capacity = claimSize(size) }
}

func claimSize(size string) corev1.ResourceList {
	c := claimOf("", "", "")
	wants(size)(c)
	return c.Spec.Resources.Requests
}

// judged is the plan of the first request, as the bulk sees it.
func judged(b Bulk, w World) Plan {
	req := b.Requests[0]
	for _, v := range w.Volumes {
		if v.Name == req.Volume.Name {
			w.Volume = v
		}
	}
	return b.Judge(Make(req, w), w)
}

func TestBulkRequests(t *testing.T) {
	s := world("", releasedToo("b", "data-b"), withVolume("open"))
	for _, tt := range []struct {
		what string
		got  Bulk
		want []Request
	}{
		{"protect", Protect(s.w.Volumes[:2]), []Request{
			{Verb: SetPolicy, Policy: keep, Volume: Ref{Kind: VolumeKind, Name: "disk", UID: "uid-disk"}},
			{Verb: SetPolicy, Policy: keep, Volume: Ref{Kind: VolumeKind, Name: "b", UID: "uid-b"}},
		}},
		{"reserve", ReserveFormer(s.w.Volumes), []Request{
			{Verb: Reserve, Claim: ClaimKey{"shop", "data"}, Volume: Ref{Kind: VolumeKind, Name: "disk", UID: "uid-disk"}},
			{Verb: Reserve, Claim: ClaimKey{"shop", "data-b"}, Volume: Ref{Kind: VolumeKind, Name: "b", UID: "uid-b"}},
		}},
		{"unreserve", UnreserveAll(s.w.Volumes[:1]), []Request{
			{Verb: Unreserve, Volume: Ref{Kind: VolumeKind, Name: "disk", UID: "uid-disk"}},
		}},
	} {
		if len(tt.got.Requests) != len(tt.want) {
			t.Errorf("%s: %+v", tt.what, tt.got)
			continue
		}
		for i, r := range tt.got.Requests {
			if r != tt.want[i] {
				t.Errorf("%s: %+v, want %+v", tt.what, r, tt.want[i])
			}
		}
	}
	if len(s.w.Volumes) != 3 {
		t.Error("the volumes were changed")
	}
}

// TestBulkJudge looks at the first of several volumes in company.
func TestBulkJudge(t *testing.T) {
	unreserve := func(s *setup) Bulk { return UnreserveAll(s.w.Volumes) }
	reserve := func(s *setup) Bulk { return ReserveFormer(s.w.Volumes) }
	alone := func(s *setup) Bulk { return UnreserveAll(s.w.Volumes[:1]) }
	for _, tt := range []struct {
		what string
		s    *setup
		bulk func(*setup) Bulk
		id   string
		sev  Severity
		text string
	}{
		{"one step", world(""), reserve, "bulk-steps", none, ""},
		{"two steps", world("", policy(remove)), reserve, "bulk-steps", Block, "2 steps, of which the first is: Set the reclaim policy to Retain"},
		{"one claim each", world("", releasedToo("b", "data-b")), reserve, "bulk-same-claim", none, ""},
		{"one claim's two volumes", world("", releasedToo("b", "data")), reserve, "bulk-same-claim", Block, "Volume b would be reserved for claim shop/data too"},

		{"nobody waits", world("", releasedToo("b", "data-b")), unreserve, "bulk-assigned", Pass, "no claim"},
		{"one waits for one", world("", withClaim("x", "1")), unreserve, "bulk-assigned", Warn, "goes to claim shop/x"},
		{"two wait for one", world("", withClaim("x", "1"), withClaim("y", "2")), unreserve, "bulk-unclear", Block, "2 claims compete for this volume: shop/x, shop/y"},
		{"one waits for two alike", world("", withClaim("x", "1"), releasedToo("b", "data-b")), unreserve, "bulk-unclear", Block, "shop/x would take this volume or volume b"},
		{"one waits, the other is not opened", world("", withClaim("x", "1"), releasedToo("b", "data-b")), alone, "bulk-assigned", Warn, "goes to claim shop/x"},
		{"one waits, another volume is open", world("", withClaim("x", "1"), withVolume("b")), unreserve, "bulk-unclear", Block, "or volume b"},
		{"one waits, and rather takes a smaller one", world("", withClaim("x", "1", wants("1Gi")), releasedToo("b", "data-b", capacity("5Gi"))), unreserve, "bulk-assigned", Pass, "no claim"},
		{
			"two wait for a smaller one: the loser comes here",
			world("", withClaim("x", "1", wants("1Gi")), withClaim("y", "2", wants("1Gi")), releasedToo("b", "data-b", capacity("5Gi"))),
			unreserve, "bulk-unclear", Block, "compete",
		},
		{
			"each has its own, by size", world("", withClaim("x", "1", wants("10Gi")), withClaim("y", "2", wants("1Gi")), releasedToo("b", "data-b", capacity("5Gi"))),
			unreserve, "bulk-assigned", Warn, "goes to claim shop/x",
		},
		{"named", world("", withClaim("x", "1", named("disk")), releasedToo("b", "data-b")), unreserve, "bulk-assigned", Warn, "asks for this volume by name"},
		{"claims unread", world("", unread("persistentvolumeclaims")), unreserve, "bulk-unclear", Block, "not known"},
		{"classes unread", world("", unread("storageclasses")), unreserve, "bulk-unclear", Block, "not known"},
		{"volumes unread", world("", unread("persistentvolumes")), unreserve, "bulk-unclear", Block, "not known"},
	} {
		t.Run(tt.what, func(t *testing.T) {
			p := judged(tt.bulk(tt.s), tt.s.w)
			c := find(p, tt.id)
			switch {
			case tt.sev == none && c != nil:
				t.Fatalf("unexpected: %+v", c)
			case tt.sev == none:
			case c == nil:
				t.Fatalf("not checked: %+v", p.Checks)
			case c.Severity != tt.sev || !strings.Contains(c.Text, tt.text):
				t.Errorf("got %+v", c)
			}
			if (p.Blocked() != "") != (len(p.Steps) == 0) {
				t.Errorf("steps %d, blocked %q", len(p.Steps), p.Blocked())
			}
		})
	}
}

// TestBulkLeavesThePlanAlone: what is judged is a copy, and what is blocked
// already is not judged.
func TestBulkLeavesThePlanAlone(t *testing.T) {
	s := world("", policy(remove))
	b := ReserveFormer(s.w.Volumes)
	p := Make(b.Requests[0], s.w)
	checks := len(p.Checks)
	b.Judge(p, s.w)
	if len(p.Checks) != checks || len(p.Steps) != 2 {
		t.Errorf("the plan was changed: %+v", p)
	}
	s = world("")
	p = Make(ReserveFormer(s.w.Volumes).Requests[0], s.w)
	p.Checks = slices.Grow(p.Checks, 4)
	other := world("", releasedToo("b", "data"), releasedToo("c", "data"))
	first := ReserveFormer(other.w.Volumes[:2]).Judge(p, s.w)
	ReserveFormer([]*corev1.PersistentVolume{other.w.Volumes[0], other.w.Volumes[2]}).Judge(p, s.w)
	if c := find(first, "bulk-same-claim"); c == nil || !strings.Contains(c.Text, "Volume b ") {
		t.Errorf("one judgement has changed the other: %+v", c)
	}
	s = world("", bound)
	b = UnreserveAll(s.w.Volumes)
	if p := judged(b, s.w); find(p, "bulk-assigned") != nil || p.Blocked() == "" {
		t.Errorf("got %+v", p.Checks)
	}
}

func TestAlready(t *testing.T) {
	for _, tt := range []struct {
		what string
		s    *setup
		want bool
	}{
		{"Retain already", world(SetPolicy, toPolicy(keep)), true},
		{"to be protected", world(SetPolicy, toPolicy(keep), bound, policy(remove)), false},
		{"reserved already", world(Reserve, unmarked, tied("data", ""), phase(corev1.VolumeAvailable)), true},
		{"open already", world(Unreserve, untied, phase(corev1.VolumeAvailable)), true},
		{"blocked for another reason", world(Reserve, bound), false},
	} {
		if got := tt.s.plan().Already(); got != tt.want {
			t.Errorf("%s: %v", tt.what, got)
		}
	}
}

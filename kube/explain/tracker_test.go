package explain

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/claimref/claimref/kube"
)

// told writes risks down, to be compared.
func told(r *Risks) string {
	var all string
	for _, risk := range r.List() {
		all += fmt.Sprintf("%+v\n", *risk)
	}
	for _, v := range r.snap.Volumes {
		all += fmt.Sprintf("%s %+v\n", v.Object.Name, r.Volume(v.Object.Name))
	}
	for _, c := range r.snap.Claims {
		all += fmt.Sprintf("%s %+v\n", c.Object.Name, r.Claim(c.Object.Namespace, c.Object.Name))
	}
	return all
}

// graft puts the records of an older snapshot into a newer one where they are
// the same, as the feed does, so that the tracker meets them again.
func graft(before, after *kube.Snapshot) *kube.Snapshot {
	for i, v := range after.Volumes {
		old := before.Volume(v.Object.Name)
		if old != nil && fmt.Sprintf("%+v", old.Object) == fmt.Sprintf("%+v", v.Object) && fmt.Sprint(old.Tie, old.Users, old.State) == fmt.Sprint(v.Tie, v.Users, v.State) {
			after.Volumes[i] = old
		}
	}
	for i, c := range after.Claims {
		old := before.Claim(c.Object.Namespace, c.Object.Name)
		if old != nil && fmt.Sprintf("%+v", old.Object) == fmt.Sprintf("%+v", c.Object) && fmt.Sprint(old.Tie, old.Users, old.State) == fmt.Sprint(c.Tie, c.Users, c.State) {
			after.Claims[i] = old
		}
	}
	return after
}

// TestTracker: whatever changes from one snapshot to the next, the risks are
// those that are found from scratch, and former ones stay as they were.
func TestTracker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tracker, err := NewTracker(RiskOptions{Protected: []string{"c1"}})
		if err != nil {
			t.Fatal(err)
		}
		var before *kube.Snapshot
		var kept *Risks
		var keptText string
		o := drawWorld(t)
		for range rapid.IntRange(2, 5).Draw(t, "steps") {
			other := drawWorld(t)
			switch rapid.IntRange(0, 5).Draw(t, "change") {
			case 0:
				o.Volumes = other.Volumes
			case 1:
				o.Claims = other.Claims
			case 2:
				o.Classes = other.Classes
			case 3:
				if len(o.Volumes) > 0 {
					o.Volumes = slices.Clone(o.Volumes[1:])
				}
			case 4:
				o.Nodes = append(slices.Clone(o.Nodes), newNode("n9"))[rapid.IntRange(0, 1).Draw(t, "node"):]
			case 5:
				o.Namespaces = nil
				if rapid.Bool().Draw(t, "namespace") {
					o.Namespaces = []*corev1.Namespace{newNamespace("shop")}
				}
			}
			snap := kube.NewSnapshot(o)
			if before != nil {
				snap = graft(before, snap)
			}
			if rapid.IntRange(0, 4).Draw(t, "unread") == 0 {
				unread(snap, rapid.SampledFrom([]kube.Resource{kube.Nodes, kube.Namespaces, kube.StorageClasses, kube.Jobs}).Draw(t, "what"))
			}
			got := tracker.Update(snap)
			scratch, err := NewTracker(RiskOptions{Protected: []string{"c1"}})
			if err != nil {
				t.Fatal(err)
			}
			want := scratch.Update(snap)
			if told(got) != told(want) {
				t.Fatalf("got\n%s, want\n%s", told(got), told(want))
			}
			if kept != nil && told(kept) != keptText {
				t.Fatalf("former risks have changed:\n%s, were\n%s", told(kept), keptText)
			}
			before, kept, keptText = snap, got, told(got)
		}
	})
}

// TestTrackerReuses: what has not changed is not found anew.
func TestTrackerReuses(t *testing.T) {
	snap := kube.NewSnapshot(world(pvs(newPV("a", released, policy(remove)), newPV("b", released, policy(remove)))))
	tracker, err := NewTracker(RiskOptions{})
	if err != nil {
		t.Fatal(err)
	}
	first := tracker.Update(snap)
	if tracker.Update(snap) != first {
		t.Error("the same snapshot has the same risks")
	}
	next := touched(snap, func(s *kube.Snapshot) {
		v := *s.Volumes[1]
		s.Volumes[1] = &v
	})
	second := tracker.Update(next)
	if second.List()[0] != first.List()[0] {
		t.Error("the risk of the untouched volume was found anew")
	}
	if second.List()[1] == first.List()[1] {
		t.Error("the touched volume was not looked at")
	}
	if second.Revision != next.Revision {
		t.Error("the revision is not the snapshot's")
	}
}

// TestTrackerSpreads: a change of one thing reaches the risks of another whose
// record has stayed the same.
func TestTrackerSpreads(t *testing.T) {
	bound := func(options ...pvOption) []*corev1.PersistentVolume {
		return pvs(newPV("v", append([]pvOption{tied("data", "uid-data")}, options...)...))
	}
	data := newPVC("data", boundTo("v"))
	for name, tc := range map[string]struct {
		before kube.Objects
		after  kube.Objects
		// same is what has stayed, id the risk that comes or goes with what
		// has not.
		same    string
		id      RiskID
		appears bool
	}{
		"a volume's policy, its claim": {
			objects(bound(), claimsOf(data)), objects(bound(policy(remove)), claimsOf(data)), "data", RiskDeleteProtected, true,
		},
		"a volume's policy, back": {
			objects(bound(policy(remove)), claimsOf(data)), objects(bound(), claimsOf(data)), "data", RiskDeleteProtected, false,
		},
		"a second claim comes": {
			objects(nil, claimsOf(newPVC("data", names("w")))), objects(nil, claimsOf(newPVC("data", names("w")), newPVC("c", names("w")))), "data", RiskNamedTwice, true,
		},
		"a second claim goes": {
			objects(nil, claimsOf(newPVC("data", names("w")), newPVC("c", names("w")))), objects(nil, claimsOf(newPVC("data", names("w")))), "data", RiskNamedTwice, false,
		},
		"a second claim looks elsewhere": {
			objects(nil, claimsOf(newPVC("data", names("w")), newPVC("c", names("w")))), objects(nil, claimsOf(newPVC("data", names("w")), newPVC("c", names("z")))), "data", RiskNamedTwice, false,
		},
		"the volume goes to another": {
			objects(pvs(newPV("v", tied("x", ""))), claimsOf(newPVC("data", names("v")), newPVC("x"))),
			objects(pvs(newPV("v", tied("x", "uid-x"))), claimsOf(newPVC("data", names("v")), newPVC("x"))), "data", RiskNamedTwice, true,
		},
		"a class goes": {
			objects(nil, claimsOf(newPVC("data"))), objects(nil, claimsOf(newPVC("data")), withClasses()), "data", RiskClassGone, true,
		},
		"workloads are not known any more": {
			objects(bound(), claimsOf(data)), objects(bound(), claimsOf(data)), "data", RiskUnused, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tracker, err := NewTracker(RiskOptions{Protected: []string{"data"}})
			if err != nil {
				t.Fatal(err)
			}
			first := kube.NewSnapshot(tc.before)
			had := hasRisk(tracker.Update(first), tc.same, tc.id)
			second := graft(first, kube.NewSnapshot(tc.after))
			if first.Claim("shop", tc.same) != second.Claim("shop", tc.same) {
				t.Fatal("the record has not stayed the same: nothing is tested")
			}
			if tc.id == RiskUnused {
				unread(second, kube.Jobs)
			}
			if got := hasRisk(tracker.Update(second), tc.same, tc.id); got != tc.appears || had == tc.appears {
				t.Errorf("it was there: %v, it is there: %v, want %v", had, got, tc.appears)
			}
		})
	}
}

func hasRisk(r *Risks, claim string, id RiskID) bool {
	return slices.ContainsFunc(r.List(), func(risk *Risk) bool { return risk.ID == id && risk.Object.Name == claim })
}

// TestEach: a walk along the risks finds for each object what a search finds,
// also along a part of another snapshot.
func TestEach(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap, other := kube.NewSnapshot(drawWorld(t)), kube.NewSnapshot(drawWorld(t))
		tracker, err := NewTracker(RiskOptions{Protected: []string{"shop/*"}})
		if err != nil {
			t.Fatal(err)
		}
		risks := tracker.Update(snap)
		for _, s := range []*kube.Snapshot{snap, other} {
			from := rapid.IntRange(0, len(s.Volumes)).Draw(t, "from")
			volumes, found := s.Volumes[from:], make([][]*Risk, len(s.Volumes))
			risks.EachVolume(volumes, func(i int, r []*Risk) { found[i] = r })
			for i, v := range volumes {
				if want := risks.Of(volumeRef(v.Object)); !slices.Equal(found[i], want) {
					t.Fatalf("volume %s: got %v, want %v", v.Object.Name, found[i], want)
				}
			}
			found = make([][]*Risk, len(s.Claims))
			risks.EachClaim(s.Claims, func(i int, r []*Risk) { found[i] = r })
			for i, c := range s.Claims {
				if want := risks.Of(claimRef(c.Object)); !slices.Equal(found[i], want) {
					t.Fatalf("claim %s: got %v, want %v", c.Object.Name, found[i], want)
				}
			}
		}
	})
}

// TestNamedByMany: of many claims that name a volume each is told the first of
// the others, and itself never.
func TestNamedByMany(t *testing.T) {
	var claims []*corev1.PersistentVolumeClaim
	for i := range 7 {
		claims = append(claims, newPVC(fmt.Sprint("c", i), names("v")))
	}
	risks := (&Tracker{}).Update(kube.NewSnapshot(world(pvs(newPV("v")), claims...)))
	for name, want := range map[string]string{
		"c0": "claim shop/c1, shop/c2, shop/c3, shop/c4 and 2 more:",
		"c4": "claim shop/c0, shop/c1, shop/c2, shop/c3 and 2 more:",
		"c6": "claim shop/c0, shop/c1, shop/c2, shop/c3 and 2 more:",
	} {
		has(t, risks.Claim("shop", name).Text, want)
	}
}

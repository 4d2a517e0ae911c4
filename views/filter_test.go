package views

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/claimref/claimref/kube"
)

func TestFilterVolumes(t *testing.T) {
	snap := kube.NewSnapshot(shop())
	for _, tc := range []struct {
		filter string
		want   []string
	}{
		{"", []string{"broken", "example-pv", "nfs-archive", "pvc-11aa", "pvc-5e28", "pvc-77b1"}},
		{"phase:released", []string{"pvc-5e28"}},
		{"phase:Re", []string{"example-pv", "pvc-5e28"}},
		// A volume that is being deleted is found under what it really is, too.
		{"phase:bound", []string{"pvc-11aa", "pvc-77b1"}},
		{"phase:terminating", []string{"pvc-77b1"}},
		{`class:""`, []string{"nfs-archive"}},
		{"class:example", []string{"example-pv"}},
		{`class:"example"`, nil},
		{`class:"example-sc"`, []string{"example-pv"}},
		{"ns:web", []string{"broken", "pvc-77b1"}},
		{"policy:delete", []string{"broken", "pvc-11aa", "pvc-77b1"}},
		{"mode:rwx", []string{"nfs-archive"}},
		{"mode:ReadWriteMany", []string{"nfs-archive"}},
		// RWO is not the beginning of RWOP.
		{"mode:rw", nil},
		{"driver:ebs", []string{"broken", "pvc-11aa", "pvc-5e28", "pvc-77b1"}},
		{"!policy:delete mode:rwo", []string{"example-pv", "pvc-5e28"}},
		{"ORDERS", []string{"pvc-5e28"}},
		{"vol-broken", []string{"broken"}},
		{"train", []string{"pvc-11aa"}},
		{"sts/cache", []string{"pvc-77b1"}},
		{"nas:/archive", []string{"nfs-archive"}},
		{"phase:", []string{"broken", "example-pv", "nfs-archive", "pvc-11aa", "pvc-5e28", "pvc-77b1"}},
		{"nothing-like-that", nil},
	} {
		q := parseQuery(tc.filter)
		var got []string
		for _, v := range snap.Volumes {
			if q.matches(volumeValues(v)) {
				name := v.Object.Name
				if strings.HasPrefix(name, "pvc-") {
					name = name[:8]
				}
				got = append(got, name)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q finds %v, want %v", tc.filter, got, tc.want)
		}
	}
}

func TestFilterClaims(t *testing.T) {
	snap := kube.NewSnapshot(shop())
	for _, tc := range []struct {
		filter string
		want   []string
	}{
		{"phase:pending", []string{"web/a", "web/unset", "倉庫/長い名前のクレーム"}},
		// A class set to "" is found; one that is not set is no class at all.
		{`class:""`, []string{"倉庫/長い名前のクレーム"}},
		{"ns:web phase:lost", []string{"web/lost"}},
		{"クレーム", []string{"倉庫/長い名前のクレーム"}},
		{"pvc-11aa", []string{"ml/train-cache"}},
		{"policy:delete", nil},
	} {
		q := parseQuery(tc.filter)
		var got []string
		for _, c := range snap.Claims {
			if q.matches(claimValues(c)) {
				got = append(got, c.Object.Namespace+"/"+c.Object.Name)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q finds %v, want %v", tc.filter, got, tc.want)
		}
	}
}

// TestContainsFold holds the allocation-free search against the plain one.
func TestContainsFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[a-cA-C\-é]{0,12}`).Draw(t, "s")
		part := strings.ToLower(rapid.StringMatching(`[a-cA-C\-é]{0,3}`).Draw(t, "part"))
		if got, want := containsFold(s, part), strings.Contains(strings.ToLower(s), part); got != want {
			t.Fatalf("containsFold(%q, %q) is %v, want %v", s, part, got, want)
		}
	})
}

// TestRanked: rows that are counted into their places stand where a stable sort
// puts them.
func TestRanked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOf(rapid.IntRange(-5999, 0)).Draw(t, "ranks")
		if rapid.Bool().Draw(t, "close") {
			ranks = rapid.SliceOf(rapid.IntRange(-3, 0)).Draw(t, "close ranks")
		}
		desc := rapid.Bool().Draw(t, "desc")
		rows := make([]int, len(ranks))
		for i := range rows {
			rows[i] = i
		}
		want := slices.Clone(rows)
		slices.SortStableFunc(want, func(a, b int) int {
			if desc {
				return cmp.Compare(ranks[b], ranks[a])
			}
			return cmp.Compare(ranks[a], ranks[b])
		})
		if got := ranked(rows, ranks, desc); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

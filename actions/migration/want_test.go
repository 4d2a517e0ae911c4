package migration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

func TestOrdinal(t *testing.T) {
	for _, tc := range []struct {
		set, template, claim string
		want                 int
		ok                   bool
	}{
		{"db", "data", "data-db-0", 0, true},
		{"db", "data", "data-db-12", 12, true},
		{"db-0", "data", "data-db-0-3", 3, true},
		{"db", "data", "data-db-", 0, false},
		{"db", "data", "data-db-01", 0, false},
		{"db", "data", "data-db--1", 0, false},
		{"db", "data", "data-db-+1", 0, false},
		{"db", "data", "data-db-1x", 0, false},
		{"db", "data", "data-db-99999999999999999999", 0, false},
		{"db", "data", "data-dbx-1", 0, false},
		{"db", "data", "xdata-db-1", 0, false},
		{"db", "data", "data-db", 0, false},
	} {
		if got, ok := Ordinal(tc.set, tc.template, tc.claim); got != tc.want || ok != tc.ok {
			t.Errorf("%+v: got %d, %v", tc, got, ok)
		}
	}
}

// cluster is where the looks of TestWant come from.
type cluster = Scene

// grown asks what is wanted until nothing new is, as the caller does.
func grown(t *testing.T, req Request, all cluster) Wanted {
	t.Helper()
	s := Scene{RelatedClaims: all.RelatedClaims}
	var before Wanted
	for range 10 {
		w := Want(req, s)
		if cmp.Equal(before, w) {
			return w
		}
		before = w
		s.Volumes, s.Claims, s.StatefulSets = map[string]*corev1.PersistentVolume{}, map[actions.ClaimKey]*corev1.PersistentVolumeClaim{}, nil
		for _, name := range w.Volumes {
			s.Volumes[name] = all.Volumes[name]
		}
		for _, key := range w.Claims {
			s.Claims[key] = all.Claims[key]
		}
		for _, set := range all.StatefulSets {
			for _, ns := range w.Namespaces {
				if set.Namespace == ns {
					s.StatefulSets = append(s.StatefulSets, set)
				}
			}
		}
	}
	t.Fatal("it never has enough")
	return Wanted{}
}

func TestWant(t *testing.T) {
	manifest := func(st *stage) {
		st.req.Manifest = backup()
		st.req.Manifest.Namespace, st.req.Manifest.Name = "lab", "copy"
	}
	for _, tc := range []struct {
		name  string
		stage func() *stage
		spoil spoil
		want  Wanted
	}{
		{"claim", bare, func(*stage) {}, Wanted{[]string{"disk"}, []actions.ClaimKey{shopClaim("data")}, []string{"shop"}}},
		{"gone", bare, func(st *stage) { delete(st.s.Volumes, "disk") }, Wanted{[]string{"disk"}, nil, nil}},
		{"no claimRef", bare, func(st *stage) { st.pv().Spec.ClaimRef = nil }, Wanted{[]string{"disk"}, nil, nil}},
		{
			"set", set, func(*stage) {},
			Wanted{
				[]string{"disk-0", "disk-1", "disk-2", "disk-3"},
				[]actions.ClaimKey{shopClaim("data-db-0"), shopClaim("data-db-1"), shopClaim("data-db-2"), shopClaim("data-db-3")},
				[]string{"shop"},
			},
		},
		{
			"set without a cache", set, func(st *stage) { st.s.RelatedClaims = nil },
			Wanted{[]string{"disk-0", "disk-1", "disk-2"}, []actions.ClaimKey{shopClaim("data-db-0"), shopClaim("data-db-1"), shopClaim("data-db-2")}, []string{"shop"}},
		},
		{
			"set that starts later", set, func(st *stage) {
				st.s.RelatedClaims = []*corev1.PersistentVolumeClaim{
					{ObjectMeta: in("shop", "other")}, {ObjectMeta: in("shop", "logs-db-0")}, {ObjectMeta: in("lab", "data-db-9")},
				}
				st.db().Spec.Ordinals, st.db().Spec.Replicas = &appsv1.StatefulSetOrdinals{Start: 2}, new(int32(3))
			},
			Wanted{
				[]string{"disk-1", "disk-2", "disk-3"},
				[]actions.ClaimKey{shopClaim("data-db-1"), shopClaim("data-db-2"), shopClaim("data-db-3"), shopClaim("data-db-4")},
				[]string{"shop"},
			},
		},
		{
			"set with a claim that is not bound", set, func(st *stage) {
				st.s.RelatedClaims = nil
				st.s.Claims[shopClaim("data-db-2")].Spec.VolumeName = ""
			},
			Wanted{[]string{"disk-0", "disk-1"}, []actions.ClaimKey{shopClaim("data-db-0"), shopClaim("data-db-1"), shopClaim("data-db-2")}, []string{"shop"}},
		},
		{
			"move to where a claim is", moving, func(st *stage) {
				c := backup()
				c.Namespace, c.Name, c.Spec.VolumeName = "lab", "exhibit", "disk-7"
				st.s.Claims[st.req.To] = c
			},
			Wanted{[]string{"disk"}, []actions.ClaimKey{{Namespace: "lab", Name: "exhibit"}, shopClaim("data")}, []string{"lab", "shop"}},
		},
		{
			"move", moving, func(*stage) {},
			Wanted{[]string{"disk"}, []actions.ClaimKey{{Namespace: "lab", Name: "exhibit"}, shopClaim("data")}, []string{"lab", "shop"}},
		},
		{
			"move of a set's", movingOfSet, func(*stage) {},
			Wanted{[]string{"disk-3"}, []actions.ClaimKey{shopClaim("archive"), shopClaim("data-db-3")}, []string{"shop"}},
		},
		{"re-create", missing, func(*stage) {}, Wanted{[]string{"disk"}, []actions.ClaimKey{shopClaim("data")}, []string{"shop"}}},
		{
			"re-create from a manifest", missing, manifest,
			Wanted{[]string{"disk"}, []actions.ClaimKey{{Namespace: "lab", Name: "copy"}, shopClaim("data")}, []string{"lab", "shop"}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := tc.stage().spoilt(tc.spoil)
			if diff := cmp.Diff(tc.want, grown(t, st.req, st.s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWantIsBounded: the size of a set is anything that somebody typed.
func TestWantIsBounded(t *testing.T) {
	st := set()
	*st.db().Spec.Replicas = 1<<31 - 1
	if n := len(Want(st.req, st.s).Claims); n != maxGuess {
		t.Errorf("%d claims", n)
	}
}

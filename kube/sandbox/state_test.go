package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func TestStateIsImmutable(t *testing.T) {
	empty := NewState(start())
	given := aVolume("v")
	one := empty.Create(given)
	given.Name = "changed"
	first := one.Volume("v")
	if empty.Volume("v") != nil || first == nil || first.UID == "" || first.ResourceVersion != "1" || !first.CreationTimestamp.Time.Equal(start()) {
		t.Fatalf("created %+v", first)
	}
	changed := first.DeepCopy()
	changed.Labels = map[string]string{"a": "b"}
	two := one.Update(changed)
	if one.Volume("v") != first || two.Volume("v").Labels["a"] != "b" || two.Volume("v").ResourceVersion != "2" || two.Version() != 2 {
		t.Errorf("updated %+v", two.Volume("v"))
	}
	if two.Update(changed) != two || two.Create(first) != two || two.Update(aVolume("other")) != two || two.Remove(Key{Volumes, "", "other"}) != two {
		t.Error("nothing to do made a new version")
	}
	three := two.Remove(Key{Volumes, "", "v"})
	if three.Volume("v") != nil || two.Volume("v") == nil || three.ByUID(first.UID) != nil || two.ByUID(first.UID) != Object(two.Volume("v")) {
		t.Error("removed where it should not, or not where it should")
	}
	var versions []string
	for _, c := range three.Since(0) {
		versions = append(versions, fmt.Sprint(c.Version, c.Before == nil, c.After == nil))
	}
	if got := strings.Join(versions, ", "); got != "1 true false, 2 false false, 3 false true" {
		t.Errorf("history: %s", got)
	}
	if last := three.Last(); len(last) != 1 || last[0].Version != 3 || three.Forget().Last() != nil {
		t.Errorf("last: %+v", last)
	}
}

func TestStateOrdersAndScopes(t *testing.T) {
	s := NewState(start())
	for _, name := range []string{"b/2", "a/9", "b/1", "a-b/1", "c/1"} {
		namespace, name, _ := strings.Cut(name, "/")
		s = s.Create(aClaim(name, func(o *corev1.PersistentVolumeClaim) { o.Namespace = namespace }))
	}
	read := func(namespace string) string {
		var keys []string
		for o := range s.Claims(namespace) {
			keys = append(keys, o.Namespace+"/"+o.Name)
		}
		return strings.Join(keys, " ")
	}
	if got := read(""); got != "a/9 a-b/1 b/1 b/2 c/1" {
		t.Errorf("all: %s", got)
	}
	if got := read("b"); got != "b/1 b/2" {
		t.Errorf("b: %s", got)
	}
	if read("none") != "" || s.Claim("b", "1") == nil || s.Claim("b", "9") != nil {
		t.Error("found what is not there, or not what is")
	}
}

func TestLoadKeepsUIDs(t *testing.T) {
	s := NewState(start()).Create(aVolume("a"))
	other := NewState(start()).Load(s.Volume("a"), aVolume("b", func(o *corev1.PersistentVolume) { o.UID = "given" }), aVolume("c"))
	if other.Volume("a").UID != s.Volume("a").UID || other.Volume("b").UID != "given" || other.Volume("c").UID == other.Volume("a").UID {
		t.Error("uids were not kept, or issued twice")
	}
}

func TestUIDsLookLikeUIDs(t *testing.T) {
	s, seen := NewState(start()), map[types.UID]bool{}
	for i := range 1000 {
		uid := s.NextUID()
		if from, to := issuedUID("x" + string(uid) + "x"); from != 1 || to != 37 || seen[uid] || issueOf(uid) != int64(i+1) {
			t.Fatalf("uid %s", uid)
		}
		seen[uid] = true
		s = s.Create(aVolume(fmt.Sprint("v", i)))
	}
}

func drawPlan(t *rapid.T) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}), 1, 6, rapid.ID[string]).Draw(t, "names")
}

// build makes claims with volumes that are named after their uids, as
// provisioners do, and pods that use them; some claims are gone again.
func build(t *rapid.T, names []string, gone map[string]bool) *State {
	s := NewState(start().Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "time")) * time.Second))
	noise := func() {
		for i := range rapid.IntRange(0, 2).Draw(t, "noise") {
			junk := aVolume(fmt.Sprint("junk", i))
			s = s.Create(junk).Remove(KeyOf(junk))
		}
	}
	for _, name := range rapid.Permutation(names).Draw(t, "order") {
		noise()
		s = s.Create(aClaim(name))
		claim := s.Claim("db", name)
		noise()
		s = s.Create(aVolume("pvc-"+string(claim.UID), func(o *corev1.PersistentVolume) {
			o.Spec.CSI.VolumeHandle = "handle-" + string(claim.UID)
			o.Spec.ClaimRef = &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", Namespace: "db", Name: name, UID: claim.UID, ResourceVersion: claim.ResourceVersion,
			}
		}))
		bound := claim.DeepCopy()
		bound.Spec.VolumeName = "pvc-" + string(claim.UID)
		s = s.Update(bound)
	}
	for _, name := range names {
		if gone[name] {
			s = s.Remove(Key{Claims, "db", name})
		}
	}
	return s
}

func TestHashIgnoresWhatDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := drawPlan(t)
		gone := map[string]bool{}
		for _, name := range names {
			gone[name] = rapid.Bool().Draw(t, "gone")
		}
		a, b := build(t, names, gone), build(t, names, gone)
		if a.Hash() != b.Hash() {
			t.Fatalf("two ways to one state differ: %s, %s", a.Hash(), b.Hash())
		}
		if a.Hash() != NewState(start()).Load(allOf(b)...).Hash() {
			t.Fatal("a copy differs")
		}
	})
}

func allOf(s *State) []Object {
	var all []Object
	for _, k := range kinds() {
		all = append(all, s.List(k.resource)...)
	}
	return all
}

// TestHashTellsTheRest: any one change of what matters changes the hash.
func TestHashTellsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := drawPlan(t)
		s := build(t, names, nil)
		name := rapid.SampledFrom(names).Draw(t, "claim")
		claim := s.Claim("db", name)
		volume := s.Volume(claim.Spec.VolumeName)
		changes := map[string]func() *State{
			"label": func() *State {
				o := claim.DeepCopy()
				o.Labels = map[string]string{"a": "b"}
				return s.Update(o)
			},
			"no claimRef uid": func() *State {
				o := volume.DeepCopy()
				o.Spec.ClaimRef.UID = ""
				return s.Update(o)
			},
			"somebody else's uid": func() *State {
				o := volume.DeepCopy()
				o.Spec.ClaimRef.UID = "unknown"
				return s.Update(o)
			},
			"the volume's uid": func() *State {
				o := volume.DeepCopy()
				o.Spec.ClaimRef.UID = volume.UID
				return s.Update(o)
			},
			"policy": func() *State {
				o := volume.DeepCopy()
				o.Spec.PersistentVolumeReclaimPolicy = "Delete"
				return s.Update(o)
			},
			"capacity": func() *State {
				o := volume.DeepCopy()
				o.Spec.Capacity["storage"] = resource.MustParse("3Gi")
				return s.Update(o)
			},
			"handle": func() *State {
				o := volume.DeepCopy()
				o.Spec.CSI.VolumeHandle = "h"
				return s.Update(o)
			},
			"deletion": func() *State {
				o := volume.DeepCopy()
				o.Finalizers = []string{"a/b"}
				return s.Update(o).Delete(KeyOf(o), metav1.DeleteOptions{})
			},
			"finalizer": func() *State {
				o := volume.DeepCopy()
				o.Finalizers = []string{"a/b"}
				return s.Update(o)
			},
			"removal":  func() *State { return s.Remove(KeyOf(volume)) },
			"replaced": func() *State { return s.Remove(KeyOf(claim)).Create(claim) },
			"creation": func() *State { return s.Create(aVolume("another")) },
			"empty, not nothing": func() *State {
				o := claim.DeepCopy()
				o.Spec.StorageClassName = new("")
				return s.Update(o)
			},
		}
		hashes := map[string]string{s.Hash(): "nothing"}
		for what, change := range changes {
			hash := change().Hash()
			if other, ok := hashes[hash]; ok {
				t.Fatalf("%s and %s have one hash", what, other)
			}
			hashes[hash] = what
		}
	})
}

// demo is a state of some 300 objects.
func demo() *State {
	s := NewState(start())
	for i := range 75 {
		name := fmt.Sprint("app-", i)
		s = s.Create(aClaim(name)).Create(aPod(name)).Create(aSet(name))
		claim := s.Claim("db", name)
		s = s.Create(aVolume("pvc-"+string(claim.UID), func(o *corev1.PersistentVolume) {
			o.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "db", Name: name, UID: claim.UID}
		}))
	}
	return s.Forget()
}

func BenchmarkCopyAndUpdate(b *testing.B) {
	s := demo()
	for i := 0; b.Loop(); i++ {
		for claim := range s.Claims("db") {
			changed := claim.DeepCopy()
			changed.Labels = map[string]string{"round": fmt.Sprint(i)}
			s = s.Update(changed).Forget()
			break
		}
	}
}

// BenchmarkHash is of a state of which one object changed since the last time.
func BenchmarkHash(b *testing.B) {
	s := demo()
	s.Hash()
	claim := s.Claim("db", "app-0")
	for i := 0; b.Loop(); i++ {
		changed := claim.DeepCopy()
		changed.Labels = map[string]string{"round": fmt.Sprint(i)}
		s.Update(changed).Hash()
	}
}

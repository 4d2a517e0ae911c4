package explain

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// drawWorld is a small cluster in which much collides.
func drawWorld(t *rapid.T) kube.Objects {
	const (
		once, many, read, single = corev1.ReadWriteOnce, corev1.ReadWriteMany, corev1.ReadOnlyMany, corev1.ReadWriteOncePod
	)
	type modes = []corev1.PersistentVolumeAccessMode
	var o kube.Objects
	gold, block := "gold", corev1.PersistentVolumeBlock
	for i := range rapid.IntRange(0, 7).Draw(t, "volumes") {
		pv := newPV(fmt.Sprint("v", i),
			sized(rapid.SampledFrom([]string{"5Gi", "10Gi", "10240Mi", "20Gi", "10737418239500m"}).Draw(t, "size")),
			offers(rapid.SampledFrom([]modes{{once}, {once, read}, {read, once}, {many, once}, {single}}).Draw(t, "offers")...),
			ofClass(rapid.SampledFrom([]string{"fast", "fast", "slow", ""}).Draw(t, "class")),
			inPhase(rapid.SampledFrom([]corev1.PersistentVolumePhase{"Available", "Available", "Available", "Released", "Failed", ""}).Draw(t, "phase")))
		switch rapid.IntRange(0, 8).Draw(t, "ref") {
		case 0:
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "c0"}
		case 1:
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "c0", UID: "uid-c0"}
		case 2:
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "c1", UID: "uid-old"}
		case 3:
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "c1"}
		}
		if pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.UID != "" && rapid.Bool().Draw(t, "bound") {
			pv.Status.Phase = corev1.VolumeBound
		}
		if rapid.IntRange(0, 7).Draw(t, "going") == 0 {
			goingPV(pv)
		}
		if rapid.IntRange(0, 5).Draw(t, "block") == 0 {
			pv.Spec.VolumeMode = &block
		}
		if rapid.IntRange(0, 5).Draw(t, "gold") == 0 {
			pv.Spec.VolumeAttributesClassName = &gold
		}
		if rapid.Bool().Draw(t, "label") {
			pv.Labels = map[string]string{"disk": "a"}
		}
		if rapid.IntRange(0, 3).Draw(t, "affine") == 0 {
			onNode(rapid.SampledFrom([]string{"n1", "n9"}).Draw(t, "node"))(pv)
		}
		o.Volumes = append(o.Volumes, pv)
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "claims") {
		pvc := newPVC(fmt.Sprint("c", i), wants(rapid.SampledFrom([]string{"1Gi", "10Gi", "15Gi", "10737418239800m"}).Draw(t, "wants")),
			asks(rapid.SampledFrom([]modes{{once}, {once}, {once, read}, {many}, {single}}).Draw(t, "asks")...))
		switch rapid.IntRange(0, 5).Draw(t, "asksClass") {
		case 0:
			noClass(pvc)
		case 1:
			asksClass("")(pvc)
		case 2:
			asksClass("slow")(pvc)
		}
		switch rapid.IntRange(0, 9).Draw(t, "selector") {
		case 0:
			pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "a"}}
		case 1:
			pvc.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "disk", Operator: "Is"}}}
		}
		if rapid.IntRange(0, 5).Draw(t, "asksGold") == 0 {
			pvc.Spec.VolumeAttributesClassName = &gold
		}
		if i > 0 {
			switch rapid.IntRange(0, 4).Draw(t, "names") {
			case 0:
				names("v0")(pvc)
			case 1:
				boundTo("v1")(pvc)
			case 2:
				lostOver("v2")(pvc)
			}
		}
		o.Claims = append(o.Claims, pvc)
	}
	fast, slow := newSC("fast"), newSC("slow", waits)
	switch rapid.IntRange(0, 2).Draw(t, "default") {
	case 1:
		isDefault(fast)
	case 2:
		isDefault(slow)
	}
	o.Classes = []*storagev1.StorageClass{fast, slow}
	o.Nodes = []*corev1.Node{newNode("n1")}
	return o
}

// TestMisfits: what is counted without words is what the rules say in words,
// for any volume and any claim that names none.
func TestMisfits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := kube.NewSnapshot(drawWorld(t))
		c := snap.Claim("shop", "c0")
		w := wishOf(snap, c)
		for _, v := range snap.Volumes {
			why, _ := w.detail(snap, v)
			if got := w.blocking(v).count(); got != len(why) {
				t.Fatalf("%s: counted %d (%b), told %+v", v.Object.Name, got, w.blocking(v), why)
			}
			verdict := binding.Judge(v.Object, c.Object, classes(snap))
			w := *w
			w.home = nil
			if fits := w.fits(v); fits != (verdict.Binds || verdict.Delayed) {
				t.Fatalf("%s: fits is %v, the rules say %+v", v.Object.Name, fits, verdict)
			}
		}
	})
}

func objectsOf(snap *kube.Snapshot) (volumes []*corev1.PersistentVolume, claims []*corev1.PersistentVolumeClaim) {
	for _, v := range snap.Volumes {
		volumes = append(volumes, v.Object)
	}
	for _, c := range snap.Claims {
		claims = append(claims, c.Object)
	}
	return volumes, claims
}

// TestChoicesOfFew: what is chosen among the few that can be chosen is what is
// chosen among all.
func TestChoicesOfFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := kube.NewSnapshot(drawWorld(t))
		all, _ := objectsOf(snap)
		c := snap.Claim("shop", "c0")
		var want, got []string
		for _, pv := range binding.Choices(c.Object, all, classes(snap)) {
			want = append(want, pv.Name)
		}
		for _, v := range choices(snap, c, volumesFor(snap, c)).volumes {
			got = append(got, v.Object.Name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// TestContend: of many that fit, those are left that can be chosen.
func TestContend(t *testing.T) {
	var volumes []*corev1.PersistentVolume
	for i := range 200 {
		pv := newPV(fmt.Sprintf("v%03d", i), sized(fmt.Sprintf("%dGi", 10+i%7)))
		if i%3 == 0 {
			offers(corev1.ReadWriteOnce, corev1.ReadOnlyMany)(pv)
		}
		volumes = append(volumes, pv)
	}
	volumes = append(volumes, newPV("mine", sized("90Gi"), offers(corev1.ReadOnlyMany, corev1.ReadWriteOnce), tied("c", "")))
	snap := kube.NewSnapshot(world(volumes, newPVC("c")))
	c := snap.Claim("shop", "c")
	left := volumesFor(snap, c)
	if len(left) > 40 {
		t.Errorf("%d are left", len(left))
	}
	objects, _ := objectsOf(snap)
	want := binding.Choices(c.Object, objects, classes(snap))
	got := choices(snap, c, volumesFor(snap, c))
	if len(got.volumes) != len(want) || got.volumes[0].Object.Name != want[0].Name {
		t.Errorf("got %d, want %d", len(got.volumes), len(want))
	}
}

// TestTakersOfFew: who takes a volume is the same among those that may want
// one as among all.
func TestTakersOfFew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawWorld(t)
		// Claims that are alike are asked about once for all of them.
		for _, pvc := range o.Claims {
			for i := range rapid.IntRange(0, 3).Draw(t, "alike") {
				like := pvc.DeepCopy()
				like.Name, like.UID = fmt.Sprint(pvc.Name, "-", i), types.UID(fmt.Sprint("uid-", pvc.Name, "-", i))
				if rapid.IntRange(0, 3).Draw(t, "goes") == 0 {
					goingPVC(like)
				}
				o.Claims = append(o.Claims, like)
			}
		}
		snap := kube.NewSnapshot(o)
		volumes, claims := objectsOf(snap)
		for _, v := range snap.Volumes {
			// What is Bound goes to nobody, and what a claim is being bound to
			// is not told from it.
			if v.State.Stored == kube.Bound || v.State.Phase == kube.Terminating {
				continue
			}
			want := map[types.UID]string{}
			for _, b := range binding.Takers(v.Object, volumes, claims, classes(snap)) {
				want[b.Claim.UID] = fmt.Sprint(b.Path, b.AtOnce(), b.Instead, b.Reason)
			}
			got := map[types.UID]string{}
			found := TakersOf(snap, v, 50)
			for _, b := range found.List {
				got[b.Claim.UID] = fmt.Sprint(b.Path, b.AtOnce, b.Instead, b.Text)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || found.Total != len(want) || !found.Exact {
				t.Fatalf("%s: got %v, want %v", v.Object.Name, got, want)
			}
			if !v.Object.DeletionTimestamp.IsZero() {
				t.Fatal("drawn in vain")
			}
		}
	})
}

// TestChoicesWithoutIndex: what the claims of a crowd choose is what the rules
// choose for one of them, of all volumes.
func TestChoicesWithoutIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := kube.NewSnapshot(drawWorld(t))
		all, _ := objectsOf(snap)
		for _, c := range snap.Claims {
			if c.Traits&(kube.TraitNames|kube.TraitMarked) != 0 {
				continue
			}
			w := wishOf(snap, c)
			var found contenders
			for _, v := range snap.Volumes {
				if !held(v, c.Object) && w.fits(v) {
					found.add(v)
				}
			}
			if len(found.reserved) > 0 {
				continue // The rules are asked.
			}
			var want, got []string
			for _, pv := range binding.Choices(c.Object, all, classes(snap)) {
				want = append(want, pv.Name)
			}
			for _, pv := range found.chosen(w) {
				got = append(got, pv.Name)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: got %v, want %v", c.Object.Name, got, want)
			}
		}
	})
}

// TestChosenAmongMany: the controller goes by the access modes before the size,
// so that what it takes may be the least close of many. It is told all the same.
func TestChosenAmongMany(t *testing.T) {
	volumes := pvs(newPV("taken", sized("90Gi")))
	for i := range 9 {
		volumes = append(volumes, newPV(fmt.Sprint("closer-", i), offers(corev1.ReadWriteOnce, corev1.ReadWriteMany)))
	}
	snap := kube.NewSnapshot(world(volumes, newPVC("c")))
	e := Claim(snap, snap.Claim("shop", "c"), Ask{Now: noon(), Top: 4})
	if list := e.Candidates.List; len(list) != 4 || list[0].Volume.Name != "taken" || !list[0].Chosen {
		t.Errorf("got %+v", list)
	}
	has(t, e.Summary.String(), "Volume taken fits and is about to be bound.")
}

// TestDelayedByDefault: a claim without a class waits for a pod when a volume of
// the default class would be given to it, not when one without a class is.
func TestDelayedByDefault(t *testing.T) {
	o := world(pvs(newPV("bare", ofClass(""), onNode("nowhere")), newPV("of-it")), newPVC("c", noClass))
	o.Classes = []*storagev1.StorageClass{newSC("fast", isDefault, waits)}
	snap := kube.NewSnapshot(o)
	list := Claim(snap, snap.Claim("shop", "c"), ask()).Candidates.List
	if len(list) != 2 || !list[0].Chosen || list[0].Delayed || list[0].Volume.Name != "bare" || !list[1].Delayed {
		t.Errorf("got %+v", list)
	}
	if found := TakersOf(snap, snap.Volume("bare"), 9); found.AtOnce != 1 {
		t.Errorf("got %+v", found)
	}
	if found := TakersOf(snap, snap.Volume("of-it"), 9); found.AtOnce != 0 {
		t.Errorf("got %+v", found)
	}
}

// TestTakersWithAVolumeToCome: a claim that another volume is already being
// bound to takes no open one, though it names none yet.
func TestTakersWithAVolumeToCome(t *testing.T) {
	snap := kube.NewSnapshot(world(pvs(newPV("its", tied("c", "uid-c"), sized("90Gi")), newPV("open")), newPVC("c")))
	if found := TakersOf(snap, snap.Volume("open"), 9); found.Total != 0 {
		t.Errorf("got %+v", found)
	}
}

// TestTakersOfMany: where there are too many to compare each with each, that
// is said.
func TestTakersOfMany(t *testing.T) {
	var claims []*corev1.PersistentVolumeClaim
	for i := range pairs/judgeCost + 1 {
		claims = append(claims, newPVC(fmt.Sprintf("c%05d", i)))
	}
	snap := kube.NewSnapshot(world(pvs(newPV("v"), newPV("w")), claims...))
	found := TakersOf(snap, snap.Volume("v"), 3)
	if found.Exact || found.Total != len(claims) || found.AtOnce != len(claims) || len(found.List) != 3 {
		t.Errorf("got %+v", found)
	}
	has(t, found.Text(), "wait that fit it; some may take other volumes")
	gone := newPV("v", goingPV)
	snap = kube.NewSnapshot(world(pvs(gone), claims[0]))
	if found := TakersOf(snap, snap.Volume("v"), 3); found.Total != 0 {
		t.Errorf("a volume that is being deleted is taken: %+v", found)
	}
}

package binding

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
	"pgregory.net/rapid"
)

func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		what    string
		volumes []*corev1.PersistentVolume
		pvc     *corev1.PersistentVolumeClaim
		want    string
	}{
		{"nothing there", nil, testPVC("c"), ""},
		{"the smallest", []*corev1.PersistentVolume{testPV("a", size("30Gi")), testPV("b", size("20Gi")), testPV("c", size("5Gi"))}, testPVC("c"), "b"},
		{"a reserved one over a smaller one", []*corev1.PersistentVolume{testPV("a"), testPV("b", size("30Gi"), tied("c", ""))}, testPVC("c"), "b"},
		{"an ordinary one with fewer modes over a reserved one", []*corev1.PersistentVolume{testPV("a", offers("RWO,ROX"), tied("c", "")), testPV("b")}, testPVC("c"), "b"},
		{"fewer modes over a smaller size", []*corev1.PersistentVolume{testPV("a", offers("RWO,ROX")), testPV("b", size("30Gi"))}, testPVC("c"), "b"},
		{"more modes when nothing else fits", []*corev1.PersistentVolume{testPV("a", offers("ROX,RWO")), testPV("b", size("1Gi"))}, testPVC("c"), "a"},
		{"equally good ones", []*corev1.PersistentVolume{testPV("b", size("10240Mi")), testPV("a"), testPV("c", size("11Gi"))}, testPVC("c"), "a b"},
		{"equally many modes have no order", []*corev1.PersistentVolume{testPV("a", offers("RWO,ROX")), testPV("b", offers("RWO,RWX"), size("30Gi"))}, testPVC("c"), "a b"},
		{"two reservations", []*corev1.PersistentVolume{testPV("a", tied("c", "")), testPV("b", tied("c", ""), size("30Gi"))}, testPVC("c"), "a b"},
		{"not somebody else's", []*corev1.PersistentVolume{testPV("a", tied("x", "")), testPV("b", phase(corev1.VolumeReleased))}, testPVC("c"), ""},
		{"by name", []*corev1.PersistentVolume{testPV("a"), testPV("b", size("30Gi"))}, testPVC("c", names("b")), "b"},
		{"by the name of one that does not fit", []*corev1.PersistentVolume{testPV("a"), testPV("b", size("3Gi"))}, testPVC("c", names("b")), ""},
		{"by the name of one that is not there", []*corev1.PersistentVolume{testPV("a")}, testPVC("c", names("b")), ""},
		{"bound before", []*corev1.PersistentVolume{testPV("a", size("1Gi"))}, testPVC("c", names("a"), bindCompleted), "a"},
		{"bound before, to nothing", []*corev1.PersistentVolume{testPV("a")}, testPVC("c", bindCompleted), ""},
	} {
		if got := volumeNames(Choices(tt.pvc, tt.volumes, nil)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
		first, _, _ := strings.Cut(tt.want, " ")
		if c := Choice(tt.pvc, tt.volumes, nil); (c == nil) != (tt.want == "") || c != nil && c.Name != first {
			t.Errorf("%s: Choice got %v, want %q", tt.what, c, first)
		}
	}
}

// A claim without a class is matched as it is before it gets the default.
func TestChoicesWithoutClass(t *testing.T) {
	classes := []*storagev1.StorageClass{testClass("std", isDefault(annDefaultClass, 0))}
	std, none := testPV("std", pvClass("std"), size("10Gi")), testPV("none", pvClass(""), size("30Gi"))
	pvc := testPVC("c", noClass)
	if got := volumeNames(Choices(pvc, []*corev1.PersistentVolume{std, none}, classes)); got != "none" {
		t.Errorf("got %q", got)
	}
	if got := volumeNames(Choices(pvc, []*corev1.PersistentVolume{std}, classes)); got != "std" {
		t.Errorf("got %q", got)
	}
	if got := volumeNames(Choices(testPVC("c", pvcClass("")), []*corev1.PersistentVolume{std}, classes)); got != "" {
		t.Errorf("an explicit empty class is never filled in, got %q", got)
	}
	waits(classes[0])
	if got := volumeNames(Choices(pvc, []*corev1.PersistentVolume{std}, classes)); got != "" {
		t.Errorf("the default class waits for a pod, got %q", got)
	}
}

// drawPV and drawPVC make small worlds in which much collides.
func drawPV(t *rapid.T, name string) *corev1.PersistentVolume {
	pv := testPV(name)
	size(rapid.SampledFrom([]string{"5Gi", "10Gi", "10240Mi", "20Gi"}).Draw(t, "size"))(pv)
	offers(rapid.SampledFrom([]string{"RWO", "ROX,RWO", "RWO,RWX", "RWO,ROX,RWX", "RWX", "RWOP", "RWO,RWO"}).Draw(t, "modes"))(pv)
	pv.Spec.StorageClassName = rapid.SampledFrom([]string{"", "fast", "fast", "slow"}).Draw(t, "class")
	phase(rapid.SampledFrom([]corev1.PersistentVolumePhase{
		corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeReleased, "",
	}).Draw(t, "phase"))(pv)
	switch rapid.IntRange(0, 9).Draw(t, "ref") {
	case 0, 1:
		tied("c", "")(pv)
	case 2:
		tied("c", "uid-c")(pv)
	case 3:
		tied("c", "uid-old")(pv)
	case 4:
		tied("x", "")(pv)
	}
	if rapid.IntRange(0, 9).Draw(t, "deleting") == 0 {
		pv.DeletionTimestamp = &metav1.Time{}
	}
	if rapid.IntRange(0, 5).Draw(t, "block") == 0 {
		block := corev1.PersistentVolumeBlock
		pv.Spec.VolumeMode = &block
	}
	if rapid.IntRange(0, 5).Draw(t, "vac") == 0 {
		gold := rapid.SampledFrom([]string{"", "gold"}).Draw(t, "vacName")
		pv.Spec.VolumeAttributesClassName = &gold
	}
	if rapid.Bool().Draw(t, "label") {
		pv.Labels = map[string]string{"disk": "a"}
	}
	return pv
}

func drawPVC(t *rapid.T, name string) *corev1.PersistentVolumeClaim {
	pvc := testPVC(name)
	wants(rapid.SampledFrom([]string{"1Gi", "10Gi", "15Gi"}).Draw(t, "wants"))(pvc)
	asks(rapid.SampledFrom([]string{"RWO", "RWO", "RWO,ROX", "RWX", "RWOP"}).Draw(t, "asks"))(pvc)
	switch rapid.IntRange(0, 4).Draw(t, "asksClass") {
	case 0:
		noClass(pvc)
	case 1:
		pvcClass("")(pvc)
	case 2:
		pvcClass("slow")(pvc)
	}
	if rapid.IntRange(0, 5).Draw(t, "selector") == 0 {
		pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "a"}}
	}
	if rapid.IntRange(0, 5).Draw(t, "asksVAC") == 0 {
		gold := "gold"
		pvc.Spec.VolumeAttributesClassName = &gold
	}
	return pvc
}

func drawClasses(t *rapid.T) []*storagev1.StorageClass {
	fast, slow := testClass("fast"), testClass("slow", waits)
	switch rapid.IntRange(0, 2).Draw(t, "default") {
	case 1:
		isDefault(annDefaultClass, 0)(fast)
	case 2:
		isDefault(annBetaDefaultClass, 0)(slow)
	}
	return []*storagev1.StorageClass{fast, slow}
}

func drawVolumes(t *rapid.T) []*corev1.PersistentVolume {
	var volumes []*corev1.PersistentVolume
	for _, n := range []string{"a", "b", "c", "d", "e", "f"}[:rapid.IntRange(0, 6).Draw(t, "volumes")] {
		volumes = append(volumes, drawPV(t, n))
	}
	return volumes
}

// oracle is the controller's own search: its index is a map, of which any
// order may come out, and FindMatchingVolume is called for one group after
// another.
func oracle(t *rapid.T, pvc *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, classes []*storagev1.StorageClass) *corev1.PersistentVolume {
	keyed := map[string][]*corev1.PersistentVolume{}
	for _, pv := range rapid.Permutation(volumes).Draw(t, "order") {
		key := modeKey(indexedModes(pv.Spec.AccessModes))
		keyed[key] = append(keyed[key], pv)
	}
	var keys []string
	for key := range keyed {
		all := true
		for _, m := range pvc.Spec.AccessModes {
			all = all && slices.Contains(strings.Split(key, ","), string(m))
		}
		if all {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > 1 {
		keys = rapid.Permutation(keys).Draw(t, "keys")
	}
	slices.SortStableFunc(keys, func(a, b string) int {
		return cmp.Compare(strings.Count(a, ","), strings.Count(b, ","))
	})
	delayed, err := volume.IsDelayBindingMode(pvc, lister(classes))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		found, err := volume.FindMatchingVolume(pvc, keyed[key], nil, nil, delayed, true)
		if err != nil {
			t.Fatal(err)
		}
		if found != nil {
			return found
		}
	}
	if filled := withDefault(pvc, classes); filled != nil {
		return oracle(t, filled, volumes, classes)
	}
	return nil
}

// Whatever the controller's search finds is among the choices, and every
// choice is what it finds in some order.
func TestChoicesAgainstController(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		volumes, pvc, classes := drawVolumes(t), drawPVC(t, "c"), drawClasses(t)
		got := Choices(pvc, volumes, classes)
		found := oracle(t, pvc, volumes, classes)
		if found == nil && len(got) != 0 || found != nil && !slices.Contains(got, found) {
			t.Fatalf("the controller finds %v, the choices are %q", found, volumeNames(got))
		}
		// Without its rivals, each choice is the only find; with a rival
		// alone it is not beaten in every order.
		for _, c := range got {
			rest := slices.DeleteFunc(slices.Clone(volumes), func(v *corev1.PersistentVolume) bool {
				return v != c && slices.Contains(got, v)
			})
			if found := oracle(t, pvc, rest, classes); found != c {
				t.Fatalf("%s is no choice of the controller, which finds %v", c.Name, found)
			}
		}
	})
}

// For a single volume the verdict is what the controller's search says.
func TestJudgeAgainstController(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pv, pvc, classes := drawPV(t, "v"), drawPVC(t, "c"), drawClasses(t)
		verdict := Judge(pv, pvc, classes)
		found := oracle(t, pvc, []*corev1.PersistentVolume{pv}, classes)
		if verdict.Binds != (found != nil) {
			t.Fatalf("the controller finds %v, the verdict is %+v", found, verdict)
		}
		if verdict.Binds && len(verdict.Blocking) > 0 || !verdict.Binds && !verdict.Delayed && len(verdict.Blocking) == 0 {
			t.Fatalf("a verdict needs its reasons: %+v", verdict)
		}
		if !verdict.Delayed {
			return
		}
		// What is delayed is what would bind if the classes did not wait.
		for _, c := range classes {
			mode := storagev1.VolumeBindingImmediate
			c.VolumeBindingMode = &mode
		}
		if oracle(t, pvc, []*corev1.PersistentVolume{pv}, classes) == nil {
			t.Fatalf("delayed, though it does not fit: %+v", verdict)
		}
	})
}

// Under the rule by name, the verdict equals a check written down apart.
func TestJudgeByNameAgainstRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pv, pvc := drawPV(t, "v"), drawPVC(t, "c")
		pv.Spec.ClaimRef = nil
		names("v")(pvc)
		have, want := pv.Spec.Capacity[corev1.ResourceStorage], pvc.Spec.Resources.Requests[corev1.ResourceStorage]
		vac := func(p *string) string { return deref(p, "") }
		binds := pv.DeletionTimestamp == nil && have.Value() >= want.Value() &&
			volume.GetPersistentVolumeClass(pv) == volume.GetPersistentVolumeClaimClass(pvc) &&
			vac(pv.Spec.VolumeAttributesClassName) == vac(pvc.Spec.VolumeAttributesClassName) &&
			!volume.CheckVolumeModeMismatches(&pvc.Spec, &pv.Spec) && volume.CheckAccessModes(pvc, pv)
		if v := Judge(pv, pvc, drawClasses(t)); v.Binds != binds {
			t.Fatalf("want %v, got %+v", binds, v)
		}
	})
}

func BenchmarkTakers(b *testing.B) {
	var volumes []*corev1.PersistentVolume
	var claims []*corev1.PersistentVolumeClaim
	for i := range 20000 {
		name := resource.NewQuantity(int64(i), resource.DecimalSI).String()
		volumes = append(volumes, testPV("v"+name, tied("c"+name, "uid-c"+name), phase(corev1.VolumeBound)))
		claims = append(claims, testPVC("c"+name, names("v"+name), bindCompleted))
		if i%20 == 0 {
			claims = append(claims, testPVC("p"+name))
			volumes = append(volumes, testPV("o"+name, size("1Gi")))
		}
	}
	pv := testPV("it", tied("x", "gone"), phase(corev1.VolumeReleased))
	for b.Loop() {
		if len(Takers(pv, volumes, claims, nil)) != 1000 {
			b.Fatal("every pending claim takes it")
		}
	}
}

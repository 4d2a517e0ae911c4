package binding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// misfits make a pair that fits misfit in one respect each.
func misfits() map[MismatchKind]func(*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	type pair = func(*corev1.PersistentVolume, *corev1.PersistentVolumeClaim)
	return map[MismatchKind]pair{
		Deletion: func(pv *corev1.PersistentVolume, _ *corev1.PersistentVolumeClaim) {
			pv.DeletionTimestamp = &metav1.Time{}
		},
		Capacity: func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) { wants("11Gi")(pvc) },
		AccessModes: func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			asks("RWOP")(pvc)
		},
		VolumeMode: func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			block := corev1.PersistentVolumeBlock
			pvc.Spec.VolumeMode = &block
		},
		Class: func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) { pvcClass("other")(pvc) },
		AttributesClass: func(pv *corev1.PersistentVolume, _ *corev1.PersistentVolumeClaim) {
			gold := "gold"
			pv.Spec.VolumeAttributesClassName = &gold
		},
		Selector: func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "a"}}
		},
		SelectorInvalid: func(_ *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "?"}}}
		},
		PhaseNotAvailable: func(pv *corev1.PersistentVolume, _ *corev1.PersistentVolumeClaim) {
			pv.Status.Phase = corev1.VolumeReleased
		},
	}
}

// onPath ties a pair so that a path applies.
func onPath(p Path, pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
	switch p {
	case ByVolumeName:
		names(pv.Name)(pvc)
	case ByClaimRef:
		tied(pvc.Name, "")(pv)
	case ByBoth:
		tied(pvc.Name, "")(pv)
		names(pv.Name)(pvc)
	case Rebind:
		names(pv.Name)(pvc)
		bindCompleted(pvc)
	default:
		// Nothing ties the others.
	}
}

// Every cell of the table of what each path looks at.
func TestJudgeTable(t *testing.T) {
	paths := []Path{Ordinary, ByVolumeName, ByClaimRef, ByBoth, Rebind}
	table := map[MismatchKind]string{ // In the order of paths: x blocks, - is ignored.
		Deletion:          "xxx--",
		Capacity:          "xxx--",
		AccessModes:       "xxx--",
		VolumeMode:        "xxx--",
		Class:             "xx---",
		AttributesClass:   "xxx--",
		Selector:          "x----",
		SelectorInvalid:   "x-x--",
		PhaseNotAvailable: "x----",
	}
	for kind, spoil := range misfits() {
		for i, path := range paths {
			t.Run(fmt.Sprintf("%s/%s", kind, path), func(t *testing.T) {
				pv, pvc := testPV("v"), testPVC("c")
				onPath(path, pv, pvc)
				if v := Judge(pv, pvc, nil); v.Path != path || !v.Binds || len(v.Blocking)+len(v.Ignored) != 0 {
					t.Fatalf("the pair must fit before it is spoilt: %+v", v)
				}
				spoil(pv, pvc)
				v := Judge(pv, pvc, nil)
				blocks := table[kind][i] == 'x'
				where, other := v.Ignored, v.Blocking
				if blocks {
					where, other = v.Blocking, v.Ignored
				}
				if v.Path != path || v.Binds == blocks || len(other) != 0 || len(where) != 1 || where[0].Kind != kind || where[0].Text == "" {
					t.Errorf("got %+v", v)
				}
			})
		}
	}
}

// The tenth row: a volume that waits for somebody else.
func TestJudgeReservedForOther(t *testing.T) {
	for _, tt := range []struct {
		what string
		pv   *corev1.PersistentVolume
		pvc  *corev1.PersistentVolumeClaim
		kind MismatchKind
	}{
		{"another name", testPV("v", tied("x", "")), testPVC("c"), ReservedForOther},
		{"another name, asked for by name", testPV("v", tied("x", "uid-x")), testPVC("c", names("v")), ReservedForOther},
		{"the same name, an earlier uid", testPV("v", tied("c", "uid-old")), testPVC("c", names("v")), ReservedForOther},
		{"the claim asks for another volume", testPV("v", tied("c", "")), testPVC("c", names("w")), AsksForOther},
	} {
		v := Judge(tt.pv, tt.pvc, nil)
		if v.Path != None || v.Binds || v.Lost || len(v.Blocking) != 1 || v.Blocking[0].Kind != tt.kind {
			t.Errorf("%s: got %+v", tt.what, v)
		}
	}
}

// The rows of the truth table of claimRef against claim.
func TestJudgeTruthTable(t *testing.T) {
	for _, tt := range []struct {
		row   string
		pv    *corev1.PersistentVolume
		pvc   *corev1.PersistentVolumeClaim
		path  Path
		binds bool
		lost  bool
	}{
		{"T1 nil, any claim", testPV("v"), testPVC("c"), Ordinary, true, false},
		{"T2 nil, by name", testPV("v"), testPVC("c", names("v")), ByVolumeName, true, false},
		{"T3 nil, bound before", testPV("v"), testPVC("c", names("v"), bindCompleted, wants("99Gi")), Rebind, true, false},
		{"T4 reserved, a stranger", testPV("v", tied("c", "")), testPVC("d"), None, false, false},
		{"T5 reserved, other class", testPV("v", tied("c", "")), testPVC("c", pvcClass("x")), ByClaimRef, true, false},
		{"T6 both, too small", testPV("v", tied("c", "")), testPVC("c", names("v"), wants("99Gi")), ByBoth, true, false},
		{"T7 reserved, bound before", testPV("v", tied("c", "")), testPVC("c", names("v"), bindCompleted), None, false, true},
		{"T7 of a claim without a uid yet", testPV("v", tied("c", "")), testPVC("c", names("v"), bindCompleted, func(c *corev1.PersistentVolumeClaim) { c.UID = "" }), None, false, true},
		{"T7 another's uid", testPV("v", tied("c", "uid-old")), testPVC("c", names("v"), bindCompleted), None, false, true},
		{"bound before, to nothing", testPV("v"), testPVC("c", bindCompleted), None, false, true},
		{"T8 reserved, bound elsewhere", testPV("v", tied("c", "")), testPVC("c", names("w"), bindCompleted), None, false, false},
		{"T9 bound", testPV("v", tied("c", "uid-c")), testPVC("c", names("v"), bindCompleted), Rebind, true, false},
		{"T9 half way", testPV("v", tied("c", "uid-c")), testPVC("c"), ByClaimRef, true, false},
		{"T10 stale uid", testPV("v", tied("c", "uid-old")), testPVC("c"), None, false, false},
		{"T11 uid right, bound elsewhere", testPV("v", tied("c", "uid-c")), testPVC("c", names("w"), bindCompleted), None, false, false},
	} {
		v := Judge(tt.pv, tt.pvc, nil)
		if v.Path != tt.path || v.Binds != tt.binds || v.Lost != tt.lost {
			t.Errorf("%s: got %+v", tt.row, v)
		}
	}
}

func TestJudgeWaitForFirstConsumer(t *testing.T) {
	classes := []*storagev1.StorageClass{testClass("fast", waits)}
	for _, path := range []Path{Ordinary, ByVolumeName, ByClaimRef, ByBoth, Rebind} {
		pv, pvc := testPV("v"), testPVC("c")
		onPath(path, pv, pvc)
		v := Judge(pv, pvc, classes)
		if wait := path == Ordinary; v.Delayed != wait || v.Binds == wait {
			t.Errorf("%s: got %+v", path, v)
		}
	}
	v := Judge(testPV("v"), testPVC("c", wants("11Gi")), classes)
	if v.Delayed || v.Binds {
		t.Errorf("what does not fit is not delayed but apart: %+v", v)
	}
}

// A claim without a class meets a volume of the default class, of no class,
// and of another class.
func TestJudgeClaimWithoutClass(t *testing.T) {
	classes := []*storagev1.StorageClass{testClass("std", isDefault(annDefaultClass, 0)), testClass("fast")}
	for _, tt := range []struct {
		class string
		named bool
		binds bool
		text  string
	}{
		{"std", false, true, ""},
		{"", false, true, ""},
		{"fast", false, false, "class: the volume has fast, asked for std, the default, as the claim names none"},
		// A claim that names its volume is never filled in by the controller.
		{"", true, true, ""},
		{"std", true, false, "class: the volume has std, asked for none"},
	} {
		pvc := testPVC("c", noClass)
		if tt.named {
			names("v")(pvc)
		}
		v := Judge(testPV("v", pvClass(tt.class)), pvc, classes)
		if v.Binds != tt.binds || Texts(v.Blocking) != tt.text {
			t.Errorf("class %q, by name %v: got %+v", tt.class, tt.named, v)
		}
	}
	v := Judge(testPV("v", pvClass("")), testPVC("c", pvcClass("std")), classes)
	if v.Binds || !strings.Contains(Texts(v.Blocking), `has "", asked for std`) {
		t.Errorf("an empty class must be visible: %+v", v)
	}
}

// A volume that lacks a part of a byte is large enough for a claim that names
// it, and too small for one that searches. More than that is too small for both.
func TestJudgePartOfByte(t *testing.T) {
	for _, tt := range []struct {
		has, asked string
		binds      map[Path]bool
	}{
		{"1023500m", "1024", map[Path]bool{ByVolumeName: true}},
		{"1024", "1023500m", map[Path]bool{Ordinary: true, ByVolumeName: true, ByClaimRef: true}},
		{"1023200m", "1023800m", map[Path]bool{ByVolumeName: true}},
		{"1022900m", "1024", nil},
		{"1023", "1023500m", nil},
	} {
		for _, path := range []Path{Ordinary, ByVolumeName, ByClaimRef} {
			pv, pvc := testPV("v", size(tt.has)), testPVC("c", wants(tt.asked))
			onPath(path, pv, pvc)
			if v := Judge(pv, pvc, nil); v.Path != path || v.Binds != tt.binds[path] {
				t.Errorf("%s for %s by %s: got %+v", tt.has, tt.asked, path, v)
			}
			if chosen := Choice(pvc, []*corev1.PersistentVolume{pv}, nil); (chosen == pv) != tt.binds[path] {
				t.Errorf("%s for %s by %s: chosen %v", tt.has, tt.asked, path, chosen != nil)
			}
		}
	}
}

// Unset fields count as their defaults.
func TestJudgeDefaults(t *testing.T) {
	pv, pvc := testPV("v"), testPVC("c")
	file, empty := corev1.PersistentVolumeFilesystem, ""
	pv.Spec.VolumeMode, pvc.Spec.VolumeAttributesClassName = &file, &empty
	if v := Judge(pv, pvc, nil); !v.Binds {
		t.Errorf("got %+v", v)
	}
}

func TestTexts(t *testing.T) {
	pv, pvc := testPV("v"), testPVC("c", wants("20Gi"), asks("RWX"))
	got := Texts(Judge(pv, pvc, nil).Blocking)
	const want = "the volume is too small: 10Gi, asked for 20Gi; " +
		"access modes: the volume offers ReadWriteOnce, asked for ReadWriteMany"
	if got != want {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(indexedModes(parseModes("RWX,RWO,RWX")), parseModes("RWO,RWX")) {
		t.Error("modes are indexed in a fixed order, each once")
	}
}

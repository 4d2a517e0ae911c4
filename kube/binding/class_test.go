package binding

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

func TestVolumeClass(t *testing.T) {
	pv := testPV("v")
	if got := VolumeClass(pv); got != "fast" {
		t.Errorf("field: %q", got)
	}
	pv.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: ""}
	if got := VolumeClass(pv); got != "" {
		t.Errorf("an empty beta annotation must win over the field, got %q", got)
	}
}

func TestClaimClass(t *testing.T) {
	beta := func(name string) pvcOpt {
		return func(pvc *corev1.PersistentVolumeClaim) {
			pvc.Annotations = map[string]string{corev1.BetaStorageClassAnnotation: name}
		}
	}
	for _, tt := range []struct {
		what      string
		pvc       *corev1.PersistentVolumeClaim
		name      string
		set, beta bool
	}{
		{"field", testPVC("c"), "fast", true, false},
		{"nothing", testPVC("c", noClass), "", false, false},
		{"explicitly none", testPVC("c", pvcClass("")), "", true, false},
		{"beta alone", testPVC("c", noClass, beta("old")), "old", true, true},
		{"beta over field", testPVC("c", beta("old")), "old", true, true},
		{"empty beta over field", testPVC("c", beta("")), "", true, true},
	} {
		name, set, beta := ClaimClass(tt.pvc)
		if name != tt.name || set != tt.set || beta != tt.beta {
			t.Errorf("%s: got %q %v %v", tt.what, name, set, beta)
		}
	}
}

func TestEffectiveDefault(t *testing.T) {
	const hour = time.Hour
	not := testClass("not")
	not.Annotations = map[string]string{annDefaultClass: "false"}
	for _, tt := range []struct {
		what    string
		classes []*storagev1.StorageClass
		want    string
	}{
		{"none", nil, ""},
		{"none marked", []*storagev1.StorageClass{testClass("a"), not}, ""},
		{"by the beta annotation", []*storagev1.StorageClass{testClass("a"), testClass("b", isDefault(annBetaDefaultClass, 0))}, "b"},
		{"the newest", []*storagev1.StorageClass{
			testClass("a", isDefault(annDefaultClass, 2*hour)),
			testClass("b", isDefault(annDefaultClass, hour)),
			testClass("c", isDefault(annDefaultClass, 3*hour)),
		}, "b"},
		{"the first by name of equally old ones", []*storagev1.StorageClass{
			testClass("c", isDefault(annDefaultClass, hour)),
			testClass("b", isDefault(annBetaDefaultClass, hour)),
			testClass("d", isDefault(annDefaultClass, hour)),
		}, "b"},
	} {
		got := ""
		if c := EffectiveDefault(tt.classes); c != nil {
			got = c.Name
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, got, tt.want)
		}
	}
}

func TestDelays(t *testing.T) {
	classes := []*storagev1.StorageClass{testClass("fast"), testClass("slow", waits)}
	for class, want := range map[string]bool{"fast": false, "slow": true, "gone": false, "": false} {
		if got := Delays(testPVC("c", pvcClass(class)), classes); got != want {
			t.Errorf("class %q: got %v", class, got)
		}
	}
	// A class that no API server has defaulted yet.
	if Delays(testPVC("c"), []*storagev1.StorageClass{{ObjectMeta: testClass("fast").ObjectMeta}}) {
		t.Error("a class without a binding mode must not delay")
	}
}

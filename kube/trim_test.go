package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTrimVolume(t *testing.T) {
	pv := newVolume("pv", claimedBy("a", "c", "uid-c"))
	pv.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x"}}
	pv.Labels = map[string]string{"app": "db"}
	pv.Annotations = map[string]string{
		lastApplied:                               "{}",
		"pv.kubernetes.io/bound-by-controller":    "yes",
		"pv.kubernetes.io/provisioned-by":         "example.com",
		"volume.beta.kubernetes.io/storage-class": "slow",
		"meta.helm.sh/release-name":               "db",
		"example.com/note":                        "x",
		"plain":                                   "x",
	}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h", VolumeAttributes: map[string]string{"a": "b"}}
	version := pv.ResourceVersion

	trim := newTrimmer()
	got := trim.trim(pv).(*corev1.PersistentVolume)
	want := map[string]string{
		"pv.kubernetes.io/bound-by-controller":    "yes",
		"pv.kubernetes.io/provisioned-by":         "example.com",
		"volume.beta.kubernetes.io/storage-class": "slow",
		"meta.helm.sh/release-name":               "db",
	}
	if diff := cmp.Diff(want, got.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if got.ManagedFields != nil || got.Spec.CSI.VolumeAttributes != nil {
		t.Error("what no screen shows is kept")
	}
	if got.Labels["app"] != "db" || got.Spec.CSI.VolumeHandle != "h" || got.ResourceVersion != version || got.Spec.ClaimRef.UID != "uid-c" {
		t.Error("what rules and screens use is gone")
	}
	once := got.DeepCopy()
	if diff := cmp.Diff(once, trim.trim(got)); diff != "" {
		t.Errorf("trimming twice changes more (-once +twice):\n%s", diff)
	}
}

func TestTrimSharesWhatRepeats(t *testing.T) {
	trim := newTrimmer()
	a := trim.trim(newClaim("a", "c")).(*corev1.PersistentVolumeClaim)
	b := trim.trim(newClaim("a", "d")).(*corev1.PersistentVolumeClaim)
	if a.Spec.StorageClassName != b.Spec.StorageClassName {
		t.Error("equal class names have two copies")
	}
	if &a.Spec.AccessModes[0] != &b.Spec.AccessModes[0] {
		t.Error("equal access modes have two copies")
	}
	c := newClaim("a", "e")
	other := "fast"
	c.Spec.StorageClassName = &other
	c = trim.trim(c).(*corev1.PersistentVolumeClaim)
	if *c.Spec.StorageClassName != "fast" || *a.Spec.StorageClassName != "slow" {
		t.Error("different class names were mixed up")
	}
}

func TestInternersDoNotGrowForever(t *testing.T) {
	in := newInterner()
	for i := range 2 * maxShared {
		in.words("x", []string{string(rune(i)), "y"})
	}
	if len(in.shared) > maxShared {
		t.Errorf("%d values are shared", len(in.shared))
	}
}

func TestTrimPod(t *testing.T) {
	trim := newTrimmer()
	pod := newPod("a", "p", controlledBy("StatefulSet", "db"), "z", "b")
	now := metav1.Now()
	pod.DeletionTimestamp = &now
	got := trim.trim(pod).(*podRecord)
	want := &podRecord{
		Pod:       Pod{Name: "p", UID: "uid-p", Phase: corev1.PodRunning, Node: "node-a", Terminating: true},
		namespace: "a",
		claims:    []string{"b", "z"},
		owner:     Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "db", UID: "uid-db"},
	}
	if !got.same(want) {
		t.Errorf("record = %+v", got)
	}
	if bare := trim.trim(newPod("a", "q", nil)).(*podRecord); bare.Node != "" || bare.claims != nil {
		t.Errorf("a pod without claims is kept as %+v", bare)
	}
}

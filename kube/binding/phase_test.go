package binding

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestVolumeState(t *testing.T) {
	deleting := func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} }
	for _, tt := range []struct {
		what          string
		pv            *corev1.PersistentVolume
		phase, stored Phase
	}{
		{"open", testPV("v"), Available, Available},
		{"reserved", testPV("v", tied("c", "")), Reserved, Available},
		{"a uid is no reservation", testPV("v", tied("c", "u")), Available, Available},
		{"cleared, not yet seen", testPV("v", tied("c", ""), phase(corev1.VolumeReleased)), Released, Released},
		{"going", testPV("v", tied("c", ""), deleting), Terminating, Available},
		{"new", testPV("v", phase("")), Pending, Pending},
		{"a word of the future", testPV("v", phase("Folded")), Unknown, Unknown},
	} {
		if got := VolumeState(tt.pv); got != (State{tt.phase, tt.stored}) {
			t.Errorf("%s: got %+v", tt.what, got)
		}
	}
}

func TestClaimState(t *testing.T) {
	pvc := testPVC("c", func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })
	if got := ClaimState(pvc); got != (State{Lost, Lost}) {
		t.Errorf("got %+v", got)
	}
	pvc.DeletionTimestamp = &metav1.Time{}
	if got := ClaimState(pvc); got != (State{Terminating, Lost}) {
		t.Errorf("got %+v", got)
	}
}

package migration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestManagers(t *testing.T) {
	t.Parallel()
	at := func(minute int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)}
	}
	fields := metav1.NewFieldsV1
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		{Manager: "maker", Time: at(0), FieldsV1: fields(`{"f:spec":{"f:capacity":{},"f:persistentVolumeReclaimPolicy":{}}}`)},
		{Manager: "early", Time: at(1), FieldsV1: fields(`{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`)},
		{Manager: "late", Time: at(2), FieldsV1: fields(`{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`)},
		{Manager: "other", Time: at(3), FieldsV1: fields(`{"f:status":{"f:phase":{}}}`), Subresource: "status"},
		{Manager: "broken", Time: at(4), FieldsV1: fields(`{`)},
		{Manager: "empty", Time: at(5)},
	}}}
	if got := managerOf(pv, "spec", "persistentVolumeReclaimPolicy"); got != "late" {
		t.Errorf("the policy was written last by %q", got)
	}
	if got := managerOf(pv, "spec", "claimRef"); got != "" {
		t.Errorf("the claimRef, which nobody wrote, by %q", got)
	}
	if got := firstManager(pv); got != "maker" {
		t.Errorf("made by %q", got)
	}
}

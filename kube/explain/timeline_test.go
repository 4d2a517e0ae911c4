package explain

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/kube"
)

func lines(moments []Moment) string {
	var all []string
	for _, m := range moments {
		text := noon().Sub(m.When).String() + " " + m.What
		if m.Who != "" {
			text += " by " + m.Who
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func TestVolumeTimeline(t *testing.T) {
	changed, applied := before(10*time.Hour), before(9*time.Hour)
	pv := newPV("v", released, goingPV)
	pv.ManagedFields = []metav1.ManagedFieldsEntry{
		{
			Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &changed,
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:phase":{}}}`),
		},
		{
			Manager: "flux\x1b[31m", Operation: metav1.ManagedFieldsOperationApply, Time: &applied,
			FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:claimRef":{},"f:persistentVolumeReclaimPolicy":{}}}`),
		},
		{Manager: "broken", Operation: metav1.ManagedFieldsOperationUpdate, Time: &applied, FieldsV1: metav1.NewFieldsV1(`{`)},
		{Manager: "timeless", Operation: metav1.ManagedFieldsOperationUpdate},
	}
	got := VolumeTimeline(pv, []kube.Event{
		{Time: noon().Add(-time.Minute), Type: "Warning", Reason: "VolumeFailedDelete", Message: "still\nattached.", Source: "csi", Count: 7},
		{Reason: "NeverSaid"},
	})
	want := strings.Join([]string{
		"72h0m0s Created",
		"24h0m0s Became Released",
		"10h0m0s Last changed status.phase by kube-controller-manager",
		"9h0m0s Last applied metadata.labels, spec.claimRef, spec.persistentVolumeReclaimPolicy by flux[31m",
		"9h0m0s Last changed by broken",
		"5m0s Its deletion was asked for",
		"1m0s VolumeFailedDelete: still attached by csi",
	}, "\n")
	if lines(got) != want {
		t.Errorf("got\n%s, want\n%s", lines(got), want)
	}
	last := got[len(got)-1]
	if last.Level != Warn || last.Count != 7 {
		t.Errorf("got %+v", last)
	}
}

func TestClaimTimeline(t *testing.T) {
	pvc := newPVC("c")
	pvc.CreationTimestamp = before(time.Hour)
	grace := int64(60)
	gone := metav1.NewTime(noon())
	pvc.DeletionTimestamp, pvc.DeletionGracePeriodSeconds = &gone, &grace
	pvc.Status.Conditions = []corev1.PersistentVolumeClaimCondition{
		{Type: corev1.PersistentVolumeClaimUnused, Status: corev1.ConditionTrue, LastTransitionTime: before(30 * time.Minute)},
		{Type: corev1.PersistentVolumeClaimResizing, Status: corev1.ConditionTrue},
	}
	want := "1h0m0s Created\n30m0s Condition Unused became True\n1m0s Its deletion was asked for"
	if got := lines(ClaimTimeline(pvc, nil)); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

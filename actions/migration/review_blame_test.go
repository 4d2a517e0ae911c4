package migration

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// TestBlame: whoever changed a field back is named, and not who wrote another
// one.
func TestBlame(t *testing.T) {
	t.Parallel()
	at := func(second int) *metav1.Time { return &metav1.Time{Time: time.Unix(int64(second), 0)} }
	wrote := func(who string, when int, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: who, Time: at(when), FieldsV1: metav1.NewFieldsV1(fields)}
	}
	for _, tt := range []struct {
		name, patch, want string
		fields            []metav1.ManagedFieldsEntry
	}{
		{"the reservation", `{"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`, "terraform", []metav1.ManagedFieldsEntry{
			wrote("claimref", 5, `{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`),
			wrote("terraform", 4, `{"f:spec":{"f:claimRef":{"f:uid":{}}}}`),
		}},
		{"the policy, with the note", `{"metadata":{"annotations":{"claimref.io/plan":"x"}},"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`, "terraform", []metav1.ManagedFieldsEntry{
			wrote("claimref", 4, `{"f:metadata":{"f:annotations":{"f:claimref.io/plan":{}}}}`),
			wrote("terraform", 5, `{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`),
		}},
		{"within the same second", `{"metadata":{"annotations":{"claimref.io/plan":"x"}},"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`, "terraform", []metav1.ManagedFieldsEntry{
			wrote("claimref", 5, `{"f:metadata":{"f:annotations":{"f:claimref.io/plan":{}}}}`),
			wrote("terraform", 5, `{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`),
		}},
		{"nobody known", `{"spec":{"claimRef":{"uid":null}}}`, "", []metav1.ManagedFieldsEntry{
			wrote("claimref", 5, `{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`),
		}},
	} {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk", ManagedFields: tt.fields}}
		m := &machine{s: Scene{Volumes: map[string]*corev1.PersistentVolume{"disk": pv}}}
		step := Step{Act: Patch, Target: actions.Ref{Kind: actions.VolumeKind, Name: "disk"}, Patch: []byte(tt.patch)}
		if got := m.changer(step); got != tt.want {
			t.Errorf("%s: %q, not %q", tt.name, got, tt.want)
		}
	}
}

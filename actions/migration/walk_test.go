package migration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func replaced(s string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(s) }

// TestWalk carries each operation out without anything going wrong.
func TestWalk(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			m, j := k.start(t).drafted(t)
			w := m.walk(j, "a")
			w.after = func(step Step) bool {
				for _, v := range j.Volumes {
					pv := m.state().Volume(v.Ref.Name)
					if pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain && strings.HasPrefix(step.ID, "delete/"+v.Ref.Name) {
						t.Errorf("%s: the policy is %s", step.ID, pv.Spec.PersistentVolumeReclaimPolicy)
					}
				}
				if open := m.exposed(j); open != nil {
					t.Errorf("after %s, open to anybody: %v", step.ID, open)
				}
				return false
			}
			move := w.toTheEnd()
			if move.Kind != Finished {
				t.Fatalf("%v\nafter %v", move, w.wrote)
			}
			t.Log(strings.Join(w.wrote, "\n"))
			if lost := m.lost(j); lost != nil {
				t.Errorf("lost the data of %v", lost)
			}
			for _, v := range j.Volumes {
				pv := m.state().Volume(v.Ref.Name)
				pvc := m.state().Claim(v.To.Namespace, v.To.Name)
				switch {
				case pvc == nil || pvc.Status.Phase != corev1.ClaimBound || pv.Status.Phase != corev1.VolumeBound || pv.Spec.ClaimRef.UID != pvc.UID:
					t.Errorf("%s and its claim are not bound to each other", pv.Name)
				case !slices.Equal(pvc.Spec.AccessModes, v.To.Spec.AccessModes) || !slices.Equal(pv.Spec.AccessModes, pvc.Spec.AccessModes):
					t.Errorf("modes of claim and volume: %v, %v", pvc.Spec.AccessModes, pv.Spec.AccessModes)
				case pv.Spec.PersistentVolumeReclaimPolicy != v.Policy:
					t.Errorf("policy %s, was %s", pv.Spec.PersistentVolumeReclaimPolicy, v.Policy)
				}
				for key := range pv.Annotations {
					if strings.HasPrefix(key, "claimref.io/") {
						t.Errorf("annotation %s is left on %s", key, pv.Name)
					}
				}
			}
		})
	}
}

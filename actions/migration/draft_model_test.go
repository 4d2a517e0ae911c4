package migration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// TestDraftOfWorlds: of the worlds in which the steps are walked, a draft is
// what was written by hand.
func TestDraftOfWorlds(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			m, want := k.start(t).drafted(t)
			req := want.Request
			var scene Scene
			for range 5 {
				scene = m.scene(Want(req, scene))
			}
			j, checks := Draft(req, scene)
			for _, c := range checks {
				if c.Severity == actions.Block {
					t.Errorf("blocked: %+v", c)
				}
			}
			for _, w := range want.Workloads {
				if w.From != nil { // The server writes it, and writes it again.
					w.From.Spec.VolumeClaimTemplates[0].Status, w.To.Spec.VolumeClaimTemplates[0].Status = corev1.PersistentVolumeClaimStatus{}, corev1.PersistentVolumeClaimStatus{}
				}
			}
			j.ID, j.Started, j.By = want.ID, want.Started, want.By
			if diff := cmp.Diff(want, j); diff != "" {
				t.Errorf("(-hand +draft):\n%s", diff)
			}
		})
	}
}

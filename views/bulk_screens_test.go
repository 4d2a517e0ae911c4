package views

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
)

// TestBulkScreens compares the page with its golden files.
func TestBulkScreens(t *testing.T) {
	scenes := map[string]func(*testing.T) *rig{
		"ready": func(t *testing.T) *rig {
			r := marked(t, store(), 6)
			r.press("p")
			r.settleBulk()
			return r
		},
		"blocked": func(t *testing.T) *rig {
			r := marked(t, past(func(o *kube.Objects) {
				o.Claims = append(o.Claims, pvc("shop", "waits", corev1.ClaimPending, ""))
			}, on("disk-2", "100", func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "example-sc" })), 4)
			r.cluster.preview = refDiff
			r.press("u")
			r.settleBulk()
			return r
		},
		"confirm": func(t *testing.T) *rig {
			r := protectStep(t, 6)
			r.press("enter")
			return r
		},
		"ended": func(t *testing.T) *rig {
			r := protectStep(t, 6)
			r.cluster.apply = func(p kube.Preview) (kube.Applied, error) {
				if p.Step.Target.Name == "disk-1" {
					return kube.Applied{}, conflict("disk-1")
				}
				return accepts("101")(p)
			}
			r.confirm("5")
			r.see(store(retained("101", "disk-0", "disk-2", "disk-3", "disk-4")))
			return r
		},
	}
	for name, play := range scenes {
		for _, size := range []struct{ w, h int }{{80, 24}, {160, 45}} {
			t.Run(fmt.Sprintf("%s/%dx%d", name, size.w, size.h), func(t *testing.T) {
				r := play(t)
				r.resize(size.w, size.h)
				golden.RequireEqual(t, r.screen())
			})
		}
	}
}

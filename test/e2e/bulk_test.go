package e2e

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/test/controlplane"
)

// TestProtectMarked sets Retain on three marked volumes at once, after one
// approval, and takes it back.
func TestProtectMarked(t *testing.T) {
	c := inspect(t)
	class := c.class("bulk-protect")
	c.namespace("bulk-ns")
	names := []string{"bulk-protect-0", "bulk-protect-1", "bulk-protect-2"}
	for i, name := range names {
		claim := fmt.Sprint("data-", i)
		c.volume(name, class, deletePolicy)
		c.claim("bulk-ns", claim, class, func(p *corev1.PersistentVolumeClaim) { p.Spec.VolumeName = name })
		c.waitBound("bulk-ns", claim, name)
		c.waitClaim("bulk-ns", claim, "bound", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
	}
	policies := func(want corev1.PersistentVolumeReclaimPolicy) {
		t.Helper()
		for _, name := range names {
			if got := c.pvNow(name).Spec.PersistentVolumeReclaimPolicy; got != want {
				t.Errorf("the policy of %s is %s, want %s", name, got, want)
			}
		}
	}

	a := open(t, controlplane.StorageAdmin)
	a.find("bulk-protect")
	a.waitRow("Delete", "Bound")
	a.loaded()
	for range names {
		a.Press("space")
	}
	a.WaitFor("3 marked", screenTimeout)
	a.Press("a")
	a.WaitFor("Actions on 3 marked volumes", screenTimeout)
	a.Press("p")
	screen := a.WaitFor("enter apply all", screenTimeout)
	a.want(screen, "3 will be set to Retain", "dry run by the server: ok", "- persistentVolumeReclaimPolicy: Delete", "+ persistentVolumeReclaimPolicy: Retain")
	step(t, "three volumes before they are protected", screen)
	policies(corev1.PersistentVolumeReclaimDelete)
	a.Press("enter")
	a.WaitFor("Type 3 to change 3 volumes", screenTimeout)
	a.Type("3")
	a.Press("enter")
	step(t, "three volumes protected", a.waitSentence("3 done and seen to be done"))
	policies(corev1.PersistentVolumeReclaimRetain)

	a.Press("u")
	screen = a.WaitFor("enter apply all", screenTimeout)
	a.want(screen, "3 will be taken back", "+ persistentVolumeReclaimPolicy: Delete")
	a.Press("enter")
	a.WaitFor("Type 3 at risk to change 3 volumes", screenTimeout)
	policies(corev1.PersistentVolumeReclaimRetain)
	a.Type("3 at risk")
	a.Press("enter")
	a.waitSentence("3 done and seen to be done")
	policies(corev1.PersistentVolumeReclaimDelete)
	a.leave()
	a.quit()
}

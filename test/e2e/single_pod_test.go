package e2e

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/test/controlplane"
)

func hasModes(want ...corev1.PersistentVolumeAccessMode) func(*corev1.PersistentVolumeClaim) bool {
	return func(p *corev1.PersistentVolumeClaim) bool { return slices.Equal(p.Status.AccessModes, want) }
}

// TestSinglePodLight changes the volume's access modes alone, and back. The
// claim's status follows, its spec does not.
func TestSinglePodLight(t *testing.T) {
	c := inspect(t)
	class := c.class("light")
	c.namespace("light-ns")
	c.volume("light", class)
	c.claim("light-ns", "data", class)
	c.waitBound("light-ns", "data", "light")

	a := open(t, controlplane.StorageAdmin)
	a.find("light")
	a.waitRow("RWO", "Bound", "light-ns/data")
	a.choose("m")
	a.WaitFor("Light", screenTimeout)
	a.Press("l")
	screen := a.waitDiff()
	a.want(screen, "- ReadWriteOnce", "+ - ReadWriteOncePod", "does not enforce it", "keeps ReadWriteOnce in its spec")
	step(t, "the diff before the light way", screen)
	a.Press("enter")
	a.finish()
	if got := c.pvNow("light").Spec.AccessModes; !slices.Equal(got, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
		t.Errorf("the volume's modes are %v", got)
	}
	claim := c.waitClaim("light-ns", "data", "ReadWriteOncePod by its status", hasModes(corev1.ReadWriteOncePod))
	if got := claim.Spec.AccessModes; !slices.Equal(got, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}) || claim.Status.Phase != corev1.ClaimBound {
		t.Errorf("the claim's spec has %v, and it is %s", got, claim.Status.Phase)
	}

	a.Press("u")
	screen = a.waitDiff()
	a.want(screen, "+ - ReadWriteOnce")
	a.Press("enter")
	a.WaitFor("Undone.", settleTimeout)
	c.waitClaim("light-ns", "data", "ReadWriteOnce by its status", hasModes(corev1.ReadWriteOnce))
	if got := c.pvNow("light").Spec.AccessModes; !slices.Equal(got, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}) {
		t.Errorf("after the undo the volume's modes are %v", got)
	}
	a.leave()
	a.waitRow("RWO", "Bound")
	a.quit()
}

// TestRepair gives a Lost claim its volume back: somebody took the uid off the
// claimRef of a volume in use.
func TestRepair(t *testing.T) {
	c := inspect(t)
	class := c.class("repair")
	c.namespace("repair-ns")
	c.volume("repair", class)
	made := c.claim("repair-ns", "data", class)
	c.waitBound("repair-ns", "data", "repair")
	patch := []byte(`{"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`)
	if _, err := c.CoreV1().PersistentVolumes().Patch(t.Context(), "repair", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.waitClaim("repair-ns", "data", "Lost", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimLost })

	a := open(t, controlplane.StorageAdmin)
	a.find("repair")
	a.waitRow("Reserved", "repair-ns/data")
	a.choose("l")
	screen := a.waitDiff()
	a.want(screen, "+ uid: "+string(made.UID))
	step(t, "the diff before giving back", screen)
	a.Press("enter")
	a.finish()
	c.waitBound("repair-ns", "data", "repair")
	c.waitClaim("repair-ns", "data", "bound again", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
	a.leave()
	a.waitRow("Bound", "repair-ns/data")
	a.quit()
}

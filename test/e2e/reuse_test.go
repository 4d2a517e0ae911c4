package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/scenarios"
)

// TestReuse is the story that the product began with: a claim is deleted, its
// volume is Released; it is reserved for its former claim; a second claim of
// the same class stays Pending; the first one, created again, binds ahead of
// it. Then the volume is opened to anyone, and the second claim takes it.
func TestReuse(t *testing.T) {
	c := inspect(t)
	if err := scenarios.Load(t.Context(), shared.cp.Config(controlplane.Admin), scenarios.Reuse); err != nil {
		t.Fatal(err)
	}
	released := c.waitVolume("example-pv", "released", isPhase(corev1.VolumeReleased))
	t.Cleanup(func() { c.removeVolume("example-pv") })

	a := open(t, controlplane.StorageAdmin)
	a.find("example-pv")
	screen := a.waitRow("Released", "exam/example-pvc", "Retain")
	a.want(screen, "claim exam/example-pvc, to which it was bound, is gone", "Data kept (Retain).")
	step(t, "released", screen)

	// Reserve it for its former claim.
	a.choose("r")
	screen = a.waitDiff()
	a.want(screen, "dry run by the server: ok", "- uid: "+string(released.Spec.ClaimRef.UID), "- resourceVersion:")
	step(t, "the diff before reserving", screen)
	if now := c.pvNow("example-pv"); now.ResourceVersion != released.ResourceVersion {
		t.Fatalf("the volume was written before the diff was approved: %s, was %s", now.ResourceVersion, released.ResourceVersion)
	}
	a.Press("enter")
	step(t, "reserved", a.finish())
	a.leave()
	screen = a.waitRow("Reserved", "exam/example-pvc")
	step(t, "the table after reserving", screen)

	// First verification: Available, and still carrying the claim's name.
	pv := c.pvNow("example-pv")
	if pv.Status.Phase != corev1.VolumeAvailable {
		t.Errorf("the phase is %s, want Available", pv.Status.Phase)
	}
	if ref := pv.Spec.ClaimRef; ref == nil || ref.Namespace != "exam" || ref.Name != "example-pvc" || ref.UID != "" || ref.ResourceVersion != "" {
		t.Errorf("claimRef is %+v, want exam/example-pvc without uid and resourceVersion", ref)
	}
	if _, found := pv.Annotations["pv.kubernetes.io/bound-by-controller"]; found {
		t.Error("the volume still carries bound-by-controller: an unbind would drop the reservation")
	}

	// Second verification: another claim of the class stays Pending.
	small := func(p *corev1.PersistentVolumeClaim) {
		p.Spec.Resources.Requests = pv.Spec.Capacity
	}
	c.claim("exam", "example-pvc2", "example-sc", small)
	c.settled("reuse")
	second := c.waitClaim("exam", "example-pvc2", "pending", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimPending })
	if second.Spec.VolumeName != "" {
		t.Fatalf("the second claim took volume %s", second.Spec.VolumeName)
	}
	a.Press("2")
	a.find("example-pvc2")
	step(t, "the second claim waits", a.waitRow("Pending"))

	// Third verification: the first claim, created again, binds ahead of it.
	c.claim("exam", "example-pvc", "example-sc", small)
	c.waitBound("exam", "example-pvc", "example-pv")
	a.Press("1")
	step(t, "bound again", a.waitRow("Bound", "exam/example-pvc"))
	if p := c.waitClaim("exam", "example-pvc2", "pending", func(*corev1.PersistentVolumeClaim) bool { return true }); p.Status.Phase != corev1.ClaimPending {
		t.Errorf("the second claim is %s, want Pending", p.Status.Phase)
	}

	// And the other way: opened to anyone, the second claim takes it at once,
	// as the screen says before.
	c.deleteClaim("exam", "example-pvc")
	a.waitRow("Released")
	a.choose("u")
	screen = a.waitDiff()
	a.want(screen, "exam/example-pvc2")
	step(t, "the diff before unreserving", screen)
	a.Press("enter")
	a.WaitFor("Type example-pv to go on", screenTimeout)
	a.Type("example-pv")
	a.Press("enter")
	step(t, "unreserved", a.finish())
	c.waitBound("exam", "example-pvc2", "example-pv")
	a.leave()
	step(t, "taken by the second claim", a.waitRow("Bound", "exam/example-pvc2"))
	a.quit()
}

// TestDynamicProvisioning plays the other story: classes and claims that use
// the beta annotations, and a volume that dies with its claim.
func TestDynamicProvisioning(t *testing.T) {
	c := inspect(t)
	if err := scenarios.Load(t.Context(), shared.cp.Config(controlplane.Admin), scenarios.Dynamic); err != nil {
		t.Fatal(err)
	}
	bound := c.waitClaim("default", "nginx-pvc01", "bound", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
	volume := bound.Spec.VolumeName

	a := open(t, controlplane.StorageAdmin)
	a.Press("3")
	a.find("standard")
	screen := a.waitRow("standard", "default", "kubernetes.io/host-path")
	a.want(screen, "The default class")
	a.Press("2")
	a.find("nginx-pvc01")
	screen = a.waitRow("Bound", "RWX", "standard", "pod/nginx-pod")
	a.want(screen, "Its volume has policy Delete: the data die with this claim.")
	a.Press("v")
	screen = a.waitRow(volume[len(volume)-6:], "Delete", "Bound", "pod/nginx-pod")
	a.want(screen, "Policy Delete: deleting the claim destroys this volume and its data.")

	// The pod goes, the claim goes, and the volume with it.
	if err := c.CoreV1().Pods("default").Delete(t.Context(), "nginx-pod", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.deleteClaim("default", "nginx-pvc01")
	c.waitVolumeGone(volume)
	a.waitSentence("The object that was selected here is gone")
	a.quit()
}

// TestRetainSavesTheData sets Retain through the screen on a volume whose
// backend is real enough to lose data, and deletes the claim.
func TestRetainSavesTheData(t *testing.T) {
	c := inspect(t)
	class := foldersClass(t, c, "retain-saves")
	for _, tc := range []struct {
		claim string
		save  bool
	}{{"lost-data", false}, {"kept-data", true}} {
		t.Run(tc.claim, func(t *testing.T) {
			c := inspect(t)
			c.claim("default", tc.claim, class)
			volume := c.waitClaim("default", tc.claim, "bound", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound }).Spec.VolumeName
			c.waitVolume(volume, "bound", isPhase(corev1.VolumeBound))
			if !shared.data.SentinelExists(volume) {
				t.Fatal("the provisioner made no data")
			}
			a := open(t, controlplane.StorageAdmin)
			a.find(volume)
			a.waitRow("Delete", "Bound")
			if tc.save {
				a.Press("p")
				a.WaitFor("Reclaim policy of", screenTimeout)
				a.Press("p")
				screen := a.waitDiff()
				a.want(screen, "- persistentVolumeReclaimPolicy: Delete", "+ persistentVolumeReclaimPolicy: Retain")
				a.Press("enter")
				a.finish()
				a.leave()
				a.waitRow("Retain", "Bound")
			}
			c.deleteClaim("default", tc.claim)
			if !tc.save {
				c.waitVolumeGone(volume)
				if shared.data.SentinelExists(volume) {
					t.Error("the volume is gone, but its data are still there: the tripwire does not work")
				}
				a.quit()
				return
			}
			t.Cleanup(func() { c.removeVolume(volume) })
			a.waitRow("Released", "Retain")
			c.settled("retain")
			if c.pvNow(volume).Status.Phase != corev1.VolumeReleased || !shared.data.SentinelExists(volume) {
				t.Error("the data did not survive")
			}
			a.quit()
		})
	}
}

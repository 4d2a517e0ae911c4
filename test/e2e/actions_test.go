package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/test/controlplane"
)

func deletePolicy(v *corev1.PersistentVolume) {
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
}

// TestReserveForAnotherClaim picks a waiting claim of another namespace from
// the list.
func TestReserveForAnotherClaim(t *testing.T) {
	c := inspect(t)
	class := c.class("reserve-other")
	c.released("reserve-other", "from-ns", "from", class)
	c.namespace("to-ns")
	c.claim("to-ns", "waits-here", "reserve-other-nothing")

	a := open(t, controlplane.StorageAdmin)
	a.find("reserve-other")
	a.waitRow("Released")
	a.choose("o")
	a.WaitFor("pick one, or type namespace/name", screenTimeout)
	a.Type("waits-here")
	a.WaitFor("to-ns/waits-here", screenTimeout)
	a.Press("enter")
	screen := a.waitDiff()
	// The claim names another class. A reservation does not compare classes,
	// so that it binds in spite of that, which has to be said.
	a.want(screen, "class")
	a.Press("enter")
	a.finish()
	c.waitBound("to-ns", "waits-here", "reserve-other")
	a.leave()
	a.waitRow("Bound", "to-ns/waits-here")
	a.quit()
}

// TestReserveForAClaimToCome types the name of a claim that does not exist.
func TestReserveForAClaimToCome(t *testing.T) {
	c := inspect(t)
	class := c.class("reserve-typed")
	c.released("reserve-typed", "typed-ns", "former", class)

	a := open(t, controlplane.StorageAdmin)
	a.find("reserve-typed")
	a.waitRow("Released")
	a.choose("o")
	a.WaitFor("pick one, or type namespace/name", screenTimeout)
	a.Type("typed-ns/to-come")
	a.WaitFor("does not exist yet", screenTimeout)
	a.Press("enter")
	a.waitDiff()
	a.Press("enter")
	a.finish()
	a.leave()
	a.waitRow("Reserved", "typed-ns/to-come")
	pv := c.pvNow("reserve-typed")
	if ref := pv.Spec.ClaimRef; ref == nil || ref.Namespace != "typed-ns" || ref.Name != "to-come" || ref.UID != "" || ref.Kind != "PersistentVolumeClaim" {
		t.Errorf("claimRef is %+v, want typed-ns/to-come without a uid", ref)
	}
	c.claim("typed-ns", "to-come", class)
	c.waitBound("typed-ns", "to-come", "reserve-typed")
	a.waitRow("Bound")
	a.quit()
}

// TestReserveSetsRetainFirst: nothing is reserved under another policy than
// Retain, and the policy comes first.
func TestReserveSetsRetainFirst(t *testing.T) {
	c := inspect(t)
	class := c.class("retain-first")
	c.released("retain-first", "retain-ns", "former", class, deletePolicy)

	a := open(t, controlplane.StorageAdmin)
	a.find("retain-first")
	a.waitRow("Released", "Delete")
	a.choose("r")
	screen := a.waitDiff()
	a.want(screen, "+ persistentVolumeReclaimPolicy: Retain")
	if strings.Contains(screen, "- uid:") {
		t.Errorf("the first step already reserves:\n%s", screen)
	}
	a.Press("enter")
	a.WaitUntil("the second diff", screenTimeout, func(s string) bool {
		return strings.Contains(s, "- uid:") || strings.Contains(s, "-    uid:")
	})
	if pv := c.pvNow("retain-first"); pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain || pv.Spec.ClaimRef.UID == "" {
		t.Errorf("after the first step policy is %s and claimRef %+v", pv.Spec.PersistentVolumeReclaimPolicy, pv.Spec.ClaimRef)
	}
	a.waitDiff()
	a.Press("enter")
	a.finish()
	a.leave()
	a.waitRow("Reserved", "Retain")
	a.quit()
}

// TestUndo takes a reservation back: the volume is Released again, exactly as
// it was.
func TestUndo(t *testing.T) {
	c := inspect(t)
	class := c.class("undo")
	before := c.released("undo", "undo-ns", "former", class)

	a := open(t, controlplane.StorageAdmin)
	a.find("undo")
	a.waitRow("Released")
	a.choose("r")
	a.waitDiff()
	a.Press("enter")
	a.finish()
	a.Press("u")
	screen := a.waitDiff()
	a.want(screen, "+ uid: "+string(before.Spec.ClaimRef.UID))
	a.Press("enter")
	a.WaitFor("Undone.", settleTimeout)
	after := c.waitVolume("undo", "released again", isPhase(corev1.VolumeReleased))
	was, _ := json.Marshal(before.Spec)
	is, _ := json.Marshal(after.Spec)
	if string(was) != string(is) || fmt.Sprint(before.Annotations) != fmt.Sprint(after.Annotations) {
		t.Errorf("undo left\n%s %v\nwant\n%s %v", is, after.Annotations, was, before.Annotations)
	}
	a.leave()
	a.quit()
}

// TestBlocks sees each block on the screen and the volume untouched.
func TestBlocks(t *testing.T) {
	c := inspect(t)
	class := c.class("blocks")
	c.namespace("blocks-ns")

	c.volume("blocks-bound", class)
	c.claim("blocks-ns", "bound", class)
	c.waitBound("blocks-ns", "bound", "blocks-bound")

	c.released("blocks-released", "blocks-ns", "former", class)

	// Bound and being deleted: held by pv-protection.
	c.volume("blocks-terminating", class)
	c.claim("blocks-ns", "holds", class)
	c.waitBound("blocks-ns", "holds", "blocks-terminating")
	if err := c.CoreV1().PersistentVolumes().Delete(t.Context(), "blocks-terminating", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}

	for _, tc := range []struct {
		name, volume, row, key string
		// said is the reason, or its beginning.
		said string
	}{
		{"unreserve a bound volume", "blocks-bound", "Bound", "u", "it is Bound to claim blocks-ns/bound; to open the volume could give its data to another claim"},
		{"reserve for the claim that holds it", "blocks-bound", "Bound", "r", "it is Bound to claim blocks-ns/bound; to reserve the volume would turn that claim Lost"},
		{"reserve a volume that is being deleted", "blocks-terminating", "Terminating", "r", "it is being deleted, which can't be taken back"},
		{"open a volume that is being deleted", "blocks-terminating", "Terminating", "u", "it is being deleted, which can't be taken back"},
		{"let a released volume be deleted", "blocks-released", "Released", "d", "to set Delete now could destroy the data: the volume is Released, not Bound"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := c.pvNow(tc.volume).ResourceVersion
			a := open(t, controlplane.StorageAdmin)
			a.find(tc.volume)
			a.waitRow(tc.row)
			a.choose(tc.key)
			// The chosen entry tells its whole reason below the list, and enter
			// leads nowhere.
			a.waitSentence(tc.said)
			a.Press("enter")
			if screen := a.waitSentence(tc.said); !contains(screen, "Actions on "+tc.volume) {
				t.Errorf("a blocked action was opened:\n%s", screen)
			}
			a.Press("esc")
			a.WaitGone("Actions on", screenTimeout)
			a.quit()
			if after := c.pvNow(tc.volume).ResourceVersion; after != before {
				t.Errorf("the volume was written: %s, was %s", after, before)
			}
		})
	}

	t.Run("reserve for a claim that is bound elsewhere", func(t *testing.T) {
		before := c.pvNow("blocks-released").ResourceVersion
		a := open(t, controlplane.StorageAdmin)
		a.find("blocks-released")
		a.waitRow("Released")
		a.choose("o")
		a.WaitFor("pick one, or type namespace/name", screenTimeout)
		a.Type("blocks-ns/bound")
		a.WaitFor("is bound to volume", screenTimeout)
		a.Press("enter")
		a.WaitFor("is bound to volume", screenTimeout)
		a.Press("esc")
		a.WaitGone("enter choose", screenTimeout)
		a.quit()
		if after := c.pvNow("blocks-released").ResourceVersion; after != before {
			t.Errorf("the volume was written: %s, was %s", after, before)
		}
	})
}

// TestConflict changes the volume while its diff is on the screen. What was
// approved is not what is there any more, so nothing is written, and the new
// difference is shown.
func TestConflict(t *testing.T) {
	c := inspect(t)
	class := c.class("conflict")
	c.released("conflict", "conflict-ns", "former", class)

	a := open(t, controlplane.StorageAdmin)
	a.find("conflict")
	a.waitRow("Released")
	a.choose("r")
	a.waitDiff()
	patch := []byte(`{"metadata":{"labels":{"touched":"by-somebody-else"}}}`)
	touched, err := c.CoreV1().PersistentVolumes().Patch(t.Context(), "conflict", types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a.Press("enter")
	screen := a.waitSentence("The volume changed while you looked. This step was not written")
	step(t, "conflict", screen)
	if now := c.pvNow("conflict"); now.ResourceVersion != touched.ResourceVersion {
		t.Errorf("the volume was written in spite of the conflict: %s, want %s", now.ResourceVersion, touched.ResourceVersion)
	}
	a.waitDiff()
	a.Press("enter")
	a.finish()
	pv := c.pvNow("conflict")
	if pv.Labels["touched"] != "by-somebody-else" || pv.Spec.ClaimRef.UID != "" {
		t.Errorf("labels are %v and claimRef %+v: want the other's label kept and the uid gone", pv.Labels, pv.Spec.ClaimRef)
	}
	a.leave()
	a.quit()
}

// TestModes walks the same action with --dry-run and finds it closed with
// --read-only. Neither writes anything.
func TestModes(t *testing.T) {
	c := inspect(t)
	class := c.class("modes")
	before := c.released("modes", "modes-ns", "former", class, deletePolicy)

	t.Run("dry run", func(t *testing.T) {
		a := open(t, controlplane.StorageAdmin, "--dry-run")
		a.find("modes")
		a.waitRow("Released")
		a.choose("r")
		screen := a.WaitFor("enter next", screenTimeout)
		a.want(screen, "+ persistentVolumeReclaimPolicy: Retain", "nothing will be written")
		a.Press("enter")
		screen = a.WaitUntil("the second step", screenTimeout, func(s string) bool {
			return strings.Contains(s, "enter next") && strings.Contains(flatten(s), "- uid:")
		})
		a.want(screen, "dry run by the server: ok")
		a.Press("enter")
		a.waitSentence("Walked to the end by dry runs; nothing was written.")
		a.leave()
		a.quit()
	})
	t.Run("read only", func(t *testing.T) {
		a := open(t, controlplane.StorageAdmin, "--read-only")
		a.find("modes")
		a.waitRow("Released")
		a.choose("r")
		screen := a.WaitFor("not now: started with --read-only", screenTimeout)
		a.want(screen, "read-only")
		a.Press("esc")
		a.WaitGone("Actions on", screenTimeout)
		a.quit()
	})
	if after := c.pvNow("modes"); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("the volume was written: %s, was %s", after.ResourceVersion, before.ResourceVersion)
	}
}

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMigrateDeployment leads a Deployment's claim to ReadWriteOncePod: the
// first steps one by one, the rest in one go.
func TestMigrateDeployment(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-full", corev1.PersistentVolumeReclaimDelete, webClaim, webDeployment)
	e.running()
	was := e.bound("data")

	backups := t.TempDir()
	a := operator(t, "--backup-dir="+backups)
	step(t, "the review", a.openMigration("wz-full"))
	before := e.versions(was)
	a.begin("data")
	step(t, "the first difference", a.seen())
	if now := e.versions(was); now != before {
		t.Errorf("something was written before the first step was approved: %s, was %s", now, before)
	}
	a.approve("")
	if got := e.pvNow(was.volume.Name).Spec.PersistentVolumeReclaimPolicy; got != corev1.PersistentVolumeReclaimRetain {
		t.Errorf("after the first step the policy is %s", got)
	}
	a.approve("")
	step(t, "before the claim is deleted", a.seen())
	a.run("data")
	step(t, "the end", a.waitSentence("Done, and seen to be done."))
	screen := a.WaitFor("This report is kept in", screenTimeout)
	a.want(screen, "Migrate to ReadWriteOncePod: wz-full/data", "Pods were stopped for")

	c := e.ended(was, "wz-full", "data", corev1.ReadWriteOncePod)
	if c.UID == was.claim.UID || c.Labels["app"] != "web" {
		t.Errorf("the claim is the old one, or lacks its labels: %s, %v", c.UID, c.Labels)
	}
	e.running()

	a.Press("Y")
	a.WaitFor("sent the report", screenTimeout)
	text := a.copied()
	for _, line := range []string{"# PersistentVolumeClaim wz-full/data", "  accessModes:", "  - ReadWriteOncePod", "  volumeName: " + was.volume.Name} {
		if !strings.Contains(text, line) {
			t.Errorf("what was copied lacks %q:\n%s", line, text)
		}
	}
	if kept := report(t, backups); kept != text {
		t.Errorf("the report that was kept is\n%s\nand the one that was copied\n%s", kept, text)
	}

	a.Press("esc")
	a.WaitFor("1 Volumes", screenTimeout)
	row := a.waitRow("RWOP", "Bound", "wz-full/data")
	if line := selected(row); strings.Contains(line, "▶") || strings.Contains(line, "RWO ") {
		t.Errorf("the table still marks the volume: %s", line)
	}
	// What was done is on the volume's timeline.
	a.Press("T")
	step(t, "the timeline", a.WaitUntil("the timeline", settleTimeout, func(s string) bool {
		return strings.Contains(s, "Delete claim wz-full/data") && strings.Contains(s, "claimref")
	}))
	a.Press("esc")
	a.WaitFor("1 Volumes", screenTimeout)
	a.quit()
}

// TestMigrateStatefulSet migrates all claims of a StatefulSet that deletes
// claims when it is scaled down.
func TestMigrateStatefulSet(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-set", corev1.PersistentVolumeReclaimDelete, dbSet)
	set := e.setRunning()
	var all []holding
	for i := range 3 {
		all = append(all, e.bound(fmt.Sprint("data-db-", i)))
	}

	a := operator(t)
	a.openMigration("wz-set")
	a.run("data-db-0")
	step(t, "the end", a.waitSentence("Done, and seen to be done."))
	for i, was := range all {
		if c := e.ended(was, "wz-set", fmt.Sprint("data-db-", i), corev1.ReadWriteOncePod); c.UID == was.claim.UID {
			t.Errorf("claim %s is the old one", c.Name)
		}
	}
	now := e.setRunning()
	if now.UID == set.UID {
		t.Error("the StatefulSet was not made anew")
	}
	if got := now.Spec.VolumeClaimTemplates[0].Spec.AccessModes; !slices.Equal(got, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
		t.Errorf("its template has modes %v", got)
	}
	if got, want := *now.Spec.PersistentVolumeClaimRetentionPolicy, *set.Spec.PersistentVolumeClaimRetentionPolicy; got != want {
		t.Errorf("its retention policy is %v, want %v as at first", got, want)
	}
	a.Press("esc")
	a.waitRow("RWOP", "Bound")
	a.quit()
}

// TestMoveAcrossNamespaces gives a claim's volume to a claim in another
// namespace.
func TestMoveAcrossNamespaces(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-move", corev1.PersistentVolumeReclaimDelete, webClaim)
	e.namespace("wz-move-to")
	was := e.bound("data")

	a := operator(t)
	a.find("wz-move")
	a.waitRow("Bound", "wz-move/data")
	a.choose("v")
	a.WaitFor("Move claim wz-move/data to", screenTimeout)
	for range "/data" {
		a.Press("backspace")
	}
	a.Type("-to/archive")
	a.WaitFor("wz-move-to/archive", screenTimeout)
	a.Press("enter")
	step(t, "the review", a.review())
	a.run("data")
	step(t, "the end", a.waitSentence("Done, and seen to be done."))
	e.ended(was, "wz-move-to", "archive", corev1.ReadWriteOnce)
	if _, err := e.CoreV1().PersistentVolumeClaims("wz-move").Get(t.Context(), "data", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the old claim is still there: %v", err)
	}
	a.Press("esc")
	a.waitRow("Bound", "wz-move-to/archive")
	a.quit()
}

// TestRecreateMissingClaim makes the claim again that a kept volume lacks.
func TestRecreateMissingClaim(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-again", corev1.PersistentVolumeReclaimRetain, webClaim)
	was := e.bound("data")
	e.deleteClaim("wz-again", "data")
	e.claimGone(was.claim)
	e.waitVolume(was.volume.Name, "released", isPhase(corev1.VolumeReleased))

	a := operator(t)
	a.find("wz-again")
	a.waitRow("Released", "wz-again/data")
	a.choose("n")
	step(t, "the review", a.review())
	a.run("data")
	a.waitSentence("Done, and seen to be done.")
	e.ended(was, "wz-again", "data", corev1.ReadWriteOnce)
	a.Press("esc")
	a.waitRow("Bound", "wz-again/data")
	a.quit()
}

// TestOperationWritesNothing walks as far as can be walked with --dry-run and
// with --read-only, also on an operation that is under way.
func TestOperationWritesNothing(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-none", corev1.PersistentVolumeReclaimDelete, webClaim, webDeployment)
	e.running()
	was := e.bound("data")
	before := e.versions(was)

	a := open(t, "admin", "--dry-run")
	a.find("wz-none")
	a.waitRow("Bound", "wz-none/data")
	a.choose("m")
	a.WaitFor("Full", screenTimeout)
	a.Press("f")
	a.WaitFor("enter review", settleTimeout)
	a.Press("enter")
	screen := a.waitSentence("Dry run only: nothing will be written.")
	a.want(screen, "dry run by the server: ok")
	a.Press("enter")
	a.waitSentence("started with --dry-run: nothing is written")
	a.Press("r")
	a.Press("esc")
	a.WaitFor("enter review", screenTimeout)
	a.Press("esc")
	a.WaitFor("1 Volumes", screenTimeout)
	a.quit()

	a = open(t, "admin", "--read-only")
	a.find("wz-none")
	a.waitRow("Bound", "wz-none/data")
	a.choose("m")
	a.waitSentence("not now: started with --read-only")
	a.Press("esc")
	a.WaitGone("Actions on", screenTimeout)
	if now := e.versions(was); now != before {
		t.Errorf("something was written: %s, was %s", now, before)
	}

	// Somebody else begins it, and is looked at.
	other := operator(t)
	other.openMigration("wz-none")
	other.begin("data")
	other.approve("")
	other.seen()
	before = e.versions(was)
	a.resume()
	a.waitSentence("has been at work on this since")
	for key, title := range map[string]string{"t": "take over", "u": "undo", "enter": "apply"} {
		a.Press(key)
		a.waitSentence(title + ": started with --read-only: nothing is written")
	}
	a.Press("esc")
	a.WaitFor("1 Volumes", screenTimeout)
	a.quit()
	if now := e.versions(was); now != before {
		t.Errorf("something was written: %s, was %s", now, before)
	}
	other.turn("data")
	other.run("data")
	other.waitSentence("Undone.")
	e.until("the volume is as at first", func(context.Context) (bool, error) {
		return e.pvNow(was.volume.Name).Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete, nil
	})
	if c := e.ended(was, "wz-none", "data", corev1.ReadWriteOnce); c.UID != was.claim.UID {
		t.Error("the claim is another one, although only the note was written")
	}
}

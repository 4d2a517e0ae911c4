package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// killed is how a shell calls the end of a program by SIGKILL.
const killed = 128 + int(syscall.SIGKILL)

// TestKilledOperation kills the program in the middle. Another one, on another
// machine, goes on with the operation or undoes it.
func TestKilledOperation(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ns string
		// waiting: it is killed while pods have to end, else right after the
		// claim's deletion.
		waiting, undo bool
	}{
		{"wz-k1", true, false},
		{"wz-k2", true, true},
		{"wz-k3", false, false},
		{"wz-k4", false, true},
	} {
		t.Run(tc.ns, func(t *testing.T) {
			t.Parallel()
			e := newEstate(t, tc.ns, corev1.PersistentVolumeReclaimDelete, webClaim, webDeployment)
			e.running()
			was := e.bound("data")
			if tc.waiting {
				e.stick()
			}

			backups := t.TempDir()
			ann := operator(t, "--backup-dir="+backups)
			ann.openMigration(tc.ns)
			ann.run("data")
			if tc.waiting {
				ann.waitSentence("Waiting for 0:0")
				ann.WaitFor("Terminating", screenTimeout)
			} else {
				e.claimGone(was.claim)
			}
			ann.Signal(syscall.SIGKILL)
			if code := ann.WaitExit(screenTimeout); code != killed {
				t.Fatalf("exit code %d, want %d", code, killed)
			}
			if kept, _ := filepath.Glob(filepath.Join(backups, "*", "journal.json")); len(kept) != 1 {
				t.Errorf("there are the journals %v, want one", kept)
			}
			if tc.waiting {
				e.unstick()
			}
			if got := e.pvNow(was.volume.Name).Spec.PersistentVolumeReclaimPolicy; got != corev1.PersistentVolumeReclaimRetain {
				t.Errorf("in the middle of it the policy is %s", got)
			}

			bob := operator(t)
			bob.find(tc.ns)
			bob.rejoin("data")
			mode, said := corev1.ReadWriteOncePod, "Done, and seen to be done."
			if tc.undo {
				bob.turn("data")
				mode, said = corev1.ReadWriteOnce, "Undone."
			}
			bob.run("data")
			step(t, "the end", bob.waitSentence(said))
			c := e.ended(was, tc.ns, "data", mode)
			if same := c.UID == was.claim.UID; same != (tc.waiting && tc.undo) {
				t.Errorf("the claim is the first one: %t", same)
			}
			e.running()
			bob.Press("esc")
			bob.waitRow("Bound", tc.ns+"/data")
			bob.quit()
		})
	}
}

// TestTwoOperators: the second sees who is at work, and takes over; the first
// writes nothing more, and is told why.
func TestTwoOperators(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-two", corev1.PersistentVolumeReclaimDelete, webClaim, webDeployment)
	e.running()
	was := e.bound("data")

	ann := operator(t)
	ann.openMigration("wz-two")
	ann.begin("data")
	ann.approve("")
	ann.approve("")
	ann.seen()

	bob := operator(t)
	bob.find("wz-two")
	bob.rejoin("data")
	before := e.versions(was)

	// The deletion was on her screen all the time.
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	ann.Press("enter")
	ann.typeWord("Type data to go on", "data")
	screen := ann.waitSentence("has been at work on this since")
	ann.want(screen, "on "+host+" has been at work", "Halted:")
	step(t, "what the first is told", screen)
	if now := e.versions(was); now != before {
		t.Errorf("the first still wrote something: %s, was %s", now, before)
	}
	if c, err := e.CoreV1().PersistentVolumeClaims("wz-two").Get(t.Context(), "data", metav1.GetOptions{}); err != nil || c.UID != was.claim.UID || c.DeletionTimestamp != nil {
		t.Errorf("the claim was deleted: %v, %+v", err, c)
	}

	bob.run("data")
	bob.waitSentence("Done, and seen to be done.")
	e.ended(was, "wz-two", "data", corev1.ReadWriteOncePod)
	e.running()
	ann.Press("r")
	ann.waitSentence("Done, and seen to be done.")
}

// TestLeaveAndRejoin leaves the page while pods have to end, and opens it
// again.
func TestLeaveAndRejoin(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "wz-leave", corev1.PersistentVolumeReclaimDelete, webClaim, webDeployment)
	e.running()
	was := e.bound("data")
	e.stick()

	a := operator(t)
	a.openMigration("wz-leave")
	a.run("data")
	screen := a.waitSentence("Waiting for 0:0")
	a.want(screen, "Leaving stops the run here")
	a.Press("esc")
	a.want(a.WaitFor("Stop the run?", screenTimeout), "y Stop it here, and leave")
	a.Press("y")
	a.waitSentence("The operation stays where it is")
	a.WaitFor("1 Volumes", screenTimeout)
	e.unstick()
	// Nothing goes on while nobody looks.
	e.settled("wz-leave")
	if c, err := e.CoreV1().PersistentVolumeClaims("wz-leave").Get(t.Context(), "data", metav1.GetOptions{}); err != nil || c.UID != was.claim.UID || c.DeletionTimestamp != nil {
		t.Errorf("it went on by itself: %v, %+v", err, c)
	}
	a.resume()
	// The pods have ended meanwhile: what is left is looked at anew.
	a.want(a.WaitFor("was rehearsed anew", settleTimeout), "Volumes › Migrate to ReadWriteOncePod", "enter go on")
	a.run("data")
	a.waitSentence("Done, and seen to be done.")
	e.ended(was, "wz-leave", "data", corev1.ReadWriteOncePod)
	e.running()
	a.Press("esc")
	a.waitRow("RWOP", "Bound", "wz-leave/data")
	a.quit()
}

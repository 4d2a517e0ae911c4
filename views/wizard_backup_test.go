package views

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/actions/migration"
)

// TestLabResumeFromBackup: somebody has taken the note off the volume after the
// claim was deleted. The backup has it, too, and from there the operation goes
// on, or is undone.
func TestLabResumeFromBackup(t *testing.T) {
	for name, undo := range map[string]bool{"on": false, "back": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			ann := l.open("ann on laptop-7")
			ann.openMigration("web-data")
			volume := ann.claim("web-data").Spec.VolumeName
			ann.press("enter")
			ann.typeText("web-data")
			ann.press("enter")
			ann.walkTo("ready/")
			l.stripNote(volume)

			bob := l.open("ann on desk-1")
			bob.cluster.backups = ann.cluster.backups
			bob.app.cluster = bob.cluster
			bob.until("the volume is seen", func() bool { return bob.app.volumeNamed(volume) != nil })
			bob.wantOff("R opens what is unfinished")
			bob.press("R")
			bob.wantOn("Unfinished operations, and backups", "Migrate to ReadWriteOncePod of shop/web-data")
			bob.press("enter")
			bob.wantOn("No note of it is on its volume", "Step 1 notes it again")
			bob.press("enter")
			bob.typeText("web-data")
			bob.press("enter")
			for _, id := range bob.walkTo("ready/") {
				if !strings.HasPrefix(id, "note/") {
					t.Fatalf("%s comes before the volume is made ready: what was done before is not seen", id)
				}
			}
			said := "Done, and seen to be done."
			if undo {
				bob.insist("u", "web-data", func() bool { return bob.walk.run.Direction == migration.Back })
				bob.wantOn("being undone", "enter go on")
				said = "Undone."
			}
			bob.finish("web-data")
			bob.wantOn(said)
			if !strings.Contains(bob.walk.report, "Pods were stopped for more than ") {
				t.Errorf("the report does not say that the pods were stopped before:\n%s", bob.walk.report)
			}
			bob.until("the claim is bound", func() bool {
				c := bob.app.claimNamed("shop", "web-data")
				return c != nil && c.Object.Status.Phase == corev1.ClaimBound
			})
			c := bob.claim("web-data")
			if c.Spec.VolumeName != volume || single(c) == undo {
				t.Errorf("the claim has volume %s, %v", c.Spec.VolumeName, c.Spec.AccessModes)
			}
		})
	}
}

// stripNote takes everything off a volume that says that an operation is under
// way.
func (l *lab) stripNote(volume string) {
	l.t.Helper()
	config, err := l.demo.ClientConfig().ClientConfig()
	if err != nil {
		l.t.Fatal(err)
	}
	patch := `{"metadata":{"annotations":{` +
		`"` + migration.AnnotationJournal + `":null,"` + migration.AnnotationPlan + `":null,` +
		`"` + migration.AnnotationHolder + `":null,"` + migration.AnnotationDirection + `":null}}}`
	api := kubernetes.NewForConfigOrDie(config)
	if _, err := api.CoreV1().PersistentVolumes().Patch(l.t.Context(), volume, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		l.t.Fatal(err)
	}
}

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
			for ann.app.claimNamed("shop", "web-data") != nil {
				ann.until("a diff", ann.atStage(atDiff))
				word := ""
				if destroys(ann.walk.fresh.Step) {
					word = "web-data"
				}
				ann.approve(word)
				ann.until("the next diff", ann.atStage(atDiff))
			}
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
			bob.until("the note's diff", bob.atStage(atDiff))
			bob.approve("")
			bob.until("the step that comes next", bob.atStage(atDiff))
			if id := bob.walk.fresh.Step.ID; !strings.HasPrefix(id, "ready/") {
				t.Fatalf("after the note comes %s: what was done before is not seen", id)
			}
			said := "Done, and seen to be done."
			if undo {
				bob.press("u")
				bob.press("tab")
				bob.approve("web-data")
				bob.wantOn("being undone", "enter go on")
				said = "Undone."
			}
			bob.runRest()
			bob.typeText("web-data")
			bob.press("enter")
			bob.until("the end, or a stop", bob.atStage(atEnd, atDiff, atHalt, atError))
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

package views

import (
	"errors"
	"strings"
	"testing"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

func TestWizardBrokenJournal(t *testing.T) {
	r := webRig(t)
	broken := noted(t, r.cluster.op.journal, "ann", "x")
	objects := webShop(broken)
	for _, v := range objects.Volumes {
		if v.Name == webVolume {
			v.Annotations[migration.AnnotationJournal] = "{"
		}
	}
	r.see(objects)
	r.wantOn("R looks for a backup: the note of an unfinished operation can't be used", "An unfinished operation is noted on it, which can't be used")
	r.press("R")
	r.wantOn("Unfinished operations, and backups", "the operation noted on volume")
	r.press("esc")
	r.cluster.backups = []kube.Backup{{Path: "/backups/op-1", Journal: r.cluster.op.journal}, {Path: "/backups/bad", Err: errors.New("no journal")}}
	r.press("R")
	r.typeText("from the backup")
	r.press("enter")
	r.wantOn("13 steps", "enter start")
	if len(r.cluster.resumed) != 1 || r.cluster.resumed[0].Journal == nil {
		t.Errorf("resumed %+v", r.cluster.resumed)
	}
}

// TestWizardMember: a volume that only points to its lead leads there.
func TestWizardMember(t *testing.T) {
	r := webRig(t)
	objects := webShop(noted(t, r.cluster.op.journal, "ann", "x"))
	for _, v := range objects.Volumes {
		if v.Name == "nfs-archive" {
			v.Annotations = map[string]string{migration.AnnotationPlan: "op-1 " + webVolume}
		}
	}
	r.see(objects)
	r.press("esc", "/")
	r.typeText("nfs-archive")
	r.press("enter")
	r.wantOn("Part of an unfinished operation, noted on volume " + webVolume)
	r.press("R")
	if len(r.cluster.resumed) != 1 || r.cluster.resumed[0].Lead != webVolume {
		t.Errorf("resumed %+v", r.cluster.resumed)
	}
}

func TestWizardNoOperations(t *testing.T) {
	r := webRig(t)
	r.press("R")
	r.wantOn("No operation is unfinished, and there are no backups of any.")
}

// TestReadOnlyResume: nothing is claimed that was not done.
func TestReadOnlyResume(t *testing.T) {
	r := webRig(t, func(o *Options) { o.ReadOnly = true })
	op := r.cluster.op
	op.holder, op.done = op.run.Holder, 3
	r.see(webShop(noted(t, op.journal, "bob on desk-1", "mine")))
	r.press("R")
	r.wantOn("Read-only: nothing will be written, and nothing was rehearsed.")
	r.wantOff("What is left was rehearsed", "enter goes on")
}

// TestBackupsAreListedOnce: however often the key is pressed before the answer
// comes, one list is opened.
func TestBackupsAreListedOnce(t *testing.T) {
	r := webRig(t)
	r.cluster.backups = []kube.Backup{{Path: "/backups/bad", Err: errors.New("no journal")}}
	first, second := r.app.readBackups(), r.app.readBackups()
	r.send(first(), second())
	r.wantOn("Unfinished operations, and backups")
	r.press("esc")
	r.wantOff("Unfinished operations, and backups")
	r.press("R")
	r.wantOn("Unfinished operations, and backups")
}

// TestBackupsAreShownWhereNothingIsWritten: they can be looked at, and the reason
// is said why one can't be gone on with.
func TestBackupsAreShownWhereNothingIsWritten(t *testing.T) {
	for flag, edit := range map[string]func(*Options){
		"--read-only": func(o *Options) { o.ReadOnly = true },
		"--dry-run":   func(o *Options) { o.DryRun = true },
	} {
		r := webRig(t, edit)
		r.resize(200, 45)
		r.cluster.backups = []kube.Backup{{Path: "/backups/op-1", Journal: r.cluster.op.journal}}
		r.press("R")
		r.wantOn("Unfinished operations, and backups", "Migrate to ReadWriteOncePod of shop/web-data")
		if shown := strings.Join(strings.Fields(r.dialog()), " "); !strings.Contains(shown, "started with "+flag+": nothing is written, and so it can't be resumed from the backup in /backups/op-1") {
			t.Errorf("no reason\n%s", r.screen())
		}
		r.press("enter")
		if len(r.cluster.resumed) != 0 {
			t.Errorf("resumed with %s", flag)
		}
	}
}

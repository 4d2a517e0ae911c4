package main

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

func TestSignature(t *testing.T) {
	ann := func() (*user.User, error) { return &user.User{Username: "ann"}, nil }
	laptop := func() (string, error) { return "laptop-7", nil }
	nobody := func() (*user.User, error) { return nil, errors.New("no such user") }
	nowhere := func() (string, error) { return "", errors.New("no name") }
	for want, got := range map[string]string{
		"ann on laptop-7": signature(ann, laptop), "somebody on laptop-7": signature(nobody, laptop),
		"ann": signature(ann, nowhere), "somebody": signature(nobody, nowhere),
	} {
		if got != want {
			t.Errorf("signs as %q, want %q", got, want)
		}
	}
}

// TestNoBackupNoOperation: where no backup can be kept, an operation is not
// begun, and the check says what to do.
func TestNoBackupNoOperation(t *testing.T) {
	b, snap := openDemo(t, flags{demo: "single-pod"})
	v := snap.Volume(snap.Claim("shop", "archive").Object.Spec.VolumeName)
	req := migration.Request{Verb: migration.SinglePod, Volume: actions.Ref{Kind: actions.VolumeKind, Name: v.Object.Name, UID: v.Object.UID}}
	blocked := func() bool {
		t.Helper()
		plan, err := b.PlanOperation(t.Context(), req, snap)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range plan.Checks {
			if c.ID == "backup" && c.Severity == actions.Block && c.Remedy != "" {
				return true
			}
		}
		return false
	}
	if blocked() {
		t.Error("it is forbidden though a backup can be kept")
	}
	b.backups, b.noBackups = kube.OpenBackups(filepath.Join("/dev/null", "backups"))
	if b.noBackups == nil || !blocked() {
		t.Errorf("it is not forbidden though no backup can be kept (%v)", b.noBackups)
	}
}

// TestBackupsWhereNothingIsWritten: what was kept before is shown, and no folder
// is made for it.
func TestBackupsWhereNothingIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backups")
	for name, f := range map[string]flags{"read-only": {readOnly: true}, "dry-run": {dryRun: true}} {
		f.backupDir = dir
		b := newBackend(nil, nil, f, os.Getenv)
		list, err := b.Backups(t.Context())
		if _, gone := os.Stat(dir); err != nil || len(list) != 0 || !errors.Is(gone, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v; the folder: %v", name, list, err, gone)
		}
		if records, err := b.History(t.Context(), actions.Ref{}); err != nil || len(records) != 0 {
			t.Errorf("%s: history %v, %v", name, records, err)
		}
	}
	kept, err := kube.OpenBackups(dir)
	if err != nil {
		t.Fatal(err)
	}
	journal := migration.Journal{
		ID: "op-1", Request: migration.Request{Verb: migration.SinglePod},
		Volumes: []migration.Volume{{Ref: actions.Ref{Kind: actions.VolumeKind, Name: "v", UID: "u"}}},
	}
	folder, err := kept.Save(journal, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Record(folder, kube.Record{Step: "note/v", Target: "volume v"}); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]flags{"read-only": {readOnly: true}, "dry-run": {dryRun: true}} {
		f.backupDir = dir
		b := newBackend(nil, nil, f, os.Getenv)
		if list, err := b.Backups(t.Context()); err != nil || len(list) != 1 || list[0].Path != folder {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}

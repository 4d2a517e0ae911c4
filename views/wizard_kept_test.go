package views

import (
	"testing"
	"time"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// TestKeptReport: an operation that has come to its end is listed as that, and
// opens its report; only from there it can be looked at once more.
func TestKeptReport(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*reportInput)
		ends string
	}{
		"done":     {nil, "Done at 12:00 UTC"},
		"undone":   {func(in *reportInput) { in.direction = migration.Back }, "Undone at 12:00 UTC"},
		"days ago": {func(in *reportInput) { in.ended = noon().Add(-48 * time.Hour) }, "Done on 2026-02-27 at 12:00 UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			r := webRig(t)
			r.resize(160, 45)
			r.cluster.backups = []kube.Backup{{Path: "/backups/op-1", Journal: r.cluster.op.journal}}
			r.cluster.reports = map[string]string{"/backups/op-1": webReport(t, tc.edit)}
			r.press("R")
			r.wantOn(tc.ends+": Migrate to ReadWriteOncePod", "by bob on desk-1; its report, kept in /backups/op-1")
			r.wantOff("begun 2m ago")
			r.press("enter")
			r.wantOn("› Report", "This operation has come to its end", "Finished 2026-0")
			if len(r.cluster.resumed) != 0 {
				t.Fatal("it was resumed")
			}
			r.press("r")
			if len(r.cluster.resumed) != 1 || r.cluster.resumed[0].ID != "op-1" {
				t.Errorf("resumed %+v", r.cluster.resumed)
			}
		})
	}
}

// TestKeptReportReadOnly: a report is read where nothing may be written.
func TestKeptReportReadOnly(t *testing.T) {
	r := webRig(t, func(o *Options) { o.ReadOnly = true })
	r.cluster.backups = []kube.Backup{{Path: "/backups/op-1", Journal: r.cluster.op.journal}}
	r.cluster.reports = map[string]string{"/backups/op-1": webReport(t, nil)}
	r.press("R", "enter")
	r.wantOn("This operation has come to its end")
	r.press("r")
	r.wantOn("started with --read-only")
	if len(r.cluster.resumed) != 0 {
		t.Error("it was resumed")
	}
}

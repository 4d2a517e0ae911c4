package kube

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// TestHistoryOf: an object has what was done to it, and to workloads for its
// sake, of all operations that were about it.
func TestHistoryOf(t *testing.T) {
	b := openBackups(t)
	record := func(folder string, day int, target, title string) {
		t.Helper()
		if err := b.Record(folder, Record{Time: march(day), Step: "s", Title: title, Target: target, Outcome: "applied"}); err != nil {
			t.Fatal(err)
		}
	}
	save := func(j migration.Journal) string {
		t.Helper()
		folder, err := b.Save(j, nil)
		if err != nil {
			t.Fatal(err)
		}
		return folder
	}
	// A StatefulSet's two claims, and later the first one's move.
	set := aJournal("set", "pv-0", march(2))
	second := aJournal("x", "pv-1", march(2)).Volumes[0]
	second.Ref.UID, second.From.Name, second.To.Name = "u1", "data-1", "data-1"
	set.Volumes = append(set.Volumes, second)
	folder := save(set)
	record(folder, 2, "volume pv-0", "note")
	record(folder, 3, "StatefulSet exam/db", "stop")
	record(folder, 4, "volume pv-1", "ready")
	record(folder, 5, "claim exam/data-1", "create")
	move := aJournal("move", "pv-0", march(6))
	move.Request = migration.Request{Verb: migration.MoveClaim, To: actions.ClaimKey{Namespace: "other", Name: "moved"}}
	move.Volumes[0].To = move.Volumes[0].From.DeepCopy()
	move.Volumes[0].To.Namespace, move.Volumes[0].To.Name = "other", "moved"
	folder = save(move)
	record(folder, 6, "claim other/moved", "move")
	// A volume of the same name, which is gone.
	former := aJournal("former", "pv-0", march(1))
	former.Volumes[0].Ref.UID, former.Volumes[0].From.Name, former.Volumes[0].To.Name = "former", "gone", "gone"
	record(save(former), 1, "volume pv-0", "former")
	// What was not finished has written nothing.
	if err := os.Mkdir(filepath.Join(b.Dir(), "20260301T000000Z-single-pod-pv-0-cut"), 0o700); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		ref  actions.Ref
		want string
	}{
		{actions.Ref{Kind: actions.VolumeKind, Name: "pv-0", UID: "u"}, "note stop move"},
		{actions.Ref{Kind: actions.VolumeKind, Name: "pv-0"}, "former note stop move"},
		{actions.Ref{Kind: actions.VolumeKind, Name: "pv-1", UID: "u1"}, "stop ready create"},
		{actions.Ref{Kind: actions.ClaimKind, Namespace: "exam", Name: "data-1", UID: "its second"}, "stop ready create"},
		{actions.Ref{Kind: actions.ClaimKind, Namespace: "other", Name: "moved"}, "move"},
		{actions.Ref{Kind: actions.VolumeKind, Name: "pv-2", UID: "u2"}, ""},
	} {
		records, err := b.HistoryOf(tt.ref)
		if err != nil {
			t.Errorf("%s: %v", nameOf(tt.ref), err)
		}
		var titles []string
		for _, r := range records {
			titles = append(titles, r.Title)
		}
		if got := strings.Join(titles, " "); got != tt.want {
			t.Errorf("%s has the history %q, want %q", nameOf(tt.ref), got, tt.want)
		}
	}
}

// TestHistoryOfWhatCanBeRead: a folder that can't be read takes nothing from
// the others, and is told of.
func TestHistoryOfWhatCanBeRead(t *testing.T) {
	b := openBackups(t)
	folder, err := b.Save(aJournal("good", "pv-0", march(2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Record(folder, Record{Time: march(2), Step: "s", Title: "note", Target: "volume pv-0"}); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(b.Dir(), "bad")
	if err := os.Mkdir(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bad, journalFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := b.HistoryOf(actions.Ref{Kind: actions.VolumeKind, Name: "pv-0"})
	if len(records) != 1 || err == nil || !strings.Contains(err.Error(), bad) {
		t.Errorf("%+v, %v", records, err)
	}
}

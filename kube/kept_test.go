package kube

import "testing"

// TestReadReport: a report is read as it was written, and one that is not there
// is none.
func TestReadReport(t *testing.T) {
	b := openBackups(t)
	folder, err := b.Save(aJournal("op", "pv-0", march(2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := b.ReadReport(folder); text != "" || err != nil {
		t.Errorf("before the end: %q, %v", text, err)
	}
	const want = "Migrate\n\nFinished  2026-03-02 12:00:00 UTC\n"
	if err := b.Report(folder, want); err != nil {
		t.Fatal(err)
	}
	if text, err := b.ReadReport(folder); text != want || err != nil {
		t.Errorf("at the end: %q, %v", text, err)
	}
}

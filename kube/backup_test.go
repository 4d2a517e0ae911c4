package kube

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

func TestBackupDir(t *testing.T) {
	home := func() (string, error) { return "/home/ann", nil }
	for _, tt := range []struct{ state, want string }{
		{"/state", "/state/claimref/backups"},
		{"", "/home/ann/.local/state/claimref/backups"},
		{"relative", "/home/ann/.local/state/claimref/backups"},
	} {
		got, err := BackupDir(func(name string) string {
			if name == "XDG_STATE_HOME" {
				return tt.state
			}
			return ""
		}, home)
		if err != nil || got != filepath.FromSlash(tt.want) {
			t.Errorf("%q: %s, %v", tt.state, got, err)
		}
	}
	lost := errors.New("no home")
	_, err := BackupDir(func(string) string { return "" }, func() (string, error) { return "", lost })
	if !errors.Is(err, lost) || !strings.Contains(err.Error(), "--backup-dir") {
		t.Errorf("error = %v", err)
	}
}

// aJournal is a journal that could be carried out, by its looks.
func aJournal(id, volume string, started time.Time) migration.Journal {
	pvc := newClaim("exam", "data", boundTo(volume))
	to := pvc.DeepCopy()
	to.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	return migration.Journal{
		Version: 1, ID: id, Started: started, Request: migration.Request{Verb: migration.SinglePod},
		Volumes: []migration.Volume{{
			Ref: actions.Ref{Kind: actions.VolumeKind, Name: volume, UID: "u"}, Policy: corev1.PersistentVolumeReclaimDelete,
			Modes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, From: pvc, FromUID: pvc.UID, To: to,
		}},
	}
}

func march(day int) time.Time {
	return time.Date(2026, 3, day, 12, 30, 0, 0, time.FixedZone("east", 3600))
}

func openBackups(t *testing.T) *Backups {
	t.Helper()
	b, err := OpenBackups(filepath.Join(t.TempDir(), "state", "backups"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBackupIsPrivateAndComplete(t *testing.T) {
	b := openBackups(t)
	j := aJournal("0a0b0c0d", "pv-1", march(2))
	folder, err := b.Save(j, []Original{{Kind: "PersistentVolumeClaim", Namespace: "exam", Name: "data", YAML: "a: b\n"}, {Kind: "PersistentVolume", Name: "pv-1", YAML: "c: d\n"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Record(folder, Record{Step: "x"}), b.Report(folder, "done\n")); err != nil {
		t.Fatal(err)
	}
	if got := filepath.Base(folder); got != "20260302T113000Z-single-pod-pv-1-0a0b0c0d" {
		t.Errorf("folder %s", got)
	}
	var files []string
	err = filepath.WalkDir(b.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := privateFile
		if d.IsDir() {
			want = privateDir
		} else {
			files = append(files, d.Name())
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s: mode %v", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"history.jsonl", "journal.json", "persistentvolume_pv-1.yaml", "persistentvolumeclaim_exam_data.yaml", "report.txt"}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(filepath.Join(folder, "persistentvolumeclaim_exam_data.yaml"))
	if err != nil || string(text) != "a: b\n" {
		t.Errorf("%q, %v", text, err)
	}
	found, err := b.List()
	if err != nil || len(found) != 1 || found[0].Err != nil || found[0].Path != folder {
		t.Fatalf("%+v, %v", found, err)
	}
	read, err := found[0].Journal.Encode()
	wrote, err2 := j.Encode()
	if err := errors.Join(err, err2); err != nil || read != wrote {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(wrote, read))
	}
}

// Originals are written once: what is there later is not what was.
func TestBackupIsNotOverwritten(t *testing.T) {
	b := openBackups(t)
	j := aJournal("0a0b0c0d", "pv-1", march(2))
	folder, err := b.Save(j, []Original{{Kind: "PersistentVolume", Name: "pv-1", YAML: "first\n"}})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Save(j, []Original{{Kind: "PersistentVolume", Name: "pv-1", YAML: "second\n"}})
	if err != nil || again != folder {
		t.Fatalf("%s, %v", again, err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "persistentvolume_pv-1.yaml"))
	if err != nil || string(text) != "first\n" {
		t.Errorf("%q, %v", text, err)
	}
	// One that was not finished does not count.
	if err := os.Remove(filepath.Join(folder, journalFile)); err != nil {
		t.Fatal(err)
	}
	if found, err := b.List(); err != nil || found[0].Err == nil {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := b.Save(j, []Original{{Kind: "PersistentVolume", Name: "pv-1", YAML: "third\n"}}); err != nil {
		t.Fatal(err)
	}
	if text, err = os.ReadFile(filepath.Join(folder, "persistentvolume_pv-1.yaml")); err != nil || string(text) != "third\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Names are data: they lead nowhere.
func TestHostileNames(t *testing.T) {
	b := openBackups(t)
	j := aJournal("../../x", "../../etc/\x1b[2Jpv", march(2))
	j.Request.Verb = "/a b"
	folder, err := b.Save(j, []Original{
		{Kind: "../Kind", Namespace: "..", Name: "../../../name", YAML: "a\n"},
		{Kind: "../Kind", Namespace: "..", Name: "../../../name", YAML: "b\n"},
		{Kind: "K", Name: strings.Repeat("long", 100), YAML: "c\n"},
		{Kind: "K", Name: "journal.json", YAML: "d\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(folder) != b.Dir() {
		t.Errorf("folder %s", folder)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 5 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, e := range entries {
		if strings.ContainsAny(e.Name(), "/\x1b ") || strings.HasPrefix(e.Name(), ".") {
			t.Errorf("file %q", e.Name())
		}
	}
	if top, err := os.ReadDir(b.Dir()); err != nil || len(top) != 1 {
		t.Errorf("%v, %v", top, err)
	}
}

// A folder that is broken does not hide the others.
func TestListOfBackups(t *testing.T) {
	b := openBackups(t)
	for day, id := range map[int]string{2: "bbbbbbbb", 5: "dddddddd", 3: "cccccccc"} {
		if _, err := b.Save(aJournal(id, "pv", march(day)), nil); err != nil {
			t.Fatal(err)
		}
	}
	broken := filepath.Join(b.Dir(), "20260304T000000Z-move-pv-eeeeeeee")
	if err := os.Mkdir(broken, privateDir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, journalFile), []byte(`{"version":1`), privateFile); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.Dir(), "note.txt"), nil, privateFile); err != nil {
		t.Fatal(err)
	}
	found, err := b.List()
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, f := range found {
		if (f.Err != nil) != (f.Path == broken) {
			t.Errorf("%s: %v", f.Path, f.Err)
		}
		order = append(order, f.Journal.ID)
	}
	if diff := cmp.Diff([]string{"dddddddd", "", "cccccccc", "bbbbbbbb"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestBackupErrorsSayWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, privateFile); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", filepath.Join(file, "below")} {
		_, err := OpenBackups(dir)
		if err == nil || !strings.Contains(err.Error(), "--backup-dir") || !strings.Contains(err.Error(), dir) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	b := openBackups(t)
	// What can't be read may still be all there is of the originals.
	j := aJournal("a", "pv", march(2))
	folder := filepath.Join(b.Dir(), folderName(j))
	if err := os.MkdirAll(folder, privateDir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, journalFile), []byte("{"), privateFile); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(j, nil); err == nil || !strings.Contains(err.Error(), "--backup-dir") || !strings.Contains(err.Error(), folder) {
		t.Errorf("a broken journal: %v", err)
	}
	// What can't be put in its place leaves nothing behind.
	if err := errors.Join(os.Remove(filepath.Join(folder, journalFile)), os.Mkdir(filepath.Join(folder, "k_n.yaml"), privateDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(j, []Original{{Kind: "K", Name: "n"}}); err == nil || !strings.Contains(err.Error(), folder) {
		t.Errorf("a folder in the place of a file: %v", err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	if err := os.RemoveAll(b.Dir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.Dir(), nil, privateFile); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(aJournal("a", "pv", march(2)), nil); err == nil || !strings.Contains(err.Error(), b.Dir()) {
		t.Errorf("save: %v", err)
	}
	if _, err := b.List(); err == nil {
		t.Error("a file was listed")
	}
}

// A machine that failed in the middle of a line spoils neither what was before
// nor what comes after.
func TestHistorySurvivesACutLine(t *testing.T) {
	b := openBackups(t)
	folder, err := b.Save(aJournal("a", "pv", march(2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if records, err := b.History(folder); err != nil || len(records) != 0 {
		t.Errorf("%v, %v", records, err)
	}
	first := Record{Time: march(2).UTC(), Step: "one", Title: "One", Target: "volume pv", Outcome: "applied", Changes: []string{"+a"}}
	if err := b.Record(folder, first); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, historyFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, `{"step":"cut`...), privateFile); err != nil {
		t.Fatal(err)
	}
	second := Record{Time: march(3).UTC(), Step: "two", Outcome: "applied"}
	if err := b.Record(folder, second); err != nil {
		t.Fatal(err)
	}
	records, err := b.History(folder)
	if diff := cmp.Diff([]Record{first, second}, records); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Originals are whole: with all that the server keeps its books in.
func TestOriginalsAreComplete(t *testing.T) {
	l := newLab(t, with(labDeployment))
	j := l.journalOf("data")
	scene, err := l.client.Survey(t.Context(), Subject{Journal: &j, Brief: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	originals, err := originalsOf(j, scene)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, o := range originals {
		kinds[o.Kind] = true
		var fields struct {
			APIVersion, Kind string
			Metadata         struct{ UID, ResourceVersion, CreationTimestamp string }
			Status           json.RawMessage
		}
		if err := yaml.Unmarshal([]byte(o.YAML), &fields); err != nil {
			t.Fatal(err)
		}
		if kind, again := strings.CutPrefix(o.Kind, againPrefix); again {
			// The server would refuse the original.
			if fields.Kind != kind || fields.APIVersion == "" || fields.Metadata.UID+fields.Metadata.ResourceVersion != "" || fields.Status != nil {
				t.Errorf("%s", o.YAML)
			}
			continue
		}
		if fields.Kind != o.Kind || fields.APIVersion == "" || fields.Metadata.UID == "" || fields.Metadata.ResourceVersion == "" ||
			fields.Metadata.CreationTimestamp == "" || fields.Status == nil {
			t.Errorf("%s", o.YAML)
		}
	}
	if len(originals) != 4 || !kinds["again-Deployment"] || !kinds["PersistentVolume"] || !kinds["PersistentVolumeClaim"] || !kinds["Deployment"] {
		t.Errorf("%v", kinds)
	}
}

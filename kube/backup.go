package kube

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claimref/claimref/actions/migration"
)

// The files of a backup, besides one for each object.
const (
	journalFile = "journal.json"
	reportFile  = "report.txt"
	historyFile = "history.jsonl"
	// foundFile is there if the journal was found on the volume by somebody who
	// resumed: then it says no more than the volume does.
	foundFile = "found-on-the-volume.txt"
)

// The rights of what is backed up: manifests may hold what others must not
// read.
const (
	privateDir  fs.FileMode = 0o700
	privateFile fs.FileMode = 0o600
)

// backupTime is how a folder's name tells when its operation began. It sorts.
const backupTime = "20060102T150405Z"

// Backups is a folder with one folder for each operation: its journal, the
// originals of all objects as they were read, and what was done.
type Backups struct {
	dir string
	mu  sync.Mutex
}

// BackupDir is where backups are kept if nobody says otherwise: in the state
// folder of the XDG base directory specification.
func BackupDir(getenv func(string) string, home func() (string, error)) (string, error) {
	state := getenv("XDG_STATE_HOME")
	// The specification wants what is not absolute to be ignored.
	if !filepath.IsAbs(state) {
		dir, err := home()
		if err != nil {
			return "", fmt.Errorf("find a folder for backups: %w; name one with --backup-dir", err)
		}
		state = filepath.Join(dir, ".local", "state")
	}
	return filepath.Join(state, "claimref", "backups"), nil
}

// OpenBackups makes the folder if need be, and makes sure that it can be
// written to.
func OpenBackups(dir string) (*Backups, error) {
	if dir == "" {
		return nil, errors.New("there is no folder for backups; name one with --backup-dir")
	}
	b := &Backups{dir: dir}
	if err := os.MkdirAll(dir, privateDir); err != nil {
		return nil, b.problem("make", dir, err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return nil, b.problem("write to", dir, err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return nil, b.problem("write to", dir, err)
	}
	return b, nil
}

// Dir is the folder.
func (b *Backups) Dir() string { return b.dir }

func (b *Backups) problem(act, path string, err error) error {
	return fmt.Errorf("%s the backup folder %s: %w; name another folder with --backup-dir", act, path, err)
}

// Backup is one operation in the backups.
type Backup struct {
	// Path is its folder.
	Path    string
	Journal migration.Journal
	// Err says what is wrong with the folder; then Journal may be empty.
	Err error
}

// Save writes the journal and the originals, which are complete, and returns
// the folder. They are on the disk then. An operation that has a folder already
// keeps it, and what is in it.
func (b *Backups) Save(j migration.Journal, originals []Original) (string, error) {
	return b.save(j, originals, false)
}

// foundText is what foundFile says.
const foundText = "The journal here was read from the volume when the operation was resumed. It is no proof of how it began.\n"

// save is Save. Found: the journal was found on the volume.
func (b *Backups) save(j migration.Journal, originals []Original, found bool) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	path := filepath.Join(b.dir, folderName(j))
	// The journal is written last. Where there is one, all the rest is there.
	switch kept, err := readJournal(path); {
	case err == nil && !sameJournal(kept, j):
		return "", fmt.Errorf("the journal on volume %s is not the one that was backed up in %s when the operation began: somebody changed it. "+
			"Compare them; to go on by the backup, take annotation %s off the volume and resume from the backup; to go on by the volume, move that folder away",
			clean(j.Lead()), path, migration.AnnotationJournal)
	case err == nil:
		return path, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w; move that folder away, or name another one with --backup-dir", err)
	}
	if err := os.MkdirAll(path, privateDir); err != nil {
		return "", b.problem("make", path, err)
	}
	names := make(map[string]bool)
	for _, o := range originals {
		name := fileName(o)
		for n := 2; names[name]; n++ {
			name = fmt.Sprintf("%s-%d.yaml", strings.TrimSuffix(fileName(o), ".yaml"), n)
		}
		names[name] = true
		if err := writeWhole(path, name, []byte(o.YAML)); err != nil {
			return "", b.problem("write to", path, err)
		}
	}
	if found {
		if err := writeWhole(path, foundFile, []byte(foundText)); err != nil {
			return "", b.problem("write to", path, err)
		}
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write the journal of operation %s: %w", clean(j.ID), err)
	}
	if err := writeWhole(path, journalFile, append(text, '\n')); err != nil {
		return "", b.problem("write to", path, err)
	}
	// The folders themselves have new entries.
	if err := errors.Join(syncDir(path), syncDir(b.dir)); err != nil {
		return "", b.problem("write to", path, err)
	}
	return path, nil
}

// vouches says that an operation was begun here with this journal.
func (b *Backups) vouches(j migration.Journal) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	path := filepath.Join(b.dir, folderName(j))
	kept, err := readJournal(path)
	if err != nil || !sameJournal(kept, j) {
		return false
	}
	_, err = os.Stat(filepath.Join(path, foundFile))
	return errors.Is(err, fs.ErrNotExist)
}

// sameJournal compares journals as they are written.
func sameJournal(a, b migration.Journal) bool {
	one, err := a.Encode()
	two, also := b.Encode()
	return err == nil && also == nil && one == two
}

// Report writes what an operation has come to, for people.
func (b *Backups) Report(path, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := errors.Join(writeWhole(path, reportFile, []byte(text)), syncDir(path)); err != nil {
		return b.problem("write to", path, err)
	}
	return nil
}

// List finds the operations, the newest first. A folder that can't be read is
// among them, with what is wrong with it.
func (b *Backups) List() ([]Backup, error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return nil, b.problem("read", b.dir, err)
	}
	var found []Backup
	for _, e := range entries {
		if e.IsDir() {
			path := filepath.Join(b.dir, e.Name())
			j, err := readJournal(path)
			found = append(found, Backup{Path: path, Journal: j, Err: err})
		}
	}
	slices.SortStableFunc(found, func(x, y Backup) int {
		return cmp.Or(cmp.Compare(started(y), started(x)), cmp.Compare(y.Path, x.Path))
	})
	return found, nil
}

// started is when an operation began, as the journal or at least the folder's
// name says it.
func started(b Backup) string {
	if b.Err == nil {
		return b.Journal.Started.UTC().Format(backupTime)
	}
	name, _, _ := strings.Cut(filepath.Base(b.Path), "-")
	return name
}

// maxJournalFile is far more than a journal may have.
const maxJournalFile = 8 * migration.MaxJournal

func readJournal(path string) (migration.Journal, error) {
	file := filepath.Join(path, journalFile)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return migration.Journal{}, fmt.Errorf("the backup %s was not finished: %w", path, fs.ErrNotExist)
	case err != nil:
		return migration.Journal{}, fmt.Errorf("read the backup %s: %w", path, err)
	case info.Size() > maxJournalFile:
		return migration.Journal{}, fmt.Errorf("read the backup %s: the journal is far too large to be one", path)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return migration.Journal{}, fmt.Errorf("read the backup %s: %w", path, err)
	}
	j, err := migration.Decode(string(text))
	if err != nil {
		return j, fmt.Errorf("read the backup %s: %w", path, err)
	}
	return j, nil
}

// Original is an object as it was read.
type Original struct {
	Kind, Namespace, Name string
	YAML                  string
}

// folderName is the name of an operation's folder.
func folderName(j migration.Journal) string {
	return strings.Join([]string{
		j.Started.UTC().Format(backupTime), safeName(string(j.Request.Verb)), safeName(j.Lead()), safeName(j.ID),
	}, "-")
}

func fileName(o Original) string {
	parts := []string{strings.ToLower(safeName(o.Kind))}
	if o.Namespace != "" {
		parts = append(parts, safeName(o.Namespace))
	}
	return strings.Join(append(parts, safeName(o.Name)), "_") + ".yaml"
}

// maxNamePart keeps the names of files within what file systems take.
const maxNamePart = 63

// safeName makes a part of a file's name. What the cluster says is data: a name
// may be made to lead out of the folder.
func safeName(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, s)
	s = strings.TrimLeft(s, ".")
	return cmp.Or(s[:min(len(s), maxNamePart)], "_")
}

// writeWhole puts a file in its place as a whole or not at all, even if the
// machine fails.
func writeWhole(dir, name string, content []byte) error {
	file, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Chmod(privateFile)
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// syncDir makes sure that what was put into a folder stays there. Not every
// file system can do that with a folder, which is no reason to give up.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Record is a line of the history: a step, and what became of it.
type Record struct {
	Time    time.Time `json:"time"`
	Step    string    `json:"step"`
	Title   string    `json:"title"`
	Target  string    `json:"target"`
	Outcome string    `json:"outcome"`
	Changes []string  `json:"changes,omitempty"`
}

// Record adds a line to the history of an operation, and sees it on the disk.
func (b *Backups) Record(path string, r Record) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the history in %s: %w", path, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	file, err := os.OpenFile(filepath.Join(path, historyFile), os.O_APPEND|os.O_CREATE|os.O_RDWR, privateFile)
	if err != nil {
		return b.problem("write to", path, err)
	}
	line = append(line, '\n')
	if cutOff(file) {
		line = append([]byte{'\n'}, line...)
	}
	_, err = file.Write(line)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return b.problem("write to", path, err)
	}
	return nil
}

// cutOff tells whether a file's last line has no end.
func cutOff(file *os.File) bool {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, size-1)
	return err == nil && last[0] != '\n'
}

// History reads what was done, the oldest first. A line that was cut off, as
// when the machine failed, is left out.
func (b *Backups) History(path string) ([]Record, error) {
	text, err := os.ReadFile(filepath.Join(path, historyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, b.problem("read", path, err)
	}
	var records []Record
	for line := range strings.Lines(string(text)) {
		var r Record
		if json.Unmarshal([]byte(line), &r) == nil && r.Step != "" {
			records = append(records, r)
		}
	}
	return records, nil
}

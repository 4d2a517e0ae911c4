package views

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// unfinishedOp is an operation that the snapshot shows under way.
type unfinishedOp struct {
	// id is empty where the note can't be read.
	id string
	// lead is the volume that carries the note, volumes are all that point to
	// it.
	lead    string
	volumes []string
	// found is nil where the lead is not there, or its note can't be read; then
	// problem says why.
	found   *migration.Found
	problem string
}

// unfinished are the operations that the snapshot shows under way, by their
// lead volumes. They are sought once for each snapshot.
func (s *session) unfinished() []unfinishedOp {
	if s.foundFor == s.snap {
		return s.found
	}
	s.foundFor, s.found = s.snap, nil
	for _, v := range s.snap.Volumes {
		if len(v.Object.Annotations) == 0 {
			continue
		}
		f, err := migration.Find(v.Object)
		if err == nil && f == nil {
			continue
		}
		s.note(v.Object.Name, f, err)
	}
	for i := range s.found {
		if op := &s.found[i]; op.found == nil && op.problem == "" {
			op.problem = "volume " + op.lead + ", which carries the note on it, is not there or lost the note"
		}
	}
	return s.found
}

// note adds what a volume says of an operation.
func (s *session) note(volume string, f *migration.Found, err error) {
	if err != nil {
		s.found = append(s.found, unfinishedOp{lead: volume, volumes: []string{volume}, problem: err.Error()})
		return
	}
	i := slices.IndexFunc(s.found, func(op unfinishedOp) bool { return op.id == f.ID && op.lead == f.Lead })
	if i < 0 {
		i = len(s.found)
		s.found = append(s.found, unfinishedOp{id: f.ID, lead: f.Lead})
	}
	op := &s.found[i]
	op.volumes = append(op.volumes, volume)
	if f.Journal != nil {
		op.found = f
	}
}

// operationOf is the operation that a volume is part of, nil for none.
func (s *session) operationOf(volume string) *unfinishedOp {
	for i, op := range s.unfinished() {
		if slices.Contains(op.volumes, volume) {
			return &s.found[i]
		}
	}
	return nil
}

// title says what an operation is, who began it and when.
func (op unfinishedOp) title(now time.Time) string {
	if op.found == nil {
		return "the operation noted on volume " + op.lead
	}
	j := op.found.Journal
	text := operationTitle(j.Request) + " of " + operationSubject(*j, 0)
	if op.found.Direction == migration.Back {
		text = "Undo of: " + text
	}
	if !j.Started.IsZero() {
		text += ", begun " + lasted(now.Sub(j.Started)) + " ago"
	}
	if j.By != "" {
		text += " by " + j.By
	}
	return text
}

// unfinishedBanner says that something was begun and not finished. On the page
// of an operation it need not be said.
func (s *session) unfinishedBanner() []ui.Span {
	ops := s.unfinished()
	if len(ops) == 0 || s.walking > 0 {
		return nil
	}
	key := ui.Span{Text: "R", Role: ui.Key}
	var stopped []ui.Span
	if text := s.stoppedBy(ops); text != "" {
		stopped = []ui.Span{{Text: text, Role: ui.Bad}, {Text: "   "}}
	}
	switch {
	case len(ops) > 1:
		return append(stopped, key, ui.Span{Text: " lists " + itoa(len(ops)) + " unfinished operations: " + ops[0].title(s.now) + "; …", Role: ui.Warn})
	case ops[0].found == nil:
		return []ui.Span{key, {Text: " looks for a backup: the note of an unfinished operation can't be used: " + ops[0].problem, Role: ui.Bad}}
	}
	return append(stopped, key, ui.Span{Text: " opens what is unfinished: " + ops[0].title(s.now), Role: ui.Warn})
}

// stoppedBy says for how long pods have been stopped by unfinished operations,
// where that was seen; empty while they run.
func (s *session) stoppedBy(ops []unfinishedOp) string {
	for _, op := range ops {
		if op.found == nil || !s.podsStopped(op.found.Journal) {
			continue
		}
		text := "PODS STOPPED"
		if p := s.walks[op.id]; p != nil {
			if d := p.clock.down(s.now); d != "" {
				text += " " + d
			}
		}
		return text
	}
	return ""
}

// podsStopped says that the tables show a workload of an operation without pods
// that had some.
func (s *session) podsStopped(j *migration.Journal) bool {
	return slices.ContainsFunc(j.Workloads, func(w migration.Workload) bool {
		load := s.snap.Workload(string(w.Ref.Kind), w.Ref.Namespace, w.Ref.Name)
		return w.Replicas > 0 && load != nil && load.Replicas != nil && *load.Replicas == 0
	})
}

// volumeNameCell is a volume's name, with a mark while an operation is under
// way on it.
func (s *session) volumeNameCell(v *kube.Volume) ui.Cell {
	name := ui.Span{Text: v.Object.Name}
	switch op := s.operationOf(v.Object.Name); {
	case op == nil:
		return ui.Cell{name}
	case op.found == nil:
		return ui.Cell{{Text: "! ", Role: ui.Bad}, name}
	}
	return ui.Cell{{Text: s.glyph("▶ ", "> "), Role: ui.Warn}, name}
}

// tellOperation says that an operation is under way on a volume.
func (s *session) tellOperation(t *story, v *kube.Volume) {
	op := s.operationOf(v.Object.Name)
	switch {
	case op == nil:
		return
	case op.found == nil:
		t.warn(ui.Bad, "An unfinished operation is noted on it, which can't be used: "+sentence(op.problem))
		t.hint("R", "looks for a backup.")
	case op.lead != v.Object.Name:
		t.warn(ui.Warn, "Part of an unfinished operation, noted on volume "+op.lead+": "+sentence(op.title(s.now)))
		t.hint("R", "opens it.")
	default:
		t.warn(ui.Warn, "Unfinished: "+sentence(op.title(s.now)))
		t.hint("R", "opens it.")
	}
}

// openResume opens the unfinished operation that a volume is part of, or the
// only one; else it lists them, with those that only a backup knows of.
func (s *session) openResume(volume string) tea.Cmd {
	ops := s.unfinished()
	op := s.operationOf(volume)
	if op == nil && len(ops) == 1 {
		op = &ops[0]
	}
	if op != nil && op.found != nil {
		return s.resume(*op.found)
	}
	return s.readBackups()
}

// resume opens the page of an operation that was found.
func (s *session) resume(found migration.Found) tea.Cmd {
	return s.openOperation(found.ID, func() (*walkPage, error) {
		op, err := s.cluster.ResumeOperation(found)
		if err != nil {
			return nil, err
		}
		return newWalkPage(s, op, *found.Journal, nil), nil
	})
}

// openUnfinished lists the unfinished operations, and the backups of others.
func (s *session) openUnfinished(msg backupsMsg) {
	var entries []ui.Entry
	known := map[string]bool{}
	for _, op := range s.unfinished() {
		e := ui.Entry{Title: op.title(s.now), Note: "noted on volume " + op.lead}
		if op.found == nil {
			e.Disabled = op.problem
		} else {
			known[op.id] = true
			e.Do = func() tea.Cmd { return s.resume(*op.found) }
		}
		entries = append(entries, e)
	}
	for _, b := range msg.backups {
		if b.Err != nil {
			entries = append(entries, ui.Entry{Title: "a backup in " + b.Path, Disabled: kube.Explain(b.Err)})
			continue
		}
		if known[b.Journal.ID] {
			continue
		}
		entries = append(entries, s.keptEntry(b, msg.reports[b.Path]))
	}
	switch {
	case len(entries) == 0 && msg.err != nil:
		s.nav.Notify(ui.Warn, "The backups can't be read: "+kube.Explain(msg.err))
		return
	case len(entries) == 0:
		s.nav.Notify(ui.Notice, "No operation is unfinished, and there are no backups of any.")
		return
	}
	title := "Unfinished operations, and backups"
	if msg.err != nil {
		title += " (not all can be read: " + strings.TrimSuffix(kube.Explain(msg.err), ".") + ")"
	}
	s.nav.Open(ui.NewPicker(title, entries, ui.PickerOptions{Placeholder: "choose one to look at; nothing is written by that"}))
}

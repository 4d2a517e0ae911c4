package views

import (
	"context"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// timelinePage shows what happened to a volume or a claim, as far as the object
// itself and its events tell, the newest last.
type timelinePage struct {
	*session
	ref   actions.Ref
	table *ui.Table

	turn    int
	reading bool
	read    bool
	moments []explain.Moment
	// problem says why the object can't be read, eventsProblem why its events
	// can't, historyProblem why this program's own history can't.
	problem        string
	eventsProblem  string
	historyProblem string
	version        string
}

// timelineMsg brings what is on record.
type timelineMsg struct {
	page      *timelinePage
	turn      int
	moments   []explain.Moment
	err       error
	eventsErr error
	// historyErr goes with what could be read of the history.
	historyErr error
}

func (s *session) openTimeline(ref actions.Ref) tea.Cmd {
	p := &timelinePage{session: s, ref: ref, table: ui.NewTable([]ui.Column{
		{Title: "AGO", Align: ui.Right},
		{Title: "WHEN (UTC)", Priority: 2},
		{Title: "WHAT", Min: 44, Grow: true},
		{Title: "WHO", Min: 12, Max: 36, Middle: true, Priority: 1},
	})}
	p.version = p.versionNow()
	p.show()
	s.nav.Push(p)
	return p.load()
}

// versionNow is the object's resourceVersion in the snapshot; empty when it is
// not there.
func (p *timelinePage) versionNow() string {
	switch p.ref.Kind {
	case actions.VolumeKind:
		if v := p.volumeNamed(p.ref.Name); v != nil {
			return v.Object.ResourceVersion
		}
	case actions.ClaimKind:
		if c := p.claimNamed(p.ref.Namespace, p.ref.Name); c != nil {
			return c.Object.ResourceVersion
		}
	default:
		// It has no timeline.
	}
	return ""
}

// load reads the object with all its books, and its events. That only one of
// the two can be read is no reason to show nothing.
func (p *timelinePage) load() tea.Cmd {
	p.turn++
	p.reading = true
	turn, ref, cluster, parent := p.turn, p.ref, p.cluster, p.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, readTimeout)
		defer cancel()
		msg := timelineMsg{page: p, turn: turn}
		events, err := cluster.Events(ctx, ref)
		msg.eventsErr = err
		object, err := cluster.Object(ctx, ref)
		switch o := object.(type) {
		case *corev1.PersistentVolume:
			msg.moments = explain.VolumeTimeline(o, events)
		case *corev1.PersistentVolumeClaim:
			msg.moments = explain.ClaimTimeline(o, events)
		}
		msg.err = err
		records, err := cluster.History(ctx, ref)
		msg.moments, msg.historyErr = explain.WithHistory(msg.moments, records), err
		return msg
	}
}

// Update implements ui.Page.
func (p *timelinePage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotMsg:
		// Of an object that is gone there is nothing to read: what is shown
		// stays.
		if now := p.versionNow(); now != p.version && now != "" {
			p.version = now
			return p.load()
		}
	case timelineMsg:
		if msg.page == p && msg.turn == p.turn {
			p.take(msg)
		}
	}
	return nil
}

func (p *timelinePage) take(msg timelineMsg) {
	p.reading, p.problem, p.eventsProblem = false, errText(msg.err), errText(msg.eventsErr)
	p.historyProblem = errText(msg.historyErr)
	if msg.err == nil {
		first := !p.read
		atEnd := p.table.Index() == len(p.moments)-1
		p.read, p.moments = true, msg.moments
		p.show()
		if first || atEnd {
			p.table.Bottom()
		}
		return
	}
	p.show()
}

func (p *timelinePage) show() {
	switch {
	case p.problem != "":
		p.table.Empty([]ui.Span{{Text: refText(p.ref) + " can't be read: " + sentence(p.problem), Role: ui.Warn}})
	case !p.read:
		p.table.Empty([]ui.Span{{Text: "Reading " + refText(p.ref) + " and its events…", Role: ui.Dim}})
	default:
		p.table.Empty([]ui.Span{{Text: "Nothing is on record.", Role: ui.Dim}})
	}
	p.table.SetRows(momentRows{p})
}

// momentRows is the table's window on the moments.
type momentRows struct{ p *timelinePage }

func (r momentRows) Len() int        { return len(r.p.moments) }
func (r momentRows) ID(i int) string { return strconv.Itoa(i) }

func (r momentRows) Cells(i int) []ui.Cell {
	m := r.p.moments[i]
	what := ui.Cell{{Text: m.What, Role: roleOf(m.Level)}}
	if m.Count > 1 {
		what = append(ui.Cell{{Text: r.p.glyph("×", "x") + strconv.Itoa(m.Count) + " ", Role: ui.Dim}}, what...)
	}
	return []ui.Cell{dim(r.p.since0(m.When)), dim(stamp(m.When)), what, plain(m.Who)}
}

// stamp writes a moment so that it can be compared with logs.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// Title implements ui.Page.
func (p *timelinePage) Title() string { return "Timeline of " + refName(p.ref) }

// Badge implements ui.Page.
func (p *timelinePage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *timelinePage) Position() string { return p.table.Position() }

// Wheel implements ui.Wheeler.
func (p *timelinePage) Wheel(delta int) { p.table.Wheel(delta) }

// Click selects the row that was clicked.
func (p *timelinePage) Click(x, y int) { p.table.Click(x, y) }

// Capturing implements ui.Page.
func (p *timelinePage) Capturing() bool { return false }

// Render implements ui.Page.
func (p *timelinePage) Render(t *ui.Theme, w, h int) string { return p.table.Render(t, w, h) }

// Story implements ui.Page: the moment under the bar in full, and what a
// timeline leaves out.
func (p *timelinePage) Story() []ui.Span {
	var t story
	switch {
	case p.problem != "" && p.read:
		t.warn(ui.Warn, "It can't be read again: "+sentence(p.problem))
	case p.eventsProblem != "":
		t.warn(ui.Warn, "Its events can't be read: "+sentence(p.eventsProblem))
	case p.historyProblem != "":
		t.warn(ui.Warn, "What this program itself has done can't all be read: "+sentence(p.historyProblem))
	case p.read && p.versionNow() == "":
		t.warn(ui.Warn, "This object is gone; what is shown is what was last on record.")
	}
	if i := p.table.Index(); i < len(p.moments) {
		m := p.moments[i]
		text := m.What
		if m.Who != "" {
			text += ", by " + m.Who
		}
		t.warn(roleOf(m.Level), sentence(text))
	}
	if p.read {
		t.warn(ui.Dim, "Of each writer only the last change is on record, of events about the last hour.")
	}
	return t
}

// Bindings implements ui.Page.
func (p *timelinePage) Bindings() []ui.Binding {
	keys := []ui.Binding{
		{Keys: []string{"r"}, Title: "read again", Help: "read the object and its events again", Group: "Timeline", Hint: true, Do: p.load},
		{Keys: []string{"Y"}, Title: "copy", Help: "copy the timeline", Group: "Timeline", Hint: true, Do: func() tea.Cmd { return p.nav.Copy("the timeline", p.text()) }},
	}
	for _, b := range p.table.Bindings() {
		if b.Keys[0] != "space" {
			keys = append(keys, b)
		}
	}
	return keys
}

func (p *timelinePage) text() string {
	lines := make([]string, len(p.moments))
	for i, m := range p.moments {
		lines[i] = m.When.UTC().Format(time.RFC3339) + "\t" + m.What + "\t" + m.Who
	}
	return strings.Join(lines, "\n")
}

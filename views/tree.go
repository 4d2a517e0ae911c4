package views

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// treeWidth is how many children of a node are shown.
const treeWidth = 50

// treePage shows what an object has to do with, with the states that all of it
// is in now.
type treePage struct {
	*session
	ref   actions.Ref
	table *ui.Table
	rows  []treeRow
	// made is the snapshot that the rows were made from.
	made *kube.Snapshot
	// width is that of the screen drawn last.
	width int
	// gone: the object was there, and is not any more. The last tree stays.
	gone bool
}

// treeRow is one node, or how many were left out (node is nil then).
type treeRow struct {
	id   string
	lead string
	node *explain.Node
	more int
}

func (s *session) openTree(ref actions.Ref) tea.Cmd {
	p := &treePage{session: s, ref: ref, table: ui.NewTable([]ui.Column{
		{Title: "OBJECT", Min: 41, Max: 70},
		{Title: "STATE", Max: 24},
		{Title: "", Min: 16, Grow: true, Priority: 1},
	})}
	p.rebuild()
	for _, r := range p.rows {
		if r.node != nil && r.node.Selected {
			p.table.Select(r.id)
			break
		}
	}
	s.nav.Push(p)
	return nil
}

// rebuild grows the tree from the snapshot of now.
func (p *treePage) rebuild() {
	p.made = p.snap
	roots := explain.Tree(p.snap, p.ref, treeWidth)
	p.gone = len(roots) == 0 && len(p.rows) > 0
	if p.gone {
		return
	}
	p.rows = p.rows[:0:0]
	for _, n := range roots {
		p.grow(n, "", "", "")
	}
	p.table.Empty([]ui.Span{{Text: "Nothing is known of " + refText(p.ref) + ".", Role: ui.Dim}})
	p.table.SetRows(treeRows{p})
}

// grow adds a node with all below it. own leads its own line, lead those below.
func (p *treePage) grow(n *explain.Node, above, own, lead string) {
	id := above + " > " + refID(n.Object)
	p.rows = append(p.rows, treeRow{id: id, lead: own, node: n})
	for i, child := range n.Children {
		if i == len(n.Children)-1 && n.More == 0 {
			p.grow(child, id, lead+p.glyph("└─ ", "`- "), lead+"   ")
		} else {
			p.grow(child, id, lead+p.glyph("├─ ", "|- "), lead+p.glyph("│  ", "|  "))
		}
	}
	if n.More > 0 {
		p.rows = append(p.rows, treeRow{id: id + " more", lead: lead + p.glyph("└─ ", "`- "), more: n.More})
	}
}

// treeRows is the table's window on the tree.
type treeRows struct{ p *treePage }

func (r treeRows) Len() int        { return len(r.p.rows) }
func (r treeRows) ID(i int) string { return r.p.rows[i].id }

func (r treeRows) Cells(i int) []ui.Cell {
	row := r.p.rows[i]
	lead := ui.Span{Text: row.lead, Role: ui.Dim}
	if row.node == nil {
		return []ui.Cell{{lead, {Text: fmt.Sprintf("… %d more", row.more), Role: ui.Dim}}, {}, {}}
	}
	n := row.node
	name := ui.Span{Text: r.p.short(refName(n.Object))}
	kind := ui.Span{Text: kindWord(n.Object.Kind) + " ", Role: ui.Dim}
	switch {
	case n.Selected:
		name.Role = ui.Accent
		kind = ui.Span{Text: r.p.glyph("▸ ", "> ") + kind.Text, Role: ui.Accent}
	case n.Missing || n.Unknown:
		name.Role = ui.Dim
	}
	return []ui.Cell{{lead, kind, name}, r.p.stateCell(n), {{Text: n.Note, Role: noteRole(n.Level)}}}
}

// short cuts a name where there is little room: its ends tell more than its
// middle.
func (p *treePage) short(name string) string {
	const narrow, most = 110, 28
	if p.width < narrow {
		return ui.CutMiddle(ui.Clean(name), most)
	}
	return name
}

func noteRole(level explain.Level) ui.Role {
	if level == explain.Plain {
		return ui.Dim
	}
	return roleOf(level)
}

// stateCell is a node's state, with the mark of its phase if it is of storage.
func (p *treePage) stateCell(n *explain.Node) ui.Cell {
	switch {
	case n.Missing:
		return ui.Cell{{Text: "does not exist", Role: ui.Warn}}
	case n.Unknown:
		return ui.Cell{{Text: "? can't be seen", Role: ui.Dim}}
	case n.Object.Kind == actions.VolumeKind || n.Object.Kind == actions.ClaimKind:
		m := markOf(kube.Phase(n.Phase))
		return ui.Cell{{Text: p.glyph(m.glyph, m.ascii) + " " + n.Phase, Role: m.role}}
	default:
		return ui.Cell{{Text: n.Phase, Role: roleOf(n.Level)}}
	}
}

// Title implements ui.Page.
func (p *treePage) Title() string { return "Tree of " + refName(p.ref) }

// Badge implements ui.Page.
func (p *treePage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *treePage) Position() string { return p.table.Position() }

// Wheel implements ui.Wheeler, Click ui.Clicker.
func (p *treePage) Wheel(delta int) { p.table.Wheel(delta) }

// Click selects the row that was clicked.
func (p *treePage) Click(x, y int) { p.table.Click(x, y) }

// Capturing implements ui.Page.
func (p *treePage) Capturing() bool { return false }

// Render implements ui.Page.
func (p *treePage) Render(t *ui.Theme, w, h int) string {
	p.width = w
	return p.table.Render(t, w, h)
}

// Update implements ui.Page.
func (p *treePage) Update(msg tea.Msg) tea.Cmd {
	if _, ok := msg.(snapshotMsg); ok && p.made != p.snap {
		p.rebuild()
	}
	return nil
}

// here is the object under the bar, or why there is none.
func (p *treePage) here() (actions.Ref, string) {
	id, ok := p.table.Selected()
	if i := p.table.Index(); ok && i < len(p.rows) && p.rows[i].id == id {
		if n := p.rows[i].node; n != nil {
			return n.Object, ""
		}
		return actions.Ref{}, "these are too many to show"
	}
	return actions.Ref{}, "nothing is selected"
}

// Story implements ui.Page: that of the object under the bar, as in its table.
func (p *treePage) Story() []ui.Span {
	if p.gone {
		return []ui.Span{{Text: "This object is gone; what is shown is how it was last seen.", Role: ui.Warn}}
	}
	ref, why := p.here()
	if why != "" {
		return nil
	}
	if told := p.storyOf(ref); told != nil {
		return withoutHints(told)
	}
	i := p.table.Index()
	n := p.rows[i].node
	text := refText(ref)
	if n.Phase != "" {
		text += ": " + n.Phase
	}
	if n.Note != "" {
		text += ", " + n.Note
	}
	return []ui.Span{{Text: sentence(text)}}
}

// storyOf is the story of an object that has one.
func (s *session) storyOf(ref actions.Ref) []ui.Span {
	switch ref.Kind {
	case actions.VolumeKind:
		if v := s.volumeNamed(ref.Name); v != nil {
			return s.volumeStory(v)
		}
	case actions.ClaimKind:
		if c := s.claimNamed(ref.Namespace, ref.Name); c != nil {
			return s.claimStory(c)
		}
	case actions.ClassKind:
		if c := s.snap.Class(ref.Name); c != nil {
			return s.classStory(c)
		}
	}
	return nil
}

// noDetails says why the object under the bar can't be opened.
func (p *treePage) noDetails() string {
	ref, why := p.here()
	switch {
	case why != "":
		return why
	case !hasPage(ref.Kind):
		return "there are no details of a " + kindWord(ref.Kind) + " here"
	case p.storyOf(ref) == nil:
		return "it does not exist, or can't be seen"
	}
	return ""
}

// Bindings implements ui.Page.
func (p *treePage) Bindings() []ui.Binding {
	keys := []ui.Binding{{
		Keys: []string{"enter"}, Title: "details", Help: "details of the volume, claim or class under the bar", Group: "Tree", Hint: true, Disabled: p.noDetails,
		Do: func() tea.Cmd {
			ref, _ := p.here()
			return p.openRef(ref)
		},
	}}
	for _, b := range p.table.Bindings() {
		if b.Keys[0] != "space" {
			keys = append(keys, b)
		}
	}
	return keys
}

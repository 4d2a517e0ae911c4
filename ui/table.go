package ui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
)

const (
	// sampleRows is how many rows besides the visible ones say how wide the
	// columns should be.
	sampleRows = 48
	// scrollMargin is how many rows stay in sight beyond the selected one.
	scrollMargin = 2
	// wheelRows is how far one notch of the wheel goes.
	wheelRows = 3
	// firstPage is the page size before the table was drawn once.
	firstPage = 10
)

// Cell is what stands in one column of one row.
type Cell []Span

// Rows is the data behind a table. IDs are unique and stay with their object;
// Cells is called for the visible rows and for a small sample only.
type Rows interface {
	Len() int
	ID(i int) string
	Cells(i int) []Cell
}

// Table is a list of objects of which one is selected. The selection and the
// marks belong to objects, not to positions: rows may come, go and be sorted
// anew, and the next key still acts on what the reader looks at.
//
// When the selected object goes, the selection does not pass on to a neighbour
// by itself. The table then shows where it was, Selected returns nothing and
// Moved is true, until a movement or Select picks an object again. It also
// comes back by itself together with its object. The first row, which is selected
// at the start, goes without a word as long as the table was never drawn.
type Table struct {
	columns    []Column
	rows       Rows
	empty      []Span
	sorted     int
	descending bool

	selected string // ID of the selected object, or of the one that went
	picked   bool   // an object was ever selected
	guessed  bool   // nobody picked it, and nobody has seen it yet
	gone     bool   // it is not among the rows
	index    int
	marks    []mark

	// What was drawn last: paging needs the height, and columns that keep
	// their width while rows stream in and are filtered need those they had,
	// also when others come between them.
	offset  int
	width   int
	height  int
	natural []int
	widest  map[string]int
}

// mark is a marked object and its position, for the order of Marked.
type mark struct {
	id    string
	index int
}

// noRows are the rows of a table that was given none.
type noRows struct{}

func (noRows) Len() int         { return 0 }
func (noRows) ID(int) string    { return "" }
func (noRows) Cells(int) []Cell { return nil }

// NewTable makes an empty table.
func NewTable(columns []Column) *Table {
	t := &Table{rows: noRows{}, sorted: -1}
	t.SetColumns(columns)
	return t
}

// SetColumns replaces the columns. Those of a title that was there before keep
// the width that they asked for.
func (t *Table) SetColumns(columns []Column) {
	if t.widest == nil {
		t.widest = make(map[string]int, len(columns))
	}
	for i, n := range t.natural {
		t.widest[t.columns[i].Title] = n
	}
	t.columns = slices.Clone(columns)
	for i := range t.columns {
		t.columns[i].Title = Clean(t.columns[i].Title)
	}
	t.natural = nil
}

// SetSort says which column's header has the arrow, -1 for none. The rows come
// sorted already.
func (t *Table) SetSort(column int, descending bool) {
	t.sorted, t.descending = column, descending
}

// Empty says what to show when there are no rows.
func (t *Table) Empty(spans []Span) {
	t.empty = spans
}

// SetRows replaces the rows. The selection stays on its object, and so does the
// object's place on the screen, unless the list shows its start. Marks of
// objects that are gone are dropped.
//
// After a change that the reader asked for, such as a filter or another order,
// call Top or Select if the selection should follow it.
func (t *Table) SetRows(r Rows) {
	if r == nil {
		r = noRows{}
	}
	t.rows = r
	n := r.Len()
	t.remark(n)
	if t.natural != nil {
		t.sample()
	}
	if !t.picked || t.guessed {
		if t.picked = n > 0; t.picked {
			t.pick(0)
			t.guessed = true
		}
		return
	}
	at := t.find(t.selected)
	t.gone = at < 0
	if t.gone {
		t.index = max(min(t.index, n-1), 0)
		return
	}
	if t.offset > 0 {
		t.offset = max(t.offset+at-t.index, 0)
	}
	t.index = at
}

// find returns the position of an object or -1. It looks outward from the
// selected position, as objects rarely move far.
func (t *Table) find(id string) int {
	n := t.rows.Len()
	for down, up := t.index, t.index-1; down < n || up >= 0; down, up = down+1, up-1 {
		if down < n && t.rows.ID(down) == id {
			return down
		}
		if up >= 0 && up < n && t.rows.ID(up) == id {
			return up
		}
	}
	return -1
}

// remark finds the marked objects among n new rows and drops the others.
func (t *Table) remark(n int) {
	if len(t.marks) == 0 {
		return
	}
	marked := make(map[string]bool, len(t.marks))
	for _, m := range t.marks {
		marked[m.id] = true
	}
	t.marks = t.marks[:0]
	for i := 0; i < n && len(marked) > 0; i++ {
		if id := t.rows.ID(i); marked[id] {
			t.marks = append(t.marks, mark{id, i})
			delete(marked, id)
		}
	}
}

func (t *Table) pick(i int) {
	t.index, t.selected, t.picked, t.gone, t.guessed = i, t.rows.ID(i), true, false, false
}

// Selected returns the selected object. It is not ok when there is none, and
// when the one that was selected has gone.
func (t *Table) Selected() (id string, ok bool) {
	if !t.picked || t.gone {
		return "", false
	}
	return t.selected, true
}

// Moved says that the selected object has gone and no other one was picked yet.
func (t *Table) Moved() bool {
	return t.gone
}

// Index returns the position of the selection, or where it was.
func (t *Table) Index() int {
	return t.index
}

// Select picks an object. It returns false if there is no such row.
func (t *Table) Select(id string) bool {
	at := t.find(id)
	if at < 0 {
		return false
	}
	t.pick(at)
	return true
}

// Move goes delta rows down, or up if it is negative. Where the selected object
// has gone, the first step picks the row that took its place, or the one above.
func (t *Table) Move(delta int) {
	n := t.rows.Len()
	if n == 0 || delta == 0 {
		return
	}
	if t.gone && delta > 0 {
		delta--
	}
	t.pick(max(min(t.index+delta, n-1), 0))
}

// Page goes delta screens down or up.
func (t *Table) Page(delta int) {
	t.Move(delta * max(t.visible()-1, 1))
}

// Top picks the first row.
func (t *Table) Top() {
	if t.rows.Len() > 0 {
		t.pick(0)
	}
}

// Bottom picks the last row.
func (t *Table) Bottom() {
	if n := t.rows.Len(); n > 0 {
		t.pick(n - 1)
	}
}

// visible is how many rows were drawn last.
func (t *Table) visible() int {
	if t.height == 0 {
		return firstPage
	}
	return max(t.height-1, 1)
}

// Marked returns the marked objects in the order of the rows.
func (t *Table) Marked() []string {
	ids := make([]string, len(t.marks))
	for i, m := range t.marks {
		ids[i] = m.id
	}
	return ids
}

// IsMarked says whether an object is marked.
func (t *Table) IsMarked(id string) bool {
	return slices.ContainsFunc(t.marks, func(m mark) bool { return m.id == id })
}

// ToggleMark marks the selected object or takes its mark away.
func (t *Table) ToggleMark() {
	id, ok := t.Selected()
	if !ok {
		return
	}
	at, found := slices.BinarySearchFunc(t.marks, t.index, func(m mark, i int) int { return m.index - i })
	if found {
		t.marks = slices.Delete(t.marks, at, at+1)
		return
	}
	t.marks = slices.Insert(t.marks, at, mark{id, t.index})
}

// ClearMarks takes all marks away.
func (t *Table) ClearMarks() {
	t.marks = nil
}

// Position says where the selection is, such as "12/340".
func (t *Table) Position() string {
	n := t.rows.Len()
	if n == 0 {
		return ""
	}
	s := fmt.Sprintf("%d/%d", t.index+1, n)
	if t.gone {
		s = "selection gone · " + s
	}
	if len(t.marks) > 0 {
		s = fmt.Sprintf("%d marked · %s", len(t.marks), s)
	}
	return s
}

// Click picks the row at y, counted from the table's own first line.
func (t *Table) Click(_, y int) {
	at := t.offset + y - 1
	if y >= 1 && y < t.height && at < t.rows.Len() {
		t.pick(at)
	}
}

// Wheel turns the list by delta notches.
func (t *Table) Wheel(delta int) {
	t.Move(delta * wheelRows)
}

// Bindings are the keys that move the selection and set marks.
func (t *Table) Bindings() []Binding {
	key := func(title, help string, do func(), keys ...string) Binding {
		return Binding{Keys: keys, Title: title, Help: help, Group: "Move", Do: func() tea.Cmd {
			do()
			return nil
		}}
	}
	half := max(t.visible()/2, 1)
	all := make([]Binding, 0, 9)
	all = append(all,
		key("down", "next row", func() { t.Move(1) }, "j", "down"),
		key("up", "previous row", func() { t.Move(-1) }, "k", "up"),
		key("first", "first row", t.Top, "g", "home"),
		key("last", "last row", t.Bottom, "G", "end"),
		key("page down", "one screen down", func() { t.Page(1) }, "ctrl+f", "pgdown"),
		key("page up", "one screen up", func() { t.Page(-1) }, "ctrl+b", "pgup"),
		key("half down", "half a screen down", func() { t.Move(half) }, "ctrl+d"),
		key("half up", "half a screen up", func() { t.Move(-half) }, "ctrl+u"),
	)
	space := key("mark", "mark the row or take its mark away", func() {
		t.ToggleMark()
		t.Move(1)
	}, "space")
	space.Hint = true
	space.Disabled = func() string {
		if _, ok := t.Selected(); !ok {
			return "nothing is selected"
		}
		return ""
	}
	return append(all, space)
}

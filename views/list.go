package views

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// column is one column of a list: how it is drawn and how it sorts.
type column[T any] struct {
	ui.Column
	// wide columns appear in the wide view only.
	wide    bool
	cell    func(T) ui.Cell
	compare func(a, b T) int
	// ranked columns sort by the rows' risks, which are found once for all.
	ranked bool
}

// kind is what a list needs to know of its records. All but keys is pure.
type kind[T any] struct {
	title string
	// resource is what the records are of; empty for what is found out here.
	resource kube.Resource
	columns  func(*session) []column[T]
	items    func(*session) []T
	id       func(T) string
	name     func(T) string
	// ref is the object that a record is, or is about.
	ref func(T) actions.Ref
	// namespace of a record, for the namespace switch; nil for a kind that
	// lives outside of namespaces.
	namespace func(T) string
	// values answers the filter's questions.
	values func(T) has
	// risk answers those about risks, found being the record's.
	risk func(s *session, r T, found []*explain.Risk, test func(string) bool) bool
	// found hands over the risks of records that are in the snapshot's order.
	found func(s *session, all []T, each func(i int, found []*explain.Risk))
	// unjudged says what has to be seen to tell that a record without a known
	// risk has none; nothing if all of it is.
	unjudged func(*session, T) string
	story    func(*session, T) []ui.Span
	// tally says under which phase a record counts, and with how many bytes;
	// nil for a kind without phases.
	tally func(T) (kube.Phase, int64)
	// sum is the summary of a kind without phases; nil for none.
	sum func(*session, []T) []ui.Span
	// none says why there are no records of what is found out here.
	none func(*session) []ui.Span
	// keys are the bindings of this kind alone.
	keys func(*listPage[T]) []ui.Binding
}

// countKey is what the counts depend on.
type countKey struct {
	revision  uint64
	namespace string
}

// listPage is a live table of one kind: filter, sort, marks, jumps.
type listPage[T any] struct {
	*session
	kind  kind[T]
	table *ui.Table
	input *ui.Input

	columns []column[T]
	// shown are the indexes into columns that the table has.
	shown []int
	rows  []T
	// counts sums up all records, filtered away or not.
	counts  map[kube.Phase]kube.Tally
	counted countKey
	summed  []ui.Span

	// last is what was selected, made anew the ID of what has its name now.
	last     T
	hasLast  bool
	madeAnew string

	query     query
	typing    bool
	wide      bool
	sort      int
	desc      bool
	total     int
	madeFrom  uint64
	madeFor   string
	madeQuery string
	madeRisks *explain.Risks
	judgement judgement
}

func newListPage[T any](s *session, k kind[T]) *listPage[T] {
	p := &listPage[T]{session: s, kind: k, input: ui.NewInput("/", "text, phase: class: ns: policy: mode: driver: risk:")}
	p.columns = k.columns(s)
	p.table = ui.NewTable(nil)
	p.setColumns()
	p.rebuild()
	return p
}

// Title implements ui.Page.
func (p *listPage[T]) Title() string { return p.kind.title }

// Badge shows how many there are, or that it is not known yet.
func (p *listPage[T]) Badge() string {
	switch p.reading().Phase {
	case kube.Forbidden:
		return hidden
	case kube.Loading:
		if p.total > 0 {
			return strconv.Itoa(p.total) + "…"
		}
		return "…"
	default:
		return strconv.Itoa(p.total)
	}
}

// Capturing implements ui.Page.
func (p *listPage[T]) Capturing() bool { return p.typing }

// Update implements ui.Page.
func (p *listPage[T]) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case snapshotMsg, risksMsg, tickMsg:
		p.refresh()
		if id, ok := p.table.Selected(); ok && id != p.madeAnew {
			p.madeAnew = ""
		}
		return nil
	}
	if !p.typing {
		return nil
	}
	cmd := p.input.Update(msg)
	p.setQuery(p.input.Value())
	return cmd
}

// refresh recomputes the rows if anything that decides them has changed.
func (p *listPage[T]) refresh() {
	if p.madeFrom == p.snap.Revision && p.madeFor == p.namespace && p.madeQuery == p.query.text && (p.madeRisks == p.risks || !p.byRisk()) {
		return
	}
	p.rebuild()
}

func (p *listPage[T]) rebuild() {
	p.madeFrom, p.madeFor, p.madeQuery = p.snap.Revision, p.namespace, p.query.text
	p.madeRisks = p.risks
	all := p.inNamespace(p.kind.items(p.session))
	p.total = len(all)
	p.count(all)
	if r, ok := p.selected(); ok {
		p.last, p.hasLast = r, true
	}
	p.rows = p.shownOf(all)
	p.table.SetRows(listRows[T]{p})
	p.follow()
	p.table.Empty(p.emptyText())
}

// inNamespace leaves out what lives in other namespaces than the shown one.
func (p *listPage[T]) inNamespace(all []T) []T {
	if p.kind.namespace == nil || p.namespace == "" {
		return all
	}
	var rows []T
	for _, r := range all {
		if p.kind.namespace(r) == p.namespace {
			rows = append(rows, r)
		}
	}
	return rows
}

// count adds up the records by phase, once for each snapshot and namespace.
func (p *listPage[T]) count(all []T) {
	if p.kind.sum != nil {
		p.summed = p.kind.sum(p.session, all)
	}
	counted := countKey{p.snap.Revision, p.namespace}
	if p.kind.tally == nil || p.counts != nil && p.counted == counted {
		return
	}
	p.counts, p.counted = map[kube.Phase]kube.Tally{}, counted
	for _, r := range all {
		phase, size := p.kind.tally(r)
		t := p.counts[phase]
		p.counts[phase] = kube.Tally{Count: t.Count + 1, Bytes: t.Bytes + size}
	}
}

// Summary implements ui.Summarizer: how many there are of each phase, and,
// where there is room for it, how large they are together.
func (p *listPage[T]) Summary(room int) []ui.Span {
	if p.kind.sum != nil {
		return p.summed
	}
	var short, full []ui.Span
	width := 0
	for _, phase := range phaseOrder() {
		t := p.counts[phase]
		if t.Count == 0 {
			continue
		}
		number, size := p.phaseCount(phase, t.Count), ui.Span{Text: " " + bytes(t.Bytes), Role: ui.Dim}
		short = append(short, ui.Span{Text: "  "}, number)
		full = append(full, ui.Span{Text: "  "}, number, size)
		width += 2 + ui.Width(number.Text) + ui.Width(size.Text)
	}
	if width > room {
		return short
	}
	return full
}

// Position implements ui.Positioner, Click ui.Clicker and Wheel ui.Wheeler.
func (p *listPage[T]) Position() string { return p.table.Position() }

// Click selects the row that was clicked.
func (p *listPage[T]) Click(x, y int) { p.table.Click(x, y) }

// Wheel moves the selection.
func (p *listPage[T]) Wheel(delta int) { p.table.Wheel(delta) }

// ordered sorts a copy of rows. The snapshot's own order is by name, which is
// the first column's, so the most common case costs nothing.
func (p *listPage[T]) ordered(rows []T) []T {
	c := p.columns[p.sort].compare
	if p.sort == 0 && !p.desc {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b T) int {
		if p.desc {
			return c(b, a)
		}
		return c(a, b)
	})
	return rows
}

// emptyText says why there is nothing to see.
func (p *listPage[T]) emptyText() []ui.Span {
	st := p.reading()
	what := strings.ToLower(p.kind.title)
	switch {
	case st.Phase == kube.Forbidden:
		return []ui.Span{
			{Text: "You may not see " + what + " here. ", Role: ui.Warn},
			{Text: "Missing right: " + st.Missing + ". Ask for it, or use another --context or --as."},
		}
	case st.Phase == kube.Loading && st.Err != "":
		return []ui.Span{{Text: "The " + what + " can't be read: " + sentence(st.Err), Role: ui.Warn}, {Text: " Trying on."}}
	case st.Phase == kube.Loading:
		return []ui.Span{{Text: "Loading " + what + "…", Role: ui.Dim}}
	case p.query.asks(riskKey) && p.risks == nil:
		return []ui.Span{{Text: "The risks are being found…", Role: ui.Dim}}
	case p.total > 0 && !p.query.empty():
		return []ui.Span{{Text: "None of " + count(p.total, strings.TrimSuffix(what, "s")) + " matches the filter. ", Role: ui.Dim}, {Text: "esc", Role: ui.Key}, {Text: " clears it.", Role: ui.Dim}}
	case p.kind.none != nil:
		return p.kind.none(p.session)
	case p.kind.namespace != nil && (p.namespace != "" || st.Namespace != ""):
		return []ui.Span{{Text: "No " + what + " for namespace " + cmp.Or(p.namespace, st.Namespace) + ". ", Role: ui.Dim}, {Text: "n", Role: ui.Key}, {Text: " chooses another one.", Role: ui.Dim}}
	default:
		return []ui.Span{{Text: "No " + what + " in this cluster.", Role: ui.Dim}}
	}
}

// setColumns hands the table the columns of the current view. The wide ones
// come where there is room behind the others: which those are must not change
// under the reader's eyes.
func (p *listPage[T]) setColumns() {
	p.shown = p.shown[:0]
	cols := make([]ui.Column, 0, len(p.columns))
	for i, c := range p.columns {
		if c.wide && !p.wide {
			continue
		}
		c.Extra = c.wide
		p.shown = append(p.shown, i)
		cols = append(cols, c.Column)
	}
	p.table.SetColumns(cols)
	p.table.SetSort(slices.Index(p.shown, p.sort), p.desc)
}

func (p *listPage[T]) setQuery(text string) {
	if text == p.query.text {
		return
	}
	p.query = parseQuery(text)
	p.rebuild()
	// Whoever filters away what is selected wants the first of what is left.
	p.pickFirst()
}

func (p *listPage[T]) setSort(col int) {
	if p.sort == col {
		p.desc = !p.desc
	} else {
		p.sort, p.desc = col, false
	}
	p.table.SetSort(slices.Index(p.shown, p.sort), p.desc)
	p.rebuild()
}

// selected is the record under the bar.
func (p *listPage[T]) selected() (T, bool) {
	var zero T
	id, ok := p.table.Selected()
	if !ok {
		return zero, false
	}
	if i := p.table.Index(); i >= 0 && i < len(p.rows) && p.kind.id(p.rows[i]) == id {
		return p.rows[i], true
	}
	return zero, false
}

// reveal selects a record, dropping whatever hides it.
func (p *listPage[T]) reveal(id string) bool {
	p.refresh()
	if p.table.Select(id) {
		return true
	}
	p.input.SetValue("")
	p.query = query{}
	p.rebuild()
	if p.table.Select(id) {
		return true
	}
	p.namespace = ""
	p.rebuild()
	return p.table.Select(id)
}

// Render implements ui.Page. An active filter takes the last line, so that
// the rows above it stay where they are.
func (p *listPage[T]) Render(t *ui.Theme, w, h int) string {
	if !p.typing && p.query.empty() || h < 3 {
		return p.table.Render(t, w, h)
	}
	hits := strconv.Itoa(len(p.rows)) + " of " + strconv.Itoa(p.total) + " "
	room := max(w-ui.Width(hits), 0)
	line := ui.Pad(p.input.Render(t, room), room) + t.Spans([]ui.Span{{Text: hits, Role: ui.Dim}})
	return p.table.Render(t, w, h-1) + "\n" + ui.Cut(line, w)
}

// Story implements ui.Page.
func (p *listPage[T]) Story() []ui.Span {
	if r, ok := p.selected(); ok {
		if p.kind.id(r) == p.madeAnew {
			return append([]ui.Span{{Text: "What was selected here was deleted, and was made anew under the same name. ", Role: ui.Notice}}, p.kind.story(p.session, r)...)
		}
		return p.kind.story(p.session, r)
	}
	return p.goneStory()
}

// listRows is the table's window on the page's rows.
type listRows[T any] struct{ p *listPage[T] }

func (r listRows[T]) Len() int        { return len(r.p.rows) }
func (r listRows[T]) ID(i int) string { return r.p.kind.id(r.p.rows[i]) }

func (r listRows[T]) Cells(i int) []ui.Cell {
	cells := make([]ui.Cell, len(r.p.shown))
	for j, c := range r.p.shown {
		cells[j] = r.p.columns[c].cell(r.p.rows[i])
	}
	return cells
}

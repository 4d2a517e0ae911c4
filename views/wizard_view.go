package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

const (
	// bothWidth is from where on there is room for the list and the diff.
	bothWidth = 110
	// listLeast and listMost bound how wide the list is beside the diff.
	listLeast = 42
	listMost  = 54
)

// Title implements ui.Page. The page before it has the operation's name in the
// path already, if there is one.
func (p *walkPage) Title() string {
	switch {
	case p.run.Direction == migration.Back:
		return "Undo"
	case p.overChecks:
		return "Steps"
	}
	return operationTitle(p.journal.Request) + p.glyph(" › ", " > ") + "Steps"
}

// name is what the operation is called at the head of the page.
func (p *walkPage) name() string {
	if p.run.Direction == migration.Back {
		return "Undo: " + operationTitle(p.journal.Request)
	}
	return operationTitle(p.journal.Request)
}

// Badge implements ui.Page.
func (p *walkPage) Badge() string { return "" }

// Capturing implements ui.Page.
func (p *walkPage) Capturing() bool { return p.pager.Capturing() }

// Wheel implements ui.Wheeler.
func (p *walkPage) Wheel(delta int) { p.pager.Wheel(delta) }

// Position implements ui.Positioner.
func (p *walkPage) Position() string { return p.pager.Position() }

// Render implements ui.Page: what it is and how far it came, and below it the
// list of the steps and the difference that the selected one makes.
func (p *walkPage) Render(t *ui.Theme, w, h int) string {
	if w <= 0 || h <= 1 {
		return ""
	}
	p.narrow = w < bothWidth
	head := " " + p.head(t, w-2)
	switch {
	case p.stage == atEnd:
		return head + "\n" + p.pager.Render(t, w, h-1)
	case p.narrow && p.detail:
		return head + "\n" + p.pager.Render(t, w, h-1)
	case p.narrow:
		return head + "\n" + p.list.Render(t, w, h-1)
	}
	wide := max(min(w/3, listMost), listLeast)
	left := strings.Split(p.list.Render(t, wide, h-1), "\n")
	right := strings.Split(p.pager.Render(t, w-wide-1, h-1), "\n")
	rule := t.Spans([]ui.Span{{Text: t.Pick("│", "|"), Role: ui.Dim}})
	lines := make([]string, 0, h)
	lines = append(lines, head)
	for i := range min(len(left), len(right)) {
		lines = append(lines, left[i]+rule+right[i])
	}
	return strings.Join(lines, "\n")
}

// head says what the operation is at the left, and how far it came at the
// right.
func (p *walkPage) head(t *ui.Theme, w int) string {
	right := p.progress()
	title, subject := p.headline(max(w-ui.Width(right)-2, 10))
	left := []ui.Span{{Text: title, Role: ui.Strong}}
	if subject != "" {
		left = append(left, ui.Span{Text: "   " + subject})
	}
	gap := max(w-ui.Width(title)-ui.Width(right)-len("   ")-ui.Width(subject), 1)
	if subject == "" {
		gap += len("   ")
	}
	return t.Spans(left) + strings.Repeat(" ", gap) + t.Spans([]ui.Span{{Text: right, Role: ui.Notice}})
}

// headline is what the operation is and what it is about, in so much room: the
// volume goes first, then the words; the claim's end stays.
func (p *walkPage) headline(room int) (title, subject string) {
	const gap = len("   ")
	fits := func(title, subject string) bool { return ui.Width(title)+gap+ui.Width(subject) <= room }
	title, subject = p.name(), ui.Clean(operationSubject(p.journal, subjectName))
	if fits(title, subject) {
		return title, subject
	}
	short := shortName(p.journal.Request)
	if p.run.Direction == migration.Back {
		short = "Undo"
	}
	subject = ui.Clean(operationSubject(p.journal, 0))
	for _, title := range []string{title, short} {
		if fits(title, subject) {
			return title, subject
		}
	}
	const least = 16
	if left := room - ui.Width(short) - gap; left >= least {
		return short, ui.CutMiddle(subject, left)
	}
	return ui.CutMiddle(subject, room), ""
}

// progress says how far it came, and for how long the pods have been stopped.
func (p *walkPage) progress() string {
	var parts []string
	_, at, ok := p.current()
	switch {
	case p.stage == atEnd:
		parts = append(parts, "done")
	case len(p.items) == 0:
	case p.stage == atReview && at == 0:
		parts = append(parts, count(len(p.items), "step"))
	case ok:
		parts = append(parts, fmt.Sprintf("step %d of %d", at+1, len(p.items)))
	}
	if p.running {
		parts = append([]string{"running"}, parts...)
	}
	if pods := p.clock.pods(p.now); pods != "" {
		parts = append(parts, pods)
	}
	return strings.Join(parts, "   ")
}

// stepRows are the rows of the list.
type stepRows struct{ p *walkPage }

// rows are the steps in the list: while the operation is about to take a step
// out of turn, that one and those after it.
func (p *walkPage) rows() []migration.Item {
	if p.aside == nil {
		return p.items
	}
	rows := []migration.Item{{Step: *p.aside, State: migration.Now}}
	for _, item := range p.asideItems {
		if item.State == migration.Now {
			item.State = migration.Later
		}
		rows = append(rows, item)
	}
	return rows
}

// Len implements ui.Rows.
func (r stepRows) Len() int { return len(r.p.rows()) }

// ID implements ui.Rows.
func (r stepRows) ID(i int) string { return r.p.rows()[i].ID }

// Cells implements ui.Rows.
func (r stepRows) Cells(i int) []ui.Cell {
	p := r.p
	rows := p.rows()
	item := rows[i]
	glyph, role, title := p.glyph("·", "."), ui.Dim, ui.Dim
	switch {
	case item.State == migration.Done:
		glyph, role, title = p.tick(), ui.Good, ui.Plain
	case item.State == migration.Now && (p.stage == atHalt || p.stage == atError):
		glyph, role, title = p.glyph("✕", "x"), ui.Bad, ui.Strong
	case item.State == migration.Now:
		glyph, role, title = p.glyph("▶", ">"), ui.Accent, ui.Strong
	}
	took := ""
	if p.aside == nil {
		if d, ok := p.clock.took[item.ID]; ok {
			took = clockText(d)
		} else if since, ok := p.clock.turn[item.ID]; ok && item.State == migration.Now && (p.stage == atWait || p.clock.sent[item.ID]) {
			took = clockText(p.now.Sub(since))
		}
	}
	number := i + 1
	if p.aside != nil {
		number = i
	}
	text := shortTitle(item.Step, p.journal)
	if item.ID == asideID {
		return []ui.Cell{{{Text: glyph + "    ", Role: role}, {Text: text, Role: title}}, nil}
	}
	return []ui.Cell{
		{{Text: glyph + " ", Role: role}, {Text: fmt.Sprintf("%2d ", number), Role: ui.Dim}, {Text: text, Role: title}},
		{{Text: took, Role: ui.Dim}},
	}
}

// selected is the step under the bar.
func (p *walkPage) selected() (migration.Item, bool) {
	id, ok := p.list.Selected()
	if !ok {
		return migration.Item{}, false
	}
	for _, item := range p.rows() {
		if item.ID == id {
			return item, true
		}
	}
	return migration.Item{}, false
}

// due is the row whose turn it is.
func (p *walkPage) due() string {
	if p.aside != nil {
		return p.aside.ID
	}
	item, _, _ := p.current()
	return item.ID
}

// follow moves the bar to the step whose turn it is.
func (p *walkPage) follow() {
	p.list.SetRows(stepRows{p})
	p.list.Select(p.due())
}

// redraw makes the list and the text beside it anew.
func (p *walkPage) redraw() {
	p.list.SetRows(stepRows{p})
	if p.list.Moved() {
		p.list.Select(p.due())
	}
	p.diffEnd = -1
	if p.stage == atEnd {
		p.pager.SetLines(p.endLines())
		return
	}
	item, ok := p.selected()
	if !ok {
		p.pager.SetLines(nil)
		return
	}
	if p.shown != item.ID {
		p.shown = item.ID
		p.pager.Top()
		p.pager.Unread()
		p.gaze.moved()
	}
	p.pager.SetLines(p.stepText(item))
}

// stepText is all about one step.
func (p *walkPage) stepText(item migration.Item) []ui.Line {
	lines := []ui.Line{{{Text: item.Title, Role: ui.Strong}}}
	turn := item.ID == p.due()
	if turn {
		lines = append(lines, p.troubleLines()...)
	}
	switch preview, known := p.previewOf(item); {
	case item.State == migration.Done:
		lines = append(lines, ui.Line{{Text: "Done, and seen to be done.", Role: ui.Good}})
	case item.Act == migration.Await:
		lines = append(lines, p.waitLines(item)...)
	case known:
		lines = append(lines, p.previewLines(preview)...)
		p.diffEnd = len(lines) - 1
	case p.aside != nil && !turn:
		lines = append(lines, ui.Line{{Text: "Previewed when all of it is rehearsed, once this has been noted.", Role: ui.Dim}})
	default:
		lines = append(lines, ui.Line{{Text: "Not previewed yet.", Role: ui.Dim}})
	}
	lines = append(lines, ui.Line{})
	for _, fact := range []struct{ label, text string }{
		{"Why", item.Why}, {"Then", item.Then}, {"If you stop here", item.Stop},
	} {
		if fact.text != "" {
			lines = append(lines, ui.Line{{Text: fact.label + ": ", Role: ui.Accent}, {Text: sentence(fact.text)}})
		}
	}
	return lines
}

// previewOf is the latest preview of a step.
func (p *walkPage) previewOf(item migration.Item) (kube.StepPreview, bool) {
	if item.ID == p.due() && (p.stage == atDiff || p.stage == atWrite) {
		return p.fresh, true
	}
	preview, ok := p.rehearsed[item.ID]
	// One that failed is empty but for its step.
	return preview, ok && !preview.Taken.IsZero()
}

// troubleLines say what stands against the step whose turn it is.
func (p *walkPage) troubleLines() []ui.Line {
	var lines []ui.Line
	bad := func(text string) {
		lines = append(lines, ui.Line{{Text: p.glyph("✕ ", "x "), Role: ui.Bad}, {Text: sentence(text), Role: ui.Bad}})
	}
	switch p.stage {
	case atHalt:
		bad(p.standing.Move.Reason)
		if r := p.remedy(); r != "" {
			lines = append(lines, ui.Line{{Text: "  " + r}})
		}
	case atError:
		bad(p.problem)
	default:
		// Nothing stands against it.
	}
	if p.rehearsalErr != "" && p.stage == atReview {
		bad("Not all of it could be rehearsed: " + p.rehearsalErr)
	}
	if p.changed != "" {
		lines = append(lines, ui.Line{{Text: "! " + p.changed, Role: ui.Warn}})
	}
	if len(lines) > 0 {
		lines = append(lines, ui.Line{})
	}
	return lines
}

// remedy says what to do about a halt.
func (p *walkPage) remedy() string {
	text := sentence(p.standing.Move.Remedy)
	if p.heldByOther() && p.standing.Holder.Who == p.run.Holder.Who {
		text = "That is this program, run by you another time: if it has ended, take the operation over with t."
	}
	return text
}

// waitLines say what a wait is for, and what holds it.
func (p *walkPage) waitLines(item migration.Item) []ui.Line {
	if item.State != migration.Now || p.stage != atWait {
		return []ui.Line{{{Text: "Waits for others; nothing is written.", Role: ui.Dim}}}
	}
	lines := []ui.Line{{{Text: "Waiting for " + p.waited(item.ID) + "; nothing is written.", Role: ui.Notice}}}
	for _, hold := range p.standing.Move.Holds {
		lines = append(lines, ui.Line{{Text: p.glyph("• ", "* "), Role: ui.Warn}, {Text: hold}})
	}
	return lines
}

// waited is for how long it has been a step's turn.
func (p *walkPage) waited(id string) string {
	if since, ok := p.clock.turn[id]; ok {
		return clockText(p.now.Sub(since))
	}
	return clockText(0)
}

// previewLines are what the server, or this program, says a step will do.
func (p *walkPage) previewLines(preview kube.StepPreview) []ui.Line {
	ref := preview.Step.Target
	name := ref.Name
	if ref.Namespace != "" {
		name = ref.Namespace + "/" + name
	}
	var said ui.Line
	switch d := preview.DryRun; {
	case d.Later:
		said = ui.Line{{Text: "Computed here, " + orText(d.Reason, "not before the steps before it") + "; dry-run by the server when its turn comes", Role: ui.Notice}}
	case !d.Supported:
		said = ui.Line{{Text: "NOT dry-run by the server: " + d.Reason + ". Computed here, may differ", Role: ui.Bad}}
	case preview.Temporary != "":
		said = ui.Line{{Text: p.tick() + " dry run by the server: ok, under another name while its own is taken", Role: ui.Good}}
	default:
		said = ui.Line{{Text: p.tick() + " dry run by the server: ok", Role: ui.Good}}
	}
	head := []ui.Line{{{Text: string(ref.Kind) + " " + name, Role: ui.Accent}}, said}
	return slices.Concat(head, p.diffBody(foldNote(preview.Diff)))
}

// foldNote leaves out the journal's text from a diff: it is long, nobody reads
// it there, and the steps on this page are made from it.
func foldNote(diff string) string {
	var b strings.Builder
	folding, size, depth := false, 0, 0
	mark := ""
	flush := func() {
		if folding {
			fmt.Fprintf(&b, "%s (%s: the originals of all that changes, to finish or undo it from any machine)\n", mark, bytes(int64(size))+"B")
		}
		folding, size = false, 0
	}
	for raw := range strings.Lines(diff) {
		text := strings.TrimRight(raw, "\n")
		sign, rest := "", text
		if text != "" {
			sign, rest = text[:1], text[1:]
		}
		indent := len(rest) - len(strings.TrimLeft(rest, " "))
		switch key := migration.AnnotationJournal + ":"; {
		case strings.HasPrefix(strings.TrimLeft(rest, " "), key) && (sign == "+" || sign == "-" || sign == " "):
			flush()
			head, value, _ := strings.Cut(text, key)
			folding, size, depth, mark = true, len(strings.TrimSpace(value)), indent, head+key
		case folding && (indent > depth || strings.TrimSpace(rest) == "") && !strings.HasPrefix(text, "@@"):
			size += len(strings.TrimSpace(rest))
		default:
			flush()
			b.WriteString(raw)
		}
	}
	flush()
	return b.String()
}

// endLines are the report.
func (p *walkPage) endLines() []ui.Line {
	var lines []ui.Line
	if p.saved != "" {
		lines = append(lines, ui.Line{{Text: "This report is " + p.saved, Role: ui.Dim}}, ui.Line{})
	}
	return append(lines, reportLines(p.report)...)
}

// severityMark is the glyph of a check and its roles.
func (s *session) severityMark(severity actions.Severity) (glyph string, role, text ui.Role) {
	switch severity {
	case actions.Block:
		return s.glyph("✕ ", "x "), ui.Bad, ui.Bad
	case actions.Warn:
		return "! ", ui.Warn, ui.Warn
	case actions.Pass:
	}
	return s.tick() + " ", ui.Good, ui.Plain
}

package views

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// bulkWords are how sentences speak of a bulk, after a number.
type bulkWords struct{ title, will, already string }

func (p *bulkPage) words() bulkWords {
	n := count(len(p.items), "volume")
	switch {
	case p.undoing:
		return bulkWords{"Undo on " + n, "will be taken back", "need nothing"}
	case len(p.bulk.Requests) == 0:
		return bulkWords{}
	}
	switch p.bulk.Requests[0].Verb {
	case actions.Reserve:
		return bulkWords{"Reserve " + n + " for their former claims", "will be reserved for their former claims", "are reserved already"}
	case actions.Unreserve:
		return bulkWords{"Unreserve " + n, "will be open to any claim", "are open already"}
	default:
		return bulkWords{"Protect " + n, "will be set to Retain", "are Retain already"}
	}
}

// Title implements ui.Page.
func (p *bulkPage) Title() string {
	title, _, _ := strings.Cut(p.words().title, " ")
	return title
}

// Badge implements ui.Page.
func (p *bulkPage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *bulkPage) Position() string { return p.table.Position() }

// Wheel implements ui.Wheeler.
func (p *bulkPage) Wheel(delta int) { p.choose(func() { p.table.Wheel(delta) }) }

// Capturing implements ui.Page.
func (p *bulkPage) Capturing() bool { return false }

// Render implements ui.Page: the list above, the difference of the selected
// volume below.
func (p *bulkPage) Render(t *ui.Theme, w, h int) string {
	// A title, a rule, the head of the list, and something of each part.
	const least = 7
	if h < least {
		return p.table.Render(t, w, h)
	}
	list := min(len(p.items)+1, (h-2)/2)
	rule := strings.Repeat(p.glyph("─", "-"), w)
	return strings.Join([]string{
		ui.Pad(ui.Cut(t.Spans(p.headline()), w), w),
		p.table.Render(t, w, list),
		t.Spans([]ui.Span{{Text: rule, Role: ui.Dim}}),
		p.pager.Render(t, w, h-2-list),
	}, "\n")
}

func bulkColumns() []ui.Column {
	return []ui.Column{
		{Title: "VOLUME", Min: 18, Max: 44, Middle: true},
		{Title: "STATE", Min: 10},
		{Title: "DIFF"},
		{Title: "CHECKS", Priority: 1},
		{Title: "WHY", Min: 10, Grow: true},
	}
}

// bulkRows are the items as the table shows them.
type bulkRows struct{ p *bulkPage }

func (r bulkRows) Len() int        { return len(r.p.items) }
func (r bulkRows) ID(i int) string { return uidID(r.p.items[i].req.Volume.UID) }

func (r bulkRows) Cells(i int) []ui.Cell {
	it := r.p.items[i]
	return []ui.Cell{{{Text: it.req.Volume.Name}}, r.p.stateCell(it), r.p.kindCell(it), r.p.checksCell(it), plain(it.why())}
}

// stateCell is a glyph, a word and a role, always the same three together.
func (p *bulkPage) stateCell(it *bulkItem) ui.Cell {
	mark := func(fancy, ascii, word string, role ui.Role) ui.Cell {
		return ui.Cell{{Text: p.glyph(fancy, ascii) + " " + word, Role: role}}
	}
	switch it.state {
	case bulkReady:
		return mark("·", ".", "to do", ui.Dim)
	case bulkAlready:
		return mark("–", "-", "already so", ui.Dim)
	case bulkBlocked:
		return mark("✕", "x", "blocked", ui.Bad)
	case bulkFailed:
		return mark("✕", "x", "failed", ui.Bad)
	case bulkApplying:
		return mark("▶", ">", "now", ui.Accent)
	case bulkWaiting:
		return mark("▶", ">", "accepted", ui.Accent)
	case bulkDone:
		return mark(p.tick(), p.tick(), "done", ui.Good)
	case bulkSkipped:
		return mark("!", "!", "skipped", ui.Warn)
	case bulkUntried:
		return mark("–", "-", "not tried", ui.Warn)
	default:
		return mark("…", "~", "looking", ui.Dim)
	}
}

// checksCell is the worst of the checks.
func (p *bulkPage) checksCell(it *bulkItem) ui.Cell {
	// Of what was to be done, and of nothing else.
	past := []bulkState{bulkLooking, bulkAlready, bulkWaiting, bulkDone}
	if slices.Contains(past, it.state) || len(it.finding.plan.Checks) == 0 {
		return plain(none)
	}
	switch it.finding.plan.Worst() {
	case actions.Warn:
		n := 0
		for _, c := range it.finding.plan.Checks {
			if c.Severity == actions.Warn {
				n++
			}
		}
		return ui.Cell{{Text: count(n, "warning"), Role: ui.Warn}}
	case actions.Block:
		return ui.Cell{{Text: "blocked", Role: ui.Bad}}
	default:
		return ui.Cell{{Text: "passed", Role: ui.Good}}
	}
}

// why is the note of an item, or the first thing that it is warned of.
func (it *bulkItem) why() string {
	if it.note != "" || it.state != bulkReady {
		return it.note
	}
	for _, c := range it.finding.plan.Checks {
		if c.Severity == actions.Warn {
			return c.Text
		}
	}
	return it.step.Then
}

// current is the item under the bar.
func (p *bulkPage) current() *bulkItem {
	if i := p.table.Index(); i >= 0 && i < len(p.items) {
		return p.items[i]
	}
	return nil
}

// redraw makes the text about the selected volume anew.
func (p *bulkPage) redraw() {
	// The states' widths change.
	p.table.SetRows(bulkRows{p})
	it := p.current()
	p.diffEnd = -1
	if it == nil {
		return
	}
	var lines []ui.Line
	if it.note != "" {
		lines = append(lines, ui.Line{{Text: sentence(it.note), Role: it.noteRole()}})
	}
	lines = append(lines, p.bulkChecks(it, func(s actions.Severity) bool { return s != actions.Pass })...)
	if it.hasDiff() {
		lines = append(lines, p.dryRunOf(it))
		if kind := p.kindLine(it); kind != nil {
			lines = append(lines, kind)
		}
		lines = append(lines, p.diffBody(it.preview.Diff)...)
		p.diffEnd = len(lines) - 1
	}
	lines = append(lines, p.bulkChecks(it, func(s actions.Severity) bool { return s == actions.Pass })...)
	p.pager.SetLines(lines)
}

// hasDiff says that the volume was dry-run.
func (it *bulkItem) hasDiff() bool { return it.preview.Step.ID != "" }

func (it *bulkItem) noteRole() ui.Role {
	switch it.state {
	case bulkBlocked, bulkFailed:
		return ui.Bad
	case bulkSkipped, bulkUntried:
		return ui.Warn
	default:
		return ui.Dim
	}
}

// bulkChecks are the checks of one volume, without the one that is its note.
func (p *bulkPage) bulkChecks(it *bulkItem, of func(actions.Severity) bool) []ui.Line {
	var lines []ui.Line
	for _, c := range it.finding.plan.Checks {
		if !of(c.Severity) || it.note != "" && strings.HasPrefix(it.note, c.Text) {
			continue
		}
		glyph, role, textRole := p.severityMark(c.Severity)
		lines = append(lines, ui.Line{{Text: glyph, Role: role}, {Text: c.Text, Role: textRole}})
		if c.Remedy != "" {
			lines = append(lines, ui.Line{{Text: "  " + c.Remedy, Role: ui.Dim}})
		}
	}
	return lines
}

func (p *bulkPage) dryRunOf(it *bulkItem) ui.Line {
	object := ui.Span{Text: "PersistentVolume " + it.req.Volume.Name, Role: ui.Accent}
	if it.preview.DryRun.Supported {
		return ui.Line{object, {Text: "   dry run by the server: ok", Role: ui.Good}}
	}
	return ui.Line{object, {Text: "   NOT dry-run by the server: " + it.preview.DryRun.Reason + ". Computed here, may differ", Role: ui.Bad}}
}

// choose moves the bar, and shows the volume that it is on from the start.
func (p *bulkPage) choose(move func()) {
	before := p.table.Index()
	move()
	if p.table.Index() == before {
		return
	}
	p.fromTheStart()
	p.redraw()
}

// fromTheStart: what the pager shows next has not been read yet.
func (p *bulkPage) fromTheStart() {
	p.pager.Top()
	p.pager.Unread()
	p.gaze.moved()
}

// Story implements ui.Page: how many stand where.
func (p *bulkPage) Story() []ui.Span {
	switch p.stage {
	case bulkPreparing:
		left := len(p.in(bulkLooking))
		return []ui.Span{{Text: fmt.Sprintf("Reading %d of %s afresh, with a dry run of each…", left, count(len(p.items), "volume")), Role: ui.Dim}}
	case bulkAsking:
		return p.askingStory()
	case bulkRunning:
		return []ui.Span{{Text: "Looking at each once more, then sending it: " + p.tally() + ". "}, {Text: "x", Role: ui.Key}, {Text: " stops after the next.", Role: ui.Dim}}
	default:
		return p.endStory()
	}
}

func (p *bulkPage) askingStory() []ui.Span {
	spans := []ui.Span{{Text: p.tally() + ". "}}
	if p.opts.DryRun {
		spans = append(spans, ui.Span{Text: "Dry run only: nothing will be written. ", Role: ui.Notice})
	} else {
		spans = append(spans, ui.Span{Text: "Nothing of this is written yet. "})
	}
	if len(p.unseen()) > 0 {
		spans = append(spans, ui.Span{Text: "v", Role: ui.Key}, ui.Span{Text: " or ", Role: ui.Dim}, ui.Span{Text: "space", Role: ui.Key}, ui.Span{Text: " shows what was not looked at.", Role: ui.Dim})
	}
	return spans
}

func (p *bulkPage) endStory() []ui.Span {
	if p.opts.DryRun {
		return []ui.Span{{Text: "Walked to the end by dry runs; nothing was written.", Role: ui.Good}}
	}
	role := ui.Good
	left := p.in(bulkSkipped, bulkFailed, bulkUntried)
	if len(left) > 0 {
		role = ui.Warn
	}
	spans := []ui.Span{{Text: p.tally() + ". ", Role: role}}
	if waiting := p.in(bulkWaiting); len(waiting) > 0 {
		spans = append(spans, ui.Span{Text: "Accepted by the server; waiting to see it happen. "})
		switch {
		case p.snap.Link.Phase != kube.Live:
			spans = append(spans, ui.Span{Text: "The connection is not live, so that it can't be seen. ", Role: ui.Warn})
		case p.now.Sub(p.items[waiting[0]].sentAt) > overdue:
			spans = append(spans, ui.Span{Text: "This is late: the controller that reacts to it may be down or slow. ", Role: ui.Warn})
		}
	}
	if len(left) > 0 {
		spans = append(spans, ui.Span{Text: "r", Role: ui.Key}, ui.Span{Text: " looks again at what was not done. ", Role: ui.Dim})
	}
	if p.cannotUndo() == "" {
		spans = append(spans, ui.Span{Text: "u", Role: ui.Key}, ui.Span{Text: " takes it back, for as long as this page is open.", Role: ui.Dim})
	}
	return spans
}

// tally counts the volumes by where they stand: "12 volumes: 9 will be set to
// Retain, 2 are Retain already, 1 is blocked: …".
func (p *bulkPage) tally() string {
	words := p.words()
	var parts []string
	add := func(text string, states ...bulkState) {
		found := p.in(states...)
		if len(found) == 0 {
			return
		}
		if rest, ok := strings.CutPrefix(text, "are "); ok && len(found) == 1 {
			text = "is " + rest
		}
		parts = append(parts, fmt.Sprintf("%d %s", len(found), text))
		if states[0] == bulkBlocked || states[0] == bulkFailed || states[0] == bulkSkipped {
			parts[len(parts)-1] += ": " + p.items[found[0]].note
			if len(found) > 1 {
				parts[len(parts)-1] += ", and so on"
			}
		}
	}
	add("done and seen to be done", bulkDone)
	add("accepted", bulkWaiting)
	add("on its way", bulkApplying)
	add(words.will, bulkReady)
	add(words.already, bulkAlready)
	add("skipped", bulkSkipped)
	add("failed", bulkFailed)
	add("not tried", bulkUntried)
	add("are blocked", bulkBlocked)
	return count(len(p.items), "volume") + ": " + strings.Join(parts, ", ")
}

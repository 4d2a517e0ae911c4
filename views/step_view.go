package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// Title implements ui.Page.
func (p *stepPage) Title() string {
	if p.undoing {
		return "Undo"
	}
	switch p.req.Verb {
	case actions.Reserve:
		return "Reserve"
	case actions.Unreserve:
		return "Unreserve"
	case actions.Repair:
		return "Give back"
	case actions.SinglePodLight:
		return "ReadWriteOncePod"
	default:
		return "Reclaim policy"
	}
}

// Badge implements ui.Page.
func (p *stepPage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *stepPage) Position() string { return p.pager.Position() }

// Wheel implements ui.Wheeler.
func (p *stepPage) Wheel(delta int) { p.pager.Wheel(delta) }

// Capturing implements ui.Page.
func (p *stepPage) Capturing() bool { return p.pager.Capturing() }

// Render implements ui.Page.
func (p *stepPage) Render(t *ui.Theme, w, h int) string { return p.pager.Render(t, w, h) }

// title says what the page does, to which volume.
func (p *stepPage) title() string {
	switch {
	case p.plan.Title == "":
		return p.Title() + " " + p.req.Volume.Name
	case p.undoing:
		return "Undo: " + p.plan.Title
	default:
		return p.plan.Title
	}
}

// redraw makes the text anew: the steps, what speaks against them, the diff,
// and last the checks that passed.
func (p *stepPage) redraw() {
	lines := []ui.Line{{{Text: p.title(), Role: ui.Strong}}}
	lines = append(lines, p.stepLines()...)
	// What spoke against it before is behind us once it is sent and on its way.
	if p.stage != finished && p.stage != waiting {
		lines = append(lines, p.checkLines(func(s actions.Severity) bool { return s != actions.Pass })...)
	}
	p.diffEnd = -1
	switch p.stage {
	case ready, applying, waiting:
		lines = append(lines, ui.Line{})
		lines = append(lines, p.diffLines()...)
		p.diffEnd = len(lines) - 1
	case finished:
		lines = append(lines, p.endLines()...)
	case failed:
		lines = append(lines, ui.Line{}, ui.Line{{Text: p.glyph("✕ ", "x "), Role: ui.Bad}, {Text: p.problem, Role: ui.Bad}})
	default:
		// There is nothing to show but the plan so far.
	}
	if p.stage != finished {
		lines = append(lines, p.checkLines(func(s actions.Severity) bool { return s == actions.Pass })...)
	}
	p.pager.SetLines(lines)
}

// stepLines lists the steps, if there is more than one to see.
func (p *stepPage) stepLines() []ui.Line {
	if len(p.steps) == 0 && len(p.done) == 0 {
		return nil
	}
	lines := []ui.Line{{}}
	for _, d := range p.done {
		lines = append(lines, ui.Line{
			{Text: p.tick() + " ", Role: ui.Good},
			{Text: d.step.Title},
			{Text: "  " + d.saw, Role: ui.Dim},
		})
	}
	if p.stage == finished {
		return lines
	}
	for i, st := range p.steps {
		if i < len(p.done) {
			continue
		}
		if i == p.next && p.stage != planning && p.stage != blocked {
			lines = append(lines, ui.Line{{Text: p.glyph("▶ ", "> "), Role: ui.Accent}, {Text: st.Title, Role: ui.Strong}}, ui.Line{{Text: "  " + st.Why, Role: ui.Dim}})
			continue
		}
		lines = append(lines, ui.Line{{Text: p.glyph("· ", ". ") + st.Title, Role: ui.Dim}})
	}
	return lines
}

// checkLines lists the checks of some severities, under an empty line.
func (p *stepPage) checkLines(of func(actions.Severity) bool) []ui.Line {
	lines := []ui.Line{{}}
	for _, c := range p.plan.Checks {
		if !of(c.Severity) {
			continue
		}
		glyph, role, textRole := p.severityMark(c.Severity)
		lines = append(lines, ui.Line{{Text: glyph, Role: role}, {Text: c.Text, Role: textRole}})
		if c.Remedy != "" {
			lines = append(lines, ui.Line{{Text: "  " + c.Remedy, Role: ui.Dim}})
		}
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}

func (p *stepPage) diffLines() []ui.Line {
	lines := []ui.Line{p.dryRunLine()}
	if p.changed != "" {
		lines = append(lines, ui.Line{{Text: p.changed, Role: ui.Warn}})
	}
	return append(lines, p.diffBody(p.preview.Diff)...)
}

// diffBody is a unified diff without its head, which names both sides: the
// line above it does that here.
func (s *session) diffBody(diff string) []ui.Line {
	if diff == "" {
		return []ui.Line{{{Text: "The server would change nothing.", Role: ui.Notice}}}
	}
	var lines []ui.Line
	inHunk := false
	for raw := range strings.Lines(diff) {
		raw = strings.TrimRight(raw, "\n")
		switch {
		case strings.HasPrefix(raw, "@@"):
			inHunk = true
			lines = append(lines, ui.Line{{Text: s.glyph("⋮", ":"), Role: ui.Dim}})
		case inHunk:
			lines = append(lines, diffLine(raw))
		}
	}
	return lines
}

func diffLine(raw string) ui.Line {
	switch {
	case strings.HasPrefix(raw, "+"):
		return ui.Line{{Text: raw, Role: ui.Added}}
	case strings.HasPrefix(raw, "-"):
		return ui.Line{{Text: raw, Role: ui.Removed}}
	default:
		return ui.Line{{Text: raw}}
	}
}

func (p *stepPage) dryRunLine() ui.Line {
	object := "PersistentVolume " + p.req.Volume.Name
	if p.preview.DryRun.Supported {
		return ui.Line{{Text: object, Role: ui.Accent}, {Text: "   dry run by the server: ok", Role: ui.Good}}
	}
	return ui.Line{{Text: object, Role: ui.Accent}, {Text: "   NOT dry-run by the server: " + p.preview.DryRun.Reason + ". Computed here, may differ", Role: ui.Bad}}
}

// endLines is the report: what was done, and what comes next.
func (p *stepPage) endLines() []ui.Line {
	if p.opts.DryRun {
		return []ui.Line{{}, {{Text: "Walked to the end by dry runs; nothing was written.", Role: ui.Good}}}
	}
	lines := []ui.Line{{}}
	switch {
	case len(p.done) == 0:
		lines = append(lines, ui.Line{{Text: "Nothing had to be done: the volume is already so.", Role: ui.Good}})
	case p.undoing:
		lines = append(lines, ui.Line{{Text: "Undone.", Role: ui.Good}})
	default:
		lines = append(lines, ui.Line{{Text: "Done, and seen to be done.", Role: ui.Good}})
		if then := p.done[len(p.done)-1].step.Then; then != "" {
			lines = append(lines, ui.Line{{Text: sentence(then)}})
		}
	}
	if len(p.undo) > 0 && !p.undoing && p.sentLast {
		lines = append(lines, ui.Line{{Text: "u", Role: ui.Key}, {Text: " takes it back, for as long as this page is open.", Role: ui.Dim}})
	}
	if p.undoNote != "" {
		lines = append(lines, ui.Line{{Text: sentence(p.undoNote), Role: ui.Dim}})
	}
	return lines
}

// Story implements ui.Page: what is going on right now.
func (p *stepPage) Story() []ui.Span {
	switch p.stage {
	case planning:
		return []ui.Span{{Text: "Reading the volume and what it touches…", Role: ui.Dim}}
	case blocked:
		if p.sent || p.undoing {
			return []ui.Span{{Text: "Stopped; what was written before stays: ", Role: ui.Bad}, {Text: p.plan.Blocked()}}
		}
		return []ui.Span{{Text: "Blocked, nothing is written: ", Role: ui.Bad}, {Text: p.plan.Blocked()}}
	case previewing:
		return []ui.Span{{Text: "Asking the server for a dry run…", Role: ui.Dim}}
	case ready:
		return p.readyStory()
	case applying:
		return []ui.Span{{Text: "Looking once more, then sending it…"}}
	case waiting:
		return p.waitingStory()
	case finished:
		if v := p.volumeNamed(p.req.Volume.Name); v != nil {
			return append([]ui.Span{{Text: "Now: ", Role: ui.Good}}, withoutHints(p.volumeStory(v))...)
		}
		return nil
	default:
		return []ui.Span{{Text: "Stopped. What was written before stays; ", Role: ui.Warn}, {Text: "r", Role: ui.Key}, {Text: " looks again.", Role: ui.Dim}}
	}
}

func (p *stepPage) readyStory() []ui.Span {
	st := p.steps[p.next]
	if why := p.unread(); why != "" {
		return []ui.Span{{Text: p.unwritten() + " " + sentence(strings.ToUpper(why[:1])+why[1:]), Role: ui.Notice}}
	}
	if p.opts.DryRun {
		return []ui.Span{{Text: "Dry run only: nothing will be written. ", Role: ui.Notice}, {Text: sentence(st.Then)}}
	}
	spans := []ui.Span{{Text: p.unwritten() + " "}}
	if st.Then != "" {
		spans = append(spans, ui.Span{Text: "Then: " + sentence(st.Then)})
	}
	return spans
}

// unread says that part of the diff has not been on the screen yet.
func (p *stepPage) unread() string {
	switch {
	case p.pager.Read(p.diffEnd):
		return ""
	case p.pager.Skipped():
		return "part of the difference was skipped: go back with g and look at all of it first"
	case !p.pager.Wrapped():
		return "long lines go on to the side: w wraps them, look at all of the difference first"
	default:
		return "the difference goes on below: scroll down with j and look at all of it first"
	}
}

func (p *stepPage) unwritten() string {
	if p.sent || p.undoing {
		return "This step is not written yet."
	}
	return "Nothing is written yet."
}

func (p *stepPage) waitingStory() []ui.Span {
	spans := []ui.Span{{Text: "Accepted by the server. Waiting to see it happen"}}
	if p.lacking != "" {
		spans = append(spans, ui.Span{Text: ": " + p.lacking})
	}
	late := p.now.Sub(p.sentAt)
	spans = append(spans, ui.Span{Text: " (" + lasted(late) + ").", Role: ui.Dim})
	if p.snap.Link.Phase != kube.Live {
		return append(spans, ui.Span{Text: " The connection is not live, so that it can't be seen.", Role: ui.Warn})
	}
	if late > overdue {
		spans = append(spans, ui.Span{Text: " This is late: the change is stored, but the controller that reacts to it may be down or slow. You may leave; the change stays, but the undo is kept on this page only.", Role: ui.Warn})
	}
	return spans
}

// Bindings implements ui.Page.
func (p *stepPage) Bindings() []ui.Binding {
	if p.Capturing() {
		return p.pager.Bindings()
	}
	apply := "apply"
	if p.opts.DryRun {
		apply = "next"
	}
	// While a search shows its hits, esc ends that first: the pager binds it.
	leave := []string{"esc", "q"}
	if p.pager.Searching() {
		leave = leave[1:]
	}
	keys := []ui.Binding{
		{Keys: []string{"enter"}, Title: apply, Help: "send what the diff shows", Group: "Step", Hint: p.stage == ready && p.settled && p.cannotApply() == "", Disabled: p.cannotApply, Do: p.approve},
		{Keys: []string{"u"}, Title: "undo", Help: "take back what was done", Group: "Step", Hint: p.cannotUndo() == "", Disabled: p.cannotUndo, Do: p.startUndo},
		{Keys: []string{"r"}, Title: "look again", Help: "read everything again", Group: "Step", Hint: p.stage == failed || p.stage == blocked, Disabled: p.cannotReread, Do: p.replan},
		{Keys: []string{"c"}, Title: "as kubectl", Help: "the whole plan as kubectl commands", Group: "Step", Hint: true, Disabled: p.noPlan, Do: p.showCommands},
		{Keys: []string{"Y"}, Title: "copy", Help: "copy what is shown", Group: "Step", Hint: true, Do: func() tea.Cmd { return p.nav.Copy("this page", p.pager.Text()) }},
		{Keys: leave, Title: "back", Help: "leave; what was written stays", Group: "Step", Hint: true, Disabled: p.Holds, Do: func() tea.Cmd { p.nav.Pop(); return nil }},
	}
	return slices.Concat(keys, p.pager.Bindings())
}

func (p *stepPage) cannotApply() string {
	switch {
	case p.stage == ready && !p.pager.Read(p.diffEnd):
		return p.unread()
	case p.stage == ready:
		return ""
	case p.stage == blocked:
		return p.plan.Blocked()
	case p.stage == finished:
		return "it is done; esc goes back"
	case p.stage == failed:
		return "it stopped; r looks again"
	default:
		return "not yet: there is no diff to approve"
	}
}

func (p *stepPage) cannotUndo() string {
	switch {
	case p.opts.DryRun:
		return "nothing was written"
	case p.undoing:
		return "this is the undo"
	case !p.sent:
		return "nothing was written yet"
	case p.stage == planning, p.stage == previewing, p.stage == applying:
		return "not now: something is on its way"
	case len(p.undo) == 0 || !p.sentLast:
		if p.undoNote != "" {
			return p.undoNote
		}
		return "there is nothing to take back"
	}
	return ""
}

func (p *stepPage) cannotReread() string {
	if p.stage == applying {
		return "a request is on its way"
	}
	return ""
}

func (p *stepPage) noPlan() string {
	if len(p.steps) == 0 {
		return "there is nothing to do, and so no commands"
	}
	return ""
}

// showCommands shows the whole plan, also what of it has been done, or the
// whole undo.
func (p *stepPage) showCommands() tea.Cmd {
	plan := actions.Plan{Title: p.title(), Steps: p.steps}
	if !p.undoing {
		plan.Undo, plan.UndoNote = p.undo, p.undoNote
	}
	for _, c := range p.plan.Checks {
		if c.Severity == actions.Warn {
			plan.Checks = append(plan.Checks, c)
		}
	}
	p.nav.Push(newCommands(p.session, plan.Kubectl(p.opts.KubectlFlags...)))
	return nil
}

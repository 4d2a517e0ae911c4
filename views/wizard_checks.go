package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// checksPage is the first page of an operation: what it would be like, what
// can be chosen about it, and all that speaks for and against it. Nothing is
// written from here.
type checksPage struct {
	*session
	req  migration.Request
	turn int
	// reading: the answer has not come yet. drafted: one has.
	reading bool
	drafted bool
	draft   draft
	problem string
	// manifests are the claims in backups that a missing one may be made from,
	// unreadBackups says why they can't be read.
	manifests     []keptManifest
	unreadBackups string
	pager         *ui.Pager
}

func (s *session) openChecks(req migration.Request) tea.Cmd {
	p := &checksPage{session: s, req: req, pager: ui.NewPager()}
	p.pager.SetWrap(true)
	p.nav.Push(p)
	return tea.Batch(p.replan(), p.readManifests())
}

// replan looks at everything afresh.
func (p *checksPage) replan() tea.Cmd {
	p.turn++
	p.reading, p.problem = true, ""
	p.redraw()
	return p.ask()
}

// Title implements ui.Page.
func (p *checksPage) Title() string { return operationTitle(p.req) }

// Badge implements ui.Page.
func (p *checksPage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *checksPage) Position() string { return p.pager.Position() }

// Wheel implements ui.Wheeler.
func (p *checksPage) Wheel(delta int) { p.pager.Wheel(delta) }

// Capturing implements ui.Page.
func (p *checksPage) Capturing() bool { return p.pager.Capturing() }

// Render implements ui.Page.
func (p *checksPage) Render(t *ui.Theme, w, h int) string { return p.pager.Render(t, w, h) }

// Update implements ui.Page.
func (p *checksPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case draftedMsg:
		if msg.page != p || msg.turn != p.turn {
			return nil
		}
		p.reading = false
		if msg.err != nil {
			p.problem = kube.Explain(msg.err)
			break
		}
		p.draft, p.drafted = msg.draft, true
	case manifestsMsg:
		if msg.page != p {
			return nil
		}
		p.tookManifests(msg)
	case snapshotMsg, tickMsg:
		return nil
	default:
		return p.pager.Update(msg)
	}
	p.redraw()
	return nil
}

// counted says how many checks there are of a severity.
func (p *checksPage) counted(severity actions.Severity) int {
	n := 0
	for _, c := range p.draft.checks {
		if c.Severity == severity {
			n++
		}
	}
	return n
}

func (p *checksPage) redraw() {
	title := operationTitle(p.req)
	if p.drafted && len(p.draft.journal.Volumes) > 0 {
		title += "   " + operationSubject(p.draft.journal, subjectName)
	} else {
		title += "   volume " + p.req.Volume.Name
	}
	lines := []ui.Line{{{Text: title, Role: ui.Strong}}, p.verdict(), {}}
	if options := p.options(); len(options) > 0 {
		lines = append(lines, ui.Line{{Text: "What you can choose", Role: ui.Accent}})
		for _, o := range options {
			lines = append(lines, ui.Line{{Text: "  "}, {Text: o.key, Role: ui.Key}, {Text: "  " + o.label + ": "}, {Text: o.value, Role: ui.Strong}, {Text: "  " + o.note, Role: ui.Dim}})
		}
		lines = append(lines, ui.Line{})
	}
	if p.problem == "" && p.drafted {
		lines = append(lines, ui.Line{{Text: "What was looked at before anything is written", Role: ui.Accent}})
		for _, severity := range []actions.Severity{actions.Block, actions.Warn, actions.Pass} {
			for _, c := range p.draft.checks {
				if c.Severity == severity {
					lines = append(lines, p.checkText(c)...)
				}
			}
		}
	}
	p.pager.SetLines(lines)
}

func (s *session) checkText(c actions.Check) []ui.Line {
	glyph, role, text := s.severityMark(c.Severity)
	lines := []ui.Line{{{Text: glyph, Role: role}, {Text: c.Text, Role: text}}}
	if c.Remedy != "" {
		lines = append(lines, ui.Line{{Text: "  " + c.Remedy, Role: ui.Dim}})
	}
	return lines
}

// verdict sums the checks up.
func (p *checksPage) verdict() ui.Line {
	switch {
	case p.problem != "":
		return ui.Line{{Text: p.glyph("✕ ", "x ") + "It could not all be looked at: " + sentence(p.problem), Role: ui.Bad}}
	case p.reading:
		return ui.Line{{Text: "Looking at the volume, its claim, and all that uses it…", Role: ui.Dim}}
	}
	blocks, warns, passed := p.counted(actions.Block), p.counted(actions.Warn), p.counted(actions.Pass)
	text := count(passed, "check") + " passed"
	switch {
	case blocks > 0:
		return ui.Line{{Text: "It can't be started: " + count(blocks, "check") + verb(blocks, " forbids it", " forbid it"), Role: ui.Bad}, {Text: ", " + count(warns, "warning") + ", " + text + "."}}
	case warns > 0:
		return ui.Line{{Text: "Nothing stands against it, but mind " + count(warns, "warning"), Role: ui.Warn}, {Text: "; " + text + "."}}
	}
	return ui.Line{{Text: "Nothing stands against it", Role: ui.Good}, {Text: "; " + text + "."}}
}

// Story implements ui.Page.
func (p *checksPage) Story() []ui.Span {
	switch {
	case p.reading:
		return []ui.Span{{Text: "Reading everything afresh, and trying out by dry runs what can be…", Role: ui.Dim}}
	case p.problem != "":
		return []ui.Span{{Text: "Nothing is written. ", Role: ui.Warn}, {Text: "r", Role: ui.Key}, {Text: " looks again.", Role: ui.Dim}}
	case p.draft.blocked() != "":
		return []ui.Span{{Text: "Blocked, nothing is written: ", Role: ui.Bad}, {Text: sentence(p.draft.blocked())}}
	}
	text := "Nothing is written yet. "
	if pods := stoppedText(p.draft.journal); pods != "" {
		text += "Pods would be stopped meanwhile: " + pods + ". "
	}
	return []ui.Span{{Text: text}, {Text: "enter", Role: ui.Key}, {Text: " rehearses all steps by dry runs and shows them.", Role: ui.Dim}}
}

// Bindings implements ui.Page.
func (p *checksPage) Bindings() []ui.Binding {
	if p.Capturing() {
		return p.pager.Bindings()
	}
	const group = "Operation"
	esc := []string{"esc", "q"}
	if p.pager.Searching() {
		esc = esc[1:]
	}
	keys := []ui.Binding{{Keys: []string{"enter"}, Title: "review", Help: "rehearse all steps by dry runs, and show them", Group: group, Hint: p.cannotReview() == "", Disabled: p.cannotReview, Do: p.review}}
	for _, o := range p.options() {
		keys = append(keys, ui.Binding{Keys: []string{o.key}, Title: o.title, Help: o.help, Group: group, Hint: true, Disabled: p.cannotChoose, Do: o.do})
	}
	keys = append(
		keys,
		ui.Binding{Keys: []string{"r"}, Title: "check again", Help: "look at everything afresh", Group: group, Hint: true, Disabled: p.cannotChoose, Do: p.replan},
		ui.Binding{Keys: []string{"c"}, Title: "as kubectl", Help: "the whole plan as kubectl commands", Group: group, Hint: p.cannotReview() == "", Disabled: p.cannotReview, Do: p.showCommands},
		ui.Binding{Keys: []string{"Y"}, Title: "copy", Help: "copy what is shown", Group: group, Do: func() tea.Cmd { return p.nav.Copy("this page", p.pager.Text()) }},
		ui.Binding{Keys: esc, Title: "back", Help: "leave; nothing was written", Group: group, Hint: true, Do: func() tea.Cmd { p.nav.Pop(); return nil }},
	)
	return append(keys, p.pager.Bindings()...)
}

func (p *checksPage) cannotChoose() string {
	if p.reading {
		return "not yet: everything is being looked at"
	}
	return ""
}

func (p *checksPage) cannotReview() string {
	switch {
	case p.reading:
		return "not yet: everything is being looked at"
	case p.problem != "":
		return "it could not all be looked at; r looks again"
	case p.draft.blocked() != "":
		return p.draft.blocked()
	case len(p.draft.journal.Volumes) == 0 || len(p.draft.items) == 0:
		return "there is nothing to do"
	}
	return ""
}

// review opens the page of the operation. A plan that was left unstarted is
// looked at anew there.
func (p *checksPage) review() tea.Cmd {
	d := p.draft
	cmd := p.openOperation(d.journal.ID, func() (*walkPage, error) {
		return newWalkPage(p.session, p.cluster.NewOperation(d.journal), d.journal, &d), nil
	})
	p.walks[d.journal.ID].overChecks = true
	return cmd
}

func (p *checksPage) showCommands() tea.Cmd {
	title := operationTitle(p.req) + ": " + operationSubject(p.draft.journal, fullName)
	p.nav.Push(newCommands(p.session, migration.Kubectl(title, p.draft.items, p.opts.KubectlFlags...)))
	return nil
}

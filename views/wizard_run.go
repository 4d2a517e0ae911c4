package views

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// start begins to write what was reviewed: step by step, or all of it.
func (p *walkPage) start(run bool) tea.Cmd {
	begin := func() tea.Cmd {
		p.confirmed, p.running = true, run
		return p.look()
	}
	if p.confirmed && !run {
		return begin()
	}
	title := "Type the claim's name to start"
	if run {
		title = "Type the claim's name to run all that was reviewed"
	}
	return p.ask(confirmWord(p.journal), title, p.startText(run), p.stage, begin)
}

// startText says what will happen, and what was warned of. What is cut where
// there is little room is the warnings, which the page of the checks has too.
func (p *walkPage) startText(run bool) []ui.Span {
	left, deletions := 0, 0
	for _, item := range p.items {
		if item.State != migration.Done && item.Act != migration.Await {
			left++
			if destroys(item.Step) {
				deletions++
			}
		}
	}
	what := count(left, "write")
	if deletions > 0 {
		what += ", " + count(deletions, "deletion") + " among them"
	}
	if run {
		what += ", one after the other without further questions. The run stops when anything is not as it was rehearsed.\n"
	} else {
		what += ", each with its diff before it is sent. You may stop after any of them.\n"
	}
	text := []ui.Span{{Text: what}}
	if stops := p.stopsBefore(); run && len(stops) > 0 {
		why := "It stops before " + shortTitle(stops[0].Step, p.journal)
		if len(stops) > 1 {
			why += " and before " + count(len(stops)-1, "other step")
		}
		text = append(text, ui.Span{Text: why + ", which the server can dry-run only then: look at that, and ask for the rest again.\n", Role: ui.Notice})
	}
	if pods := stoppedText(p.journal); pods != "" {
		text = append(text, ui.Span{Text: "Pods are stopped until the end: " + pods + ".\n"})
	}
	for _, c := range p.warnings() {
		text = append(text, ui.Span{Text: "! " + sentence(c.Text) + "\n", Role: ui.Warn})
	}
	return text
}

// asRehearsed says that the step on its way to the screen is what was looked at
// when all was rehearsed, and that the server has said so.
func (p *walkPage) asRehearsed() bool {
	rehearsed, ok := p.rehearsed[p.fresh.Step.ID]
	return ok && p.fresh.Step.Confirm == "" && kube.Same(rehearsed, p.fresh) && p.fresh.DryRun.Supported
}

// haltRun stops a run before a step, and says why. What the server says of the
// step now takes the place of its rehearsal: once it has been looked at, the
// rest may run.
func (p *walkPage) haltRun() {
	p.running = false
	rehearsed := p.rehearsed[p.fresh.Step.ID]
	switch {
	case p.fresh.Step.Confirm != "":
		p.changed = "This step has to be confirmed by name, so that the run stopped before it. Look at it; then enter asks for the name."
		return
	case !p.fresh.DryRun.Supported && kube.Same(rehearsed, p.fresh):
		// The word for the run is none for what nobody but this program has
		// worked out.
		p.changed = "The server could not dry-run this step, so that the run stopped before it. Look at it, and go on by hand."
		return
	case !p.fresh.DryRun.Supported:
		p.changed = "This step is not as it was rehearsed, so that the run stopped before it. Look at it, and go on by hand."
		return
	case rehearsed.DryRun.Later:
		p.changed = "The server can dry-run this step only now, so that the run stopped before it. Look at it; then enter sends it, or r runs the rest."
	default:
		p.changed = "This step is not as it was rehearsed, so that the run stopped before it. Look at it; then enter sends it, or r runs the rest."
	}
	p.rehearsed[p.fresh.Step.ID] = p.fresh
}

// stopsBefore are the steps before which a run will stop, since what was
// rehearsed of them was worked out here and is less than what the server will
// say: a creation gets its defaults from the server.
func (p *walkPage) stopsBefore() []migration.Item {
	return slices.DeleteFunc(slices.Clone(p.items), func(item migration.Item) bool {
		rehearsed := p.rehearsed[item.ID]
		unknown := item.Act == migration.Create || rehearsed.Diff == "" && item.Act != migration.Delete
		return item.State == migration.Done || !rehearsed.DryRun.Later || !unknown
	})
}

package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/ui"
)

// Bindings implements ui.Page.
func (p *bulkPage) Bindings() []ui.Binding {
	apply := "apply all"
	if p.opts.DryRun {
		apply = "to the end"
	}
	scroll := func(delta int) func() tea.Cmd {
		return func() tea.Cmd { p.pager.Wheel(delta); return nil }
	}
	keys := []ui.Binding{
		{Keys: []string{"enter"}, Title: apply, Help: "change all volumes that are ready, after typing how many", Group: "Bulk", Hint: p.settled && p.cannotApply() == "", Disabled: p.cannotApply, Do: p.approve},
		{Keys: []string{"tab"}, Title: "next difference", Help: "go to the next difference that was not looked at yet; those of all volumes can be", Group: "Bulk", Hint: p.nothingUnseen() == "", Disabled: p.nothingUnseen, Do: p.showUnseen},
		{Keys: []string{"v", "space"}, Title: "read on", Help: "read on in the difference, then go to the next that was not looked at yet", Group: "Bulk", Disabled: p.nothingUnseen, Do: p.readUnseen},
		{Keys: []string{"J"}, Title: "scroll", Help: "scroll the difference down", Group: "Bulk", Do: scroll(1)},
		{Keys: []string{"K"}, Title: "scroll up", Help: "scroll the difference up", Group: "Bulk", Do: scroll(-1)},
		{Keys: []string{"x"}, Title: "stop", Help: "send no further request", Group: "Bulk", Hint: p.stage == bulkRunning, Disabled: p.cannotStop, Do: p.stop},
		{Keys: []string{"u"}, Title: "undo", Help: "take back what was done", Group: "Bulk", Hint: p.cannotUndo() == "", Disabled: p.cannotUndo, Do: p.startUndo},
		{Keys: []string{"r"}, Title: "look again", Help: "read again what is not done", Group: "Bulk", Hint: len(p.in(bulkSkipped, bulkFailed, bulkUntried)) > 0, Disabled: p.cannotReread, Do: p.prepare},
		{Keys: []string{"c"}, Title: "as kubectl", Help: "what is to do as kubectl commands", Group: "Bulk", Hint: true, Disabled: p.noCommands, Do: p.showCommands},
		{Keys: []string{"Y"}, Title: "copy", Help: "copy what is shown of the volume", Group: "Bulk", Do: func() tea.Cmd { return p.nav.Copy("this volume", p.pager.Text()) }},
		{Keys: []string{"esc", "q"}, Title: "back", Help: "leave; what was written stays", Group: "Bulk", Hint: true, Disabled: p.Holds, Do: func() tea.Cmd { p.nav.Pop(); return nil }},
	}
	for _, b := range p.table.Bindings() {
		if slices.Contains(b.Keys, "space") {
			continue
		}
		move := b.Do
		b.Do = func() tea.Cmd {
			p.choose(func() { move() })
			return nil
		}
		keys = append(keys, b)
	}
	return keys
}

func (p *bulkPage) cannotApply() string {
	switch {
	case p.stage == bulkPreparing:
		return "not yet: the differences are still being made"
	case p.stage == bulkRunning:
		return "it is being carried out"
	case p.stage == bulkEnded:
		return "it is done; r looks again at what was not, esc goes back"
	case len(p.in(bulkReady)) == 0:
		return "there is nothing to change"
	case len(p.unseen()) > 0:
		return "differences looked at: " + p.looked() + "; each has to be on the screen to its end for a second: v reads on and goes to the next"
	}
	return ""
}

func (p *bulkPage) cannotStop() string {
	switch {
	case p.stage != bulkRunning:
		return "nothing is being sent"
	case p.stopping:
		return "it stops after the next"
	}
	return ""
}

func (p *bulkPage) cannotUndo() string {
	switch {
	case p.opts.DryRun:
		return "nothing was written"
	case p.undoing:
		return "this is the undo"
	case p.stage == bulkPreparing, p.stage == bulkRunning:
		return "not now: something is on its way"
	case !slices.ContainsFunc(p.items, func(it *bulkItem) bool { return it.sent }):
		return "nothing was written yet"
	case !slices.ContainsFunc(p.items, func(it *bulkItem) bool { return it.sent && len(it.undo) > 0 }):
		return "nothing of it can be taken back"
	}
	return ""
}

func (p *bulkPage) cannotReread() string {
	switch {
	case p.stage == bulkPreparing, p.stage == bulkRunning:
		return "not now: something is on its way"
	case p.opts.DryRun || len(p.in(bulkDone, bulkWaiting)) < len(p.items):
		return ""
	}
	return "all is done"
}

func (p *bulkPage) noCommands() string {
	if len(p.in(bulkReady)) == 0 {
		return "there is nothing to do, and so no commands"
	}
	return ""
}

// showCommands shows the plans of all volumes that are ready, one after the
// other.
func (p *bulkPage) showCommands() tea.Cmd {
	ready := p.in(bulkReady)
	texts := make([]string, 0, len(ready))
	for _, i := range ready {
		it := p.items[i]
		plan := it.finding.plan
		if it.undoing {
			plan = actions.Plan{Title: "Undo: " + plan.Title, Checks: plan.Checks, Steps: it.steps}
		}
		texts = append(texts, plan.Kubectl(p.opts.KubectlFlags...))
	}
	p.nav.Push(newCommands(p.session, strings.Join(texts, "\n")))
	return nil
}

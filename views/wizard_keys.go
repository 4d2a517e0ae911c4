package views

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/ui"
)

// unread says that part of the diff has not been on the screen yet.
func (p *walkPage) unread() string {
	item, _ := p.selected()
	switch {
	case item.ID != p.due():
		return "this is another step: enter goes back to the one whose turn it is"
	case p.narrow && !p.detail:
		return "the difference is on the other side: tab shows it"
	case p.pager.Read(p.diffEnd):
		return ""
	case p.pager.Skipped():
		return "part of the difference was skipped: go back with home and look at all of it first"
	case !p.pager.Wrapped():
		return "long lines go on to the side: w wraps them, look at all of the difference first"
	default:
		return "the difference goes on below: page down and look at all of it first"
	}
}

// Bindings implements ui.Page. The arrows move from step to step; the text
// beside the list is turned by whole screens.
func (p *walkPage) Bindings() []ui.Binding {
	if p.Capturing() {
		return p.pager.Bindings()
	}
	const group = "Operation"
	leave, title, help, held := p.leave, "leave", "leave; an operation that was begun stays as it is, and R opens it again", p.Holds
	switch {
	case p.aside != nil:
		leave, title, help = p.look, "cancel", "leave it as it is"
	case p.running:
		leave, title, held = p.askToStop, "stop and leave", nil
	}
	esc := []string{"esc", "q"}
	if p.pager.Searching() {
		esc = esc[1:]
	}
	enter := ui.Binding{Keys: []string{"enter"}, Title: p.enterTitle(), Help: "start, or send what the diff shows", Group: group, Hint: p.cannotEnter() == "" && (p.stage != atDiff || p.settled), Disabled: p.cannotEnter, Do: p.enter}
	if p.astray() {
		enter.Title, enter.Hint, enter.Disabled, enter.Do = "to its step", true, nil, p.goBack
	}
	own := []ui.Binding{
		enter,
		p.runBinding(group),
		{Keys: []string{"v", "space"}, Title: p.unseenTitle(), Help: "read on in the difference, then go to the next that was not looked at yet", Group: group, Hint: p.nothingUnseen() == "" && (p.stage == atReview || !p.narrow), Disabled: p.nothingUnseen, Do: p.showUnseen},
		{Keys: []string{"u"}, Title: p.turnTitle(), Help: "walk back to how it was, or forward again", Group: group, Hint: p.cannotTurn() == "", Disabled: p.cannotTurn, Do: p.turnAround},
		{Keys: []string{"t"}, Title: "take over", Help: "take the operation over from whoever holds it", Group: group, Hint: p.cannotTakeOver() == "", Disabled: p.cannotTakeOver, Do: p.takeOver},
		{Keys: []string{"o"}, Title: p.leaveTitle(), Help: "go on without a workload that was deleted on purpose", Group: group, Hint: p.leaveShown(), Disabled: p.cannotLeaveOut, Do: p.leaveOut},
		{Keys: []string{"tab"}, Title: p.otherSide(), Help: "show the list or the difference, where there is no room for both", Group: group, Hint: p.narrow && p.stage != atEnd, Disabled: p.oneSide, Do: p.turnSide},
		{Keys: []string{"c"}, Title: "as kubectl", Help: "the whole plan as kubectl commands", Group: group, Hint: true, Disabled: p.noSteps, Do: p.showCommands},
		{Keys: []string{"Y"}, Title: "copy", Help: "copy what is shown, or the report", Group: group, Hint: p.stage == atEnd, Do: p.copyText},
		{Keys: esc, Title: title, Help: help, Group: group, Hint: true, Disabled: held, Do: leave},
	}
	if p.narrow && !p.detail && p.stage != atEnd {
		// What it shows is what all this is about.
		side := slices.IndexFunc(own, func(b ui.Binding) bool { return b.Keys[0] == "tab" })
		tab := own[side]
		own = slices.Insert(slices.Delete(own, side, side+1), 1, tab)
	}
	return slices.Concat(own, p.moveBindings())
}

// runBinding is the one key that lets things go on: to run what was reviewed,
// to stop that, or to look again after a stop.
func (p *walkPage) runBinding(group string) ui.Binding {
	b := ui.Binding{Keys: []string{"r"}, Title: "run the rest", Help: "run the rest of what was reviewed, and stop at anything unexpected; after a stop, look again", Group: group, Disabled: p.cannotRun, Do: func() tea.Cmd { return p.start(true) }}
	switch {
	case p.running:
		b.Title, b.Disabled = "stop the run", p.cannotStop
		b.Do = func() tea.Cmd { p.running = false; return nil }
	case p.cannotLook() == "":
		b.Title, b.Disabled, b.Do = "look again", p.cannotLook, p.lookAgain
		if p.stage == atHalt && !p.heldByOther() {
			b.Title = "look again and resume"
		}
	}
	b.Hint = b.Disabled() == ""
	return b
}

// moveBindings move from step to step, and turn the text.
func (p *walkPage) moveBindings() []ui.Binding {
	if p.stage == atEnd {
		return p.pager.Bindings()
	}
	step := func(title, help string, delta int, keys ...string) ui.Binding {
		return ui.Binding{Keys: keys, Title: title, Help: help, Group: "Move", Do: func() tea.Cmd {
			p.list.Move(delta)
			p.redraw()
			return nil
		}}
	}
	keys := []ui.Binding{step("next step", "next step", 1, "j", "down"), step("previous step", "previous step", -1, "k", "up")}
	for _, b := range p.pager.Bindings() {
		b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(key string) bool { return slices.Contains([]string{"j", "down", "k", "up"}, key) })
		if len(b.Keys) > 0 {
			b.Hint = b.Hint && b.Group == "Search" && p.pager.Searching()
			keys = append(keys, b)
		}
	}
	return keys
}

func (p *walkPage) enterTitle() string {
	switch {
	case p.stage == atReview && (p.begun() || p.confirmed):
		return "go on"
	case p.stage == atReview:
		return "start"
	}
	return "apply"
}

func (p *walkPage) enter() tea.Cmd {
	if p.stage == atReview {
		return p.start(false)
	}
	return p.approve()
}

// writesNothing says why nothing can be written at all.
func (s *session) writesNothing() string {
	switch {
	case s.opts.ReadOnly:
		return "started with --read-only: nothing is written"
	case s.opts.DryRun:
		return "started with --dry-run: nothing is written"
	}
	return ""
}

func (p *walkPage) cannotEnter() string {
	if why := p.writesNothing(); why != "" {
		return why
	}
	switch p.stage {
	case atReview:
		// What is begun is not to stay half done for the sake of a later step:
		// each is dry-run once more when its turn comes.
		if p.rehearsalErr != "" && !p.begun() {
			return "not all of it could be rehearsed; r tries again"
		}
		return ""
	case atDiff:
		return p.unread()
	case atEnd:
		return "it is done; esc goes back"
	case atHalt, atError:
		return "it halted; r looks again"
	case atWait:
		return "others have to act first"
	default:
		return "not yet: something is being asked"
	}
}

// astray says that the bar is not on the step whose turn it is.
func (p *walkPage) astray() bool {
	item, ok := p.selected()
	return p.stage == atDiff && ok && item.ID != p.due()
}

func (p *walkPage) goBack() tea.Cmd {
	p.follow()
	p.detail = true
	p.redraw()
	return p.settleAgain()
}

func (p *walkPage) cannotRun() string {
	if why := p.writesNothing(); why != "" {
		return why
	}
	switch {
	case p.running:
		return "it is running"
	case p.aside != nil:
		return "first this step"
	case p.rehearsalErr != "":
		return "not all of it could be rehearsed"
	case p.stage != atReview && p.stage != atDiff && (p.stage != atWait || p.rehearsed == nil):
		return "only after the review"
	}
	if left := p.left(); left != "" {
		return left + ": v shows the next"
	}
	return ""
}

func (p *walkPage) cannotStop() string {
	if p.stage == atWrite {
		return "a request is on its way; the run can be stopped after it"
	}
	return ""
}

func (p *walkPage) cannotLook() string {
	switch {
	case p.stage == atHalt, p.stage == atError, p.stage == atReview && p.rehearsalErr != "":
		return ""
	}
	return "nothing has changed"
}

// lookAgain looks once more. After a halt that is to resume: what was changed
// back is done again, which is reviewed and confirmed as at the start.
func (p *walkPage) lookAgain() tea.Cmd {
	if p.stage == atHalt {
		p.op.Resume()
		p.confirmed, p.running = false, false
	}
	if p.stage == atReview || !p.confirmed {
		p.rehearsed = nil
	}
	return p.look()
}

func (p *walkPage) turnTitle() string {
	if p.run.Direction == migration.Back {
		return "go on after all"
	}
	return "undo"
}

func (p *walkPage) cannotTurn() string {
	if why := p.writesNothing(); why != "" {
		return why
	}
	switch {
	case p.aside != nil:
		return "that is what this is; enter does it"
	case p.heldByOther(), p.stage == atError && p.heldElsewhere():
		return "somebody else holds it; take it over first"
	case p.stage == atEnd:
		return "it is over, and its note is taken off"
	case !p.begun():
		return "nothing was written yet; esc leaves it at that"
	case p.stage == atWrite, p.stage == atLook, p.stage == atRehearsal, p.stage == atPreview:
		return "not now: something is on its way"
	}
	return ""
}

func (p *walkPage) cannotTakeOver() string {
	if why := p.writesNothing(); why != "" {
		return why
	}
	if !p.heldByOther() {
		return "nobody else holds it"
	}
	return ""
}

func (p *walkPage) otherSide() string {
	if p.detail {
		return "steps"
	}
	return "difference"
}

// turnSide shows the list in the place of the difference, or the other way
// round.
func (p *walkPage) turnSide() tea.Cmd {
	p.detail = !p.detail
	p.gaze.moved()
	return nil
}

func (p *walkPage) oneSide() string {
	if !p.narrow || p.stage == atEnd {
		return "all of it is shown"
	}
	return ""
}

func (p *walkPage) noSteps() string {
	if len(p.rows()) == 0 {
		return "there are no steps yet"
	}
	return ""
}

func (p *walkPage) showCommands() tea.Cmd {
	title := p.name() + ": " + operationSubject(p.journal, fullName)
	items := p.items
	if p.aside != nil {
		items = append([]migration.Item{{Step: p.fresh.Step, State: migration.Now}}, p.asideItems...)
	}
	p.nav.Push(newCommands(p.session, migration.Kubectl(title, items, p.opts.KubectlFlags...)))
	return nil
}

func (p *walkPage) copyText() tea.Cmd {
	if p.stage == atEnd {
		return p.nav.Copy("the report", p.report)
	}
	return p.nav.Copy("this step", p.pager.Text())
}

// askToStop asks before a run is stopped by leaving it: with it, whatever waits
// for its end stays as it is.
func (p *walkPage) askToStop() tea.Cmd {
	title := "Stop the run?"
	if pods := stoppedText(p.journal); pods != "" && p.clock.down(p.now) != "" {
		title += " Pods of " + pods + " stay stopped"
	}
	item, _, _ := p.current()
	p.nav.Open(ui.NewMenu(title, []ui.Entry{
		{Key: "y", Title: "Stop it here, and leave", Note: p.stopText(item), Do: func() tea.Cmd {
			if !p.running {
				p.nav.Notify(ui.Notice, "The run has ended meanwhile.")
				return nil
			}
			p.running = false
			if p.Holds() != "" {
				p.nav.Notify(ui.Notice, "It stops after the request that is on its way.")
				return nil
			}
			return p.leave()
		}},
		{Key: "n", Title: "Go on", Note: "the run went on meanwhile", Do: func() tea.Cmd { return nil }},
	}))
	return nil
}

func (p *walkPage) leave() tea.Cmd {
	p.nav.Pop()
	if p.overChecks && p.begun() {
		p.nav.Pop()
	}
	if p.begun() && p.stage != atEnd {
		p.nav.Notify(ui.Notice, "The operation stays where it is: "+p.resting()+" R opens it again.")
	}
	return nil
}

// resting says what it means to leave the operation where it is.
func (p *walkPage) resting() string {
	item, _, _ := p.current()
	return sentence(p.stopText(item))
}

package views

import (
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// look reads everything afresh and finds what is next.
func (p *walkPage) look() tea.Cmd {
	p.turn++
	p.busy = true
	p.stage, p.problem, p.aside, p.asideItems = atLook, "", nil, nil
	p.redraw()
	return p.askLook()
}

// lookOn looks while others have to act: what is on screen stays.
func (p *walkPage) lookOn() tea.Cmd {
	p.turn++
	p.busy = true
	return p.askLook()
}

func (p *walkPage) fail(problem string) tea.Cmd {
	p.stage, p.problem, p.running = atError, problem, false
	return nil
}

// looked takes in a fresh look.
func (p *walkPage) looked(st kube.Standing, err error) tea.Cmd {
	if err != nil {
		if p.stage == atWait {
			// It goes on waiting, and says so.
			p.unlooked = kube.Explain(err)
			return nil
		}
		return p.fail(kube.Explain(err))
	}
	if p.rejoined && grounds(p.journal, p.standing.Scene) != grounds(p.journal, st.Scene) {
		p.rehearsed = nil
		p.changed = "What this is about changed since you left it, so that all that is left was rehearsed anew."
	}
	p.rejoined = false
	run := p.op.Part()
	turned := p.standing.Outline != nil && p.run.Direction != run.Direction
	p.standing, p.run, p.items, p.unlooked = st, run, st.Outline, ""
	if turned {
		p.rehearsed = nil
		p.clock.again()
		p.turnedHere = true
	}
	p.clock.see(p.items, p.now)
	switch move := st.Move; {
	case move.Kind == migration.Finished:
		return p.finish()
	case move.Kind == migration.Halt:
		p.stage, p.running, p.detail = atHalt, false, true
		p.follow()
		return nil
	case p.rehearsed == nil && !p.opts.ReadOnly:
		p.turn++
		p.busy = true
		p.stage = atRehearsal
		return p.askRehearsal()
	case !p.confirmed:
		p.stage = atReview
		p.follow()
		return nil
	case move.Kind == migration.WaitNow:
		if p.stage != atWait {
			p.stage = atWait
			p.follow()
		}
		return nil
	}
	return p.dryRun(st.Move.Step)
}

// rehearsal takes in the dry runs of all steps that are left.
func (p *walkPage) rehearsal(msg rehearsedMsg) {
	p.rehearsed, p.rehearsalErr = map[string]kube.StepPreview{}, ""
	for _, preview := range msg.previews {
		p.rehearsed[preview.Step.ID] = preview
	}
	if msg.err != nil {
		p.rehearsalErr = kube.Explain(msg.err)
	}
	p.stage = atReview
	p.follow()
	p.detail = false
}

// dryRun has the server dry-run the step whose turn it is, or one out of turn.
func (p *walkPage) dryRun(step migration.Step) tea.Cmd {
	p.turn++
	p.busy = true
	p.stage, p.settled = atPreview, false
	p.follow()
	return p.askPreview(step)
}

func (p *walkPage) previewed(msg stepPreviewedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
	case overtaken(msg.err) && p.tries < previewTries && p.aside == nil:
		// Something changed between two looks, as it does right after a write
		// of our own that a controller reacts to.
		p.tries++
		return p.look()
	default:
		return p.fail(kube.Explain(msg.err))
	}
	p.fresh, p.stage, p.tries = msg.preview, atDiff, 0
	if p.aside != nil {
		step := p.fresh.Step
		step.ID = asideID
		p.aside = &step
	}
	if p.running {
		if p.asRehearsed() {
			return p.send()
		}
		p.haltRun()
	}
	p.follow()
	p.pager.Top()
	p.pager.Unread()
	// Before the way back is taken, all of it is to be seen.
	p.detail = p.aside == nil || p.fresh.Step.ID != turnID
	return p.settleAgain()
}

// turnID is the step by which an operation is turned around, as package
// migration calls it.
const turnID = "turn"

// settle ends the pause after which a diff can be approved, if the page could
// be seen at its beginning and at its end. Otherwise it begins anew.
func (p *walkPage) settle(shown bool) tea.Cmd {
	if !shown || !p.nav.Showing(p) {
		return p.settleAgain()
	}
	p.settled = true
	return nil
}

func (p *walkPage) settleAgain() tea.Cmd {
	p.settled = false
	p.wait++
	return p.settleLater()
}

// approve is the user's yes to the diff on screen. A key that comes before the
// diff can have been seen approves nothing and starts the pause anew.
func (p *walkPage) approve() tea.Cmd {
	if !p.settled {
		p.nav.Notify(ui.Notice, "the diff has only just appeared: look at it first")
		return p.settleAgain()
	}
	word, text := p.stepWord()
	if word == "" {
		return p.send()
	}
	return p.ask(word, "Type "+word+" to go on", text, atDiff, p.send)
}

// stepWord is the word to type before the step on screen, and why.
func (p *walkPage) stepWord() (word string, text []ui.Span) {
	step := p.fresh.Step
	if !p.fresh.DryRun.Supported && step.Act != migration.Await {
		word = step.Target.Name
		text = append(text, ui.Span{
			Text: "The server could not dry-run this: " + p.fresh.DryRun.Reason + ". What is shown was computed here and may differ from what happens.\n",
			Role: ui.Warn,
		})
	}
	switch {
	case p.leavingOut():
		word = leftOut(step)
		text = append(text, ui.Span{Text: sentence(step.Title) + " " + sentence(step.Why) + " " + sentence(step.Then)})
	case p.aside != nil:
		word = confirmWord(p.journal)
		text = append(text, ui.Span{Text: sentence(step.Title) + " " + sentence(step.Why)})
		if step.ID == turnID {
			text = append(text, ui.Span{Text: "\n" + p.turnText(), Role: ui.Notice})
		}
	case step.Confirm != "":
		word, text = step.Confirm, append(text, ui.Span{Text: sentence(step.Title) + " " + sentence(step.Why)})
	case destroys(step):
		word = step.Target.Name
		text = append(text, ui.Span{Text: sentence(step.Title) + " This can't be taken back; what it was like is in the journal and in the backup."})
	}
	return word, text
}

// ask has a word typed. What is asked for is done only if nothing has moved
// meanwhile.
func (p *walkPage) ask(word, title string, text []ui.Span, stage walkStage, do func() tea.Cmd) tea.Cmd {
	turn := p.turn
	p.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title: title, Text: append(wholeWord(word), text...), Placeholder: p.typeWhat(word),
		Check: wantWord(word),
		Do: func(string) tea.Cmd {
			// A wait is looked at every second, whatever is typed meanwhile.
			if p.stage != stage || p.turn != turn && stage != atWait {
				p.nav.Notify(ui.Warn, "Things changed meanwhile; look at them again.")
				return nil
			}
			cmd := do()
			p.redraw()
			return cmd
		},
	}))
	return nil
}

func (p *walkPage) send() tea.Cmd {
	p.turn++
	p.busy = true
	p.stage, p.changed, p.letter = atWrite, "", newLetter()
	p.clock.send(p.fresh.Step.ID, p.now)
	p.depart(p)
	p.redraw()
	return p.askDo(p.fresh)
}

// answered takes in what became of a request.
func (p *walkPage) answered(msg performedMsg) tea.Cmd {
	if msg.stale != nil || msg.err != nil && !errors.Is(msg.err, kube.ErrOutcomeUnknown) {
		p.clock.unsend(p.fresh.Step.ID, !p.wrote)
	}
	switch {
	case msg.stale != nil:
		return p.replanned(*msg.stale)
	case msg.err == nil:
		p.wrote, p.conflicts = true, 0
		switch {
		case p.aside == nil:
		case p.leavingOut():
			// What is left is another operation than the one that was rehearsed.
			p.rehearsed, p.running = nil, false
		default:
			// The word was typed for this end of it.
			p.confirmed, p.running = true, false
		}
		if msg.performed.Unexpected != "" {
			p.running = false
			p.changed = "The server did something else than its dry run said: " + sentence(msg.performed.Unexpected)
			p.unexpected = append(p.unexpected, p.fresh.Step.Title+": "+msg.performed.Unexpected)
		}
		if why := msg.performed.Unrecorded; why != "" {
			p.nav.Notify(ui.Warn, "The backup's history lacks this step: "+sentence(why))
		}
		return p.look()
	case errors.Is(msg.err, kube.ErrOutcomeUnknown), errors.Is(msg.err, kube.ErrNotApplied):
		// Even what seems not to have arrived may yet.
		p.wrote = true
		return p.fail(kube.Explain(msg.err) + ". r reads it back")
	case overtaken(msg.err) && p.conflicts < conflictTries:
		p.conflicts++
		p.changed = "Things changed while you looked. This step was not written; this is how it is now."
		return p.look()
	default:
		return p.fail(kube.Explain(msg.err))
	}
}

// conflictTries bounds how often one step is begun anew because somebody was
// faster: the controllers write to a workload in bursts while its pods come and
// go.
const conflictTries = 8

// overtaken says that an error means no more than that things are not as they
// were when the step was chosen.
func overtaken(err error) bool {
	switch kube.KindOf(err) {
	case kube.KindConflict, kube.KindGuard, kube.KindReplaced, kube.KindNotFound:
		return true
	default:
		return false
	}
}

// replanned takes in that the cluster is not as it was when the plan was
// reviewed. Nothing has been written, so that the review begins anew.
func (p *walkPage) replanned(now draft) tea.Cmd {
	p.confirmed, p.running, p.rehearsed = false, false, nil
	if why := now.blocked(); why != "" {
		return p.fail("Nothing was written. What this depends on changed, and forbids it now: " + why)
	}
	delete(p.walks, p.journal.ID)
	p.planned, p.journal, p.items = &now, now.journal, now.items
	p.op = p.cluster.NewOperation(now.journal)
	p.walks[now.journal.ID] = p
	p.changed = "What this depends on changed since you reviewed it. Nothing was written; this is the plan as it is now."
	return p.look()
}

// started is when the first request went out, as far as that was seen here.
func (p *walkPage) started() time.Time {
	if p.planned == nil || p.clock.first.IsZero() {
		return p.journal.Started
	}
	return p.clock.first
}

// finish writes the report, once.
func (p *walkPage) finish() tea.Cmd {
	p.stage, p.running = atEnd, false
	if p.report != "" {
		return nil
	}
	p.report = report(reportInput{
		journal: p.journal, direction: p.run.Direction, items: p.items, took: p.clock.took, sent: p.clock.sent,
		whole: p.planned != nil || p.run.Direction == migration.Back && p.turnedHere, scene: p.standing.Scene, unexpected: p.unexpected,
		pods: p.clock.pods(p.now), who: p.run.Holder.Who, started: p.started(), ended: p.now,
	})
	if !p.wrote {
		// It was done before this page was opened.
		return nil
	}
	return p.saveReport()
}

package views

import (
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// stage is where a step page stands.
type stage int

const (
	// planning: reading fresh objects and checking.
	planning stage = iota
	// blocked: a check forbids it; nothing will be written.
	blocked
	// previewing: the server dry-runs the next step.
	previewing
	// ready: the diff is on screen and waits for the user.
	ready
	// applying: the request is on its way.
	applying
	// waiting: it was accepted; the watch has yet to show its effect.
	waiting
	// finished: every step has been seen to take effect.
	finished
	// failed: something went wrong; the problem says what and what to do.
	failed
)

// overdue is how long the expected state may take before the page says that
// it is late. The controller looks at everything every 15 s.
const overdue = 20 * time.Second

// previewTries bounds how often a preview is made anew by itself, because the
// object changed between two looks at it.
const previewTries = 3

// stepPage walks through a plan: checks, dry run, diff, confirmation, the
// request, and what the watch shows afterwards. Nothing it says happened was
// assumed.
type stepPage struct {
	*session
	req actions.Request
	// turn counts the questions asked; answers to older ones are dropped.
	turn  int
	stage stage

	plan actions.Plan
	// steps are all steps, of which done have taken effect. When undoing they
	// are those of the undo.
	steps []actions.Step
	next  int
	done  []doneStep
	// sent says that a request of this plan, or of its undo, has gone out;
	// sentLast that the one has which undo takes back.
	sent     bool
	sentLast bool
	// undo brings back what was there before the first request.
	undo     []actions.Step
	undoNote string
	undoing  bool
	// tries counts the previews in a row that found the object changed.
	tries int

	preview kube.Preview
	// settled: the diff has been on screen long enough to be approved; wait
	// counts the pauses that were asked for.
	settled bool
	wait    int
	// changed says what replaced a diff that went stale.
	changed string
	applied kube.Applied
	sentAt  time.Time
	// lacking is what the watch does not show yet.
	lacking string
	problem string

	// letter is the request on its way.
	letter *letter

	pager *ui.Pager
	// diffEnd is the pager's last line of the diff, -1 when there is none.
	diffEnd int
}

// doneStep is a step that has taken effect.
type doneStep struct {
	step actions.Step
	// saw is what the watch showed.
	saw string
}

func (s *session) openStep(req actions.Request) tea.Cmd {
	p := &stepPage{session: s, req: req, pager: ui.NewPager()}
	p.pager.SetWrap(true)
	p.nav.Push(p)
	return p.replan()
}

// replan reads everything afresh and finds the next step.
func (p *stepPage) replan() tea.Cmd {
	p.turn++
	p.stage, p.problem = planning, ""
	if p.opts.DryRun {
		// Nothing was written, so that the walk begins anew.
		p.done = nil
	}
	p.redraw()
	return p.ask(p.question())
}

// question is what a fresh look at the cluster has to answer.
func (p *stepPage) question() question {
	q := question{req: p.req, undoing: p.undoing}
	if p.sent || p.undoing {
		// A copy: an answer may still be sought in it when the page has gone on.
		q.steps = slices.Clone(p.steps)
	}
	return q
}

// Update implements ui.Page.
func (p *stepPage) Update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case plannedMsg:
		if msg.page == p && msg.turn == p.turn {
			cmd = p.planned(msg.finding, msg.err)
		}
	case previewedMsg:
		if msg.page == p && msg.turn == p.turn {
			cmd = p.previewed(msg)
		}
	case settledMsg:
		if msg.page == p && msg.turn == p.turn && msg.wait == p.wait {
			cmd = p.settle(msg.shown)
		}
	case appliedMsg:
		if msg.page == p && msg.turn == p.turn {
			cmd = p.answered(msg)
		}
	case snapshotMsg:
		cmd = p.look()
	case tickMsg:
	default:
		return p.pager.Update(msg)
	}
	p.redraw()
	return cmd
}

// planned takes in a fresh look.
func (p *stepPage) planned(f finding, err error) tea.Cmd {
	if err != nil {
		return p.fail(kube.Explain(err))
	}
	p.plan = f.plan
	switch {
	case !p.sent && !p.undoing:
		p.steps, p.undo, p.undoNote = f.plan.Steps, f.plan.Undo, f.plan.UndoNote
	case f.adopt:
		// The steps planned at first no longer fit how things are.
		p.steps = append(stepsOf(p.done), f.plan.Steps...)
		f.next.Step += len(p.done)
		if !p.sentLast {
			p.undo, p.undoNote = f.plan.Undo, f.plan.UndoNote
		}
	default:
		p.reconcile(f.next)
	}
	switch {
	case f.next.Kind == actions.Done:
		p.stage = finished
		return nil
	case f.next.Kind == actions.Wait:
		// It was written before, by a request whose answer was lost or by
		// somebody else; its effect has yet to be seen.
		p.next, p.stage, p.sentAt = f.next.Step, waiting, p.now
		p.applied = kube.Applied{ResourceVersion: f.volume.ResourceVersion, Object: f.volume}
		return p.look()
	case f.plan.Blocked() != "":
		p.stage = blocked
		return nil
	case f.next.Kind == actions.Halt:
		return p.fail(f.next.Reason)
	}
	if f.step != nil {
		p.steps[f.next.Step] = *f.step
	}
	return p.dryRun(f.next.Step)
}

// reconcile makes done what a fresh look found: steps that have taken effect
// unseen, and steps that somebody has undone.
func (p *stepPage) reconcile(next actions.Move) {
	upTo := next.Step
	if next.Kind == actions.Done {
		upTo = len(p.steps)
	}
	p.done = p.done[:min(len(p.done), upTo)]
	for _, st := range p.steps[len(p.done):upTo] {
		p.done = append(p.done, doneStep{st, "found so"})
	}
}

func stepsOf(done []doneStep) []actions.Step {
	steps := make([]actions.Step, len(done))
	for i, d := range done {
		steps[i] = d.step
	}
	return steps
}

// dryRun has the server dry-run a step.
func (p *stepPage) dryRun(step int) tea.Cmd {
	p.turn++
	p.next, p.stage, p.settled = step, previewing, false
	return p.session.preview(p, p.walkedSteps(), p.steps[step])
}

// walkedSteps are those that were only walked through, not written.
func (p *stepPage) walkedSteps() []actions.Step {
	if !p.opts.DryRun {
		return nil
	}
	return stepsOf(p.done)
}

func (p *stepPage) previewed(msg previewedMsg) tea.Cmd {
	switch kind := kube.KindOf(msg.err); {
	case msg.err == nil:
	case (kind == kube.KindConflict || kind == kube.KindGuard) && p.tries < previewTries:
		// Something changed between two looks, as it does right after a
		// write of our own that a controller reacts to.
		p.tries++
		return p.replan()
	default:
		return p.fail(kube.Explain(msg.err))
	}
	p.preview, p.stage, p.tries = msg.preview, ready, 0
	// A new diff is read from its beginning, whatever was read before.
	p.pager.Top()
	p.pager.Unread()
	return p.settleAgain()
}

// settle ends the pause after which a diff can be approved, if the page could
// be seen at its beginning and at its end. Otherwise it begins anew.
func (p *stepPage) settle(shown bool) tea.Cmd {
	if !shown || !p.nav.Showing(p) {
		return p.settleAgain()
	}
	p.settled = true
	return nil
}

// settleAgain starts the pause after which a diff can be approved.
func (p *stepPage) settleAgain() tea.Cmd {
	p.wait++
	return p.settledLater(p)
}

// approve is the user's yes to the diff on screen. A key that comes before the
// diff can have been seen approves nothing and starts the pause anew, so that
// a key that is held down, or pressed again and again, never gets there.
func (p *stepPage) approve() tea.Cmd {
	if !p.settled {
		p.nav.Notify(ui.Notice, "the diff has only just appeared: look at it first")
		return p.settleAgain()
	}
	word, text := p.confirmation()
	if word == "" || p.opts.DryRun {
		return p.send()
	}
	turn := p.turn
	p.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title:       "Type " + word + " to go on",
		Text:        append(wholeWord(word), text...),
		Placeholder: "type the name",
		Check:       wantWord(word),
		Do: func(string) tea.Cmd {
			if p.turn != turn || p.stage != ready {
				p.nav.Notify(ui.Warn, "The diff changed meanwhile; look at it again.")
				return nil
			}
			return p.send()
		},
	}))
	return nil
}

// confirmation is the word to type before the step on screen, and why: it
// exposes or destroys data, or could not be previewed.
func (p *stepPage) confirmation() (word string, text []ui.Span) {
	if !p.preview.DryRun.Supported {
		word = p.req.Volume.Name
		text = append(text, ui.Span{
			Text: "The server could not dry-run this: " + p.preview.DryRun.Reason + ". What is shown was computed here and may differ from what happens. ",
			Role: ui.Warn,
		})
	}
	if c := p.steps[p.next].Confirm; c != "" {
		word = c
		for _, check := range p.plan.Checks {
			if check.Severity == actions.Warn {
				text = append(text, ui.Span{Text: check.Text + ". ", Role: ui.Warn})
			}
		}
	}
	return word, text
}

func (p *stepPage) send() tea.Cmd {
	if p.opts.DryRun {
		p.done = append(p.done, doneStep{p.steps[p.next], "dry run only"})
		if p.next+1 < len(p.steps) {
			return p.dryRun(p.next + 1)
		}
		p.stage = finished
		p.redraw()
		return nil
	}
	p.turn++
	p.stage, p.sentAt, p.changed, p.letter = applying, p.now, "", newLetter()
	p.depart(p)
	p.redraw()
	approved := approval{question: p.question(), plan: p.plan, step: p.steps[p.next], preview: p.preview}
	return p.apply(p, approved)
}

func (p *stepPage) answered(msg appliedMsg) tea.Cmd {
	p.letter = nil
	switch {
	case msg.stale != nil:
		// What speaks for or against it changed while the diff was on screen.
		p.changed = "What this depends on changed while you looked. This step was not written; this is how it is now."
		return p.planned(*msg.stale, nil)
	case msg.err == nil:
		p.gone()
		p.applied, p.stage, p.lacking = msg.applied, waiting, ""
		return p.look()
	case kube.KindOf(msg.err) == kube.KindConflict:
		p.changed = "The volume changed while you looked. This step was not written; this is the new difference."
		return p.replan()
	case errors.Is(msg.err, kube.ErrOutcomeUnknown), errors.Is(msg.err, kube.ErrNotApplied):
		// Even what seems not to have arrived may yet.
		p.gone()
		return p.fail(kube.Explain(msg.err) + ". r reads it back")
	default:
		return p.fail(kube.Explain(msg.err))
	}
}

// gone notes that the request has left, whatever became of it.
func (p *stepPage) gone() {
	p.sent = true
	p.sentLast = p.sentLast || p.next == len(p.steps)-1
}

// look compares what the watch shows with what the step should bring about.
func (p *stepPage) look() tea.Cmd {
	if p.stage != waiting || !kube.Seen(p.snap, p.applied) {
		return nil
	}
	v := p.volumeNamed(p.req.Volume.Name)
	step := p.steps[p.next]
	if v == nil || v.Object.UID != p.req.Volume.UID {
		return p.fail("the volume is gone: it was deleted after the request was accepted")
	}
	if p.lacking = step.After.Mismatch(v.Object); p.lacking == "" {
		p.done = append(p.done, doneStep{step, sawState(v)})
		if p.next+1 < len(p.steps) {
			return p.replan()
		}
		p.stage = finished
		return nil
	}
	// Only the phase is the controller's to bring. All else was written by
	// our request, and is there unless somebody has written again.
	if again := step.After.AnyPhase().Mismatch(v.Object); again != "" {
		return p.fail("somebody changed the volume again after the request was accepted: " + again)
	}
	return nil
}

// sawState is a volume's state in a few words.
func sawState(v *kube.Volume) string {
	text := string(v.State.Phase)
	if name := claimOf(v.Object); name != "" && v.State.Phase != kube.Available {
		text += ", claim " + name
	}
	return text + ", policy " + string(v.Object.Spec.PersistentVolumeReclaimPolicy)
}

func (p *stepPage) fail(problem string) tea.Cmd {
	p.stage, p.problem = failed, problem
	return nil
}

// startUndo turns the page around: the plan's undo becomes what is to do.
func (p *stepPage) startUndo() tea.Cmd {
	p.undoing, p.steps, p.done, p.sent, p.changed, p.next = true, slices.Clone(p.undo), nil, false, "", 0
	return p.replan()
}

// Holds implements ui.Holder: an answer that is on its way must find its page.
func (p *stepPage) Holds() string {
	if p.stage == applying {
		return "a request is on its way; its answer is a moment away"
	}
	return ""
}

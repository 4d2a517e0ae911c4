package views

import (
	"errors"
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
	// steps are what is left to do after done. When undoing they are the
	// plan's undo.
	steps   []actions.Step
	next    int
	done    []doneStep
	undo    []actions.Step
	undoing bool

	preview kube.Preview
	// settled: the diff has been on screen long enough to be approved.
	settled bool
	// changed: the diff on screen replaces one that went stale.
	changed bool
	applied kube.Applied
	sentAt  time.Time
	// lacking is what the watch does not show yet.
	lacking string
	problem string

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
	p.redraw()
	var steps []actions.Step
	if p.undoing {
		steps = p.undo
	}
	return p.session.plan(p, p.req, steps)
}

// Update implements ui.Page.
func (p *stepPage) Update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case plannedMsg:
		if msg.page == p && msg.turn == p.turn {
			cmd = p.planned(msg)
		}
	case previewedMsg:
		if msg.page == p && msg.turn == p.turn {
			cmd = p.previewed(msg)
		}
	case settledMsg:
		if msg.page == p && msg.turn == p.turn {
			p.settled = true
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

func (p *stepPage) planned(msg plannedMsg) tea.Cmd {
	if msg.err != nil {
		return p.fail(kube.Explain(msg.err))
	}
	if !p.undoing {
		p.plan = msg.plan
		// A fresh plan lists what is left; what undo would bring back is
		// what was there before the first write.
		p.steps = msg.plan.Steps
		if len(p.done) == 0 {
			p.undo = msg.plan.Undo
		}
		if p.plan.Blocked() != "" {
			p.stage = blocked
			return nil
		}
	}
	switch msg.next.Kind {
	case actions.Done:
		p.stage = finished
		return nil
	case actions.Halt:
		return p.fail(msg.next.Reason)
	case actions.Wait:
		// It was written before, by an answer that got lost or by somebody
		// else; its effect has yet to be seen.
		p.next, p.stage, p.sentAt = msg.next.Step, waiting, p.now
		p.applied = kube.Applied{ResourceVersion: msg.volume.ResourceVersion, Object: msg.volume}
		return p.look()
	default:
		return p.ask(msg.next.Step)
	}
}

// ask has the server dry-run a step.
func (p *stepPage) ask(step int) tea.Cmd {
	p.turn++
	p.next, p.stage, p.settled = step, previewing, false
	return p.session.preview(p, p.dry(), p.steps[step])
}

// dry lists the steps that were only walked through, not written.
func (p *stepPage) dry() []actions.Step {
	if !p.opts.DryRun {
		return nil
	}
	steps := make([]actions.Step, len(p.done))
	for i, d := range p.done {
		steps[i] = d.step
	}
	return steps
}

func (p *stepPage) previewed(msg previewedMsg) tea.Cmd {
	if msg.err != nil {
		return p.fail(kube.Explain(msg.err))
	}
	p.preview, p.stage = msg.preview, ready
	return p.settledLater(p)
}

// approve is the user's yes to the diff on screen. What destroys or exposes
// data, and what could not be previewed, is typed instead of pressed.
func (p *stepPage) approve() tea.Cmd {
	word, text := "", []ui.Span(nil)
	switch {
	case p.opts.DryRun:
	case !p.preview.DryRun.Supported:
		word = p.req.Volume.Name
		text = []ui.Span{{Text: "The server could not dry-run this: " + p.preview.DryRun.Reason + ". What is shown was computed here and may differ from what happens. ", Role: ui.Warn}}
	case !p.undoing && len(p.done) == 0 && p.plan.Confirm != "":
		word = p.plan.Confirm
		for _, c := range p.plan.Checks {
			if c.Severity == actions.Warn {
				text = append(text, ui.Span{Text: c.Text + ". ", Role: ui.Warn})
			}
		}
	}
	if word == "" {
		return p.send()
	}
	turn := p.turn
	p.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title:       "Type " + word + " to go on",
		Text:        text,
		Placeholder: word,
		Check: func(typed string) string {
			if typed != word {
				return "type " + word + " to go on, esc to go back"
			}
			return ""
		},
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

func (p *stepPage) send() tea.Cmd {
	if p.opts.DryRun {
		p.done = append(p.done, doneStep{p.steps[p.next], "dry run only"})
		if p.next+1 < len(p.steps) {
			return p.ask(p.next + 1)
		}
		p.stage = finished
		p.redraw()
		return nil
	}
	p.turn++
	p.stage, p.sentAt, p.changed = applying, p.now, false
	p.redraw()
	return p.apply(p, p.preview)
}

func (p *stepPage) answered(msg appliedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		p.applied, p.stage, p.lacking = msg.applied, waiting, ""
		return p.look()
	case kube.KindOf(msg.err) == kube.KindConflict:
		p.changed = true
		return p.replan()
	case errors.Is(msg.err, kube.ErrOutcomeUnknown):
		return p.fail(kube.Explain(msg.err) + ". r reads it back")
	default:
		return p.fail(kube.Explain(msg.err))
	}
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
	if p.lacking = step.After.Mismatch(v.Object); p.lacking != "" {
		return nil
	}
	p.done = append(p.done, doneStep{step, sawState(v)})
	if p.next+1 < len(p.steps) {
		return p.replan()
	}
	p.stage = finished
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
	p.undoing, p.steps, p.done = true, p.undo, nil
	return p.replan()
}

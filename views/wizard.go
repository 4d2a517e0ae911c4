package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// walkStage is where the page of an operation stands.
type walkStage int

const (
	// atLook: everything is read afresh.
	atLook walkStage = iota
	// atRehearsal: the server dry-runs the steps that are left.
	atRehearsal
	// atReview: the whole plan is on screen; the user has not said yes.
	atReview
	// atPreview: the server dry-runs the next step.
	atPreview
	// atDiff: the next step's diff is on screen and waits for the user.
	atDiff
	// atWrite: the request is on its way.
	atWrite
	// atWait: others have to act.
	atWait
	// atHalt: things are not as the operation needs them.
	atHalt
	// atError: a question to the server failed.
	atError
	// atEnd: all of it has been seen to be as it should.
	atEnd
)

// walkPage leads through one operation: first the review of all that will be
// written, then step by step, and in the end a report. How far the operation
// has come is never assumed: before and after each write the cluster is looked
// at.
type walkPage struct {
	*session
	op      Operation
	journal migration.Journal
	// planned is the plan that this page was opened with; nil for an operation
	// that was found.
	planned *draft

	// turn counts the questions asked; busy says that one is not answered yet.
	turn  int
	busy  bool
	stage walkStage

	standing kube.Standing
	// rejoined: it was left and opened again, and has not been looked at since.
	rejoined bool
	// run is this program's part in it: which way it goes is told by that, as
	// the note on the volume goes with the last step.
	run       migration.Run
	items     []migration.Item
	rehearsed map[string]kube.StepPreview
	// rehearsalErr says that some of the steps could not be rehearsed.
	rehearsalErr string
	// fresh is the preview of the step whose turn it is.
	fresh kube.StepPreview
	// aside is a step out of turn: to take the operation over, or to turn it
	// around. asideItems are the steps that would come after it.
	aside      *migration.Step
	asideItems []migration.Item

	// overChecks: the page of the checks is below this one, and leads nowhere
	// once the operation is begun.
	overChecks bool
	// confirmed: the word was typed for what is on the way. running: what was
	// reviewed is written without further questions.
	confirmed bool
	running   bool
	// letter is the request on its way.
	letter *letter
	// wrote: a request of this page has gone out.
	wrote bool
	// turnedHere: this page has seen the operation turn to where it walks now.
	turnedHere bool
	// tries and conflicts count in a row what is tried again by itself.
	tries     int
	conflicts int

	settled bool
	wait    int
	// changed says what replaced what was on screen, problem what went wrong,
	// unlooked why a look while waiting failed.
	changed  string
	problem  string
	unlooked string
	// unexpected is what the server did otherwise than its dry runs said.
	unexpected []string

	clock  walkClock
	report string
	saved  string

	list  *ui.Table
	pager *ui.Pager
	// gaze are the differences that have been looked at.
	gaze  gaze
	kinds map[string]stepKindOf
	// shown is the step in the pager, diffEnd the last line of its diff, -1
	// when it has none.
	shown   string
	diffEnd int
	// detail: where there is room for one of the two only, it is the pager.
	detail bool
	narrow bool
}

func newWalkPage(s *session, op Operation, j migration.Journal, planned *draft) *walkPage {
	p := &walkPage{session: s, op: op, run: op.Part(), journal: j, planned: planned, pager: ui.NewPager(), diffEnd: -1}
	p.pager.SetWrap(true)
	p.list = ui.NewTable([]ui.Column{
		{Title: "STEP", Grow: true, Middle: true, Min: 12},
		{Title: "TOOK", Align: ui.Right, Priority: 1},
	})
	if planned != nil {
		p.items = planned.items
	}
	p.redraw()
	return p
}

// openOperation shows the page of an operation. One that was left is gone on
// with where it stands.
func (s *session) openOperation(id string, begin func() (*walkPage, error)) tea.Cmd {
	if s.walks == nil {
		s.walks = map[string]*walkPage{}
	}
	p := s.walks[id]
	if p == nil || p.stage == atEnd {
		var err error
		if p, err = begin(); err != nil {
			s.nav.Notify(ui.Warn, kube.Explain(err))
			return nil
		}
		s.walks[id] = p
	}
	p.overChecks, p.rejoined = false, p.rehearsed != nil
	s.walking++
	s.nav.Push(p)
	return p.look()
}

// Closed implements ui.Closer: nothing goes on while nobody looks.
func (p *walkPage) Closed() {
	p.running = false
	p.walking--
}

// Holds implements ui.Holder: an answer that is on its way must find its page.
func (p *walkPage) Holds() string {
	switch {
	case p.stage == atWrite:
		return "a request is on its way; its answer is a moment away"
	case p.running:
		return "the run would stop: esc asks about that first"
	}
	return ""
}

// Update implements ui.Page.
func (p *walkPage) Update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case lookedMsg:
		if msg.page == p && msg.turn == p.turn {
			p.busy = false
			cmd = p.looked(msg.standing, msg.err)
		}
	case rehearsedMsg:
		if msg.page == p && msg.turn == p.turn {
			p.busy = false
			p.rehearsal(msg)
		}
	case stepPreviewedMsg:
		if msg.page == p && msg.turn == p.turn {
			p.busy = false
			cmd = p.previewed(msg)
		}
	case walkSettledMsg:
		if msg.page == p && msg.turn == p.turn && msg.wait == p.wait {
			cmd = p.settle(msg.shown)
		}
	case performedMsg:
		if msg.page == p && msg.turn == p.turn {
			p.busy, p.letter = false, nil
			cmd = p.answered(msg)
		}
	case reportSavedMsg:
		if msg.page == p {
			p.saved = "kept in " + msg.folder
			if msg.err != nil {
				p.saved = "NOT kept: " + kube.Explain(msg.err)
			}
		}
	case snapshotMsg, tickMsg:
		if _, second := msg.(tickMsg); second {
			p.glance()
		}
		// Waits are looked at with every change, and once a second besides.
		if p.stage == atWait && !p.busy {
			cmd = p.lookOn()
		}
	default:
		return p.pager.Update(msg)
	}
	p.redraw()
	return cmd
}

// begun says that the operation is noted on its lead volume, as far as was
// seen.
func (p *walkPage) begun() bool {
	return p.wrote || p.standing.Holder.Token != "" || len(p.items) > 0 && p.items[0].State == migration.Done
}

// current is the step whose turn it is, and its position.
func (p *walkPage) current() (item migration.Item, at int, ok bool) {
	for i, item := range p.items {
		if item.State == migration.Now {
			return item, i, true
		}
	}
	return migration.Item{}, len(p.items), false
}

// heldByOther says that another program works on the operation.
func (p *walkPage) heldByOther() bool { return p.stage == atHalt && p.heldElsewhere() }

// heldElsewhere says that the last look that succeeded showed another program
// at work on it.
func (p *walkPage) heldElsewhere() bool {
	token := p.standing.Holder.Token
	return token != "" && token != p.run.Holder.Token
}

// warnings are the checks that were warned of before the start.
func (p *walkPage) warnings() []actions.Check {
	if p.planned == nil {
		return nil
	}
	var out []actions.Check
	for _, c := range p.planned.checks {
		if c.Severity == actions.Warn {
			out = append(out, c)
		}
	}
	return out
}

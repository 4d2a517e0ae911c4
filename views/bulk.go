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

// bulkAtOnce is how many volumes are looked at at the same time.
const bulkAtOnce = 4

// bulkState is where one volume of a bulk stands.
type bulkState int

const (
	// bulkLooking: it is read afresh, checked and dry-run, or will be.
	bulkLooking bulkState = iota
	// bulkReady: its diff is there.
	bulkReady
	// bulkAlready: it is as wished.
	bulkAlready
	// bulkBlocked: a check forbids it.
	bulkBlocked
	// bulkFailed: an error, before anything was sent or after it.
	bulkFailed
	// bulkApplying: its request is on its way.
	bulkApplying
	// bulkWaiting: it was accepted; the watch has yet to show its effect.
	bulkWaiting
	// bulkDone: its effect was seen.
	bulkDone
	// bulkSkipped: it was not written, since it is not as it was approved.
	bulkSkipped
	// bulkUntried: its turn did not come.
	bulkUntried
)

// bulkItem is one volume of a bulk.
type bulkItem struct {
	question
	state bulkState
	// note says more: the reason why not, or what was seen.
	note string
	// What was found and approved.
	finding finding
	step    actions.Step
	preview kube.Preview
	// kind is what the difference has in common with those that need not be
	// looked at besides.
	kind string
	// group is the position of that kind among those of the page.
	group   int
	applied kube.Applied
	sentAt  time.Time
	// sent: a request has gone out, which undo takes back.
	sent     bool
	undo     []actions.Step
	undoNote string
}

// bulkStage is where the page as a whole stands.
type bulkStage int

const (
	bulkPreparing bulkStage = iota
	// bulkAsking: all diffs are there, and wait for the user.
	bulkAsking
	// bulkRunning: one after the other is sent.
	bulkRunning
	// bulkEnded: no more is sent; effects may still have to be seen.
	bulkEnded
)

// bulkPage is one wish about many volumes: a plan for each, all diffs first,
// one approval, and then each is carried out as if it were alone.
type bulkPage struct {
	*session
	bulk  actions.Bulk
	items []*bulkItem
	turn  int
	stage bulkStage
	// queue are the items that are next, to be looked at or to be sent.
	queue []int
	// asked counts the looks that are under way.
	asked int
	// stopping: nothing further is sent, and stopped says why.
	stopping bool
	stopped  string
	undoing  bool

	// letter is the request on its way.
	letter *letter

	// settled and wait are those of a step page.
	settled bool
	wait    int
	// gaze are the differences that have been looked at, one of each kind.
	gaze  gaze
	kinds []bulkKind

	table   *ui.Table
	pager   *ui.Pager
	diffEnd int
}

func (s *session) openBulk(b actions.Bulk) tea.Cmd {
	p := &bulkPage{session: s, bulk: b, table: ui.NewTable(bulkColumns()), pager: ui.NewPager()}
	p.pager.SetWrap(true)
	for _, req := range b.Requests {
		p.items = append(p.items, &bulkItem{question: question{req: req}})
	}
	p.table.SetRows(bulkRows{p})
	p.nav.Push(p)
	return p.prepare()
}

// prepare looks at all that was not sent, and has it dry-run.
func (p *bulkPage) prepare() tea.Cmd {
	p.turn++
	p.stage, p.asked, p.queue, p.settled, p.stopping, p.stopped = bulkPreparing, 0, nil, false, false, ""
	p.gaze.forget()
	p.kinds = nil
	for i, it := range p.items {
		switch {
		case it.state == bulkDone, it.state == bulkWaiting:
		case it.undoing && len(it.steps) == 0:
			it.state, it.note = bulkBlocked, it.undoNote
		default:
			it.state, it.note = bulkLooking, ""
			p.queue = append(p.queue, i)
		}
	}
	p.fromTheStart()
	p.redraw()
	return p.lookOn()
}

// lookOn keeps as many looks under way as there may be.
func (p *bulkPage) lookOn() tea.Cmd {
	var cmds []tea.Cmd
	for len(p.queue) > 0 && p.asked < bulkAtOnce {
		cmds = append(cmds, p.lookAt(p.queue[0]))
		p.queue, p.asked = p.queue[1:], p.asked+1
	}
	if p.asked == 0 {
		p.stage = bulkAsking
		p.group()
		if ready := p.in(bulkReady); len(ready) > 0 && p.current().state != bulkReady {
			// What can be approved is what one wants to see.
			p.choose(func() { p.table.Select(uidID(p.items[ready[0]].req.Volume.UID)) })
		}
		return p.settleAgain()
	}
	return tea.Batch(cmds...)
}

// Update implements ui.Page.
func (p *bulkPage) Update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case bulkLookedMsg:
		if msg.page == p && msg.turn == p.turn {
			p.asked--
			p.items[msg.item].found(msg.look)
			if p.current() == p.items[msg.item] {
				p.fromTheStart()
			}
			cmd = p.lookOn()
		}
	case bulkSettledMsg:
		if msg.page == p && msg.turn == p.turn && msg.wait == p.wait {
			cmd = p.settle(msg.shown)
		}
	case bulkAppliedMsg:
		if msg.page == p && msg.turn == p.turn {
			p.letter = nil
			p.answered(p.items[msg.item], msg)
			p.look()
			cmd = p.sendNext()
		}
	case snapshotMsg:
		p.look()
	case tickMsg:
		p.glance()
	default:
		return nil
	}
	p.redraw()
	return cmd
}

// found takes in a fresh look.
func (it *bulkItem) found(l bulkLook) {
	it.finding, it.preview, it.kind = l.finding, l.preview, diffKind(l.preview)
	next := l.finding.next
	switch why := l.finding.plan.Blocked(); {
	case l.err != nil:
		it.state, it.note = bulkFailed, kube.Explain(l.err)
	case next.Kind == actions.Done, l.finding.plan.Already():
		it.state, it.note = bulkAlready, why
		if it.sent {
			// The answer was lost, and it did take effect.
			it.state, it.note = bulkDone, "found so"
		}
	case why != "":
		it.state, it.note = bulkBlocked, why
	case next.Kind != actions.Act:
		it.state, it.note = bulkBlocked, next.Reason
	default:
		it.state, it.step = bulkReady, l.step
		if !it.undoing {
			it.undo, it.undoNote = l.finding.plan.Undo, l.finding.plan.UndoNote
		}
	}
}

func (p *bulkPage) settle(shown bool) tea.Cmd {
	if !shown || !p.nav.Showing(p) {
		return p.settleAgain()
	}
	p.settled = true
	return nil
}

func (p *bulkPage) settleAgain() tea.Cmd {
	p.wait++
	return p.settledLater()
}

// in lists the items in some states.
func (p *bulkPage) in(states ...bulkState) []int {
	var found []int
	for i, it := range p.items {
		if slices.Contains(states, it.state) {
			found = append(found, i)
		}
	}
	return found
}

func (p *bulkPage) run(ready []int) tea.Cmd {
	p.turn++
	p.stage, p.queue = bulkRunning, ready
	p.depart(p)
	cmd := p.sendNext()
	p.redraw()
	return cmd
}

// sendNext sends what is next, or ends.
func (p *bulkPage) sendNext() tea.Cmd {
	if len(p.queue) == 0 || p.stopping {
		for _, i := range p.queue {
			p.items[i].state, p.items[i].note = bulkUntried, p.stopped
		}
		p.queue, p.stage = nil, bulkEnded
		return nil
	}
	i := p.queue[0]
	p.queue = p.queue[1:]
	it := p.items[i]
	it.state, it.sentAt, p.letter = bulkApplying, p.now, newLetter()
	return p.applyOne(i)
}

// answered takes in what became of a request. The others go on, unless nobody
// answers any more.
func (p *bulkPage) answered(it *bulkItem, msg bulkAppliedMsg) {
	switch kind := kube.KindOf(msg.err); {
	case msg.changed != "":
		it.state, it.note = bulkSkipped, msg.changed
	case msg.err == nil:
		it.sent, it.applied, it.state = true, msg.applied, bulkWaiting
	case kind == kube.KindConflict:
		it.state, it.note = bulkSkipped, "not written: it changed in the moment that it was to be"
	case kind == kube.KindGuard, kind == kube.KindReplaced:
		it.state, it.note = bulkSkipped, "not written: "+kube.Explain(msg.err)
	default:
		unknown := errors.Is(msg.err, kube.ErrOutcomeUnknown)
		it.state, it.note = bulkFailed, kube.Explain(msg.err)
		// Even what seems not to have arrived may yet.
		it.sent = unknown || errors.Is(msg.err, kube.ErrNotApplied)
		if unknown || kind == kube.KindUnreachable {
			p.stopping, p.stopped = true, "stopped, since the server did not answer"
		}
	}
}

// look compares what the watch shows with what was to come about.
func (p *bulkPage) look() {
	for _, it := range p.items {
		if it.state != bulkWaiting || !kube.Seen(p.snap, it.applied) {
			continue
		}
		v := p.volumeNamed(it.req.Volume.Name)
		if v == nil || v.Object.UID != it.req.Volume.UID {
			it.state, it.note = bulkFailed, "the volume is gone: it was deleted after the request was accepted"
			continue
		}
		if it.note = it.step.After.Mismatch(v.Object); it.note == "" {
			it.state, it.note = bulkDone, sawState(v)
		} else if again := it.step.After.AnyPhase().Mismatch(v.Object); again != "" {
			it.state, it.note = bulkFailed, "somebody changed the volume again after the request was accepted: "+again
		}
	}
}

// stop lets the request that is on its way end, and sends no other.
func (p *bulkPage) stop() tea.Cmd {
	p.stopping, p.stopped = true, "you stopped before its turn"
	p.redraw()
	return nil
}

// startUndo turns the page around: what was sent is to be taken back, each by
// the undo of its own plan.
func (p *bulkPage) startUndo() tea.Cmd {
	p.items = slices.DeleteFunc(p.items, func(it *bulkItem) bool { return !it.sent })
	for _, it := range p.items {
		it.undoing, it.steps, it.sent, it.state = true, slices.Clone(it.undo), false, bulkLooking
	}
	p.undoing = true
	p.table.SetRows(bulkRows{p})
	p.table.Top()
	return p.prepare()
}

// Holds implements ui.Holder: what was approved is either carried out or
// stopped, and not left behind.
func (p *bulkPage) Holds() string {
	if p.stage == bulkRunning {
		return "requests are on their way; x stops after the next"
	}
	return ""
}

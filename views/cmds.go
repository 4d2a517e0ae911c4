package views

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Times that a person notices.
const (
	// tick is how often ages on the screen are brought up to date.
	tick = time.Second
	// readTimeout bounds reads that someone waits for, writeTimeout all that
	// belongs to the one request that changes something: the last look before
	// it, and reading back when its answer is lost.
	readTimeout  = 15 * time.Second
	writeTimeout = 90 * time.Second
	// settle is how long a diff must have been on screen before a key can
	// approve it: a key pressed before one could see it approves nothing. It is
	// longer than it takes a key that is held down to begin repeating.
	settle = 1200 * time.Millisecond
)

// errStale stops a request at the last moment: things are not as they were
// approved.
var errStale = errors.New("things have changed since they were approved")

// snapshotMsg brings a new snapshot, or the end of the feed.
type snapshotMsg struct {
	snap *kube.Snapshot
	err  error
}

// tickMsg brings the time.
type tickMsg time.Time

// Messages of a step page carry its turn, so that an answer to a question
// that is no longer asked is dropped.
type (
	plannedMsg struct {
		page    *stepPage
		turn    int
		finding finding
		err     error
	}
	previewedMsg struct {
		page    *stepPage
		turn    int
		preview kube.Preview
		err     error
	}
	settledMsg struct {
		page *stepPage
		turn int
		wait int
		// shown: the page could be seen when the pause began.
		shown bool
	}
	appliedMsg struct {
		page    *stepPage
		turn    int
		applied kube.Applied
		// stale is how things are now, when they are not as they were
		// approved: then nothing was sent.
		stale *finding
		err   error
	}
)

// Messages of a details page.
type (
	eventsMsg struct {
		page   *detailsPage
		turn   int
		events []kube.Event
		err    error
	}
	manifestMsg struct {
		page *detailsPage
		turn int
		yaml string
		err  error
	}
)

// timer is tea.Tick, but for a timer that ends with the program: the one that
// is running when the user quits must not outlive the screen.
func timer(ctx context.Context) func(time.Duration, func(time.Time) tea.Msg) tea.Cmd {
	return func(d time.Duration, msg func(time.Time) tea.Msg) tea.Cmd {
		return func() tea.Msg {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case now := <-t.C:
				return msg(now)
			case <-ctx.Done():
				return nil
			}
		}
	}
}

func (s *session) everyTick() tea.Cmd {
	return s.after(tick, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// nextSnapshot waits for the next snapshot. Exactly one is outstanding.
func (s *session) nextSnapshot() tea.Cmd {
	return func() tea.Msg {
		snap, err := s.cluster.Next(s.ctx)
		return snapshotMsg{snap: snap, err: err}
	}
}

// ask has the cluster looked at afresh.
func (p *stepPage) ask(q question) tea.Cmd {
	turn, snap := p.turn, p.snap
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, readTimeout)
		defer cancel()
		f, err := q.look(ctx, p.cluster, snap)
		return plannedMsg{page: p, turn: turn, finding: f, err: err}
	}
}

func (s *session) preview(p *stepPage, done []actions.Step, step actions.Step) tea.Cmd {
	turn := p.turn
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, readTimeout)
		defer cancel()
		preview, err := s.cluster.Preview(ctx, done, step)
		return previewedMsg{page: p, turn: turn, preview: preview, err: err}
	}
}

func (s *session) settledLater(p *stepPage) tea.Cmd {
	done := settledMsg{page: p, turn: p.turn, wait: p.wait, shown: s.nav.Showing(p)}
	return s.after(settle, func(time.Time) tea.Msg { return done })
}

// apply sends the one request that was approved, if a last look shows that
// all is still as it was approved: the server's precondition guards the
// volume, but not the claims that the checks were about.
//
// It is not tied to the program's context: a write that is on its way when
// the user quits is waited for by main, not torn down.
func (s *session) apply(p *stepPage, a approval) tea.Cmd {
	turn, snap, sent := p.turn, s.snap, p.letter
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), writeTimeout)
		defer cancel()
		var stale *finding
		applied, err := s.cluster.Apply(ctx, a.preview, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			now, err := a.look(ctx, s.cluster, snap)
			if err == nil && !a.holds(now) {
				stale = &now
				return errStale
			}
			return err
		})
		sent.end(err)
		if stale != nil {
			err = nil
		}
		return appliedMsg{page: p, turn: turn, applied: applied, stale: stale, err: err}
	}
}

func (s *session) readEvents(p *detailsPage, ref actions.Ref) tea.Cmd {
	turn := p.turn
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, readTimeout)
		defer cancel()
		events, err := s.cluster.Events(ctx, ref)
		return eventsMsg{page: p, turn: turn, events: events, err: err}
	}
}

func (s *session) readManifest(p *detailsPage, ref actions.Ref) tea.Cmd {
	turn := p.turn
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, readTimeout)
		defer cancel()
		yaml, err := s.cluster.Manifest(ctx, ref)
		return manifestMsg{page: p, turn: turn, yaml: yaml, err: err}
	}
}

package views

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// rehearseTimeout bounds the dry runs of a whole operation, or a look at all
// that it is about.
const rehearseTimeout = time.Minute

// Messages of the pages of an operation carry the page's turn, so that an
// answer to a question that is no longer asked is dropped.
type (
	draftedMsg struct {
		page  *checksPage
		turn  int
		draft draft
		err   error
	}
	lookedMsg struct {
		page     *walkPage
		turn     int
		standing kube.Standing
		err      error
	}
	rehearsedMsg struct {
		page     *walkPage
		turn     int
		previews []kube.StepPreview
		err      error
	}
	stepPreviewedMsg struct {
		page    *walkPage
		turn    int
		preview kube.StepPreview
		err     error
	}
	walkSettledMsg struct {
		page  *walkPage
		turn  int
		wait  int
		shown bool
	}
	performedMsg struct {
		page      *walkPage
		turn      int
		performed kube.Performed
		// stale is how things are now, when they are not as they were reviewed:
		// then nothing was sent.
		stale *draft
		err   error
	}
	reportSavedMsg struct {
		page   *walkPage
		folder string
		err    error
	}
	backupsMsg struct {
		turn    int
		backups []kube.Backup
		// reports are those of the operations that have come to their end, by
		// the folder.
		reports map[string]string
		err     error
	}
)

// draft is an operation as it is planned.
type draft struct {
	journal migration.Journal
	checks  []actions.Check
	items   []migration.Item
	// operators are the owners that the user has to take responsibility for.
	operators []string
}

// blocked is the reason why it must not be started, or nothing.
func (d draft) blocked() string {
	for _, c := range d.checks {
		if c.Severity == actions.Block {
			return c.Text
		}
	}
	return ""
}

// same says whether another plan, made later, is the same operation.
func (d draft) same(other draft) bool {
	a, b := d.journal, other.journal
	b.ID, b.Started, b.By = a.ID, a.Started, a.By
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	two, err := json.Marshal(b)
	return err == nil && string(one) == string(two) && slices.Equal(d.checks, other.checks)
}

func (s *session) plan(ctx context.Context, req migration.Request, snap *kube.Snapshot) (draft, error) {
	ctx, cancel := context.WithTimeout(ctx, rehearseTimeout)
	defer cancel()
	plan, err := s.cluster.PlanOperation(ctx, req, snap)
	return draft{plan.Journal, plan.Checks, plan.Outline, plan.Operators}, err
}

func (p *checksPage) ask() tea.Cmd {
	turn, snap, req := p.turn, p.snap, p.req
	return func() tea.Msg {
		d, err := p.plan(p.ctx, req, snap)
		return draftedMsg{page: p, turn: turn, draft: d, err: err}
	}
}

func (p *walkPage) askLook() tea.Cmd {
	turn, snap, op := p.turn, p.snap, p.op
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, rehearseTimeout)
		defer cancel()
		st, err := op.Look(ctx, snap)
		return lookedMsg{page: p, turn: turn, standing: st, err: err}
	}
}

func (p *walkPage) askRehearsal() tea.Cmd {
	turn, op, at := p.turn, p.op, p.standing
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, rehearseTimeout)
		defer cancel()
		previews, err := op.Rehearse(ctx, at)
		return rehearsedMsg{page: p, turn: turn, previews: previews, err: err}
	}
}

func (p *walkPage) askPreview(step migration.Step) tea.Cmd {
	turn, op := p.turn, p.op
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, readTimeout)
		defer cancel()
		preview, err := op.Preview(ctx, step)
		return stepPreviewedMsg{page: p, turn: turn, preview: preview, err: err}
	}
}

// askAside previews a step that the operation itself makes.
func (p *walkPage) askAside(step func(Operation, kube.Standing) (migration.Step, error)) tea.Cmd {
	turn, op, at := p.turn, p.op, p.standing
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(p.ctx, readTimeout)
		defer cancel()
		s, err := step(op, at)
		if err != nil {
			return stepPreviewedMsg{page: p, turn: turn, err: err}
		}
		preview, err := op.Preview(ctx, s)
		return stepPreviewedMsg{page: p, turn: turn, preview: preview, err: err}
	}
}

// askDo sends what was approved. Before the first write of an operation, all
// that it was planned from is looked at once more: until then the plan can
// still be made anew. It is not tied to the program's context, as a request
// that is on its way is waited for by main.
func (p *walkPage) askDo(preview kube.StepPreview) tea.Cmd {
	turn, op, snap, sent := p.turn, p.op, p.snap, p.letter
	var planned *draft
	if p.planned != nil && !p.begun() && p.aside == nil {
		planned = p.planned
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), writeTimeout)
		defer cancel()
		if planned != nil {
			now, err := p.plan(ctx, planned.journal.Request, snap)
			if err != nil {
				sent.end(kube.ErrNotSent)
				return performedMsg{page: p, turn: turn, err: err}
			}
			if !planned.same(now) {
				sent.end(kube.ErrNotSent)
				return performedMsg{page: p, turn: turn, stale: &now}
			}
		}
		done, err := op.Do(ctx, snap, preview)
		sent.end(err)
		return performedMsg{page: p, turn: turn, performed: done, err: err}
	}
}

func (p *walkPage) settleLater() tea.Cmd {
	done := walkSettledMsg{page: p, turn: p.turn, wait: p.wait, shown: p.nav.Showing(p)}
	return p.after(settle, func(time.Time) tea.Msg { return done })
}

func (p *walkPage) saveReport() tea.Cmd {
	folder, text := p.op.Folder(), p.report
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), readTimeout)
		defer cancel()
		err := p.cluster.SaveReport(ctx, folder, text)
		return reportSavedMsg{page: p, folder: folder, err: err}
	}
}

// readBackups asks for the list of operations. Asked for again before it came,
// it comes once.
func (s *session) readBackups() tea.Cmd {
	s.backupsTurn++
	turn := s.backupsTurn
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.ctx, readTimeout)
		defer cancel()
		backups, err := s.cluster.Backups(ctx)
		reports := make(map[string]string)
		for _, b := range backups {
			if b.Err != nil {
				continue
			}
			text, unread := s.cluster.Report(ctx, b.Path)
			reports[b.Path], err = text, errors.Join(err, unread)
		}
		return backupsMsg{turn: turn, backups: backups, reports: reports, err: err}
	}
}

package views

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Messages of a bulk page carry its turn, as those of a step page do.
type (
	bulkLookedMsg struct {
		page *bulkPage
		turn int
		item int
		look bulkLook
	}
	bulkSettledMsg struct {
		page *bulkPage
		turn int
		wait int
		// shown: the page could be seen when the pause began.
		shown bool
	}
	bulkAppliedMsg struct {
		page *bulkPage
		turn int
		item int
		// changed says why nothing was sent: it is not as it was approved.
		changed string
		applied kube.Applied
		err     error
	}
)

// bulkLook is what a fresh look at one volume shows.
type bulkLook struct {
	finding finding
	// step is the one that is next, and preview its dry run.
	step    actions.Step
	preview kube.Preview
	err     error
}

// judge is a look with the eyes of the bulk.
func (q question) judge(ctx context.Context, cluster Cluster, b actions.Bulk, snap *kube.Snapshot) (finding, error) {
	f, err := q.look(ctx, cluster, snap)
	if err != nil || q.undoing {
		return f, err
	}
	f.plan = b.Judge(f.plan, f.world)
	if why := f.plan.Blocked(); why != "" {
		f.next = actions.Move{Kind: actions.Halt, Reason: why}
	}
	return f, nil
}

// nextStep is the step that a look found to be next.
func (q question) nextStep(f finding) (actions.Step, bool) {
	steps := f.plan.Steps
	if q.undoing {
		steps = q.steps
	}
	if f.next.Kind != actions.Act || f.plan.Blocked() != "" || f.next.Step >= len(steps) {
		return actions.Step{}, false
	}
	return steps[f.next.Step], true
}

func (p *bulkPage) lookAt(item int) tea.Cmd {
	turn, snap, q, cluster, b, parent := p.turn, p.snap, p.items[item].question, p.cluster, p.bulk, p.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, readTimeout)
		defer cancel()
		l := bulkLook{}
		l.finding, l.err = q.judge(ctx, cluster, b, snap)
		if l.err == nil {
			var due bool
			if l.step, due = q.nextStep(l.finding); due {
				l.preview, l.err = cluster.Preview(ctx, nil, l.step)
			}
		}
		return bulkLookedMsg{page: p, turn: turn, item: item, look: l}
	}
}

func (p *bulkPage) settledLater() tea.Cmd {
	done := bulkSettledMsg{page: p, turn: p.turn, wait: p.wait, shown: p.nav.Showing(p)}
	return p.after(settle, func(time.Time) tea.Msg { return done })
}

// applyOne carries out one volume's step as it was approved: a new dry run must
// show the same difference, and a last look the same step and checks. It is not
// tied to the program's context once it has begun; main waits for it.
func (p *bulkPage) applyOne(item int) tea.Cmd {
	it := p.items[item]
	turn, snap, cluster, b, parent, sent := p.turn, p.snap, p.cluster, p.bulk, p.ctx, p.letter
	a := approval{question: it.question, plan: it.finding.plan, step: it.step, preview: it.preview}
	return func() tea.Msg {
		msg := bulkAppliedMsg{page: p, turn: turn, item: item}
		reading, cancel := context.WithTimeout(parent, readTimeout)
		fresh, err := cluster.Preview(reading, nil, a.step)
		cancel()
		if err != nil {
			msg.err = err
			sent.end(err)
			return msg
		}
		if fresh.DryRun.Supported != a.preview.DryRun.Supported || changedLines(fresh.Diff) != changedLines(a.preview.Diff) {
			msg.changed = "not written: the difference is not the one that was approved any more"
			sent.end(errStale)
			return msg
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), writeTimeout)
		defer cancel()
		stale := ""
		msg.applied, msg.err = cluster.Apply(ctx, fresh, func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			now, err := a.judge(ctx, cluster, b, snap)
			if err != nil {
				return err
			}
			if stale = a.broken(now); stale != "" {
				return errStale
			}
			return nil
		})
		sent.end(msg.err)
		if stale != "" {
			msg.changed, msg.err = stale, nil
		}
		return msg
	}
}

// broken says why a fresh look does not show what was approved any more.
func (a approval) broken(now finding) string {
	switch {
	case a.holds(now):
		return ""
	case now.plan.Blocked() != "":
		return "not written, since it is blocked now: " + now.plan.Blocked()
	case now.next.Kind != actions.Act && now.next.Reason != "":
		return "not written: " + now.next.Reason
	default:
		return "not written: what speaks for or against it changed since it was approved"
	}
}

// changedLines are the lines that a diff adds and removes, without what is
// around them and where that is.
func changedLines(diff string) string {
	var b strings.Builder
	inHunk := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && (line[0] == '+' || line[0] == '-'):
			b.WriteString(line)
		}
	}
	return b.String()
}

// diffKind is what differences have in common that a person need not look at
// twice: the changed lines and what they are part of, as far as the difference
// shows it, but for which uid and which version of a claim that has gone is
// removed.
func diffKind(p kube.Preview) string {
	var b strings.Builder
	var within keyPath
	inHunk := false
	for line := range strings.Lines(p.Diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk, within = true, nil
			continue
		case !inHunk:
			continue
		}
		within = within.at(line[1:])
		if line[0] != '+' && line[0] != '-' {
			continue
		}
		for _, field := range []string{"uid:", "resourceVersion:"} {
			if rest := strings.TrimSpace(strings.TrimPrefix(line, "-")); line[0] == '-' && strings.HasPrefix(rest, field) {
				line = "- " + field + "\n"
			}
		}
		b.WriteString(within.String() + line)
	}
	if !p.DryRun.Supported {
		b.WriteString("not dry-run")
	}
	return b.String()
}

// keyPath are the keys that a line of YAML is part of, the outermost first.
type keyPath []yamlKey

// yamlKey is a key without a value on its own line.
type yamlKey struct {
	indent int
	text   string
}

// at is the path of the next line.
func (k keyPath) at(line string) keyPath {
	text := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " "))
	deep := indent
	if strings.HasPrefix(text, "- ") {
		// The items of a list stand no deeper than its key.
		deep++
	}
	k = slices.DeleteFunc(slices.Clone(k), func(outer yamlKey) bool { return outer.indent >= deep })
	if strings.HasSuffix(text, ":") {
		k = append(k, yamlKey{indent, text})
	}
	return k
}

// String implements fmt.Stringer.
func (k keyPath) String() string {
	var b strings.Builder
	for _, outer := range k {
		b.WriteString(outer.text)
	}
	return b.String()
}

package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// text prints the answer for people.
func (a *answer) text(p *printer) {
	p.line(p.paint(cell{short(a.Object), ui.Strong}) + gutter + p.paint(cell{string(a.Verdict), ui.Dim}))
	p.paragraph("", cell{a.Summary.String(), ui.Plain})
	if len(a.Evidence) > 0 {
		p.heading("Evidence")
		rows := make([][]cell, 0, len(a.Evidence))
		for _, f := range a.Evidence {
			rows = append(rows, []cell{{f.Label, ui.Dim}, {f.Text, levelRole(f.Level)}})
		}
		p.table(gutter, nil, rows, 1)
	}
	a.candidates(p)
	a.takers(p)
	sentences(p, "What uses it or holds it", a.Holders, func(h explain.Holder) cell {
		if h.Blocks {
			h.Text += " (a deletion waits for it)"
		}
		return cell{h.Text, levelRole(h.Level)}
	})
	sentences(p, "What can be done", a.Remedies, func(r explain.Remedy) cell { return cell{r.Text, ui.Plain} })
	if len(a.risks) > 0 {
		p.heading("Risks")
		rows := make([][]cell, 0, len(a.risks))
		for _, r := range a.risks {
			word := r.Severity.String()
			rows = append(rows, []cell{{word, severityRole(word)}, {r.Text + ". " + r.Remedy, ui.Plain}})
		}
		p.table(gutter, nil, rows, 1)
	}
	if len(a.timeline) > 0 {
		p.heading("Timeline")
		rows := make([][]cell, 0, len(a.timeline))
		for _, m := range a.timeline {
			rows = append(rows, []cell{{duration.HumanDuration(max(a.now.Sub(m.When), 0)) + " ago", ui.Dim}, {momentText(m), levelRole(m.Level)}})
		}
		p.table(gutter, nil, rows, 1)
	}
	if len(a.tree) > 0 {
		p.heading("Tree")
		for _, n := range a.tree {
			branch(p, n, gutter, gutter)
		}
	}
}

func (a *answer) candidates(p *printer) {
	c := a.Candidates
	if c == nil || c.Total == 0 {
		return
	}
	p.heading(fmt.Sprintf("Volumes that were compared: %d of %d fit", c.Fit, c.Total))
	rows := make([][]cell, 0, len(c.List))
	for _, candidate := range c.List {
		role := ui.Plain
		if candidate.Fits() {
			role = ui.Good
		}
		rows = append(rows, []cell{{candidate.Volume.Name, ui.Strong}, {candidate.Text(), role}})
	}
	p.table(gutter, nil, rows, 1)
	more(p, c.Total-len(c.List))
}

func (a *answer) takers(p *printer) {
	t := a.Takers
	if t == nil || t.Total == 0 {
		return
	}
	title := "Claims that would take it if it were open"
	if t.Open {
		title = "Claims that take it"
	}
	p.heading(title)
	rows := make([][]cell, 0, len(t.List))
	for _, taker := range t.List {
		when := "later"
		if taker.AtOnce {
			when = "at once"
		}
		rows = append(rows, []cell{{taker.Claim.Namespace + "/" + taker.Claim.Name, ui.Strong}, {when, ui.Dim}, {taker.Text, ui.Plain}})
	}
	p.table(gutter, nil, rows, 1)
	more(p, t.Total-len(t.List))
}

// more says how many were left out.
func more(p *printer, n int) {
	if n > 0 {
		p.paragraph(gutter, cell{fmt.Sprintf("and %d more: --all tells of them", n), ui.Dim})
	}
}

func sentences[T any](p *printer, title string, list []T, of func(T) cell) {
	if len(list) == 0 {
		return
	}
	p.heading(title)
	rows := make([][]cell, 0, len(list))
	for _, item := range list {
		rows = append(rows, []cell{{"-", ui.Dim}, of(item)})
	}
	p.table(gutter, nil, rows, 1)
}

func momentText(m explain.Moment) string {
	text := m.What
	if m.Who != "" {
		text += " (" + m.Who + ")"
	}
	if m.Count > 1 {
		text += fmt.Sprintf(", %d times", m.Count)
	}
	return text
}

// branch draws a node and what hangs on it. The first indent is for its own
// line, the other for those below.
func branch(p *printer, n *explain.Node, first, below string) {
	line := first + p.paint(cell{short(n.Object), levelRole(n.Level)})
	if n.Selected {
		line = first + p.paint(cell{short(n.Object), ui.Strong})
	}
	var about []string
	for _, text := range []string{n.Phase, n.Note, nodeState(n)} {
		if text != "" {
			about = append(about, text)
		}
	}
	if len(about) > 0 {
		line += gutter + p.paint(cell{strings.Join(about, ", "), ui.Dim})
	}
	p.line(line)
	for i, child := range n.Children {
		if i < len(n.Children)-1 || n.More > 0 {
			branch(p, child, below+"├─ ", below+"│  ")
		} else {
			branch(p, child, below+"└─ ", below+"   ")
		}
	}
	if n.More > 0 {
		p.line(below + "└─ " + p.paint(cell{fmt.Sprintf("and %d more: --all shows them", n.More), ui.Dim}))
	}
}

func nodeState(n *explain.Node) string {
	switch {
	case n.Missing:
		return "does not exist"
	case n.Unknown:
		return "can't be seen"
	default:
		return ""
	}
}

func levelRole(l explain.Level) ui.Role {
	switch l {
	case explain.Notice:
		return ui.Notice
	case explain.Warn:
		return ui.Warn
	case explain.Bad:
		return ui.Bad
	default:
		return ui.Plain
	}
}

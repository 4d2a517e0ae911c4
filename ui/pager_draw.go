package ui

import (
	"sort"
	"strings"
)

// currentHit is a role for the hit that the reader stands on. It only exists
// between search and theme.
const currentHit Role = -1

// Render draws the text in sight, exactly w by h cells.
func (p *Pager) Render(t *Theme, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	if w != p.width {
		p.rewrap()
	}
	p.width, p.height = w, h
	p.scroll(0)
	p.shift(0)
	p.look()

	body := p.body()
	lines := make([]string, 0, h)
	sub := p.sub
	for i := p.top; i < len(p.lines) && len(lines) < body; i++ {
		spans := p.marked(i)
		if !p.wrap {
			lines = append(lines, p.line(t, sliceSpans(spans, p.left, p.left+p.room()), len(lines), body))
			continue
		}
		parts := p.parts(spans)
		for _, part := range parts[min(sub, len(parts)-1):] {
			if len(lines) < body {
				lines = append(lines, p.line(t, part, len(lines), body))
			}
		}
		sub = 0
	}
	for len(lines) < body {
		lines = append(lines, blank(w))
	}
	if p.search.shown() {
		lines = append(lines, fitLine(blank(pagerMargin)+p.search.line(t, w-pagerMargin-1), w))
	}
	return strings.Join(lines[:h], "\n")
}

// line draws one row with its piece of the scroll bar.
func (p *Pager) line(t *Theme, spans []Span, row, body int) string {
	var b strings.Builder
	b.WriteString(blank(pagerMargin))
	for _, s := range spans {
		if s.Role == currentHit {
			b.WriteString(t.current.over(s.Text))
			continue
		}
		t.write(&b, s, &t.plain)
	}
	return fitLine(b.String(), p.width-1) + scrollThumb(t, row, body, p.row(), p.rows())
}

// marked returns a line with its hits in their own roles.
func (p *Pager) marked(i int) []Span {
	hits := p.search.hits
	first := sort.Search(len(hits), func(k int) bool { return hits[k].line >= i })
	if first == len(hits) || hits[first].line != i {
		return p.lines[i]
	}
	var out []Span
	start := 0 // of the span, in bytes of the line
	for _, s := range p.lines[i] {
		end := start + len(s.Text)
		at := start
		for k := first; k < len(hits) && hits[k].line == i; k++ {
			from, to := max(hits[k].from, at), min(hits[k].to, end)
			if from >= to {
				continue
			}
			role := Match
			if k == p.search.current {
				role = currentHit
			}
			out = append(out, Span{s.Text[at-start : from-start], s.Role}, Span{s.Text[from-start : to-start], role})
			at = to
		}
		out = append(out, Span{s.Text[at-start:], s.Role})
		start = end
	}
	return out
}

// scrollThumb is the last cell of a row: a slim thumb that shows which part of
// n lines is in sight, from the first one on.
func scrollThumb(t *Theme, row, rows, first, n int) string {
	if n <= rows || rows <= 0 {
		return " "
	}
	size := max(rows*rows/n, 1)
	start := (rows - size) * first / (n - rows)
	if row >= start && row < start+size {
		return t.plain[Dim].over(t.Pick("┃", "|"))
	}
	return " "
}

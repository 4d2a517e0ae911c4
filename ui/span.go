package ui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// plain is the text of the spans without their roles.
func plain(spans []Span) string {
	if len(spans) == 1 {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// cleaned returns the spans with safe text. The caller's slice is left alone.
func cleaned(spans []Span) []Span {
	for i, s := range spans {
		if printable(s.Text) {
			continue
		}
		out := make([]Span, len(spans))
		copy(out, spans)
		for j := i; j < len(out); j++ {
			out[j].Text = Clean(out[j].Text)
		}
		return out
	}
	return spans
}

// spansWidth is how many cells the spans take.
func spansWidth(spans []Span) int {
	w := 0
	for _, s := range spans {
		w += Width(s.Text)
	}
	return w
}

// sliceSpans returns the cells from (included) to to (excluded). Half of a wide
// character at either edge becomes a space, so that columns stay in place.
func sliceSpans(spans []Span, from, to int) []Span {
	if to <= from {
		return nil
	}
	var out []Span
	at := 0
	for _, s := range spans {
		w := Width(s.Text)
		if at >= to {
			break
		}
		if at+w > from {
			out = append(out, Span{sliceText(s.Text, from-at, to-at, w), s.Role})
		}
		at += w
	}
	return out
}

// sliceText is sliceSpans for one text of w cells.
func sliceText(s string, from, to, w int) string {
	from, to = max(from, 0), min(to, w)
	if from == 0 && to == w {
		return s
	}
	if len(s) == w {
		return s[from:to]
	}
	var b strings.Builder
	at := 0
	for s != "" && at < to {
		cluster, n := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		end := at + n
		switch {
		case at >= from && end <= to:
			b.WriteString(cluster)
		case end > from:
			b.WriteString(blank(min(end, to) - max(at, from)))
		}
		at = end
		s = s[len(cluster):]
	}
	return b.String()
}

// cutSpans shortens the spans to at most w cells with an ellipsis at the end,
// or in the middle.
func cutSpans(spans []Span, w int, inMiddle bool) []Span {
	width := spansWidth(spans)
	if width <= w {
		return spans
	}
	if w <= 0 {
		return nil
	}
	left := w - 1
	if inMiddle {
		left = middle(w)
	}
	var out []Span
	if left > 0 {
		out, _ = splitSpans(spans, left)
	}
	role := Dim
	if len(out) > 0 {
		role = out[len(out)-1].Role
	}
	out = append(out, Span{ellipsis, role})
	if right := w - 1 - left; right > 0 {
		out = append(out, sliceSpans(spans, width-right, width)...)
	}
	return out
}

// groups splits spans where two or more spaces part them, which is how a list
// of small facts is written. The spaces are not part of any group.
func groups(spans []Span) [][]Span {
	var out [][]Span
	var group []Span
	for _, s := range spans {
		parts := strings.Split(s.Text, "  ")
		for i, part := range parts {
			if i > 0 && len(group) > 0 {
				out = append(out, group)
				group = nil
			}
			if i > 0 {
				part = strings.TrimLeft(part, " ")
			}
			if part != "" {
				group = append(group, Span{part, s.Role})
			}
		}
	}
	if len(group) > 0 {
		out = append(out, group)
	}
	return out
}

// tail keeps as many groups as fit into w cells, from the right end, and cuts
// the last one if not even that fits.
func tail(spans []Span, w int) []Span {
	spans = cleaned(spans)
	if spansWidth(spans) <= w {
		return spans
	}
	all := groups(spans)
	var out []Span
	for _, next := range slices.Backward(all) {
		if len(out) > 0 {
			next = append(append([]Span{}, next...), Span{Text: "  "})
		}
		if spansWidth(next)+spansWidth(out) > w {
			break
		}
		out = append(append([]Span{}, next...), out...)
	}
	if len(out) == 0 && len(all) > 0 {
		return cutSpans(all[len(all)-1], w, false)
	}
	return out
}

// head is tail from the left end.
func head(spans []Span, w int) []Span {
	spans = cleaned(spans)
	if spansWidth(spans) <= w {
		return spans
	}
	var out []Span
	for _, group := range groups(spans) {
		if len(out) > 0 {
			group = append([]Span{{Text: "  "}}, group...)
		}
		if spansWidth(out)+spansWidth(group) > w {
			break
		}
		out = append(out, group...)
	}
	if len(out) == 0 {
		return cutSpans(spans, w, false)
	}
	return out
}

// wrapSpans breaks spans into lines of at most w cells, between words where it
// can. Roles are kept over the breaks. The text has to be clean.
func wrapSpans(spans []Span, w int) [][]Span {
	if w <= 0 {
		return nil
	}
	if spansWidth(spans) <= w {
		return [][]Span{spans}
	}
	var lines [][]Span
	var line, word []Span
	lineWidth, wordWidth := 0, 0
	flush := func() {
		lines = append(lines, trimEnd(line))
		line, lineWidth = nil, 0
	}
	place := func() {
		if lineWidth > 0 && lineWidth+wordWidth > w {
			flush()
		}
		for wordWidth > w { // a word longer than a line
			var start []Span
			start, word = splitSpans(word, w)
			line = append(line, start...)
			wordWidth = spansWidth(word)
			flush()
		}
		line = append(line, word...)
		lineWidth += wordWidth
		word, wordWidth = nil, 0
	}
	for _, s := range spans {
		for text := s.Text; text != ""; {
			gap := len(text) - len(strings.TrimLeft(text, " "))
			if gap > 0 {
				place()
				// Spaces at a break vanish, but an indent stays.
				if lineWidth > 0 || len(lines) == 0 {
					n := min(gap, w-lineWidth)
					line = append(line, Span{text[:n], s.Role})
					lineWidth += n
				}
				text = text[gap:]
				continue
			}
			end := strings.IndexByte(text, ' ')
			if end < 0 {
				end = len(text)
			}
			word = append(word, Span{text[:end], s.Role})
			wordWidth += Width(text[:end])
			text = text[end:]
		}
	}
	place()
	if len(line) > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// splitSpans parts spans after as many characters as fit into w cells. One that
// is wider than that gives way to an ellipsis, so that there is always progress.
func splitSpans(spans []Span, w int) (start, rest []Span) {
	used := 0
	for i, s := range spans {
		for at := 0; at < len(s.Text); {
			cluster, n := ansi.FirstGraphemeCluster(s.Text[at:], ansi.GraphemeWidth)
			if used+n > w {
				if used == 0 {
					start = append(start, Span{ellipsis, s.Role})
					at += len(cluster)
				} else {
					start = append(start, Span{s.Text[:at], s.Role})
				}
				return start, append([]Span{{s.Text[at:], s.Role}}, spans[i+1:]...)
			}
			used += n
			at += len(cluster)
		}
		start = append(start, s)
	}
	return start, nil
}

// trimEnd drops the spaces at the end of a line.
func trimEnd(line []Span) []Span {
	for len(line) > 0 {
		last := len(line) - 1
		text := strings.TrimRight(line[last].Text, " ")
		if text != "" {
			line[last].Text = text
			break
		}
		line = line[:last]
	}
	return line
}

// paragraphs wraps text whose line breaks count.
func paragraphs(spans []Span, w int) [][]Span {
	var lines [][]Span
	var line []Span
	for _, s := range spans {
		for i, text := range CleanLines(s.Text) {
			if i > 0 {
				lines = append(lines, wrapSpans(line, w)...)
				line = nil
			}
			if text != "" {
				line = append(line, Span{text, s.Role})
			}
		}
	}
	if len(line) > 0 {
		lines = append(lines, wrapSpans(line, w)...)
	}
	return lines
}

// clamp keeps at most n lines of w cells; an ellipsis says that there are more.
func clamp(lines [][]Span, n, w int) [][]Span {
	if len(lines) <= n || n <= 0 {
		return lines[:min(len(lines), max(n, 0))]
	}
	last := append([]Span{}, lines[n-1]...)
	last = append(last, Span{" " + ellipsis, Dim})
	if spansWidth(last) > w {
		last = append(sliceSpans(lines[n-1], 0, w-1), Span{ellipsis, Dim})
	}
	return append(append([][]Span{}, lines[:n-1]...), last)
}

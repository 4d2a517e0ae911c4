package ui

import "strings"

const (
	// gutter is the room for the selection bar and the mark.
	gutter = 3
	// trail is the room for the scroll bar.
	trail = 2
)

// Render draws the header and the rows, exactly w by h cells.
func (t *Table) Render(th *Theme, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	if t.width != w {
		t.natural, t.widest = nil, nil
	}
	t.measure()
	t.width, t.height, t.guessed = w, h, false
	n := t.rows.Len()
	t.settle(n, h-1)

	end := min(t.offset+h-1, n)
	visible := make([][]Cell, 0, max(end-t.offset, 0))
	for i := t.offset; i < end; i++ {
		visible = append(visible, t.measured(i))
	}
	widths := t.fit()

	lines := make([]string, 0, h)
	lines = append(lines, fitLine(t.header(th, widths), w))
	marked := t.marksFrom(t.offset)
	for k, cells := range visible {
		i := t.offset + k
		isMarked := len(marked) > 0 && marked[0].index == i
		if isMarked {
			marked = marked[1:]
		}
		row := t.row(th, cells, widths, i, isMarked, w-1)
		lines = append(lines, fitLine(row, w-1)+scrollThumb(th, k, h-1, t.offset, n))
	}
	if n == 0 {
		lines = append(lines, t.nothing(th, w, h-1)...)
	}
	for len(lines) < h {
		lines = append(lines, blank(w))
	}
	return strings.Join(lines[:h], "\n")
}

// fit shares the width among the columns.
func (t *Table) fit() []int {
	for i, c := range t.columns {
		width := Width(c.Title)
		if i == t.sorted {
			width += 2
		}
		t.natural[i] = max(t.natural[i], width)
	}
	return fitColumns(t.columns, t.natural, t.width-gutter-trail)
}

// Dropped returns the titles of the columns that there is no room for, in a
// table as wide as it was drawn last.
func (t *Table) Dropped() []string {
	if t.width == 0 {
		return nil
	}
	t.measure()
	var titles []string
	for i, w := range t.fit() {
		if w == 0 {
			titles = append(titles, t.columns[i].Title)
		}
	}
	return titles
}

// measure begins to measure new columns, with what is known of those that were
// there before.
func (t *Table) measure() {
	if t.natural != nil {
		return
	}
	t.natural = make([]int, len(t.columns))
	for i, c := range t.columns {
		t.natural[i] = t.widest[c.Title]
	}
	t.sample()
}

// settle scrolls so that the selection is in sight with some rows around it.
func (t *Table) settle(n, rows int) {
	margin := max(min(scrollMargin, (rows-1)/2), 0)
	t.offset = min(t.offset, t.index-margin)
	t.offset = max(t.offset, t.index+margin+1-rows)
	t.offset = max(min(t.offset, n-rows), 0)
}

// sample lets rows from all over the list say how wide the columns should be,
// so that scrolling rarely changes them.
func (t *Table) sample() {
	n := t.rows.Len()
	step := max(n/sampleRows, 1)
	for i := 0; i < n; i += step {
		t.measured(i)
	}
}

// measured returns the cells of a row, cleaned, and notes how wide they are.
func (t *Table) measured(i int) []Cell {
	cells := t.rows.Cells(i)
	out := make([]Cell, min(len(cells), len(t.columns)))
	for c := range out {
		out[c] = cleaned(cells[c])
		t.natural[c] = max(t.natural[c], spansWidth(out[c]))
	}
	return out
}

// marksFrom returns the marks of the rows from the given one on.
func (t *Table) marksFrom(first int) []mark {
	for i, m := range t.marks {
		if m.index >= first {
			return t.marks[i:]
		}
	}
	return nil
}

func (t *Table) header(th *Theme, widths []int) string {
	var b strings.Builder
	b.WriteString(blank(gutter))
	for i, c := range t.columns {
		if widths[i] == 0 {
			continue
		}
		title, role := c.Title, Dim
		if i == t.sorted {
			arrow := th.Pick("▴", "^")
			if t.descending {
				arrow = th.Pick("▾", "v")
			}
			title, role = Cut(title, widths[i]-2)+" "+arrow, Strong
		}
		if c.Align == Right {
			title = PadLeft(title, widths[i])
		} else {
			title = Pad(title, widths[i])
		}
		b.WriteString(th.plain[role].over(title))
		b.WriteString(blank(columnGap))
	}
	return b.String()
}

// row draws one row. Each piece carries the background of the selection, since
// the end of a coloured piece would end an outer background too.
func (t *Table) row(th *Theme, cells []Cell, widths []int, i int, isMarked bool, w int) string {
	paints := &th.plain
	bar, sign := Span{" ", Plain}, Span{" ", Plain}
	if i == t.index && t.picked {
		if t.gone {
			bar = Span{th.Pick("┊", ":"), Warn}
		} else {
			bar = Span{th.Pick("▌", ">"), Accent}
			paints = &th.selected
		}
	}
	if isMarked {
		sign = Span{th.Pick("✓", "*"), Accent}
	}
	var b strings.Builder
	b.Grow(2 * w)
	gap := func(n int) {
		if paints == &th.plain {
			b.WriteString(blank(n))
		} else {
			b.WriteString(paints[Plain].over(blank(n)))
		}
	}
	th.write(&b, bar, paints)
	th.write(&b, sign, paints)
	gap(gutter - 2)
	used := gutter
	for c, width := range widths {
		if width == 0 {
			continue
		}
		if used > gutter {
			gap(columnGap)
			used += columnGap
		}
		var cell Cell
		if c < len(cells) {
			cell = t.columns[c].cut(cells[c], width)
		}
		space := width - spansWidth(cell)
		if t.columns[c].Align == Right {
			gap(space)
			space = 0
		}
		for _, s := range cell {
			th.write(&b, s, paints)
		}
		gap(space)
		used += width
	}
	gap(w - used)
	return b.String()
}

// nothing is what stands in place of rows.
func (t *Table) nothing(th *Theme, w, h int) []string {
	lines := make([]string, 0, h)
	for _, line := range paragraphs(t.empty, w-2*gutter) {
		if len(lines) >= h {
			break
		}
		lines = append(lines, fitLine(blank(gutter)+th.draw(line, &th.plain), w))
	}
	return lines
}

package ui

import (
	"cmp"
	"slices"
)

// Align is the side of its column that a cell keeps to.
type Align int

// The sides.
const (
	Left Align = iota
	Right
)

// columnGap is the space between two columns.
const columnGap = 2

// Column describes a column of a table.
type Column struct {
	// Title is its header.
	Title string
	// Min is the width down to which it may be cut before other columns are
	// dropped, 0 for not at all. Max bounds what its texts ask for, 0 for no
	// bound.
	Min int
	Max int
	// Usual is how wide the texts of a column without a Min usually are. It is
	// counted with at least that, so that not the rows at hand decide which
	// columns there are.
	Usual int
	// Better is a width above Min that matters more than the columns of a
	// Priority above BetterThan.
	Better     int
	BetterThan int
	// Align is the side that the texts keep to; numbers read best at the right.
	Align Align
	// Priority: 0 is never dropped, the highest one goes first when room lacks.
	Priority int
	// Extra columns come only where there is room for all that are not.
	Extra bool
	// Middle cuts texts in the middle rather than at the end.
	Middle bool
	// Tail cuts the first span of a cell and keeps those behind it: a count of
	// what is not shown must not be what is cut off.
	Tail bool
	// Whole leaves out whole spans from the end rather than cutting one: the
	// beginning of a number is another number.
	Whole bool
	// Grow takes the room that is left over.
	Grow bool
}

// bounded keeps the width that the texts ask for within Max.
func (c Column) bounded(natural int) int {
	if c.Max > 0 {
		return min(natural, c.Max)
	}
	return natural
}

// least is how narrow the column may become before another one is dropped. Of
// one that may be cut this does not depend on its texts.
func (c Column) least(natural int) int {
	if c.Min > 0 {
		return max(c.Min, min(Width(c.Title), c.bounded(natural)))
	}
	return max(c.bounded(natural), c.Usual, 1)
}

// need is room that a column asks for: that to be shown at all, or for a better
// width.
type need struct {
	column   int
	width    int
	priority int
	better   bool
}

// needs lists what is asked for, the most important first.
func needs(columns []Column, natural []int) []need {
	list := make([]need, 0, len(columns))
	for i, c := range columns {
		least := c.least(natural[i])
		list = append(list, need{column: i, width: least + columnGap, priority: c.Priority})
		if c.Better > least {
			list = append(list, need{column: i, width: c.Better - least, priority: c.BetterThan, better: true})
		}
	}
	slices.SortStableFunc(list, func(a, b need) int {
		if x, y := columns[a.column].Extra, columns[b.column].Extra; x != y {
			if y {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.priority, b.priority)
	})
	return list
}

// fitColumns shares room cells among the columns: it gives room to those that
// have to be there, then to as many of the others as there is room for, the
// most important first; then what their texts ask for, and the rest to those
// that grow. A width of 0 is a column without room.
func fitColumns(columns []Column, natural []int, room int) []int {
	widths := make([]int, len(columns))
	left, dropped := room+columnGap, false
	for _, n := range needs(columns, natural) {
		c := columns[n.column]
		switch {
		case n.better && widths[n.column] > 0 && n.width <= left:
			widths[n.column] += n.width
			left -= n.width
		case n.better:
		case c.Priority > 0 && (n.width > left || c.Extra && dropped):
			dropped = true
		default:
			widths[n.column] = n.width - columnGap
			left -= n.width
		}
	}
	// Which columns there are is settled. What short texts do not fill is for
	// the others.
	for i, c := range columns {
		if fills := max(c.bounded(natural[i]), 1); widths[i] > fills {
			left += widths[i] - fills
			widths[i] = fills
		}
	}
	squeeze(widths, -left)
	left = widen(columns, widths, left, func(i int) int { return columns[i].bounded(natural[i]) - widths[i] })
	widen(columns, widths, left, func(i int) int {
		if columns[i].Grow {
			return room
		}
		return 0
	})
	return widths
}

// squeeze takes excess cells from the widest columns, when all that could be
// dropped is gone.
func squeeze(widths []int, excess int) {
	for ; excess > 0; excess-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 1 {
			return
		}
		widths[widest]--
	}
}

// widen gives left cells to the shown columns, in even shares bounded by what
// each wants, and returns what nobody wanted.
func widen(columns []Column, widths []int, left int, want func(int) int) int {
	for left > 0 {
		wanting := 0
		for i := range columns {
			if widths[i] > 0 && want(i) > 0 {
				wanting++
			}
		}
		if wanting == 0 {
			break
		}
		share := max(left/wanting, 1)
		for i := range columns {
			if widths[i] == 0 || left == 0 {
				continue
			}
			if give := min(share, want(i), left); give > 0 {
				widths[i] += give
				left -= give
			}
		}
	}
	return left
}

// cut makes a cell fit a width, as the column asks for.
func (c Column) cut(cell Cell, w int) Cell {
	switch {
	case spansWidth(cell) <= w:
		return cell
	case c.Whole:
		return wholeSpans(cell, w)
	case c.Tail && len(cell) > 1:
		// What is kept leaves room for two letters of what is cut.
		if tail := spansWidth(cell[1:]); tail+2 <= w {
			return slices.Concat(cutSpans(cell[:1], w-tail, c.Middle), cell[1:])
		}
	}
	return cutSpans(cell, w, c.Middle)
}

// wholeSpans leaves spans out from the end until the rest fits, and says so
// where there is room. Nothing is left of a first one that does not fit.
func wholeSpans(cell Cell, w int) Cell {
	more := Span{" " + ellipsis, Dim}
	n := len(cell) - 1
	for n > 0 && spansWidth(cell[:n]) > w {
		n--
	}
	for n > 1 && spansWidth(cell[:n])+Width(more.Text) > w {
		n--
	}
	switch {
	case n == 0:
		return cutSpans([]Span{{ellipsis, Dim}}, w, false)
	case spansWidth(cell[:n])+Width(more.Text) > w:
		return cell[:n]
	}
	return append(slices.Clone(cell[:n]), more)
}

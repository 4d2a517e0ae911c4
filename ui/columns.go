package ui

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
	// Align is the side that the texts keep to; numbers read best at the right.
	Align Align
	// Priority: 0 is never dropped, the highest one goes first when room lacks.
	Priority int
	// Middle cuts texts in the middle rather than at the end.
	Middle bool
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

// least is how narrow the column may become before another one is dropped.
func (c Column) least(natural int) int {
	if c.Min > 0 {
		return min(c.Min, c.bounded(natural))
	}
	return c.bounded(natural)
}

// fitColumns shares room cells among the columns: it drops what has to go,
// gives each its least, then what it asks for, and the rest to those that grow.
// A width of 0 is a dropped column.
func fitColumns(columns []Column, natural []int, room int) []int {
	widths := make([]int, len(columns))
	shown := 0
	total := 0
	for i, c := range columns {
		widths[i] = max(c.least(natural[i]), 1)
		total += widths[i] + columnGap
		shown++
	}
	total -= columnGap
	for total > room {
		drop := -1
		for i, c := range columns {
			if widths[i] > 0 && c.Priority > 0 && (drop < 0 || c.Priority >= columns[drop].Priority) {
				drop = i
			}
		}
		if drop < 0 {
			break
		}
		total -= widths[drop] + columnGap
		widths[drop] = 0
		shown--
	}
	if shown == 0 {
		return widths
	}
	squeeze(widths, total-room)
	left := room - total
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

package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	// boxMargin is what stays of the page at both sides of a dialog.
	boxMargin = 2
	// boxWidth bounds a dialog: longer lines are hard to read.
	boxWidth = 110
	// boxFrame is what border and padding take of the width.
	boxFrame = 4
)

// overlay draws a dialog over lines of w cells, in place. What stays of them
// loses its colours, so that the dialog has the reader's eye.
func overlay(t *Theme, lines []string, d Dialog, w int) {
	for i, line := range lines {
		lines[i] = ansi.Strip(line)
	}
	box, width := boxed(t, d, w-2*boxMargin, len(lines))
	x := max((w-width)/2, 0)
	// A little above the middle looks centred.
	y := max((len(lines)-len(box))/3, 0)
	for i, line := range lines {
		if i < y || i >= y+len(box) {
			lines[i] = t.plain[Dim].over(line)
			continue
		}
		// A blank cell at both sides keeps the page's text off the border.
		before := sliceText(line, 0, x-1, w)
		after := sliceText(line, x+width+1, w, w)
		lines[i] = t.plain[Dim].over(before) + " " + box[i-y] + " " + t.plain[Dim].over(after)
	}
}

// boxed draws the dialog with its border and title, at most w by h cells, and
// returns the lines and how wide they are.
func boxed(t *Theme, d Dialog, w, h int) ([]string, int) {
	inner := min(w, boxWidth) - boxFrame
	rows := strings.Split(onlyStyles(d.Render(t, inner, h-2)), "\n")
	rows = rows[:min(len(rows), h-2)]
	title := Cut(Clean(d.Title()), inner-2)
	width := Width(title) + 2
	for _, row := range rows {
		width = max(width, styledWidth(row))
	}
	width = min(width, inner)

	border := t.plain[Accent]
	if !t.options.Color {
		border = t.plain[Plain]
	}
	flat := t.Pick("─", "-")
	side := border.over(t.Pick("│", "|"))
	top := border.over(t.Pick("╭", "+")+flat) +
		t.plain[Strong].over(" "+title+" ") +
		border.over(strings.Repeat(flat, max(width-Width(title)-1, 0))+t.Pick("╮", "+"))
	out := make([]string, 0, len(rows)+2)
	out = append(out, top)
	for _, row := range rows {
		out = append(out, side+" "+fitLine(row, width)+" "+side)
	}
	bottom := t.Pick("╰", "+") + strings.Repeat(flat, width+2) + t.Pick("╯", "+")
	return append(out, border.over(bottom)), width + boxFrame
}

package ui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// fitLine makes a styled line exactly w cells wide.
func fitLine(s string, w int) string {
	width := styledWidth(s)
	if width > w {
		s = ansi.Truncate(s, w, "")
		width = styledWidth(s)
	}
	return s + blank(w-width)
}

// styledWidth is ansi.StringWidth with a short way for what most lines are made
// of: ASCII, styles and the frame's own glyphs.
func styledWidth(s string) int {
	w := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= 0x20 && c < 0x7f:
			w++
			i++
		case c == escape:
			n := control(s[i:])
			if n >= 0 {
				return ansi.StringWidth(s)
			}
			i -= n
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			if !narrow(r) {
				return ansi.StringWidth(s)
			}
			w++
			i += n
		}
	}
	return w
}

// narrow knows the glyphs that take one cell wherever they stand.
func narrow(r rune) bool {
	switch r {
	case '·', '–', '…', '›', '✓', '✕', '▶':
		return true
	}
	return r >= 0x2500 && r <= 0x25cf // lines, blocks, shapes
}

// fitLines makes exactly h lines of w cells out of a styled text. Pages are
// held to their size here, so that one that errs can't break the frame.
func fitLines(s string, w, h int) []string {
	lines := strings.Split(onlyStyles(s), "\n")
	out := make([]string, h)
	for i := range out {
		if i < len(lines) {
			out[i] = fitLine(lines[i], w)
		} else {
			out[i] = blank(w)
		}
	}
	return out
}

// onlyStyles lets line breaks and styles through and takes all other controls
// away. Widgets clean their texts themselves; this is for a page that forgot.
func onlyStyles(s string) string {
	var b strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		n := control(s[i:])
		if n > 0 {
			b.WriteString(s[kept:i])
			i += n
			kept = i
			continue
		}
		i += max(-n, 1)
	}
	if kept == 0 {
		return s
	}
	b.WriteString(s[kept:])
	return b.String()
}

// control returns how many bytes at the start of s have to go, or, negative,
// how many are a style.
func control(s string) int {
	switch c := s[0]; {
	case c == escape:
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			if end := strings.TrimLeft(rest, "0123456789;:"); strings.HasPrefix(end, "m") {
				return len(end) - 1 - len(s)
			}
		}
		return 1
	case c == '\n':
		return 0
	case c < 0x20, c == 0x7f:
		return 1
	case c == 0xc2 && len(s) > 1 && s[1] >= 0x80 && s[1] < 0xa0:
		return 2
	}
	return 0
}

// sides puts one styled text at the left and one at the right of a line of w
// cells. The widths are those of the texts.
func sides(left string, leftWidth int, right string, rightWidth, w int) string {
	return left + blank(w-leftWidth-rightWidth) + right
}

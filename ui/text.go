package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const (
	// tabStop is where CleanLines puts the text after a tab.
	tabStop = 4
	// hidden stands for a character that would not be seen, or that would
	// change how its neighbours are seen.
	hidden = "·"
	// ellipsis is where text was cut.
	ellipsis = "…"
	escape   = 0x1b
)

// Clean makes one line of s that is safe to print: without escape sequences,
// control characters and invalid UTF-8. Line breaks and tabs become spaces;
// direction overrides and zero-width characters become visible dots, so that
// two different names never look the same.
func Clean(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if b.Len() == 0 && (unicode.Is(unicode.M, r) || unicode.Is(unicode.Sk, r) && r > 0x7f) {
			// A mark without a letter would sit on whatever stands before.
			b.WriteString(hidden)
		}
		if skip := sequence(s[i:], r, n); skip > 0 {
			i += skip
			continue
		}
		b.WriteString(safe(r))
		i += n
	}
	return b.String()
}

// CleanLines is Clean for text of several lines. Tabs are expanded.
func CleanLines(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.IndexByte(line, '\t') >= 0 {
			parts := strings.Split(line, "\t")
			var b strings.Builder
			column := 0
			for j, part := range parts {
				part = Clean(part)
				b.WriteString(part)
				column += Width(part)
				if j < len(parts)-1 {
					gap := tabStop - column%tabStop
					b.WriteString(blank(gap))
					column += gap
				}
			}
			lines[i] = b.String()
			continue
		}
		lines[i] = Clean(line)
	}
	return lines
}

// printable says that s is plain ASCII, which nearly all text is.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// safe is what to print for one rune.
func safe(r rune) string {
	switch {
	case r == '\n', r == '\t', r == '\r', r == '\v', r == '\f', r == 0x85, r == 0x2028, r == 0x2029:
		return " "
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return ""
	case r == 0x3000:
		return "  " // the ideographic space is two cells wide
	case r < 0x7f:
		return string(r)
	case unicode.Is(unicode.Zs, r):
		return " "
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return "" // variation selectors: terminals disagree on the width
	case unicode.Is(unicode.Cf, r), r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, joins(r):
		return hidden
	}
	return string(r)
}

// joins says that r makes one character with what follows, even with the blank
// after a cell, which would then take no room.
func joins(r rune) bool {
	switch {
	case r == 0x0d4e, r == 0x111c2, r == 0x111c3, r == 0x1193f, r == 0x11941, r == 0x113d1,
		r == 0x11a3a, r >= 0x11a84 && r <= 0x11a89, r == 0x11d46, r == 0x11f02:
		return true
	}
	return false
}

// sequence returns the length of the complete escape sequence that s begins
// with. An incomplete one is 0 long: then only its control character goes, and
// what follows stays visible.
func sequence(s string, r rune, n int) int {
	kind := byte(0)
	switch {
	case r == escape && len(s) > 1:
		kind, n = s[1], 2
	case r >= 0x80 && r < 0xa0:
		kind = byte(r - 0x40) // a C1 control is its 7-bit form in one
	default:
		return 0
	}
	switch kind {
	case '[':
		for ; n < len(s) && s[n] >= 0x20 && s[n] <= 0x3f; n++ {
		}
		if n < len(s) && s[n] >= 0x40 && s[n] <= 0x7e {
			return n + 1
		}
		return 0
	case ']', 'P', 'X', '^', '_':
		for ; n < len(s); n++ {
			switch {
			case s[n] == 0x07:
				return n + 1
			case s[n] == escape && n+1 < len(s) && s[n+1] == '\\':
				return n + 2
			case strings.HasPrefix(s[n:], "\u009c"):
				return n + len("\u009c")
			}
		}
		return 0
	}
	if r != escape {
		return 0
	}
	n = 1
	for ; n < len(s) && s[n] >= 0x20 && s[n] <= 0x2f; n++ {
	}
	if n < len(s) && s[n] >= 0x30 && s[n] <= 0x7e {
		return n + 1
	}
	return 0
}

// Width is how many cells s takes.
func Width(s string) int {
	return styledWidth(s)
}

// Cut shortens s to at most w cells; an ellipsis says so.
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, ellipsis)
}

// CutMiddle shortens s to at most w cells and keeps both of its ends. The
// start gets a little more, as generated names begin with the same prefix.
func CutMiddle(s string, w int) string {
	if w <= 0 {
		return ""
	}
	width := Width(s)
	if width <= w {
		return s
	}
	left := middle(w)
	right := w - 1 - left
	return sliceText(s, 0, left, width) + ellipsis + sliceText(s, width-right, width, width)
}

// middle is how many of w cells stand before the ellipsis in the middle.
func middle(w int) int {
	return (w - 1) * 3 / 5
}

// Pad makes s exactly w cells wide, cutting it if need be.
func Pad(s string, w int) string {
	s = Cut(s, w)
	return s + blank(w-Width(s))
}

// PadLeft is Pad with the text at the right.
func PadLeft(s string, w int) string {
	s = Cut(s, w)
	return blank(w-Width(s)) + s
}

// Wrap breaks s into lines of at most w cells, between words where it can.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	lines := wrapSpans([]Span{{Text: s}}, w)
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = plain(line)
	}
	return out
}

// blank is n spaces, none for a negative n.
func blank(n int) string {
	const spaces = "                                                                "
	if n <= 0 {
		return ""
	}
	if n <= len(spaces) {
		return spaces[:n]
	}
	return strings.Repeat(" ", n)
}

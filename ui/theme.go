package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// roles is how many roles there are.
const roles = int(Match) + 1

// ThemeOptions say what the terminal and its user want.
type ThemeOptions struct {
	// Dark is for terminals with a dark background.
	Dark bool
	// Color allows colours; without it only bold, faint, underline and
	// reverse are used.
	Color bool
	// ASCII keeps to glyphs that every font has.
	ASCII bool
}

// Theme says how each role looks. It never changes once made, and all of the
// styles of the program come from it.
type Theme struct {
	options  ThemeOptions
	styles   [roles]lipgloss.Style
	plain    [roles]paint
	selected [roles]paint
	current  paint
	cursor   paint
	ascii    *strings.Replacer
}

// paint is a style taken apart into what goes before and after a text. That is
// all a cell needs, and much cheaper than laying each one out.
type paint struct{ open, close string }

// over returns s in the paint.
func (p paint) over(s string) string {
	if s == "" {
		return ""
	}
	return p.open + s + p.close
}

// NewTheme makes the theme for the options.
func NewTheme(o ThemeOptions) *Theme {
	t := &Theme{options: o}
	if o.Color {
		t.styles = colored(o.Dark)
	} else {
		t.styles = uncolored()
	}
	for r, style := range t.styles {
		t.plain[r] = mix(style)
		t.selected[r] = mix(selectedStyle(o, Role(r), style))
	}
	t.current = mix(currentStyle(o, t.styles[Match]))
	t.cursor = mix(lipgloss.NewStyle().Reverse(true))
	// All of these are one cell wide, so that nothing moves. The dot between
	// words is decoration; the one inside a word stands for something hidden.
	t.ascii = strings.NewReplacer(" · ", " - ", hidden, "~", ellipsis, "~", "–", "-", "—", "-", "›", ">",
		"‘", "'", "’", "'", "“", `"`, "”", `"`)
	return t
}

// letters turns the punctuation of a whole screen into ASCII where that is
// asked for. What the cluster's own texts are made of stays.
func (t *Theme) letters(screen string) string {
	if !t.options.ASCII {
		return screen
	}
	return t.ascii.Replace(screen)
}

// Style returns how the role looks.
func (t *Theme) Style(r Role) lipgloss.Style {
	return t.styles[known(r)]
}

// Pick returns the glyph of the set in use.
func (t *Theme) Pick(fancy, ascii string) string {
	if t.options.ASCII {
		return ascii
	}
	return fancy
}

// Spans returns the spans cleaned, styled and joined.
func (t *Theme) Spans(spans []Span) string {
	return t.draw(cleaned(spans), &t.plain)
}

// draw joins spans whose text is clean already, in one of the sets of paints.
func (t *Theme) draw(spans []Span, paints *[roles]paint) string {
	var b strings.Builder
	for _, s := range spans {
		t.write(&b, s, paints)
	}
	return b.String()
}

func (t *Theme) write(b *strings.Builder, s Span, paints *[roles]paint) {
	if s.Text == "" {
		return
	}
	p := &paints[known(s.Role)]
	b.WriteString(p.open)
	b.WriteString(s.Text)
	b.WriteString(p.close)
}

// known turns a role that does not exist into Plain.
func known(r Role) Role {
	if r < 0 || int(r) >= roles {
		return Plain
	}
	return r
}

// mix takes a style apart.
func mix(s lipgloss.Style) paint {
	const probe = "x"
	before, after, _ := strings.Cut(s.Render(probe), probe)
	return paint{before, after}
}

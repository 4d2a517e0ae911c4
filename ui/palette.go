package ui

import "charm.land/lipgloss/v2"

// The palettes keep what is well in quiet tones and give the strong ones to
// what waits for a person. Each pair is for light and dark backgrounds; all
// reach a contrast of 4.5 to 1 on white, on near-black and in the selected row.

// colored returns the roles in colour.
func colored(dark bool) [roles]lipgloss.Style {
	pick := lipgloss.LightDark(dark)
	fg := func(light, night string) lipgloss.Style {
		return lipgloss.NewStyle().Foreground(pick(lipgloss.Color(light), lipgloss.Color(night)))
	}
	var s [roles]lipgloss.Style
	s[Plain] = lipgloss.NewStyle()
	s[Dim] = fg("#656D76", "#868E99")
	s[Strong] = lipgloss.NewStyle().Bold(true)
	s[Accent] = fg("#0A63AD", "#6CB8F6").Bold(true)
	s[Key] = fg("#0A63AD", "#8CC7F5")
	s[Good] = fg("#3A7350", "#8DB89A")
	s[Calm] = fg("#4D6A85", "#93A9BF")
	s[Notice] = fg("#7D5C00", "#D8BC6A")
	s[Warn] = fg("#A84300", "#F5A55A").Bold(true)
	s[Bad] = fg("#BF1F2F", "#FF7B80").Bold(true)
	s[Added] = fg("#1B7238", "#7BCB8B")
	s[Removed] = fg("#B42335", "#F08A92")
	s[Match] = lipgloss.NewStyle().
		Foreground(pick(lipgloss.Color("#3D2E00"), lipgloss.Color("#FFE9A8"))).
		Background(pick(lipgloss.Color("#FFE08A"), lipgloss.Color("#5C4A12")))
	return s
}

// uncolored returns the roles by weight alone.
func uncolored() [roles]lipgloss.Style {
	base := lipgloss.NewStyle()
	var s [roles]lipgloss.Style
	for i := range s {
		s[i] = base
	}
	s[Dim] = base.Faint(true)
	s[Strong] = base.Bold(true)
	s[Accent] = base.Bold(true)
	s[Key] = base.Bold(true)
	s[Warn] = base.Bold(true)
	s[Bad] = base.Bold(true).Underline(true)
	s[Added] = base.Bold(true)
	s[Match] = base.Underline(true)
	return s
}

// selectedStyle is how a role looks in the selected row. The background is
// part of each piece, since the end of a piece ends it.
func selectedStyle(o ThemeOptions, r Role, s lipgloss.Style) lipgloss.Style {
	if !o.Color {
		// Faint and reverse together are unreadable on many terminals.
		return s.Faint(false).Reverse(true)
	}
	if r == Match {
		return s
	}
	pick := lipgloss.LightDark(o.Dark)
	s = s.Background(pick(lipgloss.Color("#DCE9F6"), lipgloss.Color("#2A3542")))
	switch r {
	case Plain, Strong:
		s = s.Foreground(pick(lipgloss.Color("#0B1B2B"), lipgloss.Color("#F2F7FC")))
	case Dim:
		s = s.Foreground(pick(lipgloss.Color("#4C5560"), lipgloss.Color("#A9B4C0")))
	default:
		// The coloured roles keep their colour on the bar.
	}
	return s
}

// currentStyle is the search hit that the reader stands on.
func currentStyle(o ThemeOptions, match lipgloss.Style) lipgloss.Style {
	if !o.Color {
		return match.Bold(true).Reverse(true)
	}
	pick := lipgloss.LightDark(o.Dark)
	return lipgloss.NewStyle().Bold(true).
		Foreground(pick(lipgloss.Color("#FFFFFF"), lipgloss.Color("#1B1500"))).
		Background(pick(lipgloss.Color("#8A5A00"), lipgloss.Color("#F2C14E")))
}

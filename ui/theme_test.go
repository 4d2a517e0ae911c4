package ui

import (
	"image/color"
	"math"
	"testing"

	"charm.land/lipgloss/v2"
)

// luminance and contrast follow WCAG 2.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	linear := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func TestContrast(t *testing.T) {
	const least = 4.5
	for _, dark := range []bool{true, false} {
		o := ThemeOptions{Dark: dark, Color: true}
		ground := lipgloss.Color("#FFFFFF")
		if dark {
			ground = lipgloss.Color("#1A1A1A")
		}
		th := NewTheme(o)
		for r := range Role(roles) {
			for name, s := range map[string]lipgloss.Style{"plain": th.Style(r), "selected": selectedStyle(o, r, th.Style(r))} {
				fg, bg := s.GetForeground(), s.GetBackground()
				if _, none := fg.(lipgloss.NoColor); none {
					continue
				}
				if _, none := bg.(lipgloss.NoColor); none {
					bg = ground
				}
				if c := contrast(fg, bg); c < least {
					t.Errorf("role %d, %s, dark %v: contrast %.1f", r, name, dark, c)
				}
			}
		}
	}
}

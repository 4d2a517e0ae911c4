package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// someLine is one of few, so that texts have lines in common; most are wrapped.
func someLine(dice *rand.Rand) Line {
	n := dice.IntN(5)
	return Line{{Text: fmt.Sprint("- ", n, " "), Role: Key}, {Text: strings.Repeat("word 語 ", 5*n), Role: Plain}}
}

// TestPagerKeepsLines: a text that was changed here and there looks as if it had
// been set at once, whatever the width and the way it is wrapped.
func TestPagerKeepsLines(t *testing.T) {
	th := NewTheme(ThemeOptions{Dark: true, Color: true})
	dice := rand.New(rand.NewPCG(1, 2))
	p := NewPager()
	var lines []Line
	w, wrap := 60, false
	for step := range 500 {
		lines = slices.Clone(lines)
		switch at := dice.IntN(len(lines) + 1); dice.IntN(6) {
		case 0:
			w = 30 + dice.IntN(60)
		case 1:
			wrap = !wrap
			p.SetWrap(wrap)
		case 2:
			if at < len(lines) {
				lines = slices.Delete(lines, at, min(at+1+dice.IntN(3), len(lines)))
			}
		case 3:
			if at < len(lines) {
				lines[at] = someLine(dice)
			}
		default:
			lines = slices.Insert(lines, at, someLine(dice), someLine(dice))
		}
		p.SetLines(lines)
		fresh := NewPager()
		fresh.SetWrap(wrap)
		fresh.SetLines(lines)
		got := p.Render(th, w, 12)
		fresh.Render(th, w, 12)
		fresh.top, fresh.sub, fresh.left = p.top, p.sub, p.left
		if want := fresh.Render(th, w, 12); got != want || p.Text() != fresh.Text() || p.rows() != fresh.rows() || p.wide != fresh.wide {
			t.Fatalf("step %d at width %d:\n%s\nwant\n%s", step, w, got, want)
		}
	}
}

// TestPagerSetAgain: what is the same is not wrapped again.
func TestPagerSetAgain(t *testing.T) {
	th := NewTheme(ThemeOptions{})
	text := func(first string) []Line {
		lines := []Line{{{Text: first, Role: Plain}}}
		for i := range 10_000 {
			lines = append(lines, Line{{Text: fmt.Sprint("+  ", i, strings.Repeat(" long", 40)), Role: Added}})
		}
		return lines
	}
	p := NewPager()
	p.SetWrap(true)
	one, other := text("0:01"), text("0:02")
	p.SetLines(one)
	p.Render(th, 80, 24)
	turn := false
	allocs := testing.AllocsPerRun(10, func() {
		turn = !turn
		if turn {
			p.SetLines(other)
		} else {
			p.SetLines(one)
		}
		p.Render(th, 80, 24)
	})
	// To wrap them all takes some for each line.
	if allocs > 5_000 {
		t.Errorf("%.0f allocations for one line that changed", allocs)
	}
	same := testing.AllocsPerRun(10, func() { p.SetLines(one) })
	if same > 100 {
		t.Errorf("%.0f allocations for none", same)
	}
}

package ui

import (
	"fmt"
	"strings"
	"testing"
)

// TestPagerRead: a line counts as read when it, and all before it, have been
// in sight to their ends.
func TestPagerRead(t *testing.T) {
	th := NewTheme(ThemeOptions{Dark: true, Color: true})
	lines := make([]Line, 30)
	for i := range lines {
		lines[i] = Line{{Text: fmt.Sprint("line ", i)}}
	}
	lines[20] = Line{{Text: strings.Repeat("long ", 40)}}
	p := NewPager()
	p.SetLines(lines)
	see := func() { p.Render(th, 60, 10) }
	see()
	if !p.Read(9) || p.Read(10) {
		t.Errorf("the first screen: read up to %d, want 10 lines", p.read)
	}
	p.scroll(15) // over a gap
	see()
	if p.Read(12) || !p.Skipped() {
		t.Errorf("after a jump %d lines count as read, want 10", p.read)
	}
	p.scroll(-15)
	for range 30 {
		p.scroll(1)
		see()
	}
	if p.Read(20) || !p.Read(19) {
		t.Errorf("of a line that goes on to the side: read up to %d, want 20 lines", p.read)
	}
	p.SetWrap(true)
	p.Top()
	for range 40 {
		see()
		p.scroll(1)
	}
	if !p.Read(29) {
		t.Errorf("wrapped, all was in sight, but only %d lines count as read", p.read)
	}
	p.Unread()
	if p.Read(0) {
		t.Error("what is forgotten counts as read")
	}
}

package ui

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

const (
	// sideStep is how far one step to the side goes.
	sideStep = 8
	// pagerMargin is the blank column at the left, where the shell's text
	// begins too.
	pagerMargin = 1
)

// Line is one line of a pager, in spans.
type Line []Span

// Pager shows text that may be larger than the screen, and searches in it.
type Pager struct {
	given  []Line // as they were set
	lines  [][]Span
	texts  []string
	widths []int
	wide   int // width of the widest line

	wrap bool
	top  int // first line in sight
	sub  int // and which of its wrapped parts
	left int // cells scrolled to the side

	search search

	// read is how many lines have been in sight, without a gap from the first.
	read int

	// What was drawn last, since scrolling needs the size.
	width  int
	height int
	starts []int // row of each line, and the number of rows; nil to count anew
	// heights are the rows that each line takes at this width; 0 for not known.
	heights []int
}

// NewPager makes an empty pager.
func NewPager() *Pager {
	return &Pager{search: newSearch(), width: 80, height: 20}
}

// SetLines replaces the text. The reader stays where they were, as far as the
// new text goes; a search goes on. Lines that are the same at the beginning and
// at the end are not looked at again, so that a long text may be set often.
func (p *Pager) SetLines(lines []Line) {
	head, tail := common(p.given, lines)
	if head == len(lines) && head == len(p.given) {
		return
	}
	old := len(p.given)
	p.given = slices.Clone(lines)
	n := len(lines) - head - tail
	p.lines = splice(p.lines, head, old-tail, n)
	p.texts = splice(p.texts, head, old-tail, n)
	p.widths = splice(p.widths, head, old-tail, n)
	p.heights = splice(p.heights, head, old-tail, n)
	for i := head; i < head+n; i++ {
		p.lines[i] = cleaned(lines[i])
		p.texts[i] = plain(p.lines[i])
		p.widths[i] = spansWidth(p.lines[i])
	}
	p.wide = 0
	for _, w := range p.widths {
		p.wide = max(p.wide, w)
	}
	p.starts = nil
	p.search.find(p.texts)
	p.scroll(0)
	p.shift(0)
}

// common counts the lines that two texts share at the beginning, and of the
// others those at the end.
func common(a, b []Line) (head, tail int) {
	for head < min(len(a), len(b)) && slices.Equal(a[head], b[head]) {
		head++
	}
	for head+tail < min(len(a), len(b)) && slices.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	return head, tail
}

// splice puts n empty places where the items from one position to another are.
func splice[T any](list []T, from, to, n int) []T {
	return slices.Concat(list[:from], make([]T, n), list[to:])
}

// SetWrap says whether long lines are wrapped or reached by going sideways.
func (p *Pager) SetWrap(on bool) {
	p.wrap, p.sub = on, 0
	p.rewrap()
	if on {
		p.left = 0
	}
	p.scroll(0)
}

// Wrapped says that long lines are wrapped.
func (p *Pager) Wrapped() bool { return p.wrap }

// Text returns the whole text without styles.
func (p *Pager) Text() string {
	return strings.Join(p.texts, "\n")
}

// Capturing says that the search field has the focus.
func (p *Pager) Capturing() bool {
	return p.search.input.Focused()
}

// Searching says that there is a search that esc would end.
func (p *Pager) Searching() bool {
	return p.search.shown()
}

// Position says which line is the first in sight, such as "12/340", or nothing
// when all of the text is.
func (p *Pager) Position() string {
	if p.rows() <= p.body() {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.top+1, len(p.lines))
}

// Wheel turns the text by delta notches.
func (p *Pager) Wheel(delta int) {
	p.scroll(delta * wheelRows)
}

// Top goes to the start of the text.
func (p *Pager) Top() {
	p.top, p.sub, p.left = 0, 0, 0
}

// body is how many rows there are for text.
func (p *Pager) body() int {
	if p.search.shown() {
		return max(p.height-1, 1)
	}
	return max(p.height, 1)
}

// room is how many cells of a line are in sight.
func (p *Pager) room() int {
	return max(p.width-pagerMargin-trail, 1)
}

// rewrap forgets how many rows the lines take.
func (p *Pager) rewrap() {
	p.starts = nil
	clear(p.heights)
}

// rows returns how many rows the text takes.
func (p *Pager) rows() int {
	if p.starts == nil {
		p.starts = make([]int, len(p.lines)+1)
		for i, line := range p.lines {
			if p.heights[i] == 0 {
				p.heights[i] = 1
				if p.wrap {
					p.heights[i] = len(p.parts(line))
				}
			}
			p.starts[i+1] = p.starts[i] + p.heights[i]
		}
	}
	return p.starts[len(p.lines)]
}

// parts wraps a line. What is carried over keeps the indent of the line, and
// stands behind its bullet if it has one, so that the shape of the text stays.
func (p *Pager) parts(line []Span) [][]Span {
	room := p.room()
	if spansWidth(line) <= room {
		return [][]Span{line}
	}
	indent := hanging(plain(line))
	if indent == 0 || indent > room/2 {
		return wrapSpans(line, room)
	}
	parts := wrapSpans(sliceSpans(line, indent, spansWidth(line)), room-indent)
	for i := range parts {
		lead := []Span{{blank(indent), Plain}}
		if i == 0 {
			lead = sliceSpans(line, 0, indent)
		}
		parts[i] = append(lead, parts[i]...)
	}
	return parts
}

// hanging is the indent of what a line carries over: its blanks, and a bullet
// of one sign.
func hanging(text string) int {
	rest := strings.TrimLeft(text, " ")
	indent := len(text) - len(rest)
	sign, size := utf8.DecodeRuneInString(rest)
	if size > 0 && !unicode.IsLetter(sign) && !unicode.IsDigit(sign) && strings.HasPrefix(rest[size:], " ") {
		indent += Width(rest[:size]) + 1
	}
	return indent
}

// Unread forgets what has been in sight.
func (p *Pager) Unread() { p.read = 0 }

// Read says whether a line, and all lines before it, have been in sight to
// their ends since Unread.
func (p *Pager) Read(line int) bool { return line < p.read }

// Skipped says that lines before those in sight have not been.
func (p *Pager) Skipped() bool { return p.read < p.top }

// look notes what is in sight. A line that goes on to the side is not.
func (p *Pager) look() {
	last := p.row() + p.body()
	if p.Skipped() {
		return
	}
	for p.read < len(p.lines) && p.starts[p.read+1] <= last && (p.wrap || p.widths[p.read] <= p.room()) {
		p.read++
	}
}

// row returns the first row in sight.
func (p *Pager) row() int {
	p.rows()
	if p.top >= len(p.lines) {
		return p.starts[len(p.lines)]
	}
	return min(p.starts[p.top]+p.sub, p.starts[p.top+1]-1)
}

// scroll moves by delta rows, and into bounds.
func (p *Pager) scroll(delta int) {
	rows := p.rows()
	at := max(min(p.row()+delta, rows-p.body()), 0)
	p.top = max(sort.SearchInts(p.starts, at+1)-1, 0)
	p.sub = at - p.starts[p.top]
}

// shift moves sideways by delta cells, and into bounds.
func (p *Pager) shift(delta int) {
	if p.wrap {
		delta = -p.left
	}
	p.left = max(min(p.left+delta, p.wide-p.room()), 0)
}

// reveal brings the current hit into sight.
func (p *Pager) reveal() {
	h, ok := p.search.at()
	if !ok {
		return
	}
	rows := p.rows()
	before := Width(p.texts[h.line][:h.from])
	hitWidth := Width(p.texts[h.line][h.from:h.to])
	at := p.starts[h.line]
	if p.wrap {
		at = min(at+before/p.room(), p.starts[h.line+1]-1)
	} else if before < p.left || before+hitWidth > p.left+p.room() {
		p.left = max(before-p.room()/3, 0)
		if before+hitWidth <= p.room() {
			p.left = 0
		}
	}
	if first := p.row(); at < first || at >= first+p.body() {
		p.scroll(min(at-p.body()/3, rows) - first)
	}
}

// Update edits the search while it has the focus. Other keys do what the
// bindings say, for a pager that is not on a page.
func (p *Pager) Update(msg tea.Msg) tea.Cmd {
	if !p.Capturing() {
		if key, ok := msg.(tea.KeyPressMsg); ok {
			if b, found := match(p.Bindings(), key.String()); found && reason(b) == "" {
				return b.Do()
			}
		}
		return nil
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.String() {
		case "enter":
			p.search.accept()
			return nil
		case "esc":
			p.cancelSearch()
			return nil
		}
	case tea.PasteMsg:
	default:
		return nil
	}
	cmd := p.search.input.Update(msg)
	if p.search.changed(p.texts) {
		p.top, p.sub, p.left = p.search.origin[0], p.search.origin[1], p.search.origin[2]
		p.search.from(p.top)
		p.reveal()
	}
	return cmd
}

func (p *Pager) startSearch() {
	p.search.start([3]int{p.top, p.sub, p.left})
	p.scroll(0)
}

// cancelSearch forgets the search and goes back to where it began.
func (p *Pager) cancelSearch() {
	p.top, p.sub, p.left = p.search.origin[0], p.search.origin[1], p.search.origin[2]
	p.search.clear()
	p.scroll(0)
}

func (p *Pager) next(delta int) {
	p.search.step(delta)
	p.reveal()
}

// Bindings are the keys that move and search. While the search field has the
// focus, they are those that end it.
func (p *Pager) Bindings() []Binding {
	key := func(group, title, help string, do func(), keys ...string) Binding {
		return Binding{Keys: keys, Title: title, Help: help, Group: group, Do: func() tea.Cmd {
			do()
			return nil
		}}
	}
	if p.Capturing() {
		find := key("Search", "find", "keep the search", p.search.accept, "enter")
		stop := key("Search", "cancel", "forget the search and go back", p.cancelSearch, "esc")
		find.Hint, find.Always, stop.Hint, stop.Always = true, true, true, true
		return []Binding{find, stop}
	}
	nothing := func() string {
		if len(p.search.hits) == 0 {
			return "nothing was found, search with /"
		}
		return ""
	}
	slash := key("Search", "search", "search in the text", p.startSearch, "/")
	slash.Hint = true
	next := key("Search", "next", "next hit", func() { p.next(1) }, "n")
	previous := key("Search", "previous", "previous hit", func() { p.next(-1) }, "N")
	next.Disabled, previous.Disabled = nothing, nothing
	all := []Binding{slash, next, previous}
	if p.search.shown() {
		next.Hint = true
		all[1] = next
		end := key("Search", "end search", "forget the search", func() {
			p.search.clear()
			p.scroll(0)
		}, "esc")
		end.Hint = true
		all = append(all, end)
	}
	title := "wrap"
	if p.wrap {
		title = "no wrap"
	}
	wrap := key("Move", title, "wrap long lines or not", func() { p.SetWrap(!p.wrap) }, "w")
	wrap.Hint = p.wrap || p.wide > p.room()
	page := func() int { return max(p.body()-1, 1) }
	return append(
		all, wrap,
		key("Move", "down", "one line down", func() { p.scroll(1) }, "j", "down"),
		key("Move", "up", "one line up", func() { p.scroll(-1) }, "k", "up"),
		key("Move", "first", "start of the text", p.Top, "g", "home"),
		key("Move", "last", "end of the text", func() { p.scroll(p.rows()) }, "G", "end"),
		key("Move", "page down", "one screen down", func() { p.scroll(page()) }, "ctrl+f", "pgdown", "space"),
		key("Move", "page up", "one screen up", func() { p.scroll(-page()) }, "ctrl+b", "pgup"),
		key("Move", "half down", "half a screen down", func() { p.scroll(max(page()/2, 1)) }, "ctrl+d"),
		key("Move", "half up", "half a screen up", func() { p.scroll(-max(page()/2, 1)) }, "ctrl+u"),
		key("Move", "right", "to the right", func() { p.shift(sideStep) }, "l", "right"),
		key("Move", "left", "to the left", func() { p.shift(-sideStep) }, "h", "left"),
	)
}

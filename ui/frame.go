package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

const (
	// minWidth and minHeight are the smallest screen that is drawn.
	minWidth  = 60
	minHeight = 15
	// storyRows is how many lines the story has, used or not, so that nothing
	// jumps when it becomes longer.
	storyRows = 2
	// hintGap is the room between two keys on the key line.
	hintGap = 3
	// margin is the blank column at both sides of the shell's own lines.
	margin = 1
)

// tooSmall says that the known size is below the minimum.
func (a *App) tooSmall() bool {
	return a.width > 0 && a.height > 0 && (a.width < minWidth || a.height < minHeight)
}

func (a *App) chrome() Chrome {
	if a.options.Chrome == nil {
		return Chrome{}
	}
	return a.options.Chrome()
}

// above is how many lines stand over the page.
func (a *App) above() int {
	if spansWidth(a.chrome().Banner) > 0 {
		return 4
	}
	return 3
}

// body is how many lines the page has.
func (a *App) body() int {
	return max(a.height-a.above()-storyRows-2, 1)
}

// View draws the screen. It says nothing before the size is known.
func (a *App) View() tea.View {
	v := tea.NewView(a.theme.letters(strings.Join(a.frame(), "\n")))
	v.AltScreen = true
	v.WindowTitle = a.windowTitle()
	if a.options.Mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (a *App) windowTitle() string {
	place := Clean(plain(a.chrome().Place))
	if place == "" {
		return a.options.Product
	}
	return a.options.Product + " · " + place
}

// frame returns the lines of the screen, all of them as wide as it is.
func (a *App) frame() []string {
	w, h := a.width, a.height
	if w <= 0 || h <= 0 {
		return nil
	}
	if a.tooSmall() {
		return a.apology()
	}
	t, c, page := a.theme, a.chrome(), a.page()
	lines := make([]string, 0, h)
	lines = append(lines, a.header(c, w), a.tabLine(c, w))
	if spansWidth(c.Banner) > 0 {
		banner := cutSpans(cleaned(c.Banner), w-2*margin, false)
		lines = append(lines, a.inset(t.draw(banner, &t.plain), w))
	}
	first := len(lines)
	lines = append(lines, a.rule(w, ""))
	body, position := "", ""
	if page != nil {
		body = page.Render(t, w, a.body())
		if p, ok := page.(Positioner); ok {
			position = p.Position()
		}
	}
	lines = append(lines, fitLines(body, w, a.body())...)
	lines = append(lines, a.rule(w, position))
	if m := a.dialog(); m != nil {
		overlay(t, lines[first:], m.dialog, w)
	}
	lines = append(lines, a.story(page, w)...)
	return append(lines, a.keyLine(page, w))
}

// apology takes the place of the screen when that is too small.
func (a *App) apology() []string {
	text := fmt.Sprintf("%s needs at least %d columns and %d rows; this terminal has %d and %d",
		a.options.Product, minWidth, minHeight, a.width, a.height)
	return fitLines(strings.Join(Wrap(text, a.width), "\n"), a.width, a.height)
}

// inset puts a styled text between the margins.
func (a *App) inset(s string, w int) string {
	return fitLine(blank(margin)+s, w)
}

// header is where one is at the left, and the connection at the right.
func (a *App) header(c Chrome, w int) string {
	room := w - 2*margin
	name := []Span{{a.options.Product, Accent}, {"  ", Plain}}
	status := head(c.Status, max(room-spansWidth(name)-min(spansWidth(c.Place), room/3)-2, 0))
	place := cutSpans(cleaned(c.Place), room-spansWidth(name)-spansWidth(status)-2, false)
	left := slices.Concat(name, place)
	return a.ends(left, status, w)
}

// ends draws spans at the left and the right end of a line.
func (a *App) ends(left, right []Span, w int) string {
	t := a.theme
	line := sides(t.draw(left, &t.plain), spansWidth(left), t.draw(right, &t.plain), spansWidth(right), w-2*margin)
	return a.inset(line, w)
}

// tabLine shows the tabs, or the path once a page is pushed.
func (a *App) tabLine(c Chrome, w int) string {
	room := w - 2*margin
	left := a.tabSpans(room)
	if len(a.pushed) > 0 {
		left = a.path(room)
	}
	summary, free := c.Summary, max(room-spansWidth(left)-3, 0)
	if s, ok := a.page().(Summarizer); ok {
		summary = s.Summary(free)
	}
	return a.ends(left, tail(summary, free), w)
}

// tabSpans names all tabs as fully as there is room: with badges, without, and
// only the current one by name.
func (a *App) tabSpans(room int) []Span {
	const fully, names, numbers = 0, 1, 2
	var out []Span
	for detail := fully; detail <= numbers; detail++ {
		out = nil
		for i, l := range a.tabs {
			number, title := Key, Plain
			if i == a.tab {
				number, title = Accent, Accent
			}
			if i > 0 {
				out = append(out, Span{"   ", Plain})
			}
			out = append(out, Span{fmt.Sprint(i + 1), number})
			if detail < numbers || i == a.tab {
				out = append(out, Span{" " + Clean(l.page.Title()), title})
			}
			if badge := Clean(l.page.Badge()); badge != "" && detail == fully {
				out = append(out, Span{" " + badge, Dim})
			}
		}
		if spansWidth(out) <= room {
			return out
		}
	}
	return cutSpans(out, room, false)
}

// path is the way to the current page. The end of it is what matters most.
func (a *App) path(room int) []Span {
	var way []Span
	arrow := a.theme.Pick(" › ", " > ")
	if a.tab < len(a.tabs) {
		way = append(way, Span{Clean(a.tabs[a.tab].page.Title()) + arrow, Dim})
	}
	n := len(a.pushed) - 1
	for _, l := range a.pushed[:n] {
		way = append(way, Span{Clean(l.page.Title()) + arrow, Dim})
	}
	here := cutSpans([]Span{{Clean(a.pushed[n].page.Title()), Accent}}, room, true)
	return append(cutSpans(way, room-spansWidth(here), true), here...)
}

// rule is a line across the screen, with a short text in its right end.
func (a *App) rule(w int, text string) string {
	t := a.theme
	dash := t.Pick("─", "-")
	text = Cut(Clean(text), w/2)
	if text == "" {
		return t.plain[Dim].over(strings.Repeat(dash, w))
	}
	line := strings.Repeat(dash, w-Width(text)-4) + " " + text + " " + strings.Repeat(dash, 2)
	return fitLine(t.plain[Dim].over(line), w)
}

// story is what there is to say about the selection, or the notice.
func (a *App) story(page Page, w int) []string {
	t, room := a.theme, w-2*margin
	var spans []Span
	if a.notice.Text != "" {
		spans = []Span{a.notice}
	} else if page != nil {
		spans = cleaned(page.Story())
	}
	lines := make([]string, storyRows)
	told := clamp(wrapSpans(spans, room), storyRows, room)
	for i := range lines {
		lines[i] = blank(w)
		if i < len(told) {
			lines[i] = a.inset(t.draw(told[i], &t.plain), w)
		}
	}
	return lines
}

// keyLine shows the keys that work now, as many as fit. The way out of a pushed
// page and the help stay at the right end.
func (a *App) keyLine(page Page, w int) string {
	room := w - 2*margin
	if m := a.dialog(); m != nil {
		return a.ends(hintSpans(m.dialog.Hints(), nil, room), nil, w)
	}
	capturing := page != nil && page.Capturing()
	seen := map[string]bool{}
	var hints, last []Hint
	var faded []bool
	collect := func(bindings []Binding, own bool) {
		for _, b := range bindings {
			if len(b.Keys) == 0 || seen[b.Keys[0]] || capturing && !b.Always {
				continue
			}
			seen[b.Keys[0]] = true
			switch {
			case !b.Hint:
			case own && len(a.pushed) > 0:
				last = append(last, Hint{b.Keys[0], b.Title})
			default:
				hints = append(hints, Hint{b.Keys[0], b.Title})
				faded = append(faded, reason(b) != "")
			}
		}
	}
	collect(a.pageBindings(), false)
	collect(a.options.Bindings, false)
	collect(a.bindings(), true)
	if !capturing {
		last = append(last, Hint{"?", "help"})
	}
	right := hintSpans(last, nil, room)
	return a.ends(hintSpans(hints, faded, room-spansWidth(right)-3), right, w)
}

// hintSpans sets keys and titles in a row of at most room cells. A pair that
// does not fit is left out, with all that follow but the way out and the help,
// for which room is kept.
func hintSpans(hints []Hint, faded []bool, room int) []Span {
	pairs := make([][]Span, len(hints))
	needed := make([]bool, len(hints))
	kept := 0 // cells for what is needed and still to come
	for i, h := range hints {
		key := Key
		if i < len(faded) && faded[i] {
			key = Dim
		}
		pairs[i] = []Span{{Clean(h.Key), key}, {" " + Clean(h.Title), Dim}}
		if needed[i] = h.Key == "esc" || h.Key == "q" || h.Key == "?"; needed[i] {
			kept += hintGap + spansWidth(pairs[i])
		}
	}
	var out []Span
	used, full := -hintGap, false
	for i, pair := range pairs {
		cells := hintGap + spansWidth(pair)
		if needed[i] {
			kept -= cells
		}
		if full = full || used+cells+kept > room; full && (!needed[i] || used+cells > room) {
			continue
		}
		if len(out) > 0 {
			out = append(out, Span{blank(hintGap), Plain})
		}
		out = append(out, pair...)
		used += cells
	}
	return out
}

package ui

import (
	"slices"
	"strings"
)

const (
	// entryGap parts key, title and note.
	entryGap = 3
	// footRows is the room for what did not fit behind a title, mostFoot what
	// it may grow to where the screen has room for it.
	footRows = 3
	mostFoot = 6
	// pickerRows is how long a picker's list is at most, for a box that does
	// not change its size while one types.
	pickerRows = 16
	// pickerWidth is the least width of a picker.
	pickerWidth = 48
)

// menuSize is how the room of a menu is shared out. It depends on all entries
// rather than on the filter, so that the box stays as it is while one types.
type menuSize struct{ key, title, note, rows, foot int }

func (m *Menu) measure(t *Theme, w, h int) menuSize {
	var s menuSize
	overflow := false
	// What was typed may be an entry that is not among them.
	for _, e := range slices.Concat(m.entries, m.shown) {
		if m.filter == nil {
			s.key = max(s.key, Width(e.Key))
		}
		s.title = max(s.title, Width(e.label(t)))
		s.note = max(s.note, Width(e.note()))
	}
	if s.key > 0 {
		s.key += 2
	}
	room := w - 2 - s.key
	if s.note > 0 {
		s.title = min(s.title, max(room*2/3, 8))
		overflow = overflow || s.note > room-s.title-entryGap
		s.note = max(min(s.note, room-s.title-entryGap), 0)
	} else {
		s.title = min(s.title, room)
	}
	if m.filter != nil {
		s.title = max(s.title, min(pickerWidth, w)-2-s.key-s.note)
	}
	s.rows = max(len(m.entries), 1)
	head := 0
	if m.filter != nil {
		head = 2
		if m.free != nil {
			s.rows++
		}
		s.rows = min(s.rows, pickerRows)
	}
	if overflow && h >= head+footRows+3 {
		s.foot = max(min(m.longest(w), mostFoot, h-head-s.rows-1), footRows) + 1
	}
	s.rows = max(min(s.rows, h-head-s.foot), 1)
	return s
}

// longest is how many lines the longest of the texts at the foot takes. Among
// the many entries of a picker that is not looked for.
func (m *Menu) longest(w int) int {
	lines := 0
	if m.filter == nil {
		for _, e := range m.entries {
			lines = max(lines, len(wrapSpans([]Span{{e.inFull(), Plain}}, w-2)))
		}
	}
	return lines
}

// Render draws the menu within w by h cells.
func (m *Menu) Render(t *Theme, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	size := m.measure(t, w-trail, h)
	width := 2 + trail + size.key + size.title
	if size.note > 0 {
		width += entryGap + size.note
	}
	width = min(width, w)
	m.rows = size.rows
	m.offset = min(m.offset, m.cursor)
	m.offset = max(m.offset, m.cursor+1-size.rows, 0)
	m.offset = max(min(m.offset, len(m.shown)-size.rows), 0)

	var lines []string
	if m.filter != nil {
		count := m.count()
		field := m.filter.Render(t, max(width-Width(count)-2, 8))
		lines = append(lines, fitLine(field+"  "+t.plain[Dim].over(count), width), blank(width))
	}
	for k := range size.rows {
		i := m.offset + k
		line := ""
		if i < len(m.shown) {
			line = m.row(t, i, size, width-trail)
		} else if i == len(m.shown) {
			line = t.plain[Dim].over(Cut("  "+m.remark(), width-trail))
		}
		lines = append(lines, fitLine(line, width-1)+scrollThumb(t, k, size.rows, m.offset, len(m.shown)))
	}
	if size.foot > 0 {
		lines = append(lines, blank(width))
		lines = append(lines, m.foot(t, size, width)...)
	}
	return strings.Join(lines[:min(len(lines), h)], "\n")
}

// label is the title. The dots of one that asks for more must not look like
// those of one that was cut.
func (e Entry) label(t *Theme) string {
	if asks, ok := strings.CutSuffix(e.Title, ellipsis); ok {
		return asks + t.Pick(ellipsis, "...")
	}
	return e.Title
}

// row draws one entry.
func (m *Menu) row(t *Theme, i int, size menuSize, w int) string {
	e := m.shown[i]
	paints := &t.plain
	bar := "  "
	if i == m.cursor {
		paints = &t.selected
		bar = t.Pick("▌ ", "> ")
	}
	key, title, note := Key, Plain, Dim
	if e.Disabled != "" {
		key, title = Dim, Dim
	}
	if m.refused && i == m.cursor {
		note = Warn
	}
	spans := []Span{{bar, Accent}}
	if size.key > 0 {
		spans = append(spans, Span{Pad(Clean(e.Key), size.key), key})
	}
	spans = append(spans, Span{Pad(e.label(t), size.title), title})
	if size.note > 0 {
		spans = append(spans, Span{blank(entryGap), Plain}, Span{Pad(e.note(), size.note), note})
	}
	spans = cutSpans(spans, w, false)
	spans = append(spans, Span{blank(w - spansWidth(spans)), Plain})
	return t.draw(spans, paints)
}

// remark stands below the entries that the filter left.
func (m *Menu) remark() string {
	switch {
	case m.why != "":
		return m.why
	case len(m.shown) == 0:
		return "nothing matches"
	}
	return ""
}

// foot tells in full what did not fit behind the title.
func (m *Menu) foot(t *Theme, size menuSize, w int) []string {
	text, role := "", Dim
	if m.cursor < len(m.shown) && Width(m.shown[m.cursor].note()) > size.note {
		text = m.shown[m.cursor].inFull()
	}
	if m.refused {
		role = Warn
	}
	out := make([]string, size.foot-1)
	lines := clamp(wrapSpans([]Span{{text, role}}, w-2), len(out), w-2)
	for i := range out {
		if i < len(lines) {
			out[i] = fitLine("  "+t.draw(lines[i], &t.plain), w)
		} else {
			out[i] = blank(w)
		}
	}
	return out
}

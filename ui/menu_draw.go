package ui

import (
	"slices"
	"strings"
)

const (
	// entryGap parts key, title and note.
	entryGap = 3
	// footRows is the room for what did not fit behind a title.
	footRows = 2
	// pickerRows is how long a picker's list is at most, for a box that does
	// not change its size while one types.
	pickerRows = 16
	// pickerWidth is the least width of a picker.
	pickerWidth = 48
)

// menuSize is how the room of a menu is shared out. It depends on all entries
// rather than on the filter, so that the box stays as it is while one types.
type menuSize struct{ key, title, note, rows, foot int }

func (m *Menu) measure(w, h int) menuSize {
	var s menuSize
	overflow := false
	// What was typed may be an entry that is not among them.
	for _, e := range slices.Concat(m.entries, m.shown) {
		if m.filter == nil {
			s.key = max(s.key, Width(e.Key))
		}
		s.title = max(s.title, Width(e.Title))
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
		s.foot = footRows + 1
	}
	s.rows = max(min(s.rows, h-head-s.foot), 1)
	return s
}

// Render draws the menu within w by h cells.
func (m *Menu) Render(t *Theme, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	size := m.measure(w-trail, h)
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
	spans = append(spans, Span{Pad(e.Title, size.title), title})
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
	if m.cursor < len(m.shown) {
		text = m.shown[m.cursor].note()
	}
	if Width(text) <= size.note {
		text = ""
	}
	if m.refused {
		role = Warn
	}
	out := make([]string, footRows)
	lines := clamp(wrapSpans([]Span{{text, role}}, w-2), footRows, w-2)
	for i := range out {
		if i < len(lines) {
			out[i] = fitLine("  "+t.draw(lines[i], &t.plain), w)
		} else {
			out[i] = blank(w)
		}
	}
	return out
}

package ui

import (
	"fmt"
	"regexp"
	"strings"
)

// hit is a place where the search text stands: a line and a range of bytes.
type hit struct{ line, from, to int }

// search is the search of a pager: the field, the text in effect, its hits.
type search struct {
	input   *Input
	query   string
	hits    []hit
	current int
	origin  [3]int // where the reader was when they began
}

func newSearch() search {
	return search{input: NewInput("/", "")}
}

// shown says that the search needs its line.
func (s *search) shown() bool {
	return s.input.Focused() || s.query != ""
}

func (s *search) start(origin [3]int) {
	s.clear()
	s.origin = origin
	s.input.Focus()
}

func (s *search) accept() {
	s.input.Blur()
}

func (s *search) clear() {
	s.input.Blur()
	s.input.SetValue("")
	s.query, s.hits, s.current = "", nil, 0
}

// changed takes over what is in the field and says if that is news.
func (s *search) changed(texts []string) bool {
	if s.query == s.input.Value() {
		return false
	}
	s.query = s.input.Value()
	s.find(texts)
	return true
}

// find looks for the text anew. Small letters find large ones too.
func (s *search) find(texts []string) {
	s.hits = nil
	if s.query == "" {
		s.current = 0
		return
	}
	pattern := regexp.QuoteMeta(s.query)
	if s.query == strings.ToLower(s.query) {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return // a quoted text always compiles
	}
	for i, text := range texts {
		for _, at := range re.FindAllStringIndex(text, -1) {
			s.hits = append(s.hits, hit{i, at[0], at[1]})
		}
	}
	s.current = max(min(s.current, len(s.hits)-1), 0)
}

// from makes the first hit at or below a line the current one.
func (s *search) from(line int) {
	s.current = 0
	for i, h := range s.hits {
		if h.line >= line {
			s.current = i
			return
		}
	}
}

func (s *search) step(delta int) {
	if n := len(s.hits); n > 0 {
		s.current = ((s.current+delta)%n + n) % n
	}
}

// at returns the current hit.
func (s *search) at() (hit, bool) {
	if s.current >= len(s.hits) {
		return hit{}, false
	}
	return s.hits[s.current], true
}

// count says which hit of how many this is.
func (s *search) count() string {
	switch {
	case s.query == "":
		return ""
	case len(s.hits) == 0:
		return "not found"
	}
	return fmt.Sprintf("%d/%d", s.current+1, len(s.hits))
}

// line draws the search line, w cells wide.
func (s *search) line(t *Theme, w int) string {
	count := Cut(s.count(), w)
	room := max(w-Width(count)-2, 0)
	role := Dim
	if s.query != "" && len(s.hits) == 0 {
		role = Warn
	}
	return fitLine(fitLine(s.input.Render(t, room), w-Width(count))+t.plain[role].over(count), w)
}

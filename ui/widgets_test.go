package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

func strike(update func(tea.Msg), names ...string) {
	for _, name := range names {
		update(key(name))
	}
}

func textPager() *Pager {
	p := NewPager()
	var lines []Line
	for i := range 50 {
		lines = append(lines, Line{{fmt.Sprintf("line %02d: ", i), Dim}, {"claim", Plain}, {"Ref ", Strong}, {strings.Repeat("x", i), Plain}})
	}
	p.SetLines(lines)
	return p
}

func TestPagerMoves(t *testing.T) {
	p := textPager()
	see := func() string { return ansi.Strip(p.Render(dark(), 40, 10)) }
	first := func() string { return strings.TrimSpace(strings.Split(see(), "\n")[0])[:7] }
	exact(t, "pager", see(), 40, 10)
	send := func(names ...string) { strike(func(m tea.Msg) { p.Update(m) }, names...) }
	for _, c := range []struct{ key, want string }{
		{"j", "line 01"},
		{"down", "line 02"},
		{"k", "line 01"},
		{"pgdown", "line 10"},
		{"pgup", "line 01"},
		{"G", "line 40"},
		{"j", "line 40"},
		{"g", "line 00"},
		{"k", "line 00"},
		{"ctrl+d", "line 04"},
		{"ctrl+u", "line 00"},
	} {
		send(c.key)
		if first() != c.want {
			t.Errorf("after %s the first line is %q, want %q", c.key, first(), c.want)
		}
	}
	send("G", "l")
	if got, _, _ := strings.Cut(see(), "\n"); !strings.HasPrefix(got, "  claimRef x") {
		t.Errorf("to the right: %q", got)
	}
	send("h", "h")
	if first() != "line 40" {
		t.Errorf("back to the left: %q", first())
	}
	p.SetLines(textLines(60))
	if first() != "line 40" {
		t.Errorf("new text moved the reader to %q", first())
	}
	p.SetLines(textLines(5))
	if first() != "line 00" {
		t.Errorf("short text: %q", first())
	}
	if p.Position() != "" || !strings.HasPrefix(p.Text(), "line 00\nline 01") {
		t.Errorf("position %q, text %q", p.Position(), p.Text())
	}
}

func textLines(n int) []Line {
	lines := make([]Line, n)
	for i := range lines {
		lines[i] = Line{{fmt.Sprintf("line %02d", i), Plain}}
	}
	return lines
}

func TestPagerWraps(t *testing.T) {
	p := NewPager()
	p.SetLines([]Line{{{"    one two three four five six", Plain}}, {{"next", Plain}}})
	p.Render(dark(), 23, 5)
	strike(func(m tea.Msg) { p.Update(m) }, "w")
	got := ansi.Strip(p.Render(dark(), 23, 5))
	if want := "     one two three\n     four five six\n next"; strings.ReplaceAll(strings.TrimSpace(got), " ", "") !=
		strings.ReplaceAll(strings.TrimSpace(want), " ", "") || !strings.Contains(got, "\n     four five six") {
		t.Errorf("wrapped:\n%s", got)
	}
	exact(t, "pager", got, 23, 5)
}

func TestPagerSearch(t *testing.T) {
	p := textPager()
	send := func(names ...string) { strike(func(m tea.Msg) { p.Update(m) }, names...) }
	see := func() string { return p.Render(dark(), 40, 10) }
	see()
	send("/")
	if !p.Capturing() {
		t.Fatal("the search has no focus")
	}
	p.Update(tea.PasteMsg{Content: "laimref\n"})
	if got := ansi.Strip(see()); !strings.Contains(got, "/laimref") || !strings.Contains(got, "1/50") {
		t.Fatalf("search line:\n%s", got)
	}
	// The hit runs over two spans, and both halves are lit.
	if got := see(); !strings.Contains(got, dark().current.over("laim")+dark().current.over("Ref")) {
		t.Errorf("the hit is not lit: %q", got)
	}
	send("enter", "n", "n", "N")
	if got := ansi.Strip(see()); !strings.Contains(got, "2/50") || p.Capturing() {
		t.Errorf("after n n N:\n%s", got)
	}
	send("N", "N")
	if got := ansi.Strip(see()); !strings.Contains(got, "50/50") || !strings.Contains(got, "line 49") {
		t.Errorf("backwards over the start:\n%s", got)
	}
	p.SetLines(textLines(3))
	if got := ansi.Strip(see()); !strings.Contains(got, "not found") {
		t.Errorf("search in the new text:\n%s", got)
	}
	send("esc")
	if got := ansi.Strip(see()); strings.Contains(got, "laimref") {
		t.Errorf("the search stays:\n%s", got)
	}
	p = textPager()
	see()
	send("/", "4", "9", "esc")
	if got := ansi.Strip(see()); !strings.HasPrefix(got, " line 00") {
		t.Errorf("esc does not go back:\n%s", got)
	}
	send("/", "X", "enter")
	if got := ansi.Strip(see()); !strings.Contains(got, "not found") {
		t.Errorf("a capital letter finds a small one:\n%s", got)
	}
}

func TestPagerSize(t *testing.T) {
	p := textPager()
	for _, keys := range [][]string{{"j"}, {"w"}, {"/", "c"}, {"enter", "G"}} {
		strike(func(m tea.Msg) { p.Update(m) }, keys...)
		for w := 1; w < 60; w += 7 {
			for h := 1; h < 20; h += 3 {
				exact(t, "pager", p.Render(dark(), w, h), w, h)
			}
		}
	}
}

func TestInput(t *testing.T) {
	i := NewInput("/", "filter")
	i.Update(key("a"))
	if i.Value() != "" || i.Focused() {
		t.Error("it takes keys without the focus")
	}
	i.Focus()
	strike(func(m tea.Msg) { i.Update(m) }, "a", "b", "left", "space")
	if i.Value() != "a b" {
		t.Errorf("value %q", i.Value())
	}
	i.Update(tea.PasteMsg{Content: " x\x1b[31my\nz\u202e\n"})
	if i.Value() != "a xy z·b" {
		t.Errorf("after pasting %q", i.Value())
	}
	i.SetValue(strings.Repeat("日", 30))
	for w := 1; w < 30; w++ {
		exact(t, "input", i.Render(dark(), w), w, 1)
	}
	i.SetValue("")
	if got := ansi.Strip(i.Render(dark(), 10)); got != "/filter   " {
		t.Errorf("empty: %q", got)
	}
	i.Blur()
	if i.Update(key("a")); i.Value() != "" {
		t.Error("it takes keys after Blur")
	}
}

func TestMenu(t *testing.T) {
	var log []string
	do := func(name string) func() tea.Cmd {
		return func() tea.Cmd { log = append(log, name); return nil }
	}
	entries := []Entry{
		{Key: "m", Title: "Migrate", Disabled: "the volume has no claim"},
		{Key: "r", Title: "Reserve", Note: "for its former claim", Do: do("reserve")},
		{Key: "j", Title: "Journal", Do: do("journal")},
	}
	m := NewMenu("Actions", entries)
	see := func() string { return ansi.Strip(m.Render(dark(), 60, 20)) }
	if got := see(); !strings.Contains(got, "▌ r  Reserve") || !strings.Contains(got, "not now: the volume has no claim") {
		t.Errorf("menu:\n%s", got)
	}
	if _, done := m.Update(key("m")); done || !strings.Contains(m.Render(dark(), 60, 20), dark().selected[Warn].open) {
		t.Error("a disabled entry does not say so")
	}
	if _, done := m.Update(key("j")); !done {
		t.Error("the letter of an entry moves instead")
	}
	strike(func(msg tea.Msg) { m.Update(msg) }, "up")
	if _, done := m.Update(key("enter")); !done || strings.Join(log, ",") != "journal,reserve" {
		t.Errorf("done: %v", log)
	}
	for _, name := range []string{"esc", "q"} {
		if _, done := m.Update(key(name)); !done {
			t.Errorf("%s does not close", name)
		}
	}
}

func TestPicker(t *testing.T) {
	var picked string
	var entries []Entry
	for i := range 50 {
		name := fmt.Sprintf("shop/data-%d", i)
		entries = append(entries, Entry{Title: name, Do: func() tea.Cmd { picked = name; return nil }})
	}
	m := NewPicker("Claim", entries, PickerOptions{Free: func(s string) (Entry, string) {
		if !strings.Contains(s, "/") {
			return Entry{}, "a claim is namespace/name"
		}
		return Entry{Title: "new: " + s, Do: func() tea.Cmd { picked = "new " + s; return nil }}, ""
	}})
	see := func() string { return ansi.Strip(m.Render(dark(), 60, 24)) }
	height := strings.Count(see(), "\n")
	send := func(names ...string) { strike(func(msg tea.Msg) { m.Update(msg) }, names...) }
	send("4", "space", "S", "h", "o", "p")
	if got := see(); !strings.Contains(got, "14 of 50") || !strings.Contains(got, "▌ shop/data-4 ") {
		t.Errorf("filtered:\n%s", got)
	}
	if strings.Count(see(), "\n") != height {
		t.Error("the box changes its size")
	}
	send("down", "enter")
	if picked != "shop/data-14" {
		t.Errorf("picked %q", picked)
	}
	send("q", "z")
	if got := see(); !strings.Contains(got, "a claim is namespace/name") {
		t.Errorf("why not:\n%s", got)
	}
	if _, done := m.Update(key("enter")); done {
		t.Error("nothing was picked, and yet it closes")
	}
	m.filter.SetValue("")
	m.Update(tea.PasteMsg{Content: "web/a"})
	send("enter")
	if picked != "new web/a" {
		t.Errorf("picked %q", picked)
	}
	if _, done := m.Update(key("esc")); !done {
		t.Error("esc does not close")
	}
}

func TestPrompt(t *testing.T) {
	got := ""
	p := NewPrompt(PromptOptions{
		Title: "Delete", Text: []Span{{"Type ", Plain}, {"data-0", Strong}},
		Check: func(s string) string {
			if s != "data-0" {
				return "that is not the name"
			}
			return ""
		},
		Do: func(s string) tea.Cmd { got = s; return nil },
	})
	see := func() string { return p.Render(dark(), 60, 10) }
	if _, done := p.Update(key("enter")); done || got != "" {
		t.Fatal("an empty text confirms")
	}
	if !strings.Contains(see(), dark().plain[Warn].open) || !strings.Contains(see(), "that is not the name") {
		t.Errorf("no reason:\n%s", see())
	}
	p.Update(tea.PasteMsg{Content: "data-0\n"})
	if strings.Contains(see(), "that is not") {
		t.Error("the reason stays")
	}
	if _, done := p.Update(key("enter")); !done || got != "data-0" {
		t.Errorf("got %q", got)
	}
	for h := 1; h < 6; h++ {
		if s := ansi.Strip(p.Render(dark(), 30, h)); strings.Count(s, "\n") >= h || !strings.Contains(s, "› data-0") {
			t.Errorf("%d rows:\n%s", h, s)
		}
	}
	if _, done := p.Update(key("esc")); !done {
		t.Error("esc does not close")
	}
}

package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// TestMenuStartsHarmless: enter alone never begins what could destroy
// something, not even where nothing else can be chosen.
func TestMenuStartsHarmless(t *testing.T) {
	destroyed := false
	danger := Entry{Key: "d", Title: "Delete", Careful: true, Do: func() tea.Cmd { destroyed = true; return nil }}
	done := func() tea.Cmd { return nil }
	for name, c := range map[string]struct {
		entries []Entry
		want    string
	}{
		"harmless behind it": {[]Entry{danger, {Title: "Off", Disabled: "no"}, {Title: "Show", Do: done}}, "Show"},
		"harmless but off":   {[]Entry{danger, {Title: "Off", Disabled: "no"}}, "Off"},
	} {
		m := NewMenu("Actions", c.entries)
		if got := ansi.Strip(m.Render(dark(), 60, 20)); !strings.Contains(got, "▌") || !strings.Contains(strings.SplitAfter(got, "▌")[1], c.want) {
			t.Errorf("%s: it starts elsewhere than on %s:\n%s", name, c.want, got)
		}
		m.Update(key("enter"))
		if destroyed {
			t.Fatalf("%s: enter alone destroyed something", name)
		}
	}
	m := NewMenu("Actions", []Entry{danger})
	if m.Update(key("d")); !destroyed {
		t.Error("its letter does not do it")
	}
}

// TestMenuTellsReasonsInFull: three lines are there for what a line can't hold.
func TestMenuTellsReasonsInFull(t *testing.T) {
	why := strings.TrimSpace(strings.Repeat("a reason that goes on ", 9)) + " to its end"
	m := NewMenu("Actions", []Entry{{Key: "r", Title: "Reserve", Disabled: why}})
	got := strings.Join(strings.Fields(ansi.Strip(m.Render(dark(), 76, 20))), " ")
	if !strings.HasSuffix(got, " "+why) {
		t.Errorf("it is cut:\n%s", got)
	}
	// On a low screen the list gives way for three lines.
	why = strings.TrimSpace(strings.Repeat("a reason that goes on ", 8)) + " to its end"
	m = NewMenu("Actions", append([]Entry{{Title: "Reserve", Disabled: why}}, make([]Entry, 5)...))
	m.move(-1)
	got = strings.Join(strings.Fields(ansi.Strip(m.Render(dark(), 76, 8))), " ")
	if !strings.Contains(got, why) {
		t.Errorf("it is cut on a low screen:\n%s", got)
	}
}

// TestMenuAsksInASCII: three dots mean that more is asked; the sign of what was
// cut means something else.
func TestMenuAsksInASCII(t *testing.T) {
	th := NewTheme(ThemeOptions{ASCII: true})
	m := NewMenu("Actions", []Entry{{Key: "d", Title: "Set policy Delete…", Note: strings.Repeat("long ", 30)}, {Key: "x", Title: "Else"}})
	got := th.letters(ansi.Strip(m.Render(th, 60, 20)))
	if !strings.Contains(got, "d  Set policy Delete...") || strings.Contains(got, "Delete~") || !strings.Contains(got, "~") {
		t.Errorf("menu:\n%s", got)
	}
}

// TestHelpShowsAllKeys: a binding with many keys takes more than one line.
func TestHelpShowsAllKeys(t *testing.T) {
	h := NewHelp(Group([]Binding{{Keys: []string{"ctrl+f", "pgdown", "space"}, Help: "one screen down"}, {Keys: []string{"x"}, Help: "else"}}))
	got := ansi.Strip(h.Render(dark(), 46, 20))
	lines := strings.Split(got, "\n")
	if !strings.Contains(lines[1], "ctrl+f, pgdown,   one screen down") || strings.TrimSpace(lines[2]) != "space" || strings.Contains(got, "…") {
		t.Errorf("help:\n%s", got)
	}
}

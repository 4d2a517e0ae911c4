package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// stubPage is a page that records what reaches it.
type stubPage struct {
	title, badge string
	story        []Span
	bindings     []Binding
	capturing    bool
	render       func(t *Theme, w, h int) string
	got          []tea.Msg
	react        func(tea.Msg) tea.Cmd
	closed       int
	clicks       [][2]int
	wheel        int
	position     string
}

func (p *stubPage) Title() string       { return p.title }
func (p *stubPage) Badge() string       { return p.badge }
func (p *stubPage) Story() []Span       { return p.story }
func (p *stubPage) Bindings() []Binding { return p.bindings }
func (p *stubPage) Capturing() bool     { return p.capturing }
func (p *stubPage) Closed()             { p.closed++ }
func (p *stubPage) Click(x, y int)      { p.clicks = append(p.clicks, [2]int{x, y}) }
func (p *stubPage) Wheel(delta int)     { p.wheel += delta }
func (p *stubPage) Position() string    { return p.position }

func (p *stubPage) Update(msg tea.Msg) tea.Cmd {
	p.got = append(p.got, msg)
	if p.react != nil {
		return p.react(msg)
	}
	return nil
}

func (p *stubPage) Render(t *Theme, w, h int) string {
	if p.render != nil {
		return p.render(t, w, h)
	}
	return "body of " + Clean(p.title)
}

// stubDialog is a dialog that records what reaches it.
type stubDialog struct {
	got  []tea.Msg
	done func(tea.Msg) bool
}

func (*stubDialog) Title() string { return "stub" }

func (d *stubDialog) Update(msg tea.Msg) (tea.Cmd, bool) {
	d.got = append(d.got, msg)
	return nil, d.done != nil && d.done(msg)
}

func (*stubDialog) Render(*Theme, int, int) string { return "inside" }
func (*stubDialog) Hints() []Hint                  { return []Hint{{"y", "yes"}} }

// stubRows are rows whose ID is their text.
type stubRows struct {
	ids   []string
	cells func(id string) []Cell
	asked *int
}

func (r stubRows) Len() int        { return len(r.ids) }
func (r stubRows) ID(i int) string { return r.ids[i] }

func (r stubRows) Cells(i int) []Cell {
	if r.asked != nil {
		*r.asked++
	}
	if r.cells != nil {
		return r.cells(r.ids[i])
	}
	return []Cell{{{r.ids[i], Plain}}, {{"Bound", Good}}}
}

func ids(names ...string) stubRows { return stubRows{ids: names} }

func many(n int) stubRows {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("pvc-%06d", i)
	}
	return ids(names...)
}

// key makes the message of a key by its name.
func key(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "backspace": tea.KeyBackspace,
	}
	switch {
	case name == "space":
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	case name == "shift+tab":
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	case strings.HasPrefix(name, "ctrl+"):
		return tea.KeyPressMsg{Code: rune(name[5]), Mod: tea.ModCtrl}
	case codes[name] != 0:
		return tea.KeyPressMsg{Code: codes[name]}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

// press sends keys to the app and returns the last command.
func press(t *testing.T, a *App, names ...string) tea.Cmd {
	t.Helper()
	var cmd tea.Cmd
	for _, name := range names {
		msg := key(name)
		if msg.String() != name {
			t.Fatalf("key %q is %q to Bubble Tea", name, msg.String())
		}
		_, cmd = a.Update(msg)
	}
	return cmd
}

func newApp(w, h int, tabs ...Page) *App {
	a := New(Options{
		Product: "claimref",
		Theme:   ThemeOptions{Dark: true, Color: true},
		Tabs:    tabs,
		Chrome:  func() Chrome { return Chrome{Place: []Span{{"prod", Strong}}, Status: []Span{{"live", Good}}} },
	})
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return a
}

// screen is what a reader sees.
func screen(a *App) string {
	return ansi.Strip(a.View().Content)
}

// exact fails unless s is exactly w by h cells.
func exact(t testing.TB, what, s string, w, h int) {
	t.Helper()
	lines := strings.Split(s, "\n")
	if len(lines) != h {
		t.Errorf("%s at %dx%d has %d lines", what, w, h, len(lines))
	}
	for i, line := range lines {
		if got := ansi.StringWidth(line); got != w {
			t.Errorf("%s at %dx%d: line %d is %d wide: %q", what, w, h, i, got, ansi.Strip(line))
		}
	}
}

func binding(log *[]string, title string, keys ...string) Binding {
	return Binding{Keys: keys, Title: title, Hint: true, Do: func() tea.Cmd {
		*log = append(*log, title)
		return nil
	}}
}

func shows(t *testing.T, a *App, want string) {
	t.Helper()
	if s := screen(a); !strings.Contains(s, want) {
		t.Errorf("the screen does not show %q:\n%s", want, s)
	}
}

func hides(t *testing.T, a *App, unwanted string) {
	t.Helper()
	if s := screen(a); strings.Contains(s, unwanted) {
		t.Errorf("the screen shows %q:\n%s", unwanted, s)
	}
}

package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

type someMsg struct{ n int }

func isQuit(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, ok := cmd().(tea.QuitMsg)
	return ok
}

func TestTabs(t *testing.T) {
	a := newApp(80, 24, &stubPage{title: "Volumes", badge: "42"}, &stubPage{title: "Claims"}, &stubPage{title: "Classes"})
	shows(t, a, "1 Volumes 42   2 Claims   3 Classes")
	for _, c := range []struct{ key, want string }{
		{"2", "Claims"}, {"tab", "Classes"}, {"tab", "Volumes"}, {"shift+tab", "Classes"}, {"1", "Volumes"}, {"3", "Classes"},
	} {
		press(t, a, c.key)
		shows(t, a, "body of "+c.want)
	}
	press(t, a, "7")
	shows(t, a, "no key 7 here, ? for help")
	if !isQuit(press(t, a, "q")) {
		t.Error("q on a tab does not quit")
	}
	if press(t, a, "esc") != nil {
		t.Error("esc on a tab does something")
	}
}

func TestPushedPages(t *testing.T) {
	tab := &stubPage{title: "Volumes"}
	a := newApp(80, 24, tab, &stubPage{title: "Claims"})
	first, second := &stubPage{title: "pvc-1"}, &stubPage{title: "Reserve"}
	a.Push(first)
	a.Push(second)
	shows(t, a, "Volumes › pvc-1 › Reserve")
	shows(t, a, "esc back   ? help")
	press(t, a, "2", "tab")
	shows(t, a, "body of Reserve")
	press(t, a, "q")
	shows(t, a, "body of pvc-1")
	press(t, a, "esc")
	shows(t, a, "body of Volumes")
	if first.closed != 1 || second.closed != 1 || tab.closed != 0 {
		t.Errorf("closed: %d, %d, %d", first.closed, second.closed, tab.closed)
	}
	a.Push(first)
	a.Push(second)
	a.Show(1)
	shows(t, a, "body of Claims")
	if first.closed != 2 || second.closed != 2 {
		t.Errorf("Show closed: %d, %d", first.closed, second.closed)
	}
	a.Pop()
	a.Show(9)
	shows(t, a, "body of Claims")
}

func TestPageBindingsWin(t *testing.T) {
	var log []string
	a := newApp(80, 24, &stubPage{title: "Volumes"})
	page := &stubPage{title: "wizard", bindings: []Binding{
		{Keys: []string{"q"}, Title: "leave", Disabled: func() string { return "a step is running" }, Do: func() tea.Cmd { return nil }},
		binding(&log, "mine", "esc"),
		{Keys: []string{"x"}, Title: "x", Disabled: func() string { return "not in this state" }, Do: func() tea.Cmd { return nil }},
		binding(&log, "other state", "x"),
	}}
	a.options.Bindings = []Binding{binding(&log, "host", "H"), binding(&log, "hidden by the page", "x")}
	a.Push(page)
	press(t, a, "esc", "x", "H")
	if got := strings.Join(log, ","); got != "mine,other state,host" {
		t.Errorf("done: %s", got)
	}
	press(t, a, "q")
	shows(t, a, "leave: a step is running")
	shows(t, a, "body of wizard")
	press(t, a, "H")
	hides(t, a, "a step is running")
}

func TestEveryBindingIsReachable(t *testing.T) {
	names := []string{"a", "G", "/", "enter", "space", "ctrl+d", "tab", "shift+tab", "esc", "pgdown", "home", "?", "1", "ф"}
	for _, name := range names {
		var log []string
		a := newApp(80, 24, &stubPage{title: "p", bindings: []Binding{binding(&log, "done", name)}})
		press(t, a, name)
		if len(log) != 1 {
			t.Errorf("key %q did not reach its binding", name)
		}
	}
	table, pager := smallTable(many(50)), NewPager()
	pager.SetLines([]Line{{{"text", Plain}}})
	a := newApp(80, 24, &stubPage{title: "p"})
	a.Push(&stubPage{})
	for _, bindings := range [][]Binding{table.Bindings(), pager.Bindings(), a.bindings()} {
		for _, b := range bindings {
			for _, name := range b.Keys {
				if got := key(name).String(); got != name {
					t.Errorf("key %q of %q is %q to Bubble Tea", name, b.Title, got)
				}
				if b.Help == "" || b.Group == "" || b.Title == "" {
					t.Errorf("key %q has no text for the help", name)
				}
			}
		}
	}
}

func TestCapturing(t *testing.T) {
	var log []string
	page := &stubPage{title: "Volumes", capturing: true}
	always := binding(&log, "accept", "enter")
	always.Always = true
	page.bindings = []Binding{binding(&log, "actions", "a"), always}
	a := newApp(80, 24, page, &stubPage{title: "Claims"})
	press(t, a, "a", "q", "2", "?", "tab", "esc", "enter")
	if got := strings.Join(log, ","); got != "accept" {
		t.Errorf("bindings done: %s", got)
	}
	if len(page.got) != 7 { // six keys and the size
		t.Errorf("the page got %v", page.got)
	}
	a.Update(tea.PasteMsg{Content: "text"})
	if got := page.got[len(page.got)-1]; got != (tea.PasteMsg{Content: "text"}) {
		t.Errorf("pasted text became %v", got)
	}
	shows(t, a, "enter accept")
	hides(t, a, "a actions")
	hides(t, a, "? help")
	if !isQuit(press(t, a, "ctrl+c")) {
		t.Error("ctrl+c does not quit")
	}
	page.capturing = false
	n := len(page.got)
	a.Update(tea.PasteMsg{Content: "q"})
	press(t, a, "z")
	if len(page.got) != n {
		t.Error("input reaches a page that does not capture")
	}
}

func TestBroadcastOnce(t *testing.T) {
	pages := []*stubPage{{title: "a"}, {title: "b"}, {title: "c"}, {title: "d"}}
	a := newApp(80, 24, pages[0], pages[1])
	a.Push(pages[2])
	a.Push(pages[3])
	dialogs := []*stubDialog{{}, {}}
	a.Open(dialogs[0])
	a.Open(dialogs[1])
	a.Update(someMsg{1})
	count := func(got []tea.Msg) int {
		n := 0
		for _, m := range got {
			if m == (someMsg{1}) {
				n++
			}
		}
		return n
	}
	for _, p := range pages {
		if count(p.got) != 1 {
			t.Errorf("page %s got the message %d times", p.title, count(p.got))
		}
	}
	for i, d := range dialogs {
		if count(d.got) != 1 {
			t.Errorf("dialog %d got the message %d times", i, count(d.got))
		}
	}
}

func TestBroadcastWhileTheStackChanges(t *testing.T) {
	a := newApp(80, 24)
	late, top := &stubPage{title: "late"}, &stubPage{title: "top"}
	tab := &stubPage{title: "tab", react: func(msg tea.Msg) tea.Cmd {
		if msg == (someMsg{1}) {
			a.Pop()
			a.Push(late)
		}
		return nil
	}}
	a.SetTabs([]Page{tab})
	a.Push(top)
	a.Update(someMsg{1})
	if len(top.got) != 0 || len(late.got) != 0 {
		t.Errorf("a closed page got %v, a new one %v", top.got, late.got)
	}
	shows(t, a, "body of late")
}

func TestDialogs(t *testing.T) {
	var log []string
	page := &stubPage{title: "Volumes"}
	a := newApp(80, 24, page)
	inner := &stubDialog{done: func(m tea.Msg) bool { return fmt.Sprint(m) == "y" }}
	page.bindings = []Binding{
		binding(&log, "page", "p"),
		{Keys: []string{"o"}, Title: "open", Do: func() tea.Cmd {
			a.Open(NewMenu("Outer", []Entry{{Key: "i", Title: "inner…", Do: func() tea.Cmd {
				a.Open(inner)
				return nil
			}}}))
			return nil
		}},
	}
	press(t, a, "o")
	shows(t, a, "╭─ Outer ")
	shows(t, a, "enter choose")
	press(t, a, "i")
	hides(t, a, "Outer")
	shows(t, a, "╭─ stub ")
	press(t, a, "p", "ctrl+l")
	if len(log) != 0 || len(inner.got) != 1 {
		t.Errorf("keys of the dialog: %v, done by the page: %v", inner.got, log)
	}
	a.Update(tea.PasteMsg{Content: "z"})
	if len(inner.got) != 2 {
		t.Error("pasted text does not reach the dialog")
	}
	press(t, a, "y", "p")
	hides(t, a, "stub")
	if len(log) != 1 {
		t.Error("the page has no keys after the dialog")
	}
	a.Open(&stubDialog{})
	a.Close()
	a.Close()
	hides(t, a, "stub")
}

func TestGrace(t *testing.T) {
	page := &stubPage{title: "Volumes"}
	a := newApp(80, 24, page)
	d := &stubDialog{done: func(m tea.Msg) bool { return fmt.Sprint(m) == "y" }}
	page.react = func(msg tea.Msg) tea.Cmd {
		if msg == (someMsg{1}) {
			a.Open(d)
		}
		return nil
	}
	_, cmd := a.Update(someMsg{1})
	if cmd == nil {
		t.Fatal("nothing ends the grace")
	}
	press(t, a, "y")
	a.Update(tea.PasteMsg{Content: "y"})
	if len(d.got) != 0 {
		t.Fatalf("a stray key reached the dialog: %v", d.got)
	}
	shows(t, a, "stub")
	if !isQuit(press(t, a, "ctrl+c")) {
		t.Error("ctrl+c does not quit in the grace")
	}
	a.Update(graceMsg{a.dialog()})
	press(t, a, "y")
	hides(t, a, "stub")
}

func TestNoticesAndReasons(t *testing.T) {
	page := &stubPage{title: "Volumes", story: []Span{{"The story.", Plain}}, bindings: []Binding{{
		Keys: []string{"u"}, Title: "unreserve", Hint: true,
		Disabled: func() string { return "the volume has no claim\x1b[2J" }, Do: func() tea.Cmd { return nil },
	}}}
	a := newApp(80, 24, page)
	shows(t, a, "The story.")
	press(t, a, "u")
	shows(t, a, "unreserve: the volume has no claim")
	hides(t, a, "The story.")
	press(t, a, "down")
	shows(t, a, "The story.")
	press(t, a, "é")
	shows(t, a, "no key é here, ? for help")
	a.Update(someMsg{1})
	shows(t, a, "no key é here")
	if a.Copy("the name", "pvc-1") == nil {
		t.Error("nothing is copied")
	}
	shows(t, a, "sent the name to the terminal's clipboard")
}

func TestHelp(t *testing.T) {
	var log []string
	grouped := binding(&log, "actions", "a", "A")
	grouped.Help, grouped.Group = "what can be done", "Volume"
	page := &stubPage{title: "Volumes", bindings: append([]Binding{grouped}, smallTable(many(3)).Bindings()...)}
	a := newApp(120, 60, page, &stubPage{title: "Claims"})
	a.options.Bindings = []Binding{binding(&log, "namespace", "n")}
	press(t, a, "?")
	for _, want := range []string{"Volume", "a, A", "what can be done", "next row", "namespace", "to Claims", "shift+tab", "redraw the screen"} {
		shows(t, a, want)
	}
	press(t, a, "?")
	hides(t, a, "what can be done")
}

func TestTooSmall(t *testing.T) {
	var log []string
	page := &stubPage{title: "Volumes", bindings: []Binding{binding(&log, "delete", "d")}}
	a := newApp(59, 24, page)
	shows(t, a, "claimref needs at least 60 columns and 15 rows; this")
	press(t, a, "d", "q")
	if len(log) != 0 {
		t.Error("a key did something that could not be seen")
	}
	if !isQuit(press(t, a, "ctrl+c")) {
		t.Error("ctrl+c does not quit")
	}
	a.Update(tea.WindowSizeMsg{Width: 60, Height: 15})
	shows(t, a, "body of Volumes")
}

func TestFirstView(t *testing.T) {
	v := New(Options{Product: "claimref"}).View()
	if !v.AltScreen || v.Content != "" || v.WindowTitle != "claimref" {
		t.Errorf("%+v", v)
	}
	a := newApp(80, 24)
	shows(t, a, "claimref  prod")
	if a.View().WindowTitle != "claimref · prod" {
		t.Errorf("title %q", a.View().WindowTitle)
	}
}

func TestHeaderKeepsTheState(t *testing.T) {
	a := newApp(60, 15, &stubPage{title: "Volumes"}, &stubPage{title: "Claims"})
	a.options.Chrome = func() Chrome {
		return Chrome{
			Place:   []Span{{strings.Repeat("long-context-", 9), Strong}},
			Status:  []Span{{"● live", Good}, {"   a-long-name-of-an-account   v1.37.2", Dim}},
			Summary: []Span{{"Bound 3  ", Good}, {"Released 999999999999999999999999", Warn}},
			Banner:  []Span{{"watch lost", Bad}},
		}
	}
	shows(t, a, "● live")
	shows(t, a, "watch lost")
	shows(t, a, "2 Claims")
	hides(t, a, "Bound 3")
}

func TestBackground(t *testing.T) {
	a := newApp(80, 24)
	light := tea.BackgroundColorMsg{Color: NewTheme(ThemeOptions{Color: true}).Style(Match).GetBackground()}
	a.Update(light)
	if !a.theme.options.Dark {
		t.Error("the theme follows although it should not")
	}
	a.options.FollowBackground = true
	a.Update(light)
	if a.theme.options.Dark {
		t.Error("the theme does not follow")
	}
	if a.Init() == nil {
		t.Error("the background is not asked for")
	}
}

func TestMouse(t *testing.T) {
	page := &stubPage{title: "Volumes"}
	a := newApp(80, 24, page)
	a.options.Mouse = true
	if a.View().MouseMode == tea.MouseModeNone {
		t.Error("the mouse is off")
	}
	a.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	a.Update(tea.MouseClickMsg{X: 4, Y: 5, Button: tea.MouseLeft})
	a.Update(tea.MouseClickMsg{X: 4, Y: 23, Button: tea.MouseLeft})
	if page.wheel != 1 || !slices.Equal(page.clicks, [][2]int{{4, 2}}) {
		t.Errorf("wheel %d, clicks %v", page.wheel, page.clicks)
	}
	a.Open(&stubDialog{})
	a.Update(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	a.Update(tea.MouseClickMsg{X: 4, Y: 5, Button: tea.MouseLeft})
	if page.wheel != 1 || len(page.clicks) != 1 {
		t.Error("the mouse reaches the page under a dialog")
	}
}

func TestViewIsPure(t *testing.T) {
	table := smallTable(many(100))
	page := &stubPage{title: "Volumes", render: table.Render}
	a := newApp(80, 24, page)
	for range 40 {
		table.Move(3)
		if first, second := a.View().Content, a.View().Content; first != second {
			t.Fatal("drawing twice gives two screens")
		}
	}
}

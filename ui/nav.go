package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Push puts a page over the current one.
func (a *App) Push(p Page) {
	if p != nil {
		a.pushed = append(a.pushed, &layer{page: p})
	}
}

// Pop removes the topmost pushed page, unless that holds. Tabs stay.
func (a *App) Pop() {
	if a.Held() {
		return
	}
	a.pop()
}

// Held says whether a pushed page may not be left now, and tells the user why.
func (a *App) Held() bool {
	for _, l := range a.pushed {
		if h, ok := l.page.(Holder); ok {
			if why := h.Holds(); why != "" {
				a.Notify(Notice, why)
				return true
			}
		}
	}
	return false
}

// Showing says whether a page can be seen: it is on top, no dialog is over it,
// and the terminal is large enough.
func (a *App) Showing(p Page) bool {
	return a.page() == p && len(a.dialogs) == 0 && a.width > 0 && !a.tooSmall()
}

func (a *App) pop() {
	if n := len(a.pushed); n > 0 {
		l := a.pushed[n-1]
		a.pushed = a.pushed[:n-1]
		l.close()
	}
}

// Show selects a tab and removes all pushed pages, unless one of them holds.
func (a *App) Show(tab int) {
	if tab < 0 || tab >= len(a.tabs) || a.Held() {
		return
	}
	a.popAll()
	a.tab = tab
}

func (a *App) popAll() {
	for len(a.pushed) > 0 {
		a.pop()
	}
}

// close tells the page that it was removed.
func (l *layer) close() {
	l.gone = true
	if c, ok := l.page.(Closer); ok {
		c.Closed()
	}
}

// Open puts a dialog over everything. Unless a key opens it, the dialog ignores
// keys for a moment, so that one that was meant for the page does not answer it.
func (a *App) Open(d Dialog) {
	if d == nil {
		return
	}
	m := &modal{dialog: d, quiet: !a.pressed}
	a.dialogs = append(a.dialogs, m)
	if m.quiet {
		a.later(tea.Tick(grace, func(time.Time) tea.Msg { return graceMsg{m} }))
	}
}

// Close removes the topmost dialog.
func (a *App) Close() {
	if m := a.dialog(); m != nil {
		a.dismiss(m)
	}
}

func (a *App) dismiss(m *modal) {
	m.gone = true
	a.dialogs = slices.DeleteFunc(a.dialogs, func(o *modal) bool { return o == m })
}

// Notify shows a message in the story's place until the next key press.
func (a *App) Notify(r Role, text string) {
	a.notice = Span{Clean(text), r}
}

// Copy puts text on the terminal's clipboard. Terminals do not answer, so it
// says what was sent and not what arrived.
func (a *App) Copy(what, text string) tea.Cmd {
	a.Notify(Good, "sent "+what+" to the terminal's clipboard")
	return tea.SetClipboard(text)
}

// bindings are the shell's own keys, those that work now.
func (a *App) bindings() []Binding {
	const group = "Everywhere"
	var all []Binding
	key := func(title, help string, do func(), keys ...string) {
		all = append(all, Binding{Keys: keys, Title: title, Help: help, Group: group, Do: func() tea.Cmd {
			do()
			return nil
		}})
	}
	key("help", "these keys", a.openHelp, "?")
	if len(a.pushed) > 0 {
		key("back", "back to the page below", a.Pop, "esc", "q")
		all[len(all)-1].Hint = true
		return all
	}
	if n := len(a.tabs); n > 1 {
		for i := range min(n, 9) {
			title := Clean(a.tabs[i].page.Title())
			key(title, "to "+title, func() { a.Show(i) }, fmt.Sprint(i+1))
		}
		key("next tab", "next tab", func() { a.Show((a.tab + 1) % n) }, "tab")
		key("previous tab", "previous tab", func() { a.Show((a.tab + n - 1) % n) }, "shift+tab")
	}
	all = append(all, Binding{
		Keys: []string{"q"}, Title: "quit", Help: "quit", Group: group, Hint: true,
		Do: func() tea.Cmd { return tea.Quit },
	})
	return all
}

// GlobalBindings are the keys that do not depend on the page: the host's and
// the shell's own.
func (a *App) GlobalBindings() []Binding {
	const group = "Everywhere"
	return slices.Concat(a.options.Bindings, a.bindings(), []Binding{
		{Keys: []string{"ctrl+l"}, Help: "redraw the screen", Group: group},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Group: group},
		{Keys: []string{"ctrl+c"}, Help: "quit at once", Group: group},
	})
}

// openHelp shows the keys of the page, of the host and of the shell.
func (a *App) openHelp() {
	a.Open(NewHelp(Group(slices.Concat(a.pageBindings(), a.GlobalBindings()))))
}

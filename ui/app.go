package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
)

// How a message finds its way:
//
//   - ctrl+c quits, ctrl+z suspends and ctrl+l redraws, whatever is open.
//   - Keys, pasted text and the mouse go to the topmost thing only. A dialog
//     takes all of them. Otherwise a key is looked up in the bindings of the
//     page (while that is capturing: only in those marked Always, all else is
//     text for the page), then in those of the host, then in the shell's own.
//   - Every other message goes once to each tab, pushed page and dialog, hidden
//     ones too, since they may be waiting for it.
//
// While the terminal is too small to show what a key would do, none does
// anything but ctrl+c and ctrl+z.

// grace is how long a dialog that nobody asked for ignores keys: long enough
// that what was being typed when it appeared does not answer it.
const grace = 400 * time.Millisecond

// Options say what the shell is made of.
type Options struct {
	// Tabs are the pages at the bottom of the stack. Pages that need the
	// shell first can be set with SetTabs.
	Tabs []Page
	// Chrome is what stands around the pages.
	Chrome func() Chrome
	// Theme is the look. With FollowBackground the terminal's answer about
	// its background decides whether it is dark.
	Theme            ThemeOptions
	FollowBackground bool
	// Init is the host's first command.
	Init func() tea.Cmd
	// Product is the name in the header.
	Product string
	// Bindings are keys of the host, for all pages.
	Bindings []Binding
	// Mouse turns the mouse on. The terminal's own selection of text then
	// needs a modifier key.
	Mouse bool
}

// Closer is a page that wants to know when it was removed from the stack.
type Closer interface{ Closed() }

// Positioner is a page that can say where in its list the selection is. The
// rule below the page shows it.
type Positioner interface{ Position() string }

// Holder is a page that may not be left at the moment. Holds says why not, or
// nothing. Only ctrl+c passes it.
type Holder interface{ Holds() string }

// Summarizer is a page that sums up what it lists, for room cells at the right
// end of the tab line, in the place of the chrome's summary.
type Summarizer interface{ Summary(room int) []Span }

// Clicker is a page that takes clicks, in cells from its own top left corner.
type Clicker interface{ Click(x, y int) }

// Wheeler is a page or a dialog that can be turned with the mouse wheel.
type Wheeler interface{ Wheel(delta int) }

// App is the shell: the root model, and what pages navigate with.
type App struct {
	options Options
	theme   *Theme

	tabs    []*layer
	tab     int
	pushed  []*layer
	dialogs []*modal

	notice  Span // stands in the story's place until the next key
	width   int
	height  int
	pressed bool // a key is being handled
	pending []tea.Cmd
}

// layer is a page on the stack. It has an identity of its own, so that the
// same page could be shown twice.
type layer struct {
	page Page
	gone bool
}

// modal is an open dialog.
type modal struct {
	dialog Dialog
	quiet  bool // opened by itself a moment ago: keys are not meant for it
	gone   bool
}

// graceMsg ends the time in which a dialog ignores keys.
type graceMsg struct{ modal *modal }

var (
	_ tea.Model = (*App)(nil)
	_ Nav       = (*App)(nil)
)

// New makes the shell.
func New(o Options) *App {
	o.Product = Clean(o.Product)
	a := &App{options: o, theme: NewTheme(o.Theme)}
	a.SetTabs(o.Tabs)
	return a
}

// SetTabs replaces the tabs, for pages that are made after the shell. Pushed
// pages are removed.
func (a *App) SetTabs(pages []Page) {
	a.popAll()
	a.tabs, a.tab = nil, 0
	for _, p := range pages {
		a.tabs = append(a.tabs, &layer{page: p})
	}
}

// Init starts the host's command and asks for the terminal's background.
func (a *App) Init() tea.Cmd {
	if a.options.FollowBackground {
		a.later(tea.RequestBackgroundColor)
	}
	if a.options.Init != nil {
		a.later(a.options.Init())
	}
	return a.flush(nil)
}

// Update takes in one message.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		a.pressed = true
		cmd := a.press(msg)
		a.pressed = false
		return a, a.flush(cmd)
	case tea.KeyReleaseMsg:
		return a, nil
	case tea.PasteMsg, tea.PasteStartMsg, tea.PasteEndMsg:
		return a, a.flush(a.paste(msg))
	case tea.MouseMsg:
		a.mouse(msg)
		return a, a.flush(nil)
	case graceMsg:
		msg.modal.quiet = false
		return a, nil
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		if a.options.FollowBackground && msg.IsDark() != a.theme.options.Dark {
			o := a.theme.options
			o.Dark = msg.IsDark()
			a.theme = NewTheme(o)
		}
	}
	return a, a.flush(a.broadcast(msg))
}

// broadcast gives a message to all pages and dialogs that were there when it
// came. Those that another one removes meanwhile are left out.
func (a *App) broadcast(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	pages := slices.Concat(a.tabs, a.pushed)
	dialogs := slices.Clone(a.dialogs)
	for _, l := range pages {
		if !l.gone {
			cmds = append(cmds, l.page.Update(msg))
		}
	}
	for _, m := range dialogs {
		if !m.gone {
			cmds = append(cmds, a.tell(m, msg))
		}
	}
	return tea.Batch(cmds...)
}

// tell gives a message to a dialog and closes it if that is done. By then the
// dialog may have opened others, which stay.
func (a *App) tell(m *modal, msg tea.Msg) tea.Cmd {
	cmd, done := m.dialog.Update(msg)
	if done {
		a.dismiss(m)
	}
	return cmd
}

// later keeps a command that came about where none can be returned.
func (a *App) later(cmd tea.Cmd) {
	if cmd != nil {
		a.pending = append(a.pending, cmd)
	}
}

// flush returns cmd together with the commands kept.
func (a *App) flush(cmd tea.Cmd) tea.Cmd {
	if len(a.pending) == 0 {
		return cmd
	}
	all := tea.Batch(append(a.pending, cmd)...)
	a.pending = nil
	return all
}

// press handles a key.
func (a *App) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch key {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	if a.tooSmall() {
		return nil
	}
	if key == "ctrl+l" {
		return tea.ClearScreen
	}
	if m := a.dialog(); m != nil {
		if m.quiet {
			return nil
		}
		a.notice = Span{}
		return a.tell(m, msg)
	}
	a.notice = Span{}

	page := a.page()
	capturing := page != nil && page.Capturing()
	for _, bindings := range [][]Binding{a.pageBindings(), a.options.Bindings, a.bindings()} {
		if capturing {
			bindings = slices.DeleteFunc(slices.Clone(bindings), func(b Binding) bool { return !b.Always })
		}
		b, ok := match(bindings, key)
		if !ok {
			continue
		}
		if why := reason(b); why != "" {
			a.Notify(Notice, b.Title+": "+why)
			return nil
		}
		return b.Do()
	}
	switch {
	case capturing:
		return page.Update(msg)
	case msg.Text != "":
		a.Notify(Dim, "no key "+key+" here, ? for help")
	}
	return nil
}

// paste gives text to whatever has the focus.
func (a *App) paste(msg tea.Msg) tea.Cmd {
	if a.tooSmall() {
		return nil
	}
	if m := a.dialog(); m != nil {
		if m.quiet {
			return nil
		}
		return a.tell(m, msg)
	}
	if page := a.page(); page != nil && page.Capturing() {
		return page.Update(msg)
	}
	return nil
}

// mouse turns and selects. It never does more than that: what changes
// something takes a key.
func (a *App) mouse(msg tea.MouseMsg) {
	if a.tooSmall() {
		return
	}
	var top any = a.page()
	if m := a.dialog(); m != nil {
		top = m.dialog
	}
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		w, ok := top.(Wheeler)
		switch {
		case ok && msg.Button == tea.MouseWheelDown:
			w.Wheel(1)
		case ok && msg.Button == tea.MouseWheelUp:
			w.Wheel(-1)
		}
	case tea.MouseClickMsg:
		y := msg.Y - a.above()
		c, ok := top.(Clicker)
		if ok && len(a.dialogs) == 0 && msg.Button == tea.MouseLeft && y >= 0 && y < a.body() {
			c.Click(msg.X, y)
		}
	}
}

// page returns the topmost page, nil when there is none.
func (a *App) page() Page {
	if n := len(a.pushed); n > 0 {
		return a.pushed[n-1].page
	}
	if a.tab < len(a.tabs) {
		return a.tabs[a.tab].page
	}
	return nil
}

func (a *App) pageBindings() []Binding {
	if p := a.page(); p != nil {
		return p.Bindings()
	}
	return nil
}

// dialog returns the topmost dialog, nil when there is none.
func (a *App) dialog() *modal {
	if n := len(a.dialogs); n > 0 {
		return a.dialogs[n-1]
	}
	return nil
}

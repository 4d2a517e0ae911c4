package ui

import tea "charm.land/bubbletea/v2"

// Page is a screen body: a tab, or something pushed over the tabs.
type Page interface {
	// Title is the tab's label, or the page's part of the path line.
	Title() string
	// Badge is a short text behind the tab's label, such as a count.
	Badge() string
	// Update takes every message that is not input, and input while
	// Capturing. It may change the page in place.
	Update(msg tea.Msg) tea.Cmd
	// Render draws the body, exactly w by h cells.
	Render(t *Theme, w, h int) string
	// Story is the one or two sentences about what is selected. The shell
	// wraps and cuts them.
	Story() []Span
	// Bindings are the keys that work now, in the order of importance.
	Bindings() []Binding
	// Capturing says that a text input has the focus: keys are text, except
	// those that a binding marks Always.
	Capturing() bool
}

// Dialog is a box over the page that takes all input until it closes.
type Dialog interface {
	Title() string
	// Update takes every message, keys included, while the dialog is on top.
	// done closes it.
	Update(msg tea.Msg) (cmd tea.Cmd, done bool)
	// Render draws the inside of the box, at most w by h cells.
	Render(t *Theme, w, h int) string
	// Hints are the keys shown on the key line while the dialog is open.
	Hints() []Hint
}

// Nav is what a page may ask of the shell. It is used on the update goroutine
// only; the effect is immediate.
type Nav interface {
	// Push puts a page over the current one, Pop removes the topmost pushed
	// page. Show selects a tab and removes all pushed pages. A page that is a
	// Holder may refuse to be left.
	Push(Page)
	Pop()
	Show(tab int)
	// Held says whether a pushed page may not be left now, and tells the user
	// why. Showing says whether a page can be seen: nothing is over it, and
	// the terminal is large enough.
	Held() bool
	Showing(Page) bool
	// Open puts a dialog over everything, Close removes the topmost one.
	Open(Dialog)
	Close()
	// Notify shows a message in the story's place until the next key press.
	Notify(Role, string)
	// Copy puts text on the terminal's clipboard and says so.
	Copy(what, text string) tea.Cmd
}

// Chrome is what surrounds the page. It is read at each frame.
type Chrome struct {
	// Place is where the user is: context and namespace.
	Place []Span
	// Status is the state of the connection, and who is connected.
	Status []Span
	// Summary stands at the right end of the tab line.
	Summary []Span
	// Banner is a line under the tab line for what must not be missed; empty
	// for none.
	Banner []Span
}

// Span is a piece of text in one role.
type Span struct {
	Text string
	Role Role
}

// Hint is a key and what it does, for the key line.
type Hint struct {
	Key   string
	Title string
}

// Binding is a key and all that is said and done about it. The same record
// feeds the key line, the help, the menus and the reason why not.
type Binding struct {
	// Keys are matched against tea.KeyPressMsg.String(): "a", "G", "enter",
	// "space", "ctrl+c". The first one is shown.
	Keys []string
	// Title is one or two words for the key line, Help a phrase for the help.
	Title string
	Help  string
	// Group is the heading in the help.
	Group string
	// Hint puts it on the key line.
	Hint bool
	// Always: works while a text input has the focus, too.
	Always bool
	// Disabled returns why it can't be done now, or "". Nil for never.
	Disabled func() string
	// Do does it.
	Do func() tea.Cmd
}

package ui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Entry is something to choose.
type Entry struct {
	// Key picks it at once, in a menu. Title is what it does, Note what is
	// good to know about it.
	Key, Title, Note string
	// Disabled says why it can't be chosen now, or nothing.
	Disabled string
	// Careful is for what could destroy something: the cursor never starts
	// there, so that enter alone does not begin it.
	Careful bool
	// Do does it. The menu is closed then.
	Do func() tea.Cmd
}

// PickerOptions say how a picker behaves.
type PickerOptions struct {
	Placeholder string
	// Free, if set, offers what was typed as an entry of its own, or says why
	// it can't be one.
	Free func(text string) (Entry, string)
}

// Menu is a dialog with a list of entries. It comes as a menu, where letters
// pick, and as a picker, where they filter.
type Menu struct {
	title   string
	entries []Entry
	folded  []string // titles and notes in small letters, for the filter
	filter  *Input   // nil in a menu
	free    func(string) (Entry, string)

	shown   []Entry
	cursor  int
	refused bool   // the entry under the cursor was chosen, but can't be
	why     string // why what was typed is no entry

	// What was drawn last, for paging and a list that scrolls no more than
	// it must.
	offset, rows int
}

// NewMenu makes a menu: letters pick, so do arrows and enter.
func NewMenu(title string, entries []Entry) *Menu {
	m := &Menu{title: Clean(title), entries: make([]Entry, len(entries)), rows: firstPage}
	m.folded = make([]string, len(entries))
	for i, e := range entries {
		m.entries[i] = cleanEntry(e)
		m.folded[i] = strings.ToLower(m.entries[i].Title + " " + m.entries[i].Note)
	}
	m.shown = m.entries
	m.toUsable()
	return m
}

// NewPicker makes a menu for many entries, filtered by what is typed.
func NewPicker(title string, entries []Entry, o PickerOptions) *Menu {
	m := NewMenu(title, entries)
	m.filter = NewInput("› ", o.Placeholder)
	m.filter.Focus()
	m.free = o.Free
	return m
}

func cleanEntry(e Entry) Entry {
	e.Title, e.Note, e.Disabled = Clean(e.Title), Clean(e.Note), Clean(e.Disabled)
	return e
}

// Title returns the title.
func (m *Menu) Title() string {
	return m.title
}

// Hints returns the keys of the menu.
func (m *Menu) Hints() []Hint {
	if m.filter == nil {
		return []Hint{{"enter", "choose"}, {"up/down", "move"}, {"esc", "back"}}
	}
	return []Hint{{"enter", "choose"}, {"up/down", "move"}, {"a-z", "filter"}, {"esc", "back"}}
}

// Update moves, filters and picks.
func (m *Menu) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		return m.edit(msg), false
	}
	return nil, false
}

func (m *Menu) press(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	key := msg.String()
	if m.filter == nil {
		if i := slices.IndexFunc(m.shown, func(e Entry) bool { return e.Key != "" && e.Key == key }); i >= 0 {
			m.cursor = i
			return m.choose()
		}
	}
	switch key {
	case "esc":
		return nil, true
	case "enter":
		return m.choose()
	case "up", "ctrl+p":
		m.move(-1)
	case "down", "ctrl+n":
		m.move(1)
	case "pgup":
		m.move(-m.rows)
	case "pgdown":
		m.move(m.rows)
	default:
		if m.filter != nil {
			return m.edit(msg), false
		}
		return nil, m.menuKey(key)
	}
	return nil, false
}

// menuKey handles the keys that are text in a picker, and returns true to
// close the menu.
func (m *Menu) menuKey(key string) bool {
	switch key {
	case "q":
		return true
	case "j", "tab":
		m.move(1)
	case "k", "shift+tab":
		m.move(-1)
	case "g", "home":
		m.move(-len(m.shown))
	case "G", "end":
		m.move(len(m.shown))
	}
	return false
}

// Wheel moves the choice by delta notches.
func (m *Menu) Wheel(delta int) {
	m.move(delta)
}

func (m *Menu) move(delta int) {
	m.cursor = max(min(m.cursor+delta, len(m.shown)-1), 0)
	m.refused = false
}

func (m *Menu) choose() (tea.Cmd, bool) {
	if m.cursor >= len(m.shown) {
		m.refused = true
		return nil, false
	}
	e := m.shown[m.cursor]
	if e.Disabled != "" || e.Do == nil {
		m.refused = true
		return nil, false
	}
	return e.Do(), true
}

func (m *Menu) edit(msg tea.Msg) tea.Cmd {
	if m.filter == nil {
		return nil
	}
	before := m.filter.Value()
	cmd := m.filter.Update(msg)
	if m.filter.Value() != before {
		m.narrow()
	}
	return cmd
}

// narrow keeps the entries that have all of the typed words, and asks for the
// free one.
func (m *Menu) narrow() {
	text := m.filter.Value()
	words := strings.Fields(strings.ToLower(text))
	m.shown = make([]Entry, 0, len(m.entries))
	for i, e := range m.entries {
		if containsAll(m.folded[i], words) {
			m.shown = append(m.shown, e)
		}
	}
	m.why = ""
	if text = strings.TrimSpace(text); m.free != nil && text != "" {
		e, why := m.free(text)
		m.why = Clean(why)
		if why == "" && e.Do != nil {
			m.shown = append(m.shown, cleanEntry(e))
		}
	}
	m.cursor, m.offset, m.refused = 0, 0, false
	m.toUsable()
}

func containsAll(s string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(s, word) {
			return false
		}
	}
	return true
}

// toUsable puts the cursor on the first entry that can be chosen and is
// harmless, or else on the first harmless one.
func (m *Menu) toUsable() {
	harmless := func(e Entry) bool { return !e.Careful }
	at := slices.IndexFunc(m.shown, func(e Entry) bool { return harmless(e) && e.Disabled == "" })
	if at < 0 {
		at = slices.IndexFunc(m.shown, harmless)
	}
	m.cursor = max(at, 0)
}

// note is what stands behind the title.
func (e Entry) note() string {
	if e.Disabled != "" {
		return "not now: " + e.Disabled
	}
	return e.Note
}

// inFull is the same with a line of its own.
func (e Entry) inFull() string {
	if e.Disabled != "" {
		return e.Disabled
	}
	return e.Note
}

// count says how many entries the filter leaves.
func (m *Menu) count() string {
	return fmt.Sprintf("%d of %d", len(m.shown), len(m.entries))
}

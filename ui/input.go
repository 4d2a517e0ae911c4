package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Input is a text field of one line. It edits with bubbles' textinput, and
// draws by itself: the view is then a pure function of text, cursor and width.
type Input struct {
	model       textinput.Model
	prompt      string
	placeholder string
}

// NewInput makes an empty field without the focus.
func NewInput(prompt, placeholder string) *Input {
	m := textinput.New()
	m.SetVirtualCursor(false)
	// Reading the clipboard would start other programs. Terminals paste by
	// themselves.
	m.KeyMap.Paste.SetEnabled(false)
	return &Input{model: m, prompt: Clean(prompt), placeholder: Clean(placeholder)}
}

// Focus lets the field take keys.
func (i *Input) Focus() {
	i.model.Focus()
}

// Blur makes the field ignore keys.
func (i *Input) Blur() {
	i.model.Blur()
}

// Focused says whether the field takes keys.
func (i *Input) Focused() bool {
	return i.model.Focused()
}

// Value returns the text.
func (i *Input) Value() string {
	return i.model.Value()
}

// SetValue replaces the text and puts the cursor behind it.
func (i *Input) SetValue(s string) {
	i.model.SetValue(Clean(s))
	i.model.CursorEnd()
}

// Update edits the text by keys and pasted text; the latter becomes one line.
func (i *Input) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tea.PasteMsg:
		m.Content = Clean(strings.TrimSpace(m.Content))
		msg = m
	case tea.KeyPressMsg:
		m.Text = Clean(m.Text)
		msg = m
	}
	var cmd tea.Cmd
	i.model, cmd = i.model.Update(msg)
	return cmd
}

// Render draws the field, exactly w cells wide, scrolled so that the cursor is
// in sight.
func (i *Input) Render(t *Theme, w int) string {
	if w <= 0 {
		return ""
	}
	prompt := Cut(i.prompt, w-1)
	room := w - Width(prompt)
	head := t.plain[Key].over(prompt)
	value := []rune(i.model.Value())
	if len(value) == 0 && i.placeholder != "" {
		text := Cut(i.placeholder, room)
		if i.Focused() && text != "" {
			first, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
			rest := t.plain[Dim].over(text[len(first):])
			return fitLine(head+t.cursor.over(first)+rest, w)
		}
		return fitLine(head+t.plain[Dim].over(text), w)
	}
	at := min(i.model.Position(), len(value))
	before, under, after := string(value[:at]), " ", ""
	if at < len(value) {
		cluster, _ := ansi.FirstGraphemeCluster(string(value[at:]), ansi.GraphemeWidth)
		under, after = cluster, string(value[at:])[len(cluster):]
	}
	if !i.Focused() {
		return fitLine(head+t.plain[Plain].over(Cut(string(value), room)), w)
	}
	if excess := Width(before) + Width(under) - room; excess > 0 {
		width := Width(before)
		before = ellipsis + sliceText(before, excess+1, width, width)
	}
	after = Cut(after, room-Width(before)-Width(under))
	return fitLine(head+t.plain[Plain].over(before)+t.cursor.over(under)+t.plain[Plain].over(after), w)
}

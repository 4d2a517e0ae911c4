package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// promptWidth is how wide a prompt is where there is room.
const promptWidth = 72

// PromptOptions describe a prompt.
type PromptOptions struct {
	Title string
	// Text explains what is asked; line breaks are kept.
	Text []Span
	// Placeholder stands in the empty field, Initial is its first text.
	Placeholder, Initial string
	// Check says why the text can't be taken, or nothing. A typed
	// confirmation compares here.
	Check func(string) string
	// Do gets the text. The prompt is closed then.
	Do func(string) tea.Cmd
}

// Prompt is a dialog that asks for one line of text.
type Prompt struct {
	options PromptOptions
	input   *Input
	why     string
	refused bool
}

// NewPrompt makes a prompt.
func NewPrompt(o PromptOptions) *Prompt {
	o.Title = Clean(o.Title)
	p := &Prompt{options: o, input: NewInput("› ", o.Placeholder)}
	p.input.SetValue(o.Initial)
	p.input.Focus()
	p.check()
	return p
}

// Title returns the title.
func (p *Prompt) Title() string {
	return p.options.Title
}

// Hints returns the keys of the prompt.
func (p *Prompt) Hints() []Hint {
	return []Hint{{"enter", "confirm"}, {"esc", "cancel"}}
}

func (p *Prompt) check() {
	p.why = ""
	if p.options.Check != nil {
		p.why = Clean(p.options.Check(p.input.Value()))
	}
}

// Update edits the text, and hands it over when enter is pressed.
func (p *Prompt) Update(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch msg.String() {
		case "esc":
			return nil, true
		case "enter":
			// What is checked may have changed while the prompt was open.
			p.check()
			if p.why != "" {
				p.refused = true
				return nil, false
			}
			if p.options.Do == nil {
				return nil, true
			}
			return p.options.Do(p.input.Value()), true
		}
	case tea.PasteMsg:
	default:
		return nil, false
	}
	cmd := p.input.Update(msg)
	p.refused = false
	p.check()
	return cmd, false
}

// Render draws the prompt within w by h cells. The field and the reason below
// it stay when the text above has to be cut.
func (p *Prompt) Render(t *Theme, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	w = min(w, promptWidth)
	var tail []string
	tail = append(tail, p.input.Render(t, w))
	if p.options.Check != nil {
		role := Dim
		if p.refused {
			role = Warn
		}
		tail = append(tail, fitLine(t.plain[role].over(Cut(p.why, w)), w))
	}
	tail = tail[:min(len(tail), h)]
	var lines []string
	text := paragraphs(p.options.Text, w)
	if room := h - len(tail) - 1; len(text) > 0 && room > 0 {
		for _, line := range clamp(text, room, w) {
			lines = append(lines, fitLine(t.draw(line, &t.plain), w))
		}
		lines = append(lines, blank(w))
	}
	return strings.Join(append(lines, tail...), "\n")
}

package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

const (
	// helpColumn is the least width of a column of the help, for two of them
	// side by side.
	helpColumn = 46
	// helpKeys is the room for the keys of one binding.
	helpKeys = 18
)

// HelpGroup is a heading and the keys below it.
type HelpGroup struct {
	Title    string
	Bindings []Binding
}

// help is a dialog that lists keys.
type help struct {
	groups        []HelpGroup
	offset        int
	rows, visible int // as drawn last, for paging
}

// NewHelp makes the help for the groups.
func NewHelp(groups []HelpGroup) Dialog {
	return &help{groups: groups, visible: firstPage}
}

// Group sorts bindings under their headings, in the order in which these first
// appear.
func Group(bindings []Binding) []HelpGroup {
	var groups []HelpGroup
	at := map[string]int{}
	for _, b := range bindings {
		if len(b.Keys) == 0 {
			continue
		}
		name := b.Group
		if name == "" {
			name = "Here"
		}
		i, ok := at[name]
		if !ok {
			i = len(groups)
			at[name] = i
			groups = append(groups, HelpGroup{Title: name})
		}
		groups[i].Bindings = append(groups[i].Bindings, b)
	}
	return groups
}

func (*help) Title() string {
	return "Keys"
}

func (h *help) Hints() []Hint {
	hints := []Hint{{"esc", "close"}}
	if h.rows > h.visible {
		hints = append([]Hint{{"up/down", "scroll"}}, hints...)
	}
	return hints
}

func (h *help) Update(msg tea.Msg) (tea.Cmd, bool) {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil, false
	}
	switch key.String() {
	case "esc", "q", "?", "enter":
		return nil, true
	case "j", "down":
		h.Wheel(1)
	case "k", "up":
		h.Wheel(-1)
	case "pgdown", "space", "ctrl+f", "ctrl+d":
		h.Wheel(h.visible)
	case "pgup", "ctrl+b", "ctrl+u":
		h.Wheel(-h.visible)
	case "g", "home":
		h.offset = 0
	case "G", "end":
		h.Wheel(h.rows)
	}
	return nil, false
}

// Wheel scrolls by delta rows.
func (h *help) Wheel(delta int) {
	h.offset = max(min(h.offset+delta, h.rows-h.visible), 0)
}

func (h *help) Render(t *Theme, width, height int) string {
	if width <= 0 || height <= 0 {
		return ""
	}
	lines := h.columns(t, width-1)
	h.rows, h.visible = len(lines), height
	h.Wheel(0)
	end := min(h.offset+height, len(lines))
	out := make([]string, 0, height)
	for k, line := range lines[h.offset:end] {
		out = append(out, line+scrollThumb(t, k, height, h.offset, len(lines)))
	}
	return strings.Join(out, "\n")
}

// columns sets the groups in two columns of about the same height where there
// is room for them.
func (h *help) columns(t *Theme, w int) []string {
	columns := 1
	if w >= 2*helpColumn+entryGap {
		columns = 2
	}
	each := (w - (columns-1)*entryGap) / columns
	all := make([][]string, 0, len(h.groups))
	total := 0
	for _, g := range h.groups {
		lines := h.group(t, g, each)
		all = append(all, lines)
		total += len(lines)
	}
	var left, right []string
	for _, lines := range all {
		if columns == 1 || len(right) == 0 && len(left)+len(lines)/2 <= total/2 {
			left = append(left, lines...)
		} else {
			right = append(right, lines...)
		}
	}
	left, right = trimLast(left), trimLast(right)
	if columns == 1 {
		return left
	}
	for len(left) < len(right) {
		left = append(left, blank(each))
	}
	for i := range left {
		other := blank(each)
		if i < len(right) {
			other = right[i]
		}
		left[i] = fitLine(left[i]+blank(entryGap)+other, w)
	}
	return left
}

// trimLast drops the blank line behind the last group.
func trimLast(lines []string) []string {
	return lines[:max(len(lines)-1, 0)]
}

// group draws a heading and its keys, with a blank line behind.
func (h *help) group(t *Theme, g HelpGroup, w int) []string {
	lines := []string{fitLine(t.plain[Strong].over(Cut(Clean(g.Title), w)), w)}
	for _, b := range g.Bindings {
		text, role := b.Help, Plain
		if text == "" {
			text = b.Title
		}
		text = Clean(text)
		if why := reason(b); why != "" {
			text, role = text+" – not now: "+Clean(why), Dim
		}
		keys := Wrap(Clean(strings.Join(b.Keys, ", ")), helpKeys-1)
		parts := wrapSpans([]Span{{text, role}}, max(w-helpKeys-2, 8))
		for i := range max(len(keys), len(parts)) {
			line := blank(2 + helpKeys)
			if i < len(keys) {
				line = "  " + t.plain[Key].over(Pad(keys[i], helpKeys))
			}
			if i < len(parts) {
				line += t.draw(parts[i], &t.plain)
			}
			lines = append(lines, fitLine(line, w))
		}
	}
	return append(lines, blank(w))
}

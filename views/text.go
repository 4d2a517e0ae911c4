package views

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/claimref/claimref/ui"
)

// textPage shows commands for a shell, which can be searched and copied.
type textPage struct {
	*session
	text  string
	pager *ui.Pager
}

func newCommands(s *session, text string) *textPage {
	p := &textPage{session: s, text: text, pager: ui.NewPager()}
	var lines []ui.Line
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\n")
		role := ui.Plain
		if strings.HasPrefix(raw, "#") {
			role = ui.Dim
		}
		lines = append(lines, ui.Line{{Text: raw, Role: role}})
	}
	p.pager.SetLines(lines)
	p.pager.SetWrap(true)
	return p
}

// Title implements ui.Page.
func (p *textPage) Title() string { return "kubectl" }

// Badge implements ui.Page.
func (p *textPage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *textPage) Position() string { return p.pager.Position() }

// Wheel implements ui.Wheeler.
func (p *textPage) Wheel(delta int) { p.pager.Wheel(delta) }

// Capturing implements ui.Page.
func (p *textPage) Capturing() bool { return p.pager.Capturing() }

// Story implements ui.Page.
func (p *textPage) Story() []ui.Span { return nil }

// Render implements ui.Page.
func (p *textPage) Render(t *ui.Theme, w, h int) string { return p.pager.Render(t, w, h) }

// Update implements ui.Page.
func (p *textPage) Update(msg tea.Msg) tea.Cmd {
	switch msg.(type) {
	case snapshotMsg, tickMsg:
		return nil
	}
	return p.pager.Update(msg)
}

// Bindings implements ui.Page.
func (p *textPage) Bindings() []ui.Binding {
	if p.Capturing() {
		return p.pager.Bindings()
	}
	return append([]ui.Binding{{
		Keys: []string{"Y"}, Title: "copy", Help: "copy " + "the commands", Group: "Text", Hint: true,
		Do: func() tea.Cmd { return p.nav.Copy("the commands", p.text) },
	}}, p.pager.Bindings()...)
}

// lasted writes a duration in kubectl's short form.
func lasted(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }

// sentence ends a sentence of a plan, which come without a period so that
// they can be joined.
func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

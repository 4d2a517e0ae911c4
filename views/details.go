package views

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// detailsPage tells all about one object: its story in words, its fields, its
// users and its events, or its YAML. It follows the object as it changes.
type detailsPage struct {
	*session
	ref actions.Ref
	// describe makes the sections from the current snapshot; false when the
	// object is gone.
	describe func() (sections, bool)
	// keys are the bindings of the object's kind.
	keys func(*detailsPage) []ui.Binding

	overview *ui.Pager
	yaml     *ui.Pager
	showYAML bool
	told     []ui.Span
	gone     bool
	full     fullStory

	turn       int
	eventsRead bool
	events     []kube.Event
	eventsErr  string
	manifest   string
	madeFrom   uint64
	// version is what events and YAML were read for.
	version string
}

// sections is what the overview shows.
type sections struct {
	title string
	// version is the object's resourceVersion.
	version string
	state   kube.State
	story   []ui.Span
	facts   []fact
	// lists are headed lists of lines: users, conditions.
	lists []factList
}

// fact is a labelled value. An empty value is left out.
type fact struct {
	label string
	value string
	role  ui.Role
}

type factList struct {
	title string
	lines []ui.Line
	empty string
}

func (s *session) openDetails(ref actions.Ref, yaml bool, describe func() (sections, bool), keys func(*detailsPage) []ui.Binding) tea.Cmd {
	p := &detailsPage{
		session: s, ref: ref, describe: describe, keys: keys,
		overview: ui.NewPager(), yaml: ui.NewPager(), showYAML: yaml,
	}
	p.overview.SetWrap(true)
	p.rebuild()
	p.nav.Push(p)
	return tea.Batch(p.explain(), p.read())
}

// read reads the events and the YAML.
func (p *detailsPage) read() tea.Cmd {
	p.turn++
	return tea.Batch(p.readEvents(p, p.ref), p.readManifest(p, p.ref))
}

// Title implements ui.Page.
func (p *detailsPage) Title() string { return p.ref.Name }

// Badge implements ui.Page.
func (p *detailsPage) Badge() string { return "" }

// Position implements ui.Positioner.
func (p *detailsPage) Position() string { return p.pager().Position() }

// Wheel implements ui.Wheeler.
func (p *detailsPage) Wheel(delta int) { p.pager().Wheel(delta) }

// Capturing implements ui.Page.
func (p *detailsPage) Capturing() bool { return p.pager().Capturing() }

// Story implements ui.Page.
func (p *detailsPage) Story() []ui.Span {
	if p.gone {
		return []ui.Span{{Text: "This object is gone; what is shown is how it was last seen.", Role: ui.Warn}}
	}
	return p.told
}

func (p *detailsPage) pager() *ui.Pager {
	if p.showYAML {
		return p.yaml
	}
	return p.overview
}

// Render implements ui.Page.
func (p *detailsPage) Render(t *ui.Theme, w, h int) string { return p.pager().Render(t, w, h) }

// Update implements ui.Page.
func (p *detailsPage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotMsg:
		if p.madeFrom == p.snap.Revision {
			return nil
		}
		before := p.version
		p.rebuild()
		if p.version != before {
			// The YAML follows the object.
			return tea.Batch(p.explain(), p.read())
		}
		return p.explain()
	case risksMsg:
		p.rebuild()
	case explainedMsg:
		if msg.page == p {
			return p.explained(msg)
		}
	case eventsMsg:
		if msg.page == p && msg.turn == p.turn {
			p.eventsRead, p.events, p.eventsErr = true, msg.events, errText(msg.err)
			p.rebuild()
			return p.explain()
		}
	case manifestMsg:
		if msg.page == p && msg.turn == p.turn {
			p.setManifest(msg)
		}
	case tickMsg:
	default:
		return p.pager().Update(msg)
	}
	return nil
}

func (p *detailsPage) setManifest(msg manifestMsg) {
	p.manifest = msg.yaml
	if msg.err != nil {
		p.yaml.SetLines([]ui.Line{{{Text: "The YAML can't be read: " + kube.Explain(msg.err), Role: ui.Warn}}})
		return
	}
	p.yaml.SetLines(yamlLines(msg.yaml))
}

// yamlLines gives keys and values their roles.
func yamlLines(text string) []ui.Line {
	var lines []ui.Line
	for raw := range strings.Lines(text) {
		raw = strings.TrimRight(raw, "\n")
		key, value, found := strings.Cut(raw, ":")
		if !found || strings.ContainsAny(strings.TrimLeft(key, " -"), " \"'") {
			lines = append(lines, ui.Line{{Text: raw}})
			continue
		}
		lines = append(lines, ui.Line{{Text: key + ":", Role: ui.Accent}, {Text: value}})
	}
	return lines
}

// rebuild makes the overview anew. Of an object that is gone the last
// overview stays.
func (p *detailsPage) rebuild() {
	p.madeFrom = p.snap.Revision
	sec, ok := p.describe()
	if !ok {
		p.gone = true
		return
	}
	p.gone, p.version = false, sec.version
	p.told = sec.story
	head := ui.Line{{Text: sec.title, Role: ui.Strong}}
	if sec.state.Phase != "" {
		head = append(append(head, ui.Span{Text: "   "}), p.phaseCell(sec.state)...)
	}
	lines := append([]ui.Line{head, {}}, p.explanation()...)
	lines = append(lines, ui.Line{{Text: "Fields", Role: ui.Accent}})
	lines = append(lines, factLines(sec.facts)...)
	for _, l := range append(sec.lists, p.eventList()) {
		lines = append(lines, ui.Line{}, ui.Line{{Text: l.title, Role: ui.Accent}})
		if len(l.lines) == 0 {
			lines = append(lines, ui.Line{{Text: "  " + l.empty, Role: ui.Dim}})
		}
		lines = append(lines, l.lines...)
	}
	p.overview.SetLines(lines)
}

// factLines aligns the values behind their labels.
func factLines(facts []fact) []ui.Line {
	wide := 0
	for _, f := range facts {
		if f.value != "" {
			wide = max(wide, ui.Width(f.label))
		}
	}
	var lines []ui.Line
	for _, f := range facts {
		if f.value == "" {
			continue
		}
		lines = append(lines, ui.Line{
			{Text: "  " + ui.Pad(f.label, wide+2), Role: ui.Dim},
			{Text: f.value, Role: f.role},
		})
	}
	return lines
}

func (p *detailsPage) eventList() factList {
	l := factList{title: "Events"}
	switch {
	case p.eventsErr != "":
		l.empty = "can't be read: " + p.eventsErr
	case !p.eventsRead:
		l.empty = "reading…"
	default:
		l.empty = "none kept (the server keeps them for about an hour)"
	}
	for _, e := range p.events {
		role := ui.Plain
		if e.Type == "Warning" {
			role = ui.Warn
		}
		times := ""
		if e.Count > 1 {
			times = " ×" + itoa(e.Count)
		}
		l.lines = append(l.lines, ui.Line{
			{Text: "  " + ui.PadLeft(p.since0(e.Time), 6) + "  ", Role: ui.Dim},
			{Text: e.Reason + times, Role: role},
			{Text: "  " + e.Message},
			{Text: "  " + e.Source, Role: ui.Dim},
		})
	}
	return l
}

// Bindings implements ui.Page.
func (p *detailsPage) Bindings() []ui.Binding {
	if p.Capturing() {
		return p.pager().Bindings()
	}
	title, help := "YAML", "show the object as YAML"
	if p.showYAML {
		title, help = "overview", "back to the overview"
	}
	keys := append(p.keys(p),
		ui.Binding{Keys: []string{"y"}, Title: title, Help: help, Group: "Details", Hint: true, Do: func() tea.Cmd {
			p.showYAML = !p.showYAML
			return nil
		}},
		ui.Binding{Keys: []string{"r"}, Title: "read again", Help: "read events and YAML again", Group: "Details", Hint: true, Do: p.read},
		ui.Binding{Keys: []string{"Y"}, Title: "copy", Help: "copy what is shown", Group: "Details", Do: func() tea.Cmd {
			if p.showYAML {
				return p.nav.Copy("the YAML", p.manifest)
			}
			return p.nav.Copy("the overview", p.overview.Text())
		}},
	)
	keys = append(keys, p.lookKeys(func() (actions.Ref, string) { return p.ref, "" })...)
	keys = append(keys, p.remedyKeys()...)
	return append(keys, p.pager().Bindings()...)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return kube.Explain(err)
}

package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// Bindings implements ui.Page. While the filter has the focus only the keys
// that leave it, and those that move the bar, are bound.
func (p *listPage[T]) Bindings() []ui.Binding {
	if p.typing {
		return p.typingBindings()
	}
	// The order is that of the key line: what does not fit there is left out
	// from the end.
	waiting := len(p.unfinished()) > 0
	resume := ui.Binding{
		Keys: []string{"R"}, Title: "unfinished", Help: "open an unfinished operation, or a backup", Group: "Actions",
		Hint: true, Do: func() tea.Cmd { return p.openResume(p.volumeHere()) },
	}
	keys := p.kind.keys(p)
	if waiting {
		keys = append(keys, resume)
	}
	keys = append(
		keys,
		ui.Binding{Keys: []string{"esc"}, Title: "clear", Help: "clear the filter, then the marks", Group: "Table", Hint: p.needClear() == "", Disabled: p.needClear, Do: p.clear},
		ui.Binding{Keys: []string{"/"}, Title: "filter", Help: "filter as you type; enter keeps it, esc clears it", Group: "Table", Hint: true, Do: p.startTyping},
		ui.Binding{Keys: []string{"!"}, Title: "risks", Help: "only rows with risks, or all again", Group: "Table", Hint: p.needObjects() == "", Disabled: p.needObjects, Do: p.toggleRisky},
	)
	keys = append(keys, p.lookKeys(p.refHere)...)
	keys = append(
		keys,
		ui.Binding{Keys: []string{"n"}, Title: "namespace", Help: "show one namespace, or all", Group: "Table", Hint: true, Do: p.openNamespaces},
		ui.Binding{Keys: []string{"s"}, Title: "sort", Help: "choose the column to sort by; again to turn it around", Group: "Table", Hint: true, Do: p.openSort},
		ui.Binding{Keys: []string{"w"}, Title: "wide", Help: "show more columns", Group: "Table", Hint: true, Do: p.toggleWide},
		ui.Binding{Keys: []string{"Y"}, Title: "copy names", Help: "copy the names of the marked rows, or of the selected one", Group: "Table", Disabled: p.needSelection, Do: p.copyNames},
		ui.Binding{Keys: []string{"b", "-"}, Title: "back", Help: "back to where the last jump came from", Group: "Jump", Hint: p.needTrail() == "", Disabled: p.needTrail, Do: p.jumpBack},
	)
	keys = append(keys, p.table.Bindings()...)
	if !waiting {
		keys = append(keys, resume)
	}
	return keys
}

// refHere is the selected object, or that which the selected record is about.
func (p *listPage[T]) refHere() (actions.Ref, string) {
	if r, ok := p.selected(); ok {
		return p.kind.ref(r), ""
	}
	return actions.Ref{}, "nothing is selected"
}

func (p *listPage[T]) needObjects() string {
	if p.kind.resource == "" {
		return "every row here is a risk"
	}
	return ""
}

// toggleRisky adds the filter for rows with risks, or takes it away again. What
// else is filtered by stays.
func (p *listPage[T]) toggleRisky() tea.Cmd {
	words := strings.Fields(p.query.text)
	rest := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.EqualFold(w, riskKey+":") })
	if len(rest) == len(words) {
		rest = append(rest, riskKey+":")
	}
	p.filterBy(strings.Join(rest, " "))
	return nil
}

func (p *listPage[T]) typingBindings() []ui.Binding {
	move := func(d int) func() tea.Cmd {
		return func() tea.Cmd { p.table.Move(d); return nil }
	}
	return []ui.Binding{
		{Keys: []string{"enter"}, Title: "keep", Help: "keep the filter", Group: "Filter", Hint: true, Always: true, Do: p.stopTyping},
		{Keys: []string{"esc"}, Title: "clear", Help: "clear the filter", Group: "Filter", Hint: true, Always: true, Do: p.clear},
		{Keys: []string{"down"}, Title: "next", Help: "next row", Group: "Filter", Always: true, Do: move(1)},
		{Keys: []string{"up"}, Title: "previous", Help: "previous row", Group: "Filter", Always: true, Do: move(-1)},
	}
}

// volumeHere is the name of the volume that the selected record is, or has.
func (p *listPage[T]) volumeHere() string {
	r, ok := p.selected()
	if !ok {
		return ""
	}
	switch r := any(r).(type) {
	case *kube.Volume:
		return r.Object.Name
	case *kube.Claim:
		return r.Object.Spec.VolumeName
	}
	return ""
}

// needSelection is why a key that acts on a row can't be used now.
func (p *listPage[T]) needSelection() string {
	if _, ok := p.selected(); !ok {
		return "nothing is selected"
	}
	return ""
}

func (p *listPage[T]) needTrail() string {
	if len(p.trail) == 0 {
		return "no jump to go back from"
	}
	return ""
}

func (p *listPage[T]) needClear() string {
	if p.query.text == "" && len(p.table.Marked()) == 0 {
		return "no filter and no marks to clear; q quits"
	}
	return ""
}

func (p *listPage[T]) startTyping() tea.Cmd {
	p.typing = true
	p.input.Focus()
	return nil
}

func (p *listPage[T]) stopTyping() tea.Cmd {
	p.typing = false
	p.input.Blur()
	return nil
}

// clear takes back one thing at a time: the filter first, then the marks.
func (p *listPage[T]) clear() tea.Cmd {
	if p.typing || p.query.text != "" {
		p.input.SetValue("")
		p.setQuery("")
		return p.stopTyping()
	}
	p.table.ClearMarks()
	return nil
}

func (p *listPage[T]) toggleWide() tea.Cmd {
	p.wide = !p.wide
	if !p.wide && p.columns[p.sort].wide {
		p.sort, p.desc = 0, false
		p.rebuild()
	}
	p.setColumns()
	if missing := p.noRoomForWide(); missing != "" {
		p.nav.Notify(ui.Notice, "There is no room for more columns here. A wider terminal shows "+missing+"; enter shows all about one object.")
	}
	return nil
}

// noRoomForWide names the columns of the wide view, if there is room for none
// of them.
func (p *listPage[T]) noRoomForWide() string {
	dropped := p.table.Dropped()
	var names []string
	for _, i := range p.shown {
		c := p.columns[i]
		if !c.wide {
			continue
		}
		if !slices.Contains(dropped, c.Title) {
			return ""
		}
		names = append(names, c.Title)
	}
	return strings.Join(names, ", ")
}

func (p *listPage[T]) openSort() tea.Cmd {
	entries := make([]ui.Entry, 0, len(p.shown))
	for _, i := range p.shown {
		note := ""
		if i == p.sort {
			note = "ascending now"
			if p.desc {
				note = "descending now"
			}
		}
		entries = append(entries, ui.Entry{
			Title: p.columns[i].Title, Note: note,
			Do: func() tea.Cmd { p.setSort(i); return nil },
		})
	}
	p.nav.Open(ui.NewPicker("Sort "+strings.ToLower(p.kind.title)+" by", entries, ui.PickerOptions{}))
	return nil
}

func (p *listPage[T]) openNamespaces() tea.Cmd { return p.session.openNamespaces() }

func (p *listPage[T]) copyNames() tea.Cmd {
	var names []string
	for _, r := range p.rows {
		if p.table.IsMarked(p.kind.id(r)) {
			names = append(names, p.kind.name(r))
		}
	}
	if len(names) == 0 {
		r, ok := p.selected()
		if !ok {
			return nil
		}
		names = append(names, p.kind.name(r))
	}
	return p.nav.Copy(count(len(names), "name"), strings.Join(names, "\n"))
}

package views

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/ui"
)

// Before anything is written, one difference of each kind has to be looked at;
// those of the others can be.

// bulkKind are the volumes that make the same difference.
type bulkKind struct {
	kind  string
	items []int
}

// group finds which of the volumes that are ready make the same difference, in
// the order of the list.
func (p *bulkPage) group() {
	p.kinds = nil
	at := map[string]int{}
	for _, i := range p.in(bulkReady) {
		it := p.items[i]
		k, known := at[it.kind]
		if !known {
			k = len(p.kinds)
			at[it.kind] = k
			p.kinds = append(p.kinds, bulkKind{kind: it.kind})
		}
		it.group = k
		p.kinds[k].items = append(p.kinds[k].items, i)
	}
}

// glance takes in what is on the screen as a second passes.
func (p *bulkPage) glance() {
	it := p.current()
	if it == nil || p.stage != bulkAsking || it.state != bulkReady || !p.nav.Showing(p) || !p.pager.Read(p.diffEnd) {
		p.gaze.moved()
		return
	}
	p.gaze.glance(uidID(it.req.Volume.UID), it.kind)
}

// unseen are the volumes that stand for differences not looked at yet, one for
// each kind.
func (p *bulkPage) unseen() []int {
	var found []int
	for _, k := range p.kinds {
		if !p.gaze.saw(k.kind) {
			found = append(found, k.items[0])
		}
	}
	return found
}

// looked says how many of the differences have been looked at, as in "1/2".
func (p *bulkPage) looked() string {
	n := len(p.kinds)
	return fmt.Sprintf("%d/%d", n-len(p.unseen()), n)
}

// showUnseen goes to the next difference that has not been looked at.
func (p *bulkPage) showUnseen() tea.Cmd {
	unseen := p.unseen()
	if len(unseen) == 0 {
		return nil
	}
	at := slices.IndexFunc(unseen, func(i int) bool { return i > p.table.Index() })
	next := unseen[max(at, 0)]
	p.choose(func() { p.table.Select(uidID(p.items[next].req.Volume.UID)) })
	return nil
}

// readUnseen reads on in the difference on the screen, and goes to the next that
// has not been looked at once all of it was there for long enough.
func (p *bulkPage) readUnseen() tea.Cmd {
	if it := p.current(); it != nil {
		if alike, ok := p.kindOf(it); ok && !p.gaze.saw(alike.kind) {
			return p.readOn(p.pager, p.diffEnd)
		}
	}
	return p.showUnseen()
}

func (p *bulkPage) nothingUnseen() string {
	if p.stage != bulkAsking || len(p.unseen()) == 0 {
		return "no difference is left to look at; j and k show that of each volume"
	}
	return ""
}

// kindOf is the difference of an item, while there is something to look at.
func (p *bulkPage) kindOf(it *bulkItem) (bulkKind, bool) {
	if it.state != bulkReady || p.stage != bulkAsking {
		return bulkKind{}, false
	}
	return p.kinds[it.group], true
}

// kindCell is the number of a difference, and whether it was looked at.
func (p *bulkPage) kindCell(it *bulkItem) ui.Cell {
	alike, ok := p.kindOf(it)
	switch {
	case !ok:
		return plain(none)
	case p.gaze.saw(alike.kind):
		return ui.Cell{{Text: p.tick() + " " + itoa(it.group+1), Role: ui.Good}}
	default:
		return ui.Cell{{Text: p.glyph("• ", "* ") + itoa(it.group+1), Role: ui.Notice}}
	}
}

// kindLine says which volumes make the same difference.
func (p *bulkPage) kindLine(it *bulkItem) ui.Line {
	alike, ok := p.kindOf(it)
	if !ok {
		return nil
	}
	mark, role, state := p.glyph("• ", "* "), ui.Notice, "not looked at yet"
	if p.gaze.saw(alike.kind) {
		mark, role, state = p.tick()+" ", ui.Good, "looked at"
	}
	text := "of this volume alone"
	if n := len(alike.items); n > 1 {
		names := make([]string, n)
		for i, item := range alike.items {
			names[i] = p.items[item].req.Volume.Name
		}
		text = "the same for " + count(n, "volume") + ": " + someOf(names)
	}
	return ui.Line{
		{Text: mark + fmt.Sprintf("Difference %d of %d, %s", it.group+1, len(p.kinds), state), Role: role},
		{Text: "; " + text, Role: ui.Dim},
	}
}

// headline is what the bulk does, and how many of its differences have been
// looked at.
func (p *bulkPage) headline() []ui.Span {
	title := ui.Span{Text: " " + p.words().title, Role: ui.Strong}
	if p.stage != bulkAsking || len(p.kinds) == 0 {
		return []ui.Span{title}
	}
	role := ui.Notice
	if len(p.unseen()) == 0 {
		role = ui.Good
	}
	return []ui.Span{title, {Text: "   differences looked at: " + p.looked(), Role: role}}
}

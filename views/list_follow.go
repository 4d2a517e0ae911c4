package views

import "github.com/claimref/claimref/ui"

// follow selects the object that was made anew under the name of the one that
// was selected, as an operation does it with a claim. Whoever looks at it is
// told, and what was begun with the old one knows that one by its uid.
func (p *listPage[T]) follow() {
	if !p.table.Moved() || !p.hasLast || p.kind.resource == "" {
		return
	}
	name := p.kind.name(p.last)
	for _, r := range p.rows {
		if p.kind.name(r) == name && p.table.Select(p.kind.id(r)) {
			p.madeAnew = p.kind.id(r)
			return
		}
	}
}

// goneStory says why nothing is selected.
func (p *listPage[T]) goneStory() []ui.Span {
	if !p.table.Moved() || !p.hasLast {
		return nil
	}
	text := "The object that was selected here is gone."
	switch {
	case p.kind.resource == "":
		text = "The risk that was selected here is gone."
	case p.filteredAway():
		text = "The object that was selected here is still there, but no longer among what is shown."
	}
	return []ui.Span{{Text: text + " Move to select another one.", Role: ui.Notice}}
}

// filteredAway says that what was selected is there, and does not match the
// filter or the namespace any more.
func (p *listPage[T]) filteredAway() bool {
	if !p.hasLast || p.query.empty() && p.namespace == "" {
		return false
	}
	id := p.kind.id(p.last)
	for _, r := range p.kind.items(p.session) {
		if p.kind.id(r) == id {
			return true
		}
	}
	return false
}

// pickFirst selects the first row if what was selected is not shown any more,
// after a change that the reader asked for. Where no row is shown, the table
// says why.
func (p *listPage[T]) pickFirst() {
	if _, ok := p.table.Selected(); ok {
		return
	}
	p.table.Top()
	p.hasLast = false
}

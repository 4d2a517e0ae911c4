package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// What a run writes without further questions has been on the screen before,
// one of each kind: the steps of a StatefulSet's volumes differ by their names
// alone.

// glance takes in what is on the screen as a second passes. A difference that
// is there to its end, and was there a second ago, has been looked at; a key
// that is held down does not get there.
func (p *walkPage) glance() {
	item, ok := p.selected()
	if !ok || p.aside != nil || p.narrow && !p.detail || !p.nav.Showing(p) || !p.pager.Read(p.diffEnd) {
		p.glanced = ""
		return
	}
	preview, known := p.previewOf(item)
	if known && p.glanced == item.ID {
		if p.seen == nil {
			p.seen = make(map[string]bool)
		}
		p.seen[p.stepKind(preview)] = true
		// What is on the screen may be fresher than what was rehearsed: a run
		// goes on only if the two are the same in what matters.
		if rehearsed, ok := p.rehearsed[item.ID]; ok {
			p.seen[p.stepKind(rehearsed)] = true
		}
	}
	p.glanced = item.ID
}

// stepKind is what differences have in common that a person need not look at
// twice: all but the names of the volumes and claims.
func (p *walkPage) stepKind(preview kube.StepPreview) string {
	text := diffKind(kube.Preview{Diff: foldNote(preview.Diff), DryRun: preview.DryRun})
	names := make([]string, 0, 6*len(p.journal.Volumes))
	for _, v := range p.journal.Volumes {
		names = append(names, v.Ref.Name, "\x00volume")
		for _, key := range claimsOf(migration.Journal{Volumes: []migration.Volume{v}}) {
			names = append(names, key.Name, "\x00claim")
		}
	}
	step := preview.Step
	return string(step.Act) + " " + string(step.Target.Kind) + "\n" + strings.NewReplacer(names...).Replace(text)
}

// unseen are the steps that stand for differences not looked at yet, one for
// each kind.
func (p *walkPage) unseen() []string {
	var found []string
	kinds := make(map[string]bool)
	for _, item := range p.items {
		preview, known := p.rehearsed[item.ID]
		if item.State == migration.Done || item.Act == migration.Await || !known {
			continue
		}
		if kind := p.stepKind(preview); !p.seen[kind] && !kinds[kind] {
			kinds[kind] = true
			found = append(found, item.ID)
		}
	}
	return found
}

// left says how many differences have yet to be looked at; empty for none.
func (p *walkPage) left() string {
	if n := len(p.unseen()); n > 0 {
		return count(n, "difference") + " to look at before it can run by itself"
	}
	return ""
}

func (p *walkPage) nothingUnseen() string {
	if p.aside != nil || p.rehearsed == nil || p.stage != atReview && p.stage != atDiff && p.stage != atWait || len(p.unseen()) == 0 {
		return "no difference is left to look at"
	}
	return ""
}

// showUnseen goes to the next difference that has not been looked at.
func (p *walkPage) showUnseen() tea.Cmd {
	unseen := p.unseen()
	if len(unseen) == 0 {
		return nil
	}
	here, _ := p.list.Selected()
	place := func(id string) int {
		return slices.IndexFunc(p.items, func(item migration.Item) bool { return item.ID == id })
	}
	next := unseen[0]
	if after := slices.IndexFunc(unseen, func(id string) bool { return place(id) > place(here) }); after >= 0 {
		next = unseen[after]
	}
	p.list.Select(next)
	p.detail, p.glanced = true, ""
	p.redraw()
	return nil
}

package views

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// What a run writes without further questions has been on the screen before,
// one of each kind: the steps of a StatefulSet's volumes differ by their names
// alone.

// glance takes in what is on the screen as a second passes.
func (p *walkPage) glance() {
	item, ok := p.selected()
	preview, known := p.previewOf(item)
	if !ok || !known || p.aside != nil || p.narrow && !p.detail || !p.nav.Showing(p) || !p.pager.Read(p.diffEnd) {
		p.gaze.moved()
		return
	}
	kinds := []string{p.stepKind(preview)}
	// What is on the screen may be fresher than what was rehearsed: a run goes
	// on only if the two are the same in what matters.
	if rehearsed, ok := p.rehearsed[item.ID]; ok {
		kinds = append(kinds, p.rehearsedKind(rehearsed))
	}
	p.gaze.glance(item.ID+"\n"+kinds[0], kinds...)
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

// stepKindOf is a kind that was found, and what it was found of.
type stepKindOf struct {
	diff string
	dry  kube.DryRunResult
	kind string
}

// rehearsedKind is stepKind, found once: it is asked for with every frame, and a
// difference may be long.
func (p *walkPage) rehearsedKind(preview kube.StepPreview) string {
	known, ok := p.kinds[preview.Step.ID]
	if !ok || known.diff != preview.Diff || known.dry != preview.DryRun {
		known = stepKindOf{preview.Diff, preview.DryRun, p.stepKind(preview)}
		if p.kinds == nil {
			p.kinds = make(map[string]stepKindOf)
		}
		p.kinds[preview.Step.ID] = known
	}
	return known.kind
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
		if kind := p.rehearsedKind(preview); !p.gaze.saw(kind) && !kinds[kind] {
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

// unseenHere says that the difference under the bar has not been looked at.
func (p *walkPage) unseenHere() bool {
	here, _ := p.list.Selected()
	return slices.Contains(p.unseen(), here)
}

func (p *walkPage) unseenTitle() string {
	if p.unseenHere() && (!p.narrow || p.detail) && !p.pager.Read(p.diffEnd) {
		return "read on"
	}
	return "next difference"
}

// showUnseen reads on in the difference under the bar, and goes to the next that
// has not been looked at once all of it was on the screen for long enough.
func (p *walkPage) showUnseen() tea.Cmd {
	unseen := p.unseen()
	if len(unseen) == 0 {
		return nil
	}
	if p.unseenHere() {
		if p.narrow && !p.detail {
			p.detail = true
			p.gaze.moved()
			return nil
		}
		return p.readOn(p.pager, p.diffEnd)
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
	p.detail = true
	p.gaze.moved()
	p.redraw()
	return nil
}

// readOn turns a difference, which ends at a line, by a screen. What was skipped
// before is gone back for.
func (s *session) readOn(text *ui.Pager, end int) tea.Cmd {
	switch {
	case text.Read(end):
		s.nav.Notify(ui.Notice, "this is all of it: look at it for a second, then v goes to the next")
		return nil
	case text.Skipped():
		text.Top()
		return nil
	}
	for _, b := range text.Bindings() {
		if slices.Contains(b.Keys, "pgdown") {
			return b.Do()
		}
	}
	return nil
}

package views

import (
	"errors"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// goAside previews a step out of turn, which the operation itself knows. Title
// stands for it until it has said so.
func (p *walkPage) goAside(title string, then []migration.Item, step func(Operation, kube.Standing) (migration.Step, error)) tea.Cmd {
	p.turn++
	p.busy = true
	p.running, p.changed = false, ""
	p.aside, p.asideItems = &migration.Step{ID: asideID, Title: title, Act: migration.Patch}, then
	p.stage, p.settled = atPreview, false
	p.follow()
	p.redraw()
	return p.askAside(step)
}

// asideID is the row of a step out of turn in the list.
const asideID = "aside"

// turnAround previews the step by which the operation walks the other way,
// with all that would follow it.
func (p *walkPage) turnAround() tea.Cmd {
	to := migration.Back
	if p.run.Direction == migration.Back {
		to = migration.Forward
	}
	title := "Undo from here on"
	if to == migration.Forward {
		title = "Go on with it after all"
	}
	return p.goAside(title, outlineTo(p.journal, p.standing.Scene, to), func(op Operation, at kube.Standing) (migration.Step, error) {
		return op.Turn(at, to), nil
	})
}

func (p *walkPage) takeOver() tea.Cmd {
	return p.goAside("Take the operation over", p.items, func(op Operation, at kube.Standing) (migration.Step, error) {
		return op.TakeOver(at), nil
	})
}

// outlineTo is the outline of an operation as if it had been turned around
// already.
func outlineTo(j migration.Journal, s migration.Scene, to migration.Direction) []migration.Item {
	lead := s.Volumes[j.Lead()]
	if lead == nil {
		return nil
	}
	turned := lead.DeepCopy()
	if turned.Annotations == nil {
		turned.Annotations = map[string]string{}
	}
	delete(turned.Annotations, migration.AnnotationDirection)
	if to == migration.Back {
		turned.Annotations[migration.AnnotationDirection] = string(to)
	}
	s.Volumes = maps.Clone(s.Volumes)
	s.Volumes[j.Lead()] = turned
	return migration.Outline(j, migration.Run{Started: true, Direction: to}, s)
}

// leaveID begins the ID of the step after which an operation goes on without a
// workload, as package migration calls it.
const leaveID = "leave"

// leavingOut says that the step out of turn is that one.
func (p *walkPage) leavingOut() bool {
	what, _, _ := strings.Cut(p.fresh.Step.ID, "/")
	return p.aside != nil && what == leaveID
}

// leftOut is the name of the workload that a step goes on without.
func leftOut(step migration.Step) string {
	return step.ID[strings.LastIndexByte(step.ID, '/')+1:]
}

// leaveTitle names the workload that it can go on without.
func (p *walkPage) leaveTitle() string {
	if len(p.standing.Leavable) == 0 {
		return "go on without it"
	}
	ref := p.standing.Leavable[0]
	return "go on without " + kindShort(string(ref.Kind)) + "/" + ref.Name
}

func (p *walkPage) cannotLeaveOut() string {
	if why := p.writesNothing(); why != "" {
		return why
	}
	switch {
	case len(p.standing.Leavable) == 0:
		return "every workload of it is there"
	case p.aside != nil:
		return "first this step"
	case p.heldByOther(), p.stage == atError && p.heldElsewhere():
		return "somebody else holds it; take it over first"
	case p.busy && p.stage != atWait:
		return "not now: something is on its way"
	}
	return ""
}

// leaveShown says that the key is worth a place on the key line: a set is gone
// for a moment, too, when this program has deleted it to make it anew.
func (p *walkPage) leaveShown() bool {
	if p.cannotLeaveOut() != "" {
		return false
	}
	ref := p.standing.Leavable[0]
	return !p.clock.sent["remove/"+ref.Namespace+"/"+ref.Name]
}

// leaveOut previews the step after which the operation goes on without a
// workload that is gone.
func (p *walkPage) leaveOut() tea.Cmd {
	ref := p.standing.Leavable[0]
	without := slices.DeleteFunc(slices.Clone(p.items), func(item migration.Item) bool {
		return item.State != migration.Done && strings.HasSuffix(item.ID, "/"+ref.Namespace+"/"+ref.Name)
	})
	return p.goAside("Go on without "+kindShort(string(ref.Kind))+"/"+ref.Name, without, func(op Operation, at kube.Standing) (migration.Step, error) {
		step, ok := op.Leave(at, ref)
		if !ok {
			return step, errors.New(kindShort(string(ref.Kind)) + "/" + ref.Name + " is there again")
		}
		return step, nil
	})
}

// turnText says what comes after an operation was turned around: what will be
// deleted and made anew, and for which pods that is.
func (p *walkPage) turnText() string {
	var deleted, made, stopped, started []string
	for _, item := range p.asideItems {
		if item.State == migration.Done || item.Met {
			continue
		}
		object := objectOf(item.Step)
		switch what, _, _ := strings.Cut(item.ID, "/"); what {
		case "delete", "remove":
			deleted = append(deleted, object)
		case "create", "recreate":
			made = append(made, object)
		case "stop":
			stopped = append(stopped, object)
		case "start":
			started = append(started, object)
		}
	}
	in := func(list []string, want bool) func(string) bool {
		return func(object string) bool { return slices.Contains(list, object) == want }
	}
	var parts []string
	for _, part := range []struct {
		objects []string
		what    string
	}{
		{slices.DeleteFunc(slices.Clone(deleted), in(made, false)), "deleted and made anew"},
		{slices.DeleteFunc(slices.Clone(deleted), in(made, true)), "deleted"},
		{slices.DeleteFunc(slices.Clone(made), in(deleted, true)), "made anew"},
	} {
		if n := len(part.objects); n > 0 {
			parts = append(parts, listed(part.objects)+verb(n, " is ", " are ")+part.what)
		}
	}
	text := "After that nothing is deleted or made anew"
	if len(parts) > 0 {
		text = "After that " + strings.Join(parts, ", ")
	}
	switch {
	case len(stopped) > 0:
		text += "; for it the pods of " + listed(stopped) + " are stopped until the end"
	case len(started) > 0 && len(parts) > 0:
		text += "; until then the pods of " + listed(started) + " stay stopped"
	case len(started) > 0:
		text += "; the pods of " + listed(started) + " are started again"
	}
	return text + ". The data stay where they are."
}

// objectOf is what a step is about, in a sentence.
func objectOf(step migration.Step) string {
	if step.Target.Kind == actions.ClaimKind {
		return "claim " + step.Target.Name
	}
	return kindShort(string(step.Target.Kind)) + "/" + step.Target.Name
}

// listed joins parts of a sentence, so many that a person reads them.
func listed(parts []string) string {
	const most = 4
	if n := len(parts); n > most {
		parts = append(slices.Clone(parts[:most-1]), count(n-most+1, "other"))
	}
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

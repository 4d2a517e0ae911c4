package migration

import (
	"fmt"
	"slices"
	"strings"
)

// alonePrefix begins the ID of the step that is there only while another
// operation is in the way.
const alonePrefix = "alone/"

// alone says that no other operation is to be seen, by a fresh look.
func (m *machine) alone() bool {
	return m.s.OthersFresh && len(m.rivals()) == 0 && !slices.ContainsFunc(m.j.Volumes, func(v Volume) bool {
		pv := m.s.Volumes[v.Ref.Name]
		return pv == nil || pv.Annotations[AnnotationPlan] != "" && pv.Annotations[AnnotationPlan] != m.mark()
	})
}

// gate keeps an operation from going on beside another one. It is not there
// when there is none, and for an operation that has been seen to be alone.
func (m *machine) gate() []node {
	rivals := m.rivals()
	if len(rivals) == 0 || m.dir == Back || m.run.Alone || m.begunHere() {
		return nil
	}
	n := node{Step: Step{
		ID: alonePrefix + m.j.Lead(), Title: "Wait until no other operation has to do with " + rivals[0].over,
		Why:    "One would start its pods while the other has a claim deleted, and a pod may come up on a new, empty volume",
		Act:    Await,
		Target: m.j.Volumes[0].Ref,
		Stop:   "Nothing has been deleted; undo takes the note off",
	}}
	for _, r := range rivals {
		what := fmt.Sprintf("%s has to do with %s, too", r, r.over)
		switch {
		case r.unread != "":
			n.halt = fmt.Sprintf("volume %s, whose claim is one of %s, says that an operation is under way, but not which: %s", r.lead, r.over, r.unread)
			n.remedy = "Compare it with the backups of earlier operations, and remove its claimref.io annotations only if none is unfinished; then resume"
		case !m.leadNoted():
			n.halt = "the unfinished " + what + "; nothing has been written"
			n.remedy = "Finish that one, or undo it first"
		case r.dir == Back && !r.begun:
			n.holds = append(n.holds, what+"; it is being undone")
		case r.begun:
			n.halt, n.remedy = what+", and has replaced claims already: it goes on, and this one does not", m.yieldRemedy(r)
		case r.outranks(m.j):
			n.halt, n.remedy = what+", and was begun earlier: it goes on, and this one does not", m.yieldRemedy(r)
		default:
			n.holds = append(n.holds, what+", and was begun later: it has to be undone, or finished if it is further on, before this one goes on")
		}
		if n.halt != "" {
			n.halt = strings.TrimPrefix(n.halt, "the unfinished ")
			break
		}
	}
	return []node{n}
}

func (m *machine) yieldRemedy(r rival) string {
	return fmt.Sprintf("Undo this one, which takes its note off and leaves %s to the other; begin anew when that is finished or undone", r.over)
}

// yields says that another operation may have hold of a workload: then it is
// not for this one to start it or to make it anew. To undo is always possible;
// whoever is left last finds nobody else, and starts what is stopped.
func (m *machine) yields(w Workload) bool {
	if m.dir != Back || m.run.Alone {
		return false
	}
	return slices.ContainsFunc(m.rivals(), func(r rival) bool {
		return r.has(w) && (r.unread != "" || r.dir == Forward || r.begun || r.outranks(m.j))
	})
}

// awayHolds are claims of other operations that are not in their places: a pod
// that is started now may get a new, empty volume in the place of theirs.
func (m *machine) awayHolds(w Workload) []string {
	var holds []string
	for _, r := range m.rivals() {
		if !r.has(w) {
			continue
		}
		for _, claim := range r.away {
			holds = append(holds, fmt.Sprintf("claim %s, which %s replaces: finish that one, or undo it", claim, r))
		}
	}
	return holds
}

// WantsOthers says that the next step depends on what other operations there
// are: that the other volumes have to be looked at afresh, and with them what
// OthersWanted names. To list all volumes is dear, and is not done before each
// step: once an operation has been seen to be alone, all others halt for it.
func WantsOthers(j Journal, run Run, s Scene) bool {
	if s.OthersFresh {
		return false
	}
	m := newMachine(j, run, s)
	if reason, _ := m.trouble(); reason != "" {
		return false
	}
	for _, n := range m.nodes() {
		if n.done {
			continue
		}
		note := strings.HasPrefix(n.ID, "note/")
		switch {
		case n.starts:
			return true
		case m.run.Alone:
			return false
		case m.dir == Back:
			return n.Act != Await
		case note && (m.leadNoted() || m.run.Started):
			return false
		}
		return note || !m.begunHere()
	}
	return false
}

// OthersWanted is what a Scene has to hold of the operations that are in the
// way of this one.
func OthersWanted(j Journal, s Scene) Wanted {
	var w Wanted
	m := newMachine(j, Run{}, s)
	for _, pv := range s.RelatedVolumes {
		note, err := Find(pv)
		if err == nil && note != nil && note.Journal != nil && m.sharedWith(*note.Journal) != "" {
			w.Claims = append(w.Claims, note.Journal.Wanted().Claims...)
		}
	}
	return w.sorted()
}

// withdraws says that an operation is undone that has not touched anything of
// its own yet, while another one is in the way: then there is nothing to do but
// to take its notes off.
func (m *machine) withdraws() bool {
	if m.dir != Back || m.run.Alone {
		return false
	}
	inTheWay := len(m.rivals()) > 0
	for _, v := range m.j.Volumes {
		pv := m.s.Volumes[v.Ref.Name]
		if pv == nil {
			return false
		}
		switch pv.Annotations[AnnotationPlan] {
		case m.mark(), "":
			if !m.untouched(v) {
				return false
			}
		default:
			inTheWay = true
		}
	}
	return inTheWay
}

// untouched says that a volume and its original claim are as they were.
func (m *machine) untouched(v Volume) bool {
	s := m.side(v)
	if m.dir != Back || !s.isBound() {
		return false
	}
	return v.From == nil || s.atGoal.UID == v.FromUID
}

// original says that none of the claims has been replaced, so that this
// operation has not made a StatefulSet anew either: that comes after.
func (m *machine) original() bool {
	return m.dir == Back && !slices.ContainsFunc(m.j.Volumes, func(v Volume) bool { return !m.untouched(v) })
}

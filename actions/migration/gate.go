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
	if m.onlyMakes() {
		// It takes nothing away, so that others can't be harmed by it, and wait
		// for it before they start pods.
		rivals = slices.DeleteFunc(slices.Clone(rivals), func(r rival) bool { return !r.own })
	}
	if len(rivals) == 0 || m.dir == Back || m.run.Alone || m.begunHere() {
		return nil
	}
	n := node{Step: Step{
		ID: alonePrefix + m.j.Lead(), Title: "Wait until no other operation has to do with " + rivals[0].over,
		Why:    "One would start its pods while the other has a claim deleted, and a pod may come up on a new, empty volume",
		Act:    Await,
		Target: m.j.Volumes[0].Ref,
		Stop:   m.undeleted(),
	}}
	for _, r := range rivals {
		what := fmt.Sprintf("%s has to do with %s, too", r, r.over)
		switch {
		case r.unread != "":
			n.halt = fmt.Sprintf("volume %s, whose claim is one of %s, says that an operation is under way, but not which: %s", r.lead, r.over, r.unread)
			n.remedy = upper(strayRemedy) + "; then resume"
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

// onlyMakes says that the operation makes claims that are missing, and does
// nothing else.
func (m *machine) onlyMakes() bool {
	return len(m.j.Workloads) == 0 && !slices.ContainsFunc(m.j.Volumes, func(v Volume) bool { return v.From != nil })
}

// yields says that another operation has hold of a workload, and brings it
// back: then it is not for this one to start it or to make it anew. To undo is
// always possible; whoever is left last finds nobody else, and starts what is
// stopped.
func (m *machine) yields(w Workload) bool {
	return m.dir == Back && !m.run.Alone && slices.ContainsFunc(m.rivals(), func(r rival) bool { return m.heir(r, w) })
}

// heir says that another operation, and not this one, will bring all of a
// workload back: it knows how it was, and can make it anew if it is not there.
// Of two that are both undone, it is the one that ranks first.
func (m *machine) heir(r rival, w Workload) bool {
	if r.dir == Back && !r.begun && !r.outranks(m.j) {
		return false
	}
	return slices.ContainsFunc(r.workloads, func(o Workload) bool {
		return sameObject(o.Ref, w.Ref) && o.Replicas > 0 == (w.Replicas > 0) && o.Suspended == w.Suspended &&
			(w.Strategy == nil || o.Strategy != nil) && (w.Retention == nil || o.Retention != nil) &&
			(!m.gone(w) || w.From == nil || o.From != nil)
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
			if r.unread != "" {
				holds = append(holds, fmt.Sprintf("claim %s has no hold of volume %s, on which is a note that can't be read: %s", claim, r.lead, strayRemedy))
				continue
			}
			holds = append(holds, fmt.Sprintf("claim %s, which %s replaces: finish that one, or undo it", claim, r))
		}
	}
	return holds
}

// inTheDark has the name typed of what starts pods while other operations can't
// be seen: only a person can know that there is none.
func (m *machine) inTheDark(start *Step, w Workload) {
	why, unread := m.s.Unread["persistentvolumes"]
	if !unread {
		return
	}
	start.Confirm = w.Ref.Name
	start.Why += fmt.Sprintf(". Volumes can't be listed (%s): if another operation has a claim of these pods in hand now, a pod comes up on a new, empty volume. Make sure that there is none", why)
}

// strayRemedy is what to do about notes of which nobody knows whose they are.
const strayRemedy = "compare it with the backups of earlier operations, and remove its claimref.io annotations only if none is unfinished"

// asItWas says that nothing of a workload has to be brought back.
func (m *machine) asItWas(w Workload) bool {
	var back []node
	if scales(w.Ref.Kind) {
		back = append(back, m.scaleUp(w))
	}
	if w.Retention != nil {
		back = append(back, m.retentionBack(w))
	}
	if w.Strategy != nil {
		back = append(back, m.strategyBack(w))
	}
	if w.Ref.Kind == CronJobKind {
		back = append(back, m.resume(w))
	}
	return !slices.ContainsFunc(back, func(n node) bool { return !n.done })
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
			// What has touched nothing may have to withdraw, whatever it would
			// wait for.
			return n.Act != Await || m.original()
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

// withdraws says that an operation is undone whose volumes and claims are as
// they were, while another one is in the way: then there is nothing to do but to
// take its notes off. Of the workloads, too, nothing may be left to bring back,
// unless the other one does so.
func (m *machine) withdraws() bool {
	if m.dir != Back || m.run.Alone {
		return false
	}
	rivals := m.rivals()
	inTheWay := len(rivals) > 0
	for _, w := range m.workloads() {
		if m.s.OthersFresh && !m.asItWas(w) && !slices.ContainsFunc(rivals, func(r rival) bool { return m.heir(r, w) }) {
			return false
		}
	}
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

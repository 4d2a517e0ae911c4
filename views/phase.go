package views

import (
	"strconv"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// phaseMark is how a phase looks: a glyph, a word (the phase itself) and a
// role, always the same three together.
type phaseMark struct {
	glyph string
	ascii string
	role  ui.Role
}

// markOf returns the mark of a phase. Quiet roles are for healthy states,
// loud ones for states that want a person.
func markOf(p kube.Phase) phaseMark {
	switch p {
	case kube.Bound:
		return phaseMark{"●", "*", ui.Good}
	case kube.Available:
		return phaseMark{"○", "o", ui.Calm}
	case kube.Reserved:
		return phaseMark{"◐", "@", ui.Accent}
	case kube.Released:
		return phaseMark{"◌", "-", ui.Notice}
	case kube.Pending:
		return phaseMark{"◷", "~", ui.Notice}
	case kube.Terminating:
		return phaseMark{"✕", "x", ui.Warn}
	case kube.Failed, kube.Lost:
		return phaseMark{"▲", "!", ui.Bad}
	default:
		return phaseMark{"?", "?", ui.Warn}
	}
}

// phaseOrder is the order of phases in summaries and sorting: what is well
// first, what wants a person last.
func phaseOrder() []kube.Phase {
	return []kube.Phase{
		kube.Bound, kube.Available, kube.Reserved, kube.Released, kube.Pending,
		kube.Terminating, kube.Failed, kube.Lost, kube.Unknown,
	}
}

// phaseRank is a phase's position in phaseOrder.
func phaseRank(p kube.Phase) int {
	for i, q := range phaseOrder() {
		if p == q {
			return i
		}
	}
	return len(phaseOrder())
}

// phaseColumn is the column of phases. The phase itself is never cut; the one
// that a Terminating object is really in comes where there is room, behind the
// users and before the age.
func phaseColumn() ui.Column {
	return ui.Column{Title: "PHASE", Min: 13, Max: 26, Better: 21, BetterThan: 6, Whole: true}
}

// phaseCell draws a state: glyph and word, and for a Terminating object the
// phase it is really in.
func (s *session) phaseCell(st kube.State) ui.Cell {
	m := markOf(st.Phase)
	cell := ui.Cell{{Text: s.glyph(m.glyph, m.ascii) + " " + string(st.Phase), Role: m.role}}
	if st.Phase == kube.Terminating {
		cell = append(cell, ui.Span{Text: " (" + string(st.Stored) + ")", Role: ui.Dim})
	}
	return cell
}

// phaseCount draws "● Bound 33".
func (s *session) phaseCount(p kube.Phase, n int) ui.Span {
	m := markOf(p)
	return ui.Span{Text: s.glyph(m.glyph, m.ascii) + " " + string(p) + " " + strconv.Itoa(n), Role: m.role}
}

// tick marks what is done, seen or well. In ASCII it is no letter: a v next to
// a text looks like a key.
func (s *session) tick() string { return s.glyph("✓", "+") }

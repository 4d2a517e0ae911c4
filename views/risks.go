package views

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// riskKey is the filter's key for risks.
const riskKey = "risk"

// risksMsg brings the risks of a snapshot.
type risksMsg struct {
	snap  *kube.Snapshot
	risks *explain.Risks
}

// assess finds the risks of the snapshot, unless that is being done: the
// tracker belongs to one goroutine. The first look at a large cluster takes
// longer than a key may, so it is never done on the update goroutine. Until
// the answer is there, the risks of the snapshot before are shown.
func (s *session) assess() tea.Cmd {
	if s.assessing || s.assessed == s.snap {
		return nil
	}
	s.assessing = true
	snap, tracker := s.snap, s.tracker
	return func() tea.Msg { return risksMsg{snap: snap, risks: tracker.Update(snap)} }
}

// judged takes in the risks of a snapshot, and asks for those of a newer one
// that has come meanwhile.
func (s *session) judged(msg risksMsg) tea.Cmd {
	s.assessing, s.assessed, s.risks = false, msg.snap, msg.risks
	return s.assess()
}

// risksOf are the risks of one object, the worst first.
func (s *session) risksOf(ref actions.Ref) []*explain.Risk {
	if s.risks == nil {
		return nil
	}
	return s.risks.Of(ref)
}

// severityMark is how a severity looks: a glyph, a word and a role, always the
// same three together.
type severityMark struct {
	glyph string
	ascii string
	word  string
	role  ui.Role
}

func markOfSeverity(severity explain.Severity) severityMark {
	switch severity {
	case explain.Critical:
		return severityMark{"▲", "!", "crit", ui.Bad}
	case explain.High:
		return severityMark{"△", "^", "high", ui.Warn}
	case explain.Low:
		return severityMark{"▿", "-", "low", ui.Notice}
	default:
		return severityMark{"·", ".", "info", ui.Dim}
	}
}

func (s *session) severitySpan(severity explain.Severity) ui.Span {
	m := markOfSeverity(severity)
	return ui.Span{Text: s.glyph(m.glyph, m.ascii) + " " + m.word, Role: m.role}
}

// riskColumn shows the worst risk of each object, right behind what an object
// is and how it stands: it is what tells one row in a hundred from the others.
func riskColumn[T any](s *session, k kind[T]) column[T] {
	rank := func(r T) int { return riskRank(s.risksOf(k.ref(r)), func() bool { return k.unjudged(s, r) != "" }) }
	return column[T]{
		Column: ui.Column{Title: "RISK", Usual: 6, Priority: 1},
		cell: func(r T) ui.Cell {
			found := s.risksOf(k.ref(r))
			switch {
			case s.risks == nil:
				return dim("…")
			case len(found) > 0:
				return ui.Cell{s.severitySpan(found[0].Severity)}
			case k.unjudged(s, r) != "":
				return dim(hidden)
			default:
				return plain(none)
			}
		},
		compare: func(a, b T) int { return cmp.Compare(rank(a), rank(b)) },
		ranked:  true,
	}
}

// riskRank sorts the worst first: by severity, then by how many there are.
// What can't be judged comes before what is safe.
func riskRank(found []*explain.Risk, unjudged func() bool) int {
	const most = 1000
	switch {
	case len(found) > 0:
		return -(int(found[0].Severity)+2)*most - min(len(found), most-1)
	case unjudged():
		return -1
	default:
		return 0
	}
}

// hasRisk answers the filter for an object: by severity, by the rule's name,
// and by ? for what can't be judged.
func hasRisk[T any](s *session, k kind[T], r T, found []*explain.Risk, test func(string) bool) bool {
	if len(found) == 0 {
		// "risk:" alone asks for any risk, which not to know is not.
		return test(hidden) && !test("") && k.unjudged(s, r) != ""
	}
	return slices.ContainsFunc(found, func(risk *explain.Risk) bool { return isRisk(risk, test) })
}

func isRisk(risk *explain.Risk, test func(string) bool) bool {
	return test(string(risk.ID)) || test(risk.Severity.String())
}

// volumeUnjudged says what has to be seen to tell that a volume without a
// known risk has none; nothing if all of it is.
func (s *session) volumeUnjudged(v *kube.Volume) string {
	pv := v.Object
	switch {
	case v.State.Phase == kube.Reserved && v.Tie == kube.TieUnknown:
		return s.unseenOf(kube.PersistentVolumeClaims)
	case v.State.Stored == kube.Bound && notRetain(v) && !v.UsersKnown:
		return s.unseenOf(kube.Pods)
	case v.State.Stored == kube.Bound && notRetain(v) && !s.snap.OwnersKnown():
		return "workloads can't all be seen"
	case v.Class != "" && !s.snap.Known(kube.StorageClasses, ""):
		return s.unseenOf(kube.StorageClasses)
	case pv.Spec.NodeAffinity != nil && !s.snap.Known(kube.Nodes, ""):
		return s.unseenOf(kube.Nodes)
	}
	return ""
}

// claimUnjudged does the same for a claim.
func (s *session) claimUnjudged(c *kube.Claim) string {
	switch {
	case c.Tie == kube.TieUnknown:
		return s.unseenOf(kube.PersistentVolumes)
	case !c.UsersKnown:
		return s.unseenOf(kube.Pods)
	case c.Class.Name != "" && !s.snap.Known(kube.StorageClasses, ""):
		return s.unseenOf(kube.StorageClasses)
	case !s.snap.OwnersKnown():
		return "workloads can't all be seen"
	}
	return ""
}

func (s *session) unseenOf(r kube.Resource) string {
	return string(r) + " can't be seen, " + s.unseen(r)
}

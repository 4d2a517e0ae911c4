package views

import (
	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// volumeStory says what a volume is, why, and what can be done.
func (s *session) volumeStory(v *kube.Volume) []ui.Span {
	var t story
	s.tellOperation(&t, v)
	s.tellExplained(&t, explain.Volume(s.snap, v, s.brief()))
	return t
}

// claimStory says the same of a claim.
func (s *session) claimStory(c *kube.Claim) []ui.Span {
	var t story
	s.tellExplained(&t, explain.Claim(s.snap, c, s.brief()))
	return t
}

// classStory says what a class means for new claims.
func (s *session) classStory(c *kube.Class) []ui.Span {
	var t story
	s.tellExplained(&t, explain.Class(s.snap, c, s.brief()))
	return t
}

// brief asks for what is told in a line or two, at once.
func (s *session) brief() explain.Ask { return explain.Ask{Now: s.now, Brief: true} }

// tellExplained tells the worst risk and the summary: a high risk first, as
// there may be no room for all of it.
func (s *session) tellExplained(t *story, e explain.Explanation) {
	worst := worthTelling(s.risksOf(e.Object))
	if worst != nil && worst.Severity >= explain.High {
		s.tellRisk(t, worst)
	}
	for _, sentence := range e.Summary {
		t.warn(roleOf(sentence.Level), sentence.Text)
		t.cure(sentence.Cure, "p", reserveHint(e.Verdict))
	}
	if worst != nil && worst.Severity < explain.High {
		s.tellRisk(t, worst)
	}
}

// cure offers the key of a guided action: that for the policy is not the same
// everywhere.
func (t *story) cure(verb actions.Verb, policy, reserves string) {
	switch verb {
	case actions.SetPolicy:
		t.hint(policy, "sets Retain.")
	case actions.Reserve:
		t.hint("a", reserves)
	case actions.Repair:
		t.hint("a", "repairs it.")
	default:
		// Nothing, or nothing that an explanation asks for.
	}
}

func reserveHint(v explain.Verdict) string {
	if v == explain.VolumeReleased {
		return "reserves it again, or opens it."
	}
	return "reserves it for one claim."
}

// worthTelling is the worst risk of an object, if it is more than worth
// knowing; nil for none.
func worthTelling(found []*explain.Risk) *explain.Risk {
	if len(found) == 0 || found[0].Severity == explain.Info {
		return nil
	}
	return found[0]
}

// tellRisk tells a risk. Of one that the summary speaks of anyway only the
// severity is told.
func (s *session) tellRisk(t *story, risk *explain.Risk) {
	m := markOfSeverity(risk.Severity)
	lead := s.glyph(m.glyph, m.ascii) + " " + severityWord(risk.Severity)
	if inSummary(risk) {
		if risk.Severity >= explain.High {
			t.warn(m.role, lead+".")
		}
		return
	}
	t.warn(m.role, lead+": "+sentence(risk.Text))
}

// severityWord is a severity as the start of a sentence.
func severityWord(severity explain.Severity) string {
	switch severity {
	case explain.Critical:
		return "Critical"
	case explain.High:
		return "High risk"
	case explain.Low:
		return "Low risk"
	default:
		return "To know"
	}
}

// inSummary says that an explanation's summary tells what a risk is about.
func inSummary(risk *explain.Risk) bool {
	switch risk.ID {
	case explain.RiskClassGone:
		// Where nothing waits for the class, it is not spoken of.
		return risk.Severity >= explain.High
	case explain.RiskReleasedDelete, explain.RiskRecycle, explain.RiskFailed, explain.RiskDeleteStatefulSet, explain.RiskReservedElsewhere,
		explain.RiskTerminatingDelete, explain.RiskModesDiffer, explain.RiskLost, explain.RiskSeveralDefaults:
		return true
	default:
		return false
	}
}

// roleOf is how loud a sentence is.
func roleOf(level explain.Level) ui.Role {
	switch level {
	case explain.Notice:
		return ui.Notice
	case explain.Warn:
		return ui.Warn
	case explain.Bad:
		return ui.Bad
	default:
		return ui.Plain
	}
}

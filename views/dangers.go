package views

import (
	"cmp"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// risksKind is the table of the risks of all objects, the worst first.
func risksKind() kind[*explain.Risk] {
	return kind[*explain.Risk]{
		title:   "Risks",
		columns: riskColumns,
		items: func(s *session) []*explain.Risk {
			if s.risks == nil {
				return nil
			}
			return s.risks.List()
		},
		id:        func(r *explain.Risk) string { return string(r.ID) + " " + refID(r.Object) },
		name:      func(r *explain.Risk) string { return refName(r.Object) },
		namespace: (*explain.Risk).Namespace,
		values:    riskValues,
		risk: func(_ *session, r *explain.Risk, _ []*explain.Risk, test func(string) bool) bool {
			return isRisk(r, test)
		},
		story: (*session).riskStory,
		keys:  riskKeys,
		ref:   func(r *explain.Risk) actions.Ref { return r.Object },
		sum:   (*session).sumRisks,
		none:  (*session).noRisks,
	}
}

// refID is an object in a text that no other object has.
func refID(r actions.Ref) string { return string(r.Kind) + " " + r.Namespace + "/" + r.Name }

func riskValues(r *explain.Risk) has {
	return func(key string, test func(string) bool) bool {
		switch key {
		case "":
			// A word has no space in it: it is in one of the two, or in none.
			return test(kindWord(r.Object.Kind)) || test(refName(r.Object)) || test(string(r.ID)) || test(r.Severity.String()) || test(r.Text) || test(r.Remedy)
		case "ns":
			return test(r.Object.Namespace)
		case "class":
			return r.Object.Kind == actions.ClassKind && test(r.Object.Name)
		}
		return false
	}
}

// refText names an object with its kind in a word.
func refText(r actions.Ref) string {
	return kindWord(r.Kind) + " " + refName(r)
}

func refName(r actions.Ref) string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// kindWord is what people call a kind.
func kindWord(k actions.Kind) string {
	switch k {
	case actions.VolumeKind:
		return "volume"
	case actions.ClaimKind:
		return "claim"
	case actions.ClassKind:
		return "class"
	case "VolumeAttachment":
		return "attachment"
	case "Node", "Pod":
		return strings.ToLower(string(k))
	default:
		return string(k)
	}
}

func riskColumns(s *session) []column[*explain.Risk] {
	type risk = *explain.Risk
	by := func(f func(risk) string) func(a, b risk) int {
		return func(a, b risk) int { return cmp.Compare(f(a), f(b)) }
	}
	return []column[risk]{
		{
			Column:  ui.Column{Title: "RISK", Min: 6},
			cell:    func(r risk) ui.Cell { return ui.Cell{s.severitySpan(r.Severity)} },
			compare: func(a, b risk) int { return cmp.Compare(b.Severity, a.Severity) },
		},
		{
			Column: ui.Column{Title: "OBJECT", Min: 20, Max: 40, Middle: true},
			cell:   func(r risk) ui.Cell { return plain(refText(r.Object)) },
			compare: func(a, b risk) int {
				return cmp.Or(cmp.Compare(a.Object.Kind, b.Object.Kind), cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
			},
		},
		{
			Column:  ui.Column{Title: "WHAT", Min: 40, Grow: true},
			cell:    func(r risk) ui.Cell { return plain(r.Text) },
			compare: by(func(r risk) string { return r.Text }),
		},
		{
			Column: ui.Column{Title: "SINCE", Align: ui.Right, Usual: 5, Priority: 2},
			cell: func(r risk) ui.Cell {
				if r.Since.IsZero() {
					return plain(none)
				}
				return dim(s.since0(r.Since))
			},
			compare: func(a, b risk) int { return b.Since.Compare(a.Since) },
		},
		{
			Column: ui.Column{Title: "CURE", Usual: 9, Priority: 1},
			cell: func(r risk) ui.Cell {
				if _, word := cureOf(r); word != "" {
					return ui.Cell{{Text: "a ", Role: ui.Key}, {Text: word}}
				}
				return plain(none)
			},
			compare: by(func(r risk) string { return string(r.Cure) }),
		},
		{
			wide: true, Column: ui.Column{Title: "RULE", Priority: 3},
			cell:    func(r risk) ui.Cell { return dim(string(r.ID)) },
			compare: by(func(r risk) string { return string(r.ID) }),
		},
		{
			wide: true, Column: ui.Column{Title: "REMEDY", Min: 30, Priority: 4},
			cell:    func(r risk) ui.Cell { return plain(r.Remedy) },
			compare: by(func(r risk) string { return r.Remedy }),
		},
	}
}

// cureOf says in a word what the guided action does.
func cureOf(r *explain.Risk) (actions.Verb, string) {
	switch r.Cure {
	case actions.SetPolicy:
		return r.Cure, "Retain"
	case actions.Reserve:
		return r.Cure, "reserve"
	case actions.Repair:
		return r.Cure, "repair"
	default:
		return "", ""
	}
}

// riskStory is all of it, with what to do: the key first, as there may be no
// room for more.
func (s *session) riskStory(r *explain.Risk) []ui.Span {
	var t story
	t.warn(ui.Strong, refText(r.Object)+":")
	t.warn(markOfSeverity(r.Severity).role, sentence(r.Text))
	t.cure(r.Cure, "a", "reserves it.")
	if r.Remedy != "" {
		t.warn(ui.Plain, sentence(r.Remedy))
	}
	return t
}

// sumRisks counts the risks by severity. The worst stand last: where room
// lacks, the beginning is cut.
func (s *session) sumRisks(all []*explain.Risk) []ui.Span {
	counts := map[explain.Severity]int{}
	for _, r := range all {
		counts[r.Severity]++
	}
	var out []ui.Span
	for _, severity := range []explain.Severity{explain.Info, explain.Low, explain.High, explain.Critical} {
		if n := counts[severity]; n > 0 {
			span := s.severitySpan(severity)
			span.Text += " " + strconv.Itoa(n)
			out = append(out, ui.Span{Text: "  "}, span)
		}
	}
	return out
}

// noRisks says that nothing was found, and what was not looked at.
func (s *session) noRisks() []ui.Span {
	out := []ui.Span{{Text: "No risks found. ", Role: ui.Dim}}
	var unseen []string
	for _, r := range append(watched(), kube.Nodes, kube.Namespaces) {
		if !s.snap.Known(r, s.snap.Scope) {
			unseen = append(unseen, string(r))
		}
	}
	if len(unseen) > 0 {
		out = append(out, ui.Span{Text: "But not all can be seen, so there may be some: " + strings.Join(unseen, ", ") + ".", Role: ui.Warn})
	}
	return out
}

// riskKeys are the keys of the table of risks.
func riskKeys(p *listPage[*explain.Risk]) []ui.Binding {
	here := func(r *explain.Risk) place { return place{risksTab, p.kind.id(r)} }
	return []ui.Binding{
		{
			Keys: []string{"a"}, Title: "cure", Help: "the guided action that does something about it", Group: "Actions", Hint: true,
			Disabled: p.unless(p.noCure), Do: p.with(p.cure),
		},
		{
			Keys: []string{"P"}, Title: "protect shown", Help: "set policy Retain on the volumes of all risks shown", Group: "Actions",
			Disabled: func() string { return p.protectAtRisk().Disabled }, Do: func() tea.Cmd { return p.protectAtRisk().Do() },
		},
		p.forSelected("enter", "to the object", "jump to what is at risk", "Jump", true, func(r *explain.Risk) tea.Cmd { return p.jumpTo(r.Object, here(r)) }),
		p.forSelected("e", "explain", "details of what is at risk: why, and what can be done", "Table", true, func(r *explain.Risk) tea.Cmd { return p.openRef(r.Object) }),
	}
}

// volumeAtRisk is the volume that a risk is about, or that of its claim.
func (s *session) volumeAtRisk(r *explain.Risk) *kube.Volume {
	if r.Object.Kind == actions.VolumeKind {
		return s.volumeNamed(r.Object.Name)
	}
	if c := s.claimNamed(r.Object.Namespace, r.Object.Name); c != nil && r.Object.Kind == actions.ClaimKind {
		return s.volumeNamed(c.Object.Spec.VolumeName)
	}
	return nil
}

// noCure says why no guided action helps.
func (s *session) noCure(r *explain.Risk) string {
	verb, _ := cureOf(r)
	switch {
	case verb == "" && r.Remedy == "":
		return "nothing has to be done"
	case verb == "":
		return "no guided action for this. " + sentence(r.Remedy)
	case s.opts.ReadOnly:
		return "started with --read-only: nothing is written"
	case s.volumeAtRisk(r) == nil:
		return "its volume can't be seen any more"
	}
	return ""
}

// cure opens the guided action that does something about a risk. Whether it is
// possible and safe is found out there, from fresh objects.
func (s *session) cure(r *explain.Risk) tea.Cmd {
	v := s.volumeAtRisk(r)
	if v == nil {
		return nil
	}
	switch r.Cure {
	case actions.SetPolicy:
		return s.openStep(actions.Request{Verb: actions.SetPolicy, Volume: volumeRef(v), Policy: corev1.PersistentVolumeReclaimRetain})
	case actions.Reserve:
		return s.chooseClaim(actions.Request{Verb: actions.Reserve, Volume: volumeRef(v)}, v)
	case actions.Repair:
		return s.openStep(actions.Request{Verb: actions.Repair, Volume: volumeRef(v), Claim: actions.ClaimKey{Namespace: r.Object.Namespace, Name: r.Object.Name}})
	default:
		return s.openActions(v)
	}
}

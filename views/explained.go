package views

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// mostTold is how many candidates and takers are told one by one.
const mostTold = 20

// fullStory is the explanation of a details page. It takes a look at all other
// objects, which is too long for a key in a large cluster: it is made by a
// command, one at a time, and the one before stays until the next is there.
type fullStory struct {
	explain.Explanation
	made bool
	// madeFor is what it was made from, making that a command is at it.
	madeFor storyKey
	making  bool
}

// storyKey is what an explanation depends on.
type storyKey struct {
	snap *kube.Snapshot
	// turn is the reading of the events; negative before they are there.
	turn int
}

// explainedMsg brings the explanation of the object of a details page.
type explainedMsg struct {
	page        *detailsPage
	key         storyKey
	explanation explain.Explanation
	found       bool
}

func (p *detailsPage) storyKey() storyKey {
	if !p.eventsRead {
		return storyKey{p.snap, -1}
	}
	return storyKey{p.snap, p.turn}
}

// explain has the object explained from what is known by now.
func (p *detailsPage) explain() tea.Cmd {
	key := p.storyKey()
	if p.full.making || p.gone || p.full.made && p.full.madeFor == key {
		return nil
	}
	p.full.making = true
	ref, ask := p.ref, explain.Ask{Now: p.now, Events: p.events, Top: mostTold}
	return func() tea.Msg {
		e, found := explainRef(key.snap, ref, ask)
		return explainedMsg{page: p, key: key, explanation: e, found: found}
	}
}

func (p *detailsPage) explained(msg explainedMsg) tea.Cmd {
	p.full.making, p.full.madeFor = false, msg.key
	if msg.found {
		p.full.Explanation, p.full.made = msg.explanation, true
		p.rebuild()
	}
	return p.explain()
}

// explanation is what the overview says before the fields: what is the matter,
// what can be done, and what shows that it is so.
func (p *detailsPage) explanation() []ui.Line {
	if !p.full.made {
		return nil
	}
	e := p.full.Explanation
	var summary ui.Line
	for _, sentence := range e.Summary {
		if len(summary) > 0 {
			summary = append(summary, ui.Span{Text: " "})
		}
		summary = append(summary, ui.Span{Text: sentence.Text, Role: roleOf(sentence.Level)})
	}
	lines := []ui.Line{summary, {}}
	for _, l := range []factList{
		p.risksList(e), p.remedyList(e), evidenceList(e), p.candidateList(e), takerList(e),
		holderList(e, true), holderList(e, false),
	} {
		if len(l.lines) == 0 {
			continue
		}
		lines = append(lines, ui.Line{{Text: l.title, Role: ui.Accent}})
		lines = append(append(lines, l.lines...), ui.Line{})
	}
	return lines
}

// risksList leaves out the remedies that stand among what can be done.
func (p *detailsPage) risksList(e explain.Explanation) factList {
	l := factList{title: "Risks"}
	for _, r := range p.risksOf(p.ref) {
		span := p.severitySpan(r.Severity)
		line := ui.Line{{Text: "  "}, {Text: ui.Pad(span.Text, 8), Role: span.Role}, {Text: sentence(r.Text)}}
		if r.Remedy != "" && !slices.ContainsFunc(e.Remedies, func(other explain.Remedy) bool { return other.Text == r.Remedy }) {
			line = append(line, ui.Span{Text: " " + sentence(r.Remedy), Role: ui.Dim})
		}
		l.lines = append(l.lines, line)
	}
	if why := p.unjudged(); why != "" {
		l.lines = append(l.lines, ui.Line{{Text: "  ? not all risks can be told: " + why, Role: ui.Notice}})
	}
	return l
}

// unjudged says what keeps the object's risks from being known.
func (p *detailsPage) unjudged() string {
	switch p.ref.Kind {
	case actions.VolumeKind:
		if v := p.volumeNamed(p.ref.Name); v != nil {
			return p.volumeUnjudged(v)
		}
	case actions.ClaimKind:
		if c := p.claimNamed(p.ref.Namespace, p.ref.Name); c != nil {
			return p.claimUnjudged(c)
		}
	default:
		// All there is to say of a class is in itself.
	}
	return ""
}

// remedyList is what can be done, the safest first, with the keys that do it.
func (p *detailsPage) remedyList(e explain.Explanation) factList {
	l := factList{title: "What can be done"}
	guided := 0
	for _, r := range e.Remedies {
		key := ui.Span{Text: p.glyph("·", "-"), Role: ui.Dim}
		if r.Request != nil {
			if guided++; guided <= mostKeys {
				key = ui.Span{Text: itoa(guided), Role: ui.Key}
			}
		}
		l.lines = append(l.lines, ui.Line{{Text: "  "}, key, {Text: "  " + r.Text}})
	}
	return l
}

// mostKeys is how many remedies have a digit.
const mostKeys = 9

// remedyKeys are the digits of those remedies that are guided actions. Each
// leads to a plan that is made from fresh objects; nothing is done before its
// difference was seen.
func (p *detailsPage) remedyKeys() []ui.Binding {
	var keys []ui.Binding
	if p.gone {
		return nil
	}
	for _, r := range p.full.Remedies {
		if r.Request == nil || len(keys) == mostKeys {
			continue
		}
		req := *r.Request
		keys = append(keys, ui.Binding{
			Keys: []string{itoa(len(keys) + 1)}, Title: "remedy", Help: r.Text, Group: "What can be done",
			Disabled: func() string {
				switch {
				case p.opts.ReadOnly:
					return "started with --read-only: nothing is written"
				case p.volumeNamed(req.Volume.Name) == nil:
					return "volume " + req.Volume.Name + " can't be seen any more"
				}
				return ""
			},
			Do: func() tea.Cmd { return p.perform(req) },
		})
	}
	return keys
}

// perform opens an action; one that reserves for a claim yet to be named asks
// for it first.
func (s *session) perform(req actions.Request) tea.Cmd {
	if v := s.volumeNamed(req.Volume.Name); v != nil && req.Verb == actions.Reserve && req.Claim.Name == "" {
		return s.chooseClaim(req, v)
	}
	return s.openStep(req)
}

// takersLabel is the evidence that has a list of its own.
const takersLabel = "Takers"

func evidenceList(e explain.Explanation) factList {
	l := factList{title: "Why"}
	wide := 0
	for _, f := range e.Evidence {
		wide = max(wide, ui.Width(f.Label))
	}
	for _, f := range e.Evidence {
		if f.Label == takersLabel && e.Takers != nil {
			continue
		}
		l.lines = append(l.lines, ui.Line{{Text: "  " + ui.Pad(f.Label, wide+2), Role: ui.Dim}, {Text: f.Text, Role: roleOf(f.Level)}})
	}
	return l
}

// candidateList compares a claim with the volumes, the best first.
func (p *detailsPage) candidateList(e explain.Explanation) factList {
	found := e.Candidates
	if found == nil {
		return factList{}
	}
	l := factList{title: fmt.Sprintf("Volumes it could take: %d of %d compared", found.Fit, found.Total)}
	if found.Held > 0 {
		l.title += fmt.Sprintf("; %s bound to other claims left out", countAre(found.Held))
	}
	if !found.Known {
		l.lines = append(l.lines, ui.Line{{Text: "  ? there may be more: " + p.unseenOf(kube.PersistentVolumes), Role: ui.Notice}})
	}
	wide := 0
	for _, c := range found.List {
		wide = max(wide, min(ui.Width(c.Volume.Name), 24))
	}
	for _, c := range found.List {
		mark := ui.Span{Text: p.glyph("✕ ", "x "), Role: ui.Dim}
		text := ui.Span{Text: c.Text()}
		if c.Fits() {
			mark, text.Role = ui.Span{Text: p.tick() + " ", Role: ui.Good}, ui.Good
		}
		line := ui.Line{{Text: "  "}, mark, {Text: ui.Pad(ui.CutMiddle(ui.Clean(c.Volume.Name), wide), wide+2), Role: ui.Strong}, text}
		if len(c.Notes) > 0 {
			notes := make([]string, len(c.Notes))
			for i, n := range c.Notes {
				notes[i] = n.Text
			}
			line = append(line, ui.Span{Text: "; not compared: " + strings.Join(notes, "; "), Role: ui.Dim})
		}
		l.lines = append(l.lines, line)
	}
	if more := found.Total - len(found.List); more > 0 {
		l.lines = append(l.lines, ui.Line{{Text: fmt.Sprintf("  … %d more, which fit worse", more), Role: ui.Dim}})
	}
	if len(l.lines) == 0 {
		l.lines = append(l.lines, ui.Line{{Text: "  none", Role: ui.Dim}})
	}
	return l
}

func countAre(n int) string {
	if n == 1 {
		return "1 that is"
	}
	return fmt.Sprintf("%d that are", n)
}

// takerList is who would take the volume.
func takerList(e explain.Explanation) factList {
	found := e.Takers
	if found == nil {
		return factList{}
	}
	l := factList{title: "Who would take it", lines: []ui.Line{{{Text: "  " + sentence(found.Text())}}}}
	wide := 0
	for _, t := range found.List {
		wide = max(wide, ui.Width(refName(t.Claim)))
	}
	for _, t := range found.List {
		when, role := "later   ", ui.Dim
		if t.AtOnce {
			when, role = "at once ", ui.Warn
		}
		l.lines = append(l.lines, ui.Line{{Text: "  "}, {Text: when, Role: role}, {Text: ui.Pad(ui.Clean(refName(t.Claim)), wide+2), Role: ui.Strong}, {Text: t.Text}})
	}
	if more := found.Total - len(found.List); more > 0 {
		l.lines = append(l.lines, ui.Line{{Text: fmt.Sprintf("  … %d more", more), Role: ui.Dim}})
	}
	return l
}

// holderList is what keeps the object from being deleted, or what else uses it
// or stands above it.
func holderList(e explain.Explanation, blocks bool) factList {
	l := factList{title: "What else has to do with it"}
	if blocks {
		l.title = "What a deletion waits for"
	}
	for _, h := range e.Holders {
		if h.Blocks == blocks {
			l.lines = append(l.lines, ui.Line{{Text: "  " + ui.Pad(string(h.How), 12), Role: ui.Dim}, {Text: h.Text, Role: roleOf(h.Level)}})
		}
	}
	return l
}

package main

import (
	"time"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/explain"
)

// explainData is the answer of explain. The names of its fields are stable, as
// are verdicts, ids, levels and kinds; texts are not.
type explainData struct {
	Object     actions.Ref     `json:"object"`
	Verdict    explain.Verdict `json:"verdict"`
	Summary    []sentenceData  `json:"summary"`
	Evidence   []factData      `json:"evidence"`
	Candidates *candidatesData `json:"candidates,omitempty"`
	Takers     *takersData     `json:"takers,omitempty"`
	Holders    []holderData    `json:"holders"`
	Remedies   []remedyData    `json:"remedies"`
	Risks      []riskData      `json:"risks"`
	// Timeline and Tree are there when they were asked for.
	Timeline []momentData `json:"timeline,omitempty"`
	Tree     []nodeData   `json:"tree,omitempty"`
	Unread   []gap        `json:"unread"`
}

type sentenceData struct {
	Text  string       `json:"text"`
	Level string       `json:"level"`
	Cure  actions.Verb `json:"cure,omitempty"`
}

type factData struct {
	Label  string      `json:"label"`
	Text   string      `json:"text"`
	Level  string      `json:"level"`
	Object actions.Ref `json:"object,omitzero"`
}

type candidatesData struct {
	Path string `json:"path"`
	// Total were compared, Held are bound to other claims and were not.
	Total int             `json:"total"`
	Held  int             `json:"held"`
	Fit   int             `json:"fit"`
	Known bool            `json:"known"`
	List  []candidateData `json:"list"`
}

type candidateData struct {
	Volume  actions.Ref `json:"volume"`
	Fits    bool        `json:"fits"`
	Chosen  bool        `json:"chosen,omitempty"`
	Delayed bool        `json:"delayed,omitempty"`
	Text    string      `json:"text"`
	Reasons []string    `json:"reasons,omitempty"`
}

type takersData struct {
	Open   bool        `json:"open"`
	Total  int         `json:"total"`
	AtOnce int         `json:"atOnce"`
	Known  bool        `json:"known"`
	Exact  bool        `json:"exact"`
	Text   string      `json:"text"`
	List   []takerData `json:"list"`
}

type takerData struct {
	Claim   actions.Ref `json:"claim"`
	AtOnce  bool        `json:"atOnce"`
	Instead string      `json:"instead,omitempty"`
	Text    string      `json:"text"`
}

type holderData struct {
	How    explain.Hold `json:"how"`
	Object actions.Ref  `json:"object,omitzero"`
	Text   string       `json:"text"`
	Level  string       `json:"level"`
	Blocks bool         `json:"blocks"`
}

type remedyData struct {
	Text string `json:"text"`
	// Verb is the operation that claimref has for it.
	Verb actions.Verb `json:"verb,omitempty"`
}

type momentData struct {
	Time  time.Time `json:"time"`
	Text  string    `json:"text"`
	Who   string    `json:"who,omitempty"`
	Level string    `json:"level"`
	Count int       `json:"count,omitempty"`
}

type nodeData struct {
	Object   actions.Ref `json:"object"`
	Phase    string      `json:"phase,omitempty"`
	Note     string      `json:"note,omitempty"`
	Level    string      `json:"level"`
	Selected bool        `json:"selected,omitempty"`
	Missing  bool        `json:"missing,omitempty"`
	Unknown  bool        `json:"unknown,omitempty"`
	More     int         `json:"more,omitempty"`
	Children []nodeData  `json:"children,omitempty"`
}

func levelWord(l explain.Level) string {
	switch l {
	case explain.Notice:
		return "notice"
	case explain.Warn:
		return "warn"
	case explain.Bad:
		return "bad"
	default:
		return "plain"
	}
}

// each turns a list into one that is empty rather than null.
func each[T, D any](list []T, of func(T) D) []D {
	out := make([]D, 0, len(list))
	for _, item := range list {
		out = append(out, of(item))
	}
	return out
}

func (a *answer) data() explainData {
	d := explainData{
		Object: a.Object, Verdict: a.Verdict, Unread: a.unread,
		Summary:  each(a.Summary, func(s explain.Sentence) sentenceData { return sentenceData{s.Text, levelWord(s.Level), s.Cure} }),
		Evidence: each(a.Evidence, func(f explain.Fact) factData { return factData{f.Label, f.Text, levelWord(f.Level), f.Object} }),
		Holders: each(a.Holders, func(h explain.Holder) holderData {
			return holderData{h.How, h.Object, h.Text, levelWord(h.Level), h.Blocks}
		}),
		Remedies: each(a.Remedies, remedyOf),
		Risks:    each(a.risks, riskOf),
		Timeline: each(a.timeline, func(m explain.Moment) momentData {
			return momentData{m.When.UTC(), m.What, m.Who, levelWord(m.Level), m.Count}
		}),
		Tree: each(a.tree, nodeOf),
	}
	if c := a.Candidates; c != nil {
		d.Candidates = &candidatesData{string(c.Path), c.Total, c.Held, c.Fit, c.Known, each(c.List, candidateOf)}
	}
	if t := a.Takers; t != nil {
		d.Takers = &takersData{t.Open, t.Total, t.AtOnce, t.Known, t.Exact, t.Text(), each(t.List, func(t explain.Taker) takerData {
			return takerData{t.Claim, t.AtOnce, t.Instead, t.Text}
		})}
	}
	return d
}

func remedyOf(r explain.Remedy) remedyData {
	d := remedyData{Text: r.Text}
	if r.Request != nil {
		d.Verb = r.Request.Verb
	}
	return d
}

func candidateOf(c explain.Candidate) candidateData {
	d := candidateData{Volume: c.Volume, Fits: c.Fits(), Chosen: c.Chosen, Delayed: c.Delayed, Text: c.Text()}
	for _, why := range c.Why {
		d.Reasons = append(d.Reasons, string(why.Kind))
	}
	return d
}

func nodeOf(n *explain.Node) nodeData {
	return nodeData{n.Object, n.Phase, n.Note, levelWord(n.Level), n.Selected, n.Missing, n.Unknown, n.More, each(n.Children, nodeOf)}
}

package views

import (
	"slices"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
)

// reading is how far the records have been read.
func (p *listPage[T]) reading() kube.ResourceState {
	switch {
	case p.kind.resource != "":
		return p.readState(p.kind.resource)
	case p.risks == nil:
		return kube.ResourceState{Phase: kube.Loading}
	default:
		return kube.ResourceState{Phase: kube.Synced}
	}
}

// byRisk says that the risks decide which rows there are, or their order.
func (p *listPage[T]) byRisk() bool {
	return p.kind.resource == "" || p.query.asks(riskKey) || p.columns[p.sort].ranked
}

// judgedKey is what the risks of the rows depend on.
type judgedKey struct {
	risks     *explain.Risks
	revision  uint64
	namespace string
}

// judgement is the risks of all rows of a namespace, filtered away or not, in
// the order of the snapshot. It serves every key until one of them changes.
type judgement struct {
	key judgedKey
	// found are the risks of each row, the worst first; ranks sort by them.
	found [][]*explain.Risk
	ranks []int
}

// judge finds the risks of all rows, if they decide anything.
func (p *listPage[T]) judge(all []T) {
	if p.kind.resource == "" || !p.byRisk() {
		p.judgement = judgement{}
		return
	}
	key := judgedKey{p.risks, p.snap.Revision, p.namespace}
	if p.judgement.found != nil && p.judgement.key == key {
		return
	}
	j := judgement{key: key, found: make([][]*explain.Risk, len(all)), ranks: make([]int, len(all))}
	p.kind.found(p.session, all, func(i int, found []*explain.Risk) { j.found[i] = found })
	for i, r := range all {
		j.ranks[i] = riskRank(j.found[i], func() bool { return p.kind.unjudged(p.session, r) != "" })
	}
	p.judgement = j
}

// shownOf are those of all records that pass the filter, in the order that was
// chosen.
func (p *listPage[T]) shownOf(all []T) []T {
	p.judge(all)
	byRank := p.columns[p.sort].ranked
	rows, ranks := all, p.judgement.ranks
	if !p.query.empty() {
		rows, ranks = make([]T, 0, len(all)), nil
		for i, r := range all {
			if !p.query.matches(p.valuesOf(i, r)) {
				continue
			}
			rows = append(rows, r)
			if byRank {
				ranks = append(ranks, p.judgement.ranks[i])
			}
		}
	}
	if byRank {
		return ranked(rows, ranks, p.desc)
	}
	return p.ordered(rows)
}

// valuesOf answers the filter's questions about one of all records.
func (p *listPage[T]) valuesOf(i int, r T) has {
	values := p.kind.values(r)
	if !p.query.asks(riskKey) {
		return values
	}
	return func(key string, test func(string) bool) bool {
		switch {
		case key != riskKey:
			return values(key, test)
		case p.kind.resource == "":
			return p.kind.risk(p.session, r, nil, test)
		default:
			return p.kind.risk(p.session, r, p.judgement.found[i], test)
		}
	}
}

// ranked sorts a copy of rows by their ranks, of which there are few: they are
// counted.
func ranked[T any](rows []T, ranks []int, desc bool) []T {
	if len(rows) == 0 {
		return rows
	}
	low, high := slices.Min(ranks), slices.Max(ranks)
	place := func(rank int) int {
		if desc {
			return high - rank
		}
		return rank - low
	}
	next := make([]int, high-low+2)
	for _, rank := range ranks {
		next[place(rank)+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	sorted := make([]T, len(rows))
	for i, r := range rows {
		at := place(ranks[i])
		sorted[next[at]] = r
		next[at]++
	}
	return sorted
}

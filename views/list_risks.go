package views

import (
	"cmp"
	"slices"

	"github.com/claimref/claimref/kube"
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
	return p.kind.resource == "" || p.query.asks(riskKey) || p.columns[p.sort].rank != nil
}

// valuesOf answers the filter's questions about a record.
func (p *listPage[T]) valuesOf(r T) has {
	values := p.kind.values(r)
	if !p.query.asks(riskKey) {
		return values
	}
	return func(key string, test func(string) bool) bool {
		if key == riskKey {
			return p.kind.risk(p.session, r, test)
		}
		return values(key, test)
	}
}

// ranked sorts a copy of rows by a number that is found once for each.
func ranked[T any](rows []T, rank func(T) int, desc bool) []T {
	type place struct {
		rank int
		row  T
	}
	places := make([]place, len(rows))
	for i, r := range rows {
		places[i] = place{rank(r), r}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		if desc {
			return cmp.Compare(b.rank, a.rank)
		}
		return cmp.Compare(a.rank, b.rank)
	})
	sorted := make([]T, len(rows))
	for i, p := range places {
		sorted[i] = p.row
	}
	return sorted
}

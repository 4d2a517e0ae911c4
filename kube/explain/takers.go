package explain

import (
	"fmt"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// Takers are the claims that would take a volume if it were open.
type Takers struct {
	// Open: it is open now; otherwise this is what would happen if it were.
	Open bool
	// Total is how many there are, AtOnce how many of them wait for nothing.
	Total  int
	AtOnce int
	// Known: all claims and classes have been read. Without it there may be
	// more, and others.
	Known bool
	// Exact: each was compared with the other volumes that are open, to see
	// whether it would rather take one of those. There are too many for that
	// otherwise, and some of these may go elsewhere.
	Exact bool
	// List has those first that take it at once. It may be shorter than Total.
	List []Taker
}

// Taker is a claim that would take a volume.
type Taker struct {
	Claim  actions.Ref
	Path   binding.Path
	AtOnce bool
	// Instead is the volume that it would rather take.
	Instead string
	// Text is a clause that says why.
	Text string
}

// takers finds who would take the volume, and says so.
func (t *telling) takers(v *kube.Volume) {
	if t.ask.Brief || v.Object.DeletionTimestamp != nil {
		return
	}
	found := TakersOf(t.snap, v, t.ask.top())
	t.Takers = found
	t.factOf(Plain, "Takers", found.Text(), actions.Ref{})
}

// Text says who would take the volume, in a sentence without a period.
func (f *Takers) Text() string {
	would := "would take it at once if it were open"
	if f.Open {
		would = "take it at once"
	}
	var text string
	switch {
	case f.AtOnce == 1 && f.Exact:
		text = fmt.Sprintf("Claim %s/%s %s: it %s", f.List[0].Claim.Namespace, f.List[0].Claim.Name, singular(would), f.List[0].Text)
	case f.AtOnce > 0 && f.Exact:
		text = fmt.Sprintf("%d claims %s, whichever comes first", f.AtOnce, would)
	case f.AtOnce > 0:
		text = fmt.Sprintf("%s wait that fit it; some may take other volumes", count(f.AtOnce, "claim"))
	default:
		text = "No claim that is known " + singular(would)
	}
	if later := f.Total - f.AtOnce; later > 0 {
		text += fmt.Sprintf("; %s might later, once a first pod is placed or another volume is gone", count(later, "claim"))
	}
	if !f.Known {
		text += "; claims or classes could not all be read, so there may be others"
	}
	return clean(text)
}

func singular(would string) string {
	if would == "take it at once" {
		return "takes it at once"
	}
	return would
}

// TakersOf finds the claims that would take a volume if it were open, the
// first few of them one by one.
func TakersOf(snap *kube.Snapshot, v *kube.Volume, most int) *Takers {
	found := &Takers{
		Open:  v.State.Phase == kube.Available && v.Object.Spec.ClaimRef == nil,
		Known: snap.Known(kube.PersistentVolumeClaims, "") && snap.Known(kube.StorageClasses, ""),
		Exact: true,
	}
	if v.Object.DeletionTimestamp != nil {
		return found // Never matched again.
	}
	d := newDemand(snap, v, most)
	switch {
	case d.atOnce.total+d.later.total == 0:
		return found
	case d.total*judgeCost > pairs:
		found.roughly(d)
		return found
	}
	m := d.market()
	if d.total*(m.open+judgeCost) > pairs {
		found.roughly(d)
		return found
	}
	list := m.takers()
	for _, b := range list {
		found.Total++
		if b.AtOnce() {
			found.AtOnce++
		}
		if len(found.List) < most {
			found.List = append(found.List, Taker{
				Claim: claimRef(b.Claim), Path: b.Path, AtOnce: b.AtOnce(), Instead: b.Instead, Text: clean(b.Reason),
			})
		}
	}
	return found
}

// roughly says which claims the volume fits, without a look at what else they
// might take.
func (f *Takers) roughly(d *demand) {
	f.Exact, f.Total, f.AtOnce = false, d.atOnce.total+d.later.total, d.atOnce.total
	for _, some := range [...]*sample{&d.atOnce, &d.later} {
		for _, c := range some.first {
			if len(f.List) < d.most {
				f.List = append(f.List, Taker{
					Claim: claimRef(c.claim), Path: c.path, AtOnce: some == &d.atOnce, Text: "fits; another volume may suit it better",
				})
			}
		}
	}
}

package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

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

// pairs bounds how many comparisons are made to find out who would take a
// volume, some 100 ns each; judgeCost is what one look at a claim alone costs,
// in the same measure.
const (
	pairs     = 200_000
	judgeCost = 20
)

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
	opened := binding.Opened(v.Object)
	unbound, fitting := unboundClaims(snap, v, opened)
	if len(fitting) == 0 {
		return found
	}
	var open []*corev1.PersistentVolume
	if len(unbound)*judgeCost <= pairs {
		open = openVolumes(snap, unbound)
	}
	if len(unbound)*(len(open)+judgeCost) > pairs {
		found.roughly(fitting, most)
		return found
	}
	list := binding.Takers(v.Object, open, unbound, classes(snap))
	found.Total = len(list)
	for _, b := range list {
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
func (f *Takers) roughly(fitting []fit, most int) {
	f.Exact, f.Total = false, len(fitting)
	for _, atOnce := range [...]bool{true, false} {
		for _, c := range fitting {
			if c.delayed == atOnce {
				continue
			}
			if atOnce {
				f.AtOnce++
			}
			if len(f.List) < most {
				f.List = append(f.List, Taker{
					Claim: claimRef(c.claim), Path: c.path, AtOnce: atOnce, Text: "fits; another volume may suit it better",
				})
			}
		}
	}
}

// fit is a claim that an open volume fits.
type fit struct {
	claim *corev1.PersistentVolumeClaim
	path  binding.Path
	// delayed: it waits for its first pod.
	delayed bool
}

// unboundClaims are the claims that may want a volume: those that have none,
// and those that count on this one. fitting are those of them that it fits.
func unboundClaims(snap *kube.Snapshot, v *kube.Volume, opened *corev1.PersistentVolume) (unbound []*corev1.PersistentVolumeClaim, fitting []fit) {
	record := *v
	record.Object = opened
	r := newWisher(snap)
	for _, c := range snap.Claims {
		names := c.Object.Spec.VolumeName
		switch {
		case names != v.Object.Name && (c.State.Stored == kube.Bound || binding.BindCompleted(c.Object)):
			// It has a volume, or has lost it for good.
		case names == "":
			unbound = append(unbound, c.Object)
			// Without a home: the controller does not look at nodes.
			if w := r.wish(c); w.blocking(&record) == 0 {
				fitting = append(fitting, fit{c.Object, binding.Ordinary, w.delayed})
			}
		default:
			// One that names another volume may drive a third claim here.
			unbound = append(unbound, c.Object)
			if names != v.Object.Name {
				continue
			}
			if verdict := binding.Judge(opened, c.Object, classes(snap)); verdict.Binds {
				fitting = append(fitting, fit{c.Object, verdict.Path, false})
			}
		}
	}
	return unbound, fitting
}

// openVolumes are those that the claims could take instead: open ones, and
// those reserved for one of them.
func openVolumes(snap *kube.Snapshot, claims []*corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	keys := make(map[actions.ClaimKey]bool, len(claims))
	for _, pvc := range claims {
		keys[actions.ClaimKey{Namespace: pvc.Namespace, Name: pvc.Name}] = true
	}
	var open []*corev1.PersistentVolume
	for _, v := range snap.Volumes {
		if v.State.Stored == kube.Bound && v.Tie == kube.TieHeld {
			continue // Nearly all.
		}
		switch ref := v.Object.Spec.ClaimRef; {
		case ref == nil && v.State.Phase == kube.Available, ref != nil && keys[keyOf(ref)]:
			open = append(open, v.Object)
		}
	}
	return open
}

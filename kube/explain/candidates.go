package explain

import (
	"cmp"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// Candidates are the volumes compared with a claim that is not bound.
type Candidates struct {
	// Path is the one by which the claim looks for a volume: Ordinary for any
	// that fits, ByVolumeName for the one it names.
	Path binding.Path
	// Total is how many volumes were compared, Held how many were not, as they
	// are bound to other claims.
	Total int
	Held  int
	// Fit is how many of them fit.
	Fit int
	// Known: all volumes have been read. Without it there may be more.
	Known bool
	// List has the best first: those that fit, then one that is reserved for
	// the claim, then those with the fewest reasons against them, then those of
	// the closest size. It may be shorter
	// than Total.
	List []Candidate
}

// Candidate is a volume compared with a claim.
type Candidate struct {
	Volume actions.Ref
	// Path by which the claim would come to it; None for one that is reserved
	// for another claim.
	Path binding.Path
	// Chosen: the controller chooses it, or one of several that are as good.
	Chosen bool
	// Delayed: it fits, and the scheduler chooses when a first pod is placed.
	Delayed bool
	// Why are all the reasons against it; none means that it fits.
	Why []binding.Mismatch
	// Notes are the differences that do not matter on this path.
	Notes []binding.Mismatch
}

// Fits says that nothing is against it.
func (c Candidate) Fits() bool { return len(c.Why) == 0 }

// Text is a clause that says why it does not fit, or that it does.
func (c Candidate) Text() string {
	switch {
	case !c.Fits():
		return binding.Texts(c.Why)
	case c.Delayed:
		return "fits, and waits for the claim's first pod"
	case c.Chosen:
		return "fits, and is about to be bound"
	default:
		return "fits, but another volume suits better"
	}
}

// ranked is a volume with its place among the candidates.
type ranked struct {
	volume *kube.Volume
	// own: it is reserved for the claim. against is how many reasons there are,
	// gap how far the size is off.
	own     bool
	against int
	gap     int64
}

// before says which comes first. The names, which lie further away, are looked
// at last.
func (a *ranked) before(b *ranked) bool {
	if a.own != b.own && a.against > 0 && b.against > 0 {
		return a.own
	}
	if a.against != b.against {
		return a.against < b.against
	}
	if a.gap != b.gap {
		return a.gap < b.gap
	}
	return a.volume.Object.Name < b.volume.Object.Name
}

// best keeps the first few in order.
type best struct {
	most int
	list []ranked
}

func (b *best) add(r ranked) {
	full := len(b.list) == b.most
	if full && !r.before(&b.list[b.most-1]) {
		return
	}
	at := sort.Search(len(b.list), func(i int) bool { return r.before(&b.list[i]) })
	if full {
		b.list = b.list[:b.most-1]
	}
	b.list = slices.Insert(b.list, at, r)
}

// candidatesOf compares a claim that names no volume with all volumes, each of
// which it looks at once.
func candidatesOf(snap *kube.Snapshot, c *kube.Claim, most int) *Candidates {
	w := wishOf(snap, c)
	found := &Candidates{Path: binding.Ordinary, Known: snap.Known(kube.PersistentVolumes, "")}
	first := best{most: most, list: make([]ranked, 0, most)}
	var fitting contenders
	for _, v := range snap.Volumes {
		if held(v, w.claim) {
			found.Held++
			continue
		}
		found.Total++
		misfits := w.blocking(v)
		against := misfits.count()
		if against == 0 {
			found.Fit++
			fitting.add(v)
		}
		own := v.Traits&kube.TraitReferred != 0 && misfits&misfitReserved == 0
		first.add(ranked{v, own, against, max(v.Capacity-w.bytes, w.bytes-v.Capacity)})
	}
	chosen := choices(snap, c, fitting.list())
	first.keep(chosen)
	for _, r := range first.list {
		candidate := Candidate{
			Volume: volumeRef(r.volume.Object), Path: binding.PathOf(r.volume.Object, c.Object), Chosen: chosen.contains(r.volume),
		}
		candidate.Why, candidate.Notes = w.detail(snap, r.volume)
		candidate.Delayed = candidate.Fits() && candidate.Path == binding.Ordinary && w.delayed(r.volume)
		found.List = append(found.List, candidate)
	}
	// Of those that fit, the one that is taken comes first, whatever its size.
	slices.SortStableFunc(found.List, func(a, b Candidate) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return found
}

// keep has the one that is taken among the first few, however many others are
// closer in size: the controller goes by the access modes before the size.
func (b *best) keep(c chosen) {
	if len(c.volumes) == 0 || slices.ContainsFunc(b.list, func(r ranked) bool { return c.contains(r.volume) }) {
		return
	}
	b.list[len(b.list)-1] = ranked{volume: c.volumes[0]}
}

func rank(c Candidate) int {
	switch {
	case c.Chosen:
		return 0
	case c.Fits():
		return 1
	default:
		return 2
	}
}

// named compares a claim with the one volume that it names.
func named(snap *kube.Snapshot, c *kube.Claim, v *kube.Volume) *Candidates {
	found := &Candidates{Path: binding.ByVolumeName, Known: true}
	if v == nil {
		found.Known = snap.Known(kube.PersistentVolumes, "")
		return found
	}
	verdict := binding.Judge(v.Object, c.Object, classes(snap))
	candidate := Candidate{
		Volume: volumeRef(v.Object), Path: verdict.Path, Chosen: verdict.Binds, Why: cleaned(verdict.Blocking), Notes: cleaned(verdict.Ignored),
	}
	if verdict.Binds {
		found.Fit = 1
	}
	if verdict.Path != binding.None {
		found.Path = verdict.Path
	}
	found.Total, found.List = 1, []Candidate{candidate}
	return found
}

// chosen are the volumes that the controller would choose for a claim.
type chosen struct {
	volumes []*kube.Volume
}

func (c chosen) contains(v *kube.Volume) bool {
	return slices.ContainsFunc(c.volumes, func(w *kube.Volume) bool { return w.Object.Name == v.Object.Name })
}

// choices asks the rules which of the contenders are chosen.
func choices(snap *kube.Snapshot, c *kube.Claim, contenders []*kube.Volume) chosen {
	objects := make([]*corev1.PersistentVolume, len(contenders))
	for i, v := range contenders {
		objects[i] = v.Object
	}
	var found chosen
	for _, pv := range binding.Choices(c.Object, objects, classes(snap)) {
		if v := snap.Volume(pv.Name); v != nil {
			found.volumes = append(found.volumes, v)
		}
	}
	return found
}

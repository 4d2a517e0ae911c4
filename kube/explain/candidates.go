package explain

import (
	"cmp"
	"slices"
	"strings"

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
	// List has the best first: those that fit, then those with the fewest
	// reasons against them, then those of the closest size. It may be shorter
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
	// against is how many reasons there are, gap how far the size is off.
	against int
	gap     int64
}

func (a ranked) compare(b ranked) int {
	return cmp.Or(
		cmp.Compare(a.against, b.against),
		cmp.Compare(a.gap, b.gap),
		strings.Compare(a.volume.Object.Name, b.volume.Object.Name),
	)
}

// best keeps the first few in order.
type best struct {
	most int
	list []ranked
}

func (b *best) add(r ranked) {
	if len(b.list) == b.most && r.compare(b.list[b.most-1]) >= 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(b.list, r, ranked.compare)
	if len(b.list) == b.most {
		b.list = b.list[:b.most-1]
	}
	b.list = slices.Insert(b.list, at, r)
}

// candidatesOf compares a claim that names no volume with all volumes.
func candidatesOf(snap *kube.Snapshot, c *kube.Claim, most int) *Candidates {
	w := wishOf(snap, c)
	found := &Candidates{Path: binding.Ordinary, Known: snap.Known(kube.PersistentVolumes, "")}
	first := best{most: most}
	var fitting []*kube.Volume
	for _, v := range snap.Volumes {
		if held(v, c.Object) {
			found.Held++
			continue
		}
		found.Total++
		against := w.blocking(v).count()
		if against == 0 {
			fitting = append(fitting, v)
		}
		first.add(ranked{v, against, max(v.Capacity-w.bytes, w.bytes-v.Capacity)})
	}
	found.Fit = len(fitting)
	chosen := choices(snap, c, fitting)
	for _, r := range first.list {
		candidate := Candidate{
			Volume: volumeRef(r.volume.Object), Path: binding.PathOf(r.volume.Object, c.Object), Chosen: chosen.contains(r.volume),
		}
		candidate.Why, candidate.Notes = w.detail(snap, r.volume)
		candidate.Delayed = candidate.Fits() && candidate.Path == binding.Ordinary && w.delayed
		found.List = append(found.List, candidate)
	}
	// Of those that fit, the one that is taken comes first, whatever its size.
	slices.SortStableFunc(found.List, func(a, b Candidate) int {
		return cmp.Compare(rank(a), rank(b))
	})
	return found
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

// choices asks the rules which of the fitting volumes are chosen.
func choices(snap *kube.Snapshot, c *kube.Claim, fitting []*kube.Volume) chosen {
	contenders := contend(fitting)
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

// held says that a volume is bound to another claim. Most are, and their
// records tell.
func held(v *kube.Volume, pvc *corev1.PersistentVolumeClaim) bool {
	return v.State.Stored == kube.Bound && (v.Tie == kube.TieHeld && pvc.Spec.VolumeName == "" || !reservedFor(v.Object, pvc))
}

// league is what is searched as one: volumes of equal access modes, and of one
// class, as a claim without a class is searched for twice.
type league struct {
	modes uint8
	class string
}

// mostTies is how many equally good volumes are kept of a league.
const mostTies = 64

// contend leaves those of the fitting volumes that can be chosen at all: of
// each league the smallest, and those that are reserved. The rest is larger,
// and would be looked at in vain.
func contend(fitting []*kube.Volume) []*kube.Volume {
	if len(fitting) <= mostTies {
		return fitting
	}
	var kept []*kube.Volume
	leagues := map[league][]*kube.Volume{}
	for _, v := range fitting {
		if v.Object.Spec.ClaimRef != nil {
			kept = append(kept, v)
			continue
		}
		key := league{modeBits(v.Object.Spec.AccessModes), v.Class}
		best := leagues[key]
		switch {
		case len(best) > 0 && v.Capacity > best[0].Capacity:
		case len(best) > 0 && v.Capacity == best[0].Capacity:
			if len(best) < mostTies {
				leagues[key] = append(best, v)
			}
		default:
			leagues[key] = append(best[:0], v)
		}
	}
	for _, best := range leagues {
		kept = append(kept, best...)
	}
	return kept
}

// modeBits are the modes that the controller's index knows (index.go).
func modeBits(modes []corev1.PersistentVolumeAccessMode) uint8 {
	var set uint8
	for _, m := range modes {
		switch m {
		case corev1.ReadWriteOnce:
			set |= 1
		case corev1.ReadOnlyMany:
			set |= 2
		case corev1.ReadWriteMany:
			set |= 4
		case corev1.ReadWriteOncePod:
			set |= 8
		}
	}
	return set
}

// volumesFor are the volumes that could be chosen for a claim: a search for
// one among all of them would look at many that can't.
func volumesFor(snap *kube.Snapshot, c *kube.Claim) []*kube.Volume {
	w := wishOf(snap, c)
	// The controller does not look at nodes.
	w.home = nil
	var fitting []*kube.Volume
	for _, v := range snap.Volumes {
		if held(v, c.Object) {
			continue
		}
		if w.blocking(v) == 0 {
			fitting = append(fitting, v)
		}
	}
	return fitting
}

package explain

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// pairs bounds how many claims and open volumes are compared to find out who
// would take a volume; judgeCost is what one look at a claim alone costs, in
// comparisons.
const (
	pairs     = 200_000
	judgeCost = 20
)

// demand is who may want a volume if it were open.
type demand struct {
	snap *kube.Snapshot
	most int
	// opened is the record of the volume as it would be, whole the same with its
	// size in whole bytes.
	opened *kube.Volume
	whole  *kube.Volume
	wisher *wisher
	// total is how many claims have no volume, or count on this one; claims are
	// they, for as long as there are few enough to be compared.
	total  int
	claims []*kube.Claim
	// atOnce and later are those whom it fits.
	atOnce, later sample
}

// sample is a number of claims and the first few of them.
type sample struct {
	total int
	first []fit
}

// fit is a claim that an open volume fits.
type fit struct {
	claim *corev1.PersistentVolumeClaim
	path  binding.Path
}

// newDemand goes through all claims once.
func newDemand(snap *kube.Snapshot, v *kube.Volume, most int) *demand {
	opened := *v
	opened.Object = binding.Opened(v.Object)
	opened.Traits = kube.VolumeTraits(opened.Object)
	whole := opened
	whole.Traits &^= kube.TraitFraction
	d := &demand{snap: snap, most: most, opened: &opened, whole: &whole, wisher: newWisher(snap)}
	var its *kube.Claim
	if ref := v.Object.Spec.ClaimRef; ref != nil {
		its = snap.Claim(ref.Namespace, ref.Name)
	}
	for _, c := range snap.Claims {
		// A claim and a volume that hold each other name each other.
		if c.Tie != kube.TieHeld || c.State.Stored != kube.Bound || c == its {
			d.add(c)
		}
	}
	return d
}

func (d *demand) add(c *kube.Claim) {
	if c.Traits&kube.TraitNames == 0 {
		if c.State.Stored == kube.Bound || c.Traits&kube.TraitMarked != 0 {
			return // It has a volume, or has lost it for good.
		}
		d.count(c)
		// Without a home: the controller does not look at nodes.
		if w := d.wisher.wish(c); w.fits(d.opened) {
			d.fits(c, binding.Ordinary, w.delayed(d.opened))
		}
		return
	}
	if c.Object.Spec.VolumeName != d.opened.Object.Name {
		// One that names another volume may drive a third claim here.
		if c.State.Stored != kube.Bound && c.Traits&kube.TraitMarked == 0 {
			d.count(c)
		}
		return
	}
	d.count(c)
	if c.Traits&kube.TraitMarked != 0 {
		d.fits(c, binding.Rebind, false) // Nothing is compared.
		return
	}
	// Whole bytes are compared, and no default class is filled in
	// (pv_controller.go, checkVolumeSatisfyClaim).
	w := d.wisher.wish(c)
	w.filled = w.class
	w.traits &^= kube.TraitFraction
	if m, _ := w.unlabelled(d.whole); m == 0 {
		d.fits(c, binding.ByVolumeName, false)
	}
}

func (d *demand) count(c *kube.Claim) {
	if d.total++; d.total*judgeCost <= pairs {
		d.claims = append(d.claims, c)
	}
}

func (d *demand) fits(c *kube.Claim, path binding.Path, delayed bool) {
	s := &d.atOnce
	if delayed {
		s = &d.later
	}
	if s.total++; len(s.first) < d.most {
		s.first = append(s.first, fit{c.Object, path})
	}
}

// crowd are claims that are alike in all that the rules ask, so that they would
// choose the same. More than one of them wants what one of them wants.
type crowd struct {
	claims []*kube.Claim
	// chosen are the volumes that each would choose, once that was asked.
	chosen []*corev1.PersistentVolume
	asked  bool
}

// likeness is what claims of a crowd have in common.
type likeness struct {
	class, attributes string
	set               bool
	bytes             int64
	traits            kube.Traits
	selector          *selector
}

// market is the demand and what is on offer: the open volumes, and those that
// are reserved for one of the claims.
type market struct {
	*demand
	// open is how many volumes there are, offers those that are nobody's.
	open     int
	offers   []*kube.Volume
	reserved map[actions.ClaimKey][]*kube.Volume
	// crowds by likeness and by claim; alone are those that are like no other.
	crowds map[likeness]*crowd
	of     map[*corev1.PersistentVolumeClaim]*crowd
}

func (d *demand) market() *market {
	m := &market{
		demand: d, offers: []*kube.Volume{d.opened},
		reserved: make(map[actions.ClaimKey][]*kube.Volume, len(d.claims)),
		crowds:   map[likeness]*crowd{}, of: map[*corev1.PersistentVolumeClaim]*crowd{},
	}
	for _, c := range d.claims {
		m.reserved[actions.ClaimKey{Namespace: c.Object.Namespace, Name: c.Object.Name}] = nil
	}
	for _, v := range d.snap.Volumes {
		if v.State.Stored == kube.Bound && v.Tie == kube.TieHeld {
			continue // Nearly all.
		}
		if v.Traits&kube.TraitReferred == 0 {
			if v.State.Phase == kube.Available {
				m.open++
				if v.Object.Name != d.opened.Object.Name {
					m.offers = append(m.offers, v)
				}
			}
			continue
		}
		key := keyOf(v.Object.Spec.ClaimRef)
		if list, wanted := m.reserved[key]; wanted {
			m.open++
			if v.Object.Name != d.opened.Object.Name {
				m.reserved[key] = append(list, v)
			}
		}
	}
	return m
}

// takers asks the rules about two claims of each crowd, as that many compete
// like more, and answers for the rest like for those.
func (m *market) takers() []binding.Taker {
	var asked []*corev1.PersistentVolumeClaim
	for _, c := range m.claims {
		crowd := m.crowd(c)
		if crowd.claims = append(crowd.claims, c); len(crowd.claims) <= 2 {
			asked = append(asked, c.Object)
		}
	}
	var all []binding.Taker
	for _, t := range binding.TakersBy(m.opened.Object, asked, classes(m.snap), m.choose) {
		all = append(all, t)
		if crowd := m.of[t.Claim]; len(crowd.claims) > 2 && crowd.claims[0].Object == t.Claim {
			for _, c := range crowd.claims[2:] {
				like := t
				like.Claim = c.Object
				all = append(all, like)
			}
		}
	}
	slices.SortStableFunc(all, binding.Taker.Compare)
	return all
}

// crowd finds those who are like a claim. One that names a volume, has one of
// its own, or asks for what has no trait, is taken to be like no other.
func (m *market) crowd(c *kube.Claim) *crowd {
	const odd = kube.TraitNames | kube.TraitMarked | kube.TraitFraction | kube.TraitOtherMode
	found := &crowd{}
	if c.Traits&odd == 0 && len(m.own(c.Object)) == 0 {
		w := m.wisher.wish(c)
		key := likeness{class: w.class, attributes: w.attributes, set: c.Class.Set, bytes: w.bytes, traits: w.traits}
		if w.selector != nil {
			key.selector = m.wisher.selector(w.selector)
		}
		if m.crowds[key] == nil {
			m.crowds[key] = found
		}
		found = m.crowds[key]
	}
	if len(found.claims) < 2 {
		m.of[c.Object] = found
	}
	return found
}

func (m *market) own(pvc *corev1.PersistentVolumeClaim) []*kube.Volume {
	return m.reserved[actions.ClaimKey{Namespace: pvc.Namespace, Name: pvc.Name}]
}

// choose is what the rules would choose for a claim that names no volume. Of
// the volumes on offer, only those are laid before them that may be chosen.
func (m *market) choose(pvc *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	crowd := m.of[pvc]
	if crowd.asked {
		return crowd.chosen
	}
	crowd.asked = true
	w := m.wisher.wish(crowd.claims[0])
	var found contenders
	for _, v := range m.offers {
		if w.fits(v) {
			found.add(v)
		}
	}
	for _, v := range m.own(pvc) {
		if w.fits(v) {
			found.add(v)
		}
	}
	if len(found.reserved) == 0 && w.traits&kube.TraitOtherMode == 0 {
		crowd.chosen = found.chosen(&w)
	} else {
		objects := make([]*corev1.PersistentVolume, 0, len(found.reserved))
		for _, v := range found.list() {
			objects = append(objects, v.Object)
		}
		crowd.chosen = binding.Choices(pvc, objects, classes(m.snap))
	}
	return crowd.chosen
}

// chosen is what binding.Choices says of contenders of which none is reserved,
// found without an index of them: of those of the class that is tried first, the
// smallest of those that offer the fewest modes. A test holds the two together.
func (c *contenders) chosen(w *wish) []*corev1.PersistentVolume {
	for _, class := range slices.Compact([]string{w.class, w.filled}) {
		if class == w.filled && w.waits {
			return nil // The scheduler's to choose.
		}
		fewest := math.MaxInt
		var found []*corev1.PersistentVolume
		for i := range c.leagues {
			l := &c.leagues[i]
			n := l.modes.Modes()
			if l.class != class || n > fewest {
				continue
			}
			if n < fewest {
				fewest, found = n, found[:0]
			}
			found = append(found, l.exactly()...)
		}
		if len(found) > 0 {
			slices.SortFunc(found, func(a, b *corev1.PersistentVolume) int { return strings.Compare(a.Name, b.Name) })
			return found
		}
	}
	return nil
}

// exactly leaves the smallest of the league where sizes differ by less than a
// byte.
func (l *league) exactly() []*corev1.PersistentVolume {
	var found []*corev1.PersistentVolume
	for _, v := range l.smallest {
		if len(found) > 0 {
			a, b := v.Object.Spec.Capacity[corev1.ResourceStorage], found[0].Spec.Capacity[corev1.ResourceStorage]
			switch order := a.Cmp(b); {
			case order > 0:
				continue
			case order < 0:
				found = found[:0]
			}
		}
		found = append(found, v.Object)
	}
	return found
}

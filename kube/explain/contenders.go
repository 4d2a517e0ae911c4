package explain

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
)

// held says that a volume is bound to another claim. Most are, and their
// records tell.
func held(v *kube.Volume, pvc *corev1.PersistentVolumeClaim) bool {
	return v.State.Stored == kube.Bound && (v.Tie == kube.TieHeld && pvc.Spec.VolumeName == "" || !reservedFor(v.Object, pvc))
}

// mostTies is how many equally good volumes are kept of a league.
const mostTies = 64

// league is what is searched as one: volumes of equal access modes, and of one
// class, as a claim without a class is searched for twice. Of those that were
// added only the smallest are left: the others would be looked at in vain.
type league struct {
	modes    kube.Traits
	class    string
	capacity int64
	smallest []*kube.Volume
}

// contenders are those of the volumes that fit a claim that can be chosen for
// it at all.
type contenders struct {
	leagues []league
	// reserved are those that are the claim's own.
	reserved []*kube.Volume
}

func (c *contenders) add(v *kube.Volume) {
	if v.Traits&kube.TraitReferred != 0 {
		c.reserved = append(c.reserved, v)
		return
	}
	l := c.league(v.Traits&kube.TraitModes, v.Class)
	switch {
	case len(l.smallest) == 0 || v.Capacity < l.capacity:
		l.capacity, l.smallest = v.Capacity, append(l.smallest[:0], v)
	case v.Capacity == l.capacity && len(l.smallest) < mostTies:
		l.smallest = append(l.smallest, v)
	}
}

// league finds one of a few.
func (c *contenders) league(modes kube.Traits, class string) *league {
	for i := range c.leagues {
		if l := &c.leagues[i]; l.modes == modes && l.class == class {
			return l
		}
	}
	c.leagues = append(c.leagues, league{modes: modes, class: class})
	return &c.leagues[len(c.leagues)-1]
}

func (c *contenders) list() []*kube.Volume {
	all := c.reserved
	for _, l := range c.leagues {
		all = append(all, l.smallest...)
	}
	return all
}

// volumesFor are the volumes that can be chosen for a claim: a search for one
// among all of them would look at many that can't.
func volumesFor(snap *kube.Snapshot, c *kube.Claim) []*kube.Volume {
	w := wishOf(snap, c)
	var found contenders
	for _, v := range snap.Volumes {
		if !held(v, c.Object) && w.fits(v) {
			found.add(v)
		}
	}
	return found.list()
}

package explain

import (
	"maps"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// misfits are the respects in which a volume and a claim do not fit, as bits.
// They are binding's mismatches, found without their texts: a cluster has far
// more volumes than are ever told one by one. A test holds the two together.
type misfits uint16

const (
	misfitDeletion misfits = 1 << iota
	misfitCapacity
	misfitModes
	misfitVolumeMode
	misfitClass
	misfitAttributes
	// misfitSelector: it does not match, or can't be parsed so that nothing fits.
	misfitSelector
	misfitPhase
	misfitReserved
	// misfitNodes is none of binding's: the controller does not look at nodes,
	// the scheduler does.
	misfitNodes
)

func (m misfits) count() int { return bits.OnesCount16(uint16(m)) }

// wish is what a claim that names no volume asks for.
type wish struct {
	claim  *corev1.PersistentVolumeClaim
	traits kube.Traits
	bytes  int64
	// class is what is asked for; filled is what takes its place for a volume
	// that has a class, when the claim says nothing (pv_controller.go,
	// syncUnboundClaim).
	class, filled string
	attributes    string
	// selector is nil where any labels will do; wisher reads it when it comes
	// to that.
	selector *metav1.LabelSelector
	read     *selector
	wisher   *wisher
	// waits: a claim of the filled class waits for its first pod.
	waits bool
	// home is where volumes may be used, if that is to be compared.
	home *home
}

// wisher reads what claims ask for. What it looks up of the classes it keeps,
// as it may be asked about all claims of a cluster.
type wisher struct {
	snap *kube.Snapshot
	// byDefault is the default class, or "".
	byDefault string
	waits     map[string]bool
	// selectors that were read, by what they say; last is the one before.
	selectors map[string]*selector
	last      *selector
}

func newWisher(snap *kube.Snapshot) *wisher {
	w := &wisher{snap: snap, waits: map[string]bool{}, selectors: map[string]*selector{}}
	for _, c := range snap.Classes {
		w.waits[c.Object.Name] = delays(c.Object)
		if c.Effective {
			w.byDefault = c.Object.Name
		}
	}
	return w
}

func (r *wisher) wish(c *kube.Claim) wish {
	w := wish{claim: c.Object, traits: c.Traits, bytes: c.Request, class: c.Class.Name, filled: c.Class.Name, wisher: r}
	if !c.Class.Set {
		w.filled = r.byDefault
	}
	w.waits = r.waits[w.filled]
	if c.Traits&kube.TraitAttributes != 0 {
		w.attributes = orEmpty(c.Object.Spec.VolumeAttributesClassName)
	}
	if c.Traits&kube.TraitSelects != 0 {
		w.selector = c.Object.Spec.Selector
	}
	return w
}

// wishOf is what one claim asks for. Where the scheduler chooses, with the
// nodes in mind, so does it.
func wishOf(snap *kube.Snapshot, c *kube.Claim) *wish {
	w := newWisher(snap).wish(c)
	if w.waits {
		w.home = newHome(snap)
	}
	return &w
}

// delayed says that it is the scheduler that would give the volume to the
// claim. A claim without a class first looks among the volumes without one,
// and for those waits for nothing.
func (w *wish) delayed(v *kube.Volume) bool {
	return w.waits && (v.Class != "" || w.class == w.filled)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// reservedFor says that a volume's claimRef names a claim, and not another one
// of its name (component-helpers, IsVolumeBoundToClaim).
func reservedFor(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) bool {
	ref := pv.Spec.ClaimRef
	return ref != nil && ref.Namespace == pvc.Namespace && ref.Name == pvc.Name && (ref.UID == "" || ref.UID == pvc.UID)
}

// blocking are those misfits that keep the claim from the volume. What is
// reserved for it is not compared in class, phase, labels and nodes
// (component-helpers, FindMatchingVolume).
func (w *wish) blocking(v *kube.Volume) misfits {
	m, own := w.unlabelled(v)
	if !w.labelled(v, own) {
		m |= misfitSelector
	}
	if !own && w.home != nil && w.delayed(v) && w.home.nowhere(v.Object) {
		m |= misfitNodes
	}
	return m
}

// fits says that nothing keeps the claim from the volume, the nodes aside: the
// controller does not look at them.
func (w *wish) fits(v *kube.Volume) bool {
	m, own := w.unlabelled(v)
	return m == 0 && w.labelled(v, own)
}

// unlabelled finds what does not fit without labels and nodes. It goes by the
// records, and looks at the objects only where those do not tell. own says that
// the volume is reserved for the claim.
func (w *wish) unlabelled(v *kube.Volume) (m misfits, own bool) {
	if v.Traits&kube.TraitReferred != 0 {
		if own = reservedFor(v.Object, w.claim); !own {
			m |= misfitReserved
		}
	}
	if v.Traits&kube.TraitTerminating != 0 {
		m |= misfitDeletion
	}
	either := w.traits | v.Traits
	if v.Capacity < w.bytes || v.Capacity == w.bytes && either&kube.TraitFraction != 0 && w.finerThanBytes(v.Object) {
		m |= misfitCapacity
	}
	if w.traits&kube.TraitModes&^v.Traits != 0 || w.traits&kube.TraitOtherMode != 0 && !offersAll(v.Object, w.claim) {
		m |= misfitModes
	}
	if (w.traits^v.Traits)&kube.TraitBlock != 0 {
		m |= misfitVolumeMode
	}
	if either&kube.TraitAttributes != 0 && orEmpty(v.Object.Spec.VolumeAttributesClassName) != w.attributes {
		m |= misfitAttributes
	}
	if own {
		return m, own
	}
	wanted := w.class
	if v.Class != "" {
		wanted = w.filled
	}
	if v.Class != wanted {
		m |= misfitClass
	}
	if v.Traits&kube.TraitAvailable == 0 {
		m |= misfitPhase
	}
	return m, own
}

// offersAll compares modes that have no bit.
func offersAll(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) bool {
	for _, mode := range pvc.Spec.AccessModes {
		if !slices.Contains(pv.Spec.AccessModes, mode) {
			return false
		}
	}
	return true
}

// finerThanBytes: sizes may differ by less than a byte, which the search for a
// volume minds.
func (w *wish) finerThanBytes(pv *corev1.PersistentVolume) bool {
	have, want := pv.Spec.Capacity[corev1.ResourceStorage], w.claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return have.Cmp(want) < 0
}

// labelled says that the claim's selector does not keep it from the volume. It
// has to be one that can be read even where it is not compared. Most that do
// not match differ in a label that is asked for by its value, for which nothing
// has to be read.
func (w *wish) labelled(v *kube.Volume, own bool) bool {
	if w.selector == nil {
		return true
	}
	if own {
		return w.wisher.selector(w.selector).labels != nil
	}
	have := v.Object.Labels
	if w.read == nil {
		for key, value := range w.selector.MatchLabels {
			if got, ok := have[key]; !ok || got != value {
				return false
			}
		}
		w.read = w.wisher.selector(w.selector)
	}
	return w.read.labels != nil && w.read.labels.Matches(labels.Set(have))
}

// selector is a claim's selector that was read.
type selector struct {
	spec *metav1.LabelSelector
	// labels is nil where it can't be parsed, so that nothing matches.
	labels labels.Selector
}

// selector reads a selector, once for all that say the same.
func (r *wisher) selector(spec *metav1.LabelSelector) *selector {
	if l := r.last; l != nil && (l.spec == spec || len(l.spec.MatchExpressions)+len(spec.MatchExpressions) == 0 && maps.Equal(l.spec.MatchLabels, spec.MatchLabels)) {
		return l
	}
	key := spec.String()
	found := r.selectors[key]
	if found == nil {
		found = &selector{spec: spec}
		if parsed, err := metav1.LabelSelectorAsSelector(spec); err == nil {
			found.labels = parsed
		}
		r.selectors[key] = found
	}
	r.last = found
	return found
}

// detail tells the misfits in words: all of them, whether the path looks at
// them (why) or not (notes).
func (w *wish) detail(snap *kube.Snapshot, v *kube.Volume) (why, notes []binding.Mismatch) {
	pv := v.Object
	verdict := binding.Judge(pv, w.claim, classes(snap))
	why, notes = verdict.Blocking, verdict.Ignored
	if verdict.Path == binding.None {
		// It is somebody else's. What else does not fit is told as if it were
		// nobody's.
		open := *pv
		open.Spec.ClaimRef = nil
		rest := binding.Judge(&open, w.claim, classes(snap))
		why = slices.Concat(why, rest.Blocking)
	}
	if w.home != nil && w.home.nowhere(pv) {
		m := binding.Mismatch{Kind: NoNode, Text: "no node fits the volume's node affinity (" + affinityText(pv) + ")"}
		if verdict.Path == binding.ByClaimRef || !w.delayed(v) {
			notes = append(notes, m)
		} else {
			why = append(why, m)
		}
	}
	return cleaned(why), cleaned(notes)
}

// cleaned makes the texts safe to show. The slices are nobody else's.
func cleaned(list []binding.Mismatch) []binding.Mismatch {
	for i := range list {
		list[i].Text = clean(list[i].Text)
	}
	return list
}

// NoNode is a mismatch that only the scheduler minds: no node that is known
// fits the volume's node affinity.
const NoNode binding.MismatchKind = "NoNode"

package explain

import (
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
	misfitSelector
	misfitSelectorInvalid
	misfitPhase
	misfitReserved
	// misfitNodes is none of binding's: the controller does not look at nodes,
	// the scheduler does.
	misfitNodes
)

func (m misfits) count() int { return bits.OnesCount16(uint16(m)) }

// notForReserved are those that are not compared when a volume is reserved for
// the claim (component-helpers, FindMatchingVolume).
const notForReserved = misfitClass | misfitSelector | misfitPhase | misfitNodes

// wish is what a claim that names no volume asks for.
type wish struct {
	claim *corev1.PersistentVolumeClaim
	bytes int64
	modes []corev1.PersistentVolumeAccessMode
	block bool
	// class is what is asked for; filled is what takes its place for a volume
	// that has a class, when the claim says nothing (pv_controller.go,
	// syncUnboundClaim).
	class, filled string
	attributes    string
	selector      labels.Selector
	// selectorInvalid: it can't be parsed, so that nothing fits.
	selectorInvalid bool
	// delayed: the claim waits for its first pod.
	delayed bool
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
}

func newWisher(snap *kube.Snapshot) *wisher {
	w := &wisher{snap: snap, waits: map[string]bool{}}
	for _, c := range snap.Classes {
		w.waits[c.Object.Name] = delays(c.Object)
		if c.Effective {
			w.byDefault = c.Object.Name
		}
	}
	return w
}

func (r *wisher) wish(c *kube.Claim) wish {
	spec := &c.Object.Spec
	w := wish{
		claim: c.Object, bytes: c.Request, modes: spec.AccessModes,
		block: isBlock(spec.VolumeMode), class: c.Class.Name, attributes: orEmpty(spec.VolumeAttributesClassName),
	}
	w.filled = w.class
	if !c.Class.Set {
		w.filled = r.byDefault
	}
	w.delayed = r.waits[w.filled]
	if spec.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(spec.Selector)
		w.selector, w.selectorInvalid = selector, err != nil
	}
	return w
}

// wishOf is what one claim asks for. Where the scheduler chooses, with the
// nodes in mind, so does it.
func wishOf(snap *kube.Snapshot, c *kube.Claim) *wish {
	w := newWisher(snap).wish(c)
	if w.delayed {
		w.home = newHome(snap)
	}
	return &w
}

func isBlock(m *corev1.PersistentVolumeMode) bool {
	return m != nil && *m == corev1.PersistentVolumeBlock
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

// compare finds all that does not fit.
func (w *wish) compare(v *kube.Volume) misfits {
	var m misfits
	pv := v.Object
	spec := &pv.Spec
	set := func(bit misfits, yes bool) {
		if yes {
			m |= bit
		}
	}
	set(misfitDeletion, pv.DeletionTimestamp != nil)
	set(misfitCapacity, v.Capacity < w.bytes || v.Capacity == w.bytes && w.finerThanBytes(pv))
	for _, mode := range w.modes {
		set(misfitModes, !slices.Contains(spec.AccessModes, mode))
	}
	set(misfitVolumeMode, isBlock(spec.VolumeMode) != w.block)
	wanted := w.class
	if v.Class != "" && !reservedFor(pv, w.claim) {
		wanted = w.filled
	}
	set(misfitClass, v.Class != wanted)
	set(misfitAttributes, orEmpty(spec.VolumeAttributesClassName) != w.attributes)
	set(misfitSelectorInvalid, w.selectorInvalid)
	set(misfitSelector, w.selector != nil && !w.selectorInvalid && !w.selector.Matches(labels.Set(pv.Labels)))
	set(misfitPhase, pv.Status.Phase != corev1.VolumeAvailable)
	set(misfitReserved, spec.ClaimRef != nil && !reservedFor(pv, w.claim))
	set(misfitNodes, w.home != nil && w.home.nowhere(pv))
	return m
}

// finerThanBytes: sizes may differ by less than a byte, which the search for a
// volume minds.
func (w *wish) finerThanBytes(pv *corev1.PersistentVolume) bool {
	have, want := pv.Spec.Capacity[corev1.ResourceStorage], w.claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return have.Cmp(want) < 0
}

// blocking are those misfits that keep the claim from the volume.
func (w *wish) blocking(v *kube.Volume) misfits {
	m := w.compare(v)
	if v.Object.Spec.ClaimRef != nil && m&misfitReserved == 0 {
		m &^= notForReserved
	}
	return m
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
		if verdict.Path == binding.ByClaimRef {
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

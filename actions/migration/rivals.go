package migration

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// Two operations that have to do with one workload must not be under way at
// once: one would start its pods while the other has a claim deleted, and a pod
// may come up on a new, empty volume.
//
// Each writes its note first, and then looks for the notes of others. Writes and
// looks have an order, so that of two operations at least one sees the other:
// the one that sees nobody goes on, as everybody who comes later sees its note
// and halts. Whoever sees another one can't tell whether that one has seen it,
// and so never goes on beside it. It halts, or waits for the other to be undone,
// by an order that both come to by themselves.

// rival is another unfinished operation that has to do with something that this
// one has to do with, too.
type rival struct {
	id, lead, by string
	leadUID      string
	started      time.Time
	dir          Direction
	workloads    []Workload
	// over is what both have to do with. Own: it is a volume or a claim, and not
	// only a workload.
	over string
	own  bool
	// begun: it has replaced a claim, so that it once saw itself alone.
	begun bool
	// away are its claims that are not bound to their volumes now.
	away []string
	// unread says why its note can't be read; all else is empty then, but for
	// over and lead.
	unread string
}

// rivals finds them among the other volumes, which have to be known afresh.
func (m *machine) rivals() []rival {
	if !m.s.OthersFresh {
		return nil
	}
	if m.others != nil {
		return *m.others
	}
	found, read := []rival{}, map[string]bool{m.mark(): true}
	volumes := make(map[string]*corev1.PersistentVolume, len(m.s.RelatedVolumes))
	for _, pv := range m.s.RelatedVolumes {
		volumes[pv.Name] = pv
	}
	for _, pv := range m.s.RelatedVolumes {
		note, err := Find(pv)
		if err != nil || note == nil || note.Journal == nil {
			continue
		}
		read[mark(*note.Journal)] = true
		if over := m.sharedWith(*note.Journal); over != "" && mark(*note.Journal) != m.mark() {
			r := m.rival(note, over, volumes)
			r.own = m.overlaps(*note.Journal)
			found = append(found, r)
		}
	}
	for _, pv := range m.s.RelatedVolumes {
		if r, ok := m.unreadable(pv, read); ok {
			found = append(found, r)
		}
	}
	m.others = &found
	return found
}

func (m *machine) rival(note *Found, over string, volumes map[string]*corev1.PersistentVolume) rival {
	j := *note.Journal
	r := rival{
		id: j.ID, lead: j.Lead(), by: j.By, leadUID: string(j.Volumes[0].Ref.UID), started: j.Started, dir: note.Direction, over: over,
		workloads: j.Workloads,
	}
	for _, v := range j.Volumes {
		pv := volumes[v.Ref.Name]
		r.begun = r.begun || begun(v, pv, mark(j), m.s)
		if pv == nil || !boundToItsOwn(v, pv, m.s) {
			r.away = append(r.away, claimKey(v.To).String())
		}
	}
	return r
}

// unreadable finds the mark of an operation of which nothing more can be read,
// on a volume whose claim is of a workload of this operation.
func (m *machine) unreadable(pv *corev1.PersistentVolume, read map[string]bool) (rival, bool) {
	text, ref := pv.Annotations[AnnotationPlan], pv.Spec.ClaimRef
	_, lead := pv.Annotations[AnnotationJournal]
	if text == "" && !lead || read[text] || ref == nil {
		return rival{}, false
	}
	over := m.usesClaim(refKey(ref))
	if over == "" {
		return rival{}, false
	}
	why := "its journal is not on the volume that it names"
	if _, err := Find(pv); err != nil {
		why = err.Error()
	}
	r := rival{lead: pv.Name, over: over, own: m.j.hasClaim(refKey(ref)), unread: why, dir: Forward}
	if pv.Status.Phase != corev1.VolumeBound {
		r.away = []string{refKey(ref).String()}
	}
	return r, true
}

// usesClaim names what of this operation a claim belongs to; empty for nothing.
func (m *machine) usesClaim(key actions.ClaimKey) string {
	if m.j.hasClaim(key) {
		return "claim " + key.String()
	}
	return m.using(m.j.Workloads, key)
}

// using names the workload among some whose pods use a claim; empty for none.
func (m *machine) using(workloads []Workload, key actions.ClaimKey) string {
	loads := (&draft{s: m.s}).workloads()
	for _, w := range workloads {
		if w.From != nil && templateOf(w.From, key) != "" || slices.ContainsFunc(loads, func(l workload) bool {
			return sameObject(l.ref(), w.Ref) && l.GetNamespace() == key.Namespace && l.names(key)
		}) {
			return describe(w.Ref)
		}
	}
	return ""
}

// sharedWith names what this and another operation both have to do with; empty
// for nothing.
func (m *machine) sharedWith(other Journal) string {
	for _, w := range m.j.Workloads {
		if slices.ContainsFunc(other.Workloads, func(o Workload) bool { return sameObject(o.Ref, w.Ref) }) {
			return describe(w.Ref)
		}
	}
	for _, v := range m.j.Volumes {
		if slices.ContainsFunc(other.Volumes, func(o Volume) bool { return o.Ref.Name == v.Ref.Name }) {
			return "volume " + v.Ref.Name
		}
		if over := m.using(other.Workloads, claimKey(v.To)); over != "" {
			return over
		}
	}
	for _, key := range other.Wanted().Claims {
		if over := m.usesClaim(key); over != "" {
			return over
		}
	}
	return ""
}

// overlaps says that another operation has volumes or claims of this one.
func (m *machine) overlaps(other Journal) bool {
	return slices.ContainsFunc(other.Wanted().Claims, m.j.hasClaim) || slices.ContainsFunc(m.j.Volumes, func(v Volume) bool {
		return slices.ContainsFunc(other.Volumes, func(o Volume) bool { return o.Ref.Name == v.Ref.Name })
	})
}

func (j Journal) hasClaim(key actions.ClaimKey) bool {
	return slices.ContainsFunc(j.Volumes, func(v Volume) bool {
		return v.From != nil && claimKey(v.From) == key || v.To != nil && claimKey(v.To) == key
	})
}

// begun says that an operation has replaced the claim of a volume, or has
// reserved the volume for the one to come. That is seen by what nobody else
// makes: a claim that is not the original one and names the volume, or a volume
// that waits for it. That a claim is gone may be anybody's doing.
func begun(v Volume, pv *corev1.PersistentVolume, mark string, s Scene) bool {
	if pv == nil || pv.Annotations[AnnotationPlan] != mark {
		return false
	}
	for _, as := range [...]*corev1.PersistentVolumeClaim{v.From, v.To} {
		if as == nil {
			continue
		}
		if c := s.Claims[claimKey(as)]; c != nil && c.UID != v.FromUID && c.Spec.VolumeName == pv.Name {
			return true
		}
	}
	reserved := func(ref *corev1.ObjectReference) bool {
		return ref != nil && ref.UID == "" && refKey(ref) == claimKey(v.To)
	}
	return reserved(pv.Spec.ClaimRef) && !reserved(v.ClaimRef)
}

// boundToItsOwn says that a volume has one of the claims of its operation.
func boundToItsOwn(v Volume, pv *corev1.PersistentVolume, s Scene) bool {
	for _, as := range [...]*corev1.PersistentVolumeClaim{v.From, v.To} {
		if as == nil {
			continue
		}
		c := s.Claims[claimKey(as)]
		if c != nil && c.DeletionTimestamp == nil && c.Spec.VolumeName == pv.Name &&
			pv.Status.Phase == corev1.VolumeBound && pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.UID == c.UID {
			return true
		}
	}
	return false
}

// begunHere says that this operation has replaced claims.
func (m *machine) begunHere() bool {
	return slices.ContainsFunc(m.j.Volumes, func(v Volume) bool { return begun(v, m.s.Volumes[v.Ref.Name], m.mark(), m.s) })
}

// outranks says which of two operations goes first where neither can be seen to
// have begun. Both come to the same.
func (r rival) outranks(j Journal) bool {
	return cmp.Or(
		r.started.Compare(j.Started), cmp.Compare(r.leadUID, string(j.Volumes[0].Ref.UID)), cmp.Compare(r.id, j.ID),
	) < 0
}

// has says that it has to do with a workload.
func (r rival) has(w Workload) bool {
	return r.over == describe(w.Ref) || slices.ContainsFunc(r.workloads, func(o Workload) bool { return sameObject(o.Ref, w.Ref) })
}

func (r rival) String() string {
	if r.unread != "" {
		return "the note on volume " + r.lead
	}
	text := fmt.Sprintf("operation %s on volume %s", r.id, r.lead)
	if r.by != "" {
		text += ", begun by " + r.by
		if !r.started.IsZero() {
			text += " at " + r.started.Format("2006-01-02 15:04:05 MST")
		}
		text += ","
	}
	return text
}

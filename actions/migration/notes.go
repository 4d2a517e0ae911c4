package migration

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// notes are the steps that write the journal, and Retain with it: from the
// first write on, nothing deletes the data.
func (m *machine) notes(closing, last bool) []node {
	nodes := make([]node, 0, len(m.j.Volumes))
	for i, v := range m.j.Volumes {
		pv := m.s.Volumes[v.Ref.Name]
		retain := pv != nil && pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain
		noted := m.noted(i, pv)
		title := "Set Retain on volume " + v.Ref.Name + ", and note the plan on it"
		if v.Policy == corev1.PersistentVolumeReclaimRetain {
			title = "Note the plan on volume " + v.Ref.Name
		}
		n := node{
			Step: Step{
				ID: "note/" + v.Ref.Name, Title: title,
				Why:    "Nothing may delete the data meanwhile, and whoever comes later must find how it was",
				Act:    Patch,
				Target: v.Ref,
				Patch:  m.notePatch(i, pv),
				Then:   "From now on the data are kept, whatever happens to the claim",
				Stop:   m.unnoted(),
			},
			// While the marks are taken off, the lead's go last, and then
			// nothing is left to tell but what this run remembers.
			done: noted && (retain || closing) || last && (m.run.Started || m.leadNoted()),
		}
		nodes = append(nodes, n)
	}
	return nodes
}

func (m *machine) leadNoted() bool { return m.noted(0, m.s.Volumes[m.j.Lead()]) }

// noted says whether a volume carries the marks of this operation.
func (m *machine) noted(i int, pv *corev1.PersistentVolume) bool {
	if pv == nil || pv.Annotations[AnnotationPlan] != m.mark() {
		return false
	}
	if i > 0 {
		return true
	}
	return m.found != nil && m.found.Journal != nil && m.found.ID == m.j.ID
}

// mark is what AnnotationPlan says.
func (m *machine) mark() string { return mark(m.j) }

func mark(j Journal) string { return j.ID + " " + j.Lead() }

func (m *machine) notePatch(i int, pv *corev1.PersistentVolume) json.RawMessage {
	annotations := map[string]any{AnnotationPlan: m.mark()}
	if i == 0 {
		// A Journal that came out of Draft can be written: it has been.
		annotations[AnnotationJournal], _ = m.j.Encode()
		annotations[AnnotationHolder] = m.run.Holder.encode()
	}
	patch := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	if pv != nil && pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
		patch["spec"] = map[string]any{"persistentVolumeReclaimPolicy": corev1.PersistentVolumeReclaimRetain}
	}
	return encode(patch)
}

func (h Holder) encode() string { return string(encode(h)) }

// encode writes what always can be: maps, strings and API objects.
func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return text
}

// policies are the steps that bring the volumes' policies back. They come when
// volume and claim are bound to each other by uid: under any other
// circumstances Delete would destroy the data.
func (m *machine) policies(volumes []Volume) []node {
	var nodes []node
	for _, v := range volumes {
		pv := m.s.Volumes[v.Ref.Name]
		if v.Policy == corev1.PersistentVolumeReclaimRetain || m.target(v) == nil {
			continue
		}
		if pv != nil && pv.DeletionTimestamp != nil {
			// It is to go: all that keeps the data then is Retain.
			continue
		}
		n := node{Step: Step{
			ID: "policy/" + v.Ref.Name, Title: fmt.Sprintf("Set the policy of volume %s back to %s", v.Ref.Name, v.Policy),
			Why:    "That is what it was; volume and claim are bound to each other again",
			Act:    Patch,
			Target: v.Ref,
			Patch:  encode(map[string]any{"spec": map[string]any{"persistentVolumeReclaimPolicy": v.Policy}}),
			Then:   "The volume goes with its claim again, as before",
			Stop:   "All is done but this: the policy stays Retain",
		}}
		n.done = pv != nil && pv.Spec.PersistentVolumeReclaimPolicy == v.Policy
		if !n.done && !m.side(v).isBound() {
			n.halt = fmt.Sprintf("volume %s is not bound to its claim: to set %s now could destroy the data", v.Ref.Name, v.Policy)
			n.remedy = againRemedy
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// cleanups are the steps that take the marks off, the lead's last.
func (m *machine) cleanups(volumes []Volume, last bool) []node {
	nodes := make([]node, 0, len(volumes))
	for _, v := range slices.Backward(volumes) {
		pv := m.s.Volumes[v.Ref.Name]
		marks, left := map[string]any{}, false
		keys := []string{AnnotationPlan, AnnotationJournal, AnnotationHolder, AnnotationDirection}
		if pv != nil && pv.Annotations[AnnotationWithout] != "" {
			keys = append(keys, AnnotationWithout)
		}
		for _, key := range keys {
			// Also what is not there yet: the step is rehearsed before anything
			// is noted.
			marks[key] = nil
			left = left || pv != nil && pv.Annotations[key] != ""
		}
		nodes = append(nodes, node{
			Step: Step{
				ID: "clean-up/" + v.Ref.Name, Title: "Take the note off volume " + v.Ref.Name,
				Why:    "The operation is over; the backup stays where it is",
				Act:    Patch,
				Target: v.Ref,
				Patch:  encode(map[string]any{"metadata": map[string]any{"annotations": marks}}),
				Stop:   "All is done but this note",
			},
			done: !left && last,
		})
	}
	return nodes
}

// withdrawal is all that is left to do where nothing was touched. What another
// operation has noted itself on is left to that one.
func (m *machine) withdrawal() []node {
	own := func(mark string) bool { return mark == m.mark() }
	return slices.Concat(m.policies(m.marked(own)), m.cleanups(m.marked(func(mark string) bool { return mark == "" || own(mark) }), true))
}

// marked are the volumes of the operation by the mark that they carry.
func (m *machine) marked(with func(mark string) bool) []Volume {
	return slices.DeleteFunc(slices.Clone(m.j.Volumes), func(v Volume) bool {
		return !with(m.s.Volumes[v.Ref.Name].Annotations[AnnotationPlan])
	})
}

// TakeOver is the step by which another program takes an operation over.
func TakeOver(j Journal, run Run, _ Scene) Step {
	return Step{
		ID: "take-over", Title: "Take the operation over",
		Why:    "Only one may be at work on it: the other halts before its next write",
		Act:    Patch,
		Target: j.Volumes[0].Ref,
		Patch: encode(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			AnnotationHolder: run.Holder.encode(),
		}}}),
	}
}

// TurnTo is the step by which an operation begins to walk towards the other
// end: Back undoes it, Forward goes on with it after all.
func TurnTo(j Journal, run Run, _ Scene, d Direction) Step {
	step := Step{
		ID: "turn", Title: "Undo from here on",
		Why:    "Noted on the volume, so that whoever goes on from another machine undoes it too",
		Act:    Patch,
		Target: j.Volumes[0].Ref,
	}
	var direction any = string(d)
	if d == Forward {
		step.Title, direction = "Go on with it after all", nil
	}
	step.Patch = encode(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		AnnotationDirection: direction,
		AnnotationHolder:    run.Holder.encode(),
	}}})
	return step
}

// Heading is the direction that the lead volume says, and who works on it.
func Heading(j Journal, s Scene) (Direction, Holder) {
	pv := s.Volumes[j.Lead()]
	if pv == nil {
		return Forward, Holder{}
	}
	found, err := Find(pv)
	if err != nil || found == nil {
		return Forward, Holder{}
	}
	return found.Direction, found.Holder
}

// Wanted is what a Scene has to hold for the Journal.
func (j Journal) Wanted() Wanted {
	var w Wanted
	for _, v := range j.Volumes {
		w.Volumes = append(w.Volumes, v.Ref.Name)
		for _, claim := range [...]*corev1.PersistentVolumeClaim{v.From, v.To} {
			if claim != nil {
				w.Claims = append(w.Claims, claimKey(claim))
				w.Namespaces = append(w.Namespaces, claim.Namespace)
			}
		}
	}
	for _, l := range j.Workloads {
		w.Namespaces = append(w.Namespaces, l.Ref.Namespace)
	}
	return w.sorted()
}

package migration

import (
	"fmt"
	"slices"

	"github.com/claimref/claimref/actions"
)

// workloads are those of the operation that it has to do with still. What it
// goes on without is left out only as long as it is gone: if it is there again,
// or never was gone, whoever wrote so, its pods have to be stopped and started.
func (m *machine) workloads() []Workload {
	without := m.run.Without
	if m.leadNoted() {
		without = m.found.Without
	}
	return slices.DeleteFunc(slices.Clone(m.j.Workloads), func(w Workload) bool {
		return slices.Contains(without, describe(w.Ref)) && m.gone(w)
	})
}

// gone says that a workload is not there, where its kind can be read.
func (m *machine) gone(w Workload) bool {
	if m.s.Unread[plural(w.Ref.Kind)] != "" {
		return false
	}
	switch w.Ref.Kind {
	case StatefulSetKind:
		return m.set(w) == nil
	case CronJobKind:
		return m.cronJob(w) == nil
	default:
		ref, _ := m.scaled(w)
		return ref.UID == ""
	}
}

// Leavable are the workloads that an operation can go on without: those that
// are gone. Whether somebody meant that, only a person can tell.
func Leavable(j Journal, run Run, s Scene) []actions.Ref {
	m := newMachine(j, run, s)
	if !m.leadNoted() {
		return nil
	}
	var refs []actions.Ref
	for _, w := range m.workloads() {
		if m.gone(w) {
			refs = append(refs, w.Ref)
		}
	}
	return refs
}

// Leave is the step after which an operation goes on, or is undone, without a
// workload: no step starts it, makes it anew or waits for it. It is noted on the
// volume, so that any machine does the same. False where the workload is not one
// of Leavable.
func Leave(j Journal, run Run, s Scene, ref actions.Ref) (Step, bool) {
	leavable := Leavable(j, run, s)
	if !slices.ContainsFunc(leavable, func(r actions.Ref) bool { return sameObject(r, ref) }) {
		return Step{}, false
	}
	without := []string{describe(ref)}
	if found := newMachine(j, run, s).found; found != nil {
		without = append(slices.Clone(found.Without), without...)
	}
	return Step{
		ID: "leave/" + ref.Namespace + "/" + ref.Name, Title: "Go on without " + describe(ref),
		Why:    "It is gone. Noted on the volume, so that whoever goes on from another machine does not make it again",
		Act:    Patch,
		Target: j.Volumes[0].Ref,
		Patch: encode(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
			AnnotationWithout: string(encode(without)),
			AnnotationHolder:  run.Holder.encode(),
		}}}),
		Then: fmt.Sprintf("Claims and volumes are brought to the end, and %s stays away", describe(ref)),
	}, true
}

package migration

import "slices"

// What it means to stop before a step depends on which way the operation walks,
// and on what has been done by then.

// onward says how it is gone on with from a rest.
func (m *machine) onward() string {
	if m.dir == Back {
		return "resume this undo from any machine, or go on with it after all"
	}
	return "resume or undo from any machine"
}

// resumable says what it means to stop once claims may be gone.
func (m *machine) resumable() string {
	return "The data are kept (policy Retain) and no other claim can get the volume; " + m.onward()
}

// pausable says what it means to stop while nothing is replaced, and pods are
// stopped.
func (m *machine) pausable() string {
	if m.dir == Back {
		return "No data are touched; the pods are stopped until you " + m.onward()
	}
	return "No data are touched; the pods are stopped until you resume or undo, from any machine"
}

// runs says what it means to stop before a step that stops pods.
func (m *machine) runs() string {
	switch {
	case m.quiet():
		return m.pausable()
	case m.dir == Back:
		return "The pods run with the claims as they are now; " + m.onward()
	}
	return unchanged
}

// unnoted says what it means to stop before an operation is noted. It may have
// lost its note in the middle.
func (m *machine) unnoted() string {
	if m.replaced() {
		return "Claims have been replaced already; " + m.onward()
	}
	return m.runs()
}

// unchanged says that nobody would notice.
const unchanged = "Nothing has changed for those who use the volume"

// quiet says that one of the workloads has no pods any more, or starts none.
func (m *machine) quiet() bool {
	return slices.ContainsFunc(m.workloads(), func(w Workload) bool {
		if w.Ref.Kind == CronJobKind {
			c := m.cronJob(w)
			return !w.Suspended && c != nil && c.Spec.Suspend != nil && *c.Spec.Suspend
		}
		_, replicas := m.scaled(w)
		return scales(w.Ref.Kind) && w.Replicas > 0 && replicas == 0
	})
}

// undeleted says what it means to stop before a claim is deleted. Others may
// have been already.
func (m *machine) undeleted() string {
	stops := slices.ContainsFunc(m.workloads(), func(w Workload) bool { return w.Replicas > 0 })
	switch {
	case m.replaced():
		return m.resumable()
	case !stops:
		return "Nothing has been deleted"
	case m.dir == Back:
		return "Nothing has been deleted; the pods are stopped until you " + m.onward()
	}
	return "Nothing has been deleted; undo starts the pods again"
}

// replaced says that one of the original claims is not there any more, or that
// one was made where there was none.
func (m *machine) replaced() bool {
	return slices.ContainsFunc(m.j.Volumes, func(v Volume) bool {
		if v.From == nil {
			return begun(v, m.s.Volumes[v.Ref.Name], m.mark(), m.s)
		}
		c := m.s.Claims[claimKey(v.From)]
		return c == nil || c.UID != v.FromUID || c.DeletionTimestamp != nil
	})
}

// inPlace says where the claims are, once they are what they shall be.
func (m *machine) inPlace() string {
	switch {
	case m.dir == Back && !m.replaced():
		return "The claims were never replaced"
	case m.dir == Back:
		return "The former claims are back already"
	case m.j.Request.Verb == RecreateClaim:
		return "The claim is there already"
	}
	return "The claims are replaced already"
}

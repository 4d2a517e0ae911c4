package views

import (
	"cmp"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// claimsKind is the table of PersistentVolumeClaims.
func claimsKind() kind[*kube.Claim] {
	k := kind[*kube.Claim]{
		title:     "Claims",
		resource:  kube.PersistentVolumeClaims,
		items:     func(s *session) []*kube.Claim { return s.snap.Claims },
		id:        func(c *kube.Claim) string { return uidID(c.Object.UID) },
		name:      func(c *kube.Claim) string { return c.Object.Namespace + "/" + c.Object.Name },
		namespace: func(c *kube.Claim) string { return c.Object.Namespace },
		values:    claimValues,
		story:     (*session).claimStory,
		tally:     func(c *kube.Claim) (kube.Phase, int64) { return c.State.Phase, max(c.Capacity, c.Request) },
		keys:      claimKeys,
		ref:       claimRef,
		unjudged:  (*session).claimUnjudged,
	}
	k.risk = func(s *session, c *kube.Claim, found []*explain.Risk, test func(string) bool) bool {
		return hasRisk(s, k, c, found, test)
	}
	k.found = func(s *session, all []*kube.Claim, each func(int, []*explain.Risk)) { s.risks.EachClaim(all, each) }
	k.columns = func(s *session) []column[*kube.Claim] { return claimColumns(s, riskColumn(s, k)) }
	return k
}

func claimRef(c *kube.Claim) actions.Ref {
	return actions.Ref{Kind: actions.ClaimKind, Namespace: c.Object.Namespace, Name: c.Object.Name, UID: c.Object.UID}
}

func claimValues(c *kube.Claim) has {
	return func(key string, test func(string) bool) bool {
		pvc := c.Object
		switch key {
		case "phase":
			return test(string(c.State.Phase)) || test(string(c.State.Stored)) && c.State.Phase == kube.Terminating
		case "class":
			return c.Class.Set && test(c.Class.Name)
		case "ns":
			return test(pvc.Namespace)
		case "mode":
			return anyMode(pvc.Spec.AccessModes, test)
		case "policy", "driver":
			// A claim has neither; its volume does.
			return false
		}
		return test(pvc.Namespace+"/"+pvc.Name) || test(c.Class.Name) || test(string(c.State.Phase)) ||
			test(pvc.Spec.VolumeName) || anyUser(c.Users, test)
	}
}

func claimColumns(s *session, risk column[*kube.Claim]) []column[*kube.Claim] {
	type claim = *kube.Claim
	by := func(f func(claim) string) func(a, b claim) int {
		return func(a, b claim) int { return cmp.Compare(f(a), f(b)) }
	}
	byName := func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
	}
	return []column[claim]{
		{
			Column:  ui.Column{Title: "NAMESPACE", Min: 11, Max: 24, Middle: true},
			cell:    func(c claim) ui.Cell { return plain(c.Object.Namespace) },
			compare: byName,
		},
		{
			Column:  ui.Column{Title: "NAME", Min: 18, Max: 44, Middle: true, Grow: true},
			cell:    func(c claim) ui.Cell { return plain(c.Object.Name) },
			compare: by(func(c claim) string { return c.Object.Name }),
		},
		{
			Column:  phaseColumn(),
			cell:    func(c claim) ui.Cell { return s.phaseCell(c.State) },
			compare: func(a, b claim) int { return cmp.Compare(phaseRank(a.State.Phase), phaseRank(b.State.Phase)) },
		},
		risk,
		{
			Column:  ui.Column{Title: "VOLUME", Min: 14, Max: 44, Middle: true, Grow: true, Priority: 1},
			cell:    claimVolumeCell,
			compare: by(func(c claim) string { return c.Object.Spec.VolumeName }),
		},
		{
			Column:  ui.Column{Title: "REQUEST", Align: ui.Right, Usual: 7, Priority: 6},
			cell:    func(c claim) ui.Cell { return plain(storage(c.Object.Spec.Resources.Requests)) },
			compare: func(a, b claim) int { return cmp.Compare(a.Request, b.Request) },
		},
		{
			Column:  ui.Column{Title: "CAPACITY", Align: ui.Right, Usual: 8, Priority: 2},
			cell:    func(c claim) ui.Cell { return plain(storage(c.Object.Status.Capacity)) },
			compare: func(a, b claim) int { return cmp.Compare(a.Capacity, b.Capacity) },
		},
		{
			Column:  ui.Column{Title: "MODES", Usual: 8, Priority: 2},
			cell:    s.claimModesCell,
			compare: by(func(c claim) string { return modes(c.Object.Spec.AccessModes) }),
		},
		{
			Column:  ui.Column{Title: "CLASS", Min: 8, Max: 24, Tail: true, Priority: 3},
			cell:    s.claimClassCell,
			compare: by(func(c claim) string { return c.Class.Name }),
		},
		{
			Column:  ui.Column{Title: "USED BY", Min: 10, Max: 28, Tail: true, Priority: 5},
			cell:    func(c claim) ui.Cell { return usedBy(c.Users, c.UsersKnown) },
			compare: func(a, b claim) int { return compareUsers(a.Users, b.Users) },
		},
		{
			Column:  ui.Column{Title: "AGE", Align: ui.Right, Usual: 5, Priority: 7},
			cell:    func(c claim) ui.Cell { return dim(age(c.Object.CreationTimestamp, s.now)) },
			compare: func(a, b claim) int { return b.Object.CreationTimestamp.Compare(a.Object.CreationTimestamp.Time) },
		},
		{
			wide: true, Column: ui.Column{Title: "VOLUME MODE", Usual: 11, Priority: 2},
			cell:    func(c claim) ui.Cell { return plain(volumeMode(c.Object.Spec.VolumeMode)) },
			compare: by(func(c claim) string { return volumeMode(c.Object.Spec.VolumeMode) }),
		},
		{
			wide: true, Column: ui.Column{Title: "ATTRIBUTES", Min: 8, Max: 16, Priority: 3},
			cell:    func(c claim) ui.Cell { return plain(deref(c.Object.Spec.VolumeAttributesClassName)) },
			compare: by(func(c claim) string { return deref(c.Object.Spec.VolumeAttributesClassName) }),
		},
		{
			wide: true, Column: ui.Column{Title: "FINALIZERS", Min: 16, Max: 40, Priority: 4},
			cell:    func(c claim) ui.Cell { return plain(finalizers(c.Object.Finalizers)) },
			compare: by(func(c claim) string { return finalizers(c.Object.Finalizers) }),
		},
	}
}

// claimVolumeCell names the volume; one that does not exist, or is bound to
// another claim, is dimmed.
func claimVolumeCell(c *kube.Claim) ui.Cell {
	if c.Tie == kube.TieAbsent || c.Tie == kube.TieOther {
		return dim(c.Object.Spec.VolumeName)
	}
	return plain(c.Object.Spec.VolumeName)
}

// claimModesCell shows the modes that the claim asks for. Where the status
// says otherwise both are shown: the volume's modes were changed under it,
// and the scheduler goes by the one, the kubelet by the other.
func (s *session) claimModesCell(c *kube.Claim) ui.Cell {
	want := modes(c.Object.Spec.AccessModes)
	if !c.ModesDiffer {
		return plain(want)
	}
	return ui.Cell{{Text: want + s.glyph("≠", "!=") + modes(c.Object.Status.AccessModes), Role: ui.Warn}}
}

// claimClassCell tells a class that is not set (and may be filled in by the
// default) from one set to "" (which never is).
func (s *session) claimClassCell(c *kube.Claim) ui.Cell {
	switch {
	case !c.Class.Set:
		return dim("<unset>")
	case c.Class.Name == "":
		return dim(`""`)
	default:
		return s.classCell(c.Class.Name)
	}
}

package views

import (
	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// hasPage says that there are details of a kind.
func hasPage(k actions.Kind) bool {
	return k == actions.VolumeKind || k == actions.ClaimKind || k == actions.ClassKind
}

// openRef shows the details of an object.
func (s *session) openRef(ref actions.Ref) tea.Cmd {
	switch ref.Kind {
	case actions.VolumeKind:
		if v := s.volumeNamed(ref.Name); v != nil {
			return s.openVolume(v, false)
		}
	case actions.ClaimKind:
		if c := s.claimNamed(ref.Namespace, ref.Name); c != nil {
			return s.openClaim(c, false)
		}
	case actions.ClassKind:
		if c := s.snap.Class(ref.Name); c != nil {
			return s.openClass(c, false)
		}
	}
	s.nav.Notify(ui.Notice, "It is gone, or can't be seen.")
	return nil
}

// jumpTo selects an object in its table.
func (s *session) jumpTo(ref actions.Ref, from place) tea.Cmd {
	switch ref.Kind {
	case actions.VolumeKind:
		if v := s.volumeNamed(ref.Name); v != nil {
			return s.jump(from, volumesTab, uidID(v.Object.UID))
		}
	case actions.ClaimKind:
		if c := s.claimNamed(ref.Namespace, ref.Name); c != nil {
			return s.jump(from, claimsTab, uidID(c.Object.UID))
		}
	case actions.ClassKind:
		if c := s.snap.Class(ref.Name); c != nil {
			return s.jump(from, classesTab, uidID(c.Object.UID))
		}
	}
	s.nav.Notify(ui.Notice, "It is gone.")
	return nil
}

// explainRef explains an object of a snapshot; false when it is not there, or
// is another one of the same name.
func explainRef(snap *kube.Snapshot, ref actions.Ref, ask explain.Ask) (explain.Explanation, bool) {
	switch ref.Kind {
	case actions.VolumeKind:
		if v := snap.Volume(ref.Name); v != nil && v.Object.UID == ref.UID {
			return explain.Volume(snap, v, ask), true
		}
	case actions.ClaimKind:
		if c := snap.Claim(ref.Namespace, ref.Name); c != nil && c.Object.UID == ref.UID {
			return explain.Claim(snap, c, ask), true
		}
	case actions.ClassKind:
		if c := snap.Class(ref.Name); c != nil && c.Object.UID == ref.UID {
			return explain.Class(snap, c, ask), true
		}
	}
	return explain.Explanation{}, false
}

// onlyStorage is why there is no timeline of anything else.
const onlyStorage = "only volumes and claims have one"

// lookKeys open what else there is to see of an object.
func (s *session) lookKeys(ref func() (actions.Ref, string)) []ui.Binding {
	why := func() string { _, why := ref(); return why }
	open := func(do func(actions.Ref) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd { r, _ := ref(); return do(r) }
	}
	noTimeline := func() string {
		r, why := ref()
		if why == "" && r.Kind == actions.ClassKind {
			return onlyStorage
		}
		return why
	}
	return []ui.Binding{
		{Keys: []string{"t"}, Title: "tree", Help: "what it has to do with: class, volume, claim, pods, nodes", Group: "Look", Hint: true, Disabled: why, Do: open(s.openTree)},
		{Keys: []string{"T"}, Title: "timeline", Help: "what happened to a volume or claim, and who did it", Group: "Look", Hint: noTimeline() != onlyStorage, Disabled: noTimeline, Do: open(s.openTimeline)},
	}
}

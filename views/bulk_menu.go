package views

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// bulkMost bounds how many volumes are changed by one approval: so many
// differences that a person can still look through them, and the requests that
// they take.
const bulkMost = 500

// openVolumeActions shows the actions on the marked volumes, or those on the
// selected one if none is marked.
func (s *session) openVolumeActions(v *kube.Volume) tea.Cmd {
	marked := s.markedVolumes()
	if len(marked) == 0 {
		return s.openActions(v, s.protectVolumes())
	}
	s.nav.Open(ui.NewMenu("Actions on "+count(len(marked), "marked volume"), append(s.markedEntries(marked), s.protectVolumes())))
	return nil
}

// markedVolumes are those with a mark, in the order of the table.
func (s *session) markedVolumes() []*kube.Volume {
	marks := make(map[string]bool)
	for _, id := range s.volumes.table.Marked() {
		marks[id] = true
	}
	return volumesThat(s.volumes.rows, func(v *kube.Volume) bool { return marks[uidID(v.Object.UID)] })
}

func volumesThat(list []*kube.Volume, is func(*kube.Volume) bool) []*kube.Volume {
	var found []*kube.Volume
	for _, v := range list {
		if is(v) {
			found = append(found, v)
		}
	}
	return found
}

func notRetain(v *kube.Volume) bool {
	return v.Object.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain
}

// markedEntries are the actions on marked volumes, each with how many of them
// it is for.
func (s *session) markedEntries(marked []*kube.Volume) []ui.Entry {
	open := len(volumesThat(marked, notRetain))
	released := volumesThat(marked, func(v *kube.Volume) bool { return v.State.Phase == kube.Released && v.Object.Spec.ClaimRef != nil })
	tied := volumesThat(marked, func(v *kube.Volume) bool {
		return v.Object.Spec.ClaimRef != nil && (v.State.Phase == kube.Released || v.State.Phase == kube.Reserved)
	})
	return []ui.Entry{
		s.bulkEntry("p", "Protect "+count(len(marked), "volume"), fmt.Sprintf("set policy Retain; %d of them %s another one now", open, verb(open, "has", "have")),
			ifNone(open, "all of them are Retain already"), actions.Protect, marked),
		s.bulkEntry("r", fmt.Sprintf("Reserve %d for their former claims", len(released)), "those that are Released",
			ifNone(len(released), "none of them is Released"), actions.ReserveFormer, released),
		s.bulkEntry("u", fmt.Sprintf("Unreserve %d", len(tied)), "open to any claim, if it is certain who takes what",
			ifNone(len(tied), "none of them is Released or Reserved"), actions.UnreserveAll, tied),
	}
}

// protectVolumes is the one action on all volumes that their table shows.
func (s *session) protectVolumes() ui.Entry {
	return s.protectShown(s.volumes.query, s.volumes.rows, "of "+count(len(s.volumes.rows), "volume"))
}

// protectClaims is the same for the volumes of the claims that their table
// shows. One that another claim holds is not shown with it.
func (s *session) protectClaims() ui.Entry {
	var volumes []*kube.Volume
	for _, c := range s.claims.rows {
		if v := s.volumeOf(c); v != nil && owns(c, v) {
			volumes = append(volumes, v)
		}
	}
	return s.protectShown(s.claims.query, volumes, fmt.Sprintf("of %s of %s", count(len(volumes), "volume"), count(len(s.claims.rows), "claim")))
}

// protectAtRisk is the same for the volumes that the shown risks are about, each
// of them once.
func (s *session) protectAtRisk() ui.Entry {
	seen := make(map[string]bool)
	var volumes []*kube.Volume
	for _, r := range s.dangers.rows {
		v := s.volumeAtRisk(r)
		if v == nil || seen[v.Object.Name] {
			continue
		}
		if c := s.claimNamed(r.Object.Namespace, r.Object.Name); r.Object.Kind == actions.ClaimKind && (c == nil || !owns(c, v)) {
			continue
		}
		seen[v.Object.Name] = true
		volumes = append(volumes, v)
	}
	return s.protectShown(s.dangers.query, volumes, "of "+count(len(volumes), "volume"))
}

// owns says that a volume is a claim's: they name each other, by uid as soon
// as there is one.
func owns(c *kube.Claim, v *kube.Volume) bool {
	ref := v.Object.Spec.ClaimRef
	return ref != nil && claimOf(v.Object) == c.Object.Namespace+"/"+c.Object.Name && (ref.UID == "" || ref.UID == c.Object.UID)
}

// protectShown is the one action on all that a table shows: on no other
// volumes than those.
func (s *session) protectShown(q query, shown []*kube.Volume, of string) ui.Entry {
	open := volumesThat(shown, notRetain)
	title, why := "Protect all shown", "all of them are Retain already"
	if !q.empty() {
		title = "Protect all that match the filter"
	}
	if len(shown) == 0 {
		why = "none that is shown has a volume of its own"
	}
	return s.bulkEntry("P", title, fmt.Sprintf("set policy Retain on %d %s", len(open), of), ifNone(len(open), why), actions.Protect, open)
}

func ifNone(n int, why string) string {
	if n == 0 {
		return why
	}
	return ""
}

func (s *session) bulkEntry(key, title, note, why string, wish func([]*corev1.PersistentVolume) actions.Bulk, volumes []*kube.Volume) ui.Entry {
	switch {
	case s.opts.ReadOnly:
		why = "started with --read-only: nothing is written"
	case why == "" && len(volumes) > bulkMost:
		why = fmt.Sprintf("%d volumes are too many to look through at once, at most %d; filter for fewer", len(volumes), bulkMost)
	}
	return ui.Entry{Key: key, Title: title, Note: note, Disabled: why, Do: func() tea.Cmd {
		objects := make([]*corev1.PersistentVolume, len(volumes))
		for i, v := range volumes {
			objects[i] = v.Object
		}
		return s.openBulk(wish(objects))
	}}
}

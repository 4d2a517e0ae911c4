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
		return s.openActions(v)
	}
	s.nav.Open(ui.NewMenu("Actions on "+count(len(marked), "marked volume"), append(s.markedEntries(marked), s.protectShown()...)))
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
		s.bulkEntry("p", "Protect "+count(len(marked), "volume"), fmt.Sprintf("set policy Retain; %d of them have another one now", open),
			ifNone(open, "all of them are Retain already"), actions.Protect, marked),
		s.bulkEntry("r", fmt.Sprintf("Reserve %d for their former claims", len(released)), "those that are Released",
			ifNone(len(released), "none of them is Released"), actions.ReserveFormer, released),
		s.bulkEntry("u", fmt.Sprintf("Unreserve %d", len(tied)), "open to any claim, if it is certain who takes what",
			ifNone(len(tied), "none of them is Released or Reserved"), actions.UnreserveAll, tied),
	}
}

// protectShown is the one action on all volumes that the table shows.
func (s *session) protectShown() []ui.Entry {
	open := volumesThat(s.volumes.rows, notRetain)
	title := "Protect all shown"
	if !s.volumes.query.empty() {
		title = "Protect all that match the filter"
	}
	return []ui.Entry{
		s.bulkEntry("P", title, fmt.Sprintf("set policy Retain on %d of %s", len(open), count(len(s.volumes.rows), "volume")),
			ifNone(len(open), "all of them are Retain already"), actions.Protect, open),
	}
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

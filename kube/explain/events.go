package explain

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// mostEvents is how many events stand among the evidence: there is a page for
// all of them.
const mostEvents = 5

// events adds what the components said that bears on binding, provisioning and
// deleting, the newest first.
func (t *telling) events() {
	told := 0
	for _, e := range newestFirst(t.ask.Events) {
		if !matters(e) || told == mostEvents {
			continue
		}
		told++
		level := Plain
		if e.Type == corev1.EventTypeWarning {
			level = Warn
		}
		text := fmt.Sprintf("%s: %s", clean(e.Reason), message(e.Message, "no message"))
		if source := clean(e.Source); source != "" {
			text += " (" + source + ")"
		}
		if e.Count > 1 {
			text += fmt.Sprintf(", %d times", e.Count)
		}
		if !e.Time.IsZero() {
			text += ", last " + t.age(e.Time) + " ago"
		}
		t.factOf(level, "Event", text, actions.Ref{})
	}
}

func newestFirst(events []kube.Event) []kube.Event {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b kube.Event) int { return b.Time.Compare(a.Time) })
	return sorted
}

// matters picks the warnings, and those reasons that say what is waited for
// (pkg/controller/volume/events/event.go).
func matters(e kube.Event) bool {
	return e.Type == corev1.EventTypeWarning || slices.Contains([]string{
		"FailedBinding", "WaitForFirstConsumer", "WaitForPodScheduled", "ExternalProvisioning",
		"Provisioning", "ProvisioningSucceeded", "VolumeDelete", "VolumeRecycled", "RecyclerPod",
	}, e.Reason)
}

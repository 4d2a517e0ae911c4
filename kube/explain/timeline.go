package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/kube"
)

// Moment is one thing that happened to an object.
type Moment struct {
	When time.Time
	// What is a sentence without a period.
	What string
	// Who did it, or said so; empty where nobody is on record.
	Who   string
	Level Level
	// Count is how often it was said; 0 for what is no event.
	Count int
}

// VolumeTimeline is what is on record of a volume, the oldest first: events,
// and what the object itself remembers. It needs the object as the server has
// it, with its managedFields; a snapshot's has none.
func VolumeTimeline(pv *corev1.PersistentVolume, events []kube.Event) []Moment {
	l := &timeline{}
	l.meta(&pv.ObjectMeta)
	if at := pv.Status.LastPhaseTransitionTime; at != nil {
		l.add(at.Time, "Became "+phaseWord(string(pv.Status.Phase)), "", Plain)
	}
	l.events(events)
	return l.sorted()
}

// ClaimTimeline does the same for a claim.
func ClaimTimeline(pvc *corev1.PersistentVolumeClaim, events []kube.Event) []Moment {
	l := &timeline{}
	l.meta(&pvc.ObjectMeta)
	for _, c := range pvc.Status.Conditions {
		what := fmt.Sprintf("Condition %s became %s", clean(string(c.Type)), clean(string(c.Status)))
		if text := clean(c.Message); text != "" {
			what += ": " + message(text, "")
		}
		l.add(c.LastTransitionTime.Time, what, "", Plain)
	}
	l.events(events)
	return l.sorted()
}

func phaseWord(phase string) string {
	if phase == "" {
		return string(kube.Pending)
	}
	return clean(phase)
}

type timeline struct {
	moments []Moment
}

// add leaves out what has no time, as it has no place.
func (l *timeline) add(when time.Time, what, who string, level Level) {
	if !when.IsZero() {
		l.moments = append(l.moments, Moment{When: when, What: what, Who: clean(who), Level: level})
	}
}

func (l *timeline) meta(m *metav1.ObjectMeta) {
	l.add(m.CreationTimestamp.Time, "Created", "", Plain)
	for i := range m.ManagedFields {
		f := &m.ManagedFields[i]
		if f.Time == nil {
			continue
		}
		what := "Last changed"
		if f.Operation == metav1.ManagedFieldsOperationApply {
			what = "Last applied"
		}
		switch fields := managed(f.FieldsV1); {
		case len(fields) > 0:
			what += " " + few(fields)
		case f.Subresource != "":
			what += " the " + clean(f.Subresource)
		}
		l.add(f.Time.Time, what, f.Manager, Plain)
	}
	if d := m.DeletionTimestamp; d != nil {
		// The timestamp is when it is to be gone: the request came earlier by
		// the grace period, which storage objects do not have.
		asked := d.Time
		if grace := m.DeletionGracePeriodSeconds; grace != nil {
			asked = asked.Add(-time.Duration(*grace) * time.Second)
		}
		l.add(asked, "Its deletion was asked for", "", Warn)
	}
}

func (l *timeline) events(events []kube.Event) {
	for _, e := range events {
		if e.Time.IsZero() {
			continue
		}
		level := Plain
		if e.Type == corev1.EventTypeWarning {
			level = Warn
		}
		l.moments = append(l.moments, Moment{
			When: e.Time, What: clean(e.Reason) + ": " + message(e.Message, "no message"), Who: clean(e.Source), Level: level, Count: max(1, e.Count),
		})
	}
}

func (l *timeline) sorted() []Moment {
	slices.SortStableFunc(l.moments, func(a, b Moment) int { return a.When.Compare(b.When) })
	return l.moments
}

// managed names the fields of an entry of managedFields, two levels deep, such
// as spec.claimRef. What can't be read names none.
func managed(f *metav1.FieldsV1) []string {
	if f == nil {
		return nil
	}
	var top map[string]json.RawMessage
	if json.Unmarshal([]byte(f.String()), &top) != nil {
		return nil
	}
	var names []string
	for key, raw := range top {
		name, isField := strings.CutPrefix(key, "f:")
		if !isField {
			continue
		}
		var below map[string]json.RawMessage
		deeper := false
		if json.Unmarshal(raw, &below) == nil {
			for key := range below {
				if field, ok := strings.CutPrefix(key, "f:"); ok {
					names = append(names, clean(name+"."+field))
					deeper = true
				}
			}
		}
		if !deeper {
			names = append(names, clean(name))
		}
	}
	slices.Sort(names)
	return names
}

package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/claimref/claimref/actions"
)

// maxEvents bounds what is read about one object.
const maxEvents = 500

// Event is what a component had to say about an object.
type Event struct {
	// Time is when it was said last.
	Time time.Time
	// Type is Normal or Warning.
	Type    string
	Reason  string
	Message string
	// Source is the component.
	Source string
	// Count is how often it was said.
	Count int
}

// Events reads the events about an object, the newest last. They are read on
// demand: a cluster has more events than anything else, and all but a few are
// about other things.
func (c *Client) Events(ctx context.Context, ref actions.Ref) ([]Event, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	namespace := ref.Namespace
	if namespace == "" {
		// Where the recorders put what is about cluster-wide objects.
		namespace = metav1.NamespaceDefault
	}
	selectors := []fields.Selector{
		fields.OneTermEqualSelector("involvedObject.kind", string(ref.Kind)),
		fields.OneTermEqualSelector("involvedObject.name", ref.Name),
	}
	if ref.UID != "" {
		selectors = append(selectors, fields.OneTermEqualSelector("involvedObject.uid", string(ref.UID)))
	}
	list, err := c.api.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.AndSelectors(selectors...).String(),
		Limit:         maxEvents,
	})
	if err != nil {
		return nil, fmt.Errorf("list the events of %s %s: %w", ref.Kind, ref.Name, err)
	}
	events := make([]Event, 0, len(list.Items))
	for i := range list.Items {
		events = append(events, eventOf(&list.Items[i]))
	}
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return events, nil
}

// eventOf reads either form of an event: with lastTimestamp and count, or the
// newer one with eventTime and a series.
func eventOf(e *corev1.Event) Event {
	event := Event{
		Time:    e.LastTimestamp.Time,
		Type:    clean(e.Type),
		Reason:  clean(e.Reason),
		Message: clean(e.Message),
		Source:  clean(cmp.Or(e.Source.Component, e.ReportingController)),
		Count:   max(1, int(e.Count)),
	}
	if s := e.Series; s != nil {
		event.Time, event.Count = s.LastObservedTime.Time, max(event.Count, int(s.Count))
	}
	for _, t := range []time.Time{e.EventTime.Time, e.FirstTimestamp.Time, e.CreationTimestamp.Time} {
		if event.Time.IsZero() {
			event.Time = t
		}
	}
	return event
}

package kube

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/claimref/claimref/actions"
)

func TestEvents(t *testing.T) {
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)) }
	event := func(name string, change func(*corev1.Event)) *corev1.Event {
		e := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Type: "Normal", Reason: name}
		change(e)
		return e
	}
	api := fake.NewClientset(
		event("new-form", func(e *corev1.Event) {
			e.EventTime, e.ReportingController = metav1.NewMicroTime(at(1).Time), "scheduler"
			e.Series = &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(at(9).Time)}
		}),
		event("old-form", func(e *corev1.Event) {
			e.LastTimestamp, e.Count, e.Source.Component = at(5), 3, "persistentvolume-controller"
			e.Message = "volume\x1b[31m is\n bad"
		}),
		event("first-seen", func(e *corev1.Event) { e.FirstTimestamp = at(2) }),
	)
	c := &Client{api: api, timing: Timing{}.withDefaults()}
	got, err := c.Events(t.Context(), actions.Ref{Kind: actions.VolumeKind, Name: "pv", UID: "uid-pv"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{Time: at(2).Time, Type: "Normal", Reason: "first-seen", Count: 1},
		{Time: at(5).Time, Type: "Normal", Reason: "old-form", Message: "volume[31m is bad", Source: "persistentvolume-controller", Count: 3},
		{Time: at(9).Time, Type: "Normal", Reason: "new-form", Source: "scheduler", Count: 7},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	list := api.Actions()[0].(k8stesting.ListActionImpl)
	const selector = "involvedObject.kind=PersistentVolume,involvedObject.name=pv,involvedObject.uid=uid-pv"
	if list.GetNamespace() != "default" || list.ListOptions.FieldSelector != selector {
		t.Errorf("listed %s in %s", list.ListOptions.FieldSelector, list.GetNamespace())
	}
}

func TestManifest(t *testing.T) {
	pv, pvc, sc := newVolume("pv"), newClaim("a", "c"), newClass("slow", true)
	pv.Annotations = map[string]string{"note": "a\x1b[2J"}
	for _, o := range []metav1.Object{pv, pvc, sc} {
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}})
	}
	api := fake.NewClientset(pv, pvc, sc)
	c := &Client{api: api, timing: Timing{}.withDefaults()}
	for _, tt := range []struct {
		kind                  actions.Kind
		namespace, name, want string
	}{
		{"PersistentVolume", "", "pv", "apiVersion: v1\nkind: PersistentVolume\n"},
		{"PersistentVolumeClaim", "a", "c", "apiVersion: v1\nkind: PersistentVolumeClaim\n"},
		{"StorageClass", "", "slow", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\n"},
	} {
		got, err := c.Manifest(t.Context(), actions.Ref{Kind: tt.kind, Namespace: tt.namespace, Name: tt.name})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(tt.want) {
			if !strings.Contains(got, line) {
				t.Errorf("%s lacks %q:\n%s", tt.kind, line, got)
			}
		}
		if strings.Contains(got, "managedFields") || strings.Contains(got, "\x1b") {
			t.Errorf("%s:\n%s", tt.kind, got)
		}
	}
	if _, err := c.Manifest(t.Context(), actions.Ref{Kind: actions.VolumeKind, Name: "gone"}); KindOf(err) != KindNotFound {
		t.Errorf("error = %v", err)
	}
	if _, err := c.Manifest(t.Context(), actions.Ref{Kind: "Secret", Namespace: "a", Name: "s"}); err == nil {
		t.Error("a Secret was read")
	}
}

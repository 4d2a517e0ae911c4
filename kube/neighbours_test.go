package kube

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTrimNode(t *testing.T) {
	now := metav1.Now()
	for name, tt := range map[string]struct {
		change             nodeOption
		ready, terminating bool
	}{
		"ready":         {func(*corev1.Node) {}, true, false},
		"not ready":     {func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, false, false},
		"silent":        {notReady, false, false},
		"just created":  {func(n *corev1.Node) { n.Status.Conditions = nil }, false, false},
		"being deleted": {func(n *corev1.Node) { n.DeletionTimestamp = &now }, true, true},
		"under pressure": {func(n *corev1.Node) {
			n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse})
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := unpack[Node](newTrimmer().trim(newNode("n-1", tt.change)))
			want := &Node{
				Name: "n-1", UID: "uid-n-1", Ready: tt.ready, Terminating: tt.terminating,
				Labels: map[string]string{corev1.LabelHostname: "n-1", corev1.LabelTopologyZone: "zone-1"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTrimNamespace(t *testing.T) {
	now := metav1.Now()
	deleted, emptied := newNamespace("a"), newNamespace("a")
	deleted.DeletionTimestamp = &now
	emptied.Status.Phase = corev1.NamespaceTerminating
	for name, tt := range map[string]struct {
		object *corev1.Namespace
		want   bool
	}{"active": {newNamespace("a"), false}, "deleted": {deleted, true}, "being emptied": {emptied, true}} {
		got := unpack[Namespace](newTrimmer().trim(tt.object))
		if want := (Namespace{Name: "a", UID: "uid-a", Terminating: tt.want}); *got != want {
			t.Errorf("%s: record = %+v", name, got)
		}
	}
}

func TestTrimAttachment(t *testing.T) {
	at := func(minute int, message string) *storagev1.VolumeError {
		return &storagev1.VolumeError{Time: metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)), Message: message}
	}
	now := metav1.Now()
	for name, tt := range map[string]struct {
		change      func(*storagev1.VolumeAttachment)
		attached    bool
		problem     string
		terminating bool
	}{
		"attached":  {func(*storagev1.VolumeAttachment) {}, true, "", false},
		"under way": {func(a *storagev1.VolumeAttachment) { a.Status.Attached = false }, false, "", false},
		"can't be attached": {func(a *storagev1.VolumeAttachment) {
			a.Status = storagev1.VolumeAttachmentStatus{AttachError: at(1, "rpc error:\n \x1b[31mnode is gone")}
		}, false, "rpc error: [31mnode is gone", false},
		"can't be detached": {func(a *storagev1.VolumeAttachment) {
			a.DeletionTimestamp = &now
			a.Status.AttachError, a.Status.DetachError = at(1, "busy"), at(2, "still mounted")
		}, true, "still mounted", true},
		"attached again": {func(a *storagev1.VolumeAttachment) {
			a.Status.AttachError, a.Status.DetachError = at(3, "busy"), at(2, "still mounted")
		}, true, "busy", false},
		"for no reason": {func(a *storagev1.VolumeAttachment) { a.Status.DetachError = at(1, "") }, true, "no reason given", false},
	} {
		t.Run(name, func(t *testing.T) {
			object := newAttachment("csi-1", "pv", "n-1")
			tt.change(object)
			got := unpack[Attachment](newTrimmer().trim(object))
			want := &Attachment{
				Name: "csi-1", UID: "uid-csi-1", Volume: "pv", Node: "n-1", Attacher: "csi.example.com",
				Attached: tt.attached, Problem: tt.problem, Terminating: tt.terminating,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func attachedAt(v *Volume) []string {
	var nodes []string
	for _, a := range v.Attachments {
		nodes = append(nodes, a.Name+" "+a.Node)
	}
	return nodes
}

func TestAttachmentsJoinTheirVolumes(t *testing.T) {
	inline := newAttachment("csi-inline", "pv", "n-1")
	inline.Spec.Source = storagev1.VolumeAttachmentSource{InlineVolumeSpec: &corev1.PersistentVolumeSpec{}}
	s := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{newVolume("pv"), newVolume("free")},
		Attachments: []*storagev1.VolumeAttachment{
			newAttachment("csi-b", "pv", "n-1"), newAttachment("csi-a", "pv", "n-2"), newAttachment("csi-c", "gone", "n-1"), inline,
		},
	})
	if diff := cmp.Diff([]string{"csi-a n-2", "csi-b n-1"}, attachedAt(s.Volume("pv"))); diff != "" {
		t.Errorf("attachments (-want +got):\n%s", diff)
	}
	if got := s.Volume("free").Attachments; got != nil {
		t.Errorf("a volume that is attached nowhere has %v", got)
	}
}

// What an attachment does touches the volume that it is of, and no other.
func TestAttachmentTouchesItsVolumeOnly(t *testing.T) {
	m := newModel()
	step := func(r Resource, key string, object any) *Snapshot {
		t.Helper()
		if object != nil {
			object = m.trim.trim(object)
		}
		m.deliver(r, map[string]any{key: object}, false)
		m.join.rebuild()
		return m.join.snapshot()
	}
	step(PersistentVolumes, "pv", newVolume("pv"))
	before := step(PersistentVolumes, "other", newVolume("other"))
	after := step(VolumeAttachments, "csi-1", newAttachment("csi-1", "pv", "n-1"))
	if len(before.Volume("pv").Attachments) != 0 || len(after.Volume("pv").Attachments) != 1 {
		t.Error("the attachment did not arrive in the new snapshot only")
	}
	if before.Volume("other") != after.Volume("other") {
		t.Error("a volume was made anew for another one's attachment")
	}
	// Another version that says nothing new.
	if s := step(VolumeAttachments, "csi-1", newAttachment("csi-1", "pv", "n-1")); s.Volume("pv") != after.Volume("pv") {
		t.Error("the volume was made anew for nothing")
	}
	failing := newAttachment("csi-1", "pv", "n-1")
	failing.Status.DetachError = &storagev1.VolumeError{Message: "busy"}
	if s := step(VolumeAttachments, "csi-1", failing); s.Volume("pv").Attachments[0].Problem != "busy" || after.Volume("pv").Attachments[0].Problem != "" {
		t.Error("the failure did not arrive in the new snapshot only")
	}
	// A second one, which goes again: older snapshots keep what they showed.
	both := step(VolumeAttachments, "csi-0", newAttachment("csi-0", "pv", "n-2"))
	step(VolumeAttachments, "csi-0", nil)
	if diff := cmp.Diff([]string{"csi-0 n-2", "csi-1 n-1"}, attachedAt(both.Volume("pv"))); diff != "" {
		t.Errorf("an older snapshot has changed (-want +got):\n%s", diff)
	}
	// The same name for another volume.
	s := step(VolumeAttachments, "csi-1", newAttachment("csi-1", "other", "n-1"))
	if len(s.Volume("pv").Attachments) != 0 || len(s.Volume("other").Attachments) != 1 {
		t.Error("the attachment did not move")
	}
	if s = step(VolumeAttachments, "csi-1", nil); len(s.Volume("other").Attachments) != 0 {
		t.Error("the attachment is still there")
	}
}

// A node that fails is one record: nothing else is made anew.
func TestNodeNotReadyTouchesItsRecordOnly(t *testing.T) {
	m := newModel()
	for _, name := range []string{"n-1", "n-2"} {
		m.deliver(Nodes, map[string]any{name: m.trim.trim(newNode(name))}, false)
	}
	m.deliver(Namespaces, map[string]any{"a": m.trim.trim(newNamespace("a"))}, false)
	m.deliver(PersistentVolumes, map[string]any{"pv": m.trim.trim(newVolume("pv"))}, false)
	m.deliver(VolumeAttachments, map[string]any{"csi-1": m.trim.trim(newAttachment("csi-1", "pv", "n-1"))}, false)
	m.join.rebuild()
	before := m.join.snapshot()

	// What a node reports every few minutes is no change.
	m.deliver(Nodes, map[string]any{"n-1": m.trim.trim(newNode("n-1"))}, false)
	if m.join.rebuild() {
		t.Error("a report without news counts as a change")
	}
	m.deliver(Nodes, map[string]any{"n-1": m.trim.trim(newNode("n-1", notReady))}, false)
	if !m.join.rebuild() {
		t.Error("a node that fails counts as no change")
	}
	after := m.join.snapshot()
	if !before.Node("n-1").Ready || after.Node("n-1").Ready {
		t.Error("the node did not fail in the new snapshot only")
	}
	if before.Node("n-2") != after.Node("n-2") || &before.Volumes[0] != &after.Volumes[0] || &before.Namespaces[0] != &after.Namespaces[0] {
		t.Error("records were made anew for nothing")
	}
	m.deliver(Nodes, map[string]any{"n-1": nil}, false)
	m.join.rebuild()
	if s := m.join.snapshot(); s.Node("n-1") != nil || len(s.Nodes) != 1 || len(after.Nodes) != 2 {
		t.Error("the node did not go in the new snapshot only")
	}
}

// What changes there and back between two snapshots has not changed.
func TestNodeThatComesBackIsTheSame(t *testing.T) {
	m := newModel()
	m.join.rebuild()
	deliver := func(node *corev1.Node) {
		var object any
		if node != nil {
			object = m.trim.trim(node)
		}
		m.deliver(Nodes, map[string]any{"n-1": object}, false)
	}
	deliver(newNode("n-1"))
	deliver(nil)
	if m.join.rebuild() {
		t.Error("a node that was never shown counts as a change")
	}
	deliver(newNode("n-1"))
	m.join.rebuild()
	before := m.join.snapshot()
	deliver(newNode("n-1", notReady))
	deliver(newNode("n-1"))
	if m.join.rebuild() || m.join.snapshot().Node("n-1") != before.Node("n-1") {
		t.Error("the node was made anew for nothing")
	}
	deliver(nil)
	deliver(newNode("n-1"))
	if m.join.rebuild() || m.join.snapshot().Node("n-1") != before.Node("n-1") {
		t.Error("the node was made anew for nothing")
	}
	deliver(newNode("n-1", notReady))
	if !m.join.rebuild() || m.join.snapshot().Node("n-1").Ready {
		t.Error("a later change is lost")
	}
}

// Without the right to see them, nothing is known of nodes, namespaces and
// attachments; all else is as ever.
func TestForbiddenNeighboursLeaveTheRest(t *testing.T) {
	surroundings := []Resource{Nodes, Namespaces, VolumeAttachments}
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(
			newVolume("pv", claimedBy("exam", "c", "uid-c")), newClaim("exam", "c", boundTo("pv")), newPod("exam", "p", nil, "c"),
			newNode("n-1"), newNamespace("exam"), newAttachment("csi-1", "pv", "n-1"),
		)
		var allow []func()
		for _, r := range surroundings {
			allow = append(allow, c.deny("list", r, ""))
		}
		c.run(t, func(f *Feed) {
			s := until(t, f, "all that may be read", func(s *Snapshot) bool {
				phases := map[ReadPhase]int{}
				for _, state := range s.Resources {
					phases[state.Phase]++
				}
				return maps.Equal(phases, map[ReadPhase]int{Synced: 10, Forbidden: 3}) && s.Link.Phase == Live
			})
			for _, r := range surroundings {
				if st := s.Resources[r]; st.Phase != Forbidden || st.Missing != "list "+string(r) || s.Known(r, "") {
					t.Errorf("%s = %+v", r, st)
				}
			}
			v := s.Volume("pv")
			if v.Tie != TieHeld || len(v.Users) != 1 || !v.UsersKnown || !s.OwnersKnown() || v.Attachments != nil {
				t.Errorf("volume = %+v", v)
			}
			if len(s.Nodes)+len(s.Namespaces) != 0 {
				t.Error("what may not be seen is shown")
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			select {
			case s = <-f.out:
			default:
			}
			if s.Link.Phase != Live || s.Volume("pv") != v {
				t.Errorf("link = %+v", s.Link)
			}
			for _, f := range allow {
				f()
			}
			s = until(t, f, "everything", allSynced)
			if s.Node("n-1") == nil || s.Namespace("exam") == nil || !slices.Equal(attachedAt(s.Volume("pv")), []string{"csi-1 n-1"}) {
				t.Errorf("volume = %+v", s.Volume("pv"))
			}
		})
	})
}

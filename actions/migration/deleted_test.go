package migration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteVolume is what somebody does who means no good: the volume stays as long
// as it is bound.
func (m *model) deleteVolume(name string) {
	m.t.Helper()
	if err := m.api.CoreV1().PersistentVolumes().Delete(m.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		m.t.Fatal(err)
	}
	if pv := m.state().Volume(name); pv == nil || pv.DeletionTimestamp == nil {
		m.t.Fatalf("volume %s is not being deleted: %+v", name, pv)
	}
}

// TestVolumeDeletedWhileBound: the pods are stopped when somebody deletes the
// volume. It stays as long as it is bound, so that the pods can be started
// again; its policy stays Retain, as that is all that keeps the data then.
func TestVolumeDeletedWhileBound(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"deployment", "set-deletes"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			m, w := halting(t, kind, "delete/")
			m.deleteVolume(w.j.Lead())
			_, move := w.look()
			if move.Kind != Halt || !strings.Contains(move.Reason, "is being deleted") {
				t.Fatalf("%v", move)
			}
			for _, part := range []string{"as long as the volume's policy is Retain", "no finalizer", "Undo, which starts the pods again"} {
				if !strings.Contains(move.Remedy, part) {
					t.Errorf("the remedy lacks %q: %s", part, move.Remedy)
				}
			}
			heir := m.takeOver(w.j, "b", Back)
			if move := heir.toTheEnd(); move.Kind != Finished {
				t.Fatalf("undo: %v\nafter %v", move, heir.wrote)
			}
			m.settle()
			for pod := range m.state().Pods("exam") {
				if pod.Status.Phase != corev1.PodRunning {
					t.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
				}
			}
			pv := m.state().Volume(w.j.Lead())
			if pv == nil || pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain || pv.Annotations[AnnotationPlan] != "" {
				t.Errorf("%+v", pv)
			}
			for _, v := range w.j.Volumes[1:] {
				if pv := m.state().Volume(v.Ref.Name); pv.Spec.PersistentVolumeReclaimPolicy != v.Policy {
					t.Errorf("policy %s", pv.Spec.PersistentVolumeReclaimPolicy)
				}
			}
			if lost := m.lost(w.j); lost != nil {
				t.Errorf("lost the data of %v", lost)
			}
		})
	}
}

// TestVolumeDeletedAtTheEnd: the new claim has the volume already. What is left
// is to start the pods, and that is done.
func TestVolumeDeletedAtTheEnd(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "deployment", "start/")
	m.deleteVolume(w.j.Lead())
	scene := m.scene(w.j.Wanted())
	lead := scene.Volumes[w.j.Lead()].DeepCopy()
	lead.Annotations[AnnotationDirection] = string(Back)
	scene.Volumes[lead.Name] = lead
	if move := Next(w.j, w.run, scene); move.Kind != Halt || !strings.Contains(move.Remedy, "Go on with it after all, which starts the pods again") {
		t.Errorf("the other way: %v", move)
	}
	if move := w.toTheEnd(); move.Kind != Finished {
		t.Errorf("%v\nafter %v", move, w.wrote)
	}
	if pv := m.state().Volume(w.j.Lead()); pv == nil {
		t.Error("the volume is gone")
	}
	if slices.ContainsFunc(w.wrote, func(id string) bool { return strings.HasPrefix(id, "policy/") }) {
		t.Error("the policy was set to Delete")
	}
}

// TestVolumeDeletedWithoutItsClaim: there is no way back to the claim. What is
// said names what is stopped, and the command, and warns of it.
func TestVolumeDeletedWithoutItsClaim(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "set-deletes", "create/")
	m.deleteVolume(w.j.Lead())
	for _, run := range []Run{w.run, {Holder: w.run.Holder, Direction: Back}} {
		scene := m.scene(w.j.Wanted())
		if run.Direction == Back {
			pv := scene.Volumes[w.j.Lead()].DeepCopy()
			pv.Annotations[AnnotationDirection] = string(Back)
			scene.Volumes[w.j.Lead()] = pv
		}
		move := Next(w.j, run, scene)
		if move.Kind != Halt || !strings.Contains(move.Remedy, "kubectl scale statefulset/db --namespace=exam --replicas=3") ||
			!strings.Contains(move.Remedy, "empty volume") || strings.Contains(move.Remedy, "Undo") {
			t.Errorf("%v", move)
		}
	}
}

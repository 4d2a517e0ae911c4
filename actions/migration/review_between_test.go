package migration

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

func (m *model) patchSet(patch, manager string) {
	m.t.Helper()
	if _, err := m.api.AppsV1().StatefulSets("exam").Patch(m.t.Context(), "db", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: manager}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) deleteNow(namespace, claim string) {
	m.t.Helper()
	if err := m.api.CoreV1().PersistentVolumeClaims(namespace).Delete(m.t.Context(), claim, metav1.DeleteOptions{}); err != nil {
		m.t.Fatal(err)
	}
}

// made is a claim that somebody makes.
func (m *model) made(namespace, name string, spec corev1.PersistentVolumeClaimSpec) {
	m.t.Helper()
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: spec}
	if _, err := m.api.CoreV1().PersistentVolumeClaims(namespace).Create(m.t.Context(), pvc, metav1.CreateOptions{FieldManager: "argocd"}); err != nil {
		m.t.Fatal(err)
	}
}

func storage(text string) corev1.VolumeResourceRequirements {
	return corev1.VolumeResourceRequirements{Requests: size(text)}
}

// TestSaysWhatHappened: what stops an operation is told as it is, and by whom.
func TestSaysWhatHappened(t *testing.T) {
	t.Parallel()
	type world struct {
		*model
		w *walker
	}
	for _, tt := range []struct {
		name, kind, before string
		meddle             func(world)
		reason, not        string
	}{
		// The claim would go, and the volume be open to anybody.
		{"the volume forgets its claim", "claim", "delete/", func(w world) {
			w.patchVolume(w.w.j.Lead(), `{"spec":{"claimRef":null}}`, "kubectl-edit")
		}, "does not name claim exam/data", ""},
		{"the volume names another's uid", "claim", "delete/", func(w world) {
			w.patchVolume(w.w.j.Lead(), `{"spec":{"claimRef":{"uid":"another"}}}`, "kubectl-edit")
		}, "does not name claim exam/data", ""},
		{"the claim grows", "claim", "delete/", func(w world) {
			w.server.Apply(func(s *sandbox.State) *sandbox.State {
				grown := s.Claim("exam", "data").DeepCopy()
				grown.Spec.Resources = storage("2Gi")
				return s.Update(grown)
			})
		}, "asks for 2Gi", ""},
		{"the new claim is deleted", "claim", "policy/", func(w world) {
			w.deleteNow("exam", "data")
			w.settle()
		}, "claim exam/data, which had been bound to volume", "changed back by claimref"},
		{"the new claim is being deleted", "deployment", "policy/", func(w world) {
			w.deleteNow("exam", "data")
			w.settle()
		}, "claim exam/data, which had been bound to volume", "changed back"},
		{"the set is changed", "set-deletes", "remove/", func(w world) {
			w.patchSet(`{"spec":{"minReadySeconds":5}}`, "helm")
		}, "(spec.minReadySeconds)", ""},
		{"the set begins elsewhere", "set", "remove/", func(w world) {
			w.patchSet(`{"spec":{"ordinals":{"start":1}}}`, "helm")
		}, "(spec.ordinals)", ""},
		{"the set was edited before it was stopped", "set", "stop/", func(w world) {
			w.patchSet(`{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`, "helm")
		}, "(spec.template)", ""},
		{"the set's policy is changed back", "set-deletes", "delete/", func(w world) {
			w.patchSet(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete"}}}`, "terraform")
		}, "changed back: \"Have StatefulSet", ""},
		{"the reservation is changed back", "claim", "create/", func(w world) {
			w.patchVolume(w.w.j.Lead(), `{"spec":{"claimRef":{"uid":"another"}}}`, "terraform")
		}, "changed back: \"Keep volume", ""},
		{"scaled down at the very end", "deployment", "clean-up/", func(w world) {
			if _, err := w.api.AppsV1().Deployments("exam").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{FieldManager: "keda"}); err != nil {
				t.Fatal(err)
			}
		}, "changed back: \"Scale Deployment", "Retain"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, w := halting(t, tt.kind, tt.before)
			tt.meddle(world{m, w})
			_, move := w.look()
			if move.Kind != Halt {
				move = w.toTheEnd()
			}
			if move.Kind != Halt || !strings.Contains(move.Reason, tt.reason) || move.Remedy == "" || tt.not != "" && strings.Contains(move.Reason, tt.not) {
				t.Errorf("%v, and not a halt with %q", move, tt.reason)
			}
			if lost := m.lost(w.j); lost != nil {
				t.Errorf("lost the data of %v", lost)
			}
		})
	}
}

// TestNameInUseAgain: once a volume has its claim of another name, the former
// name is anybody's.
func TestNameInUseAgain(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "move", "policy/")
	m.made("exam", "data", corev1.PersistentVolumeClaimSpec{
		StorageClassName: new("folders"), AccessModes: modes(corev1.ReadWriteOnce), Resources: storage("1Gi"),
	})
	if move := w.toTheEnd(); move.Kind != Finished {
		t.Errorf("%v\nafter %v", move, w.wrote)
	}
	if c := m.state().Claim("exam", "data"); c == nil || c.DeletionTimestamp != nil {
		t.Error("the new claim of that name is gone")
	}
}

// TestPodsWaitForTheClaimToCome: pods that can't run without the claim to come
// do not keep it from being made.
func TestPodsWaitForTheClaimToCome(t *testing.T) {
	t.Parallel()
	t.Run("recreate", func(t *testing.T) {
		t.Parallel()
		m := newModel(t, built(t, replaced(claimManifest, "CLASS", "keeps"), deploymentManifest))
		pv := m.state().Volume(m.state().Claim("exam", "data").Spec.VolumeName)
		m.deleteNow("exam", "data")
		for pod := range m.state().Pods("exam") {
			if err := m.api.CoreV1().Pods("exam").Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		m.settle()
		j := Journal{
			Version: journalVersion, ID: "0a0b0c0d", Request: Request{Verb: RecreateClaim},
			Volumes: []Volume{{
				Ref: actions.Ref{Kind: actions.VolumeKind, Name: pv.Name, UID: pv.UID}, Policy: corev1.PersistentVolumeReclaimRetain,
				Modes: pv.Spec.AccessModes, ClaimRef: pv.Spec.ClaimRef,
				To: &corev1.PersistentVolumeClaim{
					TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Namespace: "exam", Name: "data"},
					Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: new("keeps"), AccessModes: pv.Spec.AccessModes, Resources: storage("1Gi"), VolumeName: pv.Name},
				},
			}},
		}
		w := m.walk(j, "a")
		if move := w.toTheEnd(); move.Kind != Finished {
			t.Fatalf("%v\nafter %v", move, w.wrote)
		}
		m.settle()
		for pod := range m.state().Pods("exam") {
			if pod.Status.Phase != corev1.PodRunning {
				t.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
			}
		}
	})
	t.Run("move", func(t *testing.T) {
		t.Parallel()
		all := kinds()
		k := all[len(all)-1]
		k.manifests = append(k.manifests, strings.NewReplacer("namespace: exam", "namespace: other", "claimName: data", "claimName: moved").Replace(deploymentManifest))
		m, j := k.start(t).drafted(t)
		w := m.walk(j, "a")
		w.before = func(step Step) bool { return strings.HasPrefix(step.ID, "clean-up/") }
		if move := w.toTheEnd(); move.Kind != ActNow {
			t.Fatalf("%v\nafter %v", move, w.wrote)
		}
		// On the way back, they do use it.
		back := m.takeOver(j, "b", Back)
		if move := back.toTheEnd(); move.Kind != WaitNow || len(move.Holds) == 0 || !strings.Contains(move.Holds[0], "pod other/") {
			t.Errorf("%v", move)
		}
	})
}

// TestClaimThatWasBound: a volume that has lost its claimRef gets it back with
// the uid of the claim that was bound to it; without one, that would be Lost.
func TestClaimThatWasBound(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "deployment", "start/")
	m.patchVolume(w.j.Lead(), `{"spec":{"claimRef":null}}`, "kubectl-edit")
	m.server.Apply(func(s *sandbox.State) *sandbox.State {
		pv := s.Volume(w.j.Lead()).DeepCopy()
		pv.Status.Phase = corev1.VolumeAvailable
		return s.Update(pv)
	})
	if _, move := w.look(); move.Kind != Halt || !strings.Contains(move.Reason, "no longer names it") {
		t.Errorf("%v", move)
	}
	heir := m.takeOver(w.j, "b", Forward)
	_, move := heir.look()
	if move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, "ready/") {
		t.Fatalf("%v", move)
	}
	if err := m.perform(move.Step); err != nil {
		t.Fatal(err)
	}
	if pv := m.state().Volume(w.j.Lead()); pv.Spec.ClaimRef.UID != m.state().Claim("exam", "data").UID {
		t.Errorf("claimRef %v", pv.Spec.ClaimRef)
	}
	if move := heir.toTheEnd(); move.Kind != Finished {
		t.Errorf("%v", move)
	}
}

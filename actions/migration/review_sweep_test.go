package migration

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube/sandbox"
)

// foreigners are single changes that somebody else makes between two steps.
// Where a person has to clear things up before the operation can go on, mend is
// what its remedy says.
func foreigners() map[string]struct {
	act  func(m *model, j Journal)
	mend func(m *model, j Journal)
} {
	type foreigner = struct {
		act  func(m *model, j Journal)
		mend func(m *model, j Journal)
	}
	patchEach := func(patch string) func(*model, Journal) {
		return func(m *model, j Journal) {
			for _, v := range j.Volumes {
				m.patchVolume(v.Ref.Name, patch, "kubectl-edit")
			}
		}
	}
	claims := func(m *model, j Journal, each func(c *corev1.PersistentVolumeClaim, v Volume)) {
		for _, v := range j.Volumes {
			for _, as := range []*corev1.PersistentVolumeClaim{v.From, v.To} {
				if c := m.state().Claim(as.Namespace, as.Name); c != nil {
					each(c, v)
				}
			}
		}
	}
	rid := func(m *model, j Journal) {
		claims(m, j, func(c *corev1.PersistentVolumeClaim, v Volume) {
			if c.UID != v.FromUID && c.Spec.VolumeName != v.Ref.Name {
				m.deleteNow(c.Namespace, c.Name)
			}
		})
	}
	set := func(do func(m *model) error) func(*model, Journal) {
		return func(m *model, _ Journal) {
			if m.state().StatefulSet("exam", "db") == nil {
				return
			}
			if err := do(m); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	// Where its templates are kept, the set itself is not in the journal.
	remake := func(m *model, j Journal) {
		if m.state().StatefulSet("exam", "db") != nil || !j.Request.KeepTemplates {
			return
		}
		m.server.Apply(func(s *sandbox.State) *sandbox.State {
			s, err := sandbox.LoadManifest(s, m.cs, []byte(replaced(setManifest, "CLASS", "folders", "RETENTION", "Retain")))
			if err != nil {
				m.t.Error(err)
			}
			return s
		})
	}
	return map[string]foreigner{
		"nothing":        {act: func(*model, Journal) {}},
		"claimRef taken": {act: patchEach(`{"spec":{"claimRef":null}}`)},
		"policy Delete":  {act: patchEach(`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`)},
		"modes":          {act: patchEach(`{"spec":{"accessModes":["ReadWriteMany"]}}`)},
		"marks taken off": {act: func(m *model, j Journal) {
			for _, v := range j.Volumes[1:] {
				m.patchVolume(v.Ref.Name, `{"metadata":{"annotations":{"claimref.io/plan":null}}}`, "kubectl-edit")
			}
		}},
		// Its set makes the claims that are gone by then.
		"scales back": {act: meddlers()["scales back"], mend: rid},
		"claims made": {act: meddlers()["re-creates the claim"], mend: rid},
		"claims deleted": {act: func(m *model, j Journal) {
			claims(m, j, func(c *corev1.PersistentVolumeClaim, _ Volume) { m.deleteNow(c.Namespace, c.Name) })
		}},
		"set deleted, pods kept": {mend: func(m *model, j Journal) {
			for pod := range m.state().Pods("exam") {
				if metav1.GetControllerOf(pod) == nil {
					if err := m.api.CoreV1().Pods("exam").Delete(m.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
						m.t.Fatal(err)
					}
				}
			}
			remake(m, j)
		}, act: set(func(m *model) error {
			return m.api.AppsV1().StatefulSets("exam").Delete(m.t.Context(), "db", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)})
		})},
		"set deleted": {mend: remake, act: set(func(m *model) error {
			return m.api.AppsV1().StatefulSets("exam").Delete(m.t.Context(), "db", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
		})},
		"set made": {act: func(m *model, j Journal) {
			for _, w := range j.Workloads {
				if w.From != nil && m.state().StatefulSet("exam", "db") == nil {
					if _, err := m.api.AppsV1().StatefulSets("exam").Create(m.t.Context(), w.From, metav1.CreateOptions{FieldManager: "argocd"}); err != nil {
						m.t.Fatal(err)
					}
				}
			}
		}},
		"set deletes claims": {act: set(func(m *model) error {
			_, err := m.api.AppsV1().StatefulSets("exam").Patch(m.t.Context(), "db", types.MergePatchType,
				[]byte(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Delete","whenScaled":"Delete"}}}`), metav1.PatchOptions{})
			return err
		})},
		"pods deleted": {act: func(m *model, _ Journal) {
			for pod := range m.state().Pods("exam") {
				if err := m.api.CoreV1().Pods("exam").Delete(m.t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
					m.t.Fatal(err)
				}
			}
		}},
	}
}

// TestForeignChange has somebody change something before each write of each
// operation, and the program crash: another machine finishes or undoes it, or
// halts with a reason; then what the remedy says is done, and it ends.
func TestForeignChange(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k := k.start(t)
			_, _, writes := k.ends(t)
			for _, who := range slices.Sorted(maps.Keys(foreigners())) {
				for at := 1; at < writes; at += 2*k.stride() - 1 {
					for _, d := range []Direction{Forward, Back} {
						k.foreign(t, who, at, d)
					}
				}
			}
		})
	}
}

func (k start) foreign(t *testing.T, who string, at int, d Direction) {
	t.Helper()
	name := fmt.Sprintf("%s before write %d, %q", who, at, d)
	f := foreigners()[who]
	m, j := k.drafted(t)
	w := m.walk(j, "a")
	w.before = func(Step) bool { return len(w.wrote) == at }
	w.toTheEnd()
	kept := true
	for _, v := range j.Volumes {
		pv := m.state().Volume(v.Ref.Name)
		kept = kept && pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain
		// To set Delete then destroys the data, and nothing can keep anybody from it.
		kept = kept && (who != "policy Delete" || pv.Status.Phase == corev1.VolumeBound)
	}
	f.act(m, j)
	if found, err := Find(m.state().Volume(j.Lead())); err != nil || found == nil {
		return // All was done.
	}
	heir := m.takeOver(j, "b", d)
	move := heir.toTheEnd()
	switch {
	case move.Kind == Halt && (move.Reason == "" || move.Remedy == ""), move.Kind == WaitNow && len(move.Holds) == 0:
		t.Errorf("%s: stops without a reason: %v", name, move)
	}
	if lost := m.lost(j); lost != nil && kept {
		t.Errorf("%s: the data of %v are lost\nafter %v, then %v: %v", name, lost, w.wrote, heir.wrote, move)
	}
	if move.Kind != Finished && f.mend != nil {
		f.mend(m, j)
		heir = m.takeOver(j, "c", d)
		move = heir.toTheEnd()
	}
	if move.Kind != Finished && kept {
		t.Errorf("%s: %v\nafter %v, then %v", name, move, w.wrote, heir.wrote)
	}
}

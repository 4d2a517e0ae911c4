package migration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestRestsAreTrue: what is said of a rest before each step is so, whichever way
// an operation walks and however far it had come when it was turned around.
func TestRestsAreTrue(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		for _, turn := range []string{"", "delete/", "ready/", "create/", "start/", "policy/"} {
			t.Run(k.name+" "+turn, func(t *testing.T) {
				t.Parallel()
				m, j := k.start(t).drafted(t)
				w := m.walk(j, "a")
				w.before = func(step Step) bool {
					w.checkRest(step)
					return turn != "" && strings.HasPrefix(step.ID, turn)
				}
				if move := w.toTheEnd(); turn == "" || move.Kind != ActNow {
					return
				}
				back := m.takeOver(j, "b", Back)
				back.before = func(step Step) bool {
					back.checkRest(step)
					return false
				}
				if move := back.toTheEnd(); move.Kind != Finished {
					t.Fatalf("%v\nafter %v", move, back.wrote)
				}
			})
		}
	}
}

func (w *walker) checkRest(step Step) {
	w.t.Helper()
	scene := w.scene(w.j.Wanted())
	dir, _ := Heading(w.j, scene)
	original := !slices.ContainsFunc(w.j.Volumes, func(v Volume) bool {
		if v.From == nil {
			return w.state().Claim(v.To.Namespace, v.To.Name) != nil
		}
		c := w.state().Claim(v.From.Namespace, v.From.Name)
		return c == nil || c.UID != v.FromUID || c.DeletionTimestamp != nil
	})
	quiet := slices.ContainsFunc(w.j.Workloads, func(l Workload) bool {
		d, set, c := w.state().Deployment(l.Ref.Namespace, l.Ref.Name), w.state().StatefulSet(l.Ref.Namespace, l.Ref.Name), w.state().CronJob(l.Ref.Namespace, l.Ref.Name)
		return l.Replicas > 0 && (d != nil && *d.Spec.Replicas == 0 || set != nil && *set.Spec.Replicas == 0 || d == nil && set == nil && c == nil) ||
			!l.Suspended && c != nil && c.Spec.Suspend != nil && *c.Spec.Suspend
	})
	for said, so := range map[string]bool{
		"Nothing has been deleted":  original,
		"were never replaced":       original && dir == Back,
		"replaced already":          !original && dir == Forward,
		"former claims are back":    !original && dir == Back,
		"undo starts the pods":      quiet && dir == Forward,
		"pods are stopped until":    quiet,
		"Nothing has changed for":   !quiet && original,
		"The pods run with":         !quiet && dir == Back,
		"resume or undo":            dir == Forward,
		"resume this undo":          dir == Back,
		"only the pods are still":   quiet,
		"like the migrated ones":    dir == Forward,
		"like they were before":     dir == Back,
		"go on with it after all":   dir == Back,
		"No data are touched; the ": quiet,
	} {
		if strings.Contains(step.Stop+" "+step.Why, said) && !so {
			w.t.Errorf("%s, %s: %q is not so", dir, step.ID, step.Stop)
		}
	}
}

// TestRefusalMeans: where there is no old claim, nothing is said of one.
func TestRefusalMeans(t *testing.T) {
	one := draft{journal: Journal{Volumes: []Volume{{To: &corev1.PersistentVolumeClaim{}}}}}
	if got := one.refused("the old claim"); strings.Contains(got, "old") {
		t.Errorf("of a claim that is made where none was: %q", got)
	}
	one.journal.Volumes = append(one.journal.Volumes, Volume{From: &corev1.PersistentVolumeClaim{}, To: &corev1.PersistentVolumeClaim{}})
	if got := one.refused("the old claim"); got != "the old claim is gone by the time that the server says no" {
		t.Errorf("of a claim that is replaced: %q", got)
	}
}

package migration

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

// upTo carries the first operation on until it would do a step. Then its program
// ends, and with it what it remembers.
func (d *duel) upTo(t *testing.T, id string) {
	t.Helper()
	d.a.before = func(step Step) bool { return strings.HasPrefix(step.ID, id) }
	if move := d.a.toTheEnd(); move.Kind != ActNow {
		t.Fatalf("%s: %+v", id, move)
	}
	d.a.before = nil
	d.settle()
}

// remakes turns the second operation into one that makes a claim again which is
// gone, and takes the claim away.
func (d *duel) remakes(at int) Volume {
	d.b.j.Request, d.b.j.Workloads = Request{Verb: RecreateClaim}, nil
	d.b.j.Volumes = d.b.j.Volumes[at : at+1]
	v := &d.b.j.Volumes[0]
	v.From, v.FromUID, v.Policy = nil, "", corev1.PersistentVolumeReclaimRetain
	v.ClaimRef = d.state().Volume(v.Ref.Name).Spec.ClaimRef
	d.patchVolume(v.Ref.Name, `{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`, "somebody")
	d.server.Apply(func(s *sandbox.State) *sandbox.State {
		return s.Remove(sandbox.Key{Resource: sandbox.Claims, Namespace: "exam", Name: v.To.Name})
	})
	d.settle()
	return *v
}

// TestUndoneBesideAStrayNote: a note of which nobody knows whose it is, left or
// forged, does not keep an undo from bringing the pods back, and the set.
func TestUndoneBesideAStrayNote(t *testing.T) {
	for _, at := range []string{"delete/", "remove/", "recreate/"} {
		d := dueling(t, "set")
		d.upTo(t, at)
		d.patchVolume(d.b.j.Lead(), `{"metadata":{"annotations":{"claimref.io/plan":"cccc elsewhere"}}}`, "somebody")
		if move := d.takeOver(d.a.j, "heir", Back).toTheEnd(); move.Kind != Finished {
			t.Fatalf("%s: %+v", at, move)
		}
		d.settle()
		if set := d.state().StatefulSet("exam", "db"); set == nil || *set.Spec.Replicas != 3 || d.count() != d.volumes {
			t.Errorf("%s: the set is %v, %d volumes", at, set, d.count())
		}
	}
}

// TestStrayNoteOverAMissingClaim: as long as the claim of such a volume is gone,
// no pod is started that would get another one.
func TestStrayNoteOverAMissingClaim(t *testing.T) {
	d := dueling(t, "set")
	d.upTo(t, "delete/")
	d.remakes(0)
	d.patchVolume(d.b.j.Lead(), `{"metadata":{"annotations":{"claimref.io/plan":"cccc elsewhere"}}}`, "somebody")
	heir := d.takeOver(d.a.j, "heir", Back)
	move := heir.toTheEnd()
	if move.Kind != WaitNow || !strings.HasPrefix(move.Step.ID, "start/") || !strings.Contains(strings.Join(move.Holds, " "), "can't be read") {
		t.Errorf("%+v, wrote %v", move, heir.wrote)
	}
}

// TestUndoneBesideOneThatOnlyMakes: an operation that makes a missing claim has
// no hold of the workload, and is waited for before the pods are started. It does
// not wait in turn.
func TestUndoneBesideOneThatOnlyMakes(t *testing.T) {
	for _, dir := range []Direction{Forward, Back} {
		d := dueling(t, "set-keeps-templates")
		d.upTo(t, "delete/")
		made := d.remakes(0)
		d.note(d.b)
		a := d.a
		if dir == Back {
			a = d.takeOver(d.a.j, "heir", Back)
		}
		if move := a.toTheEnd(); move.Kind != WaitNow || !strings.HasPrefix(move.Step.ID, "start/") {
			t.Fatalf("%q: the first: %+v, wrote %v", dir, move, a.wrote)
		}
		if move := d.b.toTheEnd(); move.Kind != Finished {
			t.Fatalf("%q: the second: %+v", dir, move)
		}
		if move := a.toTheEnd(); move.Kind != Finished {
			t.Fatalf("%q: the first: %+v", dir, move)
		}
		d.settle()
		if got := d.state().Claim("exam", made.To.Name).Spec.VolumeName; got != made.Ref.Name || d.count() != d.volumes {
			t.Errorf("%q: the claim is on volume %s, and there are %d", dir, got, d.count())
		}
		if set := d.state().StatefulSet("exam", "db"); *set.Spec.Replicas != 3 {
			t.Errorf("%q: %d replicas", dir, *set.Spec.Replicas)
		}
	}
}

// TestNoYieldingToWhoCannotBringBack: a set that is gone is left only to an
// operation that can make it anew, and a strategy to one that knows it.
func TestNoYieldingToWhoCannotBringBack(t *testing.T) {
	t.Run("the set", func(t *testing.T) {
		d := dueling(t, "set")
		for i := range d.b.j.Workloads {
			d.b.j.Workloads[i].From, d.b.j.Workloads[i].To = nil, nil
		}
		d.upTo(t, "recreate/")
		d.note(d.b)
		if move := d.takeOver(d.a.j, "heir", Back).toTheEnd(); move.Kind != Finished || d.state().StatefulSet("exam", "db") == nil {
			t.Errorf("%+v, the set is %v", move, d.state().StatefulSet("exam", "db"))
		}
		if move := d.b.toTheEnd(); move.Kind != Finished {
			t.Errorf("the other: %+v", move)
		}
	})
	// What the other one thinks is nothing to bring back: it came later, and saw
	// what this one had stopped.
	for name, spoil := range map[string]struct {
		kind string
		less func(*Workload)
	}{
		"the pods":              {"deployment", func(w *Workload) { w.Replicas = 0 }},
		"the policy for claims": {"set-deletes", func(w *Workload) { w.Retention = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			d := dueling(t, spoil.kind)
			d.a.j.Started = d.b.j.Started.Add(1e9)
			for i := range d.b.j.Workloads {
				spoil.less(&d.b.j.Workloads[i])
			}
			d.upTo(t, "delete/")
			d.note(d.b)
			if move := d.takeOver(d.a.j, "heir", Back).toTheEnd(); move.Kind != Finished {
				t.Fatalf("%+v", move)
			}
			for _, w := range d.a.j.Workloads {
				switch w.Ref.Kind {
				case StatefulSetKind:
					set := d.state().StatefulSet("exam", w.Ref.Name)
					if *set.Spec.Replicas != w.Replicas || *set.Spec.PersistentVolumeClaimRetentionPolicy != *w.Retention {
						t.Errorf("%d replicas, %v", *set.Spec.Replicas, set.Spec.PersistentVolumeClaimRetentionPolicy)
					}
				default:
					if got := *d.state().Deployment("exam", w.Ref.Name).Spec.Replicas; got != w.Replicas {
						t.Errorf("%s: %d replicas", w.Ref.Name, got)
					}
				}
			}
		})
	}
	t.Run("the strategy", func(t *testing.T) {
		d := dueling(t, "deployment")
		was := d.state().Deployment("exam", "web").Spec.Strategy
		d.a.j.Started = d.b.j.Started.Add(1e9) // The other ranks first.
		d.a.j.Workloads[0].Strategy = was.DeepCopy()
		d.upTo(t, "delete/")
		if now := d.state().Deployment("exam", "web").Spec.Strategy.Type; now != appsv1.RecreateDeploymentStrategyType {
			t.Fatalf("strategy %s", now)
		}
		d.note(d.b)
		if move := d.takeOver(d.a.j, "heir", Back).toTheEnd(); move.Kind != Finished {
			t.Fatalf("%+v", move)
		}
		if now := d.state().Deployment("exam", "web").Spec.Strategy.Type; now != was.Type {
			t.Errorf("strategy %s", now)
		}
	})
}

// TestHeirOfACronJob: who thinks that it was suspended before does not resume it.
func TestHeirOfACronJob(t *testing.T) {
	w := Workload{Ref: actions.Ref{Kind: CronJobKind, Namespace: "exam", Name: "backup"}}
	m := &machine{dir: Back, s: Scene{CronJobs: []*batchv1.CronJob{{ObjectMeta: metav1.ObjectMeta{Namespace: "exam", Name: "backup"}}}}}
	for _, suspended := range []bool{false, true} {
		other := w
		other.Suspended = suspended
		if got := m.heir(rival{dir: Forward, workloads: []Workload{other}}, w); got == suspended {
			t.Errorf("suspended %t: heir %t", suspended, got)
		}
	}
}

// TestBothUndone: of two that are undone at once, each past its last look when
// the other writes, one brings the pods back.
func TestBothUndone(t *testing.T) {
	for _, earlier := range []bool{true, false} {
		d := dueling(t, "deployment")
		if earlier {
			d.b.j.Started = d.a.j.Started.Add(-1e9)
		}
		d.upTo(t, "delete/")
		d.note(d.b)
		a, b := d.takeOver(d.a.j, "heir", Back), d.takeOver(d.b.j, "other heir", Back)
		for _, w := range []*walker{a, b} {
			w.before = func(step Step) bool { return step.ID == "clean-up/"+w.j.Lead() }
			if move := w.toTheEnd(); move.Kind != ActNow {
				t.Fatalf("%+v", move)
			}
			w.before = nil
		}
		// Both are sent before either looks again.
		moveA, versionA := d.ready(a)
		moveB, versionB := d.ready(b)
		d.send(a, moveA, versionA)
		d.send(b, moveB, versionB)
		if replicas := *d.state().Deployment("exam", "web").Spec.Replicas; replicas != 1 {
			t.Errorf("the second earlier %t: %d replicas; wrote %v and %v", earlier, replicas, a.wrote, b.wrote)
		}
	}
}

// TestWithdrawsWhilePodsAreNotReady: two that wait for each other: the one that
// is undone looks for the other also while it would wait for pods.
func TestWithdrawsWhilePodsAreNotReady(t *testing.T) {
	d := dueling(t, "deployment")
	d.note(d.a)
	d.note(d.b)
	b := d.takeOver(d.b.j, "heir", Back)
	scene := b.scene(b.j.Wanted())
	web := d.state().Deployment("exam", "web").DeepCopy()
	web.Status.ReadyReplicas = 0
	scene.Deployments[0] = web
	if !WantsOthers(b.j, b.run, scene) {
		t.Fatal("it does not look for others")
	}
	move := Next(b.j, b.run, b.withOthers(b.j, scene))
	if move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, "policy/") && !strings.HasPrefix(move.Step.ID, "clean-up/") {
		t.Errorf("%+v", move)
	}
}

// TestWorkloadGoneBesideAMissingClaim: as long as another operation has a claim in
// hand, nobody is told to make the workload again.
func TestWorkloadGoneBesideAMissingClaim(t *testing.T) {
	d := dueling(t, "set-keeps-templates")
	d.upTo(t, "start/")
	d.note(d.b)
	d.deleteNow("exam", d.b.j.Volumes[0].From.Name)
	if err := d.api.AppsV1().StatefulSets("exam").Delete(t.Context(), "db", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	d.settle()
	if move := d.a.toTheEnd(); move.Kind != WaitNow || len(move.Holds) == 0 {
		t.Errorf("%+v", move)
	}
}

// TestForgedWithout: who may change volumes, and nothing else, can't have a
// workload left stopped that is there.
func TestForgedWithout(t *testing.T) {
	m, w := halting(t, "deployment", "delete/")
	m.patchVolume(w.j.Lead(), `{"metadata":{"annotations":{"claimref.io/without":"[\"Deployment exam/web\"]"}}}`, "mallory")
	w.before = nil
	if move := w.toTheEnd(); move.Kind != Finished {
		t.Fatalf("%+v", move)
	}
	if replicas := *m.state().Deployment("exam", "web").Spec.Replicas; replicas != 1 || !slices.Contains(w.wrote, "start/exam/web") {
		t.Errorf("%d replicas, wrote %v", replicas, w.wrote)
	}
}

// TestStartInTheDark: where volumes can't be listed, only a person knows that no
// other operation has a claim in hand: the name is typed before pods are started.
func TestStartInTheDark(t *testing.T) {
	for name, id := range map[string]string{"deployment": "start/", "set": "recreate/"} {
		_, w := halting(t, name, id)
		for _, unread := range []bool{false, true} {
			scene := w.scene(w.j.Wanted())
			if !unread {
				scene = w.withOthers(w.j, scene)
			} else {
				scene.Unread = map[string]string{"persistentvolumes": "you may not list them"}
			}
			move := Next(w.j, w.run, scene)
			want := ""
			if unread {
				want = w.j.Workloads[0].Ref.Name
			}
			if move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, id) || move.Step.Confirm != want {
				t.Errorf("%s, unread %t: %v, to confirm %q", name, unread, move, move.Step.Confirm)
			}
		}
	}
}

package migration

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

// dueling is a duel in which neither has written anything.
func dueling(t *testing.T, name string) *duel {
	t.Helper()
	all := duelKinds()
	k := all[slices.IndexFunc(all, func(k duelKind) bool { return k.name == name })]
	return k.begin(t, built(t, k.manifests...), false)
}

// note writes the notes of a run, without a look at anybody else.
func (d *duel) note(w *walker) {
	d.t.Helper()
	for _, n := range newMachine(w.j, w.run, d.scene(w.j.Wanted())).nodes() {
		if strings.HasPrefix(n.ID, "note/") {
			if err := w.perform(n.Step); err != nil {
				d.t.Fatal(err)
			}
			w.run.Did(n.Step)
		}
	}
}

// TestOneOfTwoGoesFirst: where both have written their notes before either has
// looked, both come to the same: one is to be undone, and the other waits for
// that.
func TestOneOfTwoGoesFirst(t *testing.T) {
	t.Parallel()
	for name, alike := range map[string]func(d *duel){
		"by their time":   func(*duel) {},
		"by their volume": func(d *duel) { d.b.j.Started = d.a.j.Started },
		"by their id": func(d *duel) {
			d.b.j.Started, d.b.j.Volumes[0].Ref.UID = d.a.j.Started, d.a.j.Volumes[0].Ref.UID
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dueling(t, "set")
			d.note(d.a)
			d.note(d.b)
			alike(d)
			scene := func(w *walker, other *walker) Scene {
				s := d.withOthers(w.j, d.scene(w.j.Wanted()))
				for i, pv := range s.RelatedVolumes {
					if pv.Name == other.j.Lead() {
						copied := pv.DeepCopy()
						copied.Annotations[AnnotationJournal], _ = other.j.Encode()
						s.RelatedVolumes[i] = copied
					}
				}
				// Its uid is whatever the case says.
				if pv := s.Volumes[w.j.Lead()].DeepCopy(); pv != nil {
					pv.UID = w.j.Volumes[0].Ref.UID
					pv.Annotations[AnnotationJournal], _ = w.j.Encode()
					s.Volumes[pv.Name] = pv
				}
				return s
			}
			a, b := Next(d.a.j, d.a.run, scene(d.a, d.b)), Next(d.b.j, d.b.run, scene(d.b, d.a))
			if b.Kind == WaitNow {
				a, b = b, a
				d.a, d.b = d.b, d.a
			}
			if a.Kind != WaitNow || len(a.Holds) != 1 || !strings.Contains(a.Holds[0], d.b.j.ID) || !strings.Contains(a.Holds[0], "StatefulSet exam/db") ||
				!strings.Contains(a.Holds[0], d.b.j.By) || !strings.Contains(a.Holds[0], "undone") {
				t.Errorf("the first: %v", a)
			}
			if b.Kind != Halt || !strings.Contains(b.Reason, d.a.j.ID) || !strings.Contains(b.Reason, d.a.j.By) || !strings.Contains(b.Reason, "goes on") ||
				!strings.Contains(b.Remedy, "Undo this one") || !strings.Contains(b.Remedy, "StatefulSet exam/db") {
				t.Errorf("the second: %v", b)
			}
			if name == "by their time" && d.a.j.ID != "aaaa" {
				t.Error("the later one goes first")
			}
		})
	}
}

// TestNoNoteBesideAnother: nothing is written at all once the other's note can
// be seen.
func TestNoNoteBesideAnother(t *testing.T) {
	t.Parallel()
	d := dueling(t, "deployment")
	d.note(d.a)
	_, move := d.b.look()
	if move.Kind != Halt || !strings.Contains(move.Reason, "nothing has been written") || !strings.Contains(move.Remedy, "Finish that one") {
		t.Errorf("%v", move)
	}
}

// TestWhoHasBegunGoesOn: an operation that has replaced a claim goes on, though
// the other was begun earlier; on any machine, and whether it is held or not.
func TestWhoHasBegunGoesOn(t *testing.T) {
	t.Parallel()
	d := dueling(t, "set-deletes")
	d.b.j.Started = d.a.j.Started.Add(-time.Hour)
	// B's note comes after A has seen that it is alone, which B can't know.
	_, _ = d.on(d.a, 2)
	d.note(d.b)
	if _, move := d.b.look(); move.Kind != WaitNow {
		t.Errorf("nothing has been replaced: %v", move)
	}
	for {
		_, move := d.a.look()
		if move.Kind != ActNow {
			t.Fatalf("%v", move)
		}
		if strings.HasPrefix(move.Step.ID, "create/") {
			break
		}
		_, _ = d.on(d.a, 1)
	}
	if _, move := d.b.look(); move.Kind != Halt || !strings.Contains(move.Reason, "has replaced claims already") {
		t.Errorf("the other: %v", move)
	}
	heir := d.takeOver(d.a.j, "heir", Forward)
	if _, move := heir.look(); move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, "create/") {
		t.Errorf("the heir: %v", move)
	}
	if heir.run.Alone {
		t.Error("the heir is not alone")
	}
}

// TestNotesThatCantBeRead: a volume that the workload uses says that something
// is under way, and not what.
func TestNotesThatCantBeRead(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]string{
		"a spoilt journal":      `{"metadata":{"annotations":{"claimref.io/plan":"cccc x","claimref.io/journal":"{"}}}`,
		"of another version":    `{"metadata":{"annotations":{"claimref.io/journal":"{\"version\":9}"}}}`,
		"whose journal is gone": `{"metadata":{"annotations":{"claimref.io/plan":"cccc elsewhere"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dueling(t, "set")
			d.patchVolume(d.b.j.Lead(), patch, "somebody")
			_, move := d.a.look()
			if move.Kind != Halt || !strings.Contains(move.Reason, d.b.j.Lead()) || !strings.Contains(move.Remedy, "claimref.io annotations") {
				t.Errorf("%v", move)
			}
			// It is no business of an operation that has nothing to do with it.
			d.a.j.Workloads = nil
			if _, move := d.a.look(); move.Kind != ActNow {
				t.Errorf("of no concern: %v", move)
			}
		})
	}
}

// TestBothOnTheSameVolumes: two operations whose leads are each other's members
// have both written one note. Each can be undone.
func TestBothOnTheSameVolumes(t *testing.T) {
	t.Parallel()
	d := dueling(t, "set")
	before := d.picture()
	volumes := slices.Concat(d.a.j.Volumes, d.b.j.Volumes)
	d.a.j.Volumes = slices.Clone(volumes)
	slices.Reverse(volumes)
	d.b.j.Volumes = volumes
	for _, w := range []*walker{d.a, d.b} {
		for _, n := range newMachine(w.j, w.run, d.scene(w.j.Wanted())).nodes() {
			if n.ID == "note/"+w.j.Lead() {
				if err := w.perform(n.Step); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, w := range []*walker{d.a, d.b} {
		if _, move := w.look(); move.Kind != Halt || !strings.Contains(move.Reason, "another operation") {
			t.Errorf("%v", move)
		}
	}
	for _, w := range []*walker{d.a, d.b} {
		heir := d.takeOver(w.j, "heir of "+w.j.ID, Back)
		if move := heir.toTheEnd(); move.Kind != Finished {
			t.Errorf("%v after %v", move, heir.wrote)
		}
	}
	if got := d.picture(); got != before {
		t.Errorf("ends as\n%s\nand not as\n%s", got, before)
	}
}

// TestStartsNothingBesideAMissingClaim: the workload is not started as long as a
// claim of another operation is away, however that has come about.
func TestStartsNothingBesideAMissingClaim(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"set-deletes", "set-keeps-templates"} {
		d := dueling(t, name)
		d.a.before = func(step Step) bool { return strings.HasPrefix(step.ID, "delete/") }
		if move := d.a.toTheEnd(); move.Kind != ActNow {
			t.Fatal(move)
		}
		d.a.before = nil
		d.note(d.b)
		for _, v := range d.b.j.Volumes {
			d.deleteNow("exam", v.From.Name)
		}
		move := d.a.toTheEnd()
		if move.Kind != WaitNow || len(move.Holds) != len(d.b.j.Volumes) || !strings.Contains(move.Holds[0], "claim exam/"+d.b.j.Volumes[0].From.Name) {
			t.Errorf("%s: %v\nafter %v", name, move, d.a.wrote)
		}
		heir := d.takeOver(d.b.j, "b2", Back)
		if move := heir.toTheEnd(); move.Kind != Finished {
			t.Fatalf("%s: undo: %v\nafter %v", name, move, heir.wrote)
		}
		d.b = heir
		if move := d.a.toTheEnd(); move.Kind != Finished {
			t.Errorf("%s: %v\nafter %v", name, move, d.a.wrote)
		}
		d.check(3)
	}
}

// TestRecreateBesideASet: a claim that is made again is one of the set's, though
// the operation that makes it has no workload. It is waited for, and does not
// wait itself: then each would have to be undone for the other, and the claim
// would stay gone.
func TestRecreateBesideASet(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"set", "set-keeps-templates"} {
		d := dueling(t, name)
		d.b.j.Request, d.b.j.Workloads = Request{Verb: RecreateClaim}, nil
		for i := range d.b.j.Volumes {
			d.b.j.Volumes[i].From, d.b.j.Volumes[i].FromUID = nil, ""
		}
		d.server.Apply(func(s *sandbox.State) *sandbox.State {
			for _, v := range d.b.j.Volumes {
				s = s.Remove(sandbox.Key{Resource: sandbox.Claims, Namespace: "exam", Name: v.To.Name})
			}
			return s
		})
		d.note(d.a)
		d.note(d.b)
		for _, w := range []*walker{d.a, d.b} {
			if _, move := w.look(); strings.HasPrefix(move.Step.ID, alonePrefix) != (w == d.a) {
				t.Errorf("%s, %s: %v", name, w.j.ID, move)
			}
		}
	}
}

// TestLooksForOthersSeldom: to list all volumes is dear. Once an operation is
// known to be alone, it is done only before what starts pods.
func TestLooksForOthersSeldom(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		m, j := k.start(t).drafted(t)
		w := m.walk(j, "a")
		var wanted []string
		for range 200 {
			m.settle()
			scene := m.scene(j.Wanted())
			wants := WantsOthers(j, w.run, scene)
			_, move := w.look()
			if move.Kind != ActNow {
				break
			}
			if wants {
				wanted = append(wanted, move.Step.ID)
			}
			if err := w.perform(move.Step); err != nil {
				t.Fatal(err)
			}
			w.run.Did(move.Step)
		}
		notes := slices.DeleteFunc(slices.Clone(wanted), func(id string) bool { return !strings.HasPrefix(id, "note/") })
		rest := slices.DeleteFunc(slices.Clone(wanted[len(notes):]), func(id string) bool {
			return strings.HasPrefix(id, "start/") || strings.HasPrefix(id, "remove/") || strings.HasPrefix(id, "recreate/")
		})
		if len(notes) != 1 || len(rest) > 1 {
			t.Errorf("%s: looks for others before %v", k.name, wanted)
		}
	}
}

// TestStrangersDoNotMatter: operations on other workloads, claims and volumes.
func TestStrangersDoNotMatter(t *testing.T) {
	t.Parallel()
	d := dueling(t, "deployment")
	d.note(d.b)
	d.a.j.Workloads = nil
	s := d.scene(d.a.j.Wanted())
	s.Deployments = nil
	d.b.j.Workloads[0].Ref = actions.Ref{Kind: DeploymentKind, Namespace: "other", Name: "web"}
	copied := d.state().Volume(d.b.j.Lead()).DeepCopy()
	copied.Annotations[AnnotationJournal], _ = d.b.j.Encode()
	s.RelatedVolumes, s.OthersFresh = []*corev1.PersistentVolume{copied}, true
	if move := Next(d.a.j, d.a.run, s); move.Kind != ActNow {
		t.Errorf("%v", move)
	}
}

package migration

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

// twoClaims is a Deployment with a claim for each of two operations.
const twoClaims = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: logs, namespace: exam, labels: {app: web}}
spec: {storageClassName: folders, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: exam}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}, {name: l, persistentVolumeClaim: {claimName: logs}}]
`

// duel is two operations that have to do with one workload, each on claims of
// its own.
type duel struct {
	*model
	a, b *walker
	// volumes is how many there are: another one would be a new, empty one.
	volumes int
	undone  int
}

type duelKind struct {
	name      string
	manifests []string
	claims    [2][]string
	keep      bool
}

func duelKinds() []duelKind {
	set := func(retention string) []string {
		return []string{replaced(setManifest, "CLASS", "folders", "RETENTION", retention)}
	}
	return []duelKind{
		{"set", set("Retain"), [2][]string{{"data-db-0"}, {"data-db-1", "data-db-2"}}, false},
		{"deployment", []string{replaced(claimManifest, "CLASS", "folders"), twoClaims}, [2][]string{{"data"}, {"logs"}}, false},
		{"set-deletes", set("Delete"), [2][]string{{"data-db-0", "data-db-1"}, {"data-db-2"}}, false},
		{"set-keeps-templates", set("Delete"), [2][]string{{"data-db-2"}, {"data-db-0"}}, true},
	}
}

// begin plans both, before either has written anything.
func (k duelKind) begin(t *testing.T, s *sandbox.State, secondIsEarlier bool) *duel {
	t.Helper()
	d := &duel{model: newModel(t, s)}
	plan := func(id string, names []string) Journal {
		claim := d.state().Claim("exam", names[0])
		req := Request{Verb: SinglePod, KeepTemplates: k.keep, Volume: actions.Ref{Kind: actions.VolumeKind, Name: claim.Spec.VolumeName}}
		j := handJournal(d.model, req, claim)
		j.ID, j.By = id, "operator of "+id
		j.Volumes = slices.DeleteFunc(j.Volumes, func(v Volume) bool { return !slices.Contains(names, v.From.Name) })
		return j
	}
	one, two := plan("aaaa", k.claims[0]), plan("bbbb", k.claims[1])
	if secondIsEarlier {
		two.Started = two.Started.Add(-time.Second)
	} else {
		two.Started = two.Started.Add(time.Second)
	}
	d.a, d.b = d.walk(one, "a"), d.walk(two, "b")
	d.volumes = d.count()
	return d
}

func (d *duel) count() int { return len(slices.Collect(d.state().Volumes())) }

func (d *duel) settled() {
	d.settle()
	if n := d.count(); n != d.volumes {
		d.t.Errorf("there are %d volumes, and were %d: a claim has got a new, empty one", n, d.volumes)
		d.volumes = n
	}
}

// ready is the step that a run would take, as of its last look, with the version
// that it was previewed at.
func (d *duel) ready(w *walker) (Move, string) {
	for {
		_, first := w.look()
		if first.Kind != ActNow {
			return first, ""
		}
		version := w.version(first.Step)
		if _, again := w.look(); reflect.DeepEqual(first, again) {
			return first, version
		}
	}
}

// send carries a step out that a run was ready for. It may be too late.
func (d *duel) send(w *walker, move Move, version string) {
	if move.Kind == ActNow && w.performAt(move.Step, version) == nil {
		w.run.Did(move.Step)
		w.wrote = append(w.wrote, move.Step.ID)
	}
}

// on goes on with a run for some writes; how many it did.
func (d *duel) on(w *walker, writes int) (did int, last Move) {
	for range 200 {
		d.settled()
		move, version := d.ready(w)
		if move.Kind != ActNow || did == writes {
			return did, move
		}
		before := len(w.wrote)
		d.send(w, move, version)
		did += len(w.wrote) - before
	}
	d.t.Fatalf("no end after %v", w.wrote)
	return did, Move{}
}

// finish brings both to their ends: who halts over the other is undone.
func (d *duel) finish() {
	d.t.Helper()
	for range 12 {
		open := 0
		for _, w := range []*walker{d.a, d.b} {
			_, move := d.on(w, -1)
			switch move.Kind {
			case Finished:
				continue
			case Halt:
				if !strings.HasPrefix(move.Step.ID, alonePrefix) || move.Reason == "" || !strings.Contains(move.Remedy, "ndo") {
					d.t.Fatalf("%s halts: %v\na %v\nb %v", w.run.Holder.Who, move, d.a.wrote, d.b.wrote)
				}
				if !w.run.Started {
					// Nothing was written: it goes on when the other is done.
					break
				}
				d.undone++
				if err := w.perform(TurnTo(w.j, w.run, w.scene(w.j.Wanted()), Back)); err != nil {
					d.t.Fatal(err)
				}
				w.run.Seen = map[string]bool{}
			case WaitNow:
				if len(move.Holds) == 0 {
					d.t.Fatalf("%s waits for nothing: %v", w.run.Holder.Who, move)
				}
			case ActNow:
			}
			open++
		}
		if open == 0 {
			return
		}
	}
	_, a := d.a.look()
	_, b := d.b.look()
	d.t.Fatalf("no end:\na %v\n%v\nb %v\n%v", d.a.wrote, a, d.b.wrote, b)
}

// check: each claim has the volume that it had, all as it was but for the modes
// of those that were migrated, and everything runs.
func (d *duel) check(pods int) {
	d.t.Helper()
	d.settled()
	for _, w := range []*walker{d.a, d.b} {
		if lost := d.lost(w.j); lost != nil {
			d.t.Errorf("the data of %v are lost", lost)
		}
		for _, v := range w.j.Volumes {
			pv, c := d.state().Volume(v.Ref.Name), d.state().Claim("exam", v.From.Name)
			mode := corev1.ReadWriteOncePod
			if w.run.Direction == Back {
				mode = corev1.ReadWriteOnce
			}
			if pv == nil || c == nil || c.Spec.VolumeName != pv.Name || pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID != c.UID ||
				!only(c.Spec.AccessModes, mode) || !only(pv.Spec.AccessModes, mode) || pv.Spec.PersistentVolumeReclaimPolicy != v.Policy {
				d.t.Errorf("volume %+v\nclaim %+v", pv, c)
			}
			for key := range pv.Annotations {
				if strings.HasPrefix(key, "claimref.io/") {
					d.t.Errorf("annotation %s is left on %s", key, pv.Name)
				}
			}
		}
	}
	running := 0
	for pod := range d.state().Pods("exam") {
		if pod.Status.Phase == corev1.PodRunning {
			running++
		}
	}
	if running != pods {
		d.t.Errorf("%d pods run, and not %d", running, pods)
	}
}

// TestTwoAtOnce has two operations on one workload begin at the same time, and
// stops each of them between its last look and its write, at every pair of
// writes.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	crashes := []string{"", "a", "b", "ab"}
	all := duelKinds()
	if sparse(2) > 1 {
		crashes, all = []string{"", "ab"}, all[1:3]
	}
	for _, k := range all {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := built(t, k.manifests...)
			pods := map[bool]int{true: 3, false: 1}[strings.HasPrefix(k.name, "set")]
			for _, crash := range crashes {
				for variant := range 4 {
					how := course{secondIsEarlier: variant&1 > 0, secondSendsFirst: variant&2 > 0, crash: crash}
					for at := 0; k.duels(t, s, at, how, pods); at = later(at) {
					}
				}
				for variant := range 2 {
					how := course{secondIsEarlier: variant&1 > 0, secondLooksFirst: true, crash: crash}
					for at := 0; k.duels(t, s, at, how, pods); at++ {
					}
				}
			}
		})
	}
}

// later is the next write to stop at. Where neither has begun is where it
// matters most.
func later(at int) int {
	if at < 2 {
		return at + 1
	}
	return at + sparse(5)
}

// course is how two operations come in each other's way.
type course struct {
	secondIsEarlier, secondSendsFirst bool
	// secondLooksFirst: the second has looked before the first has written
	// anything, and writes its note when the first is far on.
	secondLooksFirst bool
	// crash are those of "ab" that another machine takes over then.
	crash string
}

// duels has the first stop at a write, and the second at each; it says whether
// the first came so far.
func (k duelKind) duels(t *testing.T, s *sandbox.State, at int, how course, pods int) bool {
	t.Helper()
	for second := 0; ; second = later(second) {
		d := k.begin(t, s, how.secondIsEarlier)
		var stepB Move
		var versionB string
		if how.secondLooksFirst {
			stepB, versionB = d.ready(d.b)
		}
		if did, _ := d.on(d.a, at); did < at {
			return false
		}
		stepA, versionA := d.ready(d.a)
		if !how.secondLooksFirst {
			if did, _ := d.on(d.b, second); did < second {
				return true
			}
			stepB, versionB = d.ready(d.b)
		}
		if how.secondSendsFirst || how.secondLooksFirst {
			d.send(d.b, stepB, versionB)
			d.send(d.a, stepA, versionA)
		} else {
			d.send(d.a, stepA, versionA)
			d.send(d.b, stepB, versionB)
		}
		for _, who := range how.crash {
			if who == 'a' {
				d.a = d.heir(d.a)
			} else {
				d.b = d.heir(d.b)
			}
		}
		d.finish()
		d.check(pods)
		if d.undone > 1 && how.crash == "" {
			t.Errorf("both were undone")
		}
		if t.Failed() {
			t.Fatalf("stopped at writes %d and %d, %+v\na %v\nb %v", at, second, how, d.a.wrote, d.b.wrote)
		}
		if how.secondLooksFirst || len(d.b.wrote) == 0 && second > 0 {
			return true
		}
	}
}

// heir is another program that takes an operation over in the middle; the same
// one, where there is nothing to take over.
func (d *duel) heir(w *walker) *walker {
	if heir := d.takeOver(w.j, "heir of "+w.run.Holder.Who, Forward); heir != nil {
		heir.wrote = append(slices.Clone(w.wrote), "(heir)")
		return heir
	}
	return w
}

package migration

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube/sandbox"
)

// picture is what of a world has to be the same when an operation has come to
// the same end by another way: all but uids, versions, times, and the marks by
// which the controllers remember how things came about.
func (m *model) picture() string {
	s := m.state()
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for pv := range s.Volumes() {
		ref := "nobody"
		if r := pv.Spec.ClaimRef; r != nil {
			ref = r.Namespace + "/" + r.Name
			if c := s.Claim(r.Namespace, r.Name); c == nil || c.UID != r.UID {
				ref += " (not by uid)"
			}
		}
		var ours []string
		for key := range pv.Annotations {
			if strings.HasPrefix(key, "claimref.io/") {
				ours = append(ours, key)
			}
		}
		line("volume of data %s: %s %v %s for %s %v", sandbox.Handle(pv), pv.Status.Phase, pv.Spec.AccessModes, pv.Spec.PersistentVolumeReclaimPolicy, ref, ours)
	}
	for pvc := range s.Claims("") {
		line("claim %s/%s: %s %s %v", pvc.Namespace, pvc.Name, pvc.Status.Phase, as(pvc.Spec), pvc.Labels)
	}
	for o := range s.StatefulSets("") {
		line("set %s: %s", o.Name, as(o.Spec))
	}
	for o := range s.Deployments("") {
		line("deployment %s: %s", o.Name, as(o.Spec))
	}
	for o := range s.CronJobs("") {
		line("cron job %s: %s", o.Name, as(o.Spec))
	}
	for o := range s.Pods("") {
		line("pod of %s: %s", ownerText(o), o.Status.Phase)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func as(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// ends are the pictures of a kind before, and after it was carried out without
// a hitch, with the number of writes that it took.
func (k start) ends(t *testing.T) (before, after string, writes int) {
	t.Helper()
	m, j := k.drafted(t)
	before = m.picture()
	w := m.walk(j, "a")
	if move := w.toTheEnd(); move.Kind != Finished {
		t.Fatalf("%s: %v", k.name, move)
	}
	return before, m.picture(), len(w.wrote)
}

// takeOver is another program, on another machine, that finds the operation on
// the volume and goes on with it; nil when there is nothing to be found.
func (m *model) takeOver(j Journal, token string, d Direction) *walker {
	m.t.Helper()
	found, err := Find(m.state().Volume(j.Lead()))
	if err != nil {
		m.t.Fatal(err)
	}
	if found == nil {
		return nil
	}
	w := m.walk(*found.Journal, token)
	steps := []Step{TakeOver(w.j, w.run, m.scene(w.j.Wanted()))}
	if d != found.Direction {
		steps = append(steps, TurnTo(w.j, w.run, m.scene(w.j.Wanted()), d))
	}
	for _, step := range steps {
		if err := m.perform(step); err != nil {
			m.t.Fatal(err)
		}
	}
	return w
}

// TestCrash ends the program before and after each write of each operation,
// with the controllers ahead or behind, and has another machine finish the
// operation, or undo it.
func TestCrash(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k := k.start(t)
			before, after, writes := k.ends(t)
			for at := 0; at < writes; at += k.stride() {
				for _, sent := range []bool{false, true} {
					for _, d := range []Direction{Forward, Back} {
						name := fmt.Sprintf("write %d, sent %t, %q", at, sent, d)
						m, j := k.drafted(t)
						w := m.walk(j, "a")
						n := 0
						crash := func(Step) bool { n++; return n > at }
						if sent {
							w.after = crash
						} else {
							w.before = crash
						}
						w.toTheEnd()
						want := after
						if d == Back {
							want = before
						}
						heir := m.takeOver(j, "b", d)
						switch {
						case heir == nil && at == 0 && !sent:
							want = before
						case heir == nil && at == writes-1 && sent:
							want = after
						case heir == nil:
							t.Errorf("%s: no journal was found", name)
							continue
						default:
							if move := heir.toTheEnd(); move.Kind != Finished {
								t.Errorf("%s: %v\nafter %v, then %v", name, move, w.wrote, heir.wrote)
								continue
							}
						}
						m.settle()
						m.compare(t, name, j, want)
					}
				}
			}
		})
	}
}

func (m *model) compare(t *testing.T, name string, j Journal, want string) {
	t.Helper()
	if lost := m.lost(j); lost != nil {
		t.Errorf("%s: the data of %v are lost", name, lost)
	}
	if got := m.picture(); got != want {
		t.Errorf("%s: ends as\n%s\nand not as\n%s", name, got, want)
	}
}

// stride leaves out most of the crash points of the operations with many of
// them in the short form: those that are alike but for the ordinal.
func (k kind) stride() int {
	if strings.HasPrefix(k.name, "set") {
		return sparse(4)
	}
	return 1
}

// sparse is the stride of a sweep: one for all of it, n for the short form.
func sparse(n int) int {
	if os.Getenv("CLAIMREF_E2E") == "full" {
		return 1
	}
	return n
}

// TestTurns undoes an operation and changes its mind again at every pair of
// writes.
func TestTurns(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k := k.start(t)
			_, after, writes := k.ends(t)
			for at := 1; at < writes; at += 2 * k.stride() {
				for back := 0; back < 6; back += sparse(2) {
					m, j := k.drafted(t)
					w := m.walk(j, "a")
					w.after = func(Step) bool { return len(w.wrote) == at }
					w.toTheEnd()
					w2 := m.takeOver(j, "b", Back)
					w2.before = func(Step) bool { return len(w2.wrote) == back }
					if move := w2.toTheEnd(); move.Kind == Finished {
						continue
					}
					w3 := m.takeOver(j, "c", Forward)
					if move := w3.toTheEnd(); move.Kind != Finished {
						t.Errorf("after %d writes and %d back: %v", at, back, move)
						continue
					}
					m.compare(t, fmt.Sprintf("%d writes, %d back", at, back), j, after)
				}
			}
		})
	}
}

// meddlers are people and controllers who act between two steps.
func meddlers() map[string]func(m *model, j Journal) {
	return map[string]func(m *model, j Journal){
		// A claim that would take the volume if it were open for a moment.
		"rival": func(m *model, _ Journal) {
			rival := &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: "other", GenerateName: "rival-"},
				Spec: corev1.PersistentVolumeClaimSpec{
					StorageClassName: new("folders"),
					AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
				},
			}
			if _, err := m.api.CoreV1().PersistentVolumeClaims("other").Create(m.t.Context(), rival, metav1.CreateOptions{}); err != nil {
				m.t.Fatal(err)
			}
		},
		// GitOps puts the pods back.
		"scales back": func(m *model, _ Journal) {
			ctx, patch := m.t.Context(), []byte(`{"spec":{"replicas":1}}`)
			if m.state().Deployment("exam", "web") != nil {
				if _, err := m.api.AppsV1().Deployments("exam").Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "argocd"}); err != nil {
					m.t.Fatal(err)
				}
			}
			if m.state().StatefulSet("exam", "db") != nil {
				if _, err := m.api.AppsV1().StatefulSets("exam").Patch(ctx, "db", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{FieldManager: "argocd"}); err != nil {
					m.t.Fatal(err)
				}
			}
		},
		// GitOps puts the claim back as Git has it.
		"re-creates the claim": func(m *model, j Journal) {
			for _, v := range j.Volumes {
				claim := v.From.DeepCopy()
				claim.Spec.VolumeName = ""
				_, _ = m.api.CoreV1().PersistentVolumeClaims(claim.Namespace).Create(m.t.Context(), claim, metav1.CreateOptions{FieldManager: "argocd"})
			}
		},
	}
}

// TestMeddling has somebody interfere before each write: the operation is
// carried out all the same or halts with a reason and a way out, no data are
// lost, and no stranger gets the volume.
func TestMeddling(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		for _, who := range slices.Sorted(maps.Keys(meddlers())) {
			t.Run(k.name+" "+who, func(t *testing.T) {
				t.Parallel()
				meddle := meddlers()[who]
				k := k.start(t)
				_, _, writes := k.ends(t)
				for at := 0; at < writes; at += k.stride() {
					m, j := k.drafted(t)
					w := m.walk(j, "a")
					n := 0
					w.before = func(Step) bool {
						if n == at {
							meddle(m, j)
							m.settle()
						}
						n++
						return false
					}
					move := w.toTheEnd()
					switch {
					case move.Kind == Halt && (move.Reason == "" || move.Remedy == ""):
						t.Errorf("write %d: halts without a reason or a way out: %v", at, move)
					case move.Kind == WaitNow && len(move.Holds) == 0:
						t.Errorf("write %d: waits for nothing: %v", at, move)
					}
					m.settle()
					if lost := m.lost(j); lost != nil {
						t.Errorf("write %d: the data of %v are lost", at, lost)
					}
					for _, v := range j.Volumes {
						pv := m.state().Volume(v.Ref.Name)
						if ref := pv.Spec.ClaimRef; ref == nil || refKey(ref) != claimKey(v.From) && refKey(ref) != claimKey(v.To) {
							t.Errorf("write %d: volume %s went to %v", at, pv.Name, ref)
						}
					}
				}
			})
		}
	}
}

// TestScaledBackAtOnce has somebody start the pods again before the operation
// has looked, and before their controller has: it halts, says what has been
// changed back, and does not stop the pods a second time.
func TestScaledBackAtOnce(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		m, j := k.start(t).drafted(t)
		if !slices.ContainsFunc(j.Workloads, func(w Workload) bool { return scales(w.Ref.Kind) }) {
			continue
		}
		w := m.walk(j, "a")
		w.after = func(step Step) bool {
			if step.Act == Scale {
				meddlers()["scales back"](m, j)
				if _, move := w.look(); move.Kind == Halt && move.Step.ID != step.ID {
					t.Errorf("%s, at once: %v", k.name, move)
				}
			}
			return false
		}
		move := w.toTheEnd()
		stops := slices.DeleteFunc(slices.Clone(w.wrote), func(id string) bool { return !strings.HasPrefix(id, "stop/") })
		if move.Kind != Halt || !strings.Contains(move.Reason, "changed back") || len(stops) != 1 {
			t.Errorf("%s: %v\nafter %v", k.name, move, w.wrote)
		}
	}
}

// TestOrders carries operations out while the controllers act in any order and
// at any time, as they do.
func TestOrders(t *testing.T) {
	t.Parallel()
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k := k.start(t)
			_, after, _ := k.ends(t)
			for seed := range uint64(40 / sparse(8)) {
				m, j := k.drafted(t)
				random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a seed that can be given again
				w := m.walk(j, "a")
				for rounds := 0; ; rounds++ {
					for range random.IntN(4) {
						m.fireOne(random)
					}
					_, move := w.look()
					if move.Kind == Finished {
						break
					}
					if move.Kind == Halt || rounds > 3000 {
						t.Errorf("seed %d: %v\nafter %v", seed, move, w.wrote)
						break
					}
					if move.Kind == WaitNow {
						m.fireOne(random)
						continue
					}
					if err := w.perform(move.Step); err != nil {
						t.Fatalf("seed %d: %s: %v", seed, move.Step.ID, err)
					}
					w.run.Did(move.Step)
					w.wrote = append(w.wrote, move.Step.ID)
				}
				m.settle()
				m.compare(t, fmt.Sprintf("seed %d", seed), j, after)
			}
		})
	}
}

func (m *model) fireOne(random *rand.Rand) {
	m.server.Apply(func(s *sandbox.State) *sandbox.State {
		enabled := sandbox.Enabled(s, m.cs)
		if len(enabled) == 0 {
			return s
		}
		return enabled[random.IntN(len(enabled))].Fire(s)
	})
}

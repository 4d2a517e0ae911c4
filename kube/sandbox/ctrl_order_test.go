package sandbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"pgregory.net/rapid"
)

// withoutEvents is what has to be the same whatever the order: what was said on
// the way is not.
func withoutEvents(s *State) *State {
	for e := range s.Events("") {
		s = s.Remove(KeyOf(e))
	}
	return s
}

// TestOrderDoesNotMatter lets transitions happen in any order, where Kubernetes
// comes to one end.
func TestOrderDoesNotMatter(t *testing.T) {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: selects("app"), Template: template("app", "shared")},
	}
	begin := newWorld(t, class("fast", folders), class("wait", folders, delayed), class("host", hostPathPlugin),
		set(2, retention("Delete", "Retain")), d, pv("v"), pv("kept", reservedFor("kept")),
		pvc("shared"), pvc("kept", asks("")), pvc("late", asks("wait")), pvc("host", asks("host")), podUsing("late", "late"))
	scenes := map[string]func(*world){
		"coming up": func(*world) {},
		"scaling down and deleting": func(w *world) {
			w.settle().editSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(0)) })
			w.delete(Key{Deployments, "ns", "app"}).delete(claimKey("shared")).delete(claimKey("host")).delete(podKey("late"))
		},
		"orphaning": func(w *world) { w.settle().delete(webKey(), metav1.DeletePropagationOrphan) },
		"losing":    func(w *world) { w.settle().s = w.s.Remove(Key{Volumes, "", "v"}) },
	}
	for name, play := range scenes {
		t.Run(name, func(t *testing.T) {
			w := *begin
			play(&w)
			start := w.s
			want := withoutEvents(w.settle().s)
			rapid.Check(t, func(rt *rapid.T) {
				s := start
				for range 3000 {
					enabled := Enabled(s, w.cs)
					if len(enabled) == 0 {
						break
					}
					next := rapid.SampledFrom(enabled).Draw(rt, "transition").Fire(s)
					if next == s {
						rt.Fatal("a transition that was enabled changes nothing")
					}
					s = next
				}
				if n := len(Enabled(s, w.cs)); n > 0 {
					rt.Fatalf("not settled, %d are enabled", n)
				}
				if got := withoutEvents(s); got.Hash() != want.Hash() {
					rt.Fatal("another end")
				}
			})
		})
	}
}

// TestOrderMatters shows that the model has the races that Kubernetes has: two
// claims for one volume, and each may get it.
func TestOrderMatters(t *testing.T) {
	start := newWorld(t, pv("v"), pvc("a"), pvc("b"))
	ends := map[string]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		s := start.s
		for enabled := Enabled(s, start.cs); len(enabled) > 0; enabled = Enabled(s, start.cs) {
			s = rapid.SampledFrom(enabled).Draw(rt, "transition").Fire(s)
		}
		ends[s.Volume("v").Spec.ClaimRef.Name] = true
	})
	if !ends["a"] || !ends["b"] {
		t.Errorf("only %v", ends)
	}
}

// TestTransitionsHaveNames is that nothing enabled is named as something else.
func TestTransitionsHaveNames(t *testing.T) {
	s := newWorld(t, class("fast", folders), set(3, parallel), pv("v"), pv("w"), pvc("a"), pvc("b")).s
	for range 200 {
		seen := map[task]bool{}
		enabled := Enabled(s, Controllers())
		for _, tr := range enabled {
			if seen[taskOf(tr)] {
				t.Fatalf("twice: %v", taskOf(tr))
			}
			seen[taskOf(tr)] = true
		}
		if len(enabled) == 0 {
			return
		}
		s = enabled[0].Fire(s)
	}
	t.Error("not settled")
}

func TestSettleGivesUp(t *testing.T) {
	s := newWorld(t, pv("v"), pvc("one")).s
	if _, err := Settle(s, Controllers(), 2); !errors.Is(err, ErrUnsettled) {
		t.Errorf("err is %v", err)
	}
}

// stage is a Target.
type stage struct {
	mu      sync.Mutex
	s       *State
	changed chan struct{}
}

func (g *stage) State() *State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.s
}

func (g *stage) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}

func (g *stage) Apply(change func(*State) *State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.s = change(g.s)
	close(g.changed)
	g.changed = make(chan struct{})
}

// hands is a clock that jumps to whatever is waited for, until it stands still.
type hands struct {
	mu   sync.Mutex
	now  time.Time
	end  time.Time
	idle chan struct{}
	once sync.Once
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) After(d time.Duration) (<-chan time.Time, func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ready := make(chan time.Time, 1)
	if h.now.Before(h.end) {
		h.now = h.now.Add(d)
		ready <- h.now
	} else {
		h.once.Do(func() { close(h.idle) })
	}
	return ready, func() {}
}

func drive(t *testing.T, g *stage, o Options, lasts time.Duration) {
	t.Helper()
	clock := &hands{now: g.s.Now(), end: g.s.Now().Add(lasts), idle: make(chan struct{})}
	o.Clock = clock
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		NewDriver(g, Controllers(), o).Run(ctx)
		close(done)
	}()
	<-clock.idle
	cancel()
	<-done
}

var _ Target = (*Server)(nil)

func TestDriver(t *testing.T) {
	w := newWorld(t, class("fast", folders), set(2), pvc("one", asks("fast")), podUsing("app", "one"))
	g := &stage{s: w.s, changed: make(chan struct{})}
	// Life keeps the clock going after all is settled.
	drive(t, g, Options{Seed: 7, Life: 20 * time.Second}, 5*time.Minute)
	if n := len(Enabled(g.s, w.cs)); n != 0 {
		t.Errorf("%d are still enabled", n)
	}
	ready, restarts := 0, int32(0)
	for p := range g.s.Pods("ns") {
		if running(p) {
			ready++
		}
		restarts += p.Status.ContainerStatuses[0].RestartCount
	}
	if ready != 3 || restarts == 0 {
		t.Errorf("%d pods run, %d restarts", ready, restarts)
	}
	if made := slices.Collect(g.s.Volumes()); len(made) != 3 {
		t.Errorf("%d volumes", len(made))
	}
	if !g.s.Now().After(w.s.Now()) {
		t.Error("the model's clock stands still")
	}
}

func TestDriverIsDeterministic(t *testing.T) {
	run := func(seed uint64) map[types.UID]string {
		w := newWorld(t, class("fast", folders), set(3, parallel))
		g := &stage{s: w.s, changed: make(chan struct{})}
		drive(t, g, Options{Seed: seed, Life: time.Minute}, 2*time.Minute)
		names := map[types.UID]string{}
		for o := range all[*corev1.PersistentVolumeClaim](g.s, Claims, "") {
			names[o.UID] = o.Name + o.Annotations[volume.AnnBindCompleted] + o.ResourceVersion
		}
		return names
	}
	a, b := run(1), run(1)
	if len(a) != 3 || len(a) != len(b) {
		t.Fatalf("%d and %d claims", len(a), len(b))
	}
	for uid, name := range a {
		if b[uid] != name {
			t.Errorf("%s is %s, then %s", uid, name, b[uid])
		}
	}
}

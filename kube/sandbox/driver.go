package sandbox

import (
	"context"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Target is what a Driver drives. A Server is one.
type Target interface {
	// State is the current one.
	State() *State
	// Apply replaces it by what the function makes of it, as one act.
	Apply(change func(*State) *State)
	// Changed is closed at the next change.
	Changed() <-chan struct{}
}

// Clock is what a Driver waits by.
type Clock interface {
	Now() time.Time
	// After is ready once the time has passed; stop gives it up.
	After(d time.Duration) (ready <-chan time.Time, stop func())
}

// WallClock is the time that everybody has.
type WallClock struct{}

// Now is the time.
func (WallClock) Now() time.Time { return time.Now() }

// After is a timer.
func (WallClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// Options say how a Driver drives. What is not set has a default that makes a
// demo look alive and not hectic.
type Options struct {
	Clock Clock
	// Seed makes the delays: the same seed, the same delays.
	Seed uint64
	// Least and Most bound how long a transition waits after it was enabled.
	Least, Most time.Duration
	// Life is how often something happens that nobody asked for: a pod
	// restarts, or the hour of a cron job comes. Zero means never.
	Life time.Duration
}

// Driver lets the enabled transitions of controllers happen by themselves, each
// some time after it was enabled.
type Driver struct {
	target      Target
	controllers []Controller
	options     Options
	dice        *rand.Rand
	due         map[task]time.Time
	life        time.Time
}

// task names a transition within a State.
type task struct {
	controller, act string
	key             Key
}

func taskOf(t Transition) task { return task{t.Controller, t.Act, t.Key} }

// NewDriver is a Driver that does nothing yet.
func NewDriver(target Target, cs []Controller, o Options) *Driver {
	if o.Clock == nil {
		o.Clock = WallClock{}
	}
	if o.Least <= 0 {
		o.Least = 100 * time.Millisecond
	}
	if o.Most <= 0 {
		o.Most = 800 * time.Millisecond
	}
	return &Driver{
		target: target, controllers: cs, options: o,
		dice: rand.New(rand.NewPCG(o.Seed, 1)), //nolint:gosec // delays of a demo, which are to be the same each time
		due:  map[task]time.Time{},
	}
}

// Run drives until the context ends. It starts no goroutine.
func (d *Driver) Run(ctx context.Context) {
	if d.options.Life > 0 {
		d.life = d.options.Clock.Now().Add(d.options.Life)
	}
	for {
		changed := d.target.Changed()
		next, ok := d.step()
		var ready <-chan time.Time
		stop := func() {}
		if ok {
			ready, stop = d.options.Clock.After(max(0, next.Sub(d.options.Clock.Now())))
		}
		select {
		case <-ctx.Done():
			stop()
			return
		case <-changed:
		case <-ready:
		}
		stop()
	}
}

// step fires what is due, and says when something will be.
func (d *Driver) step() (next time.Time, ok bool) {
	now := d.options.Clock.Now()
	if !d.life.IsZero() && !now.Before(d.life) {
		d.life = now.Add(d.options.Life)
		d.target.Apply(func(s *State) *State { return d.happen(s.WithNow(now), s) })
	}
	s := d.target.State()
	waiting := map[task]time.Time{}
	for _, t := range Enabled(s, d.controllers) {
		at, known := d.due[taskOf(t)]
		if !known {
			at = now.Add(d.options.Least + time.Duration(d.dice.Int64N(int64(max(1, d.options.Most-d.options.Least)))))
		}
		if !at.After(now) {
			d.fire(taskOf(t), now)
			next, ok = now, true // The State is another one: look again.
			continue
		}
		waiting[taskOf(t)] = at
		if !ok || at.Before(next) {
			next, ok = at, true
		}
	}
	d.due = waiting
	if !d.life.IsZero() && (!ok || d.life.Before(next)) {
		next, ok = d.life, true
	}
	return next, ok
}

// fire carries a transition out if it is still enabled.
func (d *Driver) fire(wanted task, now time.Time) {
	d.target.Apply(func(s *State) *State {
		for _, c := range d.controllers {
			if c.Name() != wanted.controller {
				continue
			}
			for _, t := range c.Enabled(s) {
				if taskOf(t) == wanted {
					return t.Fire(s.WithNow(now))
				}
			}
		}
		return s
	})
}

// happen is something that nobody asked for; the State as it was if there is
// nothing that could happen.
func (d *Driver) happen(s, was *State) *State {
	var pods []*corev1.Pod
	for pod := range s.Pods("") {
		if running(pod) && pod.DeletionTimestamp == nil && metav1.GetControllerOf(pod) != nil {
			pods = append(pods, pod)
		}
	}
	crons := s.List(CronJobs)
	i := d.dice.IntN(max(1, len(pods)+len(crons)))
	switch {
	case i < len(pods):
		pod := pods[i]
		return note{"kubelet", pod, corev1.EventTypeWarning, "Unhealthy", "Liveness probe failed: the container does not answer"}.tell(
			s.Update(edited(pod, func(p *corev1.Pod) {
				for i := range p.Status.ContainerStatuses {
					p.Status.ContainerStatuses[i].RestartCount++
				}
			})))
	case i < len(pods)+len(crons):
		if next := RunCron(s, crons[i-len(pods)].GetNamespace(), crons[i-len(pods)].GetName()); next != s {
			return next
		}
	}
	return was
}

package views

import (
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// TestClockOfPodsThatRun: an operation that is turned around after the pods
// were started again has stopped none.
func TestClockOfPodsThatRun(t *testing.T) {
	item := func(id string, state migration.State) migration.Item {
		return migration.Item{Step: migration.Step{ID: id}, State: state}
	}
	steps := func(stop, started migration.State) []migration.Item {
		return []migration.Item{item("note/v", migration.Done), item("stop/shop/web", stop), item("started/shop/web", started)}
	}
	at := func(minutes int) time.Time { return noon().Add(time.Duration(minutes) * time.Minute) }
	var c walkClock
	c.see(steps(migration.Now, migration.Later), at(0))
	c.see(steps(migration.Done, migration.Later), at(1))
	if got := c.pods(at(2)); got != "pods stopped for 1:00" {
		t.Errorf("stopped: %q", got)
	}
	turned := c
	turned.again()
	if got := turned.pods(at(3)); got != "pods stopped for 2:00" {
		t.Errorf("turned around while they are stopped: %q", got)
	}
	c.see(steps(migration.Done, migration.Done), at(3))
	if got := c.pods(at(9)); got != "pods were stopped for 2:00" {
		t.Errorf("started: %q", got)
	}
	c.again()
	if got := c.pods(at(60)); got != "" {
		t.Errorf("turned around while they run: %q", got)
	}
	c.see(steps(migration.Done, migration.Later), at(61))
	if got := c.pods(at(62)); got != "pods stopped for 1:00" {
		t.Errorf("stopped on the way back: %q", got)
	}
}

// TestClockOfPodsThatStart: pods that somebody has started count as stopped no
// longer, and those that are only starting are said to be.
func TestClockOfPodsThatStart(t *testing.T) {
	item := func(id string, state migration.State) migration.Item {
		return migration.Item{Step: migration.Step{ID: id}, State: state}
	}
	steps := func(stop, start, started migration.State) []migration.Item {
		return []migration.Item{item("note/v", migration.Done), item("stop/shop/web", stop), item("start/shop/web", start), item("started/shop/web", started)}
	}
	const now, done, later = migration.Now, migration.Done, migration.Later
	at := func(seconds int) time.Time { return noon().Add(time.Duration(seconds) * time.Second) }
	var c walkClock
	c.see(steps(now, later, later), at(0))
	c.see(steps(done, now, later), at(10))
	if got := c.pods(at(36)); got != "pods stopped for 0:26" {
		t.Errorf("stopped: %q", got)
	}
	// Somebody scales it back.
	c.see(steps(now, later, later), at(36))
	if got := c.pods(at(90)); got != "pods were stopped for 0:26" || c.down(at(90)) != "" {
		t.Errorf("scaled back by somebody: %q, %q", got, c.down(at(90)))
	}
	// They are stopped once more, and then started.
	c.see(steps(done, now, later), at(100))
	if got := c.pods(at(104)); got != "pods stopped for 0:30" || c.down(at(104)) != "0:30" {
		t.Errorf("stopped again: %q, %q", got, c.down(at(104)))
	}
	c.see(steps(done, done, now), at(110))
	if got := c.pods(at(114)); got != "pods starting, down for 0:40" {
		t.Errorf("starting: %q", got)
	}
	c.see(steps(done, done, done), at(115))
	if got := c.pods(at(500)); got != "pods were stopped for 0:41" {
		t.Errorf("ready: %q", got)
	}
}

// TestReadingIsNoWork: the operation begins, and a step takes its time, from the
// request on.
func TestReadingIsNoWork(t *testing.T) {
	r := started(t)
	r.send(tickMsg(noon().Add(40 * time.Second)))
	r.wantOff("0:40")
	r.approve("")
	if got := r.walk.clock.took["note/"+webVolume]; got != 0 {
		t.Errorf("the first write took %v", got)
	}
	if got := r.walk.started(); !got.Equal(noon().Add(40 * time.Second)) {
		t.Errorf("it was begun at %v", got)
	}
}

// TestRefusedIsNotBegun: a first request that was refused begins nothing.
func TestRefusedIsNotBegun(t *testing.T) {
	refuse := true
	r := started(t, func(f *fakeOperation) {
		f.answer = func(kube.StepPreview) (kube.Performed, error) {
			if refuse {
				return kube.Performed{}, apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumes"}, webVolume, errors.New("modified"))
			}
			return kube.Performed{}, nil
		}
	})
	r.approve("")
	refuse = false
	r.send(tickMsg(noon().Add(20 * time.Second)))
	r.approve("")
	if got := r.walk.started(); !got.Equal(noon().Add(20 * time.Second)) {
		t.Errorf("it was begun at %v", got)
	}
}

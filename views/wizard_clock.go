package views

import (
	"fmt"
	"strings"
	"time"

	"github.com/claimref/claimref/actions/migration"
)

// walkClock measures an operation as it is seen: how long each step took, and
// for how long the pods have been stopped. What was done before anybody looked
// has no times, and neither has what others did.
type walkClock struct {
	looked bool // the steps have been looked at, with the plan noted
	// first is when the first request was sent; zero for none.
	first time.Time
	// turn is when a step's turn came, or its request was sent, took how long it
	// was from then until it was seen done.
	turn map[string]time.Time
	took map[string]time.Duration
	done map[string]bool
	// sent are the steps whose requests were sent.
	sent map[string]bool
	// stopped is when the pods were seen stopped, zero while they run; before is
	// for how long they had been stopped earlier.
	stopped time.Time
	before  time.Duration
	// ever: they were seen stopped. starting: nothing keeps them from starting,
	// and they are not ready yet.
	ever     bool
	starting bool
	// early: the pods were stopped before anybody looked here.
	early bool
}

// send notes that the request of a step goes out: what was before that is the
// time that somebody took to read.
func (c *walkClock) send(id string, now time.Time) {
	c.make()
	c.turn[id], c.sent[id] = now, true
	if c.first.IsZero() {
		c.first = now
	}
}

// unsend takes that back: the request did not go out, or was refused.
func (c *walkClock) unsend(id string, first bool) {
	delete(c.sent, id)
	if first {
		c.first = time.Time{}
	}
}

func (c *walkClock) make() {
	if c.turn == nil {
		c.turn, c.took, c.done, c.sent = map[string]time.Time{}, map[string]time.Duration{}, map[string]bool{}, map[string]bool{}
	}
}

// see takes in a fresh outline.
func (c *walkClock) see(items []migration.Item, now time.Time) {
	c.make()
	for _, item := range items {
		switch item.State {
		case migration.Done:
			if since, ok := c.turn[item.ID]; ok && !c.done[item.ID] && (item.Act == migration.Await || c.sent[item.ID]) {
				c.took[item.ID] = now.Sub(since)
			}
			c.done[item.ID] = true
		case migration.Now:
			if _, ok := c.turn[item.ID]; !ok {
				c.turn[item.ID] = now
			}
		case migration.Later:
		}
	}
	c.seePods(items, now)
	// Until the plan is noted, nothing is seen of what was done before.
	c.looked = c.looked || len(items) > 0 && items[0].State == migration.Done
}

func (c *walkClock) seePods(items []migration.Item, now time.Time) {
	stopped, ready, starts, unstarted := false, true, 0, 0
	for _, item := range items {
		done := item.State == migration.Done
		switch what, _, _ := strings.Cut(item.ID, "/"); {
		case stops(item.Step):
			// One whose turn has not come may be as it will be all the same.
			stopped = stopped || done || item.Met
		case what == "started":
			ready = ready && done
		case what == "start", what == "recreate":
			starts++
			if !done {
				unstarted++
			}
		}
	}
	stopped = stopped && !ready
	c.starting = stopped && starts > 0 && unstarted == 0
	switch {
	case stopped && c.stopped.IsZero():
		c.early = c.early || !c.ever && !c.looked
		c.stopped, c.ever = now, true
	case !stopped && !c.stopped.IsZero():
		// They are ready, or somebody has started them.
		c.before += now.Sub(c.stopped)
		c.stopped = time.Time{}
	}
}

// again forgets when the turn of steps came: an operation that walks the other
// way has other steps of the same names. Pods that run again are not stopped
// before that is seen anew.
func (c *walkClock) again() {
	c.turn, c.took, c.done, c.sent = nil, nil, nil, nil
	c.make()
	if c.stopped.IsZero() {
		c.before, c.ever, c.early = 0, false, false
	}
}

// pods says for how long they have been stopped, or were; empty when they
// never were.
func (c *walkClock) pods(now time.Time) string {
	if !c.ever {
		return ""
	}
	total, text := c.before, "pods were stopped for "
	if !c.stopped.IsZero() {
		total, text = total+now.Sub(c.stopped), "pods stopped for "
		if c.starting {
			text = "pods starting, down for "
		}
	}
	if c.early {
		text += "more than "
	}
	return text + clockText(total)
}

// down says for how long pods are stopped right now; empty while they run.
func (c *walkClock) down(now time.Time) string {
	if c.stopped.IsZero() || c.starting {
		return ""
	}
	return clockText(c.before + now.Sub(c.stopped))
}

// clockText writes a duration as a clock does.
func clockText(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

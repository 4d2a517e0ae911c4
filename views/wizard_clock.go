package views

import (
	"fmt"
	"strings"
	"time"

	"github.com/claimref/claimref/actions/migration"
)

// walkClock measures an operation as it is seen: how long each step took, and
// for how long the pods have been stopped. What was done before anybody looked
// has no times.
type walkClock struct {
	looked bool // the steps have been looked at, with the plan noted
	// turn is when a step's turn came, took how long it was until it was seen
	// done.
	turn map[string]time.Time
	took map[string]time.Duration
	done map[string]bool
	// stopped is when the first pods were seen stopped, zero while they run;
	// running is when they were seen to be ready again.
	stopped time.Time
	running time.Time
	// early: the pods were stopped before anybody looked here.
	early bool
}

// see takes in a fresh outline.
func (c *walkClock) see(items []migration.Item, now time.Time) {
	if c.turn == nil {
		c.turn, c.took, c.done = map[string]time.Time{}, map[string]time.Duration{}, map[string]bool{}
	}
	for _, item := range items {
		switch item.State {
		case migration.Done:
			if since, ok := c.turn[item.ID]; ok && !c.done[item.ID] {
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
	stopped, ready := false, true
	for _, item := range items {
		switch {
		case stops(item.Step) && item.State == migration.Done:
			stopped = true
		case strings.HasPrefix(item.ID, "started/") && item.State != migration.Done:
			ready = false
		}
	}
	switch {
	case !stopped:
	case c.stopped.IsZero() && ready:
		// They run, and it was not seen that they were ever stopped.
	case c.stopped.IsZero():
		c.stopped, c.early = now, !c.looked
	case ready && c.running.IsZero():
		c.running = now
	}
}

// again forgets when the turn of steps came: an operation that walks the other
// way has other steps of the same names. Pods that are ready again are not
// stopped before that is seen anew.
func (c *walkClock) again() {
	c.turn, c.took, c.done = map[string]time.Time{}, map[string]time.Duration{}, map[string]bool{}
	if !c.running.IsZero() {
		c.stopped, c.running, c.early = time.Time{}, time.Time{}, false
	}
}

// pods says for how long they have been stopped, or were; empty when they
// never were.
func (c *walkClock) pods(now time.Time) string {
	if c.stopped.IsZero() {
		return ""
	}
	end, verb := now, "pods stopped for "
	if !c.running.IsZero() {
		end, verb = c.running, "pods were stopped for "
	}
	if c.early {
		verb += "more than "
	}
	return verb + clockText(end.Sub(c.stopped))
}

// clockText writes a duration as a clock does.
func clockText(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

package kube

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrainWaitsForWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster().client
		if err := c.Drain(time.Second); err != nil {
			t.Errorf("nothing to wait for: %v", err)
		}
		failed := errors.New("conflict")
		for _, outcome := range []error{nil, failed} {
			end := c.writes.begin()
			start := time.Now()
			go func() {
				time.Sleep(3 * time.Second)
				end(outcome)
			}()
			if err := c.Drain(time.Minute); !errors.Is(err, outcome) || time.Since(start) != 3*time.Second {
				t.Errorf("drained after %v: %v", time.Since(start), err)
			}
		}
		c = newCluster().client
		end := c.writes.begin()
		if err := c.Drain(time.Second); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("gave up: %v", err)
		}
		end(nil)
	})
}

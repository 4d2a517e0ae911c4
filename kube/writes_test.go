package kube

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestDrainWaitsForWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster().client
		if _, err := c.Drain(time.Second); err != nil {
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
			if _, err := c.Drain(time.Minute); !errors.Is(err, outcome) || time.Since(start) != 3*time.Second {
				t.Errorf("drained after %v: %v", time.Since(start), err)
			}
		}
		c = newCluster().client
		end := c.writes.begin()
		if _, err := c.Drain(time.Second); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("gave up: %v", err)
		}
		end(nil)
	})
}

// TestNothingLeavesAfterDrain: a request that was approved, but whose last
// look is still going on when the program ends, is not sent.
func TestNothingLeavesAfterDrain(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	sent := len(server.sent(http.MethodPatch))
	looking, drained := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(drained)
		<-looking
		if done, err := c.Drain(time.Minute); done != 0 || !errors.Is(err, ErrNotSent) {
			t.Errorf("drained: %d done, %v", done, err)
		}
	}()
	_, err = c.Apply(t.Context(), p, func(context.Context) error {
		close(looking)
		for !c.writes.closed() {
			runtime.Gosched()
		}
		return nil
	})
	<-drained
	if !errors.Is(err, ErrNotSent) || len(server.sent(http.MethodPatch)) != sent {
		t.Errorf("after the end: %v, %d requests", err, len(server.sent(http.MethodPatch))-sent)
	}
}

// TestLookStopsTheRequest: an error of the last look is the answer.
func TestLookStopsTheRequest(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	sent, changed := len(server.sent(http.MethodPatch)), errors.New("changed")
	if _, err := c.Apply(t.Context(), p, func(context.Context) error { return changed }); !errors.Is(err, changed) {
		t.Errorf("the look's error became %v", err)
	}
	if got := len(server.sent(http.MethodPatch)); got != sent {
		t.Errorf("%d requests were sent in spite of the look", got-sent)
	}
}

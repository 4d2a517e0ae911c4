package kube

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestDrainWaitsForTheRecord: to write down what was done is part of doing it,
// and what could not be written down is told to whoever waits.
func TestDrainWaitsForTheRecord(t *testing.T) {
	full := errors.New("disk full")
	for name, untold := range map[string]error{"written": nil, "disk full": full} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				p := l.previewed(l.retain())
				go func() {
					_, _ = l.client.performThen(t.Context(), p, nil, func(*Performed, error) error {
						time.Sleep(time.Minute)
						return untold
					})
				}()
				synctest.Wait()
				start := time.Now()
				done, err := l.client.Drain(time.Hour)
				if time.Since(start) != time.Minute || !errors.Is(err, untold) || (done == 1) != (untold == nil) {
					t.Errorf("after %v: %d done, %v", time.Since(start), done, err)
				}
			})
		})
	}
}

// TestHistoryHasWhatWasDoneAtTheEnd: the screen is gone and its context has
// ended while the answer is on its way; what was done is in the history when the
// program ends.
func TestHistoryHasWhatWasDoneAtTheEnd(t *testing.T) {
	l := newLab(t)
	o := l.operation(t, l.journalOf("data"))
	p := l.drivenTo(o, "note/")
	folder, err := o.backUp(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, quit := context.WithCancel(t.Context())
	answered := make(chan struct{})
	l.wire.lose = func(r *http.Request) bool {
		if isReal(r) {
			quit()
			close(answered)
		}
		return false
	}
	// Nothing can be recorded yet.
	o.backups.mu.Lock()
	go func() { _, _ = o.Do(ctx, nil, p) }()
	<-answered
	go func() {
		for !l.client.writes.closed() {
			time.Sleep(time.Millisecond)
		}
		o.backups.mu.Unlock()
	}()
	if done, err := l.client.Drain(time.Minute); done != 1 || err != nil {
		t.Errorf("%d done, %v", done, err)
	}
	records, err := o.backups.History(folder)
	if err != nil || len(records) != 1 || records[0].Step != p.Step.ID || records[0].Outcome == "" {
		t.Errorf("%+v, %v", records, err)
	}
}

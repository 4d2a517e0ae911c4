package kube

import (
	"errors"
	"sync"
	"time"
)

// writes counts the writes that are on their way. Its zero value is ready.
type writes struct {
	mu      sync.Mutex
	running int
	// closing: the program is ending, and no further request may leave.
	closing bool
	// idle is closed when the last one ends; nil while nobody waits.
	idle chan struct{}
	// errs are those of writes that ended while somebody waited for them: by
	// then there is no screen any more to show them.
	errs []error
}

// begin notes that a write starts; the returned function, that it has ended.
func (w *writes) begin() (end func(error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	return func(err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running--
		if w.idle == nil {
			return
		}
		w.errs = append(w.errs, err)
		if w.running == 0 {
			close(w.idle)
			w.idle = nil
		}
	}
}

// closed says that no further request may leave.
func (w *writes) closed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closing
}

// Drain waits for the writes that are on their way, when the screen has gone,
// and lets no further one begin. It returns how many ended well. Its error says
// what became of the others, or that there is one whose end could not be
// waited for.
func (c *Client) Drain(timeout time.Duration) (done int, err error) {
	w := &c.writes
	w.mu.Lock()
	w.closing = true
	if w.running == 0 {
		w.mu.Unlock()
		return 0, nil
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()

	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var late error
	select {
	case <-idle:
	case <-timer.C:
		late = &Problem{
			Kind: KindOutcomeUnknown,
			Text: "a change was still on its way; look at the volume before you do anything else",
			Err:  ErrOutcomeUnknown,
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.errs {
		if err == nil {
			done++
		}
	}
	return done, errors.Join(append(w.errs, late)...)
}

// Writing says whether a write is on its way.
func (c *Client) Writing() bool {
	c.writes.mu.Lock()
	defer c.writes.mu.Unlock()
	return c.writes.running > 0
}

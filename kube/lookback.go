package kube

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// readbacks is how often an object is looked at after a lost answer, and
// readbackTimeout how long one look may take: someone is waiting.
const (
	readbacks       = 5
	readbackTimeout = 5 * time.Second
)

// sight is what one look at an object tells of a request whose answer was
// lost.
type sight int

const (
	// unseen: the object could not be looked at.
	unseen sight = iota
	// asBefore: nothing has happened, which may yet change.
	asBefore
	// applied: the request took effect.
	applied
	// refused: it did not, and can't any more.
	refused
	// strange: something else has happened, which may be on the way to what
	// was expected.
	strange
	// hopeless: something else has happened, and nothing more will be learnt.
	hopeless
)

// finding is a sight with the words for it.
type finding struct {
	sight sight
	text  string
}

// lookBack finds out whether a request took effect whose answer was lost; nil
// if it did. It goes on when the caller's context has ended: the user who quits
// is the one who most needs to know. It has a bound of its own instead.
//
// Until the server has given up, which it does at the moment given, a request
// that has not taken effect may still do so.
func (c *Client) lookBack(ctx context.Context, name string, cause error, givenUp time.Time, look func(context.Context) finding) error {
	ctx = context.WithoutCancel(ctx)
	last := finding{text: name + " can't be read: look at it before you do anything else"}
	for n, late := 0, false; n < readbacks || !late; n++ {
		if n > 0 {
			pauseFor(ctx, c.timing.Readback, nil)
		}
		late = !time.Now().Before(givenUp)
		bounded, cancel := context.WithTimeout(ctx, min(readbackTimeout, c.timing.Request))
		found := look(bounded)
		cancel()
		switch found.sight {
		case applied:
			return nil
		case refused:
			return lost(ErrNotApplied, cause, found.text)
		case hopeless:
			return lost(ErrOutcomeUnknown, cause, found.text)
		case strange:
			last = found
		case asBefore:
			if late {
				return lost(ErrNotApplied, cause, found.text)
			}
		case unseen:
		}
	}
	return lost(ErrOutcomeUnknown, cause, last.text)
}

func lost(outcome, cause error, text string) error {
	kind := KindOutcomeUnknown
	if errors.Is(outcome, ErrNotApplied) {
		kind = KindNotApplied
	}
	return &Problem{Kind: kind, Text: "the answer was lost, and " + text, Err: fmt.Errorf("%w: %w", outcome, cause)}
}

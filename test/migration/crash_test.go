package migration

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/claimref/claimref/actions/migration"
)

// crashesInShort is how many moments of each kind are in the ordinary run, for
// each direction.
const crashesInShort = 2

// crashes kill the program before and after each write, and have another one
// finish the operation, or undo it.
func crashes(t *testing.T, k kind, e ends, random *rand.Rand) {
	for _, s := range [...]sort{resumed, undone} {
		direction := migration.Forward
		if s == undone {
			direction = migration.Back
		}
		for _, moment := range sample(random, 2*len(e.steps), crashesInShort) {
			at, sent, when := moment/2+1, moment%2 > 0, "before"
			if sent {
				when = "after"
			}
			k.parallel(t, fmt.Sprintf("killed %s write %d, %s", when, at, s), s, func(w *world) {
				w.t.Logf("write %d is %s", at, e.steps[at-1])
				crash(w, e, at, sent, direction)
			})
		}
	}
}

func crash(w *world, e ends, at int, sent bool, d migration.Direction) {
	w.becomes(e.before)
	first := w.begin()
	first.Kill, first.Sent = at, sent
	r, home, killed := w.process(first)
	if !killed {
		w.t.Fatalf("the program was not killed: %+v", r)
	}
	if err := w.backedUp(home); err != nil {
		w.t.Error(err)
	}
	want := e.after
	if d == migration.Back {
		want = e.before
	}
	r, _, killed = w.process(w.heir(d))
	switch {
	case r.Outcome == nothing && at == 1 && !sent:
		want = e.before
	case r.Outcome == nothing && at == len(e.steps) && sent:
		want = e.after
	case r.Outcome != finished || killed:
		w.t.Fatalf("the other program has not finished: %+v", r)
	}
	w.becomes(want)
}

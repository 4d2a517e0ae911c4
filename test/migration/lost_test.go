package migration

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/claimref/claimref/kube"
)

// loseAnswers loses the answer to each write, after it has taken effect.
func loseAnswers(t *testing.T, k kind, e ends, random *rand.Rand) {
	for _, at := range sample(random, len(e.steps), 1) {
		at++
		k.parallel(t, fmt.Sprintf("answer to write %d lost", at), lostAnswers, func(w *world) {
			w.t.Logf("write %d is %s", at, e.steps[at-1])
			loseAnswer(w, e, at)
		})
	}
}

// loseAnswer checks that the effect is recognised, and that the write is not
// repeated.
func loseAnswer(w *world, e ends, at int) {
	w.becomes(e.before)
	line := &wire{after: func(write int, _ *http.Request) error {
		if write == at {
			return io.ErrUnexpectedEOF
		}
		return nil
	}}
	r, err := w.carryOut(w.begin(), line)
	if err != nil || r.Outcome != finished {
		w.t.Fatalf("%+v: %v", r, err)
	}
	if line.writes() != len(e.steps) {
		w.t.Errorf("%d writes took effect, and %d would have done: %v", line.writes(), len(e.steps), r.Steps)
	}
	recovered := recoveredSteps(w, r.Folder)
	if len(recovered) != 1 || recovered[0] != e.steps[at-1] {
		w.t.Errorf("the history says that the answers to %v were lost, and it was %s", recovered, e.steps[at-1])
	}
	w.becomes(e.after)
}

// recoveredSteps are the steps of which the history says that their effect was
// seen afterwards.
func recoveredSteps(w *world, folder string) []string {
	w.t.Helper()
	backups, err := kube.OpenBackups(folder)
	if err != nil {
		w.t.Fatal(err)
	}
	history, err := backups.History(folder)
	if err != nil {
		w.t.Fatal(err)
	}
	var steps []string
	for _, record := range history {
		if strings.Contains(record.Outcome, "answer was lost, and the effect was seen") {
			steps = append(steps, w.neutral(record.Step))
		}
	}
	return steps
}

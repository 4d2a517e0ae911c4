package explain

import (
	"slices"
	"strings"

	"github.com/claimref/claimref/kube"
)

// ourselves is who did what the history of operations tells.
const ourselves = "claimref"

// WithHistory adds to a timeline what operations did, as their backups tell it.
// What did not go through is a warning.
func WithHistory(moments []Moment, records []kube.Record) []Moment {
	l := &timeline{moments: slices.Clone(moments)}
	for _, r := range records {
		level, what := Plain, clean(r.Title)
		if outcome := message(r.Outcome, "outcome unknown"); outcome != "applied" {
			what += ": " + outcome
			if !strings.HasPrefix(outcome, "applied;") {
				level = Warn
			}
		}
		l.add(r.Time, what, ourselves, level)
	}
	return l.sorted()
}

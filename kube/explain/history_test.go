package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/claimref/claimref/kube"
)

func TestWithHistory(t *testing.T) {
	at := func(d time.Duration) time.Time { return noon().Add(-d) }
	got := WithHistory([]Moment{{When: at(3 * time.Hour), What: "Created"}, {When: at(time.Hour), What: "Became Bound"}}, []kube.Record{
		{Time: at(2 * time.Hour), Title: "Set policy Retain\x1b[31m", Outcome: "applied"},
		{Time: at(30 * time.Minute), Title: "Delete claim shop/web", Outcome: "Somebody else changed it."},
		{Time: at(20 * time.Minute), Title: "Delete claim shop/web", Outcome: "applied; the answer was lost"},
		{Title: "Nobody knows when", Outcome: "applied"},
	})
	want := strings.Join([]string{
		"3h0m0s Created",
		"2h0m0s Set policy Retain[31m by claimref",
		"1h0m0s Became Bound",
		"30m0s Delete claim shop/web: Somebody else changed it by claimref",
		"20m0s Delete claim shop/web: applied; the answer was lost by claimref",
	}, "\n")
	if lines(got) != want {
		t.Errorf("got\n%s, want\n%s", lines(got), want)
	}
	for i, level := range []Level{Plain, Plain, Plain, Warn, Plain} {
		if got[i].Level != level {
			t.Errorf("%s has level %v", got[i].What, got[i].Level)
		}
	}
}

package migration

import (
	"strings"
	"testing"
)

// TestUnknownHolder has the name of whoever is at work taken off or spoilt: the
// run that was at work stops, and whoever takes over knowingly goes on.
func TestUnknownHolder(t *testing.T) {
	t.Parallel()
	for name, holder := range map[string]string{
		"taken off": `null`, "spoilt": `"{"`, "of another form": `"[]"`, "without a token": `"{\"who\":\"x\"}"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, w := halting(t, "deployment", "delete/")
			m.patchVolume(w.j.Lead(), `{"metadata":{"annotations":{"claimref.io/holder":`+holder+`}}}`, "somebody")
			for _, run := range []Run{w.run, {Holder: Holder{Who: "b", Token: "b"}}, {}} {
				move := Next(w.j, run, m.scene(w.j.Wanted()))
				if move.Kind != Halt || !strings.Contains(move.Reason, "claimref.io/holder") || !strings.Contains(move.Remedy, "take it over") {
					t.Errorf("%q: %v", run.Holder.Who, move)
				}
			}
			if _, holder := Heading(w.j, m.scene(w.j.Wanted())); holder.Token == "" || strings.Contains(holder.Who, "\n") {
				t.Errorf("%+v", holder)
			}
			heir := m.takeOver(w.j, "b", Back)
			if move := heir.toTheEnd(); move.Kind != Finished {
				t.Errorf("taken over: %v", move)
			}
		})
	}
}

package kube

import (
	"testing"

	"github.com/claimref/claimref/actions/migration"
)

// TestTurnIsNoTakeOver: whoever has lost the operation to somebody else does
// not get it back by turning it around.
func TestTurnIsNoTakeOver(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		ann := l.operation(t, l.journalOf("data"))
		l.drivenTo(ann, "delete/")
		before, err := ann.Look(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := migration.Find(l.volume("data"))
		if err != nil {
			t.Fatal(err)
		}
		bob, err := l.client.ResumeOperation(openBackups(t), *found, "bob")
		if err != nil {
			t.Fatal(err)
		}
		s, err := bob.Look(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		over, err := bob.Preview(t.Context(), bob.TakeOver(s))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bob.Do(t.Context(), nil, over); err != nil {
			t.Fatal(err)
		}
		// Ann has not looked since, and wants to go back.
		turn, err := ann.Preview(t.Context(), ann.Turn(before, migration.Back))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ann.Do(t.Context(), nil, turn); KindOf(err) != KindGuard {
			t.Errorf("ann turned around what bob is at work on: %v", err)
		}
		if s, err = bob.Look(t.Context(), nil); err != nil || s.Holder.Who != "bob" || s.Direction != migration.Forward {
			t.Errorf("held by %q, direction %q, %v", s.Holder.Who, s.Direction, err)
		}
	})
}

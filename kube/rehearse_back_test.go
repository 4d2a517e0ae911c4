package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions/migration"
)

// TestRehearsalFromAnywhere: wherever an operation was left, what remains of it
// can be rehearsed whole, in both directions, and is shown again as its turn
// comes.
func TestRehearsalFromAnywhere(t *testing.T) {
	for name, manifest := range map[string]string{"deployment": labDeployment, "set": labSet} {
		for _, direction := range []migration.Direction{migration.Forward, migration.Back} {
			for left, more := 1, true; more; left++ {
				t.Run(fmt.Sprintf("%s %s after %d", name, direction, left), func(t *testing.T) {
					inLab(t, func(t *testing.T, l *lab) {
						more = l.rehearsedFrom(name == "set", direction, left)
					}, manifest)
				})
			}
		}
	}
}

// rehearsedFrom leaves an operation after some writes, turns it around if it is
// to, and goes on to the end by what was rehearsed. It says whether there are
// more writes to leave it after.
func (l *lab) rehearsedFrom(set bool, direction migration.Direction, left int) (more bool) {
	l.t.Helper()
	j := l.journalOf("data")
	claims := []string{"data"}
	if set {
		j, claims = l.setJournal(), []string{"data-db-0", "data-db-1"}
	}
	o := l.operation(l.t, j)
	enough := errors.New("enough")
	writes := 0
	_, err := o.Drive(l.t.Context(), nil, func(StepPreview) error {
		if writes++; writes > left {
			return enough
		}
		return nil
	})
	if err == nil {
		return false // It came to its end before.
	}
	if !errors.Is(err, enough) {
		l.t.Fatal(err)
	}
	if direction == migration.Back {
		s, err := o.Look(l.t.Context(), nil)
		if err != nil {
			l.t.Fatal(err)
		}
		turn, err := o.Preview(l.t.Context(), o.Turn(s, direction))
		if err != nil {
			l.t.Fatal(err)
		}
		if _, err := o.Do(l.t.Context(), nil, turn); err != nil {
			l.t.Fatal(err)
		}
	}
	s, err := o.Look(l.t.Context(), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	previews, err := o.Rehearse(l.t.Context(), s)
	if err != nil {
		l.t.Fatalf("rehearse: %v", err)
	}
	_, err = o.Drive(l.t.Context(), nil, func(fresh StepPreview) error {
		at := slices.IndexFunc(previews, func(p StepPreview) bool { return p.Step.ID == fresh.Step.ID })
		if at < 0 {
			l.t.Errorf("%s was not rehearsed", fresh.Step.ID)
		} else if old := previews[at]; !Same(old, fresh) {
			l.t.Errorf("%s:\nrehearsed %+v\n%s\nfresh\n%s", fresh.Step.ID, old.DryRun, strings.Join(old.Changes(), "\n"), strings.Join(fresh.Changes(), "\n"))
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	mode := corev1.ReadWriteOncePod
	if direction == migration.Back {
		mode = corev1.ReadWriteOnce
	}
	for _, claim := range claims {
		l.checkMigrated(claim, mode)
	}
	return true
}

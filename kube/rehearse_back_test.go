package kube

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// TestRehearsalFromAnywhere: wherever an operation was left, what remains of it
// can be rehearsed whole, in both directions, and is shown again as its turn
// comes.
func TestRehearsalFromAnywhere(t *testing.T) {
	single := func(claim string) func(*lab) migration.Request {
		return func(l *lab) migration.Request { return l.single(claim) }
	}
	for name, tt := range map[string]struct {
		manifest string
		request  func(*lab) migration.Request
		claims   []string
	}{
		"deployment": {labDeployment, single("data"), []string{"data"}},
		"set":        {labSet, single("data-db-0"), []string{"data-db-0", "data-db-1"}},
		"move": {labCron, func(l *lab) migration.Request {
			return migration.Request{
				Verb: migration.MoveClaim, Volume: refOf(actions.VolumeKind, l.volume("data")), To: actions.ClaimKey{Namespace: "other", Name: "moved"},
			}
		}, nil},
		"recreate": {labCron, func(l *lab) migration.Request {
			pv := l.volume("data")
			edit(l, pv, func(pv *corev1.PersistentVolume) {
				pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
			})
			l.remove(l.claim("data"))
			l.settle()
			return migration.Request{Verb: migration.RecreateClaim, Volume: refOf(actions.VolumeKind, pv)}
		}, nil},
	} {
		for _, direction := range []migration.Direction{migration.Forward, migration.Back} {
			for left, more := 1, true; more; left++ {
				t.Run(fmt.Sprintf("%s %s after %d", name, direction, left), func(t *testing.T) {
					inLab(t, func(t *testing.T, l *lab) {
						plan, err := l.client.PlanOperation(t.Context(), tt.request(l), labSnapshot(), "ann")
						if err != nil || len(blocks(plan.Checks)) > 0 {
							t.Fatalf("%v, %v", blocks(plan.Checks), err)
						}
						if more = l.rehearsedFrom(plan.Journal, direction, left); !more {
							return
						}
						for _, claim := range tt.claims {
							mode := corev1.ReadWriteOncePod
							if direction == migration.Back {
								mode = corev1.ReadWriteOnce
							}
							l.checkMigrated(claim, mode)
						}
					}, tt.manifest)
				})
			}
			if t.Failed() {
				return
			}
		}
	}
}

// rehearsedFrom leaves an operation after some writes, turns it around if it is
// to, and goes on to the end by what was rehearsed. It says whether there were
// so many writes.
func (l *lab) rehearsedFrom(j migration.Journal, direction migration.Direction, left int) (more bool) {
	l.t.Helper()
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
	return true
}

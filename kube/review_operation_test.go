package kube

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions/migration"
)

// TestResumeAfterAHalt: whoever has seen that something was changed back can
// have it done once more, by the same program.
func TestResumeAfterAHalt(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		if _, err := o.Do(t.Context(), nil, l.drivenTo(o, "stop/")); err != nil {
			t.Fatal(err)
		}
		edit(l, l.state().Deployment("exam", "web"), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
		for range 2 {
			_, err := o.Drive(t.Context(), nil, yes)
			if halt, ok := errors.AsType[*HaltError](err); !ok || !strings.Contains(halt.Error(), "changed back") {
				t.Fatalf("error = %v", err)
			}
		}
		o.Resume()
		if s, err := o.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	}, labDeployment)
}

// TestNoWriteAfterSleep: a machine that fell asleep between the last look and
// the request does not send it when it wakes up.
func TestNoWriteAfterSleep(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		p := l.drivenTo(o, "delete/")
		before := len(l.wire.real())
		_, err := l.client.Perform(t.Context(), p, func(context.Context) error {
			time.Sleep(time.Hour)
			return nil
		})
		if KindOf(err) != KindGuard || len(l.wire.real()) != before {
			t.Errorf("error = %v, sent %v", err, l.wire.real()[before:])
		}
		if l.claim("data").DeletionTimestamp != nil {
			t.Error("the claim was deleted")
		}
	})
}

// TestSameMachineResumes: the backup that began with the operation is kept.
func TestSameMachineResumes(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		ann := l.operation(t, l.setJournal())
		l.drivenTo(ann, "delete/")
		found, err := migration.Find(l.volume("data-db-0"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.client.ResumeOperation(ann.backups, *found, "ann")
		if err != nil {
			t.Fatal(err)
		}
		s, err := again.Look(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := again.Preview(t.Context(), again.TakeOver(s))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Do(t.Context(), nil, p); err != nil || again.Folder() != ann.Folder() {
			t.Fatalf("%q and %q: %v", again.Folder(), ann.Folder(), err)
		}
		if s, err := again.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
	}, labSet)
}

// TestJournalWasForged: the journal on the volume is not the one that was
// backed up here, so that nothing is written by it.
func TestJournalWasForged(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		ann := l.operation(t, l.journalOf("data"))
		l.drivenTo(ann, "stop/")
		edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
			pv.Annotations[migration.AnnotationJournal] = strings.Replace(pv.Annotations[migration.AnnotationJournal], `"policy":"Delete"`, `"policy":"Retain"`, 1)
		})
		found, err := migration.Find(l.volume("data"))
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.client.ResumeOperation(ann.backups, *found, "ann")
		if err != nil {
			t.Fatal(err)
		}
		s, err := again.Look(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := again.Preview(t.Context(), again.TakeOver(s))
		if err != nil {
			t.Fatal(err)
		}
		before := len(l.wire.real())
		if _, err := again.Do(t.Context(), nil, p); err == nil || !strings.Contains(err.Error(), "is not the one that was backed up") {
			t.Errorf("error = %v", err)
		}
		if real := l.wire.real(); len(real) != before {
			t.Errorf("sent %v", real[before:])
		}
	}, labDeployment)
}

// TestTakenBack: whoever takes an operation back from somebody else does not
// call what they did a meddling.
func TestTakenBack(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		takeOver := func(o *Operation, then func(Standing) (migration.Step, bool)) {
			t.Helper()
			for _, step := range []func(Standing) (migration.Step, bool){func(s Standing) (migration.Step, bool) { return o.TakeOver(s), true }, then} {
				s, err := o.Look(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				next, ok := step(s)
				if !ok {
					continue
				}
				p, err := o.Preview(t.Context(), next)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := o.Do(t.Context(), nil, p); err != nil {
					t.Fatal(err)
				}
			}
		}
		ann := l.operation(t, l.journalOf("data"))
		l.drivenTo(ann, "delete/")
		found, err := migration.Find(l.volume("data"))
		if err != nil {
			t.Fatal(err)
		}
		bob, err := l.client.ResumeOperation(openBackups(t), *found, "bob")
		if err != nil {
			t.Fatal(err)
		}
		takeOver(bob, func(s Standing) (migration.Step, bool) { return bob.Turn(s, migration.Back), true })
		l.drivenTo(bob, "policy/")
		takeOver(bob, func(s Standing) (migration.Step, bool) { return bob.Turn(s, migration.Forward), true })
		takeOver(ann, func(Standing) (migration.Step, bool) { return migration.Step{}, false })
		if s, err := ann.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	}, labDeployment)
}

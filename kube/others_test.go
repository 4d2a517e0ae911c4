package kube

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube/sandbox"
)

// ordinals are two operations on a set, each on one of its claims, planned
// before either was begun.
func (l *lab) ordinals() (one, two migration.Journal) {
	l.t.Helper()
	one, two = l.setJournal(), l.setJournal()
	one.Volumes, two.Volumes = one.Volumes[:1], two.Volumes[1:]
	two.ID, two.By, two.Started = "bbbb", "bob", one.Started.Add(time.Second)
	return one, two
}

// TestTwoOperationsOnOneSet: both were approved before either had written its
// note. One is undone, the other waits for that, and no claim gets another
// volume.
func TestTwoOperationsOnOneSet(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.wire.settles = true
		one, two := l.ordinals()
		first, second := l.client.NewOperation(openBackups(t), one, "ann"), l.client.NewOperation(openBackups(t), two, "bob")
		p, q := l.drivenTo(first, "note/"), l.drivenTo(second, "note/")
		// Bob's last look is over when ann writes.
		fired := false
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if isReal(r) && !fired {
				fired = true
				if _, err := first.Do(t.Context(), nil, p); err != nil {
					t.Error(err)
				}
			}
			return nil, nil
		}
		if _, err := second.Do(t.Context(), nil, q); err != nil {
			t.Fatal(err)
		}
		l.wire.before = nil
		s, err := first.Look(t.Context(), nil)
		if err != nil || s.Move.Kind != migration.WaitNow || !strings.Contains(s.Move.Holds[0], "bbbb") {
			t.Fatalf("ann: %+v, %v", s.Move, err)
		}
		s, err = second.Drive(t.Context(), nil, yes)
		if halt, ok := errors.AsType[*HaltError](err); !ok || !strings.Contains(halt.Error(), "begun by ann") || !strings.Contains(halt.Error(), "Undo this one") {
			t.Fatalf("bob: %v", err)
		}
		turn, err := second.Preview(t.Context(), second.Turn(s, migration.Back))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := second.Do(t.Context(), nil, turn); err != nil {
			t.Fatal(err)
		}
		for _, o := range []*Operation{second, first} {
			if s, err := o.Drive(t.Context(), nil, yes); err != nil {
				t.Fatalf("%+v, %v", s.Move, err)
			}
		}
		l.checkMigrated("data-db-0", corev1.ReadWriteOncePod)
		l.checkMigrated("data-db-1", corev1.ReadWriteOnce)
	}, labSet)
}

// TestOthersAreLookedForAfresh: a cache may lack what was written a moment ago.
// What can't be listed is an error, unless it may not be.
func TestOthersAreLookedForAfresh(t *testing.T) {
	l := newLab(t, with(labSet))
	one, two := l.ordinals()
	second := l.operation(t, two)
	if _, err := second.Do(t.Context(), nil, l.drivenTo(second, "note/")); err != nil {
		t.Fatal(err)
	}
	first := l.operation(t, one)
	// The snapshot knows of nothing.
	s, err := first.Look(t.Context(), &Snapshot{})
	if err != nil || s.Move.Kind != migration.Halt || !strings.Contains(s.Move.Reason, "nothing has been written") {
		t.Errorf("%+v, %v", s.Move, err)
	}
	list := func(r *http.Request) bool {
		return r.Method == http.MethodGet && r.URL.Path == "/api/v1/persistentvolumes"
	}
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if list(r) {
			return nil, errLost
		}
		return nil, nil
	}
	if _, err := first.Look(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "other operations") {
		t.Errorf("error = %v", err)
	}
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if list(r) {
			return refusal(http.StatusForbidden, "Forbidden", "you may not")
		}
		return nil, nil
	}
	s, err = first.Look(t.Context(), nil)
	if err != nil || s.Move.Kind != migration.ActNow || s.Scene.OthersFresh || s.Scene.Unread[string(PersistentVolumes)] == "" {
		t.Errorf("%+v, %v", s.Move, err)
	}
}

// TestTwoHeirs: of two who take an operation over at once, one has it.
func TestTwoHeirs(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		ann := l.operation(t, l.journalOf("data"))
		l.drivenTo(ann, "delete/")
		found, err := migration.Find(l.volume("data"))
		if err != nil {
			t.Fatal(err)
		}
		var heirs []*Operation
		var overs []StepPreview
		for _, who := range []string{"bob", "eve"} {
			o, err := l.client.ResumeOperation(openBackups(t), *found, who)
			if err != nil {
				t.Fatal(err)
			}
			s, err := o.Look(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			over, err := o.Preview(t.Context(), o.TakeOver(s))
			if err != nil {
				t.Fatal(err)
			}
			heirs, overs = append(heirs, o), append(overs, over)
		}
		// Eve's last look is over when bob writes.
		fired := false
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if isReal(r) && !fired {
				fired = true
				if _, err := heirs[0].Do(t.Context(), nil, overs[0]); err != nil {
					t.Error(err)
				}
			}
			return nil, nil
		}
		if _, err := heirs[1].Do(t.Context(), nil, overs[1]); KindOf(err) != KindConflict {
			t.Errorf("eve: %v", err)
		}
		for _, o := range []*Operation{ann, heirs[1]} {
			if _, err := o.Drive(t.Context(), nil, yes); err == nil || !strings.Contains(err.Error(), "bob has been at work") {
				t.Errorf("%s: %v", o.Part().Holder.Who, err)
			}
		}
		if _, err := heirs[0].Drive(t.Context(), nil, yes); err != nil {
			t.Errorf("bob: %v", err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	})
}

// TestWhoVouchesForAJournal: only a backup of the machine on which the operation
// began says more of it than the volume does.
func TestWhoVouchesForAJournal(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		ann := l.operation(t, l.setJournal())
		l.drivenTo(ann, "recreate/")
		resumed := func(b *Backups) (*Operation, migration.Step) {
			t.Helper()
			found, err := migration.Find(l.volume("data-db-0"))
			if err != nil {
				t.Fatal(err)
			}
			o, err := l.client.ResumeOperation(b, *found, "bob")
			if err != nil {
				t.Fatal(err)
			}
			s, err := o.Look(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			over, err := o.Preview(t.Context(), o.TakeOver(s))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := o.Do(t.Context(), nil, over); err != nil {
				t.Fatal(err)
			}
			if s, err = o.Look(t.Context(), nil); err != nil || !strings.HasPrefix(s.Move.Step.ID, "recreate/") {
				t.Fatalf("%+v, %v", s.Move, err)
			}
			return o, s.Move.Step
		}
		elsewhere := openBackups(t)
		for name, tt := range map[string]struct {
			backups *Backups
			typed   string
		}{"where it began": {ann.backups, ""}, "elsewhere": {elsewhere, "db"}} {
			if _, step := resumed(tt.backups); step.Confirm != tt.typed {
				t.Errorf("%s: %q is to be typed", name, step.Confirm)
			}
		}
		// What was kept by then is no proof either.
		o, step := resumed(elsewhere)
		if step.Confirm != "db" {
			t.Errorf("once more: %q is to be typed", step.Confirm)
		}
		// Whoever runs all that was rehearsed is stopped before it.
		if p, err := o.Preview(t.Context(), step); err != nil || Same(p, p) {
			t.Errorf("it is sent among others: %v", err)
		}
		if s, err := o.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		l.checkMigrated("data-db-0", corev1.ReadWriteOncePod)
	}, labSet)
}

// goneAt has somebody delete the Deployment of an operation that has come to a
// step, and says how it halts.
func (l *lab) goneAt(o *Operation, at string) Standing {
	l.t.Helper()
	l.drivenTo(o, at)
	l.remove(l.state().Deployment("exam", "web"))
	l.settle()
	s, err := o.Drive(l.t.Context(), nil, yes)
	if _, ok := errors.AsType[*HaltError](err); !ok || !strings.Contains(s.Move.Reason, "is gone") {
		l.t.Fatalf("%+v, %v", s.Move, err)
	}
	return s
}

// TestWorkloadCreatedAgain: the halt names a command, and with what that makes
// the operation ends well.
func TestWorkloadCreatedAgain(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		s := l.goneAt(o, "create/")
		path := filepath.Join(o.Folder(), "again-deployment_exam_web.yaml")
		if !strings.Contains(s.Move.Remedy, "kubectl create -f "+path) || !strings.Contains(s.Move.Remedy, "go on without it") {
			t.Errorf("the remedy is %s", s.Move.Remedy)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d appsv1.Deployment
		if err := yaml.UnmarshalStrict(text, &d); err != nil {
			t.Fatal(err)
		}
		// The server refuses what has one (k8s.io/apiserver, registry/rest, BeforeCreate).
		if d.ResourceVersion != "" || d.UID != "" || d.APIVersion != "apps/v1" || d.Kind != "Deployment" {
			t.Errorf("%s", text)
		}
		if err := l.client.api.AppsV1().RESTClient().Post().Namespace("exam").Resource("deployments").Body(&d).Do(t.Context()).Error(); err != nil {
			t.Fatal(err)
		}
		l.settle()
		o.Resume()
		// It was made with its pods, which wait for the claim.
		if s, err := o.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	}, labDeployment)
}

// TestLeave: the operation goes on without what was deleted on purpose, when a
// person says so and it is really gone.
func TestLeave(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		s := l.goneAt(o, "create/")
		if len(s.Leavable) != 1 || s.Leavable[0].Name != "web" {
			t.Fatalf("%v", s.Leavable)
		}
		step, ok := o.Leave(s, s.Leavable[0])
		if !ok {
			t.Fatal("it is gone")
		}
		p, err := o.Preview(t.Context(), step)
		if err != nil {
			t.Fatal(err)
		}
		before := l.state()
		l.server.Apply(func(s *sandbox.State) *sandbox.State {
			s, err := sandbox.LoadManifest(s, l.cs, []byte(labDeployment))
			if err != nil {
				t.Error(err)
			}
			return s
		})
		if _, err := o.Do(t.Context(), nil, p); KindOf(err) != KindGuard {
			t.Errorf("it is there again: %v", err)
		}
		l.server.Apply(func(*sandbox.State) *sandbox.State { return before })
		if step, ok = o.Leave(s, s.Leavable[0]); !ok {
			t.Fatal("it is gone")
		}
		if p, err = o.Preview(t.Context(), step); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Do(t.Context(), nil, p); err != nil {
			t.Fatal(err)
		}
		if s, err := o.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	}, labDeployment)
}

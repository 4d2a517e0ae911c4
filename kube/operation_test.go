package kube

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube/sandbox"
)

func yes(StepPreview) error { return nil }

// startOperation is an operation of a lab whose controllers act.
func (l *lab) operation(t *testing.T, j migration.Journal) *Operation {
	t.Helper()
	l.wire.settles = true
	return l.client.NewOperation(openBackups(t), j, "ann")
}

// inLab runs a test in a lab whose time passes at once.
func inLab(t *testing.T, test func(*testing.T, *lab), manifests ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newLab(t, with(manifests...))) })
}

// checkMigrated checks that a claim is the new one, and its volume as before
// but for the modes.
func (l *lab) checkMigrated(claim string, mode corev1.PersistentVolumeAccessMode) {
	l.t.Helper()
	pvc := l.claim(claim)
	if pvc == nil || pvc.Status.Phase != corev1.ClaimBound || !slices.Equal(pvc.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{mode}) {
		l.t.Fatalf("claim %+v", pvc)
	}
	pv := l.volume(claim)
	if pv.Status.Phase != corev1.VolumeBound || pv.Spec.ClaimRef.UID != pvc.UID || !slices.Equal(pv.Spec.AccessModes, pvc.Spec.AccessModes) ||
		pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		l.t.Errorf("volume %+v", pv)
	}
	for key := range pv.Annotations {
		if strings.Contains(key, "claimref.io") {
			l.t.Errorf("annotation %s is left", key)
		}
	}
	if !l.state().HasData(sandbox.Handle(pv)) {
		l.t.Error("the data are gone")
	}
}

func TestDriveToTheEnd(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		var approved []string
		s, err := o.Drive(t.Context(), nil, func(p StepPreview) error {
			if !p.DryRun.Supported || p.Diff == "" || p.Temporary != "" {
				t.Errorf("%s: %+v", p.Step.ID, p)
			}
			approved = append(approved, p.Step.ID)
			return nil
		})
		if err != nil || s.Move.Kind != migration.Finished {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
		if pod := l.aPod("web"); pod.Status.Phase != corev1.PodRunning {
			t.Errorf("pod %s", pod.Status.Phase)
		}
		if real := l.wire.real(); len(real) != len(approved) {
			t.Errorf("sent %v, approved %v", real, approved)
		}
		records, err := o.backups.History(o.Folder())
		if err != nil || len(records) != len(approved) {
			t.Fatalf("%v, %v", records, err)
		}
		for i, r := range records {
			if r.Step != approved[i] || r.Outcome != "applied" || len(r.Changes) == 0 || r.Title == "" || r.Time.IsZero() {
				t.Errorf("%+v", r)
			}
		}
	}, labDeployment)
}

// With controllers that take their time, and everything at once.
func TestDriveWithLiveControllers(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		ctx, cancel := context.WithCancel(t.Context())
		driver := sandbox.NewDriver(l.server, l.cs, sandbox.Options{Seed: 1})
		ended := make(chan struct{})
		go func() {
			driver.Run(ctx)
			close(ended)
		}()
		defer func() { cancel(); <-ended }()
		o := l.client.NewOperation(openBackups(t), l.setJournal(), "ann")
		if s, err := o.Drive(t.Context(), nil, yes); err != nil {
			t.Fatalf("%+v, %v", s.Move, err)
		}
		for _, name := range []string{"data-db-0", "data-db-1"} {
			l.checkMigrated(name, corev1.ReadWriteOncePod)
		}
	}, labSet)
}

// What was rehearsed at the start is what is shown when its turn has come.
func TestRehearsalHoldsForTheWholeOperation(t *testing.T) {
	for name, manifest := range map[string]string{"deployment": labDeployment, "set": labSet} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				j := l.journalOf("data")
				if name == "set" {
					j = l.setJournal()
				}
				o := l.operation(t, j)
				s, err := o.Look(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				previews, err := o.Rehearse(t.Context(), s)
				if err != nil {
					t.Fatal(err)
				}
				rehearsed := map[string]StepPreview{}
				for _, p := range previews {
					rehearsed[p.Step.ID] = p
				}
				_, err = o.Drive(t.Context(), nil, func(fresh StepPreview) error {
					old, ok := rehearsed[fresh.Step.ID]
					switch {
					case !ok:
						t.Errorf("%s was not rehearsed", fresh.Step.ID)
					case !Same(old, fresh):
						t.Errorf("%s:\nrehearsed %+v\n%s\nfresh\n%s", fresh.Step.ID, old.DryRun, strings.Join(old.Changes(), "\n"), strings.Join(fresh.Changes(), "\n"))
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}, manifest)
		})
	}
}

// Without a backup, nothing is written.
func TestNoWriteWithoutABackup(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, *Operation){
		"no folder": func(_ *testing.T, o *Operation) { o.backups = nil },
		"the disk": func(t *testing.T, o *Operation) {
			if err := os.RemoveAll(o.backups.dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(o.backups.dir, nil, privateFile); err != nil {
				t.Fatal(err)
			}
		},
	} {
		l := newLab(t)
		o := l.operation(t, l.journalOf("data"))
		spoil(t, o)
		if _, err := o.Drive(t.Context(), nil, yes); err == nil || !strings.Contains(err.Error(), "nothing was written") {
			t.Errorf("%s: %v", name, err)
		}
		if real := l.wire.real(); len(real) != 0 {
			t.Errorf("%s: sent %v", name, real)
		}
	}
}

// The backup is on the disk when the first request leaves.
func TestBackupComesFirst(t *testing.T) {
	l := newLab(t)
	o := l.operation(t, l.journalOf("data"))
	stop := errors.New("stop")
	looked := false
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if !isReal(r) {
			return nil, nil
		}
		looked = true
		entries, err := os.ReadDir(o.Folder())
		if err != nil || len(entries) != 3 {
			t.Errorf("%v, %v", entries, err)
		}
		if _, err := readJournal(o.Folder()); err != nil {
			t.Error(err)
		}
		return nil, nil
	}
	_, err := o.Drive(t.Context(), nil, func(StepPreview) error {
		if looked {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || !looked {
		t.Errorf("looked %v: %v", looked, err)
	}
}

// drivenTo carries an operation on until it would do a step, and previews it.
func (l *lab) drivenTo(o *Operation, id string) StepPreview {
	l.t.Helper()
	var at StepPreview
	stop := errors.New("stop")
	_, err := o.Drive(l.t.Context(), nil, func(p StepPreview) error {
		if strings.HasPrefix(p.Step.ID, id) {
			at = p
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) {
		l.t.Fatalf("%s: %v", id, err)
	}
	return at
}

// What has changed between preview and request stops it, also what is not the
// target itself.
func TestDoRefusesWhenTheWorldHasChanged(t *testing.T) {
	const stray = `
apiVersion: v1
kind: Pod
metadata: {name: stray, namespace: exam}
spec:
  nodeName: n1
  containers: [{name: c, image: example.test/none}]
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`
	for name, tt := range map[string]struct {
		at     string
		change func(*lab)
	}{
		"a pod has come": {"delete/", func(l *lab) {
			l.server.Apply(func(s *sandbox.State) *sandbox.State {
				s, err := sandbox.LoadManifest(s, l.cs, []byte(stray))
				if err != nil {
					l.t.Error(err)
				}
				return s
			})
		}},
		"somebody else is at work": {"delete/", func(l *lab) {
			edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
				pv.Annotations[migration.AnnotationHolder] = `{"who":"bob","token":"x","since":"2026-03-01T12:00:00Z"}`
			})
		}},
		"the policy has changed": {"delete/", func(l *lab) {
			edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
				pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				o := l.operation(t, l.journalOf("data"))
				p := l.drivenTo(o, tt.at)
				before := len(l.wire.real())
				tt.change(l)
				_, err := o.Do(t.Context(), nil, p)
				if _, ok := errors.AsType[*GuardError](err); !ok {
					t.Errorf("error = %v", err)
				}
				if real := l.wire.real(); len(real) != before {
					t.Errorf("sent %v", real[before:])
				}
			})
		})
	}
}

// A step that is not next is not done, however well it was previewed.
func TestDoOnlyWhatIsNext(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		p, err := o.Preview(t.Context(), l.deleteClaim("data"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Do(t.Context(), nil, p); KindOf(err) != KindGuard {
			t.Errorf("error = %v", err)
		}
		first := l.drivenTo(o, "")
		edited := first
		edited.Step.Patch = []byte(`{"spec":{"claimRef":null}}`)
		if _, err := o.Do(t.Context(), nil, edited); KindOf(err) != KindGuard {
			t.Errorf("another patch: %v", err)
		}
		if real := l.wire.real(); len(real) != 0 {
			t.Errorf("sent %v", real)
		}
	})
}

func TestOnlyOneIsAtWork(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		j := l.journalOf("data")
		ann := l.operation(t, j)
		l.drivenTo(ann, "delete/")

		found, err := migration.Find(l.volume("data"))
		if err != nil {
			t.Fatal(err)
		}
		bob, err := l.client.ResumeOperation(openBackups(t), *found, "bob")
		if err != nil {
			t.Fatal(err)
		}
		s, err := bob.Drive(t.Context(), nil, yes)
		if halt, ok := errors.AsType[*HaltError](err); !ok || !strings.Contains(halt.Error(), "ann") || s.Holder.Who != "ann" {
			t.Fatalf("error = %v", err)
		}
		over, err := bob.Preview(t.Context(), bob.TakeOver(s))
		if err != nil {
			t.Fatal(err)
		}
		// Ann has not asked for that step.
		if _, err := ann.Do(t.Context(), nil, over); KindOf(err) != KindGuard {
			t.Errorf("ann: %v", err)
		}
		if _, err := bob.Do(t.Context(), nil, over); err != nil {
			t.Fatal(err)
		}
		if _, err := ann.Drive(t.Context(), nil, yes); !strings.Contains(err.Error(), "bob") {
			t.Errorf("ann: %v", err)
		}
		if _, err := bob.Drive(t.Context(), nil, yes); err != nil {
			t.Fatal(err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	})
}

func TestTurnBack(t *testing.T) {
	for _, at := range []string{"delete/", "create/", "policy/"} {
		t.Run(at, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				o := l.operation(t, l.journalOf("data"))
				l.drivenTo(o, at)
				s, err := o.Look(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				turn, err := o.Preview(t.Context(), o.Turn(s, migration.Back))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := o.Do(t.Context(), nil, turn); err != nil {
					t.Fatal(err)
				}
				s, err = o.Drive(t.Context(), nil, yes)
				if err != nil || s.Move.Kind != migration.Finished {
					t.Fatalf("%+v, %v", s.Move, err)
				}
				l.checkMigrated("data", corev1.ReadWriteOnce)
			}, labDeployment)
		})
	}
}

// Without the operation on the volume, there is nothing to turn or take over.
func TestTurnNeedsTheOperationOnTheVolume(t *testing.T) {
	l := newLab(t)
	o := l.operation(t, l.journalOf("data"))
	s, err := o.Look(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []migration.Step{o.Turn(s, migration.Back), o.TakeOver(s)} {
		p, err := o.Preview(t.Context(), step)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Do(t.Context(), nil, p); KindOf(err) != KindGuard {
			t.Errorf("%s: %v", step.ID, err)
		}
	}
	if real := l.wire.real(); len(real) != 0 {
		t.Errorf("sent %v", real)
	}
}

// When somebody else was faster, the step is shown and approved again.
func TestDriveAsksAgainAfterAConflict(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		asked := map[string]int{}
		_, err := o.Drive(t.Context(), nil, func(p StepPreview) error {
			asked[p.Step.ID]++
			if asked[p.Step.ID] == 1 && p.Step.Act == migration.Patch {
				edit(l, l.target(p.Step.Target), func(o sandbox.Object) { o.SetLabels(map[string]string{"n": p.Step.ID[:1]}) })
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for id, n := range asked {
			patch := strings.HasPrefix(id, "note/") || strings.HasPrefix(id, "policy/")
			if want := map[bool]int{true: 2}[patch]; want != 0 && n != want {
				t.Errorf("%s: asked %d times", id, n)
			}
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
	})
}

// It does not go on for ever.
func TestDriveGivesUp(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		asked := 0
		_, err := o.Drive(t.Context(), nil, func(StepPreview) error {
			asked++
			edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) { pv.Labels = map[string]string{"n": strings.Repeat("x", asked)} })
			return nil
		})
		if KindOf(err) != KindConflict || asked != attempts {
			t.Errorf("asked %d times: %v", asked, err)
		}
	})
}

// An approval that is refused is not asked for again, whatever it says.
func TestRefusedApproval(t *testing.T) {
	l := newLab(t)
	o := l.operation(t, l.journalOf("data"))
	asked := 0
	no := &GuardError{Reason: "no"}
	if _, err := o.Drive(t.Context(), nil, func(StepPreview) error { asked++; return no }); !errors.Is(err, no) || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestWaitingCanBeInterrupted(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		l.wire.settles = false // Nobody acts: it waits for ever.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		s, err := o.Drive(ctx, nil, yes)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute || s.Move.Kind != migration.WaitNow {
			t.Errorf("after %v: %+v, %v", time.Since(start), s.Move, err)
		}
	})
}

// Every answer is lost once, and every request once before it arrives: in the
// end all is as it should be.
func TestDriveOverABadLine(t *testing.T) {
	for name, spoil := range map[string]func(*lab){
		"answers": func(l *lab) { l.wire.lose = isReal },
		"requests": func(l *lab) {
			lost := map[string]bool{}
			l.wire.before = func(r *http.Request) (*http.Response, error) {
				version := r.Method + r.URL.Path + l.volume0()
				if isReal(r) && !lost[version] {
					lost[version] = true
					return nil, errLost
				}
				return nil, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				o := l.operation(t, l.journalOf("data"))
				spoil(l)
				if s, err := o.Drive(t.Context(), nil, yes); err != nil {
					t.Fatalf("%+v, %v", s.Move, err)
				}
				l.checkMigrated("data", corev1.ReadWriteOncePod)
			}, labDeployment)
		})
	}
}

// volume0 is the version of the one volume.
func (l *lab) volume0() string {
	for _, o := range l.state().List(sandbox.Volumes) {
		return o.GetResourceVersion()
	}
	return ""
}

// The memory of a run tells what was taken back from what was never done.
func TestWhatWasDoneIsRemembered(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		o := l.operation(t, l.journalOf("data"))
		l.drivenTo(o, "create/")
		if run := o.run; !run.Started || len(run.Seen) == 0 || run.Holder.Token == "" {
			t.Errorf("run = %+v", run)
		}
		edit(l, l.state().Deployment("exam", "web"), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(1)) })
		if _, err := o.Drive(t.Context(), nil, yes); err == nil {
			t.Fatal("it went on")
		} else if _, ok := errors.AsType[*HaltError](err); !ok {
			t.Errorf("error = %v", err)
		}
		// A new run takes it for not yet done.
		found, err := migration.Find(l.state().Volume(o.Journal().Lead()))
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.client.ResumeOperation(o.backups, *found, "ann")
		if err != nil {
			t.Fatal(err)
		}
		s, err := again.Look(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		over, err := again.Preview(t.Context(), again.TakeOver(s))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := again.Do(t.Context(), nil, over); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Drive(t.Context(), nil, yes); err != nil {
			t.Fatal(err)
		}
		l.checkMigrated("data", corev1.ReadWriteOncePod)
		if again.Folder() != o.Folder() {
			t.Errorf("%s and %s", again.Folder(), o.Folder())
		}
	}, labDeployment)
}

func TestResumeNeedsTheJournal(t *testing.T) {
	l := newLab(t)
	_, err := l.client.ResumeOperation(nil, migration.Found{ID: "x", Lead: "pv-lead"}, "ann")
	if err == nil || !strings.Contains(err.Error(), "pv-lead") {
		t.Errorf("error = %v", err)
	}
}

// A history that can't be written does not hide what was done.
func TestUnrecordedStep(t *testing.T) {
	l := newLab(t)
	o := l.operation(t, l.journalOf("data"))
	p := l.drivenTo(o, "")
	folder, err := o.backUp(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, historyFile), privateDir); err != nil {
		t.Fatal(err)
	}
	done, err := o.Do(t.Context(), nil, p)
	if err != nil || done.Unrecorded == "" || len(l.wire.real()) != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}

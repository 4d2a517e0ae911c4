package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube/sandbox"
)

// previewed previews a step that has to be fine.
func (l *lab) previewed(step migration.Step) StepPreview {
	l.t.Helper()
	p, err := l.client.PreviewStep(l.t.Context(), nil, step)
	if err != nil {
		l.t.Fatalf("preview %s: %v", step.ID, err)
	}
	return p
}

// touched makes another version of a target, as somebody else would.
func (l *lab) touch(step migration.Step) {
	l.t.Helper()
	edit(l, l.target(step.Target), func(o sandbox.Object) {
		o.SetAnnotations(map[string]string{"example.com/touched": "yes"})
	})
}

func (l *lab) eachName() []string {
	var names []string
	for name := range l.each() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// tookPlace tells whether a step's effect is there.
func (l *lab) tookPlace(step migration.Step) bool {
	l.t.Helper()
	target := l.target(step.Target)
	switch step.Act {
	case migration.Create:
		return target != nil
	case migration.Delete:
		return target == nil || target.GetDeletionTimestamp() != nil
	default:
	}
	text, err := json.Marshal(target)
	if err != nil {
		l.t.Fatal(err)
	}
	var is, patch any
	if err := errors.Join(json.Unmarshal(text, &is), json.Unmarshal(step.Patch, &patch)); err != nil {
		l.t.Fatal(err)
	}
	want, ok := patch.(map[string]any)
	if !ok {
		l.t.Fatal("no patch")
	}
	got, _ := is.(map[string]any)
	return len(lacking("", want["spec"], got["spec"])) == 0
}

func TestPerformEachAct(t *testing.T) {
	for _, name := range fullLab(t).eachName() {
		t.Run(name, func(t *testing.T) {
			l := fullLab(t)
			step := l.each()[name]
			p := l.previewed(step)
			done, err := l.client.Perform(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !l.tookPlace(step) || done.Recovered || done.Unexpected != "" {
				t.Errorf("performed = %+v", done)
			}
			if real := l.wire.real(); len(real) != 1 {
				t.Errorf("sent %v", real)
			}
			target := l.target(step.Target)
			if step.Act != migration.Delete && (done.Object == nil || done.UID != target.GetUID() || done.ResourceVersion != target.GetResourceVersion()) {
				t.Errorf("performed = %+v", done)
			}
			// The same preview is for one request.
			if step.Act != migration.Patch && step.Act != migration.Scale {
				return
			}
			if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != KindConflict {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// The real request is the one that was tried, but for the word for it.
func TestPerformSendsWhatWasPreviewed(t *testing.T) {
	for _, name := range fullLab(t).eachName() {
		l := fullLab(t)
		if _, err := l.client.Perform(t.Context(), l.previewed(l.each()[name]), nil); err != nil {
			t.Fatal(err)
		}
		dry, real := l.wire.sent[0], l.wire.sent[1]
		dry.query = strings.Replace(dry.query, "dryRun=All&", "", 1)
		dry.body = strings.Replace(dry.body, `,"dryRun":["All"]`, "", 1)
		dry.dry = false
		if dry != real {
			t.Errorf("%s:\n%+v\n%+v", name, dry, real)
		}
	}
}

func TestPerformConflicts(t *testing.T) {
	for _, name := range fullLab(t).eachName() {
		t.Run(name, func(t *testing.T) {
			l := fullLab(t)
			step := l.each()[name]
			p := l.previewed(step)
			if step.Act == migration.Create {
				if _, err := l.client.Perform(t.Context(), p, nil); err != nil {
					t.Fatal(err)
				}
			} else {
				l.touch(step)
			}
			sent := len(l.wire.real())
			before := l.state().Version()
			if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != KindConflict {
				t.Errorf("error = %v", err)
			}
			if l.state().Version() != before || len(l.wire.real()) != sent+1 {
				t.Errorf("sent %v", l.wire.real())
			}
		})
	}
}

// replace puts another object of the same name in the place of one.
func (l *lab) replace(step migration.Step) {
	l.t.Helper()
	old := l.target(step.Target)
	l.server.Apply(func(s *sandbox.State) *sandbox.State {
		again, ok := old.DeepCopyObject().(sandbox.Object)
		if !ok {
			return s
		}
		return s.Remove(sandbox.KeyOf(old)).Create(again)
	})
}

func TestPerformOnAReplacedObject(t *testing.T) {
	for _, name := range fullLab(t).eachName() {
		l := fullLab(t)
		step := l.each()[name]
		if step.Act == migration.Create {
			continue
		}
		p := l.previewed(step)
		l.replace(step)
		before := l.state().Version()
		if _, err := l.client.Perform(t.Context(), p, nil); err == nil || l.state().Version() != before {
			t.Errorf("%s: %v", name, err)
		}
		// The uid alone is enough to stop it, whatever the version.
		p.ResourceVersion = l.target(step.Target).GetResourceVersion()
		if _, err := l.client.Perform(t.Context(), p, nil); err == nil || l.state().Version() != before {
			t.Errorf("%s, same version: %v", name, err)
		}
	}
}

func TestForbiddenPerform(t *testing.T) {
	for _, name := range fullLab(t).eachName() {
		l := fullLab(t)
		step := l.each()[name]
		p := l.previewed(step)
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if mutates(r) {
				return refusal(403, "Forbidden", "no")
			}
			return nil, nil
		}
		if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != KindForbidden || l.tookPlace(step) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func isReal(r *http.Request) bool { return mutates(r) && r.URL.Query().Get("dryRun") == "" }

// What was done although the answer was lost is found, and what was not is not
// claimed.
func TestPerformWithALostAnswer(t *testing.T) {
	for _, name := range fullLab(t).eachName() {
		t.Run(name+", applied", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fullLab(t)
				step := l.each()[name]
				p := l.previewed(step)
				l.wire.lose = isReal
				done, err := l.client.Perform(t.Context(), p, nil)
				if err != nil || !done.Recovered || !l.tookPlace(step) {
					t.Errorf("performed = %+v, %v", done, err)
				}
				if real := l.wire.real(); len(real) != 1 {
					t.Errorf("sent %v", real)
				}
			})
		})
		t.Run(name+", not applied", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fullLab(t)
				step := l.each()[name]
				p := l.previewed(step)
				l.wire.before = func(r *http.Request) (*http.Response, error) {
					if isReal(r) {
						return nil, errLost
					}
					return nil, nil
				}
				start := time.Now()
				_, err := l.client.Perform(t.Context(), p, nil)
				if !errors.Is(err, ErrNotApplied) || l.tookPlace(step) {
					t.Errorf("error = %v", err)
				}
				// Until then the server might still have done it.
				if took := time.Since(start); took < l.client.serverTimeout() {
					t.Errorf("given up after %v", took)
				}
			})
		})
		t.Run(name+", late", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fullLab(t)
				step := l.each()[name]
				p := l.previewed(step)
				// The request takes its time to arrive, and the answer is lost.
				var first atomic.Bool
				l.wire.before = func(r *http.Request) (*http.Response, error) {
					if !isReal(r) || !first.CompareAndSwap(false, true) {
						return nil, nil
					}
					w, err := p.request(nil)
					if err != nil {
						return nil, err
					}
					go func() {
						time.Sleep(l.client.serverTimeout() - time.Second)
						if _, err := l.client.send(context.WithoutCancel(r.Context()), w, false); err != nil {
							t.Error(err)
						}
					}()
					return nil, errLost
				}
				done, err := l.client.Perform(t.Context(), p, nil)
				if err != nil || !done.Recovered || !l.tookPlace(step) {
					t.Errorf("performed = %+v, %v", done, err)
				}
			})
		})
		t.Run(name+", unreadable", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := fullLab(t)
				p := l.previewed(l.each()[name])
				l.wire.before = func(*http.Request) (*http.Response, error) { return nil, errLost }
				if _, err := l.client.Perform(t.Context(), p, nil); !errors.Is(err, ErrOutcomeUnknown) {
					t.Errorf("error = %v", err)
				}
			})
		})
	}
}

// Somebody else may do things of their own while the answer is on its way.
func TestLostAnswerAndSomebodyElse(t *testing.T) {
	for name, tt := range map[string]struct {
		step func(*lab) migration.Step
		then func(*lab)
		want Kind
	}{
		"a patch undone": {
			(*lab).retain, func(l *lab) {
				edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
					pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
					pv.Labels = map[string]string{"a": "b"}
				})
			}, KindOutcomeUnknown,
		},
		"a volume gone": {(*lab).retain, func(l *lab) { l.remove(l.volume("data")) }, KindOutcomeUnknown},
		"a volume replaced": {
			(*lab).retain, func(l *lab) { l.replace(l.retain()) }, KindOutcomeUnknown,
		},
		"a claim that is not ours": {
			func(l *lab) migration.Step {
				step := l.createClaim("data")
				l.remove(l.claim("data"))
				return step
			}, func(l *lab) {
				l.server.Apply(func(s *sandbox.State) *sandbox.State {
					return s.Create(&corev1.PersistentVolumeClaim{
						ObjectMeta: metav1.ObjectMeta{Namespace: "exam", Name: "data"},
						Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
					})
				})
			}, KindOutcomeUnknown,
		},
		"a claim that was changed": {
			func(l *lab) migration.Step { return l.deleteClaim("data") }, func(l *lab) {
				edit(l, l.claim("data"), func(pvc *corev1.PersistentVolumeClaim) { pvc.Labels["a"] = "b" })
			}, KindNotApplied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				p := l.previewed(tt.step(l))
				l.wire.before = func(r *http.Request) (*http.Response, error) {
					if !isReal(r) {
						return nil, nil
					}
					tt.then(l)
					return nil, errLost
				}
				if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != tt.want {
					t.Errorf("error = %v", err)
				}
			})
		})
	}
}

// A deleted claim that another of its name has replaced is gone all the same.
func TestLostDeletionAndANewObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		step := l.deleteClaim("data")
		p := l.previewed(step)
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if !isReal(r) {
				return nil, nil
			}
			l.replace(step)
			return nil, errLost
		}
		if done, err := l.client.Perform(t.Context(), p, nil); err != nil || !done.Recovered {
			t.Errorf("performed = %+v, %v", done, err)
		}
	})
}

// The last look stops the request, with whatever it has to say.
func TestLastLook(t *testing.T) {
	l := newLab(t)
	no := errors.New("no")
	if _, err := l.client.Perform(t.Context(), l.previewed(l.retain()), func(context.Context) error { return no }); !errors.Is(err, no) {
		t.Errorf("error = %v", err)
	}
	if real := l.wire.real(); len(real) != 0 {
		t.Errorf("sent %v", real)
	}
}

func TestNothingIsSentWhenTheProgramEnds(t *testing.T) {
	l := newLab(t)
	p := l.previewed(l.retain())
	if _, err := l.client.Drain(time.Second); err != nil {
		t.Fatal(err)
	}
	if _, err := l.client.Perform(t.Context(), p, nil); !errors.Is(err, ErrNotSent) {
		t.Errorf("error = %v", err)
	}
	if real := l.wire.real(); len(real) != 0 {
		t.Errorf("sent %v", real)
	}
}

// Whoever quits while a request is on its way waits for its end.
func TestDrainWaitsForAPerformance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		p := l.previewed(l.retain())
		go func() {
			_, _ = l.client.Perform(t.Context(), p, func(context.Context) error {
				time.Sleep(time.Minute)
				return nil
			})
		}()
		synctest.Wait()
		if !l.client.Writing() {
			t.Error("nothing is being written")
		}
		start := time.Now()
		if _, err := l.client.Drain(time.Hour); !errors.Is(err, ErrNotSent) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// Delete on a volume that no claim holds would destroy the data at once.
func TestDeleteIsNeverPutOnAVolumeThatIsNotBound(t *testing.T) {
	l := newLab(t)
	restore := l.retain()
	restore.Patch = json.RawMessage(`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`)
	for name, change := range map[string]func(*corev1.PersistentVolume){
		"Released":  func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeReleased },
		"Available": func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeAvailable },
		"reserved":  func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "" },
	} {
		l := newLab(t)
		restore.Target = l.retain().Target
		edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
			pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
			change(pv)
		})
		if _, err := l.client.Perform(t.Context(), l.previewed(restore), nil); KindOf(err) != KindGuard || !strings.Contains(err.Error(), "destroyed") {
			t.Errorf("%s: %v", name, err)
		}
		if real := l.wire.real(); len(real) != 0 {
			t.Errorf("%s: sent %v", name, real)
		}
	}
	edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	})
	restore.Target = l.retain().Target
	if _, err := l.client.Perform(t.Context(), l.previewed(restore), nil); err != nil {
		t.Errorf("bound: %v", err)
	}
}

// A webhook may do something else when it is for real.
func TestUnexpectedOutcome(t *testing.T) {
	l := newLab(t)
	p := l.previewed(l.retain())
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if isReal(r) {
			edited := p.After.DeepCopy()
			edited.SetLabels(map[string]string{"example.com/x": "\x1b[2J"})
			edited.SetResourceVersion("99999")
			text, err := edited.MarshalJSON()
			if err != nil {
				return nil, err
			}
			return success(string(text)), nil
		}
		return nil, nil
	}
	done, err := l.client.Perform(t.Context(), p, nil)
	if err != nil || !strings.Contains(done.Unexpected, "metadata.labels[example.com/x]") || strings.Contains(done.Unexpected, "spec") {
		t.Errorf("%q, %v", done.Unexpected, err)
	}
}

// Without a dry run, the defaults that the server adds are no surprise.
func TestDefaultsAreNoSurprise(t *testing.T) {
	l := newLab(t)
	step := l.createClaim("data")
	l.remove(l.claim("data"))
	l.wire.before = webhook
	done, err := l.client.Perform(t.Context(), l.previewed(step), nil)
	if err != nil || done.Unexpected != "" {
		t.Errorf("%q, %v", done.Unexpected, err)
	}
}

func TestOutcomeWithoutADryRunIsRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		step := l.createClaim("data")
		l.remove(l.claim("data"))
		l.wire.before, l.wire.lose = webhook, isReal
		if done, err := l.client.Perform(t.Context(), l.previewed(step), nil); err != nil || !done.Recovered {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

// TestUnexpectedOwner: what is given an owner goes with it, which nobody was
// shown.
func TestUnexpectedOwner(t *testing.T) {
	for name, owner := range map[string]string{
		"added":     `[{"apiVersion":"v1","kind":"ConfigMap","name":"x","uid":"u"}]`,
		"as it was": `[]`,
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			step := l.createClaim("data")
			l.remove(l.claim("data"))
			p := l.previewed(step)
			l.wire.before = func(r *http.Request) (*http.Response, error) {
				if !isReal(r) {
					return nil, nil
				}
				made := p.After.DeepCopy()
				made.SetUID("made")
				made.SetResourceVersion("99999")
				var owners []any
				if err := json.Unmarshal([]byte(owner), &owners); err != nil {
					return nil, err
				}
				if err := unstructured.SetNestedSlice(made.Object, owners, "metadata", "ownerReferences"); err != nil {
					return nil, err
				}
				text, err := made.MarshalJSON()
				if err != nil {
					return nil, err
				}
				return success(string(text)), nil
			}
			done, err := l.client.Perform(t.Context(), p, nil)
			if err != nil || strings.Contains(done.Unexpected, "metadata.ownerReferences") != (name == "added") {
				t.Errorf("%q, %v", done.Unexpected, err)
			}
		})
	}
}

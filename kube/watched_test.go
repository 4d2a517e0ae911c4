package kube

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	k8stesting "k8s.io/client-go/testing"
)

func TestFailingListSaysSo(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"500":         {statusError(500, "InternalError", "etcd"), "can't list persistentvolumes: the API server failed: etcd"},
		"timeout":     {context.DeadlineExceeded, "can't list persistentvolumes: the API server did not answer in time: context deadline exceeded"},
		"unreachable": {dialError(), "can't list persistentvolumes: the API server can't be reached: connection refused"},
		"rubbish":     {errors.New("couldn't get version/kind;\njson parse error\x1b[2J"), "can't list persistentvolumes: couldn't get version/kind; json parse error[2J"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(newVolume("pv"))
				var broken atomic.Bool
				broken.Store(true)
				c.api.PrependReactor("list", string(PersistentVolumes), func(k8stesting.Action) (bool, runtime.Object, error) {
					return broken.Load(), nil, tt.err
				})
				c.run(t, func(f *Feed) {
					failing := ResourceState{Phase: Loading, Err: tt.want}
					s := until(t, f, "an error", func(s *Snapshot) bool { return s.Resources[PersistentVolumes].Err != "" })
					if s.Resources[PersistentVolumes] != failing {
						t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
					}
					time.Sleep(time.Minute)
					broken.Store(false)
					s = until(t, f, "the volumes", func(s *Snapshot) bool { return s.Resources[PersistentVolumes] != failing })
					if s.Resources[PersistentVolumes] != (ResourceState{Phase: Synced}) {
						t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
					}
				})
			})
		})
	}
}

// A list that succeeds before each watch that fails hides nothing.
func TestFailingWatchSaysSo(t *testing.T) {
	refused := func() (watch.Interface, error) { return nil, statusError(500, "InternalError", "etcd") }
	broken := func() (watch.Interface, error) {
		w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
		w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonInternalError, Message: "unable to decode"})
		return w, nil
	}
	short := func() (watch.Interface, error) {
		w := watch.NewFake()
		w.Stop()
		return w, nil
	}
	for name, tt := range map[string]struct {
		fail func() (watch.Interface, error)
		want string
		kind Kind
	}{
		"refused":        {refused, "can't watch persistentvolumes: the API server failed: etcd", KindServer},
		"broken off":     {broken, "can't watch persistentvolumes: the API server failed: unable to decode", KindServer},
		"ended too soon": {short, "can't watch persistentvolumes: the server ends the watch as soon as it has begun", KindOther},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(newVolume("pv"))
				var mended atomic.Bool
				c.api.PrependWatchReactor(string(PersistentVolumes), func(k8stesting.Action) (bool, watch.Interface, error) {
					if mended.Load() {
						return false, nil, nil
					}
					w, err := tt.fail()
					return true, w, err
				})
				c.run(t, func(f *Feed) {
					failing := ResourceState{Phase: Synced, Err: tt.want}
					isFailing := func(s *Snapshot) bool { return s.Resources[PersistentVolumes] == failing }
					until(t, f, "an error", isFailing)
					s := until(t, f, "a stale link", func(s *Snapshot) bool {
						if !isFailing(s) {
							t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
						}
						return s.Link.Phase == Stale
					})
					if s.Link.Kind != tt.kind || s.Link.Err != tt.want {
						t.Errorf("link = %+v", s.Link)
					}
					mended.Store(true)
					s = until(t, f, "a watch", func(s *Snapshot) bool { return !isFailing(s) })
					if s.Resources[PersistentVolumes] != (ResourceState{Phase: Synced}) {
						t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
					}
				})
			})
		})
	}
}

// A watch ends now and then, and the versions that the server remembers run
// out.
func TestWatchesEndWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		watches := make(chan *watch.FakeWatcher, 10)
		c.api.PrependWatchReactor(string(PersistentVolumes), func(k8stesting.Action) (bool, watch.Interface, error) {
			w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
			watches <- w
			return true, w, nil
		})
		c.run(t, func(f *Feed) {
			until(t, f, "everything", allSynced)
			for _, end := range []func(*watch.FakeWatcher){
				func(w *watch.FakeWatcher) { w.Stop() },
				func(w *watch.FakeWatcher) {
					w.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old"})
				},
			} {
				time.Sleep(time.Minute)
				end(<-watches)
				synctest.Wait()
				if p := f.boxes[PersistentVolumes].pulse(); p.err != "" || !p.failing.IsZero() {
					t.Errorf("pulse = %+v", p)
				}
			}
			time.Sleep(time.Minute)
			if len(watches) != 1 {
				t.Errorf("%d watches are open", len(watches))
			}
		})
	})
}

// A watch may send what there is ahead of what changes. As long as it does, a
// failure is that of the list, which the reflector makes in its place.
func TestStreamedListIsNoWatchYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
		r := newReader(source{resource: PersistentVolumes}, nil, box, Timing{}.withDefaults(), "")
		verbNow := func() verb {
			box.mu.Lock()
			defer box.mu.Unlock()
			return box.failed
		}
		broken := &metav1.Status{Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonInternalError}
		inner := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 5})
		w := r.observe(t.Context(), inner, true)
		box.fail(watching, KindServer, "x")
		time.Sleep(time.Minute)
		if verbNow() != watching {
			t.Error("a watch that has only listed so far counts as sound")
		}
		inner.Error(broken)
		<-w.ResultChan()
		if verbNow() != listing {
			t.Error("the failure of a list counts as that of a watch")
		}
		end := &corev1.PersistentVolume{}
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		inner.Action(watch.Bookmark, end)
		<-w.ResultChan()
		time.Sleep(2 * soundWatch)
		if verbNow() != "" {
			t.Error("a watch that lives does not count as sound")
		}
		inner.Error(broken)
		<-w.ResultChan()
		if verbNow() != watching {
			t.Error("the failure of a watch counts as that of a list")
		}
		w.Stop()
		w.Stop()
	})
}

// A watch that is given up passes nothing on and leaves nothing behind, even
// if nobody takes its last event.
func TestStoppedWatchIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
		r := newReader(source{resource: PersistentVolumes}, nil, box, Timing{}.withDefaults(), "")
		ctx, cancel := context.WithCancel(t.Context())
		inner := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 5})
		w := r.observe(ctx, inner, false)
		cancel()
		inner.Error(&metav1.Status{Status: metav1.StatusFailure, Code: 500, Reason: metav1.StatusReasonInternalError, Message: "context canceled"})
		synctest.Wait()
		w.Stop()
		synctest.Wait()
		if p := box.pulse(); strings.Contains(p.err, "cancel") || !p.failing.IsZero() {
			t.Errorf("pulse = %+v", p)
		}
	})
}

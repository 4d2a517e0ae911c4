package kube

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

func TestFirstPageIsShownAsLoading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		lw := &cache.ListWatch{
			ListWithContextFunc: func(_ context.Context, opts metav1.ListOptions) (runtime.Object, error) {
				if opts.Limit == pageSize {
					return &corev1.PersistentVolumeList{Items: []corev1.PersistentVolume{*newVolume("pv")}}, nil
				}
				<-release
				return &corev1.PersistentVolumeList{Items: []corev1.PersistentVolume{*newVolume("pv"), *newVolume("pv2")}}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return watch.NewFake(), nil },
		}
		c := newCluster()
		s := source{PersistentVolumes, false, &corev1.PersistentVolume{}, func(string) *cache.ListWatch { return lw }, true}
		box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
		ctx, cancel := context.WithCancel(t.Context())
		go newReader(s, c.api, box, c.client.timing, "").run(ctx, "")
		synctest.Wait()
		if d := box.collect(); len(d.changes) != 1 || d.replaced || d.state.Phase != Loading {
			t.Errorf("first page = %+v", d)
		}
		close(release)
		synctest.Wait()
		if d := box.collect(); len(d.changes) != 2 || !d.replaced || d.state.Phase != Synced {
			t.Errorf("list = %+v", d)
		}
		cancel()
	})
}

// A server that refuses connections is retried without the reflector's own
// long pauses, and nothing is listed again when it is back.
func TestRefusedWatchGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		var mu sync.Mutex
		refusals, watches := 3, 0
		c.api.PrependWatchReactor(string(PersistentVolumes), func(k8stesting.Action) (bool, watch.Interface, error) {
			mu.Lock()
			defer mu.Unlock()
			watches++
			if refusals > 0 {
				refusals--
				return true, nil, dialError()
			}
			return false, nil, nil
		})
		c.run(t, func(f *Feed) {
			s := until(t, f, "an error", func(s *Snapshot) bool { return s.Resources[PersistentVolumes].Err != "" })
			if s.Resources[PersistentVolumes].Phase != Synced {
				t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
			}
			until(t, f, "no error", func(s *Snapshot) bool { return s.Resources[PersistentVolumes].Err == "" })
			mu.Lock()
			defer mu.Unlock()
			if watches != 4 {
				t.Errorf("%d watches", watches)
			}
			lists := 0
			for _, a := range c.api.Actions() {
				if a.Matches("list", string(PersistentVolumes)) {
					lists++
				}
			}
			if lists != 2 {
				t.Errorf("%d lists, want a first page and a complete one", lists)
			}
		})
	})
}

// A watch that has gone silent is begun anew, and a pause after a failure ends
// as soon as the server is back.
func TestSilentWatchIsBegunAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		var mu sync.Mutex
		var watches []*watch.FakeWatcher
		c.api.PrependWatchReactor(string(PersistentVolumes), func(k8stesting.Action) (bool, watch.Interface, error) {
			mu.Lock()
			defer mu.Unlock()
			w := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 10})
			watches = append(watches, w)
			return true, w, nil
		})
		count := func() int {
			mu.Lock()
			defer mu.Unlock()
			return len(watches)
		}
		c.run(t, func(f *Feed) {
			until(t, f, "everything", allSynced)
			mu.Lock()
			bookmark := newVolume("")
			watches[0].Action(watch.Bookmark, bookmark)
			mu.Unlock()
			synctest.Wait()
			before := time.Now()
			s := until(t, f, "a stale link", func(s *Snapshot) bool { return s.Link.Phase == Stale })
			if silence := s.Link.Since.Sub(before); silence > 0 || time.Since(s.Link.Since) < c.client.timing.Silence {
				t.Errorf("link = %+v at %v", s.Link, time.Now())
			}
			until(t, f, "a link again", func(s *Snapshot) bool { return s.Link.Phase == Live })
			if got := count(); got != 2 {
				t.Errorf("%d watches", got)
			}
		})
	})
}

func TestRecoveryEndsThePause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		c.client.timing.Retry, c.client.timing.RetryMax = time.Hour, time.Hour
		var down atomic.Bool
		down.Store(true)
		c.server.set(dialError())
		c.api.PrependReactor("list", string(PersistentVolumes), func(k8stesting.Action) (bool, runtime.Object, error) {
			return down.Load(), nil, dialError()
		})
		c.run(t, func(f *Feed) {
			until(t, f, "no link", func(s *Snapshot) bool { return s.Link.Phase == Unreachable })
			start := time.Now()
			down.Store(false)
			c.server.set(nil)
			until(t, f, "the volumes", func(s *Snapshot) bool { return s.Known(PersistentVolumes, "") })
			if waited := time.Since(start); waited > 5*time.Second {
				t.Errorf("waited %v", waited)
			}
		})
	})
}

package kube

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// fakeServer answers the probe.
type fakeServer struct {
	mu  sync.Mutex
	err error
}

func (s *fakeServer) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *fakeServer) ready(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *fakeServer) version(ctx context.Context) (string, error) { return "v1.37.2", s.ready(ctx) }

type cluster struct {
	api    *fake.Clientset
	server *fakeServer
	client *Client
}

func newCluster(objects ...runtime.Object) *cluster {
	api := fake.NewClientset(objects...)
	api.PrependReactor("create", "selfsubjectaccessreviews", func(a k8stesting.Action) (bool, runtime.Object, error) {
		return true, a.(k8stesting.CreateAction).GetObject(), nil
	})
	server := &fakeServer{}
	return &cluster{api: api, server: server, client: &Client{
		api: api, streams: api, probe: server, namespace: "exam", fallback: true, timing: Timing{}.withDefaults(),
	}}
}

// deny refuses a verb on a resource, in one namespace or, when it is empty,
// in all of them at once, until the returned function is called.
func (c *cluster) deny(verb string, resource Resource, namespace string) (allow func()) {
	var allowed atomic.Bool
	c.api.PrependReactor(verb, string(resource), func(a k8stesting.Action) (bool, runtime.Object, error) {
		if a.GetNamespace() != namespace || allowed.Load() {
			return false, nil, nil
		}
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: string(resource)}, "", errors.New("no"))
	})
	return func() { allowed.Store(true) }
}

// run starts a feed in a bubble of fake time and stops it after the test.
func (c *cluster) run(t *testing.T, test func(f *Feed)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := c.client.Watch(ctx)
	test(f)
	cancel()
	f.Wait()
}

// until fetches snapshots until one is as wanted.
func until(t *testing.T, f *Feed, what string, wanted func(*Snapshot) bool) *Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var last *Snapshot
	for {
		s, err := f.Next(ctx)
		if err != nil {
			t.Fatalf("no snapshot with %s: %v; the last was %+v", what, err, last)
		}
		if last != nil && s.Revision <= last.Revision {
			t.Fatalf("revision %d after %d", s.Revision, last.Revision)
		}
		if last = s; wanted(s) {
			return s
		}
	}
}

func allSynced(s *Snapshot) bool {
	for _, state := range s.Resources {
		if state.Phase != Synced {
			return false
		}
	}
	return len(s.Resources) == 10 && s.Link.Phase == Live && s.Rights != nil
}

func TestFeedShowsTheClusterAndItsChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(
			newVolume("pv", claimedBy("a", "c", "uid-c")), newClaim("a", "c", boundTo("pv")),
			newPod("a", "p", nil, "c"), newClass("slow", true),
		)
		c.run(t, func(f *Feed) {
			s := until(t, f, "everything", func(s *Snapshot) bool { return allSynced(s) && s.Link.Version != "" })
			v := s.Volume("pv")
			if v == nil || v.Tie != TieHeld || len(v.Users) != 1 || !v.UsersKnown || s.Class("slow").Volumes[Bound].Count != 1 {
				t.Errorf("volume = %+v", v)
			}
			if allowed, known := s.Rights[Right{"patch", PersistentVolumes}]; allowed || !known {
				t.Errorf("rights = %v", s.Rights)
			}
			if err := c.api.CoreV1().Pods("a").Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			until(t, f, "the pod gone", func(s *Snapshot) bool { return len(s.Volume("pv").Users) == 0 })
		})
	})
}

func TestFeedGathersChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.run(t, func(f *Feed) {
			until(t, f, "everything", func(s *Snapshot) bool { return allSynced(s) && s.Link.Version != "" })
			time.Sleep(time.Second)
			synctest.Wait()
			start := time.Now()
			for i := range 100 {
				if _, err := c.api.CoreV1().PersistentVolumes().Create(t.Context(), newVolume(fmt.Sprint("pv", i)), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			s, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Volumes) == 0 || time.Since(start) != 0 {
				t.Errorf("the first change came after %v with %d volumes", time.Since(start), len(s.Volumes))
			}
			last, err := f.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(last.Volumes) != 100 || time.Since(start) != c.client.timing.Coalesce || last.Revision != s.Revision+1 {
				t.Errorf("%d volumes after %v, revision %d after %d", len(last.Volumes), time.Since(start), last.Revision, s.Revision)
			}
		})
	})
}

func TestUnreadSnapshotsAreReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.run(t, func(f *Feed) {
			until(t, f, "everything", allSynced)
			for i := range 5 {
				if _, err := c.api.CoreV1().PersistentVolumes().Create(t.Context(), newVolume(fmt.Sprint("pv", i)), metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			s, err := f.Next(t.Context())
			if err != nil || len(s.Volumes) != 5 {
				t.Errorf("got %d volumes, %v", len(s.Volumes), err)
			}
		})
	})
}

func TestNextAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newCluster().client.Watch(ctx)
		cancel()
		f.Wait()
		for {
			if _, err := f.Next(t.Context()); err != nil {
				if !errors.Is(err, ErrClosed) {
					t.Errorf("error = %v", err)
				}
				return
			}
		}
	})
}

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

func TestForbiddenVolumesLeaveTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"), newClaim("exam", "c", boundTo("pv")), newPod("exam", "p", nil, "c"))
		allow := c.deny("list", PersistentVolumes, "")
		c.run(t, func(f *Feed) {
			s := until(t, f, "forbidden volumes", func(s *Snapshot) bool {
				return s.Resources[PersistentVolumes].Phase == Forbidden && s.Known(PersistentVolumeClaims, "") && s.Known(Pods, "")
			})
			if got := s.Resources[PersistentVolumes].Missing; got != "list persistentvolumes" {
				t.Errorf("missing = %q", got)
			}
			claim := s.Claim("exam", "c")
			if claim.Tie != TieUnknown || len(claim.Users) != 1 || len(s.Volumes) != 0 {
				t.Errorf("claim = %+v", claim)
			}
			// Rights may come.
			allow()
			s = until(t, f, "volumes", func(s *Snapshot) bool { return s.Known(PersistentVolumes, "") })
			if s.Claim("exam", "c").Tie != TieOpen {
				t.Errorf("claim = %+v", s.Claim("exam", "c"))
			}
		})
	})
}

func TestForbiddenNamespacesFallBackToOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"), newClaim("other", "c"), newPod("exam", "p", nil, "c"))
		c.deny("list", PersistentVolumeClaims, "")
		c.deny("list", Pods, "")
		c.deny("list", Pods, "exam")
		c.run(t, func(f *Feed) {
			s := until(t, f, "claims of one namespace", func(s *Snapshot) bool {
				return s.Known(PersistentVolumeClaims, "exam") && s.Resources[Pods].Phase == Forbidden
			})
			if len(s.Claims) != 1 || s.Scope != "exam" || s.Known(PersistentVolumeClaims, "other") {
				t.Errorf("%d claims, scope %q", len(s.Claims), s.Scope)
			}
			if s.Resources[Pods].Missing != "list pods in namespace exam" || s.Claim("exam", "c").UsersKnown {
				t.Errorf("pods = %+v", s.Resources[Pods])
			}
			f.SetScope("other")
			s = until(t, f, "claims of the other namespace", func(s *Snapshot) bool {
				return s.Known(PersistentVolumeClaims, "other") && s.Known(Pods, "other")
			})
			if len(s.Claims) != 1 || s.Scope != "other" || s.Claim("other", "c") == nil || !s.Claim("other", "c").UsersKnown {
				t.Errorf("%d claims, scope %q", len(s.Claims), s.Scope)
			}
		})
	})
}

func TestAllNamespacesIsNotNarrowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newClaim("exam", "c"))
		c.client.fallback = false
		c.deny("list", PersistentVolumeClaims, "")
		c.run(t, func(f *Feed) {
			s := until(t, f, "forbidden claims", func(s *Snapshot) bool { return s.Resources[PersistentVolumeClaims].Phase == Forbidden })
			if s.Resources[PersistentVolumeClaims].Missing != "list persistentvolumeclaims" {
				t.Errorf("claims = %+v", s.Resources[PersistentVolumeClaims])
			}
		})
	})
}

func TestForbiddenWatchBecomesPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		c.api.PrependWatchReactor(string(PersistentVolumes), func(k8stesting.Action) (bool, watch.Interface, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: string(PersistentVolumes)}, "", errors.New("no"))
		})
		c.run(t, func(f *Feed) {
			s := until(t, f, "polling", func(s *Snapshot) bool { return s.Resources[PersistentVolumes].Missing != "" })
			if s.Resources[PersistentVolumes].Missing != "watch persistentvolumes" || len(s.Volumes) != 1 {
				t.Errorf("volumes = %+v", s.Resources[PersistentVolumes])
			}
			if _, err := c.api.CoreV1().PersistentVolumes().Create(t.Context(), newVolume("pv2"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			until(t, f, "the next volume", func(s *Snapshot) bool { return len(s.Volumes) == 2 })
		})
	})
}

func TestLinkIsLostAndFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(newVolume("pv"))
		c.run(t, func(f *Feed) {
			until(t, f, "a link", allSynced)
			time.Sleep(time.Minute)
			c.server.set(dialError())
			s := until(t, f, "no link", func(s *Snapshot) bool { return s.Link.Phase == Unreachable })
			if age := time.Since(s.Link.Since); s.Link.Err == "" || age <= 0 || age > 5*time.Second {
				t.Errorf("link = %+v", s.Link)
			}
			if len(s.Volumes) != 1 {
				t.Error("what was known is gone")
			}
			c.server.set(nil)
			s = until(t, f, "a link again", func(s *Snapshot) bool { return s.Link.Phase == Live })
			if s.Link.Err != "" {
				t.Errorf("link = %+v", s.Link)
			}
		})
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

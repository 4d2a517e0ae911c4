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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
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
	return len(s.Resources) == 13 && s.Link.Phase == Live && s.Rights != nil
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

package sandbox

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
)

// nextEvent is the next event of a watch, in short.
func nextEvent(t *testing.T, w watch.Interface) string {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			return "end"
		}
		switch o := e.Object.(type) {
		case *corev1.PersistentVolume:
			if e.Type == watch.Bookmark {
				return fmt.Sprintf("BOOKMARK %s %s", o.ResourceVersion, o.Annotations[metav1.InitialEventsAnnotationKey])
			}
			return fmt.Sprintf("%s %s %s", e.Type, o.Name, o.ResourceVersion)
		case *metav1.Status:
			return fmt.Sprintf("%s %d %s", e.Type, o.Code, o.Reason)
		default:
			return fmt.Sprintf("%s %T", e.Type, o)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("no event")
		return ""
	}
}

func expect(t *testing.T, w watch.Interface, want ...string) {
	t.Helper()
	for _, line := range want {
		if got := nextEvent(t, w); got != line {
			t.Fatalf("got %q, want %q", got, line)
		}
	}
}

func TestWatch(t *testing.T) {
	for _, media := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		for _, over := range []string{"memory", "loopback"} {
			t.Run(media+" over "+over, func(t *testing.T) { testWatch(t, media, over == "loopback") })
		}
	}
}

func testWatch(t *testing.T, media string, loopback bool) {
	labelled := func(o *corev1.PersistentVolume) { o.Labels = map[string]string{"in": "yes"} }
	server, _ := serve(t, ServerOptions{BookmarkEvery: 50 * time.Millisecond, Window: 3}, aVolume("a", labelled), aVolume("b"))
	config := server.RESTConfig("")
	if loopback {
		listener := httptest.NewServer(server)
		t.Cleanup(listener.Close)
		config = &rest.Config{Host: listener.URL, BearerToken: Admin}
	}
	config.ContentType = media
	config.AcceptContentTypes = media
	volumes := clientFor(t, config).CoreV1().PersistentVolumes()
	open := func(o metav1.ListOptions) watch.Interface {
		t.Helper()
		w, err := volumes.Watch(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		return w
	}
	list, err := volumes.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The two namespaces came first.
	expect(t, open(metav1.ListOptions{ResourceVersion: list.ResourceVersion, AllowWatchBookmarks: true}), "BOOKMARK 4 ")
	expect(t, open(metav1.ListOptions{}), "ADDED a 3", "ADDED b 4")
	streaming := open(metav1.ListOptions{
		SendInitialEvents: new(true), ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true,
	})
	expect(t, streaming, "ADDED a 3", "ADDED b 4", "BOOKMARK 4 true")
	later := open(metav1.ListOptions{ResourceVersion: "3"})
	expect(t, later, "ADDED b 4")
	selected := open(metav1.ListOptions{ResourceVersion: "4", LabelSelector: "in=yes"})

	server.Apply(func(s *State) *State {
		return s.Update(aVolume("b", labelled)).Update(aVolume("a")).Remove(Key{Volumes, "", "b"})
	})
	expect(t, later, "MODIFIED b 5", "MODIFIED a 6", "DELETED b 7")
	expect(t, selected, "ADDED b 5", "DELETED a 6", "DELETED b 7")

	expect(t, open(metav1.ListOptions{ResourceVersion: "7", TimeoutSeconds: new(int64(1))}), "end")
	server.Compact()
	expect(t, open(metav1.ListOptions{ResourceVersion: "6"}), "ERROR 410 Expired", "end")
	expect(t, open(metav1.ListOptions{ResourceVersion: "7", AllowWatchBookmarks: true}), "BOOKMARK 7 ")
	// The window is short.
	for i := range 7 {
		server.Apply(func(s *State) *State { return s.Create(aVolume(fmt.Sprint("c", i))) })
	}
	expect(t, open(metav1.ListOptions{ResourceVersion: "7"}), "ERROR 410 Expired", "end")
	expect(t, open(metav1.ListOptions{ResourceVersion: "11"}), "ADDED c4 12")
	// History may break off.
	follow := open(metav1.ListOptions{ResourceVersion: "14"})
	server.Apply(func(*State) *State { return NewState(start()).Load(aVolume("z")) })
	expect(t, follow, "ERROR 410 Expired", "end")

	_, err = volumes.Watch(t.Context(), metav1.ListOptions{SendInitialEvents: new(true)})
	refusal{422, metav1.StatusReasonInvalid, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"}.check(t, err)
}

// TestInformers: the real reflectors, which stream their lists, get along.
func TestInformers(t *testing.T) {
	server, client := serve(t, ServerOptions{}, aVolume("a"), aClaim("c"), aPod("p"))
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(client, 0)
	volumes := factory.Core().V1().PersistentVolumes().Lister()
	claims := factory.Core().V1().PersistentVolumeClaims().Lister()
	pods := factory.Core().V1().Pods().Lister()
	factory.StartWithContext(ctx)
	defer func() {
		cancel()
		factory.Shutdown()
	}()
	for kind, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			t.Fatalf("%v did not sync", kind)
		}
	}
	if o, err := volumes.Get("a"); err != nil || o.Spec.CSI == nil {
		t.Fatalf("%v, %v", o, err)
	}
	server.Apply(func(s *State) *State { return s.Create(aVolume("b")).Remove(Key{Claims, "db", "c"}) })
	eventually(t, func() bool {
		_, missing := volumes.Get("b")
		_, gone := claims.PersistentVolumeClaims("db").Get("c")
		return missing == nil && gone != nil
	})
	// A restart of the whole cluster is followed, too.
	server.Apply(func(*State) *State { return NewState(start()).Load(aVolume("only")) })
	eventually(t, func() bool {
		_, gone := volumes.Get("a")
		_, missing := volumes.Get("only")
		_, pod := pods.Pods("db").Get("p")
		return gone != nil && missing == nil && pod != nil
	})
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		return ok(), nil
	})
	if err != nil {
		t.Fatalf("it never came to that: %v", err)
	}
}

// TestTransportEnds: giving up a request ends its handler and its readers.
func TestTransportEnds(t *testing.T) {
	_, client := serve(t, ServerOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	w, err := client.CoreV1().PersistentVolumes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	for e := range w.ResultChan() {
		if e.Type != watch.Error {
			t.Errorf("%+v", e)
		}
	}
}

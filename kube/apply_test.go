package kube

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

func TestApplyConflicts(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	other := releasedVolume()
	server.put(other)
	if _, err := c.Apply(t.Context(), p, nil); KindOf(err) != KindConflict {
		t.Errorf("error = %v", err)
	}
	if got := len(server.sent(http.MethodPatch)); got != 2 {
		t.Errorf("%d patches were sent, want the dry run and one attempt", got)
	}
}

// lose makes the server lose the answer to the real request, after it has
// been stored or before.
func lose(server *apiServer, stored bool, lost func(w http.ResponseWriter)) {
	isWrite := func(r *http.Request) bool {
		return r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == ""
	}
	hook := func(w http.ResponseWriter, r *http.Request) bool {
		if isWrite(r) {
			lost(w)
		}
		return isWrite(r)
	}
	if stored {
		server.after = hook
	} else {
		server.before = hook
	}
}

func TestLostAnswers(t *testing.T) {
	available := func(o map[string]any) { o["status"] = map[string]any{"phase": "Available"} }
	ways := map[string]func(t *testing.T, s *apiServer, w http.ResponseWriter){
		"hang up": func(t *testing.T, _ *apiServer, w http.ResponseWriter) { hangUp(t, w) },
		"500": func(_ *testing.T, s *apiServer, w http.ResponseWriter) {
			s.fail(w, 500, metav1.StatusReasonInternalError, "etcd")
		},
		"504": func(_ *testing.T, s *apiServer, w http.ResponseWriter) {
			s.fail(w, 504, metav1.StatusReasonTimeout, "slow")
		},
		"503, please retry": func(_ *testing.T, s *apiServer, w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			s.fail(w, 503, metav1.StatusReasonServiceUnavailable, "busy")
		},
		"rubbish": func(t *testing.T, _ *apiServer, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write([]byte("{")); err != nil {
				t.Error(err)
			}
		},
	}
	for way, lost := range ways {
		tests := []struct {
			name    string
			stored  bool
			follow  func(map[string]any)
			want    Kind
			applied bool
		}{
			{"applied", true, available, KindOther, true},
			{"applied, and the controller is slow", true, nil, KindOther, true},
			{"not applied", false, nil, KindNotApplied, false},
			{"overwritten", true, func(o map[string]any) { o["spec"].(map[string]any)["claimRef"] = nil }, KindOutcomeUnknown, false},
		}
		for _, tt := range tests {
			t.Run(way+"/"+tt.name, func(t *testing.T) {
				server, http1 := newAPIServer(t, releasedVolume())
				lose(server, tt.stored, func(w http.ResponseWriter) { lost(t, server, w) })
				server.follow = tt.follow
				c := connect(t, http1.URL, nil)
				p, err := c.Preview(t.Context(), nil, reserveStep())
				if err != nil {
					t.Fatal(err)
				}
				applied, err := c.Apply(t.Context(), p, nil)
				if tt.applied && (err != nil || !applied.Recovered || applied.ResourceVersion == p.ResourceVersion) {
					t.Errorf("applied = %+v, %v", applied, err)
				}
				if !tt.applied && (err == nil || KindOf(err) != tt.want) {
					t.Errorf("error = %v", err)
				}
				if got := len(server.sent(http.MethodPatch)); got != 2 {
					t.Errorf("%d patches were sent, want the dry run and one attempt", got)
				}
			})
		}
	}
}

func TestLostAnswerAndThenNothing(t *testing.T) {
	for name, then := range map[string]func(s *apiServer, w http.ResponseWriter){
		"unreadable": func(s *apiServer, w http.ResponseWriter) { s.fail(w, 500, metav1.StatusReasonInternalError, "etcd") },
		"gone":       func(s *apiServer, w http.ResponseWriter) { s.fail(w, 404, metav1.StatusReasonNotFound, "gone") },
	} {
		t.Run(name, func(t *testing.T) {
			server, http1 := newAPIServer(t, releasedVolume())
			c := connect(t, http1.URL, nil)
			p, err := c.Preview(t.Context(), nil, reserveStep())
			if err != nil {
				t.Fatal(err)
			}
			server.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPatch {
					hangUp(t, w)
				} else {
					then(server, w)
				}
				return true
			}
			if _, err := c.Apply(t.Context(), p, nil); !errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// A user who quits while the request is under way still learns how it ended.
func TestCancelledApplyIsReadBack(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lose(server, true, func(w http.ResponseWriter) {
		cancel()
		hangUp(t, w)
	})
	applied, err := c.Apply(ctx, p, nil)
	if err != nil || !applied.Recovered {
		t.Errorf("applied = %+v, %v", applied, err)
	}
}

// The looks after a lost answer are as far apart as they should be, and end
// even if the server never answers again, whatever became of the caller.
func TestReadBackTakesItsTimeAndNoMore(t *testing.T) {
	tests := []struct {
		name string
		get  func(context.Context)
		want error
		// more is how much longer than the server's own patience it may take.
		more func(Timing) time.Duration
	}{
		{"unchanged", func(context.Context) {}, ErrNotApplied, func(t Timing) time.Duration { return t.Readback }},
		{"silent", func(ctx context.Context) { <-ctx.Done() }, ErrOutcomeUnknown, func(t Timing) time.Duration {
			return readbacks * (t.Readback + readbackTimeout)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pv := releasedVolume()
				c := newCluster(pv)
				c.client.api = slowVolumes{c.api, tt.get}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				start := time.Now()
				patience := c.client.serverTimeout()
				_, err := c.client.readBack(ctx, Preview{Step: reserveStep(), ResourceVersion: pv.ResourceVersion}, errors.New("lost"), start.Add(patience))
				// Before the server has given up, the request may still arrive.
				if took := time.Since(start); !errors.Is(err, tt.want) || took < patience || took > patience+tt.more(c.client.timing) {
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

// slowVolumes is an API whose volumes take their time.
type slowVolumes struct {
	kubernetes.Interface
	wait func(context.Context)
}

func (s slowVolumes) CoreV1() typedcorev1.CoreV1Interface {
	return slowCore{s.Interface.CoreV1(), s.wait}
}

type slowCore struct {
	typedcorev1.CoreV1Interface
	wait func(context.Context)
}

func (s slowCore) PersistentVolumes() typedcorev1.PersistentVolumeInterface {
	return slowGet{s.CoreV1Interface.PersistentVolumes(), s.wait}
}

type slowGet struct {
	typedcorev1.PersistentVolumeInterface
	wait func(context.Context)
}

func (s slowGet) Get(ctx context.Context, name string, o metav1.GetOptions) (*corev1.PersistentVolume, error) {
	s.wait(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.PersistentVolumeInterface.Get(ctx, name, o)
}

func TestNothingWasSentToAClosedPort(t *testing.T) {
	_, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	http1.Close()
	if _, err := c.Apply(t.Context(), p, nil); KindOf(err) != KindUnreachable {
		t.Errorf("error = %v", err)
	}
}

func TestSeen(t *testing.T) {
	pv := newVolume("pv")
	pv.ResourceVersion = "99"
	s := NewSnapshot(Objects{Volumes: []*corev1.PersistentVolume{pv}})
	at := func(version string, change func(*corev1.PersistentVolume)) Applied {
		o := newVolume("pv")
		o.ResourceVersion = version
		if change != nil {
			change(o)
		}
		return Applied{ResourceVersion: version, Object: o}
	}
	for _, tt := range []struct {
		name    string
		snap    *Snapshot
		applied Applied
		want    bool
	}{
		{"older", s, at("98", nil), true},
		{"same", s, at("99", nil), true},
		{"newer, with one more digit", s, at("100", nil), false},
		{"not a number", s, at("x", nil), false},
		{"replaced", s, at("100", func(pv *corev1.PersistentVolume) { pv.UID = "other" }), true},
		{"gone", NewSnapshot(Objects{}), at("100", nil), true},
		{"not read", &Snapshot{}, at("100", nil), false},
		{"nothing applied", s, Applied{}, false},
	} {
		if got := Seen(tt.snap, tt.applied); got != tt.want {
			t.Errorf("%s: seen = %v", tt.name, got)
		}
	}
}

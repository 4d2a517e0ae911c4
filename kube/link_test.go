package kube

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// dialError is what a closed port gives.
func dialError() error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

func TestLink(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	heard := func(seconds int) pulse { return pulse{synced: true, bookmarks: true, heard: at(seconds)} }

	tests := []struct {
		name      string
		steps     func(l *link)
		wantPhase LinkPhase
		wantSince int
		wantErr   bool
	}{
		{"nothing yet", func(*link) {}, Connecting, 0, false},
		{"first answer", func(l *link) { l.good(at(1), nil) }, Live, 1, false},
		{"live since the first answer", func(l *link) { l.good(at(1), nil); l.good(at(4), []pulse{heard(3)}) }, Live, 1, false},
		{"refused at once", func(l *link) { l.bad(at(1), nil, KindUnreachable, "x") }, Unreachable, 0, true},
		{"refused later", func(l *link) { l.good(at(1), nil); l.bad(at(4), nil, KindUnreachable, "x") }, Unreachable, 1, true},
		{"an event is a sign of life", func(l *link) {
			l.good(at(1), nil)
			l.bad(at(4), []pulse{heard(3), heard(2)}, KindUnreachable, "x")
		}, Unreachable, 3, true},
		{"one lost answer is forgiven", func(l *link) { l.good(at(1), nil); l.bad(at(4), nil, KindTimeout, "x") }, Live, 1, false},
		{"two are not", func(l *link) {
			l.good(at(1), nil)
			l.bad(at(4), nil, KindTimeout, "x")
			l.bad(at(7), nil, KindTimeout, "x")
		}, Unreachable, 1, true},
		{"not in a row", func(l *link) {
			l.good(at(1), nil)
			l.bad(at(4), nil, KindTimeout, "x")
			l.good(at(7), nil)
			l.bad(at(10), nil, KindTimeout, "x")
		}, Live, 1, false},
		{"no answer at the start", func(l *link) { l.bad(at(3), nil, KindTimeout, "x") }, Unreachable, 0, true},
		{"unreachable keeps its since", func(l *link) {
			l.good(at(1), nil)
			l.bad(at(4), nil, KindUnreachable, "x")
			l.bad(at(7), nil, KindUnauthorized, "y")
		}, Unreachable, 1, true},
		{"recovered", func(l *link) { l.bad(at(1), nil, KindUnreachable, "x"); l.good(at(4), nil) }, Live, 4, false},
		{"silent, but within bounds", func(l *link) { l.good(at(120), []pulse{heard(0)}) }, Live, 120, false},
		{"silent for too long", func(l *link) { l.good(at(121), []pulse{heard(90), heard(0)}) }, Stale, 0, true},
		{"heard again", func(l *link) {
			l.good(at(121), []pulse{heard(0)})
			l.good(at(124), []pulse{heard(123)})
		}, Live, 124, false},
		{"never sent a bookmark", func(l *link) { l.good(at(300), []pulse{{synced: true, heard: at(0)}}) }, Live, 300, false},
		{"not read yet", func(l *link) { l.good(at(300), []pulse{{bookmarks: true, heard: at(0)}}) }, Live, 300, false},
		{"a watch fails for a moment", func(l *link) {
			l.good(at(100), []pulse{{synced: true, heard: at(90), failing: at(95), err: "x"}})
		}, Live, 100, false},
		{"a watch fails", func(l *link) {
			l.good(at(100), []pulse{{synced: true, heard: at(80), failing: at(85), err: "x"}})
		}, Stale, 80, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLink(start, 2*time.Minute)
			tt.steps(l)
			got := l.state()
			if got.Phase != tt.wantPhase || !got.Since.Equal(at(tt.wantSince)) || (got.Err != "") != tt.wantErr {
				t.Errorf("link = %+v, want phase %d since %v", got, tt.wantPhase, at(tt.wantSince))
			}
		})
	}
}

func TestLinkSaysOfWhatKindTheFailureIs(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newLink(start, 2*time.Minute)
	later := start.Add(5 * time.Minute)
	for _, tt := range []struct {
		name string
		step func()
		want Kind
	}{
		{"refused", func() { l.bad(start, nil, KindUnreachable, "x") }, KindUnreachable},
		{"then logged out", func() { l.bad(start, nil, KindUnauthorized, "y") }, KindUnauthorized},
		{"then live", func() { l.good(start, nil) }, KindOther},
		{"then silent", func() { l.good(later, []pulse{{synced: true, bookmarks: true, heard: start}}) }, KindTimeout},
		{"then failing", func() {
			l.good(later, []pulse{{synced: true, heard: start, failing: start, kind: KindServer, err: "z"}})
		}, KindServer},
	} {
		tt.step()
		if got := l.state(); got.Kind != tt.want || (got.Err == "") != (got.Phase == Live) {
			t.Errorf("%s: link = %+v", tt.name, got)
		}
	}
}

func TestReadyCountsRefusalsAsAnswers(t *testing.T) {
	c := newCluster()
	f := &Feed{client: c.client}
	for err, want := range map[error]bool{
		statusError(403, "Forbidden", "no"):       true,
		statusError(404, "NotFound", "no"):        true,
		statusError(401, "Unauthorized", "no"):    false,
		statusError(500, "InternalError", "etcd"): false,
		errors.New("x"):                           false,
	} {
		c.server.set(err)
		if got := f.ready(t.Context()) == nil; got != want {
			t.Errorf("%v: ready = %v", err, got)
		}
	}
}

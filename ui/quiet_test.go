package ui

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// sink is a terminal that can be read while it is written.
type sink struct {
	mu   sync.Mutex
	text bytes.Buffer
	came chan struct{}
}

func (s *sink) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.text.Write(b)
	if n > 0 {
		select {
		case s.came <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func newQuiet(t *testing.T) (*Quiet, *sink) {
	t.Helper()
	out := &sink{came: make(chan struct{}, 1)}
	q, err := NewQuiet(out)
	if err != nil {
		t.Fatal(err)
	}
	return q, out
}

func say(t *testing.T, q *Quiet, text string) {
	t.Helper()
	if _, err := q.File().WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestQuiet(t *testing.T) {
	q, out := newQuiet(t)
	say(t, q, "before ")
	<-out.came
	q.Hold()
	say(t, q, "during ")
	if got := out.String(); got != "before " {
		t.Errorf("while it holds, the terminal gets %q", got)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "before during "; got != want {
		t.Errorf("in the end the terminal has %q, want %q", got, want)
	}
}

// TestQuietKeepsTheEnd: of a flood the end is kept, and memory is bounded.
func TestQuietKeepsTheEnd(t *testing.T) {
	q, out := newQuiet(t)
	q.Hold()
	say(t, q, strings.Repeat("x", 10*keptBytes)+"the end")
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	got := out.String()
	if !strings.HasSuffix(got, "the end") || len(got) > keptBytes+4<<10 {
		t.Errorf("%d bytes are passed on, ending in %q", len(got), got[max(len(got)-10, 0):])
	}
}

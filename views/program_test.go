package views

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"

	"github.com/claimref/claimref/kube"
)

// feedCluster brings one snapshot, and then waits like a quiet cluster.
type feedCluster struct {
	fakeCluster
	once sync.Once
}

func (f *feedCluster) Next(ctx context.Context) (*kube.Snapshot, error) {
	var first *kube.Snapshot
	f.once.Do(func() { first = kube.NewSnapshot(shop()) })
	if first != nil {
		return first, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// terminal is a screen that tells when it changes.
type terminal struct {
	mu      sync.Mutex
	screen  *vt.Emulator
	changed chan struct{}
}

func (s *terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.screen.Write(b)
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return n, err
}

func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// TestProgramLeavesNothing runs the real program loop, looks at the screen as
// a terminal would show it, and quits by a key: no goroutine is left.
func TestProgramLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(t.Context())
	screen := &terminal{screen: vt.NewEmulator(120, 40), changed: make(chan struct{}, 1)}
	// Where the output is no terminal device, the program leaves it to whatever
	// that is to begin a line at its start.
	if _, err := screen.screen.WriteString("\x1b[20h"); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		// The emulator answers the program's questions into a pipe that has
		// to be read, or the next write blocks.
		_, _ = io.Copy(io.Discard, screen.screen)
	}()

	app := New(ctx, &feedCluster{}, Options{Identity: kube.Identity{Context: "c", User: "u"}, Color: true, Dark: true}, noon())
	program := tea.NewProgram(
		app, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(screen), tea.WithWindowSize(120, 40),
		tea.WithColorProfile(colorprofile.TrueColor), tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals(),
	)
	ended := make(chan error, 1)
	go func() {
		_, err := program.Run()
		ended <- err
	}()
	deadline := time.After(30 * time.Second)
	for !strings.Contains(screen.text(), "nfs-archive") {
		select {
		case <-screen.changed:
		case <-deadline:
			t.Fatalf("the volumes never come:\n%s", screen.text())
		}
	}
	program.Send(keyMsg("q"))
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the program ends with %v", err)
		}
	case <-deadline:
		t.Fatal("q does not quit")
	}
	cancel()
	if err := screen.screen.InputPipe().(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	<-drained
	goleak.VerifyNone(t, before)
}

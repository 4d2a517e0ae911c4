package ui

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"
)

// terminal is an emulator that a program can write to while a test reads it.
type terminal struct {
	mu      sync.Mutex
	screen  *vt.Emulator
	changed chan struct{} // holds a token once something was written
	drained chan struct{}
}

func newTerminal(w, h int) *terminal {
	t := &terminal{screen: vt.NewEmulator(w, h), changed: make(chan struct{}, 1), drained: make(chan struct{})}
	// Without a TTY the program takes a line feed for a new line; mode 20
	// makes the emulator do so too.
	_, _ = t.screen.WriteString("\x1b[20h")
	// Answers go into a pipe without a buffer and have to be read.
	go func() {
		defer close(t.drained)
		_, _ = io.Copy(io.Discard, t.screen)
	}()
	return t
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.screen.Write(p)
	select {
	case t.changed <- struct{}{}:
	default:
	}
	return n, err
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.screen.String()
}

// close ends the reader of the answers.
func (t *terminal) close() {
	if pipe, ok := t.screen.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
	<-t.drained
	_ = t.screen.Close()
}

// wait blocks until the screen shows a text.
func (t *terminal) wait(tb testing.TB, want string) {
	tb.Helper()
	deadline := time.After(20 * time.Second)
	for !strings.Contains(t.text(), want) {
		select {
		case <-t.changed:
		case <-deadline:
			tb.Fatalf("the screen never shows %q:\n%s", want, t.text())
		}
	}
}

func TestProgram(t *testing.T) {
	defer goleak.VerifyNone(t)
	term := newTerminal(100, 30)
	defer term.close()

	table := volumeTable()
	page := &stubPage{title: "Volumes", render: table.Render}
	var a *App
	page.bindings = append(table.Bindings(), Binding{Keys: []string{"a"}, Title: "actions", Hint: true, Do: func() tea.Cmd {
		a.Open(actionsMenu())
		return nil
	}})
	page.react = func(msg tea.Msg) tea.Cmd {
		if msg == (someMsg{1}) {
			a.Open(&stubDialog{})
		}
		return nil
	}
	a = New(Options{Product: "claimref", Theme: ThemeOptions{Dark: true, Color: true}, FollowBackground: true, Tabs: []Page{page, &stubPage{title: "Claims"}}})

	p := tea.NewProgram(
		a, tea.WithInput(nil), tea.WithOutput(term), tea.WithWindowSize(100, 30), tea.WithColorProfile(colorprofile.TrueColor),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals(),
	)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	term.wait(t, "1 Volumes   2 Claims")
	p.Send(key("g"))
	term.wait(t, "▌  pvc-5e28b8a")
	p.Send(key("j"))
	term.wait(t, "▌  example-pv")
	p.Send(key("a"))
	term.wait(t, "╭─ Actions on pvc-5e28b8…ba551")
	p.Send(key("d"))
	p.Send(key("esc"))
	p.Send(key("2"))
	term.wait(t, "body of Claims")
	// The program ends while the grace of this dialog still runs.
	p.Send(someMsg{1})
	term.wait(t, "inside")
	p.Send(tea.WindowSizeMsg{Width: 40, Height: 10})
	term.wait(t, "claimref needs at least")
	p.Send(key("ctrl+c"))
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("ctrl+c does not end the program")
	}
}

package terminal

import (
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/vt"
)

// screen is a terminal emulator that several goroutines may use. The one of
// the library that promises this leaves String out of its lock.
type screen struct {
	mu       sync.Mutex // guards all below
	emulator *vt.Emulator
	raw      []byte
	// changed is closed, and replaced, whenever the screen may have changed.
	changed chan struct{}
}

func newScreen(width, height int) *screen {
	return &screen{emulator: vt.NewEmulator(width, height), changed: make(chan struct{})}
}

// Write draws what a program wrote.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.emulator.Write(p)
	s.raw = append(s.raw, p[:n]...)
	s.notify()
	return n, err
}

// answer copies the emulator's answers to queries of the program, until close.
// Without it the emulator blocks on the first query.
func (s *screen) answer(w io.Writer) {
	// The end of the program cuts answers short, which is no concern here.
	_, _ = io.Copy(w, s.emulator)
}

func (s *screen) resize(width, height int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emulator.Resize(width, height)
	s.notify()
}

// notify tells all waiters that the screen may have changed. The caller holds
// the lock.
func (s *screen) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// watch returns the screen and a channel that is closed when it changes.
func (s *screen) watch() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text(), s.changed
}

// text returns one line per row, without the blanks at their ends. The caller
// holds the lock.
func (s *screen) text() string {
	lines := strings.Split(s.emulator.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

func (s *screen) render() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.Render()
}

func (s *screen) cursor() (x, y int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.emulator.CursorPosition()
	return p.X, p.Y
}

func (s *screen) altScreen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.emulator.IsAltScreen()
}

func (s *screen) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.raw)
}

// closeInput ends answer. The pipe is closed rather than the emulator, whose
// own Close is not safe beside a Read.
func (s *screen) closeInput() {
	if pipe, ok := s.emulator.InputPipe().(io.Closer); ok {
		_ = pipe.Close()
	}
}

// close ends the emulator; answer must have ended.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.emulator.Close()
}

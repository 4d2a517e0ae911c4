package terminal

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// exitGrace is how long a program may take to end once the test has.
const exitGrace = 2 * time.Second

// Terminal is a program on a screen. Its methods fail the test rather than
// return errors, and print the screen when they do.
type Terminal struct {
	t      testing.TB
	name   string
	pty    *os.File
	screen *screen
	pid    int

	// exited is closed when the program has ended and its last output is on
	// the screen; code is set by then.
	exited chan struct{}
	code   int
}

// Start runs a program in a terminal of w columns and h rows. The program ends
// with the test at the latest. Unless cmd.Env is set, the program gets the
// environment of the test without what would change its looks.
func Start(t testing.TB, cmd *exec.Cmd, w, h int) *Terminal {
	t.Helper()
	cmd.Env = environment(cmd.Env)
	cmd.SysProcAttr = processAttributes()
	term := &Terminal{
		t:      t,
		name:   strings.Join(cmd.Args, " "),
		screen: newScreen(w, h),
		exited: make(chan struct{}),
	}
	started := make(chan error)
	go term.run(cmd, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}, started)
	if err := <-started; err != nil {
		t.Fatalf("start %s: %v", term.name, err)
	}
	t.Cleanup(term.close)
	return term
}

// run starts the program and stays with it until its end.
func (term *Terminal) run(cmd *exec.Cmd, size *pty.Winsize, started chan<- error) {
	// Linux ties "die with the parent" to the parent's thread, so this
	// goroutine keeps its thread for as long as the program runs.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	file, err := pty.StartWithSize(cmd, size)
	if err != nil {
		started <- err
		return
	}
	term.pty, term.pid = file, cmd.Process.Pid
	started <- nil

	var output, answers sync.WaitGroup
	// Reading ends with an error when the program, and whoever inherited its
	// terminal, is gone.
	output.Go(func() { _, _ = io.Copy(term.screen, file) })
	answers.Go(func() { term.screen.answer(file) })
	// A program that failed is judged by its exit code.
	_ = cmd.Wait()
	output.Wait()
	term.screen.closeInput()
	answers.Wait()
	term.code = exitCode(cmd.ProcessState)
	close(term.exited)
}

// exitCode follows the shells: 128 and the signal for a killed program.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// close ends the program, gently at first, and frees the terminal.
func (term *Terminal) close() {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGKILL} {
		term.signalGroup(sig)
		select {
		case <-term.exited:
		case <-time.After(exitGrace):
			continue
		}
		break
	}
	_ = term.pty.Close()
	<-term.exited
	term.screen.close()
}

// signalGroup reaches what the program has started, too.
func (term *Terminal) signalGroup(sig syscall.Signal) {
	select {
	case <-term.exited:
	default:
		_ = syscall.Kill(-term.pid, sig)
	}
}

// environment describes a terminal that shows all colours. Variables that the
// caller set are kept; those of the test's own terminal are not.
func environment(env []string) []string {
	if env == nil {
		env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
			name, _, _ := strings.Cut(entry, "=")
			return describesTerminal(name)
		})
	}
	// The last of several entries counts.
	return slices.Concat([]string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}, env)
}

func describesTerminal(name string) bool {
	switch name {
	case "TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
		"COLORFGBG", "COLUMNS", "LINES", "TMUX", "STY", "WT_SESSION":
		return true
	default:
		return strings.HasPrefix(name, "TERM_") || strings.HasPrefix(name, "SSH_")
	}
}

// Screen returns the text on the screen: one line per row, without the blanks
// at their ends.
func (term *Terminal) Screen() string {
	text, _ := term.screen.watch()
	return text
}

// Render returns the screen with its colours, as escape sequences.
func (term *Terminal) Render() string { return term.screen.render() }

// Cursor returns the position of the cursor, from 0.
func (term *Terminal) Cursor() (x, y int) { return term.screen.cursor() }

// AltScreen reports whether the program is on the alternate screen.
func (term *Terminal) AltScreen() bool { return term.screen.altScreen() }

// Output returns every byte that the program has written.
func (term *Terminal) Output() string { return term.screen.output() }

// fatalf fails the test and shows what a person would see.
func (term *Terminal) fatalf(format string, args ...any) {
	term.t.Helper()
	state := "still running"
	select {
	case <-term.exited:
		state = fmt.Sprintf("exited with code %d", term.code)
	default:
	}
	term.t.Fatalf("%s\n%s (%s); its screen:\n%s", fmt.Sprintf(format, args...), term.name, state, frame(term.Screen()))
}

func frame(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  | " + line)
	}
	return b.String()
}

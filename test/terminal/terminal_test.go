package terminal_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claimref/claimref/test/terminal"
)

const patience = 10 * time.Second

func start(t *testing.T, script string) *terminal.Terminal {
	t.Helper()
	return terminal.Start(t, exec.CommandContext(t.Context(), "sh", "-c", script), 60, 10)
}

func TestTypeAndExit(t *testing.T) {
	t.Parallel()
	term := start(t, `printf 'name? '; read -r x; printf 'hello %s' "$x"; exit 3`)
	term.WaitFor("name?", patience)
	term.Type("volume")
	term.Press("enter")
	if code := term.WaitExit(patience); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	// The terminal echoes what is typed.
	if got, want := strings.TrimSpace(term.Screen()), "name? volume\nhello volume"; got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	// The shell shows the bytes of each key; stty hands them over one by one.
	term := start(t, `stty raw -echo; printf ready; dd bs=1 count=13 2>/dev/null | od -An -c -w13`)
	term.WaitFor("ready", patience)
	term.Press("enter", "esc", "down", "ctrl+a", "x", "é", "alt+b", "tab", "backspace")
	term.WaitExit(patience)
	want := `\r 033 033   [   B 001   x 303 251 033   b  \t 177`
	if got := term.Screen(); !strings.Contains(strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(want), " ")) {
		t.Errorf("screen %q, want it to contain %q", got, want)
	}
}

func TestScreenIsTheLastFrame(t *testing.T) {
	t.Parallel()
	term := start(t, `printf 'old text\033[2J\033[2;3H\033[1;31mred\033[0m'; read -r x`)
	term.WaitFor("red", patience)
	if got, want := term.Screen(), "\n  red"+strings.Repeat("\n", 8); got != want {
		t.Errorf("screen %q, want %q", got, want)
	}
	if got := term.Render(); !strings.Contains(got, "\x1b[31;1mred") {
		t.Errorf("render %q has no red", got)
	}
	if x, y := term.Cursor(); x != 5 || y != 1 {
		t.Errorf("cursor at %d,%d, want 5,1", x, y)
	}
	if !strings.Contains(term.Output(), "old text") {
		t.Error("output lacks what was overwritten")
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	term := start(t, `trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done`)
	term.WaitFor("10 60", patience)
	term.Resize(70, 20)
	term.WaitFor("20 70", patience)
	if lines := strings.Count(term.Screen(), "\n") + 1; lines != 20 {
		t.Errorf("the screen has %d lines, want 20", lines)
	}
}

// TestQueriesAreAnswered asks for the cursor's position, as programs do with
// such queries: whoever does not answer hangs them.
func TestQueriesAreAnswered(t *testing.T) {
	t.Parallel()
	term := start(t, `stty raw -echo; printf '\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c`)
	term.WaitFor("1   ;   1   R", patience)
	if code := term.WaitExit(patience); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestAltScreen(t *testing.T) {
	t.Parallel()
	term := start(t, `printf 'before\033[?1049hinside'; read -r x; printf '\033[?1049l'`)
	term.WaitFor("inside", patience)
	if !term.AltScreen() {
		t.Error("not on the alternate screen")
	}
	term.Press("enter")
	term.WaitExit(patience)
	if got := term.Screen(); !strings.Contains(got, "before") || strings.Contains(got, "inside") {
		t.Errorf("screen %q is not the one from before", got)
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		term := start(t, `printf ready; exec sleep 60`)
		term.WaitFor("ready", patience)
		term.Press("ctrl+c")
		if got, want := term.WaitExit(patience), 128+int(syscall.SIGINT); got != want {
			t.Errorf("exit code %d, want %d", got, want)
		}
	})
	t.Run("kill", func(t *testing.T) {
		t.Parallel()
		term := start(t, `printf ready; exec sleep 60`)
		term.WaitFor("ready", patience)
		term.Signal(syscall.SIGKILL)
		if got, want := term.WaitExit(patience), 128+int(syscall.SIGKILL); got != want {
			t.Errorf("exit code %d, want %d", got, want)
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	term := start(t, `echo "[$TERM $COLORTERM $NO_COLOR]"`)
	term.WaitFor("[xterm-256color truecolor ]", patience)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `echo "[$TERM $COLORTERM $NO_COLOR]"`)
	cmd.Env = []string{"NO_COLOR=1"}
	terminal.Start(t, cmd, 40, 10).WaitFor("[xterm-256color truecolor 1]", patience)
}

// TestFailureShowsTheScreen checks the message of a wait in vain, and that the
// end of the test ends a program that ignores its hangup.
func TestFailureShowsTheScreen(t *testing.T) {
	t.Parallel()
	tb := &failing{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", `trap '' HUP; printf 'what is there'; sleep 60; sleep 60`)
		term := terminal.Start(tb, cmd, 40, 10)
		term.WaitFor("what is there", patience)
		term.WaitFor("what is not", 50*time.Millisecond)
	}()
	<-done
	for _, want := range []string{"what is not", "  | what is there", "still running", "sh -c"} {
		if !strings.Contains(tb.message, want) {
			t.Errorf("message lacks %q:\n%s", want, tb.message)
		}
	}
	for _, cleanup := range tb.cleanups {
		cleanup()
	}
}

// failing is a test that notes its failure instead of failing.
type failing struct {
	testing.TB
	message  string
	cleanups []func()
}

func (f *failing) Helper()                {}
func (f *failing) Cleanup(cleanup func()) { f.cleanups = append(f.cleanups, cleanup) }
func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestMouse(t *testing.T) {
	t.Parallel()
	term := start(t, `stty raw -echo; printf ready; dd bs=1 count=28 2>/dev/null | tr '\033' '^'`)
	term.WaitFor("ready", patience)
	term.Click(4, 0)
	term.Scroll(0, 1, -1)
	term.WaitFor("^[<0;5;1M^[<0;5;1m^[<64;1;2M", patience)
}

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/terminal"
)

// app is the program on a screen, with what a user does there in a user's
// words.
type app struct {
	*terminal.Terminal
	t *testing.T
}

// open starts the program for a user of the shared control plane.
func open(t *testing.T, user string, args ...string) *app {
	t.Helper()
	return openOn(t, shared.cp, user, args...)
}

func openOn(t *testing.T, cp *controlplane.ControlPlane, user string, args ...string) *app {
	t.Helper()
	kubeconfig, err := cp.Kubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, kubeconfig, args...)
}

func start(t *testing.T, kubeconfig string, args ...string) *app {
	t.Helper()
	cmd := exec.Command(shared.binary, args...)
	cmd.Env = append(environment(), "KUBECONFIG="+kubeconfig)
	return &app{Terminal: terminal.Start(t, cmd, 120, 40), t: t}
}

// loaded waits until all tables have been read.
func (a *app) loaded() {
	a.t.Helper()
	a.WaitUntil("all tables to be read", screenTimeout, func(screen string) bool {
		for line := range strings.Lines(screen) {
			if strings.Contains(line, "1 Volumes") {
				return !strings.Contains(line, "…")
			}
		}
		return false
	})
}

// environment is the test's own, with nothing in it that changes how the
// program looks or whom it talks to.
func environment() []string {
	env := []string{"TERM=xterm-256color", "COLORTERM=truecolor"}
	for _, e := range os.Environ() {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "KUBECONFIG", "TMUX", "SSH_TTY":
		default:
			env = append(env, e)
		}
	}
	return env
}

// selected is the line under the selection bar.
func selected(screen string) string {
	for line := range strings.Lines(screen) {
		if strings.HasPrefix(line, "▌") {
			return line
		}
	}
	return ""
}

// find filters the table and waits until the object is under the bar. The
// filter stays, so that what other tests do is out of sight.
func (a *app) find(name string) string {
	a.t.Helper()
	a.Press("/")
	a.WaitFor("enter keep", screenTimeout)
	a.Type(name)
	a.Press("enter")
	// A long name is cut in its middle.
	start := name[:min(len(name), 12)]
	return a.WaitUntil(name+" selected", screenTimeout, func(screen string) bool {
		return strings.Contains(selected(screen), start) && strings.Contains(screen, "/"+name) && !strings.Contains(screen, "enter keep")
	})
}

// waitRow waits until the selected row says something.
func (a *app) waitRow(texts ...string) string {
	a.t.Helper()
	return a.WaitUntil("row with "+strings.Join(texts, ", "), settleTimeout, func(screen string) bool {
		line := selected(screen)
		for _, text := range texts {
			if !strings.Contains(line, text) {
				return false
			}
		}
		return true
	})
}

// choose opens the actions menu and picks an entry by its key.
func (a *app) choose(key string) {
	a.t.Helper()
	a.loaded()
	a.Press("a")
	a.WaitFor("Actions on", screenTimeout)
	a.Press(key)
}

// waitDiff waits until a diff is on screen and may be approved.
func (a *app) waitDiff() string {
	a.t.Helper()
	return a.WaitFor("enter apply", screenTimeout)
}

// finish waits for the end of a plan.
func (a *app) finish() string {
	a.t.Helper()
	return a.WaitFor("seen to be done", settleTimeout)
}

// leave goes back to the table.
func (a *app) leave() {
	a.t.Helper()
	a.Press("esc")
	a.WaitFor("1 Volumes", screenTimeout)
}

// quit ends the program as a user does.
func (a *app) quit() {
	a.t.Helper()
	a.Press("q")
	if code := a.WaitExit(screenTimeout); code != 0 {
		a.t.Fatalf("exit code %d, want 0", code)
	}
}

// want fails unless texts are on the screen, line breaks and boxes aside.
func (a *app) want(screen string, texts ...string) {
	a.t.Helper()
	flat := flatten(screen)
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			a.t.Errorf("the screen lacks %q:\n%s", text, screen)
		}
	}
}

// flatten joins the lines of a screen, so that a sentence can be found across
// a line break.
func flatten(screen string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "─", " ").Replace(screen)), " ")
}

// contains says whether a text is on a screen, across line breaks.
func contains(screen, text string) bool { return strings.Contains(flatten(screen), text) }

// waitSentence waits for a text that may be broken across lines.
func (a *app) waitSentence(text string) string {
	a.t.Helper()
	return a.WaitUntil(text, settleTimeout, func(screen string) bool {
		return contains(screen, text)
	})
}

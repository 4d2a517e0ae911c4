package terminal

import (
	"strings"
	"time"
)

// WaitFor waits until a text is on the screen and returns the screen.
func (term *Terminal) WaitFor(text string, timeout time.Duration) string {
	term.t.Helper()
	return term.WaitUntil("the text "+quote(text), timeout, func(screen string) bool {
		return strings.Contains(screen, text)
	})
}

// WaitGone waits until a text is not on the screen and returns the screen.
func (term *Terminal) WaitGone(text string, timeout time.Duration) string {
	term.t.Helper()
	return term.WaitUntil("the text "+quote(text)+" to go", timeout, func(screen string) bool {
		return !strings.Contains(screen, text)
	})
}

// WaitUntil waits until a condition on the screen holds and returns the screen
// that it held for. The condition is looked at again when the screen changes.
func (term *Terminal) WaitUntil(what string, timeout time.Duration, condition func(screen string) bool) string {
	term.t.Helper()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for exited := false; ; {
		text, changed := term.screen.watch()
		if condition(text) {
			return text
		}
		if exited {
			term.fatalf("waited for %s, but the program ended", what)
		}
		select {
		case <-changed:
		case <-term.exited:
			// Its last words may have come since the last look.
			exited = true
		case <-deadline.C:
			term.fatalf("waited %s for %s", timeout, what)
		}
	}
}

// WaitExit waits until the program ends and returns its exit code, which is
// 128 and the signal's number for a program that was killed.
func (term *Terminal) WaitExit(timeout time.Duration) int {
	term.t.Helper()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	select {
	case <-term.exited:
	case <-deadline.C:
		term.fatalf("waited %s for the program to end", timeout)
	}
	return term.code
}

func quote(text string) string { return "“" + text + "”" }

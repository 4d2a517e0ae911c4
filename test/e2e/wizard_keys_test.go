package e2e

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claimref/claimref/test/controlplane"
)

// stepOf is how far an operation has come, as its page says it; 0 when it does
// not.
func stepOf(screen string) int {
	found := regexp.MustCompile(`step (\d+) of \d+`).FindStringSubmatch(screen)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return n
}

// openMigration opens the checks of the full migration of a claim, and then the
// review of all steps.
func (a *app) openMigration(ns string) (review string) {
	a.t.Helper()
	a.find(ns)
	a.waitRow("Bound", ns)
	a.choose("m")
	a.WaitFor("Full", screenTimeout)
	a.Press("f")
	return a.review()
}

// review goes from the checks to the steps.
func (a *app) review() string {
	a.t.Helper()
	a.waitSentence("Nothing stands against it")
	a.WaitFor("enter review", screenTimeout)
	a.Press("enter")
	screen := a.WaitFor("enter start", settleTimeout)
	a.want(screen, "dry run by the server: ok")
	return screen
}

// typeWord answers the question for a word.
func (a *app) typeWord(title, word string) {
	a.t.Helper()
	a.WaitFor(title, screenTimeout)
	a.Type(word)
	a.Press("enter")
	a.WaitGone(title, screenTimeout)
}

// begin starts an operation, to be led step by step.
func (a *app) begin(word string) {
	a.t.Helper()
	a.Press("enter")
	a.typeWord("Type the claim's name to start", word)
}

// run lets the rest of what was reviewed go on by itself.
func (a *app) run(word string) {
	a.t.Helper()
	a.lookThrough()
	a.Press("r")
	a.typeWord("Type the claim's name to run all", word)
}

// lookThrough looks at all differences that a run would write without asking.
// One counts as looked at when it has been on the screen for long enough; that
// can only be waited for.
func (a *app) lookThrough() {
	a.t.Helper()
	const ready, more, next = "r run the rest", "v read on", "v next difference"
	timeout := time.After(2 * settleTimeout)
	for {
		screen := a.WaitUntil("the run, or a difference to look at", settleTimeout, func(s string) bool {
			return strings.Contains(s, ready) || strings.Contains(s, more) || strings.Contains(s, next)
		})
		if strings.Contains(screen, ready) {
			return
		}
		a.Press("v")
		if strings.Contains(screen, more) {
			a.WaitUntil("the rest of the difference", screenTimeout, func(s string) bool { return s != screen })
			continue
		}
		select {
		case <-time.After(look):
		case <-timeout:
			a.t.Fatalf("not all differences could be looked at:\n%s", a.Screen())
		}
	}
}

// look is how long one looks at a difference.
const look = 2500 * time.Millisecond

// seen waits until a difference is on screen, has been read to its end, and may
// be approved.
func (a *app) seen() string {
	a.t.Helper()
	const more = "difference goes on below"
	for {
		screen := a.WaitUntil("a difference to approve", settleTimeout, func(s string) bool {
			return strings.Contains(s, "enter apply") || contains(s, more)
		})
		if strings.Contains(screen, "enter apply") {
			return screen
		}
		a.Press("pgdown")
		a.WaitUntil("the rest of the difference", screenTimeout, func(s string) bool { return s != screen })
	}
}

// approve approves of the step on screen, and waits until it is behind. Word is
// what is asked for before what can't be taken back; empty when nothing is.
func (a *app) approve(word string) {
	a.t.Helper()
	at := stepOf(a.seen())
	a.Press("enter")
	if word != "" {
		a.typeWord("Type "+word+" to go on", word)
	}
	a.WaitUntil("the step to be done", settleTimeout, func(s string) bool { return stepOf(s) > at })
}

// rejoin opens the operation under way on the selected volume, which another
// program holds, and takes it over.
func (a *app) rejoin(word string) {
	a.t.Helper()
	a.resume()
	a.waitSentence("has been at work on this since")
	a.takeOver(word)
}

// resume opens what is unfinished on the selected volume.
func (a *app) resume() {
	a.t.Helper()
	a.loaded()
	// Others may be unfinished in the same cluster.
	a.WaitUntil("the banner of what is unfinished", settleTimeout, func(s string) bool {
		return strings.Contains(s, "opens what is unfinished") || strings.Contains(s, "unfinished operations")
	})
	a.waitRow("▶")
	a.Press("R")
}

func (a *app) takeOver(word string) {
	a.t.Helper()
	a.Press("t")
	a.WaitFor("Take the operation over", settleTimeout)
	a.seen()
	a.Press("enter")
	a.typeWord("Type "+word+" to go on", word)
	a.WaitFor("Under way", settleTimeout)
	a.WaitFor("enter go on", settleTimeout)
}

// turn turns the operation around.
func (a *app) turn(word string) {
	a.t.Helper()
	a.Press("u")
	a.WaitFor("Undo from here on", settleTimeout)
	a.seen()
	a.Press("enter")
	a.typeWord("Type "+word+" to go on", word)
	a.waitSentence("being undone")
	a.WaitFor("enter go on", settleTimeout)
}

// copied is what the program last sent to the terminal's clipboard (OSC 52).
func (a *app) copied() string {
	a.t.Helper()
	found := regexp.MustCompile(`\x1b\]52;c;([A-Za-z0-9+/=]+)`).FindAllStringSubmatch(a.Output(), -1)
	if len(found) == 0 {
		a.t.Fatal("nothing was sent to the clipboard")
	}
	text, err := base64.StdEncoding.DecodeString(found[len(found)-1][1])
	if err != nil {
		a.t.Fatal(err)
	}
	return string(text)
}

// operator opens the program for somebody who may do everything, on a machine
// of their own.
func operator(t *testing.T, args ...string) *app {
	t.Helper()
	return open(t, controlplane.Admin, append([]string{"--backup-dir=" + t.TempDir()}, args...)...)
}

// report reads the report of the only operation in a folder of backups.
func report(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "report.txt"))
	if err != nil || len(files) != 1 {
		t.Fatalf("there are the reports %v, %v; want one", files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the report has mode %s, want 0600", info.Mode().Perm())
	}
	return read(t, files[0])
}

package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// parting is a page that has sent something, and may have to say what became of
// it when the screen has gone; nothing if all of it was seen to be done.
type parting interface {
	parting(patience time.Duration) string
}

// Partings are what is to be said on the terminal after the program has ended:
// what was done of what was begun, what was not sent, and how to go on. It is to
// be called when no further request can leave, and waits at most for patience
// for an answer that is just being taken in.
func (a *App) Partings(patience time.Duration) []string {
	var lines []string
	for _, p := range a.partings {
		if line := p.parting(patience); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// depart has a page asked when the program ends.
func (s *session) depart(p parting) {
	if !slices.Contains(s.partings, p) {
		s.partings = append(s.partings, p)
	}
}

// letter is a request that was approved. Its answer comes to the page as a
// message, which finds none any more once the screen has gone; so it is kept
// here, too.
type letter struct {
	ended chan struct{}
	err   error // once ended is closed
}

func newLetter() *letter { return &letter{ended: make(chan struct{})} }

// end notes what became of it.
func (l *letter) end(err error) {
	l.err = err
	close(l.ended)
}

// fate is what became of it: nil for a request that was accepted. One that has
// not ended when no further request can leave was not sent.
func (l *letter) fate(patience time.Duration) error {
	select {
	case <-l.ended:
		return l.err
	default:
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-l.ended:
		return l.err
	case <-wait.C:
		return kube.ErrNotSent
	}
}

// fateText says what became of a request.
func fateText(what string, err error) string {
	switch {
	case err == nil:
		return what + " was accepted by the server as the program ended"
	case errors.Is(err, kube.ErrNotSent), errors.Is(err, errStale):
		return what + " was not sent"
	}
	return what + " failed: " + strings.TrimSuffix(kube.Explain(err), ".")
}

// parting implements parting.
func (p *stepPage) parting(patience time.Duration) string {
	if p.letter == nil && (!p.sent || p.stage == finished) {
		return ""
	}
	subject := "Volume " + p.req.Volume.Name + ": "
	done, parts := len(p.done), []string(nil)
	switch {
	case p.letter != nil:
		err := p.letter.fate(patience)
		parts = append(parts, fateText("the request to "+lowerFirst(p.steps[p.next].Title), err))
		if err == nil {
			done++
		}
	case p.stage == waiting:
		done++
		parts = append(parts, "the request to "+lowerFirst(p.steps[p.next].Title)+" was accepted, and its effect not seen yet")
	}
	if n := len(p.steps); n > 1 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%d of %s sent", done, count(n, "step")))
	}
	return subject + strings.Join(parts, "; ")
}

// parting implements parting: how many were changed, and what became of the
// others.
func (p *bulkPage) parting(patience time.Duration) string {
	done, open := len(p.in(bulkDone)), len(p.in(bulkWaiting))
	unsent := len(p.in(bulkUntried, bulkReady, bulkLooking))
	var last string
	for _, i := range p.in(bulkApplying) {
		err := kube.ErrNotSent
		if p.letter != nil {
			err = p.letter.fate(patience)
		}
		switch {
		case err == nil:
			open++
		case errors.Is(err, kube.ErrNotSent), errors.Is(err, errStale):
			unsent++
		default:
			last = fateText("the request for "+p.items[i].req.Volume.Name, err)
		}
	}
	all := len(p.items) - len(p.in(bulkAlready, bulkBlocked))
	parts := []string{fmt.Sprintf("%d of %d done", done+open, all)}
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d of them accepted, and their effect not seen yet", open))
	}
	if n := len(p.in(bulkSkipped, bulkFailed)); n > 0 {
		parts = append(parts, fmt.Sprintf("%d left out or failed", n))
	}
	if unsent > 0 {
		parts = append(parts, fmt.Sprintf("%d not sent", unsent))
	}
	if last != "" {
		parts = append(parts, last)
	}
	return p.words().title + ": " + strings.Join(parts, ", ")
}

// parting implements parting: that the operation is unfinished, and how to go
// on with it.
func (p *walkPage) parting(patience time.Duration) string {
	if p.stage == atEnd {
		return ""
	}
	text := p.name() + ", " + operationSubject(p.journal, fullName)
	item, at, _ := p.current()
	var fate string
	if p.letter != nil {
		err := p.letter.fate(patience)
		fate = fateText("the request to "+lowerFirst(p.fresh.Step.Title), err)
		switch unsent := errors.Is(err, kube.ErrNotSent); {
		case unsent && !p.begun():
			return text + ": it was not begun, since its first request was not sent"
		case err == nil && at == len(p.items)-1:
			return text + ": " + fate + ". It was the last one. R on a table of claimref says whether something is left"
		}
		fate += ". "
	}
	if fate == "" && !p.begun() {
		return ""
	}
	if p.letter == nil && item.Act != migration.Await {
		fate = "the request to " + lowerFirst(item.Title) + " was not sent. "
	}
	if down := p.clock.down(p.now); down != "" {
		fate += "Pods have been stopped for " + down + ": " + stoppedText(p.journal) + ". "
	}
	return text + ": it is unfinished, at " + fmt.Sprintf("step %d of %d; ", at+1, len(p.items)) + fate +
		sentence(p.stopText(item)) + " To finish it or to undo it, start claimref again and press R"
}

// stopText says what it means to leave an operation before a step.
func (p *walkPage) stopText(item migration.Item) string {
	if item.Stop != "" {
		return item.Stop
	}
	return "Nothing goes on by itself"
}

// lowerFirst makes a title the rest of a sentence.
func lowerFirst(title string) string {
	if title == "" {
		return ""
	}
	return strings.ToLower(title[:1]) + title[1:]
}

package views

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/ui"
)

// approve is the user's yes to all differences: after a pause, as on a step
// page, and by typing how many there are.
func (p *bulkPage) approve() tea.Cmd {
	if !p.settled {
		p.nav.Notify(ui.Notice, "the differences have only just appeared: look at them first")
		return p.settleAgain()
	}
	ready := p.in(bulkReady)
	if p.opts.DryRun {
		for _, i := range ready {
			p.items[i].note = "dry run only"
		}
		p.stage = bulkEnded
		p.redraw()
		return nil
	}
	turn, word := p.turn, p.word(ready)
	p.nav.Open(ui.NewPrompt(ui.PromptOptions{
		Title:       "Type " + word + " to change " + count(len(ready), "volume"),
		Text:        p.warnings(ready),
		Placeholder: "type it here",
		Check:       wantWord(word),
		Do: func(string) tea.Cmd {
			if p.turn != turn || p.stage != bulkAsking {
				p.nav.Notify(ui.Warn, "The differences changed meanwhile; look at them again.")
				return nil
			}
			return p.run(ready)
		},
	}))
	return nil
}

// word is what is typed to change volumes: how many they are, how many of them
// would have their own word typed if they were alone, and that the server has
// not dry-run all of it.
func (p *bulkPage) word(ready []int) string {
	word := strconv.Itoa(len(ready))
	switch n := len(p.atRisk(ready)); n {
	case 0:
	case len(ready):
		word += " at risk"
	default:
		word += " with " + strconv.Itoa(n) + " at risk"
	}
	if slices.ContainsFunc(ready, func(i int) bool { return !p.items[i].preview.DryRun.Supported }) {
		word += " without dry run"
	}
	return word
}

// atRisk are the names of the volumes whose step asks for a typed word, since
// it exposes or destroys data.
func (p *bulkPage) atRisk(ready []int) []string {
	var names []string
	for _, i := range ready {
		if p.items[i].step.Confirm != "" {
			names = append(names, p.items[i].req.Volume.Name)
		}
	}
	return names
}

// warnings are what must be said before the word is typed, each once. What the
// word is longer for comes first.
func (p *bulkPage) warnings(ready []int) []ui.Span {
	times := map[string]int{}
	var texts []string
	say := func(text string) {
		if times[text]++; times[text] == 1 {
			texts = append(texts, text)
		}
	}
	if names := p.atRisk(ready); len(names) > 0 {
		say("At risk are the data of " + someOf(names) + ": another claim can take them, or they go when their claim goes")
	}
	for _, i := range ready {
		if d := p.items[i].preview.DryRun; !d.Supported {
			say("The server could not dry-run this: " + d.Reason + ". What is shown was computed here and may differ from what happens")
		}
	}
	for _, i := range ready {
		for _, c := range p.items[i].finding.plan.Checks {
			if c.Severity == actions.Warn {
				say(c.Text)
			}
		}
	}
	const most = 6
	spans := []ui.Span{{Text: "Each is looked at once more and then changed, one after the other. One that has changed meanwhile is left out. "}}
	for i, text := range texts {
		if i == most {
			spans = append(spans, ui.Span{Text: fmt.Sprintf("And %s more; see each volume. ", count(len(texts)-most, "warning")), Role: ui.Warn})
			break
		}
		spans = append(spans, ui.Span{Text: sentence(text) + " ", Role: ui.Warn})
	}
	return spans
}

// someOf lists the first of many names.
func someOf(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}

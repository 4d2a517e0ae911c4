package views

import (
	"strings"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/ui"
)

// Story implements ui.Page: what is going on right now.
func (p *walkPage) Story() []ui.Span {
	item, at, _ := p.current()
	switch p.stage {
	case atLook:
		return []ui.Span{{Text: "Looking afresh at all that this is about…", Role: ui.Dim}}
	case atRehearsal:
		return []ui.Span{{Text: "The server dry-runs every step that is left…", Role: ui.Dim}}
	case atReview:
		return p.reviewStory()
	case atPreview:
		return []ui.Span{{Text: "Asking the server for a dry run…", Role: ui.Dim}}
	case atDiff:
		return p.diffStory(at)
	case atWrite:
		return []ui.Span{{Text: "Looking once more, then sending it…"}}
	case atWait:
		return p.waitStory(item)
	case atHalt:
		return p.haltStory()
	case atError:
		return []ui.Span{{Text: "Halted: " + sentence(p.problem), Role: ui.Bad}, {Text: " What was written before stays. "}, {Text: "r", Role: ui.Key}, {Text: " looks again.", Role: ui.Dim}}
	case atEnd:
		text := "Done, and seen to be done. "
		if p.run.Direction == migration.Back {
			text = "Undone. "
		}
		spans := []ui.Span{{Text: text, Role: ui.Good}}
		if p.run.Direction != migration.Back && len(manifests(p.journal)) > 0 {
			spans = append(spans, ui.Span{Text: "The manifests at the end of the report want to be changed where they are kept.", Role: ui.Dim})
		}
		return spans
	}
	return nil
}

func (p *walkPage) reviewStory() []ui.Span {
	switch {
	case p.opts.ReadOnly:
		return []ui.Span{{Text: "Read-only: nothing will be written, and nothing was rehearsed. ", Role: ui.Notice}, {Text: "This is how far it has come, and what is left."}}
	case p.opts.DryRun:
		return []ui.Span{{Text: "Dry run only: nothing will be written. ", Role: ui.Notice}, {Text: "Look at every step; that is all there is to do."}}
	case p.rehearsalErr != "" && p.begun():
		return []ui.Span{
			{Text: "Under way" + p.bySpan() + ", and not all that is left could be rehearsed: " + sentence(p.rehearsalErr) + " ", Role: ui.Warn},
			{Text: "r", Role: ui.Key},
			{Text: " tries again, ", Role: ui.Dim},
			{Text: "enter", Role: ui.Key},
			{Text: " goes on step by step.", Role: ui.Dim},
		}
	case p.rehearsalErr != "":
		return []ui.Span{{Text: "It can't be started: " + sentence(p.rehearsalErr), Role: ui.Bad}}
	case p.begun():
		return []ui.Span{{Text: "Under way" + p.bySpan() + ". ", Role: ui.Notice}, {Text: "What is left was rehearsed; look at it, then "}, {Text: "enter", Role: ui.Key}, {Text: " goes on.", Role: ui.Dim}}
	}
	if p.planned == nil {
		return []ui.Span{
			{Text: "No note of it is on its volume: it was finished, never begun, or somebody took the note off. ", Role: ui.Warn},
			{Text: "Step 1 notes it again, and then it is seen what was done already. "},
			{Text: "enter", Role: ui.Key},
			{Text: " starts it.", Role: ui.Dim},
		}
	}
	text := "Nothing is written yet. "
	if pods := stoppedText(p.journal); pods != "" {
		text += "Pods stop meanwhile: " + pods + ". "
	}
	spans := []ui.Span{{Text: text}, {Text: "enter", Role: ui.Key}, {Text: " starts it.", Role: ui.Dim}}
	if left := p.left(); left != "" {
		spans = append(spans, ui.Span{Text: " " + left + ": ", Role: ui.Notice}, ui.Span{Text: "v", Role: ui.Key}, ui.Span{Text: " or ", Role: ui.Dim}, ui.Span{Text: "space", Role: ui.Key}, ui.Span{Text: ".", Role: ui.Dim})
	}
	return spans
}

func (p *walkPage) bySpan() string {
	text := ""
	if p.journal.By != "" {
		text = ", begun by " + p.journal.By
	}
	if p.run.Direction == migration.Back {
		text += ", being undone"
	}
	return text
}

func (p *walkPage) diffStory(at int) []ui.Span {
	if why := p.unread(); why != "" {
		return []ui.Span{{Text: "Not written yet. " + sentence(strings.ToUpper(why[:1])+why[1:]), Role: ui.Notice}}
	}
	switch {
	case p.aside != nil && p.fresh.Step.ID == turnID:
		return []ui.Span{{Text: "Not written yet. ", Role: ui.Notice}, {Text: p.turnText()}}
	case p.aside != nil:
		return []ui.Span{{Text: "Not written yet. ", Role: ui.Notice}, {Text: sentence(p.aside.Why)}}
	}
	spans := []ui.Span{{Text: "Step " + itoa(at+1) + " is not written yet. "}}
	if then := p.fresh.Step.Then; then != "" {
		spans = append(spans, ui.Span{Text: "Then: " + sentence(then)})
	}
	return spans
}

func (p *walkPage) waitStory(item migration.Item) []ui.Span {
	text := "Waiting for " + p.waited(item.ID)
	if holds := p.standing.Move.Holds; len(holds) > 0 {
		text += ": " + holds[0]
		if len(holds) > 1 {
			text += " and " + itoa(len(holds)-1) + " more"
		}
	}
	spans := []ui.Span{{Text: sentence(text)}}
	if p.unlooked != "" {
		return append(spans, ui.Span{Text: " It can't be looked at: " + sentence(p.unlooked) + " Trying on.", Role: ui.Warn})
	}
	if p.running {
		return append(spans, ui.Span{Text: " Leaving stops the run here.", Role: ui.Notice})
	}
	return append(spans, ui.Span{Text: " You may leave; "}, ui.Span{Text: "R", Role: ui.Key}, ui.Span{Text: " on a table opens it again.", Role: ui.Dim})
}

func (p *walkPage) haltStory() []ui.Span {
	spans := []ui.Span{{Text: "Halted: " + sentence(p.standing.Move.Reason), Role: ui.Bad}}
	if r := p.remedy(); r != "" {
		spans = append(spans, ui.Span{Text: " " + r})
	}
	return spans
}

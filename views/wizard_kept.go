package views

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// Lines of a report by which it is told, when it is read again, what has become
// of an operation.
const (
	undoneMark   = "Undone: "
	finishedMark = "Finished  "
	reportTime   = "2006-01-02 15:04:05 MST"
)

// outcomeOf says by a report what has become of an operation and when, such as
// "Done at 12:00 UTC", and by whom; empty when there is no report.
func outcomeOf(report string, now time.Time) (text, by string) {
	if report == "" {
		return "", ""
	}
	text = "Done"
	if strings.HasPrefix(report, undoneMark) {
		text = "Undone"
	}
	for line := range strings.Lines(report) {
		when, found := strings.CutPrefix(strings.TrimSpace(line), finishedMark)
		if !found {
			continue
		}
		when, by, _ = strings.Cut(when, "  by ")
		at, err := time.Parse(reportTime, when)
		switch {
		case err != nil:
		case at.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly):
			text += " at " + at.UTC().Format("15:04 MST")
		default:
			text += " on " + at.UTC().Format("2006-01-02 at 15:04 MST")
		}
		break
	}
	return text, by
}

// keptEntry offers an operation that a backup knows, and whose volume has no
// note of it: its report where there is one, else the way to go on with it.
func (s *session) keptEntry(b kube.Backup, report string) ui.Entry {
	found := migration.Found{Journal: &b.Journal, ID: b.Journal.ID, Lead: b.Journal.Lead()}
	if end, by := outcomeOf(report, s.now); end != "" {
		note := "its report, kept in " + b.Path
		if by != "" {
			note = "by " + by + "; " + note
		}
		return ui.Entry{
			Title: end + ": " + operationTitle(b.Journal.Request) + " of " + operationSubject(b.Journal, 0), Note: note,
			Do: func() tea.Cmd {
				s.nav.Push(newReportPage(s, report, found))
				return nil
			},
		}
	}
	e := ui.Entry{
		Title: unfinishedOp{found: &found}.title(s.now),
		Note:  "from the backup in " + b.Path + "; its volume has no note: it was finished, or the note was taken off",
		Do:    func() tea.Cmd { return s.resume(found) },
	}
	if why := s.writesNothing(); why != "" {
		e.Disabled = why + ", and so it can't be resumed from the backup in " + b.Path
	}
	return e
}

// reportPage shows the report of an operation that has come to its end.
type reportPage struct {
	*textPage
	found migration.Found
}

func newReportPage(s *session, report string, found migration.Found) *reportPage {
	p := &reportPage{textPage: newCommands(s, report), found: found}
	p.pager.SetLines(reportLines(report))
	return p
}

// Title implements ui.Page.
func (p *reportPage) Title() string { return "Report" }

// Story implements ui.Page.
func (p *reportPage) Story() []ui.Span {
	return []ui.Span{
		{Text: "This operation has come to its end; its volume has no note of it any more. ", Role: ui.Good},
		{Text: "r", Role: ui.Key},
		{Text: " looks at what is left of it now.", Role: ui.Dim},
	}
}

// Bindings implements ui.Page.
func (p *reportPage) Bindings() []ui.Binding {
	if p.Capturing() {
		return p.pager.Bindings()
	}
	return append([]ui.Binding{
		{Keys: []string{"r"}, Title: "look at it now", Help: "open the operation once more, from its backup", Group: "Operation", Hint: true, Disabled: p.writesNothing, Do: func() tea.Cmd { return p.resume(p.found) }},
		{Keys: []string{"Y"}, Title: "copy", Help: "copy the report", Group: "Text", Hint: true, Do: func() tea.Cmd { return p.nav.Copy("the report", p.text) }},
	}, p.pager.Bindings()...)
}

// reportLines are a report, with its headings.
func reportLines(report string) []ui.Line {
	var lines []ui.Line
	for raw := range strings.Lines(report) {
		raw = strings.TrimRight(raw, "\n")
		role := ui.Plain
		if raw != "" && !strings.HasPrefix(raw, " ") {
			role = ui.Strong
		} else if strings.HasPrefix(strings.TrimSpace(raw), "#") {
			role = ui.Dim
		}
		lines = append(lines, ui.Line{{Text: raw, Role: role}})
	}
	return lines
}

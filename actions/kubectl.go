package actions

import (
	"fmt"
	"strings"
	"unicode"
)

// Kubectl writes the plan as shell commands with comments, to be run one at a
// time. What it prints is safe to paste, whatever the objects are called.
func (p Plan) Kubectl() string {
	var b strings.Builder
	comment(&b, p.Title)
	if reason := p.Blocked(); reason != "" {
		comment(&b, "Not possible: "+reason)
		return b.String()
	}
	for _, c := range p.Checks {
		if c.Severity != Warn {
			continue
		}
		comment(&b, "Warning: "+c.Text)
		if c.Remedy != "" {
			comment(&b, "  "+c.Remedy)
		}
	}
	comment(&b, "Run one command at a time, and go on only when the volume is as described.")
	for i, s := range p.Steps {
		b.WriteByte('\n')
		comment(&b, fmt.Sprintf("Step %d of %d: %s", i+1, len(p.Steps), s.Title))
		comment(&b, "Why: "+s.Why)
		comment(&b, "Before: "+s.Before.String())
		comment(&b, "Preview: "+s.command("--dry-run=server -o yaml"))
		b.WriteString(s.command("") + "\n")
		comment(&b, "After: "+s.After.String())
		if s.Then != "" {
			comment(&b, s.Then)
		}
	}
	if len(p.Undo) > 0 || p.UndoNote != "" {
		b.WriteByte('\n')
		comment(&b, "To undo:")
		for _, s := range p.Undo {
			comment(&b, "  "+s.Title+", if: "+s.Before.String())
			comment(&b, "  "+s.command(""))
		}
		if p.UndoNote != "" {
			comment(&b, "  "+p.UndoNote)
		}
	}
	return b.String()
}

// command is one kubectl call. The patch carries no resourceVersion, which
// nobody can know in advance: the comment above says what must hold instead.
func (s Step) command(options string) string {
	name := "pv " + quote(s.Target.Name)
	if strings.HasPrefix(s.Target.Name, "-") {
		name = quote("pv/" + s.Target.Name)
	}
	parts := []string{"kubectl patch", name, "--type=merge"}
	if options != "" {
		parts = append(parts, options)
	}
	return strings.Join(append(parts, "-p", quote(string(s.Patch))), " ")
}

// String describes the condition in a few words.
func (c VolumeCondition) String() string {
	var parts []string
	if len(c.Phases) > 0 {
		parts = append(parts, "phase "+phaseList(c.Phases))
	}
	if c.Policy != "" {
		parts = append(parts, "policy "+string(c.Policy))
	}
	if c.ClaimRef != nil {
		parts = append(parts, "must "+c.ClaimRef.String())
	}
	if c.NotClaimRef != nil {
		parts = append(parts, "must not "+c.NotClaimRef.String())
	}
	return strings.Join(parts, ", ")
}

// quote writes a word for a POSIX shell: as it is where every character is
// harmless, else in single quotes.
func quote(word string) string {
	harmful := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-", r)
	}
	if word != "" && !strings.ContainsFunc(word, harmful) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// comment writes one line that a shell ignores. A line break in a name would
// end the comment and start a command.
func comment(b *strings.Builder, text string) {
	b.WriteString("# ")
	b.WriteString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, text))
	b.WriteByte('\n')
}

package actions

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Kubectl writes the plan as shell commands with comments, to be run one at a
// time. What it prints is safe to paste, whatever the objects are called. The
// flags say which cluster is meant, and as whom: the shell that it is pasted
// into may have another one in mind.
func (p Plan) Kubectl(flags ...string) string {
	var b strings.Builder
	ShellComment(&b, p.Title)
	if reason := p.Blocked(); reason != "" {
		ShellComment(&b, "Not possible: "+reason)
		return b.String()
	}
	for _, c := range p.Checks {
		if c.Severity != Warn {
			continue
		}
		ShellComment(&b, "Warning: "+c.Text)
		if c.Remedy != "" {
			ShellComment(&b, "  "+c.Remedy)
		}
	}
	ShellComment(&b, "Run one command at a time, and go on only when the volume is as described.")
	for i, s := range p.Steps {
		b.WriteByte('\n')
		ShellComment(&b, fmt.Sprintf("Step %d of %d: %s", i+1, len(p.Steps), s.Title))
		ShellComment(&b, "Why: "+s.Why)
		ShellComment(&b, "Before: "+s.Before.String())
		ShellComment(&b, "Preview: "+s.command(flags, "--dry-run=server", "-o", "yaml"))
		b.WriteString(s.command(flags) + "\n")
		ShellComment(&b, "After: "+s.After.String())
		if s.Then != "" {
			ShellComment(&b, s.Then)
		}
	}
	if len(p.Undo) > 0 || p.UndoNote != "" {
		b.WriteByte('\n')
		ShellComment(&b, "To undo:")
		for _, s := range p.Undo {
			ShellComment(&b, "  "+s.Title+", if: "+s.Before.String())
			ShellComment(&b, "  "+s.command(flags))
		}
		if p.UndoNote != "" {
			ShellComment(&b, "  "+p.UndoNote)
		}
	}
	return b.String()
}

// command is one kubectl call. The patch carries no resourceVersion, which
// nobody can know in advance: the comment above says what must hold instead.
func (s Step) command(flags []string, options ...string) string {
	object := []string{"pv", s.Target.Name}
	if strings.HasPrefix(s.Target.Name, "-") {
		object = []string{"pv/" + s.Target.Name}
	}
	words := slices.Concat([]string{"kubectl"}, flags, []string{"patch"}, object, []string{"--type=merge"}, options, []string{"-p", string(s.Patch)})
	for i, word := range words {
		words[i] = ShellWord(word)
	}
	return strings.Join(words, " ")
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
	if len(c.Modes) > 0 {
		parts = append(parts, "access modes "+modeList(c.Modes))
	}
	if c.ClaimRef != nil {
		parts = append(parts, "must "+c.ClaimRef.String())
	}
	if c.NotClaimRef != nil {
		parts = append(parts, "must not "+c.NotClaimRef.String())
	}
	return strings.Join(parts, ", ")
}

// ShellWord writes a word for a POSIX shell: as it is where every character is
// harmless, else in single quotes.
func ShellWord(word string) string {
	harmful := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-=", r)
	}
	// Some shells look up a word that begins with an equals sign.
	if word != "" && word[0] != '=' && !strings.ContainsFunc(word, harmful) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// ShellComment writes one line that a shell ignores. A line break in a name would
// end the comment and start a command.
func ShellComment(b *strings.Builder, text string) {
	b.WriteString("# ")
	b.WriteString(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, text))
	b.WriteByte('\n')
}

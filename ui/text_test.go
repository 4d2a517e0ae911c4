package ui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "pvc-1", "pvc-1"},
		{"line breaks and tabs", "a\nb\tc\rd", "a b c d"},
		{"color", "\x1b[31mred\x1b[0m", "red"},
		{"private CSI", "a\x1b[?1049hb", "ab"},
		{"title by BEL", "a\x1b]0;evil\x07b", "ab"},
		{"title by ST", "a\x1b]0;evil\x1b\\b", "ab"},
		{"unterminated OSC stays visible", "a\x1b]52;c;evil", "a]52;c;evil"},
		{"unterminated CSI stays visible", "a\x1b[31", "a[31"},
		{"reset", "a\x1bcb", "ab"},
		{"charset", "a\x1b(0b", "ab"},
		{"lone escape", "a\x1b", "a"},
		{"C1 CSI", "a\u009b31mb", "ab"},
		{"C1 OSC", "a\u009d0;evil\u009cb", "ab"},
		{"C0 and DEL", "a\x00\x07\x08\x7fb", "ab"},
		{"direction override", "a\u202eb\u2066c", "a·b·c"},
		{"zero width", "pvc\u200b-\ufeff1", "pvc·-·1"},
		{"invisible letter", "a\u3164b", "a·b"},
		{"variation selector", "❤\ufe0f", "❤"},
		{"invalid", "a\xffb", "a\ufffdb"},
		{"raw C1 byte", "a\x9b31mb", "a\ufffd31mb"},
		{"wide", "日本", "日本"},
		{"wide space", "a\u3000b", "a  b"},
		{"no-break space", "a\u00a0b", "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestCleanLines(t *testing.T) {
	got := strings.Join(CleanLines("a\tb\r\n\x1b[1mab\tc\n日\tx"), "|")
	if want := "a   b|ab  c|日  x"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Cut("abcdef", 4), "abc…"},
		{Cut("abcdef", 6), "abcdef"},
		{Cut("日本語", 4), "日…"},
		{Cut("abc", 0), ""},
		{CutMiddle("pvc-0123456789", 9), "pvc-…6789"},
		{CutMiddle("日本語日本語", 7), "日 … 語"},
		{CutMiddle("abc", 1), "…"},
		{Pad("日本", 5), "日本 "},
		{PadLeft("10Gi", 6), "  10Gi"},
		{strings.Join(Wrap("one two three", 7), "|"), "one two|three"},
		{strings.Join(Wrap("abcdefghij", 4), "|"), "abcd|efgh|ij"},
		{strings.Join(Wrap("日本語", 4), "|"), "日本|語"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCutsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Clean(rapid.String().Draw(t, "s"))
		w := rapid.IntRange(0, 30).Draw(t, "w")
		for name, got := range map[string]string{"Cut": Cut(s, w), "CutMiddle": CutMiddle(s, w)} {
			if ansi.StringWidth(got) > w {
				t.Errorf("%s(%q, %d) = %q", name, s, w, got)
			}
		}
		for _, line := range Wrap(s, max(w, 2)) {
			if ansi.StringWidth(line) > max(w, 2) {
				t.Errorf("Wrap(%q, %d) has %q", s, w, line)
			}
		}
	})
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Clean(rapid.StringMatching(`[a-c日 ]{0,60}`).Draw(t, "s"))
		got := strings.Join(Wrap(s, rapid.IntRange(2, 20).Draw(t, "w")), "")
		flat := strings.NewReplacer(" ", "")
		if flat.Replace(got) != flat.Replace(s) {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestGroupsAreDroppedWhole(t *testing.T) {
	summary := []Span{{"● Bound ", Good}, {"33", Plain}, {"  ", Plain}, {"◌ Released ", Warn}, {"5", Plain}}
	if got := plain(tail(summary, 14)); got != "◌ Released 5" {
		t.Errorf("tail: %q", got)
	}
	if got := plain(head(summary, 14)); got != "● Bound 33" {
		t.Errorf("head: %q", got)
	}
	if got := plain(tail(summary, 5)); got != "◌ Re…" {
		t.Errorf("tail of no room: %q", got)
	}
}

// hostile reports what must never reach the terminal from a text.
func hostile(s string) string {
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			return "invalid UTF-8"
		case r < 0x20 && r != '\n', r >= 0x7f && r < 0xa0:
			return "a control character"
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0x200b && r <= 0x200f, r == 0xfeff:
			return "an invisible character"
		}
	}
	return ""
}

// stripSGR takes away what Lip Gloss adds, and nothing else.
func stripSGR(s string) string {
	var b strings.Builder
	for s != "" {
		if rest, ok := strings.CutPrefix(s, "\x1b["); ok {
			if end := strings.TrimLeft(rest, "0123456789;:"); strings.HasPrefix(end, "m") {
				s = end[1:]
				continue
			}
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

func FuzzHostileText(f *testing.F) {
	for _, seed := range []string{
		"pvc", "\x1b[2J", "\x1b]0;x\x07", "a\u202eb", "\x9b\xff", "日本\u200b", "\x1b\x1b[[m", "\x1b]\x1b[m", "🇯🇵", "e\u0301", "ൎ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, part := range append(CleanLines(s), Clean(s)) {
			if what := hostile(part); what != "" || strings.Contains(part, "\n") {
				t.Errorf("Clean(%q) = %q has %s", s, part, what)
			}
		}
		if again := Clean(Clean(s)); again != Clean(s) {
			t.Errorf("cleaning twice: %q, then %q", Clean(s), again)
		}
		for what, out := range everything(s) {
			if bad := hostile(stripSGR(out)); bad != "" {
				t.Errorf("%s of %q has %s: %q", what, s, bad, out)
			}
			exact(t, what, out, 80, 24)
		}
	})
}

// everything shows s in all places where a text of the cluster may be.
func everything(s string) map[string]string {
	spans := []Span{{s, Warn}, {s, Plain}}
	table := NewTable([]Column{{Title: s, Middle: true, Min: 5}, {Title: "B", Align: Right, Priority: 1}, {Title: "C", Grow: true}})
	table.SetRows(stubRows{ids: []string{"a", "b"}, cells: func(string) []Cell { return []Cell{spans, spans, {{s, Bad}}} }})
	pager := NewPager()
	pager.SetLines([]Line{spans, {{s, Added}}})
	pager.SetWrap(len(s)%2 == 0)
	page := &stubPage{title: s, badge: s, story: spans, position: s, bindings: []Binding{{Keys: []string{s}, Title: s, Help: s, Group: s, Hint: true}}}
	app := newApp(80, 24, page, page)
	app.options.Chrome = func() Chrome { return Chrome{spans, spans, spans, spans} }
	entries := []Entry{{Key: s, Title: s, Note: s}, {Title: s, Disabled: s}}
	show := func(d Dialog) string {
		app.Open(d)
		defer app.Close()
		return app.View().Content
	}
	th := app.theme
	out := map[string]string{
		"table":  table.Render(th, 80, 24),
		"pager":  pager.Render(th, 80, 24),
		"app":    app.View().Content,
		"menu":   show(NewMenu(s, entries)),
		"picker": show(NewPicker(s, entries, PickerOptions{Placeholder: s})),
		"prompt": show(NewPrompt(PromptOptions{Title: s, Text: spans, Initial: s, Placeholder: s, Check: func(string) string { return s }})),
		"help":   show(NewHelp(Group(page.bindings))),
	}
	app.Notify(Bad, s)
	app.Push(page)
	out["pushed"] = app.View().Content
	return out
}

func TestOnlyStyles(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b[1;38:2:1:2:3mb\x1b[m\n": "a\x1b[1;38:2:1:2:3mb\x1b[m\n",
		"a\x1b[2Jb\rc\x07\x7f":         "a[2Jbc",
		"\x1b]0;x\x1b\\日\u009b1m":      "]0;x\\日1m",
		"\x1b[?25m\x1b":                "[?25m",
	} {
		if got := onlyStyles(in); got != want {
			t.Errorf("onlyStyles(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestWidthAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(0, 12).Draw(t, "n") {
			b.WriteString(rapid.SampledFrom([]string{
				"a", " ", "·", "…", "─", "●", "▶", "✓", "◌", "日", "e\u0301", "\u0301", "\x1b[1;38;2;1;2;3m", "\x1b[m", "\U0001f1ef", "\ufe0f",
			}).Draw(t, "piece"))
		}
		if s := b.String(); styledWidth(s) != ansi.StringWidth(s) {
			t.Fatalf("%q is %d wide, not %d", s, ansi.StringWidth(s), styledWidth(s))
		}
	})
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/ui"
)

const (
	// gutter is between two columns.
	gutter = "  "
	// fixedMost is how wide a column gets that is not wrapped at words.
	fixedMost = 44
	// textLeast is the narrowest column in which sentences can be read.
	textLeast = 26
)

// printer writes for a terminal, or for whatever reads standard output in its
// place. What it is given may come from the cluster: nothing of it is obeyed.
type printer struct {
	out io.Writer
	// width of the terminal in cells; 0 for what is no terminal, where no line
	// is wrapped, so that it can be searched.
	width int
	// theme is nil where there are no styles.
	theme *ui.Theme
}

func newPrinter(out io.Writer, getenv func(string) string) *printer {
	p := &printer{out: out}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return p
	}
	p.out = colorprofile.NewWriter(file, os.Environ())
	p.theme = ui.NewTheme(ui.ThemeOptions{Dark: true, Color: getenv("NO_COLOR") == ""})
	if w, _, err := term.GetSize(file.Fd()); err == nil {
		p.width = w
	}
	return p
}

// cell is a text and how it looks.
type cell struct {
	text string
	role ui.Role
}

// paint makes one line of it that is safe to print.
func (p *printer) paint(c cell) string {
	if p.theme == nil {
		return ui.Clean(c.text)
	}
	return p.theme.Spans([]ui.Span{{Text: c.text, Role: c.role}})
}

func (p *printer) line(text string) {
	fmt.Fprintln(p.out, strings.TrimRight(text, " "))
}

// heading begins a part, with an empty line before it.
func (p *printer) heading(text string) {
	p.line("")
	p.line(p.paint(cell{text, ui.Strong}))
}

// wrap breaks a clean text into lines, at spaces only: a name in two parts
// can't be copied. What is longer than a line is broken where it ends.
func wrap(text string, width int) []string {
	if width <= 0 || ansi.StringWidth(text) <= width {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		joined := strings.TrimPrefix(line+" "+word, " ")
		if ansi.StringWidth(joined) <= width {
			line = joined
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		parts := strings.Split(ansi.Hardwrap(word, width, false), "\n")
		lines, line = append(lines, parts[:len(parts)-1]...), parts[len(parts)-1]
	}
	return append(lines, line)
}

// paragraph writes a text, whose lines begin with the indent.
func (p *printer) paragraph(indent string, c cell) {
	for _, l := range wrap(ui.Clean(c.text), p.width-ansi.StringWidth(indent)) {
		p.line(indent + p.paint(cell{l, c.role}))
	}
}

// table writes rows of cells below a header, if there is one. The last
// columns, as many as sentences says, hold sentences: they share the room that
// the others leave. Where that is too little they stand below the others.
func (p *printer) table(indent string, header []string, rows [][]cell, sentences int) {
	if len(rows) == 0 {
		return
	}
	fixed := len(rows[0]) - sentences
	titled := rows
	if len(header) > 0 {
		titled = append([][]cell{each(header, func(title string) cell { return cell{title, ui.Dim} })}, rows...)
	}
	widths, left := p.widths(titled, fixed)
	left -= ansi.StringWidth(indent)
	if p.width > 0 && left < sentences*textLeast {
		p.stacked(indent, rows, fixed)
		return
	}
	if p.width > 0 {
		each := (left - (sentences-1)*len(gutter)) / sentences
		for i := fixed; i < len(widths); i++ {
			widths[i] = each
		}
	}
	for _, row := range titled {
		p.row(indent, row, widths)
	}
}

// widths measures the columns, and what the fixed ones leave of the terminal.
func (p *printer) widths(rows [][]cell, fixed int) (widths []int, left int) {
	widths = make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			w := ansi.StringWidth(ui.Clean(c.text))
			if p.width > 0 && i < fixed {
				w = min(w, fixedMost)
			}
			widths[i] = max(widths[i], w)
		}
	}
	left = p.width
	for _, w := range widths[:fixed] {
		left -= w + len(gutter)
	}
	return widths, left
}

// row writes the cells beside each other, on as many lines as the longest of
// them takes.
func (p *printer) row(indent string, row []cell, widths []int) {
	lines, most := make([][]string, len(row)), 0
	for i, c := range row {
		width := widths[i]
		if p.width == 0 {
			width = 0
		}
		lines[i] = wrap(ui.Clean(c.text), width)
		most = max(most, len(lines[i]))
	}
	for n := range most {
		var b strings.Builder
		b.WriteString(indent)
		for i, c := range row {
			text := ""
			if n < len(lines[i]) {
				text = lines[i][n]
			}
			b.WriteString(p.paint(cell{text, c.role}))
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", max(widths[i]-ansi.StringWidth(text), 0)) + gutter)
			}
		}
		p.line(b.String())
	}
}

// stacked writes the sentences of each row below its other cells.
func (p *printer) stacked(indent string, rows [][]cell, fixed int) {
	for _, row := range rows {
		head := make([]string, 0, fixed)
		for _, c := range row[:fixed] {
			head = append(head, p.paint(c))
		}
		p.line(indent + ansi.Hardwrap(strings.Join(head, gutter), max(p.width-len(indent), 1), false))
		for _, c := range row[fixed:] {
			p.paragraph(indent+gutter, c)
		}
	}
}

// data writes a value as JSON or YAML.
func (p *printer) data(format string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("write the answer as JSON: %w", err)
	}
	text = append(escaped(text), '\n')
	if format == "yaml" {
		block, err := yaml.JSONToYAML(text)
		if err != nil {
			return fmt.Errorf("write the answer as YAML: %w", err)
		}
		// What YAML takes for printable a terminal may not. As JSON, which is
		// YAML too, all of it can be escaped.
		if !strings.ContainsFunc(string(block), unseen) {
			text = block
		}
	}
	_, err = p.out.Write(text)
	return err
}

// escaped escapes what JSON lets pass, but a terminal would obey or hide.
func escaped(text []byte) []byte {
	if !strings.ContainsFunc(string(text), unseen) {
		return text
	}
	var b strings.Builder
	for _, r := range string(text) {
		switch {
		case !unseen(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return []byte(b.String())
}

func unseen(r rune) bool {
	return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

package ui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/charmbracelet/x/vt"
)

// volumes are rows as the program has them, with all roles and a wide name.
func volumes() stubRows {
	names := []string{
		"pvc-5e28b8aa-1c9d-4c62-9d0f-71f0be1ba551", "example-pv", "pvc-11aa0711-90cc-4a0b-8f52-4be3fb1c0de1",
		"nfs-archive", "pvc-77b1c2d0-5b11-47d0-b3a5-0f2b3c90aaf0", "保存用-2024",
	}
	phases := [][]Span{
		{{"◌ Released", Warn}},
		{{"◐ Reserved", Notice}},
		{{"● Bound", Good}},
		{{"○ Available", Calm}},
		{{"✕ Terminating", Bad}, {" (Bound)", Dim}},
		{{"● Bound", Good}},
	}
	rows := stubRows{}
	for i := range 40 {
		rows.ids = append(rows.ids, fmt.Sprintf("%02d-%s", i, names[i%len(names)]))
	}
	rows.cells = func(id string) []Cell {
		var i int
		if _, err := fmt.Sscanf(id, "%02d-", &i); err != nil {
			return nil
		}
		return []Cell{
			{{id[3:], Plain}},
			{{fmt.Sprintf("%dGi", (i+1)*10), Plain}},
			{{"RWO", Plain}},
			{{"Retain", Plain}},
			phases[i%len(phases)],
			{{"shop/", Dim}, {fmt.Sprintf("data-orders-%d", i), Plain}},
			{{"gp3", Plain}},
			{{"–", Dim}},
			{{fmt.Sprintf("%dd", i), Dim}},
		}
	}
	return rows
}

func volumeTable() *Table {
	t := NewTable([]Column{
		{Title: "NAME", Min: 18, Max: 40, Middle: true},
		{Title: "CAPACITY", Align: Right, Priority: 2},
		{Title: "MODES", Priority: 5},
		{Title: "POLICY", Priority: 6},
		{Title: "PHASE"},
		{Title: "CLAIM", Min: 14, Priority: 1, Grow: true},
		{Title: "CLASS", Priority: 7},
		{Title: "USED BY", Priority: 8},
		{Title: "AGE", Align: Right, Priority: 9},
	})
	t.SetSort(1, true)
	t.SetRows(volumes())
	t.Move(2)
	t.ToggleMark()
	t.Move(2)
	return t
}

// shell is the whole program as one knows it, with a table and nothing behind.
func shell(o ThemeOptions, w, h int) *App {
	table := volumeTable()
	page := &stubPage{
		title: "Volumes", badge: "40", render: table.Render, position: table.Position(),
		story: []Span{
			{"Terminating since 3 minutes, but held by a finalizer: ", Plain},
			{"kubernetes.io/pv-protection", Strong},
			{". It goes when claim web/cache-0 is deleted, and takes its data along (Delete).", Plain},
		},
	}
	for _, b := range []string{"a actions", "enter details", "/ filter", "s sort", "n namespace"} {
		name, title, _ := strings.Cut(b, " ")
		page.bindings = append(page.bindings, Binding{Keys: []string{name}, Title: title, Help: title, Hint: true, Do: func() tea.Cmd { return nil }})
	}
	page.bindings = append(page.bindings, table.Bindings()...)
	a := New(Options{
		Product: "claimref", Theme: o, Tabs: []Page{page, &stubPage{title: "Claims", badge: "37"}, &stubPage{title: "Classes", badge: "5"}},
		Chrome: func() Chrome {
			return Chrome{
				Place:  []Span{{"prod-tokyo", Strong}, {" · all namespaces", Plain}},
				Status: []Span{{"● live", Good}, {"    storage-admin    v1.37.2", Dim}},
				Summary: []Span{
					{"● Bound ", Good}, {"33  ", Plain}, {"◌ Released ", Warn}, {"5  ", Plain}, {"✕ Terminating ", Bad}, {"2", Plain},
				},
			}
		},
	})
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return a
}

func actionsMenu() *Menu {
	return NewMenu("Actions on pvc-5e28b8…ba551 (Released)", []Entry{
		{Key: "r", Title: "Reserve for shop/data-orders-0", Note: "its former claim; nobody else can take it"},
		{Key: "u", Title: "Unreserve", Note: "2 pending claims would take it at once: web/a, web/b"},
		{Key: "d", Title: "Set policy Delete", Disabled: "the volume is not bound, its data would be destroyed"},
	})
}

// states are the things that can be on the screen.
func states() map[string]func(*App) {
	table := volumeTable()
	return map[string]func(*App){
		"tabs":   func(*App) {},
		"pushed": func(a *App) { a.Push(&stubPage{title: strings.Repeat("pvc-保存用-", 20), render: table.Render}) },
		"menu":   func(a *App) { a.Open(actionsMenu()) },
		"picker": func(a *App) {
			a.Open(NewPicker(strings.Repeat("Which claim? ", 20), make([]Entry, 30), PickerOptions{Placeholder: "namespace/name"}))
		},
		"prompt": func(a *App) {
			a.Open(NewPrompt(PromptOptions{Title: "Delete", Text: []Span{{strings.Repeat("Think twice.\n", 30), Plain}}, Check: func(string) string { return "not yet" }}))
		},
		"help":   func(a *App) { a.openHelp() },
		"notice": func(a *App) { a.Notify(Bad, strings.Repeat("watch of claims failed, ", 40)) },
		"banner": func(a *App) {
			inner := a.options.Chrome
			a.options.Chrome = func() Chrome {
				c := inner()
				c.Banner = []Span{{strings.Repeat("Claims can't be listed: forbidden. ", 9), Warn}}
				return c
			}
		},
		"unruly page": func(a *App) {
			a.Push(&stubPage{title: "x", render: func(*Theme, int, int) string {
				return strings.Repeat(strings.Repeat("wide\x1b[2J\r", 90)+"\n", 90)
			}})
		},
	}
}

func TestExactSize(t *testing.T) {
	widths := []int{20, 35, 59, 60, 61, 72, 80, 99, 120, 161, 200}
	heights := []int{5, 9, 14, 15, 16, 20, 24, 33, 47, 60}
	for name, set := range states() {
		t.Run(name, func(t *testing.T) {
			for _, w := range widths {
				for _, h := range heights {
					a := shell(ThemeOptions{Dark: true, Color: true, ASCII: w%2 == 1}, w, h)
					set(a)
					exact(t, name, a.View().Content, w, h)
				}
			}
		})
	}
}

func TestExactSizeWhileItChanges(t *testing.T) {
	a := shell(ThemeOptions{}, 80, 24)
	set := states()
	for i := range 60 {
		w, h := 20+(i*37)%180, 5+(i*11)%55
		a.Update(tea.WindowSizeMsg{Width: w, Height: h})
		if i == 20 {
			set["banner"](a)
		}
		if i == 40 {
			set["menu"](a)
		}
		exact(t, "app", a.View().Content, w, h)
	}
}

// TestGolden keeps the look. The screens are replayed into a terminal, so that
// what is compared is what a reader sees, styles included.
func TestGolden(t *testing.T) {
	themes := map[string]ThemeOptions{
		"dark": {Dark: true, Color: true}, "light": {Color: true}, "nocolor": {}, "ascii": {ASCII: true},
	}
	for theme, o := range themes {
		for _, size := range [][2]int{{80, 24}, {120, 40}} {
			for _, state := range []string{"tabs", "menu", "help", "banner"} {
				t.Run(fmt.Sprintf("%s/%s-%dx%d", state, theme, size[0], size[1]), func(t *testing.T) {
					a := shell(o, size[0], size[1])
					states()[state](a)
					content := a.View().Content
					golden.RequireEqual(t, replay(content, size[0], size[1], theme == "dark" || theme == "light"))
				})
			}
		}
	}
}

// replay shows a frame on a terminal and returns what is on it.
func replay(content string, w, h int, styles bool) string {
	if !styles {
		return ansi.Strip(content)
	}
	screen := vt.NewEmulator(w, h)
	defer func() { _ = screen.Close() }()
	if _, err := screen.WriteString(strings.ReplaceAll(content, "\n", "\r\n")); err != nil {
		return err.Error()
	}
	return screen.Render()
}

// TestReadableWithoutColor makes sure that no colour is sent, and that what
// colour says is said otherwise too.
func TestReadableWithoutColor(t *testing.T) {
	a := shell(ThemeOptions{}, 120, 40)
	content := a.View().Content
	if strings.Contains(content, "38;") || strings.Contains(content, "48;") || strings.Contains(content, "\x1b[3") {
		t.Error("a colour is sent")
	}
	for _, want := range []string{"▌", "◌ Released", "✕ Terminating", "✓"} {
		shows(t, a, want)
	}
	a = shell(ThemeOptions{ASCII: true}, 80, 24)
	a.Open(actionsMenu())
	for _, r := range screen(a) {
		if r > 0x7e && strings.ContainsRune("▌─│╭╮╰╯…·›✓┃▾", r) {
			t.Errorf("%q is not ASCII", r)
		}
	}
}

func BenchmarkTableRender(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rows := volumes()
			base := rows.ids
			rows.ids = nil
			for i := range n {
				rows.ids = append(rows.ids, base[i%len(base)])
			}
			table := volumeTable()
			table.SetRows(rows)
			th := dark()
			b.ReportAllocs()
			for b.Loop() {
				table.Move(1)
				table.Render(th, 160, 45)
			}
		})
	}
}

func BenchmarkSetRows(b *testing.B) {
	rows := many(100_000)
	table := smallTable(rows)
	table.Render(dark(), 120, 40)
	table.Move(50_000)
	for b.Loop() {
		table.SetRows(rows)
	}
}

func BenchmarkAppView(b *testing.B) {
	for _, state := range []string{"tabs", "menu"} {
		b.Run(state, func(b *testing.B) {
			a := shell(ThemeOptions{Dark: true, Color: true}, 160, 45)
			states()[state](a)
			b.ReportAllocs()
			for b.Loop() {
				a.View()
			}
		})
	}
}

// TestWayOutStays: whatever else has to give way on the key line, the keys that
// lead out and to the help are named.
func TestWayOutStays(t *testing.T) {
	key := func(name, title string) Binding {
		return Binding{Keys: []string{name}, Title: title, Hint: true, Do: func() tea.Cmd { return nil }}
	}
	page := &stubPage{title: "x", bindings: []Binding{
		key("enter", "apply all of it"), key("tab", "next difference"), key("r", "run the rest of it"), key("c", "as kubectl"), key("esc", "leave"), key("j", "down"),
	}}
	last := func(a *App) string {
		lines := strings.Split(screen(a), "\n")
		return lines[len(lines)-1]
	}
	for _, w := range []int{60, 61, 72, 80, 99, 120, 200} {
		a := shell(ThemeOptions{}, w, 24)
		a.Push(page)
		got := last(a)
		for _, want := range []string{"esc leave", "? help", "enter apply all of it"} {
			if !strings.Contains(got, want) {
				t.Errorf("at %d: %q has no %q", w, got, want)
			}
		}
		if w == 60 && strings.Contains(got, "as kubectl") {
			t.Errorf("at %d all fits: %q", w, got)
		}
		if w == 200 && !strings.Contains(got, "c as kubectl   esc leave   j down") {
			t.Errorf("at %d: %q", w, got)
		}
		a.Open(NewMenu("Actions", []Entry{{Title: strings.Repeat("long ", 30)}}))
		if got := last(a); !strings.Contains(got, "esc ") {
			t.Errorf("at %d a menu: %q", w, got)
		}
	}
}

package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func smallTable(rows Rows) *Table {
	t := NewTable([]Column{{Title: "NAME", Min: 8, Middle: true}, {Title: "PHASE", Priority: 1}})
	t.SetRows(rows)
	return t
}

func dark() *Theme { return NewTheme(ThemeOptions{Dark: true, Color: true}) }

func drawn(t *Table, w, h int) string {
	return ansi.Strip(t.Render(dark(), w, h))
}

// barAt returns the text of the line that a bar marks.
func barAt(s, bar string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if strings.HasPrefix(line, bar) {
			return line
		}
	}
	return ""
}

func TestSelectionStaysOnItsObject(t *testing.T) {
	table := smallTable(ids("a", "b", "c", "d"))
	table.Select("c")
	table.SetRows(ids("0", "a", "b", "c", "d"))
	if id, ok := table.Selected(); id != "c" || !ok || table.Index() != 3 {
		t.Fatalf("selected %q %v at %d", id, ok, table.Index())
	}
	table.SetRows(ids("d", "c", "b", "a"))
	if id, _ := table.Selected(); id != "c" || table.Index() != 1 {
		t.Fatalf("after another order: %q at %d", id, table.Index())
	}
	if got := barAt(drawn(table, 40, 6), "▌"); !strings.Contains(got, "c") {
		t.Errorf("the bar is on %q", got)
	}
}

func TestVanishedSelection(t *testing.T) {
	table := smallTable(ids("a", "b", "c", "d"))
	table.Select("b")
	table.SetRows(ids("a", "c", "d"))
	if id, ok := table.Selected(); ok || !table.Moved() {
		t.Fatalf("selected %q although it is gone, moved %v", id, table.Moved())
	}
	screen := drawn(table, 40, 5)
	if barAt(screen, "▌") != "" || !strings.Contains(barAt(screen, "┊"), "c") {
		t.Errorf("the bar hides that the selection is gone:\n%s", screen)
	}
	if got := table.Position(); got != "selection gone · 2/3" {
		t.Errorf("position %q", got)
	}
	table.ToggleMark()
	if len(table.Marked()) != 0 {
		t.Error("a row was marked that nobody selected")
	}

	t.Run("down picks what took its place", func(t *testing.T) {
		table.Move(1)
		if id, ok := table.Selected(); id != "c" || !ok || table.Moved() {
			t.Errorf("selected %q", id)
		}
	})
	t.Run("up picks the one above", func(t *testing.T) {
		table.SetRows(ids("a", "x"))
		table.Move(-1)
		if id, _ := table.Selected(); id != "a" {
			t.Errorf("selected %q", id)
		}
	})
	t.Run("it comes back with its object", func(t *testing.T) {
		table.SetRows(ids())
		if _, ok := table.Selected(); ok || table.Position() != "" {
			t.Error("selected in an empty table")
		}
		table.SetRows(ids("0", "a"))
		if id, ok := table.Selected(); id != "a" || !ok || table.Index() != 1 {
			t.Errorf("selected %q", id)
		}
	})
}

// TestSelectionNeverChangesSilently holds the table against random sets of rows
// and random keys: what Selected returns changes by the reader's doing only.
func TestSelectionNeverChangesSilently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := func(name string) []string {
			return rapid.SliceOfNDistinct(rapid.StringMatching(`[a-h]`), 0, 8, rapid.ID[string]).Draw(t, name)
		}
		rows := set("rows")
		table := smallTable(ids(rows...))
		drawn(table, 40, 5)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			id, ok := table.Selected()
			marked := table.Marked()
			switch rapid.SampledFrom([]string{"rows", "rows", "move", "page", "mark", "draw", "select"}).Draw(t, "step") {
			case "rows":
				rows = set("rows")
				table.SetRows(ids(rows...))
				now, still := table.Selected()
				switch {
				case ok && slices.Contains(rows, id) && (now != id || !still):
					t.Fatalf("%q is there, but %q %v is selected", id, now, still)
				case ok && !slices.Contains(rows, id) && (still || !table.Moved()):
					t.Fatalf("%q went and %q was selected instead", id, now)
				}
				for _, m := range marked {
					if table.IsMarked(m) != slices.Contains(rows, m) {
						t.Fatalf("mark of %q in %v: %v", m, rows, table.IsMarked(m))
					}
				}
			case "move":
				table.Move(rapid.IntRange(-3, 3).Draw(t, "delta"))
			case "page":
				table.Page(rapid.SampledFrom([]int{-1, 1}).Draw(t, "delta"))
			case "mark":
				table.ToggleMark()
				if ok && table.IsMarked(id) == slices.Contains(marked, id) {
					t.Fatalf("mark of %q did not change", id)
				}
			case "draw":
				table.Render(dark(), rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 8).Draw(t, "h"))
			case "select":
				table.Select(rapid.StringMatching(`[a-h]`).Draw(t, "id"))
			}
			now, ok := table.Selected()
			if ok && (table.Index() >= len(rows) || rows[table.Index()] != now) {
				t.Fatalf("%q is selected at %d of %v", now, table.Index(), rows)
			}
			if got := table.Marked(); !slices.IsSortedFunc(got, func(a, b string) int {
				return slices.Index(rows, a) - slices.Index(rows, b)
			}) {
				t.Fatalf("marks %v are not in the order of %v", got, rows)
			}
			if screen := ansi.Strip(table.Render(dark(), 30, 5)); ok {
				if line := barAt(screen, "▌"); !strings.Contains(line, now) {
					t.Fatalf("%q is selected, the bar is on %q", now, line)
				}
			}
		}
	})
}

func TestOnlyVisibleRowsAreFormatted(t *testing.T) {
	asked := 0
	rows := many(100_000)
	rows.asked = &asked
	table := smallTable(rows)
	drawn(table, 80, 24)
	if asked > 24+2*sampleRows {
		t.Errorf("the first frame formats %d rows", asked)
	}
	asked = 0
	table.Bottom()
	drawn(table, 80, 24)
	if asked > 24 {
		t.Errorf("another frame formats %d rows", asked)
	}
}

func TestScrolling(t *testing.T) {
	table := smallTable(many(100))
	drawn(table, 40, 11)
	table.Move(9)
	if screen := drawn(table, 40, 11); !strings.Contains(screen, "pvc-000011") || strings.Contains(screen, "pvc-000012") {
		t.Errorf("no margin below the selection:\n%s", screen)
	}
	table.Page(1)
	if table.Index() != 18 {
		t.Errorf("a page goes to %d", table.Index())
	}
	table.Bottom()
	table.Page(1)
	screen := drawn(table, 40, 11)
	if table.Position() != "100/100" || !strings.Contains(screen, "pvc-000090") {
		t.Errorf("end: %s\n%s", table.Position(), screen)
	}
	table.Top()
	table.Wheel(1)
	if table.Index() != wheelRows {
		t.Errorf("the wheel goes to %d", table.Index())
	}
	drawn(table, 40, 11)
	table.Click(5, 2)
	if table.Index() != 2 {
		t.Errorf("the click goes to %d", table.Index())
	}
	table.Click(5, 0)
	table.Click(5, 40)
	if table.Index() != 2 {
		t.Error("a click beside the rows selects")
	}
}

func TestRowsAboveDoNotMoveTheView(t *testing.T) {
	table := smallTable(many(100))
	table.Move(50)
	drawn(table, 40, 11)
	table.Move(-4) // off the margin, where any scrolling would keep the row
	before := drawn(table, 40, 11)
	table.SetRows(ids(append([]string{"aaa", "aab"}, many(100).ids...)...))
	after := drawn(table, 40, 11)
	if line := func(s string) int { return strings.Index(s, "▌") }; line(before) != line(after) {
		t.Errorf("the selected row moved on the screen:\n%s\n%s", before, after)
	}
}

func TestColumnsKeepTheirWidth(t *testing.T) {
	table := smallTable(ids("a-very-long-name-for-a-volume", "b"))
	wide := strings.Index(drawn(table, 60, 5), "PHASE")
	table.SetRows(ids("b"))
	if got := strings.Index(drawn(table, 60, 5), "PHASE"); got != wide {
		t.Errorf("the column moved from %d to %d", wide, got)
	}
	if got := strings.Index(drawn(table, 61, 5), "PHASE"); got >= wide {
		t.Errorf("another screen width did not measure anew: %d", got)
	}
}

func TestColumnsThatDoNotFit(t *testing.T) {
	columns := []Column{
		{Title: "NAME", Min: 8, Middle: true},
		{Title: "SIZE", Align: Right, Priority: 2},
		{Title: "PHASE"},
		{Title: "CLAIM", Priority: 1, Min: 6, Grow: true},
	}
	for _, c := range []struct {
		room int
		want []int
	}{
		{100, []int{20, 5, 8, 61}},
		{50, []int{19, 5, 8, 12}},
		{33, []int{8, 5, 8, 6}},
		{32, []int{11, 0, 8, 9}},
		{26, []int{8, 0, 8, 6}},
		{25, []int{8, 5, 8, 0}}, // no room for the claim, but for the size
		{24, []int{14, 0, 8, 0}},
		{10, []int{4, 0, 4, 0}},
		{1, []int{1, 0, 1, 0}},
	} {
		got := fitColumns(columns, []int{20, 5, 8, 12}, c.room)
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("room %d: %v, want %v", c.room, got, c.want)
		}
	}
}

// TestColumnsDoNotDependOnTheRows: which columns there are is for the screen to
// say, not for the rows that a filter leaves.
func TestColumnsDoNotDependOnTheRows(t *testing.T) {
	columns := []Column{
		{Title: "NAME", Min: 8, Middle: true, Grow: true},
		{Title: "MODES", Usual: 8, Priority: 1},
		{Title: "CLAIM", Min: 14, Priority: 2},
		{Title: "DRIVER", Min: 6, Priority: 1, Extra: true},
	}
	for room := 8; room < 80; room++ {
		few, many := fitColumns(columns, []int{4, 5, 5, 6}, room), fitColumns(columns, []int{30, 8, 40, 30}, room)
		for i := range columns {
			if (few[i] > 0) != (many[i] > 0) {
				t.Errorf("room %d: short texts get %v, long ones %v", room, few, many)
			}
		}
		if few[3] > 0 && (few[1] == 0 || few[2] == 0) {
			t.Errorf("room %d: an extra column took the place of another one: %v", room, few)
		}
	}
}

// TestColumnsOfBetterWidth: room that a column can use well goes before a
// column that matters less, and after one that matters more.
func TestColumnsOfBetterWidth(t *testing.T) {
	columns := []Column{
		{Title: "PHASE", Min: 5, Better: 12, BetterThan: 2},
		{Title: "RISK", Usual: 6, Priority: 1},
		{Title: "AGE", Usual: 3, Priority: 5},
	}
	for _, c := range []struct {
		room int
		want []int
	}{{30, []int{12, 6, 3}}, {24, []int{12, 6, 0}}, {20, []int{12, 6, 0}}, {19, []int{6, 6, 3}}, {12, []int{12, 0, 0}}} {
		if got := fitColumns(columns, []int{12, 6, 3}, c.room); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("room %d: %v, want %v", c.room, got, c.want)
		}
	}
}

// TestCountsAreNeverCut: where a cell is too long, groups go as a whole, and a
// count behind a name stays.
func TestCountsAreNeverCut(t *testing.T) {
	groups := Cell{{"15", Plain}, {"  ● 12", Good}, {" 14Gi", Dim}, {"  ◌ 13", Notice}, {" 1.5Ti", Dim}}
	for w := range 40 {
		got := plain(Column{Whole: true}.cut(groups, w))
		whole := strings.TrimSpace(strings.TrimSuffix(got, ellipsis))
		ends := []string{"", "15", "15  ● 12", "15  ● 12 14Gi", "15  ● 12 14Gi  ◌ 13", plain(groups)}
		if Width(got) > w || !slices.Contains(ends, whole) {
			t.Errorf("%d cells: %q", w, got)
		}
		if whole != plain(groups) && whole != "15" && whole != got && !strings.HasSuffix(got, " "+ellipsis) && got != ellipsis {
			t.Errorf("%d cells: %q does not say that there is more", w, got)
		}
		if whole != "15" && whole == got && whole != plain(groups) && w > 0 {
			t.Errorf("%d cells: %q looks like all of it", w, got)
		}
	}
	users := Cell{{"deploy/long-name", Plain}, {" +3", Notice}}
	if got := plain(Column{Tail: true}.cut(users, 10)); got != "deploy… +3" {
		t.Errorf("the count behind a name: %q", got)
	}
}

// TestFirstRowIsNoChoice: until a table was drawn nobody has looked at its
// first row, so that one may go without a word.
func TestFirstRowIsNoChoice(t *testing.T) {
	table := smallTable(ids("a", "b"))
	table.SetRows(ids("0", "b"))
	if id, ok := table.Selected(); id != "0" || !ok || table.Moved() {
		t.Errorf("before it was drawn: %q %v", id, ok)
	}
	drawn(table, 40, 5)
	table.SetRows(ids("b"))
	if _, ok := table.Selected(); ok || !table.Moved() {
		t.Error("what was looked at went without a word")
	}
	chosen := smallTable(ids("a", "b"))
	chosen.Select("b")
	chosen.SetRows(ids("a"))
	if !chosen.Moved() {
		t.Error("what was chosen went without a word")
	}
}

func TestColumnsNeverOverflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		columns := make([]Column, n)
		natural := make([]int, n)
		for i := range columns {
			columns[i] = Column{
				Min: rapid.IntRange(0, 20).Draw(t, "min"), Max: rapid.IntRange(0, 40).Draw(t, "max"),
				Priority: rapid.IntRange(0, 5).Draw(t, "priority"), Grow: rapid.Bool().Draw(t, "grow"),
			}
			natural[i] = rapid.IntRange(0, 60).Draw(t, "natural")
		}
		room := rapid.IntRange(3*n, 200).Draw(t, "room")
		total := -columnGap
		for i, w := range fitColumns(columns, natural, room) {
			if w == 0 && columns[i].Priority == 0 {
				t.Fatalf("column %d was dropped", i)
			}
			if w > 0 {
				total += w + columnGap
			}
		}
		if total > room {
			t.Fatalf("%d cells in a room of %d", total, room)
		}
	})
}

func TestHeaderAndMarks(t *testing.T) {
	table := smallTable(ids("a", "b"))
	table.SetSort(0, true)
	table.ToggleMark()
	screen := drawn(table, 40, 4)
	if !strings.Contains(screen, "NAME ▾") || !strings.Contains(screen, "▌✓ a") {
		t.Errorf("arrow or mark missing:\n%s", screen)
	}
	ascii := ansi.Strip(table.Render(NewTheme(ThemeOptions{ASCII: true}), 40, 4))
	if !strings.Contains(ascii, "NAME v") || !strings.Contains(ascii, ">* a") {
		t.Errorf("not ASCII:\n%s", ascii)
	}
	if table.Position() != "1 marked · 1/2" {
		t.Errorf("position %q", table.Position())
	}
	table.ToggleMark()
	if len(table.Marked()) != 0 {
		t.Error("the mark stays")
	}
	table.Empty([]Span{{"nothing\nat all", Dim}})
	table.SetRows(nil)
	if screen := drawn(table, 40, 5); !strings.Contains(screen, "   nothing") || !strings.Contains(screen, "   at all") {
		t.Errorf("empty:\n%s", screen)
	}
}

func TestLongAndWideNamesAreCut(t *testing.T) {
	table := NewTable([]Column{{Title: "NAME", Max: 11, Middle: true}, {Title: "CLAIM", Max: 8}, {Title: "SIZE", Align: Right}})
	table.SetRows(stubRows{ids: []string{"a"}, cells: func(string) []Cell {
		return []Cell{{{"pvc-0123456789-end", Plain}}, {{"名前", Dim}, {"空間の名前", Plain}}, {{"5Gi", Plain}}}
	}})
	screen := drawn(table, 40, 2)
	if !strings.Contains(screen, "pvc-01…-end  名前空…    5Gi") {
		t.Errorf("cut wrong:\n%s", screen)
	}
	exact(t, "table", screen, 40, 2)
}

// TestSelectedBackground makes sure that no piece of the selected row loses the
// background to the end of a coloured one.
func TestSelectedBackground(t *testing.T) {
	table := smallTable(ids("a"))
	line := strings.Split(table.Render(dark(), 40, 2), "\n")[1]
	line = strings.TrimSuffix(line, " ") // the scroll bar's cell
	for piece := range strings.SplitSeq(strings.TrimSuffix(line, "\x1b[m"), "\x1b[m") {
		if !strings.Contains(piece, "48;2;") {
			t.Errorf("%q has no background", piece)
		}
	}
}

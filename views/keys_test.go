package views

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/claimref/claimref/ui"
)

const (
	readme   = "../README.md"
	keysFrom = "<!-- keys: written from the key bindings by make golden -->\n"
	keysTo   = "<!-- /keys -->"
)

// TestReadmeKeys keeps the README's key table what the bindings are.
func TestReadmeKeys(t *testing.T) {
	raw, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(raw), keysFrom)
	old, tail, closed := strings.Cut(rest, keysTo)
	if !found || !closed {
		t.Fatalf("%s has no place for the keys", readme)
	}
	want := keyTables(t)
	if old == want {
		return
	}
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(readme, []byte(head+keysFrom+want+keysTo+tail), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the key table is not what the bindings are; make golden writes\n%s", want)
}

// keyTables writes the keys of all pages as tables.
func keyTables(t *testing.T) string {
	t.Helper()
	r := newRig(t, shop())
	r.onReleased()
	tables, global := r.app.volumes.Bindings(), r.app.shell.GlobalBindings()
	r.press("a", "r")
	step := r.top()

	var b strings.Builder
	section := func(title string, bindings []ui.Binding) {
		fmt.Fprintf(&b, "**%s**\n\n| key | what it does |\n| --- | --- |\n", title)
		for _, k := range bindings {
			keys := make([]string, len(k.Keys))
			for i, key := range k.Keys {
				keys[i] = "`" + strings.ReplaceAll(key, "|", `\|`) + "`"
			}
			fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(keys, " "), k.Help)
		}
		b.WriteString("\n")
	}
	section("On every table", global)
	section("Volumes", tables)
	section("Claims, besides", own(claimKeys(r.app.claims), tables))
	section("Classes, besides", own(classKeys(r.app.classes), tables))
	section("Risks, besides", own(riskKeys(r.app.dangers), tables))
	section("One step of an action", step.Bindings())
	for _, p := range otherPages(t) {
		section(p.title, own(generic(p.page.Bindings()), slices.Concat(tables, step.Bindings())))
	}
	w := review(t)
	section("What is checked before an operation, besides", own(w.checks.Bindings(), step.Bindings()))
	section("The steps of an operation, besides", own(w.walk.Bindings(), step.Bindings()))
	return b.String()
}

// generic puts one key in the place of those that are numbers, which do what is
// offered for the object at hand.
func generic(bindings []ui.Binding) []ui.Binding {
	isNumber := func(b ui.Binding) bool { return len(b.Keys[0]) == 1 && b.Keys[0] >= "1" && b.Keys[0] <= "9" }
	first := slices.IndexFunc(bindings, isNumber)
	if first < 0 {
		return bindings
	}
	rest := slices.DeleteFunc(slices.Clone(bindings[first:]), isNumber)
	return slices.Concat(bindings[:first], []ui.Binding{{Keys: []string{"1", "2"}, Help: "and so on: what is offered under that number"}}, rest)
}

// namedPage is a page, and what its keys are called in the README.
type namedPage struct {
	title string
	page  ui.Page
	rig   *rig
}

// otherPages opens the pages that are neither tables nor parts of an operation.
func otherPages(t *testing.T) []namedPage {
	t.Helper()
	open := func(keys ...string) (*rig, ui.Page) {
		r := newRig(t, shop())
		r.onReleased()
		r.cluster.object = shop().Volumes[0]
		seen := &pageSpy{Nav: r.app.nav}
		r.app.nav = seen
		r.press(keys...)
		return r, seen.page
	}
	details, detailsPage := open("enter")
	tree, treePage := open("t")
	timeline, timelinePage := open("T")
	bulk := marked(t, store(), 2)
	bulk.press("p")
	return []namedPage{
		{"Many volumes at once, besides", bulk.bulk, bulk},
		{"Details, besides", detailsPage, details},
		{"What it has to do with, besides", treePage, tree},
		{"What happened, besides", timelinePage, timeline},
	}
}

// pageSpy sees which page is opened.
type pageSpy struct {
	ui.Nav
	page ui.Page
}

func (n *pageSpy) Push(p ui.Page) {
	n.page = p
	n.Nav.Push(p)
}

// TestHelpOfPages: the help of a page names all its keys.
func TestHelpOfPages(t *testing.T) {
	for _, p := range otherPages(t) {
		p.rig.resize(240, 120)
		p.rig.press("?")
		flat := strings.Join(strings.Fields(p.rig.screen()), " ")
		if len(p.page.Bindings()) < 5 {
			t.Errorf("%s has %d keys", p.title, len(p.page.Bindings()))
		}
		for _, b := range p.page.Bindings() {
			// What follows may be on the next line, or further keys.
			words := strings.Fields(b.Help)
			named := regexp.MustCompile(`[ │]` + regexp.QuoteMeta(b.Keys[0]) + `[ ,][^│]{0,20}\b` + regexp.QuoteMeta(strings.Join(words[:min(len(words), 3)], " ")))
			if !named.MatchString(flat) {
				t.Errorf("%s: the help lacks %v %s\n%s", p.title, b.Keys, b.Help, p.rig.screen())
			}
		}
	}
}

// own leaves out the bindings that another page has, too.
func own(bindings, others []ui.Binding) []ui.Binding {
	var out []ui.Binding
	for _, b := range bindings {
		same := false
		for _, o := range others {
			same = same || o.Keys[0] == b.Keys[0] && o.Help == b.Help
		}
		if !same {
			out = append(out, b)
		}
	}
	return out
}

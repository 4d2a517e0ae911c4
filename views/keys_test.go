package views

import (
	"flag"
	"fmt"
	"os"
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
	w := review(t)
	section("What is checked before an operation, besides", own(w.checks.Bindings(), step.Bindings()))
	section("The steps of an operation, besides", own(w.walk.Bindings(), step.Bindings()))
	return b.String()
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

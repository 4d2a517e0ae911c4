package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/claimref/claimref"

// arrows are the imports that the design allows between our packages. What is
// not listed is forbidden.
func arrows() map[string][]string {
	return map[string][]string{
		".":                 {"ui", "views", "kube", "kube/explain", "kube/sandbox", "actions", "actions/migration", "assets"},
		"views":             {"ui", "kube", "kube/explain", "actions", "actions/migration"},
		"kube":              {"actions", "actions/migration", "kube/binding"},
		"actions":           {"kube/binding"},
		"actions/migration": {"actions", "kube/binding"},
		"kube/binding":      {},
		"kube/explain":      {"kube", "kube/binding", "actions"},
		"kube/sandbox":      {"kube/binding"},
		"kube/cases":        {"kube", "kube/explain", "kube/sandbox", "actions", "actions/migration"}, // for tests alone
		"ui":                {},
		"assets":            {},
	}
}

// foreign are the modules outside the standard library that a package may
// use; a package that is not listed may use any.
func foreign() map[string][]string {
	pure := []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/component-helpers"}
	return map[string][]string{
		"actions":      pure,
		"kube/binding": pure,
		"kube/explain": pure,
		"ui":           {"charm.land", "github.com/charmbracelet"},
		"assets":       {},
	}
}

// noScreens are the packages that know nothing of how things are drawn.
func noScreens() []string {
	return []string{"kube", "actions", "kube/binding", "kube/explain", "kube/sandbox", "assets"}
}

// TestImports keeps the arrows of the design: it parses every file that is
// built into the program.
func TestImports(t *testing.T) {
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != "." && (strings.HasPrefix(name, ".") || name == "test" || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(file))
		seen[pkg] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range parsed.Imports {
			target, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			if why := forbidden(pkg, target); why != "" {
				t.Errorf("%s imports %s: %s", file, target, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range []string{".", "ui", "views", "kube", "kube/binding", "actions"} {
		if !seen[pkg] {
			t.Errorf("no file of package %s was looked at", pkg)
		}
	}
}

// forbidden says why a package may not import a target; "" if it may.
func forbidden(pkg, target string) string {
	allowed, known := arrows()[pkg]
	if !known {
		return "package " + pkg + " is not in the design"
	}
	if own, found := strings.CutPrefix(target, module+"/"); found {
		if !slices.Contains(allowed, own) {
			return "the design has no arrow from " + pkg + " to " + own
		}
		return ""
	}
	if !strings.Contains(strings.Split(target, "/")[0], ".") {
		return "" // the standard library
	}
	if list, limited := foreign()[pkg]; limited && !slices.ContainsFunc(list, func(m string) bool { return within(target, m) }) {
		return pkg + " may use " + strings.Join(list, ", ") + " only"
	}
	if slices.Contains(noScreens(), pkg) && within(target, "charm.land") {
		return pkg + " knows nothing of screens"
	}
	if pkg == "views" && within(target, "k8s.io/client-go") {
		return "views talks to the cluster through kube"
	}
	return ""
}

// within says whether a path is a module or beneath it.
func within(target, root string) bool {
	return target == root || strings.HasPrefix(target, path.Clean(root)+"/")
}

// TestForbidden proves that the rules can fail.
func TestForbidden(t *testing.T) {
	for _, tc := range []struct {
		pkg, target string
		ok          bool
	}{
		{"views", module + "/kube", true},
		{"views", module + "/kube/binding", false},
		{"views", module + "/kube/explain", true},
		{"kube", module + "/kube/explain", false},
		{"kube/explain", "k8s.io/client-go/kubernetes", false},
		{"kube", module + "/views", false},
		{"ui", module + "/kube", false},
		{"ui", "k8s.io/api/core/v1", false},
		{"ui", "charm.land/bubbletea/v2", true},
		{"actions", "k8s.io/client-go/kubernetes", false},
		{"actions", "k8s.io/api/core/v1", true},
		{"kube/binding", "k8s.io/component-helpers/storage/volume", true},
		{"kube", "charm.land/lipgloss/v2", false},
		{"views", "k8s.io/client-go/kubernetes", false},
		{"elsewhere", "fmt", false},
	} {
		if got := forbidden(tc.pkg, tc.target) == ""; got != tc.ok {
			t.Errorf("%s -> %s: allowed is %v, want %v", tc.pkg, tc.target, got, tc.ok)
		}
	}
}

package assets

import (
	"io/fs"
	"strings"
	"testing"
)

// TestScenarios: each manifest is listed, and says in a sentence what it is.
func TestScenarios(t *testing.T) {
	all, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(scenarios, "scenarios/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(all) {
		t.Errorf("%d scenarios are listed, but there are %d files", len(all), len(files))
	}
	for _, s := range all {
		if !strings.HasSuffix(s.Summary, ".") || strings.Contains(s.Summary, "\n") {
			t.Errorf("%s: the summary is no sentence: %q", s.Name, s.Summary)
		}
	}
}

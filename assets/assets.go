// Package assets holds what is embedded into the program: the scenarios of
// the demo, which the tests load into a real control plane, too. It has no
// logic and imports nothing.
package assets

import (
	"embed"
	"fmt"
	"strings"
)

// Scenario is a set of manifests that puts a cluster into a state which is
// worth looking at.
type Scenario struct {
	Name string
	// Summary is the comment at the top of the manifest, in one line.
	Summary string
	// Manifest is YAML, of several documents.
	Manifest []byte
}

//go:embed scenarios/*.yaml
var scenarios embed.FS

// names are the scenarios in the order in which they can be loaded into one
// cluster: later ones use classes and volumes of earlier ones.
func names() []string {
	return []string{
		"reuse", "dynamic", "single-pod",
		"available", "reserved", "released", "failed", "terminating", "lost", "pending", "bound", "gitops", "rival", "nodes",
	}
}

// Scenarios returns all scenarios, in the order in which they can be loaded
// into one cluster.
func Scenarios() ([]Scenario, error) {
	all := make([]Scenario, 0, len(names()))
	for _, name := range names() {
		manifest, err := scenarios.ReadFile("scenarios/" + name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("read scenario %s: %w", name, err)
		}
		all = append(all, Scenario{Name: name, Summary: summary(string(manifest)), Manifest: manifest})
	}
	return all, nil
}

// summary is the comment that a manifest begins with.
func summary(manifest string) string {
	var words []string
	for line := range strings.Lines(manifest) {
		text, found := strings.CutPrefix(line, "#")
		if !found {
			break
		}
		words = append(words, strings.Fields(text)...)
	}
	return strings.Join(words, " ")
}

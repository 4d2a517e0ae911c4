package controlplane_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claimref/claimref/test/controlplane"
)

func TestVersionIsThatOfTheModule(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile(filepath.Join("binaries", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(strings.Fields(string(module)), controlplane.Version) {
		t.Errorf("binaries/go.mod does not require Kubernetes %s", controlplane.Version)
	}
}

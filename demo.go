package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/claimref/claimref/assets"
	"github.com/claimref/claimref/kube/sandbox"
)

// allScenarios is the value of --demo without one, listScenarios the one that
// lists them.
const (
	allScenarios  = "all"
	listScenarios = "list"
)

// printScenarios lists the scenarios of the demo with a sentence each.
func printScenarios(out io.Writer) error {
	all, err := assets.Scenarios()
	if err != nil {
		return err
	}
	for _, s := range all {
		if _, err := fmt.Fprintf(out, "%-12s %s\n", s.Name, s.Summary); err != nil {
			return err
		}
	}
	return nil
}

// demo is the cluster in memory, and how kubectl reaches it.
type demo struct {
	*sandbox.Demo
	// kubectl are kubectl's flags for it. While it is not served they lead
	// nowhere, so that commands copied from the demo never reach a real
	// cluster.
	kubectl []string
	// notice tells the user how kubectl can watch.
	notice string
	// folder is a temporary one, for backups and a kubeconfig.
	folder string
}

// makeDemo makes the cluster, with all scenarios or those up to the named one.
func makeDemo(scenario string, now time.Time) (*sandbox.Demo, error) {
	all, err := assets.Scenarios()
	if err != nil {
		return nil, err
	}
	if scenario != allScenarios {
		// A scenario may use what those before it made.
		i := slices.IndexFunc(all, func(s assets.Scenario) bool { return s.Name == scenario })
		if i < 0 {
			return nil, fmt.Errorf("there is no scenario %q: --demo=%s lists them", scenario, listScenarios)
		}
		all = all[:i+1]
	}
	manifests := make([][]byte, len(all))
	for i, s := range all {
		manifests[i] = s.Manifest
	}
	cluster, err := sandbox.NewDemo(manifests, now)
	if err != nil {
		return nil, fmt.Errorf("make the demo: %w", err)
	}
	return cluster, nil
}

// newDemo makes the cluster, and serves it if that is asked for.
func newDemo(ctx context.Context, f flags) (*demo, error) {
	cluster, err := makeDemo(f.demo, time.Now())
	if err != nil {
		return nil, err
	}
	d := &demo{Demo: cluster, kubectl: []string{"--server=http://demo.invalid"}}
	if d.folder, err = os.MkdirTemp("", "claimref-demo-"); err != nil {
		return nil, fmt.Errorf("make a folder for the demo: %w", err)
	}
	if f.demoListen == "" {
		return d, nil
	}
	if err := d.serve(ctx, f.demoListen); err != nil {
		d.remove()
		return nil, err
	}
	return d, nil
}

// serve serves the demo, and writes a kubeconfig for it.
func (d *demo) serve(ctx context.Context, address string) error {
	kubeconfig, err := d.Listen(ctx, address)
	if err != nil {
		return err
	}
	path := filepath.Join(d.folder, "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return fmt.Errorf("write the demo's kubeconfig: %w", err)
	}
	d.kubectl = []string{"--kubeconfig=" + path}
	d.notice = "kubectl can watch: export KUBECONFIG=" + path
	return nil
}

// remove takes away what was kept for the demo: its backups are of nothing
// real.
func (d *demo) remove() {
	if d.folder != "" {
		_ = os.RemoveAll(d.folder)
	}
}

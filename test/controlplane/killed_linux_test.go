package controlplane_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/claimref/claimref/test/controlplane"
)

// TestKilled kills a process that runs a control plane, and looks for what it
// leaves.
func TestKilled(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killedEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	dir := strings.TrimSpace(line)
	if got := len(processesOf(t, dir)); got != 5 {
		t.Errorf("%d processes use %s, want 5", got, dir)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	// It was killed, so its end is an error.
	_ = cmd.Wait()
	eventually(t, "its processes to end", func(context.Context) (string, bool) {
		left := processesOf(t, dir)
		return strings.Join(left, "\n"), len(left) == 0
	})
	// Whoever starts the next control plane clears away the folder.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cp, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
}

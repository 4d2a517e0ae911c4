package e2e

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/claimref/claimref/test/controlplane"
)

// Waits. They bound how long something may take before the test fails; all of
// it normally takes a fraction.
const (
	startTimeout  = 3 * time.Minute
	screenTimeout = 30 * time.Second
	// settleTimeout is for what the controllers do: the binder looks at
	// everything again each 15 s, or each second in the shared control plane.
	settleTimeout = 60 * time.Second

	// atOnce is how many of the parallel tests go on side by side. They mostly
	// wait for controllers, so that they are more than a machine has cores.
	atOnce = 5
)

// suite is what the tests share: the program, and a control plane whose binder
// runs each second. A test that stops or pauses parts of it starts its own.
type suite struct {
	binary string
	cp     *controlplane.ControlPlane
	// data is the provisioner whose volumes are folders.
	data *controlplane.Provisioner
}

var shared suite

// TestMain builds the program and starts the control plane once.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	flag.Parse()
	if err := sideBySide(); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "claimref-e2e-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout+30*time.Minute) //nolint:forbidigo // TestMain has no test to take one from
	defer cancel()
	if shared.binary, err = build(ctx, dir); err != nil {
		return 1, err
	}
	cp, data, err := startControlPlane(ctx, controlplane.Options{BinderSyncPeriod: time.Second})
	if cp != nil {
		defer func() { _ = cp.Stop() }()
	}
	if err != nil {
		return 1, err
	}
	shared.cp, shared.data = cp, data
	return m.Run(), nil
}

// sideBySide lets more tests go on at once than there are cores, unless the
// command line says how many.
func sideBySide() error {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(atOnce))
}

// build builds the program with the race detector where there is one, so that
// each test of it is also a test of that.
func build(ctx context.Context, dir string) (string, error) {
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "kubectl-claimref")
	args := []string{"build"}
	if raceEnabled {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "-o", binary, ".")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return binary, nil
}

func startControlPlane(ctx context.Context, o controlplane.Options) (*controlplane.ControlPlane, *controlplane.Provisioner, error) {
	cp, err := controlplane.Start(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	if err := cp.StartKubelet(ctx, "n1", "n2"); err != nil {
		return cp, nil, err
	}
	data, err := cp.StartProvisioner(ctx)
	return cp, data, err
}

// own starts a control plane for one test, to be stopped, paused or kept at
// the pace that a cluster has by default.
func own(t *testing.T, o controlplane.Options) *controlplane.ControlPlane {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	cp, _, err := startControlPlane(ctx, o)
	if cp != nil {
		t.Cleanup(sync.OnceFunc(func() {
			if err := cp.Stop(); err != nil {
				t.Error(err)
			}
		}))
	}
	if err != nil {
		t.Fatal(err)
	}
	return cp
}

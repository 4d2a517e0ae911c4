package cases_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/klog/v2"

	"github.com/claimref/claimref/test/controlplane"
)

const (
	startTimeout = 35 * time.Minute // a cold build of the control plane is in it
	// atOnce is how many stories are played side by side. They mostly wait for
	// controllers.
	atOnce = 6
	// tellingsInFull is how often each story is told in the long form.
	tellingsInFull = 4
	defaultSeed    = 1000
)

// cp is the control plane that all stories share.
var cp *controlplane.ControlPlane

func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cases:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
		return 1, fmt.Errorf("set how many tests run at once: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout) //nolint:forbidigo // TestMain has no test to take one from
	defer cancel()
	if cp, err = controlplane.Start(ctx, controlplane.Options{BinderSyncPeriod: time.Second}); err != nil {
		return 1, err
	}
	defer func() { _ = cp.Stop() }()
	if err := cp.StartKubelet(ctx, "n1", "n2"); err != nil {
		return 1, err
	}
	if _, err := cp.StartProvisioner(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// tellings is how often each story is told, each time in other words.
func tellings() int {
	if os.Getenv("CLAIMREF_E2E") == "full" {
		return tellingsInFull
	}
	return 1
}

// firstSeed is what the first story is varied by. Each that follows has the
// next: no two may share a name.
func firstSeed() (uint64, error) {
	text := os.Getenv("CLAIMREF_SEED")
	if text == "" {
		return defaultSeed, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("CLAIMREF_SEED has to be a number: %w", err)
	}
	return n, nil
}

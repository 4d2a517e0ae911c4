package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/claimref/claimref/test/controlplane"
)

// suite is what the tests of this package share: one control plane, because a
// start takes seconds and hundreds of megabytes.
type suite struct {
	cp          *controlplane.ControlPlane
	provisioner *controlplane.Provisioner
}

// shared is set once, before any test runs.
var shared suite

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute) //nolint:forbidigo // TestMain has no test to take one from
	defer cancel()
	if os.Getenv(killedEnv) != "" {
		if err := waitToBeKilled(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return 1
	}
	if err := start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := shared.cp.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func start(ctx context.Context) error {
	var err error
	if shared.cp, err = controlplane.Start(ctx, controlplane.Options{BinderSyncPeriod: time.Second}); err != nil {
		return err
	}
	if err := shared.cp.StartKubelet(ctx, "n1", "n2"); err != nil {
		return err
	}
	shared.provisioner, err = shared.cp.StartProvisioner(ctx)
	return err
}

// namespace makes a namespace for one test.
func namespace(t *testing.T) string {
	t.Helper()
	ns, err := shared.cp.Admin().CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// eventually polls until the condition holds, and fails the test with what was
// last seen if that takes too long.
func eventually(t *testing.T, what string, condition func(context.Context) (seen string, done bool)) {
	t.Helper()
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		seen, done := condition(ctx)
		last = seen
		return done, nil
	})
	if err != nil {
		t.Fatalf("wait for %s: %v; last seen: %s", what, err, last)
	}
}

// killedEnv makes the test binary a process that starts a control plane, says
// where, and waits to be killed.
const killedEnv = "CLAIMREF_TEST_TO_BE_KILLED"

func waitToBeKilled(ctx context.Context) error {
	cp, err := controlplane.Start(ctx, controlplane.Options{})
	if err != nil {
		return err
	}
	if _, err := cp.StartProvisioner(ctx); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, cp.Dir())
	<-ctx.Done()
	return cp.Stop()
}

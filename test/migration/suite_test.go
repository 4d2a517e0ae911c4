package migration

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/test/controlplane"
)

const (
	startTimeout = 35 * time.Minute // a cold build of the control plane is in it
	// runTimeout bounds one operation, and settleTimeout what the controllers
	// do afterwards. Both normally take a small part of it.
	runTimeout    = 5 * time.Minute
	settleTimeout = 2 * time.Minute
	poll          = 150 * time.Millisecond

	// atOnce is how many runs go on side by side. They mostly wait for
	// controllers, so that they are more than a machine has cores.
	atOnce      = 6
	defaultSeed = 1
)

// suite is what the runs share.
type suite struct {
	cp *controlplane.ControlPlane
	// data is the provisioner whose volumes are folders.
	data *controlplane.Provisioner
	api  kubernetes.Interface
	// kubeconfig is the operator's.
	kubeconfig string
	full       bool
	seed       uint64
	tally      *tally
}

var shared suite

// TestMain starts the control plane once. In a process that is to be killed it
// is the program under test instead.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if text := os.Getenv(errandEnv); text != "" {
		os.Exit(runErrand(context.Background(), text)) //nolint:forbidigo // TestMain has no test to take one from
	}
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "migration:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	flag.Parse()
	if err := sideBySide(); err != nil {
		return 1, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout) //nolint:forbidigo // TestMain has no test to take one from
	defer cancel()
	shared.tally = newTally()
	shared.full = os.Getenv("CLAIMREF_E2E") == "full"
	if shared.seed, err = seed(); err != nil {
		return 1, err
	}
	cp, err := controlplane.Start(ctx, controlplane.Options{BinderSyncPeriod: time.Second})
	if err != nil {
		return 1, err
	}
	defer func() { _ = cp.Stop() }()
	if err := cp.StartKubelet(ctx, "n1", "n2"); err != nil {
		return 1, err
	}
	if shared.data, err = cp.StartProvisioner(ctx); err != nil {
		return 1, err
	}
	shared.cp, shared.api = cp, cp.Admin()
	if shared.kubeconfig, err = operator(ctx, cp); err != nil {
		return 1, err
	}
	code = m.Run()
	return code, shared.tally.write(os.Getenv("CLAIMREF_SUMMARY"))
}

// operatorName is who carries the operations out.
const operatorName = "operator"

// operator gives a user exactly the role that the README points to, and returns
// their kubeconfig: what an operation needs has to be in that role.
func operator(ctx context.Context, cp *controlplane.ControlPlane) (string, error) {
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "assets", "clusterrole.yaml"))
	if err != nil {
		return "", fmt.Errorf("read the role: %w", err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		return "", fmt.Errorf("read the role: %w", err)
	}
	if _, err := cp.Grant(ctx, operatorName, "", role.Rules...); err != nil {
		return "", err
	}
	return cp.Kubeconfig(operatorName)
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

// seed is what the moments of the ordinary run are drawn from.
func seed() (uint64, error) {
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

// eventually waits until there is nothing wrong any more.
func eventually(t *testing.T, what string, wrong func(ctx context.Context) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), settleTimeout)
	defer cancel()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	var last string
	for {
		now := wrong(ctx)
		if now == "" {
			return
		}
		if ctx.Err() == nil {
			last = now
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: after %s still %s", what, settleTimeout, last)
		case <-ticker.C:
		}
	}
}

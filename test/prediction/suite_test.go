package prediction

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/claimref/claimref/test/controlplane"
)

const (
	startTimeout = 35 * time.Minute // a cold build of the control plane is in it
	// binderPeriod is short, because the waves wait for it. What is told of a
	// claim is told at most 25 times, whatever the period.
	binderPeriod = 500 * time.Millisecond

	pairsInShort, pairsInFull = 500, 3000
	defaultSeed               = 1
)

// shared is the control plane of all waves.
var shared struct {
	cp     *controlplane.ControlPlane
	client kubernetes.Interface
}

// TestMain starts the control plane once.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prediction:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout) //nolint:forbidigo // TestMain has no test to take one from
	defer cancel()
	shared.cp, err = controlplane.Start(ctx, controlplane.Options{BinderSyncPeriod: binderPeriod})
	if err != nil {
		return 1, err
	}
	defer func() { _ = shared.cp.Stop() }()
	config := shared.cp.Config(controlplane.Admin)
	config.QPS = -1
	if shared.client, err = kubernetes.NewForConfig(config); err != nil {
		return 1, fmt.Errorf("connect: %w", err)
	}
	if _, err := shared.client.StorageV1().StorageClasses().Create(ctx, newClass(olderClass), metav1.CreateOptions{}); err != nil {
		return 1, fmt.Errorf("create the class: %w", err)
	}
	if err := freezePhases(ctx, shared.client); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// size is how many pairs are drawn.
func size() int {
	if os.Getenv("CLAIMREF_E2E") == "full" {
		return pairsInFull
	}
	return pairsInShort
}

// seed is what they are drawn from.
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

// summarize leaves the result where `make e2e` shows it at its end.
func summarize(line string) error {
	dir := os.Getenv("CLAIMREF_SUMMARY")
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder of results: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "prediction.txt"), []byte(line+"\n"), 0o644)
}

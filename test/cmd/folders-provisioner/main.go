// Command folders-provisioner provisions the volumes of the tests: folders
// with a sentinel file. The test control plane builds, starts and stops it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/claimref/claimref/test/controlplane/folders"
)

// errUsage means that a flag that has no default is missing.
var errUsage = errors.New("both --kubeconfig and --root are needed")

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	root := flag.String("root", "", "folder under which volumes are made")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *kubeconfig, *root)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "folders-provisioner:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, root string) error {
	if kubeconfig == "" || root == "" {
		return errUsage
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	folders.Run(ctx, client, root)
	return nil
}

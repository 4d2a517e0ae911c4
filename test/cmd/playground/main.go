// Command playground starts a control plane full of volumes and claims in
// every state, and runs a program on it with KUBECONFIG set: bin/claimref, or
// the command in its arguments. Everything is gone afterwards.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/klog/v2"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/scenarios"
)

// usageCode is the exit code for flags that make no sense, as in the flag
// package.
const usageCode = 2

// options are what the command line says.
type options struct {
	wait       bool
	user       string
	logDir     string
	binderSync time.Duration
	scenarios  []string
	command    []string
}

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
	}
	os.Exit(code)
}

func run(args []string) (code int, err error) {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return 0, nil
	}
	if err != nil {
		return usageCode, err
	}
	// The client library would write on the program's screen.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cp, err := start(ctx, o)
	if cp != nil {
		defer func() { err = errors.Join(err, cp.Stop()) }()
	}
	if err != nil {
		return 1, err
	}
	kubeconfig, err := cp.Kubeconfig(o.user)
	if err != nil {
		return 1, err
	}
	if o.wait {
		fmt.Println(kubeconfig)
		<-ctx.Done()
		return 0, nil
	}
	return execute(o.command, kubeconfig)
}

func parse(args []string) (options, error) {
	var o options
	var names string
	all, err := scenarios.All()
	if err != nil {
		return options{}, err
	}
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "Usage: playground [flags] [--] [command ...]\n\n")
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.wait, "wait", false, "run no command: print the path of a kubeconfig and keep running until interrupted")
	flags.StringVar(&o.user, "user", controlplane.Admin, "user to act as: admin, storage-admin, viewer, app-dev, claims-only, nobody or any other name")
	flags.StringVar(&o.logDir, "logs", "", "folder to keep the logs of the control plane in")
	flags.DurationVar(&o.binderSync, "binder-sync", controlplane.DefaultBinderSyncPeriod, "how often the volume binder looks at everything again")
	flags.StringVar(&names, "scenarios", strings.Join(all, ","), "scenarios to load")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	o.command = flags.Args()
	o.scenarios = slices.DeleteFunc(strings.Split(names, ","), func(name string) bool { return name == "" })
	if o.wait || len(o.command) > 0 {
		return o, nil
	}
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		return options{}, err
	}
	o.command = []string{filepath.Join(root, "bin", "claimref")}
	return o, nil
}

// start returns a control plane even beside an error, if there is one to stop.
func start(ctx context.Context, o options) (*controlplane.ControlPlane, error) {
	fmt.Fprintln(os.Stderr, "starting the control plane")
	cp, err := controlplane.Start(ctx, controlplane.Options{BinderSyncPeriod: o.binderSync, LogDir: o.logDir})
	if err != nil {
		return nil, err
	}
	if err := cp.StartKubelet(ctx, "n1", "n2", "n3"); err != nil {
		return cp, err
	}
	if _, err := cp.StartProvisioner(ctx); err != nil {
		return cp, err
	}
	fmt.Fprintln(os.Stderr, "loading scenarios:", strings.Join(o.scenarios, " "))
	return cp, scenarios.Load(ctx, cp.Config(controlplane.Admin), o.scenarios...)
}

// execute runs the command in the foreground and returns its exit code. The
// terminal sends it its interrupts itself; here they must not end the control
// plane under it, so execute does not look at the context of the signals.
func execute(command []string, kubeconfig string) (int, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("run %s: %w", command[0], err)
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(terminate)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-terminate:
			// Whoever ends the playground means the program, too.
			if err := cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return 1, fmt.Errorf("end %s: %w", command[0], err)
			}
		case err := <-done:
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				return exit.ExitCode(), nil
			}
			if err != nil {
				return 1, fmt.Errorf("run %s: %w", command[0], err)
			}
			return 0, nil
		}
	}
}

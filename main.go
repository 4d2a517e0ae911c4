// Command claimref is a terminal UI for Kubernetes volumes. Installed as
// kubectl-claimref it is the kubectl plugin of that name.
//
// This file reads flags, wires the parts together and turns errors into exit
// codes; nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
	"github.com/claimref/claimref/views"
)

// version is set by the linker.
var version = "unknown"

// drainTimeout is how long a write that is on its way is waited for after
// the screen has gone.
const drainTimeout = 95 * time.Second

// partingTimeout is how long what was approved and did not leave any more may
// take to say so.
const partingTimeout = time.Second

// gcPercent is how much may be left behind before it is collected, in percent
// of what is in use.
const gcPercent = 50

// errInterrupted ends the program with the shell's code for an interrupt.
var errInterrupted = errors.New("interrupted")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	err := newCommand(os.Stdout).ExecuteContext(ctx)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// exitCode says what went wrong, and returns the code for it. An interrupt
// needs no words, unless something else went wrong with it.
func exitCode(err error, out io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errInterrupted) && err.Error() == errInterrupted.Error():
		return 130
	default:
		code := 1
		if answer, ok := errors.AsType[*outcome](err); ok {
			code = answer.code
		}
		fmt.Fprintln(out, "claimref: "+ui.Clean(strings.ReplaceAll(err.Error(), "\n", "; ")))
		return code
	}
}

// flags are claimref's own; the others are kubectl's.
type flags struct {
	kube          *genericclioptions.ConfigFlags
	allNamespaces bool
	readOnly      bool
	dryRun        bool
	ascii         bool
	mouse         bool
	theme         string
	demo          string
	demoListen    string
	backupDir     string
	protect       []string
}

func newCommand(out io.Writer) *cobra.Command {
	f := flags{kube: genericclioptions.NewConfigFlags(true)}
	name := "claimref"
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl-") {
		name = "kubectl claimref"
	}
	cmd := &cobra.Command{
		Use:   "claimref",
		Short: "See and re-use Kubernetes volumes, safely",
		Long: `claimref shows PersistentVolumes, their claims and classes as live tables, and
walks you through re-using a Released volume, and through making a volume
single-pod (ReadWriteOncePod). Before anything is written you see the difference
that it makes, from a dry run by the server.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: name},
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.demo == "" && cmd.Flags().Changed("demo") {
				// An empty word must not lead to a real cluster.
				f.demo = allScenarios
			}
			if f.demo == listScenarios {
				return printScenarios(cmd.OutOrStdout())
			}
			return run(cmd.Context(), f, kubectlFlags(cmd.Flags()))
		},
	}
	cmd.SetOut(out)
	f.kube.AddFlags(cmd.PersistentFlags())
	own := cmd.Flags()
	own.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "show all namespaces (the default, unless --namespace is given)")
	own.BoolVar(&f.readOnly, "read-only", false, "never write anything")
	own.BoolVar(&f.dryRun, "dry-run", false, "walk through every action by dry runs of the server only")
	own.BoolVar(&f.ascii, "ascii", false, "draw with ASCII characters only")
	own.BoolVar(&f.mouse, "mouse", false, "use the mouse (the terminal's own selection then needs shift)")
	own.StringVar(&f.demo, "demo", "", "open a cluster in memory, with all scenarios or those up to the named one; \"list\" lists them")
	own.Lookup("demo").NoOptDefVal = allScenarios
	own.StringVar(&f.demoListen, "demo-listen", "", "serve the demo on this loopback address, too, and print a kubeconfig for kubectl")
	own.StringVar(&f.backupDir, "backup-dir", "", "keep the backups of operations in this folder (default $XDG_STATE_HOME/claimref/backups, or ~/.local/state/claimref/backups)")
	own.StringArrayVar(&f.protect, "protect", nil, "claims whose data must outlive them: a pattern such as 'prod-*/*' or '*-pg-*' for names alone; may be repeated")
	own.StringVar(&f.theme, "theme", "auto", "colours for a dark or a light background: auto, dark, light")
	cmd.AddCommand(&cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "claimref %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	})
	cmd.AddCommand(oneShots(f.kube, time.Now)...)
	return cmd
}

// kubectlFlags are the flags by which kubectl reaches the same cluster as the
// same user. Secrets are left out: what is copied gets about.
func kubectlFlags(given *pflag.FlagSet) []string {
	var out []string
	for _, name := range []string{
		"kubeconfig", "context", "cluster", "user", "server", "proxy-url", "as", "as-group", "as-uid", "as-user-extra",
		"certificate-authority", "client-certificate", "client-key", "tls-server-name", "insecure-skip-tls-verify",
	} {
		flag := given.Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			out = append(out, "--"+name+"="+value)
		}
	}
	return out
}

func run(ctx context.Context, f flags, kubectl []string) (err error) {
	if f.theme != "auto" && f.theme != "dark" && f.theme != "light" {
		return fmt.Errorf("unknown theme %q: use auto, dark or light", f.theme)
	}
	if f.demo != "" && len(kubectl) > 0 {
		return fmt.Errorf("%s means a real cluster, and --demo none: use one of them", kubectl[0])
	}
	tracker, err := explain.NewTracker(explain.RiskOptions{Protected: f.protect})
	if err != nil {
		return fmt.Errorf("--protect: %w", err)
	}
	if f.demoListen != "" && f.demo == "" {
		return errors.New("--demo-listen serves the demo: use it with --demo")
	}
	if f.readOnly && f.dryRun {
		return errors.New("--read-only and --dry-run exclude each other: a dry run asks for the right to write")
	}
	// Nothing but the program may write on the screen: client-go logs through
	// klog, and credential plugins get whatever standard error is when the
	// client is made.
	klog.SetLogger(logr.Discard())
	quiet, err := ui.NewQuiet(os.Stderr)
	if err != nil {
		return err
	}
	terminal := os.Stderr
	os.Stderr = quiet.File()
	defer func() { os.Stderr = terminal; err = errors.Join(err, quiet.Close()) }()
	// Decoding lists leaves much behind; memory is dearer here than time.
	debug.SetGCPercent(gcPercent)

	// All that was started ends before the program does.
	ctx, cancel := context.WithCancel(ctx)
	var started sync.WaitGroup
	defer func() { cancel(); started.Wait() }()
	source, notice := f.kube.ToRawKubeConfigLoader(), ""
	if f.demo != "" {
		demo, err := newDemo(ctx, f)
		if err != nil {
			return err
		}
		defer demo.remove()
		source, kubectl, notice = demo.ClientConfig(), demo.kubectl, demo.notice
		f.backupDir = demo.folder
		started.Go(func() { demo.Run(ctx) })
	}

	client, err := kube.Connect(kube.Config{
		ClientConfig:  source,
		Namespace:     *f.kube.Namespace,
		AllNamespaces: f.allNamespaces,
		ReadOnly:      f.readOnly,
		DryRun:        f.dryRun,
		UserAgent:     "claimref/" + version,
	})
	if err != nil {
		return err
	}
	if err := client.Check(ctx); err != nil {
		return err
	}

	feed := client.Watch(ctx)
	started.Go(feed.Wait)
	quiet.Hold()
	app, err := show(ctx, newBackend(client, feed, f, os.Getenv), f, client.Identity(), kubectl, notice, tracker)
	quiet.Release()
	// The screen is gone; a write that was on its way is waited for, and what
	// became of it and of all that was begun is said, so that nobody is left in
	// doubt.
	writing := client.Writing()
	if writing {
		fmt.Fprintln(terminal, "claimref: waiting for the answer to a request that is on its way…")
	}
	done, drainErr := client.Drain(drainTimeout)
	if done > 0 {
		fmt.Fprintln(terminal, "claimref: the change was made")
	}
	cancel()
	for _, line := range app.Partings(partingTimeout) {
		fmt.Fprintln(terminal, "claimref: "+ui.Clean(line))
	}
	return errors.Join(err, drainErr)
}

func show(ctx context.Context, cluster views.Cluster, f flags, id kube.Identity, kubectl []string, notice string, tracker *explain.Tracker) (*views.App, error) {
	namespace := *f.kube.Namespace
	if f.allNamespaces {
		namespace = ""
	}
	// colorprofile honours NO_COLOR only when it holds a boolean, while the
	// convention is that any value counts.
	color := os.Getenv("NO_COLOR") == ""
	if f.demo == "" && id.Context != "" && !slices.ContainsFunc(kubectl, func(flag string) bool { return strings.HasPrefix(flag, "--context=") }) {
		kubectl = append([]string{"--context=" + id.Context}, kubectl...)
	}
	app := views.New(ctx, cluster, views.Options{
		KubectlFlags: kubectl, Notice: notice, Tracker: tracker,
		Identity: id, Namespace: namespace, ReadOnly: f.readOnly, DryRun: f.dryRun,
		Demo: f.demo != "", Color: color, ASCII: f.ascii, Mouse: f.mouse,
		Dark: f.theme != "light", FollowBackground: f.theme == "auto",
	}, time.Now())
	opts := []tea.ProgramOption{tea.WithContext(ctx)}
	if !color {
		opts = append(opts, tea.WithColorProfile(colorprofile.ASCII))
	}
	_, err := tea.NewProgram(app, opts...).Run()
	switch {
	case err == nil:
		return app, nil
	case errors.Is(err, tea.ErrInterrupted):
		return app, errInterrupted
	case ctx.Err() != nil:
		return app, nil //nolint:nilerr // a signal asked it to end, which is no failure
	default:
		return app, fmt.Errorf("run the screen: %w", err)
	}
}

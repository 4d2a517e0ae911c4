package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/klog/v2"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
)

// The exit codes of answers that are no failures.
const (
	codeRisks   = 3
	codeUnknown = 4
)

// How long the cluster is read at most, and how long what fails may keep an
// answer back when all else is there.
const (
	readTimeout = 2 * time.Minute
	readGrace   = 8 * time.Second
)

// readPace is how long changes are gathered: nobody watches them come.
const readPace = 25 * time.Millisecond

// outcome is an answer that has an exit code of its own.
type outcome struct {
	code int
	text string
}

func (o *outcome) Error() string { return o.text }

// asking is what the commands have in common that need no screen.
type asking struct {
	kube          *genericclioptions.ConfigFlags
	now           func() time.Time
	demo          string
	allNamespaces bool
	output        string
	protect       []string
}

// oneShots are the commands that read the cluster once, answer, and end.
func oneShots(flags *genericclioptions.ConfigFlags, now func() time.Time) []*cobra.Command {
	return []*cobra.Command{newRisks(flags, now), newExplain(flags, now)}
}

func (a *asking) addFlags(cmd *cobra.Command, formats string) {
	own := cmd.Flags()
	own.StringVarP(&a.output, "output", "o", strings.Split(formats, ",")[0], "how to print it: "+strings.ReplaceAll(formats, ",", ", "))
	own.StringArrayVar(&a.protect, "protect", nil, "claims whose data must outlive them: a pattern such as 'prod-*/*' or '*-pg-*' for names alone; may be repeated")
	own.StringVar(&a.demo, "demo", "", "ask the cluster in memory, with all scenarios or those up to the named one")
	own.Lookup("demo").NoOptDefVal = allScenarios
}

// check finds what is wrong with the flags.
func (a *asking) check(cmd *cobra.Command, formats string) error {
	if !slices.Contains(strings.Split(formats, ","), a.output) {
		return fmt.Errorf("unknown output %q: use %s", a.output, strings.ReplaceAll(formats, ",", ", "))
	}
	if !cmd.Flags().Changed("demo") {
		return nil
	}
	if a.demo == "" {
		// An empty word must not lead to a real cluster.
		a.demo = allScenarios
	}
	if a.demo == listScenarios {
		return errors.New("`claimref --demo=list` lists the scenarios: name one of them here")
	}
	if given := kubectlFlags(cmd.Flags()); len(given) > 0 {
		return fmt.Errorf("%s means a real cluster, and --demo none: use one of them", given[0])
	}
	return nil
}

// namespace is the one that was asked for, or "" for all.
func (a *asking) namespace() string {
	if a.allNamespaces {
		return ""
	}
	return *a.kube.Namespace
}

// reading is the cluster as it was read once.
type reading struct {
	client *kube.Client
	snap   *kube.Snapshot
	now    time.Time
}

// read reads all of the cluster that may be read.
func (a *asking) read(ctx context.Context) (*reading, error) {
	// client-go's own words are for those who know its source.
	klog.SetLogger(logr.Discard())
	now := a.now()
	source := a.kube.ToRawKubeConfigLoader()
	if a.demo != "" {
		demo, err := makeDemo(a.demo, now)
		if err != nil {
			return nil, err
		}
		// Its controllers have come to rest, and stay at rest: they are not run.
		source = demo.ClientConfig()
	}
	client, err := kube.Connect(kube.Config{
		ClientConfig:  source,
		Namespace:     *a.kube.Namespace,
		AllNamespaces: a.allNamespaces,
		ReadOnly:      true,
		UserAgent:     "claimref/" + version,
		Timing:        kube.Timing{Coalesce: readPace},
	})
	if err != nil {
		return nil, err
	}
	if err := client.Check(ctx); err != nil {
		return nil, err
	}
	watching, stop := context.WithCancel(ctx)
	feed := client.Watch(watching)
	defer func() { stop(); feed.Wait() }()
	snap, err := settled(ctx, feed.Next)
	if err != nil {
		return nil, err
	}
	if namespace := a.namespace(); namespace != "" && snap.Known(kube.Namespaces, "") && snap.Namespace(namespace) == nil {
		// A slip of the pen must not look like a namespace without risks.
		return nil, fmt.Errorf("there is no namespace %s%s", namespace, suggest(namespace, namespaceNames(snap)))
	}
	return &reading{client: client, snap: snap, now: now}, nil
}

func namespaceNames(snap *kube.Snapshot) []string {
	names := make([]string, 0, len(snap.Namespaces))
	for _, n := range snap.Namespaces {
		names = append(names, n.Name)
	}
	return names
}

// settled waits until everything has been read, or may not be. What can't be
// read for another reason is given some time, and then left as it is.
func settled(ctx context.Context, next func(context.Context) (*kube.Snapshot, error)) (*kube.Snapshot, error) {
	bounded, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var snap *kube.Snapshot
	hurried := false
	for {
		s, err := next(bounded)
		switch {
		case err == nil:
			snap = s
		case snap != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			return snap, nil
		default:
			return nil, fmt.Errorf("read the cluster: %w", err)
		}
		loading, failing := 0, 0
		for _, r := range all() {
			switch state := snap.Resources[r]; {
			case state.Phase == kube.Loading && state.Err != "":
				failing++
			case state.Phase == kube.Loading:
				loading++
			}
		}
		switch {
		case loading == 0 && failing == 0:
			return snap, nil
		case loading == 0 && !hurried:
			hurried = true
			bounded, cancel = context.WithTimeout(bounded, readGrace)
			defer cancel()
		}
	}
}

// risks finds all risks.
func (a *asking) risks(snap *kube.Snapshot) (*explain.Risks, error) {
	tracker, err := explain.NewTracker(explain.RiskOptions{Protected: a.protect})
	if err != nil {
		return nil, err
	}
	return tracker.Update(snap), nil
}

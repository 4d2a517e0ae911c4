package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

const risksFormats = "table,json,yaml"

// risksCommand lists what is at risk.
type risksCommand struct {
	asking
	severity string
	failOn   string
}

func newRisks(flags *genericclioptions.ConfigFlags, now func() time.Time) *cobra.Command {
	r := &risksCommand{asking: asking{kube: flags, now: now}}
	cmd := &cobra.Command{
		Use:   "risks",
		Short: "List what puts data at risk, the worst first",
		Long: `risks reads the cluster once and lists what puts data at risk, and what is not
as it should be: volumes, claims and classes, the worst first, with what to do.

The exit code is 0, or with --fail-on 3 when there is such a risk, and 4 when
none was found, but not all could be read that one could be in.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.run(cmd) },
	}
	r.addFlags(cmd, risksFormats)
	own := cmd.Flags()
	own.BoolVarP(&r.allNamespaces, "all-namespaces", "A", false, "look at all namespaces (the default, unless --namespace is given)")
	own.StringVar(&r.severity, "severity", explain.Info.String(), "the lowest severity to print: info, low, high, critical")
	own.StringVar(&r.failOn, "fail-on", "", "end with code 3 when there is a risk of this severity or a higher one: low, high, critical")
	return cmd
}

func (r *risksCommand) run(cmd *cobra.Command) error {
	if err := r.check(cmd, risksFormats); err != nil {
		return err
	}
	least, err := severityOf("severity", r.severity, explain.Info)
	if err != nil {
		return err
	}
	limit := explain.Critical + 1
	if cmd.Flags().Changed("fail-on") {
		if limit, err = severityOf("fail-on", r.failOn, explain.Low); err != nil {
			return err
		}
	}
	if _, err := explain.NewTracker(explain.RiskOptions{Protected: r.protect}); err != nil {
		return err // Before the cluster is read for nothing.
	}
	read, err := r.read(cmd.Context())
	if err != nil {
		return err
	}
	if err := blind(read.snap); err != nil {
		return err
	}
	found, err := r.risks(read.snap)
	if err != nil {
		return err
	}
	list := ofNamespace(read.snap, found.List(), r.namespace())
	report := reportOf(read, list, least)
	report.Namespace = r.namespace()
	report.Unread = gaps(read.snap, needed(), report.Namespace)
	for _, g := range report.Unread {
		fmt.Fprintln(cmd.ErrOrStderr(), "claimref: "+ui.Clean(g.Text))
	}
	p := newPrinter(cmd.OutOrStdout(), os.Getenv)
	if r.output == "table" {
		report.table(p)
	} else if err := p.data(r.output, report); err != nil {
		return err
	}
	return judge(list, limit, report.Unread)
}

func severityOf(flag, word string, least explain.Severity) (explain.Severity, error) {
	var words []string
	for s := least; s <= explain.Critical; s++ {
		if s.String() == word {
			return s, nil
		}
		words = append(words, s.String())
	}
	return 0, fmt.Errorf("--%s=%s is no severity: use %s", flag, word, strings.Join(words, ", "))
}

// ofNamespace keeps the risks of a namespace's claims, and of their volumes.
func ofNamespace(snap *kube.Snapshot, list []*explain.Risk, namespace string) []*explain.Risk {
	if namespace == "" {
		return list
	}
	volumes := map[string]bool{}
	for _, v := range snap.Volumes {
		if ref := v.Object.Spec.ClaimRef; ref != nil && ref.Namespace == namespace {
			volumes[v.Object.Name] = true
		}
	}
	for _, c := range snap.Claims {
		if c.Object.Namespace == namespace && c.Object.Spec.VolumeName != "" {
			volumes[c.Object.Spec.VolumeName] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(r *explain.Risk) bool {
		switch r.Object.Kind {
		case actions.VolumeKind:
			return !volumes[r.Object.Name]
		case actions.ClaimKind:
			return r.Object.Namespace != namespace
		default:
			return true
		}
	})
}

// judge gives an answer that is more than a list its exit code. What was not
// read is not taken for safe.
func judge(list []*explain.Risk, limit explain.Severity, unread []gap) error {
	if limit > explain.Critical {
		return nil
	}
	count := 0
	for _, r := range list {
		if r.Severity >= limit {
			count++
		}
	}
	severity := limit.String()
	if limit < explain.Critical {
		severity += " or worse"
	}
	switch {
	case count == 1:
		return &outcome{codeRisks, "1 risk is " + severity}
	case count > 1:
		return &outcome{codeRisks, fmt.Sprintf("%d risks are %s", count, severity)}
	case len(unread) > 0:
		names := make([]string, len(unread))
		for i, g := range unread {
			names[i] = g.Resource
		}
		return &outcome{codeUnknown, fmt.Sprintf("no risk that was found is %s, but there may be some: not all could be read of %s", severity, strings.Join(names, ", "))}
	}
	return nil
}

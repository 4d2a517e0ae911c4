package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

const (
	explainFormats = "text,json,yaml"
	// fewTold is how many candidates and takers are told one by one.
	fewTold = 10
)

// explainCommand says what is going on with one object.
type explainCommand struct {
	asking
	all      bool
	timeline bool
	tree     bool
}

func newExplain(flags *genericclioptions.ConfigFlags, now func() time.Time) *cobra.Command {
	e := &explainCommand{asking: asking{kube: flags, now: now}}
	cmd := &cobra.Command{
		Use:   "explain (pv|pvc|sc) NAME",
		Short: "Say what is going on with a volume, a claim or a class",
		Long: `explain reads the cluster once and says of one volume, claim or class what is
going on with it and why: what it was found by, which volumes would do and why
others would not, who would take it, what holds it, and what can be done.`,
		Example: `  claimref explain pv example-pv
  claimref explain pvc data-orders-0 -n shop
  claimref explain pvc/shop/data-orders-0 --timeline
  claimref explain sc gp3 -o json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return e.run(cmd, args) },
	}
	e.addFlags(cmd, explainFormats)
	own := cmd.Flags()
	own.BoolVar(&e.all, "all", false, "tell of all volumes that were compared, and all claims, not only of the first ten")
	own.BoolVar(&e.timeline, "timeline", false, "add what happened to it, as far as it is on record")
	own.BoolVar(&e.tree, "tree", false, "add what it has to do with, as a tree")
	return cmd
}

func (e *explainCommand) run(cmd *cobra.Command, args []string) error {
	if err := e.check(cmd, explainFormats); err != nil {
		return err
	}
	ref, err := refOf(args)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	read, err := e.read(ctx)
	if err != nil {
		return err
	}
	if ref.Kind == actions.ClaimKind && ref.Namespace == "" {
		ref.Namespace = read.client.Identity().Namespace
	}
	answer, err := e.answer(ctx, read, ref)
	if err != nil {
		return err
	}
	for _, g := range answer.unread {
		fmt.Fprintln(cmd.ErrOrStderr(), "claimref: "+ui.Clean(g.Text))
	}
	p := newPrinter(cmd.OutOrStdout(), os.Getenv)
	if e.output != "text" {
		return p.data(e.output, answer.data())
	}
	answer.text(p)
	return nil
}

// refOf reads the arguments: a kind and a name, apart or with a slash between.
// A claim's name may have its namespace before it.
func refOf(args []string) (actions.Ref, error) {
	word, name, both := strings.Cut(args[0], "/")
	if len(args) == 2 && !both {
		name, both = args[1], true
	} else if len(args) == 2 {
		return actions.Ref{}, fmt.Errorf("%s names an object already: leave %s out", args[0], args[1])
	}
	var ref actions.Ref
	switch strings.ToLower(word) {
	case "pv", "pvs", "persistentvolume", "persistentvolumes", "volume", "volumes":
		ref.Kind = actions.VolumeKind
	case "pvc", "pvcs", "persistentvolumeclaim", "persistentvolumeclaims", "claim", "claims":
		ref.Kind = actions.ClaimKind
		if namespace, rest, found := strings.Cut(name, "/"); found {
			ref.Namespace, name = namespace, rest
		}
	case "sc", "scs", "storageclass", "storageclasses", "class", "classes":
		ref.Kind = actions.ClassKind
	default:
		return ref, fmt.Errorf("%q can't be explained: use pv, pvc or sc, and a name", word)
	}
	if ref.Name = name; !both || name == "" {
		return ref, fmt.Errorf("which %s? Give its name, too", word)
	}
	return ref, nil
}

// answer is all that is known of an object.
type answer struct {
	explain.Explanation
	now      time.Time
	risks    []*explain.Risk
	timeline []explain.Moment
	tree     []*explain.Node
	unread   []gap
}

// answer finds the object, and all about it.
func (e *explainCommand) answer(ctx context.Context, read *reading, ref actions.Ref) (*answer, error) {
	snap := read.snap
	subject, err := find(snap, ref)
	if err != nil {
		return nil, err
	}
	a := &answer{now: read.now, unread: gaps(snap, all(), ref.Namespace)}
	events, err := read.client.Events(ctx, subject.ref)
	if err != nil {
		a.unread = append(a.unread, gapOf("events", "list events", subject.ref, err))
	}
	ask := explain.Ask{Now: read.now, Events: events, Top: fewTold}
	if e.all {
		ask.Top = max(len(snap.Volumes), len(snap.Claims), 1)
	}
	a.Explanation = subject.explain(ask)
	risks, err := e.risks(snap)
	if err != nil {
		return nil, err
	}
	a.risks = risks.Of(subject.ref)
	if e.tree {
		a.tree = explain.Tree(snap, subject.ref, ask.Top)
	}
	if e.timeline {
		moments, err := subject.history(ctx, read.client, events)
		if err != nil {
			a.unread = append(a.unread, gapOf(subject.resource, "get "+subject.resource, subject.ref, err))
		}
		a.timeline = moments
	}
	return a, nil
}

// gapOf says what could not be read of an object, and why.
func gapOf(resource, right string, ref actions.Ref, err error) gap {
	g := gap{Resource: resource, Text: fmt.Sprintf("%s of %s could not be read: %s", resource, short(ref), kube.Explain(err))}
	if resource != "events" {
		g.Text = fmt.Sprintf("what is on record of %s could not be read: %s", short(ref), kube.Explain(err))
	}
	if kube.KindOf(err) == kube.KindForbidden {
		g.Missing = right
		namespace := ref.Namespace
		if resource == "events" {
			// Where the recorders put what is about cluster-wide objects.
			namespace = cmp.Or(namespace, metav1.NamespaceDefault)
		}
		if namespace != "" {
			g.Missing += " in namespace " + namespace
		}
		cut, _, _ := strings.Cut(g.Text, ": ")
		g.Text = cut + ": you may not " + g.Missing
	}
	return g
}

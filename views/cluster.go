package views

import (
	"context"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Cluster is what the pages need of a cluster. *kube.Client and its feed are
// behind it in the program.
type Cluster interface {
	// Next waits for a snapshot newer than the last one returned.
	Next(ctx context.Context) (*kube.Snapshot, error)
	// SetScope names the namespace to read for users who may not read all.
	SetScope(namespace string)
	// Plan makes a plan from fresh objects.
	Plan(ctx context.Context, req actions.Request, snap *kube.Snapshot) (actions.Plan, actions.World, error)
	// Preview dry-runs a step. The steps before it in done are taken as
	// carried out, which matters only where nothing is really written.
	Preview(ctx context.Context, done []actions.Step, step actions.Step) (kube.Preview, error)
	// Apply carries out what was previewed, unless the last look before it
	// returns an error.
	Apply(ctx context.Context, p kube.Preview, look func(context.Context) error) (kube.Applied, error)
	// Events and Manifest are read on demand.
	Events(ctx context.Context, ref actions.Ref) ([]kube.Event, error)
	Manifest(ctx context.Context, ref actions.Ref) (string, error)
}

// Options are what the command line decides.
type Options struct {
	Identity kube.Identity
	// Namespace is the namespace shown first; empty for all.
	Namespace string
	// ReadOnly: nothing is ever written. DryRun: plans are walked to the end
	// by dry runs.
	ReadOnly bool
	DryRun   bool
	// KubectlFlags say to kubectl which cluster this is, and who the user is.
	KubectlFlags []string
	// Demo: the cluster is not a real one, which the screen says.
	Demo bool
	// Notice stands under the tabs while there is nothing more urgent.
	Notice string
	// Color and ASCII choose how things look; Dark is the first guess, which
	// the terminal's answer corrects if FollowBackground.
	Color            bool
	ASCII            bool
	Dark             bool
	FollowBackground bool
	Mouse            bool
}

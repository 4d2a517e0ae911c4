package views

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
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
	// Object reads a volume, claim or class as the server has it.
	Object(ctx context.Context, ref actions.Ref) (metav1.Object, error)
	// PlanOperation plans an operation from fresh objects.
	PlanOperation(ctx context.Context, req migration.Request, snap *kube.Snapshot) (kube.OperationPlan, error)
	// NewOperation begins an operation that was planned, ResumeOperation goes
	// on with one that was found, on a volume or in a backup.
	NewOperation(j migration.Journal) Operation
	ResumeOperation(found migration.Found) (Operation, error)
	// Backups are the operations kept on this machine, the latest first.
	Backups(ctx context.Context) ([]kube.Backup, error)
	// History is what operations did to a volume or a claim, as the backups on
	// this machine tell it, the oldest first. What could be read comes with the
	// error for what could not.
	History(ctx context.Context, ref actions.Ref) ([]kube.Record, error)
	// SaveReport keeps a report in the folder of an operation, Report reads it;
	// empty when there is none.
	SaveReport(ctx context.Context, folder, text string) error
	Report(ctx context.Context, folder string) (string, error)
}

// Operation is one operation while it is carried out. *kube.Operation is
// behind it in the program.
type Operation interface {
	// Look takes a fresh look at how far it has come, and what is next.
	Look(ctx context.Context, snap *kube.Snapshot) (kube.Standing, error)
	// Rehearse dry-runs all steps that are not done. With an error, some of
	// the previews are empty.
	Rehearse(ctx context.Context, at kube.Standing) ([]kube.StepPreview, error)
	// Preview dry-runs one step, and Do carries out what was previewed.
	Preview(ctx context.Context, step migration.Step) (kube.StepPreview, error)
	Do(ctx context.Context, snap *kube.Snapshot, p kube.StepPreview) (kube.Performed, error)
	// TakeOver and Turn are the steps by which this program takes the
	// operation over, and by which it walks the other way.
	TakeOver(at kube.Standing) migration.Step
	Turn(at kube.Standing, to migration.Direction) migration.Step
	// Leave is the step after which it goes on without a workload of
	// Standing.Leavable; false when the workload is none of those.
	Leave(at kube.Standing, ref actions.Ref) (migration.Step, bool)
	// Resume lets it do once more what was changed back, now that the user has
	// seen why it halted.
	Resume()
	// Part is this program's part in it, Folder that of its backup; empty until
	// there is one.
	Part() migration.Run
	Folder() string
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
	// Tracker finds the risks, by the user's own rules; nil for those that hold
	// for all.
	Tracker *explain.Tracker
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

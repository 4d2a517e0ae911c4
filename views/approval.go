package views

import (
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// question is what a step page wants to know of the cluster.
type question struct {
	req     actions.Request
	undoing bool
	// steps are those planned before, once one of them has been sent, or
	// those of an undo. Without them the plan's own are meant.
	steps []actions.Step
}

// finding is what a fresh look shows.
type finding struct {
	// plan is made from how things are now; of an undo it has the checks of
	// the next step.
	plan actions.Plan
	next actions.Move
	// step is the next step as it would be planned now, when that may differ
	// from the one planned before.
	step *actions.Step
	// adopt: the steps planned before no longer fit how things are, and the
	// fresh plan's take their place; next is one of those.
	adopt bool
	// volume is the fresh copy that all this was found from, world the rest.
	volume *corev1.PersistentVolume
	world  actions.World
}

// look reads everything afresh and finds what is next.
func (q question) look(ctx context.Context, cluster Cluster, snap *kube.Snapshot) (finding, error) {
	plan, world, err := cluster.Plan(ctx, q.req, snap)
	if err != nil {
		return finding{}, err
	}
	f := finding{plan: plan, volume: world.Volume, world: world}
	switch {
	case q.undoing:
		// What speaks against the request does not speak against taking it
		// back; the steps back carry their own conditions and checks.
		f.plan = actions.Plan{Request: q.req, Title: plan.Title}
		f.next = actions.Next(f.plan, q.steps, world)
		if f.next.Kind == actions.Act {
			f.plan.Checks = actions.UndoChecks(q.steps[f.next.Step], world)
		}
	case q.steps != nil:
		// Something was sent: how far it came is found from the steps that
		// were planned then, since a fresh plan finds nothing left to do, or
		// something in the way. What is left is done as planned now.
		f.next = actions.Next(actions.Plan{}, q.steps, world)
		switch fresh := actions.Next(plan, plan.Steps, world); {
		case f.next.Kind == actions.Act:
			f.step = sameStep(plan.Steps, q.steps[f.next.Step].ID)
		case f.next.Kind == actions.Halt && fresh.Kind == actions.Act:
			f.adopt, f.next = true, fresh
		}
	default:
		f.next = actions.Next(plan, plan.Steps, world)
	}
	return f, nil
}

func sameStep(steps []actions.Step, id string) *actions.Step {
	if i := slices.IndexFunc(steps, func(s actions.Step) bool { return s.ID == id }); i >= 0 {
		return &steps[i]
	}
	return nil
}

// approval is what the user said yes to: a step, the diff it makes, and what
// was said about it.
type approval struct {
	question
	plan    actions.Plan
	step    actions.Step
	preview kube.Preview
}

// holds says whether a fresh look shows the same as was approved.
func (a approval) holds(now finding) bool {
	if now.adopt || now.next.Kind != actions.Act || !slices.Equal(now.plan.Checks, a.plan.Checks) {
		return false
	}
	step := now.step
	switch {
	case step != nil:
	case a.steps != nil:
		step = &a.steps[now.next.Step]
	default:
		step = &now.plan.Steps[now.next.Step]
	}
	return reflect.DeepEqual(*step, a.step)
}

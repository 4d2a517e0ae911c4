package kube

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// notYet is why the server can't be asked about a step.
const notYet = "not before the steps before it"

// Rehearse previews every step of an outline that is not done, in order, as if
// those before it were written. For a wait, the preview is empty. What the
// server can't be asked yet, because a step before it makes the object or takes
// one out of the way, is worked out here, and marked as DryRunResult.Later. So
// is what needs not be done, which changes nothing.
//
// With an error, the previews are those of the steps that could be previewed;
// the others are empty but for their step.
func (c *Client) Rehearse(ctx context.Context, items []migration.Item) ([]StepPreview, error) {
	items = slices.DeleteFunc(slices.Clone(items), func(item migration.Item) bool { return item.State == migration.Done })
	previews := make([]StepPreview, len(items))
	errs := make([]error, len(items))
	var before []migration.Step
	crew := newCrew(ctx)
	for i, item := range items {
		step := item.Step
		if needless(item) {
			previews[i] = StepPreview{Step: step, Taken: time.Now(), DryRun: DryRunResult{Later: true, Reason: "it is so already"}}
			continue
		}
		assumed := slices.Clip(before)
		crew.ask(func(ctx context.Context) {
			previews[i], errs[i] = c.rehearse(ctx, assumed, step)
			previews[i].Step = step
		})
		before = append(before, step)
	}
	crew.wait()
	return previews, errors.Join(errs...)
}

// needless: there is nothing to write for a step, unless somebody interferes.
// Other patches may have to be taken back by then: the policy is what it was
// until the first step.
func needless(item migration.Item) bool {
	switch item.Act {
	case migration.Create, migration.Delete:
		return item.Met
	case migration.Patch, migration.Scale:
		return item.Met && item.Patch == nil
	default:
		return false
	}
}

func (c *Client) rehearse(ctx context.Context, before []migration.Step, step migration.Step) (StepPreview, error) {
	base, remade := remakes(before, step)
	if remade && step.Act != migration.Create && step.Act != migration.Await {
		return workedOut(step, base, before)
	}
	if len(before) > 0 && step.Target.UID == "" && step.Act != migration.Create && step.Act != migration.Await {
		// So it is with an operation that lost its note in the middle: what was
		// done before is seen to be done when its turn comes.
		return StepPreview{Step: step, Taken: time.Now(), DryRun: DryRunResult{Later: true, Reason: "what it is about is not there now"}}, nil
	}
	p, err := c.PreviewStep(ctx, before, step)
	switch {
	case step.Act == migration.Create && exceedsQuota(err) && deletesClaim(before, step.Target.Namespace):
		later := StepPreview{Step: step, Taken: time.Now()}
		later.DryRun = DryRunResult{Later: true, Reason: notYet + ": the quota still counts the claim that is to be deleted"}
		if later.After, err = later.manifest(); err != nil {
			return later, err
		}
		return later, later.compare()
	case step.Act == migration.Delete && apierrors.IsNotFound(err):
		return StepPreview{Step: step, Taken: time.Now(), DryRun: DryRunResult{Later: true, Reason: "it is gone already"}}, nil
	}
	return p, err
}

// remakes tells whether an earlier step deletes or creates the target of a
// later one; then the object that there is now says nothing of the one to come,
// which is the manifest returned, if there is one.
func remakes(before []migration.Step, step migration.Step) (made json.RawMessage, remade bool) {
	for _, earlier := range before {
		if !sameTarget(earlier.Target, step.Target) {
			continue
		}
		switch earlier.Act {
		case migration.Create:
			made, remade = earlier.Object, true
		case migration.Delete:
			made, remade = nil, true
		default:
		}
	}
	return made, remade
}

// workedOut is a step on an object that is still to be made.
func workedOut(step migration.Step, made json.RawMessage, before []migration.Step) (StepPreview, error) {
	p := StepPreview{Step: step, Taken: time.Now(), DryRun: DryRunResult{Later: true, Reason: notYet}}
	if made == nil {
		return p, nil
	}
	var err error
	p.Step.Object = made
	p.Before, err = p.manifest()
	p.Step.Object = nil
	if err != nil {
		return p, err
	}
	// Only what comes after the creation is done to the new object.
	last := 0
	for i, earlier := range before {
		if earlier.Act == migration.Create && sameTarget(earlier.Target, step.Target) {
			last = i + 1
		}
	}
	if _, err := assumeAll(&p, onTarget(before[last:], step)); err != nil {
		return p, err
	}
	if step.Act != migration.Delete {
		if p.After, err = mergedHere(p.Before, step.Patch); err != nil {
			return p, err
		}
	}
	return p, p.compare()
}

// assumeAll carries out patches on Before, and makes one patch of them and the
// step's own; nil for a step that is no patch.
func assumeAll(p *StepPreview, assumed []migration.Step) (json.RawMessage, error) {
	next := p.Step.Patch
	if next == nil {
		next = json.RawMessage(`{}`)
	}
	patches := make([]json.RawMessage, len(assumed))
	for i, s := range assumed {
		patches[i] = s.Patch
	}
	before, joined, err := assumePatches(p.Before, patches, next)
	if err != nil {
		return nil, err
	}
	p.Before = before
	return joined, nil
}

// onTarget leaves the patches of the target of a step. The scale subresource
// knows nothing of what is not about the scale.
func onTarget(steps []migration.Step, step migration.Step) []migration.Step {
	return slices.DeleteFunc(slices.Clone(steps), func(s migration.Step) bool {
		return !sameTarget(s.Target, step.Target) || step.Act == migration.Create ||
			s.Act != migration.Scale && (s.Act != migration.Patch || step.Act == migration.Scale)
	})
}

// sameTarget compares names: what is to be made has no uid yet.
func sameTarget(a, b actions.Ref) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

func deletesClaim(steps []migration.Step, namespace string) bool {
	return slices.ContainsFunc(steps, func(s migration.Step) bool {
		return s.Act == migration.Delete && s.Target.Kind == actions.ClaimKind && s.Target.Namespace == namespace
	})
}

// exceedsQuota recognises the refusal of the ResourceQuota admission, which has
// no reason code of its own (k8s.io/apiserver,
// pkg/admission/plugin/resourcequota/controller.go).
func exceedsQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ")
}

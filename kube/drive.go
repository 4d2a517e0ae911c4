package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// HaltError says that an operation can't go on by itself.
type HaltError struct {
	Move migration.Move
}

func (e *HaltError) Error() string {
	text := clean(e.Move.Reason)
	if e.Move.Remedy != "" {
		text += "; " + clean(e.Move.Remedy)
	}
	return text
}

// attempts is how often one step is begun anew after others came first.
const attempts = 5

// Drive goes on until the operation is finished, or halts with a *HaltError.
// Every step is previewed and given to approve, whose error ends it. When
// somebody else was faster, the step is previewed and approved again. While
// others have to act, it looks again from time to time until the context ends.
//
// The standing is the last that was seen.
func (o *Operation) Drive(ctx context.Context, snap *Snapshot, approve func(StepPreview) error) (Standing, error) {
	tried := make(map[string]int)
	var s Standing
	for {
		seen, err := o.Look(ctx, snap)
		if err != nil {
			return s, err
		}
		s = seen
		switch s.Move.Kind {
		case migration.Finished:
			return s, nil
		case migration.Halt:
			return s, &HaltError{Move: s.Move}
		case migration.WaitNow:
			if err := o.pause(ctx); err != nil {
				return s, fmt.Errorf("wait for %q: %w", s.Move.Step.Title, err)
			}
		case migration.ActNow:
			id := s.Move.Step.ID
			tried[id]++
			again, err := o.take(ctx, snap, s.Move.Step, approve)
			if err != nil && (!again || tried[id] >= attempts) {
				return s, err
			}
			if err == nil {
				continue
			}
			if err := o.pause(ctx); err != nil {
				return s, err
			}
		}
	}
}

// take previews, approves and does one step. Again: its error only says that
// another look is needed.
func (o *Operation) take(ctx context.Context, snap *Snapshot, step migration.Step, approve func(StepPreview) error) (again bool, err error) {
	p, err := o.Preview(ctx, step)
	if err != nil {
		return overtaken(err), err
	}
	if err := approve(p); err != nil {
		return false, err
	}
	_, err = o.Do(ctx, snap, p)
	return overtaken(err), err
}

// overtaken tells whether an error only says that the world is not as it was
// when the step was chosen, so that another look is all it takes.
func overtaken(err error) bool {
	switch KindOf(err) {
	case KindConflict, KindGuard, KindReplaced, KindNotFound, KindNotApplied:
		return true
	default:
		return false
	}
}

// pause waits between two looks.
func (o *Operation) pause(ctx context.Context) error {
	timer := time.NewTimer(o.client.timing.Poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// OperationPlan is an operation as it is planned.
type OperationPlan struct {
	// Journal has an ID. When a check blocks, it is not to be used, and there
	// is no Outline.
	Journal migration.Journal
	Checks  []actions.Check
	Outline []migration.Item
	// Operators are the owners that the user has to take responsibility for, or
	// has done so already, as Request.Operators names them.
	Operators []string
}

// PlanOperation plans an operation on fresh objects.
func (c *Client) PlanOperation(ctx context.Context, req migration.Request, snap *Snapshot, who string) (OperationPlan, error) {
	scene, err := c.Survey(ctx, Subject{Request: &req}, snap)
	if err != nil {
		return OperationPlan{}, err
	}
	operators := migration.OperatorsOf(req, scene)
	j, checks := migration.Draft(req, scene)
	if blocked(checks) {
		return OperationPlan{Journal: j, Checks: checks, Operators: operators}, nil
	}
	id, started := randomHex(idBytes), time.Now().UTC().Truncate(time.Second)
	sign := func(j migration.Journal) migration.Journal {
		j.ID, j.Started, j.By = id, started, who
		return j
	}
	run := migration.Run{Holder: migration.Holder{Who: who, Since: started}}
	j = sign(j)
	outline := migration.Outline(j, run, scene)
	scene.Denied = c.Denied(ctx, outline)
	scene.Trials = c.Trials(ctx, j)
	if scene.Unknown, err = c.unknown(ctx, j); err != nil {
		return OperationPlan{}, err
	}
	j, checks = migration.Draft(req, scene)
	plan := OperationPlan{Journal: j, Checks: checks, Operators: operators}
	if !blocked(checks) {
		plan.Journal = sign(j)
		plan.Outline = migration.Outline(plan.Journal, run, scene)
	}
	return plan, nil
}

func blocked(checks []actions.Check) bool {
	for _, c := range checks {
		if c.Severity == actions.Block {
			return true
		}
	}
	return false
}

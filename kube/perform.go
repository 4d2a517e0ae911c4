package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// Performed is a step that has taken effect.
type Performed struct {
	Step            migration.Step
	UID             types.UID
	ResourceVersion string
	// Object is the target as it was stored; nil for one that was deleted.
	Object *unstructured.Unstructured
	// Recovered: the answer was lost, and the effect was seen afterwards.
	Recovered bool
	// Unexpected says in what the outcome differs from the preview, which is
	// the work of something that treats a dry run differently. It is empty if
	// it does not, or can't be told.
	Unexpected string
	// Unrecorded says why the history lacks the step, if it does.
	Unrecorded string
}

// Perform sends the request that was previewed, for real, on the condition that
// the object is still the version that the preview was made from. Otherwise
// the error is of KindConflict, and the caller makes a new preview.
//
// It never repeats a request. When the answer is lost, it looks: the error is
// ErrNotApplied or ErrOutcomeUnknown when the effect is not to be seen.
//
// Look is a last look before the request: an error of it stops the request,
// and is returned as it is. It may be nil.
func (c *Client) Perform(ctx context.Context, p StepPreview, look func(context.Context) error) (Performed, error) {
	return c.performThen(ctx, p, look, func(*Performed, error) error { return nil })
}

// performThen performs a step, and tells what became of it before the act counts
// as ended: whoever quits meanwhile waits for that, too (see Drain). An error of
// tell is for them, as nobody else may be there any more to hear of it.
func (c *Client) performThen(
	ctx context.Context, p StepPreview, look func(context.Context) error, tell func(*Performed, error) error,
) (Performed, error) {
	act := fmt.Sprintf("carry out %s on %s", p.Step.ID, nameOf(p.Step.Target))
	err := c.performable(p)
	if err != nil {
		return Performed{}, fmt.Errorf("%s: %w", act, err)
	}
	end := c.writes.begin()
	done, err := c.perform(ctx, p, look)
	if err != nil {
		err = fmt.Errorf("%s: %w", act, err)
	}
	if untold := tell(&done, err); err == nil && untold != nil {
		end(fmt.Errorf("%s: this was done, but is not recorded: %w", act, untold))
	} else {
		end(err)
	}
	return done, err
}

// performable refuses what must not be sent, whoever approved it.
func (c *Client) performable(p StepPreview) error {
	switch {
	case c.readOnly:
		return ErrReadOnly
	case c.dryRun:
		return ErrDryRunOnly
	case p.Taken.IsZero():
		return &GuardError{Reason: "it was not previewed"}
	}
	if err := takes(p.Step); err != nil {
		return err
	}
	switch {
	case p.assumed || p.DryRun.Later:
		return &GuardError{Reason: "it was only rehearsed; it has to be previewed when its turn has come"}
	case p.Step.Act == migration.Await:
		return &GuardError{Reason: "there is nothing to send while others have to act"}
	case p.Temporary != "":
		return &GuardError{Reason: nameOf(p.Step.Target) + " is still there: it can't be created before it is gone"}
	case (p.Step.Act == migration.Create) != (p.Before == nil):
		return &GuardError{Reason: "its preview is not complete"}
	}
	return exposes(p)
}

// exposes refuses to put Delete on a volume that no claim holds: that would
// destroy the data at once. The request is bound to the version that says so.
func exposes(p StepPreview) error {
	if p.Step.Act != migration.Patch || p.Step.Target.Kind != actions.VolumeKind {
		return nil
	}
	policy := func(o *object) string {
		text, _, _ := unstructured.NestedString(o.Object, "spec", "persistentVolumeReclaimPolicy")
		return text
	}
	phase, _, _ := unstructured.NestedString(p.Before.Object, "status", "phase")
	uid, _, _ := unstructured.NestedString(p.Before.Object, "spec", "claimRef", "uid")
	// The answer of the dry run counts, and not the patch: a webhook may have
	// put it there.
	after := policy(p.After)
	if after == policy(p.Before) || after == string(corev1.PersistentVolumeReclaimRetain) || (phase == string(corev1.VolumeBound) && uid != "") {
		return nil
	}
	return &GuardError{Reason: clean(fmt.Sprintf("volume %s is not Bound: with policy %s, its data would be destroyed", p.Step.Target.Name, after))}
}

// looksOld is how many times the bound of one request a last look may be old
// when the request is sent. A machine that was asleep in between does not know
// it by its timers: meanwhile somebody else may have taken the operation over,
// and given the volume its policy back.
const looksOld = 3

func (c *Client) perform(ctx context.Context, p StepPreview, look func(context.Context) error) (Performed, error) {
	// By the clock on the wall: the other one stands still in sleep.
	began := time.Now().Round(0)
	if look != nil {
		if err := look(ctx); err != nil {
			return Performed{}, err
		}
	}
	if c.writes.closed() {
		return Performed{}, ErrNotSent
	}
	if age := time.Now().Round(0).Sub(began); look != nil && (age < 0 || age > looksOld*c.timing.Request) {
		return Performed{}, &GuardError{Reason: "the last look took too long, as when the machine was asleep; look again"}
	}
	w, err := p.request(nil)
	if err != nil {
		return Performed{}, err
	}
	bounded, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	sent := time.Now()
	body, err := c.send(bounded, w, false)
	done := Performed{Step: p.Step, UID: p.Step.Target.UID}
	if err == nil && p.Step.Act == migration.Delete {
		// Some kinds are answered with the object, others with a Status.
		return done, nil
	}
	if err == nil {
		done.Object, err = p.result(body)
	}
	switch {
	case err == nil:
		done.Unexpected = p.unexpected(done.Object)
	case !answerLost(err):
		return Performed{}, err
	default:
		done.Recovered = true
		if done.Object, err = c.recover(ctx, p, err, sent.Add(c.serverTimeout())); err != nil {
			return Performed{}, err
		}
	}
	if done.Object != nil {
		done.UID, done.ResourceVersion = done.Object.GetUID(), done.Object.GetResourceVersion()
	}
	return done, nil
}

// shownPaths is how many paths a sentence names.
const shownPaths = 5

// unexpected says in what the object that was stored differs from the one that
// was shown.
func (p *StepPreview) unexpected(got *object) string {
	how := differing
	if p.Step.Act == migration.Create && !p.DryRun.Supported {
		// What was shown lacks the defaults.
		how = lacking
	}
	paths := parted(p.After, got, how)
	// An object goes with its owners. Controllers that make themselves the owner
	// of what they find there do so later, in requests of their own.
	paths = append(paths, differing("metadata.ownerReferences", listIn(p.After, "ownerReferences"), listIn(got, "ownerReferences"))...)
	if len(paths) == 0 {
		return ""
	}
	text := strings.Join(paths[:min(shownPaths, len(paths))], ", ")
	if more := len(paths) - shownPaths; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return nameOf(p.Step.Target) + " was stored otherwise than was shown, in " + text
}

// recover finds out whether a request took effect whose answer was lost, and
// reads the object then.
func (c *Client) recover(ctx context.Context, p StepPreview, cause error, givenUp time.Time) (*object, error) {
	var found *object
	name := nameOf(p.Step.Target)
	err := c.lookBack(ctx, name, cause, givenUp, func(ctx context.Context) finding {
		got, err := c.get(ctx, p.Step.Target)
		gone := apierrors.IsNotFound(err)
		if err != nil && !gone {
			return finding{}
		}
		found = got
		switch p.Step.Act {
		case migration.Create:
			return p.wasCreated(got, name)
		case migration.Delete:
			return p.wasDeleted(got, name)
		default:
			return p.wasPatched(got, name)
		}
	})
	if p.Step.Act == migration.Delete {
		found = nil
	}
	return found, err
}

// wasCreated judges the object of a name that was free at the preview, nil if
// it still is.
func (p *StepPreview) wasCreated(got *object, name string) finding {
	switch {
	case got == nil:
		return finding{asBefore, name + " was not created"}
	case got.GetDeletionTimestamp() != nil:
		return finding{hopeless, name + " is there, and is being deleted"}
	}
	// The controllers may have added to its metadata since.
	paths := parted(p.After, got, lacking)
	if p.DryRun.Supported {
		paths = append(paths, differing("spec", p.After.Object["spec"], got.Object["spec"])...)
	}
	if len(paths) == 0 {
		return finding{sight: applied}
	}
	return finding{hopeless, name + " is there, but is not the one that was to be created (look at " + paths[0] + "): somebody else may have made it"}
}

// wasDeleted judges the object of a name, nil for none.
func (p *StepPreview) wasDeleted(got *object, name string) finding {
	switch {
	case got == nil, got.GetUID() != p.Step.Target.UID:
		// That one is gone.
		return finding{sight: applied}
	case got.GetResourceVersion() == p.ResourceVersion:
		return finding{asBefore, name + " was not deleted: it is as it was"}
	case got.GetDeletionTimestamp() != nil:
		return finding{sight: applied}
	}
	// The request was for another version, so it can't take effect any more;
	// and a deletion is never taken back.
	return finding{refused, name + " was not deleted: it has been changed meanwhile"}
}

// wasPatched judges the object of a name, nil for none.
func (p *StepPreview) wasPatched(got *object, name string) finding {
	switch {
	case got == nil:
		return finding{hopeless, name + " is gone since"}
	case got.GetUID() != p.Step.Target.UID:
		return finding{hopeless, name + " has been replaced since"}
	case got.GetResourceVersion() == p.ResourceVersion:
		return finding{asBefore, "the change was not applied: " + name + " is as it was"}
	}
	var patch any
	if err := json.Unmarshal(p.Step.Patch, &patch); err != nil {
		return finding{hopeless, name + " has changed since"}
	}
	if paths := unpatched("", patch, p.After.Object, got.Object); len(paths) > 0 {
		return finding{strange, name + " has changed since, but not as expected: look at " + strings.Join(paths, ", ")}
	}
	return finding{sight: applied}
}

// unpatched lists the paths that a patch is about and at which an object is not
// as it was expected to be.
func unpatched(path string, patch, expected, got any) []string {
	changes, ok := patch.(map[string]any)
	if !ok {
		return differing(path, expected, got)
	}
	as, _ := expected.(map[string]any)
	is, _ := got.(map[string]any)
	var paths []string
	for key, change := range changes {
		paths = append(paths, unpatched(strings.TrimPrefix(deeper(path, key), "."), change, as[key], is[key])...)
	}
	slices.Sort(paths)
	return paths
}

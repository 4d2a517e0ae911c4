package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// StepPreview is a step of an operation as the server would carry it out now.
type StepPreview struct {
	Step migration.Step
	// Before is the fresh object, nil for one to be created, and After what
	// the server would make of it, nil for one to be deleted. For a scaling,
	// both are the workload.
	Before, After *unstructured.Unstructured
	// ResourceVersion is the version of Before, to which Perform is bound.
	ResourceVersion string
	// Temporary is the name under which a creation was tried, since its own is
	// still taken. After has its own all the same.
	Temporary string
	// Diff is a unified diff of both as YAML, without bookkeeping fields. It
	// is empty when the step would change nothing, or only waits.
	Diff   string
	DryRun DryRunResult
	Taken  time.Time

	// assumed: it was made as if other steps were written already.
	assumed bool
}

// PreviewStep carries a step out as a dry run on a fresh copy of its target. It
// returns ErrReplaced when the target is no longer the same object, and a
// *GuardError for a step that this program does not take.
//
// The assumed steps are taken as written before: the dry run of a patch asks
// for all of it at once, and the diff shows what this step adds. What was
// previewed on assumptions can't be performed.
func (c *Client) PreviewStep(ctx context.Context, assumed []migration.Step, step migration.Step) (StepPreview, error) {
	if c.readOnly {
		return StepPreview{}, fmt.Errorf("preview %s: %w", step.ID, ErrReadOnly)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	p, err := c.previewStep(ctx, assumed, step)
	if err != nil {
		return StepPreview{}, fmt.Errorf("preview %s of %s: %w", step.ID, nameOf(step.Target), err)
	}
	return p, nil
}

func (c *Client) previewStep(ctx context.Context, assumed []migration.Step, step migration.Step) (StepPreview, error) {
	p := StepPreview{Step: step, Taken: time.Now()}
	if step.Act == migration.Await {
		return p, nil
	}
	if err := takes(step); err != nil {
		return p, err
	}
	assumed = onTarget(assumed, step)
	p.assumed = len(assumed) > 0
	var err error
	switch step.Act {
	case migration.Create:
		err = c.previewCreate(ctx, &p)
	case migration.Delete:
		err = c.previewDelete(ctx, &p, assumed)
	default:
		err = c.previewPatch(ctx, &p, assumed)
	}
	if err != nil {
		return p, err
	}
	return p, p.compare()
}

// takes refuses the steps that no operation has any business with, however
// they came about.
func takes(step migration.Step) error {
	kind := step.Target.Kind
	known := false
	switch step.Act {
	case migration.Patch:
		known = kind == actions.VolumeKind || kind == migration.StatefulSetKind || kind == migration.DeploymentKind || kind == migration.CronJobKind
	case migration.Scale:
		known = kind == migration.StatefulSetKind || kind == migration.DeploymentKind || kind == migration.ReplicaSetKind
	case migration.Create:
		known = kind == actions.ClaimKind || kind == migration.StatefulSetKind
	case migration.Delete:
		known = kind == actions.ClaimKind || kind == migration.PodKind || kind == migration.StatefulSetKind
		if kind == migration.StatefulSetKind && !step.Orphan {
			return &GuardError{Reason: "a StatefulSet is deleted only if its pods and claims stay"}
		}
	case migration.Await:
	}
	switch {
	case !known:
		return &GuardError{Reason: clean(fmt.Sprintf("to %s a %s is not among the steps of an operation", step.Act, kind))}
	case step.Act != migration.Create && step.Target.UID == "":
		return &GuardError{Reason: clean(fmt.Sprintf("the step does not say by uid which %s it is about", nameOf(step.Target)))}
	}
	return nil
}

// current reads the target of a step afresh, and makes sure that it is the one
// that was looked at.
func (c *Client) current(ctx context.Context, p *StepPreview) error {
	before, err := c.get(ctx, p.Step.Target)
	if err != nil {
		return err
	}
	if before.GetUID() != p.Step.Target.UID {
		return ErrReplaced
	}
	p.Before, p.ResourceVersion = before, before.GetResourceVersion()
	return nil
}

func (c *Client) previewPatch(ctx context.Context, p *StepPreview, assumed []migration.Step) error {
	if err := c.current(ctx, p); err != nil {
		return err
	}
	joined, err := assumeAll(p, assumed)
	if err != nil {
		return err
	}
	w, err := p.request(joined)
	if err != nil {
		return err
	}
	body, err := c.send(ctx, w, true)
	if p.unsupported(err) {
		p.After, err = mergedHere(p.Before, p.Step.Patch)
		return err
	}
	if err != nil {
		return err
	}
	p.DryRun.Supported = true
	p.After, err = p.result(body)
	return err
}

func (c *Client) previewDelete(ctx context.Context, p *StepPreview, assumed []migration.Step) error {
	if err := c.current(ctx, p); err != nil {
		return err
	}
	if _, err := assumeAll(p, assumed); err != nil {
		return err
	}
	w, err := p.request(nil)
	if err != nil {
		return err
	}
	_, err = c.send(ctx, w, true)
	if p.unsupported(err) {
		return nil
	}
	p.DryRun.Supported = err == nil
	return err
}

func (c *Client) previewCreate(ctx context.Context, p *StepPreview) error {
	made, err := p.manifest()
	if err != nil {
		return err
	}
	// The name may be taken, which is no trouble before its time.
	_, err = c.get(ctx, p.Step.Target)
	switch {
	case err == nil:
		p.Temporary = trialName()
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
	default:
		return err
	}
	after, err := c.tryCreate(ctx, made, p.Temporary)
	if apierrors.IsAlreadyExists(err) && p.Temporary == "" {
		p.Temporary = trialName()
		after, err = c.tryCreate(ctx, made, p.Temporary)
	}
	if p.unsupported(err) {
		p.After = made
		return nil
	}
	if err != nil {
		return err
	}
	p.DryRun.Supported = true
	p.After = after
	return nil
}

// unsupported notes that a webhook can't take part in a dry run, if that is
// what the error says.
func (p *StepPreview) unsupported(err error) bool {
	if err == nil || !refusesDryRun(err) {
		return false
	}
	p.DryRun.Reason = clean(cause(err))
	return true
}

// trialName is a name that nobody has.
func trialName() string {
	return "claimref-trial-" + strconv.FormatUint(uint64(rand.Uint32()), 36) //nolint:gosec // it need not be hard to guess
}

// tryCreate creates an object by dry run, under a temporary name if there is
// one, and returns what would be stored, as it would be under its own.
func (c *Client) tryCreate(ctx context.Context, made *object, temporary string) (*object, error) {
	tried := made
	if temporary != "" {
		tried = made.DeepCopy()
		tried.SetName(temporary)
	}
	body, err := json.Marshal(tried.Object)
	if err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	kind := actions.Kind(made.GetKind())
	answer, err := c.send(ctx, write{act: migration.Create, kind: kind, namespace: made.GetNamespace(), body: body}, true)
	if err != nil {
		return nil, err
	}
	r, err := apiKindOf(kind)
	if err != nil {
		return nil, err
	}
	after, err := decode(answer, r)
	if err != nil {
		return nil, err
	}
	after.SetName(made.GetName())
	return after, nil
}

// manifest reads the object that a step creates.
func (p *StepPreview) manifest() (*object, error) {
	r, err := apiKindOf(p.Step.Target.Kind)
	if err != nil {
		return nil, err
	}
	o := &object{}
	if err := utiljson.Unmarshal(p.Step.Object, &o.Object); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	if o.GetName() != p.Step.Target.Name || o.GetNamespace() != p.Step.Target.Namespace || o.GetName() == "" || o.GetNamespace() == "" {
		return nil, &GuardError{Reason: "the manifest is of another object than the step: " + clean(objectKey(o.GetNamespace(), o.GetName()))}
	}
	o.SetGroupVersionKind(r.gvk)
	// A claim's status is the controller's alone.
	unstructured.RemoveNestedField(o.Object, "status")
	return o, nil
}

// request is the one request of a step, with all that binds it to the object
// that was read. The body of a patch may be another than the step's own.
func (p *StepPreview) request(patch json.RawMessage) (write, error) {
	target := p.Step.Target
	w := write{act: p.Step.Act, kind: target.Kind, namespace: target.Namespace, name: target.Name}
	var err error
	switch p.Step.Act {
	case migration.Patch, migration.Scale:
		if patch == nil {
			patch = p.Step.Patch
		}
		w.body, err = guarded(patch, target.UID, p.ResourceVersion)
	case migration.Create:
		var made *object
		if made, err = p.manifest(); err == nil {
			w.body, err = json.Marshal(made.Object)
		}
	case migration.Delete:
		w.options = &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &target.UID, ResourceVersion: &p.ResourceVersion}}
		if p.Step.Orphan {
			w.options.PropagationPolicy = new(metav1.DeletePropagationOrphan)
		}
	default:
		err = fmt.Errorf("%s is no request", p.Step.Act)
	}
	return w, err
}

// result is the target as an answer says it is now.
func (p *StepPreview) result(body []byte) (*object, error) {
	r, err := apiKindOf(p.Step.Target.Kind)
	if err != nil {
		return nil, err
	}
	if p.Step.Act != migration.Scale {
		return decode(body, r)
	}
	var scale struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Spec struct {
			// The server leaves out a zero.
			Replicas int64 `json:"replicas"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(body, &scale); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	after := p.Before.DeepCopy()
	after.SetResourceVersion(scale.Metadata.ResourceVersion)
	return after, unstructured.SetNestedField(after.Object, scale.Spec.Replicas, "spec", "replicas")
}

// compare makes the diff.
func (p *StepPreview) compare() error {
	before, after := p.Before, p.After
	if before != nil {
		before = plain(before)
	}
	if after != nil {
		after = plain(after)
		if p.Step.Act == migration.Create {
			unstructured.RemoveNestedField(after.Object, "status")
		}
	}
	var err error
	p.Diff, err = difference(before, after)
	return err
}

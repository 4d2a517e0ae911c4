package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// Preview is a step as the server would carry it out now.
type Preview struct {
	Step actions.Step
	// Before is the fresh object, After what the server would make of it.
	Before *corev1.PersistentVolume
	After  *corev1.PersistentVolume
	// ResourceVersion is the version of Before, to which Apply is bound.
	ResourceVersion string
	// Diff is a unified diff of both as YAML, without bookkeeping fields. It
	// is empty when the step would change nothing.
	Diff   string
	DryRun DryRunResult
	Taken  time.Time
}

// DryRunResult says whether the server took part in the preview.
type DryRunResult struct {
	// Supported: After is the server's own answer. Otherwise it was computed
	// here and has passed no admission.
	Supported bool
	// Reason is the server's, and names the webhook.
	Reason string
	// Later: the server could not be asked yet, since other steps come first.
	Later bool
}

// Preview carries a step out as a dry run on a fresh copy of its target. It
// returns ErrReplaced when the target is no longer the same object, and a
// *GuardError when it is not in the state that the step needs.
//
// In dry-run mode the steps before it in done have not really been written.
// They are taken as written then: the dry run asks for all of it at once, and
// the diff shows what this step adds.
func (c *Client) Preview(ctx context.Context, done []actions.Step, step actions.Step) (Preview, error) {
	if c.readOnly {
		return Preview{}, fmt.Errorf("preview %s: %w", step.ID, ErrReadOnly)
	}
	if step.Target.Kind != actions.VolumeKind {
		return Preview{}, fmt.Errorf("preview %s: a step on a %s is not known here", step.ID, step.Target.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	p, err := c.preview(ctx, done, step)
	if err != nil {
		return Preview{}, fmt.Errorf("preview %s of volume %s: %w", step.ID, step.Target.Name, err)
	}
	return p, nil
}

func (c *Client) preview(ctx context.Context, done []actions.Step, step actions.Step) (Preview, error) {
	before, err := c.volume(ctx, step.Target.Name)
	if err != nil {
		return Preview{}, err
	}
	if before.UID != step.Target.UID {
		return Preview{}, ErrReplaced
	}
	body := step.Patch
	if c.dryRun {
		if before, body, err = assume(before, done, step); err != nil {
			return Preview{}, err
		}
	}
	if reason := step.Before.Mismatch(before); reason != "" {
		return Preview{}, &GuardError{Reason: clean(reason)}
	}
	p := Preview{Step: step, Before: before, ResourceVersion: before.ResourceVersion, Taken: time.Now()}
	p.After, err = c.patch(ctx, p, body, true)
	switch {
	case err == nil:
		p.DryRun.Supported = true
	case refusesDryRun(err):
		p.DryRun.Reason = clean(cause(err))
		p.After, err = mergedHere(before, step.Patch)
	}
	if err != nil {
		return Preview{}, err
	}
	p.Diff, err = diff(p.Before, p.After)
	return p, err
}

// assume carries out steps on a copy of the volume, and makes one patch of
// them and the next.
func assume(pv *corev1.PersistentVolume, done []actions.Step, step actions.Step) (*corev1.PersistentVolume, json.RawMessage, error) {
	var patches []json.RawMessage
	for _, s := range done {
		if s.Target == step.Target {
			patches = append(patches, s.Patch)
		}
	}
	return assumePatches(pv, patches, step.Patch)
}

// assumePatches applies patches to a copy of an object, and makes one patch of
// them and the next.
func assumePatches[T any](o *T, patches []json.RawMessage, next json.RawMessage) (*T, json.RawMessage, error) {
	var all any
	for _, p := range append(slices.Clone(patches), next) {
		var patch any
		if err := json.Unmarshal(p, &patch); err != nil {
			return nil, nil, fmt.Errorf("read a patch: %w", err)
		}
		all = joinPatches(all, patch)
	}
	for _, p := range patches {
		var err error
		if o, err = mergedHere(o, p); err != nil {
			return nil, nil, err
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, nil, fmt.Errorf("join the patches: %w", err)
	}
	return o, body, nil
}

// joinPatches makes one merge patch of two that follow each other. Other than
// in mergeJSON, a null is kept: it has yet to remove something.
func joinPatches(first, second any) any {
	a, ok := first.(map[string]any)
	b, also := second.(map[string]any)
	if !ok || !also {
		return second
	}
	joined := maps.Clone(a)
	for key, value := range b {
		if old, ok := joined[key]; ok {
			value = joinPatches(old, value)
		}
		joined[key] = value
	}
	return joined
}

// patch sends a step's one request.
func (c *Client) patch(ctx context.Context, p Preview, patch json.RawMessage, dryRun bool) (*corev1.PersistentVolume, error) {
	body, err := guarded(patch, p.Step.Target.UID, p.ResourceVersion)
	if err != nil {
		return nil, err
	}
	data, err := c.send(ctx, write{act: migration.Patch, kind: actions.VolumeKind, name: p.Step.Target.Name, body: body}, dryRun)
	if err != nil {
		return nil, err
	}
	pv := &corev1.PersistentVolume{}
	if err := json.Unmarshal(data, pv); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return pv, nil
}

// guarded adds the preconditions to a merge patch.
func guarded(patch json.RawMessage, uid types.UID, version string) ([]byte, error) {
	var body map[string]any
	if err := json.Unmarshal(patch, &body); err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	if version == "" {
		return nil, errors.New("the object has no resourceVersion to guard the patch with")
	}
	meta, ok := body["metadata"].(map[string]any)
	if !ok {
		if body["metadata"] != nil {
			return nil, errors.New("the patch's metadata is not an object")
		}
		meta = make(map[string]any)
	}
	meta["resourceVersion"] = version
	meta["uid"] = string(uid)
	if body == nil {
		body = make(map[string]any)
	}
	body["metadata"] = meta
	return json.Marshal(body)
}

// mergedHere applies a merge patch without the server.
func mergedHere[T any](o *T, patch json.RawMessage) (*T, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("write the object: %w", err)
	}
	var target, change any
	if err := json.Unmarshal(text, &target); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	if err := json.Unmarshal(patch, &change); err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	merged, err := json.Marshal(mergeJSON(target, change))
	if err != nil {
		return nil, fmt.Errorf("write the patched object: %w", err)
	}
	after := new(T)
	if err := json.Unmarshal(merged, after); err != nil {
		return nil, fmt.Errorf("read the patched object: %w", err)
	}
	return after, nil
}

// mergeJSON is RFC 7386, the whole of it.
func mergeJSON(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = make(map[string]any)
	}
	for key, value := range changes {
		if value == nil {
			delete(object, key)
		} else {
			object[key] = mergeJSON(object[key], value)
		}
	}
	return object
}

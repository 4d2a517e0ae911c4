package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Applied is a step that has taken effect.
type Applied struct {
	ResourceVersion string
	Object          *corev1.PersistentVolume
	// Recovered: the answer was lost, and the effect was seen afterwards.
	Recovered bool
}

// Apply sends the request that was previewed, for real, on the condition that
// the object is still the version that the preview was made from. Otherwise
// the error is of KindConflict, and the caller makes a new preview.
//
// It never repeats a request. When the answer is lost, it looks: the error is
// ErrNotApplied or ErrOutcomeUnknown when the effect is not to be seen.
//
// Look is a last look before the request: an error of it stops the request,
// and is returned as it is. It may be nil.
func (c *Client) Apply(ctx context.Context, p Preview, look func(context.Context) error) (Applied, error) {
	act := fmt.Sprintf("apply %s to volume %s", p.Step.ID, p.Step.Target.Name)
	switch {
	case c.readOnly:
		return Applied{}, fmt.Errorf("%s: %w", act, ErrReadOnly)
	case c.dryRun:
		return Applied{}, fmt.Errorf("%s: %w", act, ErrDryRunOnly)
	case p.Before == nil:
		return Applied{}, fmt.Errorf("%s: it was not previewed", act)
	}
	end := c.writes.begin()
	applied, err := c.apply(ctx, p, look)
	if err != nil {
		err = fmt.Errorf("%s: %w", act, err)
	}
	end(err)
	return applied, err
}

func (c *Client) apply(ctx context.Context, p Preview, look func(context.Context) error) (Applied, error) {
	if look != nil {
		if err := look(ctx); err != nil {
			return Applied{}, err
		}
	}
	if c.writes.closed() {
		return Applied{}, ErrNotSent
	}
	bounded, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	sent := time.Now()
	pv, err := c.patch(bounded, p, p.Step.Patch, false)
	switch {
	case err == nil:
		return Applied{ResourceVersion: pv.ResourceVersion, Object: pv}, nil
	case !answerLost(err):
		return Applied{}, err
	}
	return c.readBack(ctx, p, err, sent.Add(c.serverTimeout()))
}

// answerLost tells whether a request may have taken effect in spite of the
// error. It may not if it never left, or if the server itself refused it.
func answerLost(err error) bool {
	if _, own := ownKind(err); own || isDialError(err) {
		return false
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		code := statusCode(err)
		return code < 400 || code >= 500 || code == http.StatusRequestTimeout
	}
	// A credential plugin, or the server's certificate, is looked at before
	// anything is sent.
	kind := KindOf(err)
	return kind != KindUnauthorized && kind != KindUntrusted
}

// readBack finds out whether a request took effect whose answer was lost.
func (c *Client) readBack(ctx context.Context, p Preview, cause error, givenUp time.Time) (Applied, error) {
	var got *corev1.PersistentVolume
	name := "volume " + p.Step.Target.Name
	err := c.lookBack(ctx, name, cause, givenUp, func(ctx context.Context) finding {
		pv, err := c.volume(ctx, p.Step.Target.Name)
		switch {
		case KindOf(err) == KindNotFound:
			return finding{hopeless, name + " is gone since"}
		case err != nil:
			return finding{}
		case pv.UID != p.Step.Target.UID:
			return finding{hopeless, name + " has been replaced since"}
		case pv.ResourceVersion == p.ResourceVersion:
			return finding{asBefore, "the change was not applied: " + name + " is as it was"}
		case tookEffect(p, pv):
			got = pv
			return finding{sight: applied}
		}
		return finding{strange, name + " has changed since, but not as expected: " + p.Step.After.Mismatch(pv)}
	})
	if err != nil {
		return Applied{}, err
	}
	return Applied{ResourceVersion: got.ResourceVersion, Object: got, Recovered: true}, nil
}

// tookEffect tells whether a later version of the object bears the change:
// either it is as the step wants it, or it still has all that the preview
// showed, and only the controller has yet to follow.
func tookEffect(p Preview, pv *corev1.PersistentVolume) bool {
	if p.Step.After.Mismatch(pv) == "" {
		return true
	}
	return p.After != nil && apiequality.Semantic.DeepEqual(p.After.Spec, pv.Spec) &&
		maps.Equal(p.After.Annotations, pv.Annotations)
}

// Seen tells whether a snapshot shows the effect of a step, or something
// later. Only then may what it says about the volume be relied on.
func Seen(snap *Snapshot, applied Applied) bool {
	if applied.Object == nil {
		return false
	}
	v := snap.Volume(applied.Object.Name)
	switch {
	case v == nil:
		// It was there to be changed, so its absence is the later news.
		return snap.Known(PersistentVolumes, "")
	case v.Object.UID != applied.Object.UID:
		return true
	}
	order, err := resourceversion.CompareResourceVersion(v.Object.ResourceVersion, applied.ResourceVersion)
	if err != nil {
		// Versions that are not numbers have no order.
		return v.Object.ResourceVersion == applied.ResourceVersion
	}
	return order >= 0
}

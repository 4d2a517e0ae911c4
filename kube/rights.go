package kube

import (
	"context"
	"errors"
	"fmt"
	"maps"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// askedRights are the rights that the guided operations need.
func askedRights() []Right {
	return []Right{{Verb: "patch", Resource: PersistentVolumes}}
}

// watchRights asks what the user may do: at once, and every few minutes. An
// answer that did not come is asked for again soon.
func (f *Feed) watchRights(ctx context.Context) {
	timing := f.client.timing
	retry := timing.Retry
	for {
		rights, err := f.client.rights(ctx)
		pause := timing.Rights
		if err != nil {
			pause, retry = min(retry, pause), min(2*retry, timing.SlowRetry)
		} else {
			retry = timing.Retry
		}
		f.mu.Lock()
		changed := !maps.Equal(rights, f.rights) && len(rights) > 0
		if changed {
			f.rights = rights
		}
		f.mu.Unlock()
		if changed {
			f.signal()
		}
		pauseFor(ctx, pause, nil)
		if ctx.Err() != nil {
			return
		}
	}
}

// rights asks about all that is asked about; what could not be found out is
// absent, and the error says so.
func (c *Client) rights(ctx context.Context) (Rights, error) {
	rights := make(Rights)
	var errs []error
	for _, right := range askedRights() {
		allowed, err := c.allowed(ctx, right, "")
		if err != nil {
			errs = append(errs, err)
			continue
		}
		rights[right] = allowed
	}
	return rights, errors.Join(errs...)
}

// allowed asks the server about a right, on one object or, when name is empty,
// on any: a role may be for some names only.
func (c *Client) allowed(ctx context.Context, right Right, name string) (bool, error) {
	allowed, err := c.review(ctx, authorizationv1.ResourceAttributes{Verb: right.Verb, Resource: string(right.Resource), Name: name})
	if err != nil {
		return false, fmt.Errorf("ask whether one may %s: %w", right, err)
	}
	return allowed, nil
}

// review asks the server whether a request would be allowed. The answer says
// what the authorizers think, not what admission will: it serves to explain,
// never to decide.
func (c *Client) review(ctx context.Context, about authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	review, err := c.api.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &about},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// String is how plans name a right.
func (r Right) String() string { return r.Verb + " " + string(r.Resource) }

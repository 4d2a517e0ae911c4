package kube

import (
	"context"
	"maps"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// askedRights are the rights that the guided operations need.
func askedRights() []Right {
	return []Right{{Verb: "patch", Resource: PersistentVolumes}}
}

// watchRights asks what the user may do: at once, every few minutes, and when
// told to.
func (f *Feed) watchRights(ctx context.Context) {
	ticker := time.NewTicker(f.client.timing.Rights)
	defer ticker.Stop()
	for {
		rights := f.client.rights(ctx)
		f.mu.Lock()
		changed := !maps.Equal(rights, f.rights) && len(rights) > 0
		if changed {
			f.rights = rights
		}
		f.mu.Unlock()
		if changed {
			f.signal()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-f.askRights:
		}
	}
}

// rights asks the server. The answer says what the authorizers think, not
// what admission will: it serves to explain, never to decide.
func (c *Client) rights(ctx context.Context) Rights {
	rights := make(Rights)
	for _, right := range askedRights() {
		asked, cancel := context.WithTimeout(ctx, c.timing.Request)
		review, err := c.api.AuthorizationV1().SelfSubjectAccessReviews().Create(asked, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: right.Verb, Resource: string(right.Resource)},
			},
		}, metav1.CreateOptions{})
		cancel()
		if err == nil {
			rights[right] = review.Status.Allowed
		}
	}
	return rights
}

package kube

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// refresh reads anew what the snapshot does not vouch for, and asks whether
// this volume may be changed. What can't be read stays as it was, marked as
// unread. Half of the time is left for the objects that the plan is about.
func (c *Client) refresh(ctx context.Context, w *actions.World, snap *Snapshot, volume string) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request/2)
	defer cancel()
	w.Denied = c.denied(ctx, volume)
	if !snap.vouches(PersistentVolumeClaims) {
		if claims, all := c.listClaims(ctx, snap.Scope); claims != nil {
			w.Claims = claims
			setUnread(w, string(PersistentVolumeClaims), !all)
		}
	}
	if !snap.vouches(StorageClasses) {
		if classes, err := c.listClasses(ctx); err == nil {
			w.Classes = classes
			setUnread(w, string(StorageClasses), false)
		}
	}
	if !snap.vouches(PersistentVolumes) {
		if volumes, err := c.listVolumes(ctx); err == nil {
			w.Volumes = volumes
			setUnread(w, string(PersistentVolumes), false)
		}
	}
}

// setUnread says whether a resource could be read.
func setUnread(w *actions.World, resource string, unread bool) {
	w.Unread = slices.DeleteFunc(w.Unread, func(r string) bool { return r == resource })
	if unread {
		w.Unread = append(w.Unread, resource)
	}
}

// denied asks about the one right that all plans need. A question without an
// answer denies nothing: the dry run will tell.
func (c *Client) denied(ctx context.Context, volume string) []string {
	right := Right{Verb: "patch", Resource: PersistentVolumes}
	if allowed, err := c.allowed(ctx, right, volume); err != nil || allowed {
		return nil
	}
	return []string{right.String()}
}

func (c *Client) listVolumes(ctx context.Context) ([]*corev1.PersistentVolume, error) {
	list, err := c.api.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return trimAll(list.Items, newTrimmer().volume), nil
}

func (c *Client) listClasses(ctx context.Context) ([]*storagev1.StorageClass, error) {
	list, err := c.api.StorageV1().StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return trimAll(list.Items, newTrimmer().class), nil
}

// listClaims lists all claims, or those of one namespace where that is all
// that may be seen; nil when it could list none.
func (c *Client) listClaims(ctx context.Context, scope string) (claims []*corev1.PersistentVolumeClaim, all bool) {
	list, err := c.api.CoreV1().PersistentVolumeClaims(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	all = err == nil
	if apierrors.IsForbidden(err) && scope != "" {
		list, err = c.api.CoreV1().PersistentVolumeClaims(scope).List(ctx, metav1.ListOptions{})
	}
	if err != nil {
		return nil, false
	}
	return trimAll(list.Items, newTrimmer().claim), all
}

// trimAll cuts a list down to what the cache would hold; it is never nil.
func trimAll[T any](items []T, trim func(*T) *T) []*T {
	trimmed := make([]*T, len(items))
	for i := range items {
		trimmed[i] = trim(&items[i])
	}
	return trimmed
}

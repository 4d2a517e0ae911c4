package kube

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// namespaces is how plans call the one resource that is not watched.
const namespaces = "namespaces"

// World is what a plan about a volume can be made from without asking the
// server: good enough to say what is on offer, not to write. What the snapshot
// knows in part, or may be behind with, is marked as unread: it can tell that
// something is there, but not that nothing is.
func (s *Snapshot) World(volume string) actions.World {
	w := actions.World{
		Volumes: make([]*corev1.PersistentVolume, len(s.Volumes)),
		Claims:  make([]*corev1.PersistentVolumeClaim, len(s.Claims)),
		Classes: make([]*storagev1.StorageClass, len(s.Classes)),
		Unread:  []string{namespaces},
	}
	for i, v := range s.Volumes {
		w.Volumes[i] = v.Object
	}
	for i, c := range s.Claims {
		w.Claims[i] = c.Object
	}
	for i, c := range s.Classes {
		w.Classes[i] = c.Object
	}
	if v := s.Volume(volume); v != nil {
		w.Volume = v.Object
		w.Users = s.usersOf(v.Object)
	}
	for _, resource := range []Resource{PersistentVolumes, PersistentVolumeClaims, StorageClasses} {
		if !s.vouches(resource) {
			w.Unread = append(w.Unread, string(resource))
		}
	}
	for right, allowed := range s.Rights {
		if !allowed {
			w.Denied = append(w.Denied, right.String())
		}
	}
	slices.Sort(w.Denied)
	return w
}

// Plan makes a plan from the snapshot and from fresh copies of the objects
// that it is about. What a cache says may be minutes old without anybody
// knowing; it serves only to judge who else could be affected, and only where
// it is complete and followed by a watch. Otherwise that is read anew too.
func (c *Client) Plan(ctx context.Context, req actions.Request, snap *Snapshot) (actions.Plan, actions.World, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	w := snap.World(req.Volume.Name)
	c.refresh(ctx, &w, snap, req.Volume.Name)

	pv, err := c.volume(ctx, req.Volume.Name)
	if err != nil && KindOf(err) != KindNotFound {
		return actions.Plan{}, actions.World{}, err
	}
	w.Volume = pv
	w.Volumes = freshen(w.Volumes, func(v *corev1.PersistentVolume) bool { return v.Name == req.Volume.Name }, pv)

	for _, key := range claimsOf(req, pv) {
		if err := c.freshenClaim(ctx, &w, key); err != nil {
			return actions.Plan{}, actions.World{}, err
		}
	}
	if req.Verb == actions.SinglePodLight {
		c.freshenUsers(ctx, &w, snap)
	}
	if namespace := targetNamespace(req, pv); namespace != "" {
		if err := c.lookupNamespace(ctx, &w, namespace); err != nil {
			return actions.Plan{}, actions.World{}, err
		}
	}
	return actions.Make(req, w), w, nil
}

// claimsOf names the claims that a plan is about.
func claimsOf(req actions.Request, pv *corev1.PersistentVolume) []actions.ClaimKey {
	var keys []actions.ClaimKey
	if pv != nil && pv.Spec.ClaimRef != nil {
		keys = append(keys, actions.ClaimKey{Namespace: pv.Spec.ClaimRef.Namespace, Name: pv.Spec.ClaimRef.Name})
	}
	if req.Claim != (actions.ClaimKey{}) && !slices.Contains(keys, req.Claim) {
		keys = append(keys, req.Claim)
	}
	return slices.DeleteFunc(keys, func(k actions.ClaimKey) bool { return k.Namespace == "" || k.Name == "" })
}

func targetNamespace(req actions.Request, pv *corev1.PersistentVolume) string {
	if req.Claim.Namespace != "" {
		return req.Claim.Namespace
	}
	if pv != nil && pv.Spec.ClaimRef != nil {
		return pv.Spec.ClaimRef.Namespace
	}
	return ""
}

func (c *Client) volume(ctx context.Context, name string) (*corev1.PersistentVolume, error) {
	pv, err := c.api.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get volume %s: %w", name, err)
	}
	return pv, nil
}

// freshenClaim puts a fresh copy of a claim in the place of the cached one.
// Where it may not be read, the plan is told so, and does not get the cached
// one either: it would prove that the claim is still there.
func (c *Client) freshenClaim(ctx context.Context, w *actions.World, key actions.ClaimKey) error {
	pvc, err := c.api.CoreV1().PersistentVolumeClaims(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case err == nil:
	case apierrors.IsForbidden(err):
		setUnread(w, string(PersistentVolumeClaims), true)
		pvc = nil
	case apierrors.IsNotFound(err):
		pvc = nil
	default:
		return fmt.Errorf("get claim %s: %w", key, err)
	}
	w.Claims = freshen(w.Claims, func(o *corev1.PersistentVolumeClaim) bool {
		return o.Namespace == key.Namespace && o.Name == key.Name
	}, pvc)
	return nil
}

// lookupNamespace finds out whether a namespace exists.
func (c *Client) lookupNamespace(ctx context.Context, w *actions.World, name string) error {
	namespace, err := c.api.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		w.Namespaces = map[string]bool{name: namespace.DeletionTimestamp != nil}
	case apierrors.IsNotFound(err):
		w.Namespaces = map[string]bool{}
	case apierrors.IsForbidden(err):
		return nil
	default:
		return fmt.Errorf("get namespace %s: %w", name, err)
	}
	setUnread(w, namespaces, false)
	return nil
}

// freshen puts a fresh object in the place of the cached one; nil takes it
// out.
func freshen[T any](cached []*T, is func(*T) bool, fresh *T) []*T {
	cached = slices.DeleteFunc(cached, is)
	if fresh != nil {
		cached = append(cached, fresh)
	}
	return cached
}

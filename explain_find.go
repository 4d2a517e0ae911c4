package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
)

// subject is an object that was found, and how to learn more of it.
type subject struct {
	ref      actions.Ref
	resource string
	explain  func(explain.Ask) explain.Explanation
	// history needs the object as the server has it.
	history func(context.Context, *kube.Client, []kube.Event) ([]explain.Moment, error)
}

func find(snap *kube.Snapshot, ref actions.Ref) (subject, error) {
	var found *subject
	switch ref.Kind {
	case actions.VolumeKind:
		if v := snap.Volume(ref.Name); v != nil {
			found = volumeSubject(snap, v)
		}
	case actions.ClaimKind:
		if c := snap.Claim(ref.Namespace, ref.Name); c != nil {
			found = claimSubject(snap, c)
		}
	case actions.ClassKind:
		if c := snap.Class(ref.Name); c != nil {
			found = classSubject(snap, c)
		}
	}
	if found == nil {
		return subject{}, notFound(snap, ref)
	}
	return *found, nil
}

func volumeSubject(snap *kube.Snapshot, v *kube.Volume) *subject {
	return &subject{
		ref:      actions.Ref{Kind: actions.VolumeKind, Name: v.Object.Name, UID: v.Object.UID},
		resource: string(kube.PersistentVolumes),
		explain:  func(ask explain.Ask) explain.Explanation { return explain.Volume(snap, v, ask) },
		history: func(ctx context.Context, client *kube.Client, events []kube.Event) ([]explain.Moment, error) {
			pv, err := client.FullVolume(ctx, v.Object.Name)
			if err != nil {
				pv = v.Object
			}
			return explain.VolumeTimeline(pv, events), err
		},
	}
}

func claimSubject(snap *kube.Snapshot, c *kube.Claim) *subject {
	return &subject{
		ref:      actions.Ref{Kind: actions.ClaimKind, Namespace: c.Object.Namespace, Name: c.Object.Name, UID: c.Object.UID},
		resource: string(kube.PersistentVolumeClaims),
		explain:  func(ask explain.Ask) explain.Explanation { return explain.Claim(snap, c, ask) },
		history: func(ctx context.Context, client *kube.Client, events []kube.Event) ([]explain.Moment, error) {
			pvc, err := client.FullClaim(ctx, c.Object.Namespace, c.Object.Name)
			if err != nil {
				pvc = c.Object
			}
			return explain.ClaimTimeline(pvc, events), err
		},
	}
}

func classSubject(snap *kube.Snapshot, c *kube.Class) *subject {
	return &subject{
		ref:      actions.Ref{Kind: actions.ClassKind, Name: c.Object.Name, UID: c.Object.UID},
		resource: string(kube.StorageClasses),
		explain:  func(ask explain.Ask) explain.Explanation { return explain.Class(snap, c, ask) },
		history: func(context.Context, *kube.Client, []kube.Event) ([]explain.Moment, error) {
			return nil, errors.New("of a class no history is kept")
		},
	}
}

// notFound says that an object does not exist, or that this can't be told, and
// what was perhaps meant.
func notFound(snap *kube.Snapshot, ref actions.Ref) error {
	resource, what := kube.PersistentVolumes, "volume "+ref.Name
	var names []string
	switch ref.Kind {
	case actions.VolumeKind:
		for _, v := range snap.Volumes {
			names = append(names, v.Object.Name)
		}
	case actions.ClaimKind:
		resource, what = kube.PersistentVolumeClaims, fmt.Sprintf("claim %s in namespace %s", ref.Name, ref.Namespace)
		names = claimNames(snap, ref)
	case actions.ClassKind:
		resource, what = kube.StorageClasses, "class "+ref.Name
		for _, c := range snap.Classes {
			names = append(names, c.Object.Name)
		}
	}
	if !snap.Known(resource, ref.Namespace) {
		why := "they are not all read"
		if list := gaps(snap, []kube.Resource{resource}, ref.Namespace); len(list) > 0 {
			why = list[0].Text
		}
		return fmt.Errorf("whether there is a %s can't be told: %s", what, why)
	}
	return fmt.Errorf("there is no %s%s", what, suggest(ref.Name, names))
}

// claimNames are the names of the claims beside which one was looked for. One
// of the very name, in another namespace, is what was meant most likely.
func claimNames(snap *kube.Snapshot, ref actions.Ref) []string {
	var names, elsewhere []string
	for _, c := range snap.Claims {
		switch {
		case c.Object.Namespace == ref.Namespace:
			names = append(names, c.Object.Name)
		case c.Object.Name == ref.Name:
			elsewhere = append(elsewhere, c.Object.Name+" -n "+c.Object.Namespace)
		}
	}
	if len(elsewhere) > 0 {
		return elsewhere
	}
	return names
}

package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/claimref/claimref/actions/migration"
)

// seeOthers looks for other operations that are under way, and at what they
// have in hand. The list is asked for after the volumes of this operation were
// read, and as of now: a cache may lack what was written a moment ago, and then
// each of two would believe that it is alone.
//
// Where volumes may not be listed, that is noted, and the others stay unknown.
func (c *Client) seeOthers(ctx context.Context, j migration.Journal, scene *migration.Scene) error {
	bounded, cancel := context.WithTimeout(ctx, c.timing.Request)
	defer cancel()
	all, err := c.listVolumes(bounded)
	switch {
	case apierrors.IsForbidden(err):
		scene.Unread[string(PersistentVolumes)] = clean(cause(err))
		return nil
	case err != nil:
		return fmt.Errorf("look for other operations: list %s: %w", PersistentVolumes, err)
	}
	scene.RelatedVolumes, scene.OthersFresh = noted(all, scene.Volumes), true
	s := survey{client: c, asked: make(map[any]bool), scene: *scene}
	for key := range scene.Claims {
		s.asked[key] = true
	}
	s.read(ctx, migration.OthersWanted(j, *scene))
	if len(s.errs) > 0 {
		return fmt.Errorf("look at other operations: %w", s.errs[0])
	}
	*scene = s.scene
	return nil
}

// noted are the volumes with a note on them that are not an operation's own.
func noted(all []*corev1.PersistentVolume, own map[string]*corev1.PersistentVolume) []*corev1.PersistentVolume {
	var found []*corev1.PersistentVolume
	for _, pv := range all {
		_, plan := pv.Annotations[migration.AnnotationPlan]
		_, journal := pv.Annotations[migration.AnnotationJournal]
		if _, ours := own[pv.Name]; !ours && (plan || journal) {
			found = append(found, pv)
		}
	}
	return found
}

package kube

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// Subject is what a Survey is about: a wish, an operation, or both.
type Subject struct {
	Request *migration.Request
	Journal *migration.Journal
	// Brief leaves out what only the planning of an operation needs: quotas,
	// limits, autoscalers, classes, drivers, namespaces, and all other volumes
	// and claims. It is enough to go from step to step.
	Brief bool
}

// maxRounds bounds how often a request is asked what it wants, given what was
// found. Every link of the chain (volume, claim, workload, its other claims,
// their volumes) takes one.
const maxRounds = 5

// Survey looks afresh at all that a subject is about. What may not be read is
// noted in Unread, and is absent. Every failure that may pass is an error:
// nothing may be concluded from such a Scene. And so is it, once there is a
// Journal, if its volumes and claims or the pods may not be read: the next step
// depends on them.
//
// The snapshot serves only for what is not written to, and only where it is
// complete and followed by a watch; it may be nil.
func (c *Client) Survey(ctx context.Context, q Subject, snap *Snapshot) (migration.Scene, error) {
	s := newSurvey(c, q)
	if q.Journal != nil {
		s.read(ctx, q.Journal.Wanted())
	}
	for round := 0; q.Request != nil && round < maxRounds; round++ {
		if !s.read(ctx, migration.Want(*q.Request, s.scene)) {
			break
		}
	}
	if snap != nil {
		s.scene.Version = snap.Link.Version
	}
	s.readShared(ctx, snap)
	if len(s.errs) > 0 {
		// The others most likely have the same cause.
		return migration.Scene{}, fmt.Errorf("look at the objects of the operation: %w", s.errs[0])
	}
	s.sort()
	return s.scene, nil
}

// survey gathers a Scene.
type survey struct {
	client *Client
	brief  bool
	// strict: steps are taken by what is found.
	strict bool
	// asked are the volumes, claims and namespaces that have been asked for.
	asked map[any]bool
	// namespaces are those among them.
	namespaces []string

	mu    sync.Mutex
	scene migration.Scene
	errs  []error
}

func newSurvey(c *Client, q Subject) *survey {
	return &survey{client: c, brief: q.Brief, strict: q.Journal != nil, asked: make(map[any]bool), scene: migration.Scene{
		Volumes: make(map[string]*corev1.PersistentVolume),
		Claims:  make(map[actions.ClaimKey]*corev1.PersistentVolumeClaim),
		Drivers: make(map[string]*storagev1.CSIDriver), Namespaces: make(map[string]*corev1.Namespace),
		Unread: make(map[string]string),
	}}
}

// read reads what is wanted and has not been read yet; false if that is
// nothing, or if it is no use to go on.
func (s *survey) read(ctx context.Context, w migration.Wanted) bool {
	crew := newCrew(ctx)
	more := false
	isNew := func(what any) bool {
		if s.asked[what] {
			return false
		}
		s.asked[what], more = true, true
		return true
	}
	for _, name := range w.Volumes {
		if isNew(actions.Ref{Kind: actions.VolumeKind, Name: name}) {
			crew.ask(func(ctx context.Context) { s.volume(ctx, name) })
		}
	}
	for _, key := range w.Claims {
		if isNew(key) {
			crew.ask(func(ctx context.Context) { s.claim(ctx, key) })
		}
	}
	for _, namespace := range w.Namespaces {
		if isNew(namespace) {
			s.namespaces = append(s.namespaces, namespace)
			s.namespace(crew, namespace)
		}
	}
	crew.wait()
	return more && len(s.errs) == 0
}

// note notes what came of a question, under the lock: the found is called if
// there was an answer.
func (s *survey) note(err error, found func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	found()
}

// bounded gives one question its time.
func (s *survey) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.client.timing.Request)
}

func (s *survey) volume(ctx context.Context, name string) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	pv, err := s.client.volume(ctx, name)
	switch {
	case apierrors.IsNotFound(err):
		pv, err = nil, nil
	case err != nil && !s.strict && s.unreadable(err, string(PersistentVolumes)):
		return
	}
	s.note(err, func() { s.scene.Volumes[name] = pv })
}

func (s *survey) claim(ctx context.Context, key actions.ClaimKey) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	pvc, err := s.client.api.CoreV1().PersistentVolumeClaims(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		pvc, err = nil, nil
	case err != nil && !s.strict && s.unreadable(err, string(PersistentVolumeClaims)):
		return
	case err != nil:
		err = fmt.Errorf("get claim %s: %w", key, err)
	}
	s.note(err, func() { s.scene.Claims[key] = pvc })
}

// unreadable notes that a resource may not be read, or that the server does not
// know it, if that is what an error says.
func (s *survey) unreadable(err error, resource string) bool {
	if !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scene.Unread[resource] = clean(cause(err))
	return true
}

// readShared reads what is in no namespace, after the volumes are known.
func (s *survey) readShared(ctx context.Context, snap *Snapshot) {
	if len(s.errs) > 0 {
		return
	}
	crew := newCrew(ctx)
	crew.ask(s.attachments)
	if !s.brief {
		crew.ask(s.classes)
		for _, driver := range s.driverNames() {
			crew.ask(func(ctx context.Context) { s.driver(ctx, driver) })
		}
		for _, namespace := range s.namespaces {
			crew.ask(func(ctx context.Context) { s.namespaceObject(ctx, namespace) })
		}
		crew.ask(func(ctx context.Context) { s.relatedVolumes(ctx, snap) })
		crew.ask(func(ctx context.Context) { s.relatedClaims(ctx, snap) })
	}
	crew.wait()
}

func (s *survey) driverNames() []string {
	var names []string
	for _, pv := range s.scene.Volumes {
		if pv != nil && pv.Spec.CSI != nil {
			names = append(names, pv.Spec.CSI.Driver)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

package migration

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions/migration"
)

// meddler is the name under which a controller writes that keeps what is in
// Git.
const meddler = "argocd"

// scaleBack has a controller start the pods again: each time that it sees them
// stopped, and once before each write.
func scaleBack(t *testing.T, k kind, e ends, random *rand.Rand) {
	if k.scaled == "" {
		return
	}
	k.parallel(t, "scaled back again and again", scaleBacks, func(w *world) { keepScaled(w, e) })
	for _, at := range sample(random, len(e.steps), 1) {
		at++
		k.parallel(t, fmt.Sprintf("scaled back before write %d", at), scaleBacks, func(w *world) {
			w.t.Logf("write %d is %s", at, e.steps[at-1])
			scaleOnce(w, e, at)
		})
	}
}

// keepScaled starts the pods again as soon as they are to be stopped. Then the
// operation halts, and no claim has been deleted; once the controller is kept
// from it, another program undoes it.
func keepScaled(w *world, e ends) {
	w.becomes(e.before)
	ctx, stop := context.WithCancel(w.t.Context())
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	stopped := make(chan struct{}, 1)
	group.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-stopped:
			}
			if err := w.scale(ctx, meddler); err != nil && ctx.Err() == nil {
				w.t.Error(err)
			}
		}
	})
	line := &wire{after: func(_ int, r *http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/scale") {
			stopped <- struct{}{}
		}
		return nil
	}}
	r, err := w.carryOut(w.begin(), line)
	if err != nil {
		w.t.Fatalf("%+v: %v", r, err)
	}
	if r.Outcome != halted || !strings.Contains(r.Reason, meddler) {
		w.t.Errorf("it does not halt with the name of who did it: %+v", r)
	}
	if !w.untouched() {
		w.t.Error("a claim was deleted while somebody started the pods")
	}
	stop()
	group.Wait()
	w.undo(e)
}

// undo has another program take an operation back.
func (w *world) undo(e ends) {
	w.t.Helper()
	r, err := w.carryOut(w.heir(migration.Back), &wire{})
	if err != nil || r.Outcome != finished {
		w.t.Fatalf("undo: %+v: %v", r, err)
	}
	w.becomes(e.before)
}

// scaleOnce starts the pods right before a write. Either that does no harm, or
// the operation halts: it has not written anything more, and no data are lost.
func scaleOnce(w *world, e ends, at int) {
	w.becomes(e.before)
	scaled, meddled := false, false
	line := &wire{}
	line.before = func(write int) {
		if write != at || scaled {
			return
		}
		scaled = true
		replicas, there := w.replicas(w.t.Context())
		meddled = there && replicas == 0
		if err := w.scale(w.t.Context(), meddler); err != nil {
			w.t.Error(err)
		}
	}
	r, err := w.carryOut(w.begin(), line)
	if err != nil {
		w.t.Fatalf("%+v: %v", r, err)
	}
	w.t.Logf("%s after %d writes: %s", r.Outcome, line.writes(), r.Reason)
	switch r.Outcome {
	case finished:
		w.becomes(e.after)
	case halted:
		if !meddled {
			w.t.Errorf("it halts although nothing was stopped yet: %s", r.Reason)
		}
		if line.writes() > at {
			w.t.Errorf("%d writes, the last ones after the pods had been started: %v", line.writes(), r.Steps)
		}
		if !strings.Contains(r.Reason, meddler) {
			w.t.Errorf("it does not name who did it: %s", r.Reason)
		}
		w.wayBack(e)
	default:
		w.t.Errorf("%+v", r)
	}
}

// wayBack has another program undo what has halted. Where a StatefulSet has
// made a claim by its template meanwhile, that program does not touch it, and
// says so.
func (w *world) wayBack(e ends) {
	w.t.Helper()
	r, err := w.carryOut(w.heir(migration.Back), &wire{})
	switch {
	case err != nil:
		w.t.Fatalf("undo: %+v: %v", r, err)
	case r.Outcome == finished:
		w.becomes(e.before)
	case w.kind.scaled != migration.StatefulSetKind || r.Outcome != halted || !strings.Contains(r.Reason, "claim "+w.ns+"/"):
		w.t.Errorf("undo: %+v", r)
	}
}

// meetRivals has claims wait for the volumes, more of them before each write,
// which take any that is open to them for a moment. Another program undoes the
// operation after a write, unless it is the last one.
func meetRivals(w *world, e ends, at int) {
	w.becomes(e.before)
	// From now on nothing makes volumes for claims of the class: they wait.
	if err := shared.api.StorageV1().StorageClasses().Delete(w.t.Context(), w.class, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	w.addClass("kubernetes.io/no-provisioner")
	rivals := w.namespace("rivals-")
	w.t.Cleanup(func() {
		_ = shared.api.CoreV1().Namespaces().Delete(context.WithoutCancel(w.t.Context()), rivals, metav1.DeleteOptions{})
	})
	appear := func(int) {
		w.addRival(rivals, corev1.ReadWriteOnce)
		w.addRival(rivals, corev1.ReadWriteOncePod)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	defer stop()
	r, err := w.carryOutUntil(ctx, w.begin(), &wire{before: appear, after: func(write int, _ *http.Request) error {
		if write == at && at < len(e.steps) {
			stop()
		}
		return nil
	}})
	want := e.after
	if at < len(e.steps) {
		if !errors.Is(err, context.Canceled) {
			w.t.Fatalf("it was not stopped: %+v: %v", r, err)
		}
		want = e.before
		r, err = w.carryOut(w.heir(migration.Back), &wire{before: appear})
	}
	if err != nil || r.Outcome != finished {
		w.t.Fatalf("%+v: %v", r, err)
	}
	w.becomes(want)
	w.stillWaiting(rivals)
	if w.kind.scaled == "" && at == len(e.steps) {
		w.openTo(rivals)
	}
}

func (w *world) addRival(ns string, mode corev1.PersistentVolumeAccessMode) {
	_, err := shared.api.CoreV1().PersistentVolumeClaims(ns).Create(w.t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "rival-"},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &w.class, AccessModes: []corev1.PersistentVolumeAccessMode{mode},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Error(err)
	}
}

func (w *world) stillWaiting(ns string) {
	w.t.Helper()
	claims, err := shared.api.CoreV1().PersistentVolumeClaims(ns).List(w.t.Context(), metav1.ListOptions{})
	if err != nil || len(claims.Items) == 0 {
		w.t.Fatalf("%d rivals: %v", len(claims.Items), err)
	}
	for _, pvc := range claims.Items {
		if pvc.Spec.VolumeName != "" || pvc.Status.Phase != corev1.ClaimPending {
			w.t.Errorf("rival %s is %s, with volume %q", pvc.Name, pvc.Status.Phase, pvc.Spec.VolumeName)
		}
	}
}

// openTo shows that the rivals would have taken the volume: as soon as it is
// open to them, they do.
func (w *world) openTo(ns string) {
	w.t.Helper()
	volumes, name, claim := shared.api.CoreV1().PersistentVolumes(), w.volumes[0].Name, w.goal(0)
	patch := func(text string) {
		w.t.Helper()
		if _, err := volumes.Patch(w.t.Context(), name, mergePatch, []byte(text), metav1.PatchOptions{}); err != nil {
			w.t.Fatal(err)
		}
	}
	patch(`{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`)
	if err := shared.api.CoreV1().PersistentVolumeClaims(claim.Namespace).Delete(w.t.Context(), claim.Name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the volume", func(ctx context.Context) string {
		pv, err := volumes.Get(ctx, name, metav1.GetOptions{})
		return unless(err == nil && pv.Status.Phase == corev1.VolumeReleased, "not released: %v", err)
	})
	patch(`{"spec":{"claimRef":null}}`)
	eventually(w.t, "an open volume", func(ctx context.Context) string {
		pv, err := volumes.Get(ctx, name, metav1.GetOptions{})
		return unless(err == nil && pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.Namespace == ns, "not taken by a rival: %v", err)
	})
}

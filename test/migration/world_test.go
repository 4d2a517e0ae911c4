package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/test/controlplane/folders"
)

// world is what one run has to itself: two namespaces, a class, and the objects
// of a kind of operation.
type world struct {
	t    *testing.T
	kind kind
	// ns is where the claims are, elsewhere another namespace.
	ns, elsewhere, class string
	// volumes are those of the claims, in their order, as they were at first.
	volumes []*corev1.PersistentVolume
	// claims are the original ones.
	claims []*corev1.PersistentVolumeClaim
}

// newWorld makes the objects of a kind, and waits until all of them have come
// to rest.
func newWorld(t *testing.T, k kind) *world {
	t.Helper()
	w := &world{t: t, kind: k}
	w.ns = w.namespace("run-")
	w.elsewhere = w.namespace("elsewhere-")
	w.class = w.ns
	w.addClass(folders.Name)
	t.Cleanup(w.remove)
	for _, manifest := range k.manifests {
		w.create(manifest)
	}
	for _, name := range k.claims {
		var pvc *corev1.PersistentVolumeClaim
		eventually(t, "claim "+name, func(ctx context.Context) string {
			var err error
			pvc, err = shared.api.CoreV1().PersistentVolumeClaims(w.ns).Get(ctx, name, metav1.GetOptions{})
			return unless(err == nil && pvc.Status.Phase == corev1.ClaimBound, "not bound: %v", err)
		})
		w.claims = append(w.claims, pvc)
	}
	eventually(t, "pods", w.notReady)
	if k.released {
		w.release()
	}
	for _, pvc := range w.claims {
		want := corev1.VolumeBound
		if k.released {
			want = corev1.VolumeReleased
		}
		var pv *corev1.PersistentVolume
		eventually(t, "volume of "+pvc.Name, func(ctx context.Context) string {
			var err error
			pv, err = shared.api.CoreV1().PersistentVolumes().Get(ctx, pvc.Spec.VolumeName, metav1.GetOptions{})
			return unless(err == nil && pv.Status.Phase == want, "not %s: %v", want, err)
		})
		w.volumes = append(w.volumes, pv)
	}
	if lost := w.lost(); len(lost) > 0 {
		t.Fatalf("volumes without data: %v", lost)
	}
	return w
}

// unless says what is wrong where something does not hold.
func unless(holds bool, format string, args ...any) string {
	if holds {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func (w *world) namespace(prefix string) string {
	w.t.Helper()
	ns, err := shared.api.CoreV1().Namespaces().Create(w.t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return ns.Name
}

// addClass makes the class of the run's claims.
func (w *world) addClass(provisioner string) {
	w.t.Helper()
	mode := storagev1.VolumeBindingImmediate
	if w.kind.late && provisioner == folders.Name {
		mode = storagev1.VolumeBindingWaitForFirstConsumer
	}
	_, err := shared.api.StorageV1().StorageClasses().Create(w.t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: w.class}, Provisioner: provisioner,
		ReclaimPolicy: &w.kind.policy, VolumeBindingMode: &mode,
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

// create makes an object of a manifest.
func (w *world) create(manifest string) {
	w.t.Helper()
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(strings.ReplaceAll(manifest, "CLASS", w.class)), nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx := w.t.Context()
	switch o := o.(type) {
	case *corev1.PersistentVolumeClaim:
		_, err = shared.api.CoreV1().PersistentVolumeClaims(w.ns).Create(ctx, o, metav1.CreateOptions{})
	case *appsv1.Deployment:
		_, err = shared.api.AppsV1().Deployments(w.ns).Create(ctx, o, metav1.CreateOptions{})
	case *appsv1.DaemonSet:
		_, err = shared.api.AppsV1().DaemonSets(w.ns).Create(ctx, o, metav1.CreateOptions{})
	case *appsv1.StatefulSet:
		_, err = shared.api.AppsV1().StatefulSets(w.ns).Create(ctx, o, metav1.CreateOptions{})
	case *batchv1.CronJob:
		_, err = shared.api.BatchV1().CronJobs(w.ns).Create(ctx, o, metav1.CreateOptions{})
	default:
		err = fmt.Errorf("a %T is not known here", o)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// notReady says what of the workloads does not run yet, or has not been looked
// at by its controller.
func (w *world) notReady(ctx context.Context) string {
	switch w.kind.scaled {
	case migration.DeploymentKind:
		d, err := shared.api.AppsV1().Deployments(w.ns).Get(ctx, deploymentName, metav1.GetOptions{})
		return unless(err == nil && d.Status.ObservedGeneration == d.Generation && d.Status.ReadyReplicas == w.kind.pods &&
			d.Status.Replicas == w.kind.pods, "the Deployment is not ready: %v", err)
	case migration.StatefulSetKind:
		return w.setNotReady(ctx)
	default:
		return ""
	}
}

func (w *world) setNotReady(ctx context.Context) string {
	set, err := shared.api.AppsV1().StatefulSets(w.ns).Get(ctx, setName, metav1.GetOptions{})
	if err != nil || set.Status.ObservedGeneration != set.Generation || set.Status.ReadyReplicas != w.kind.pods ||
		set.Status.CurrentRevision == "" || set.Status.CurrentRevision != set.Status.UpdateRevision {
		return fmt.Sprintf("the StatefulSet is not ready: %v", err)
	}
	// A set that may delete its claims owns them (pkg/controller/statefulset,
	// updateClaimOwnerRefForSetAndPod).
	owns := 0
	if p := set.Spec.PersistentVolumeClaimRetentionPolicy; p != nil && p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		owns = 1
	}
	for _, name := range w.kind.claims {
		pvc, err := shared.api.CoreV1().PersistentVolumeClaims(w.ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil || len(pvc.OwnerReferences) != owns || owns > 0 && pvc.OwnerReferences[0].UID != set.UID {
			return fmt.Sprintf("claim %s has not the owners that it shall have: %v", name, err)
		}
	}
	return ""
}

// release deletes the claims, whose volumes are kept.
func (w *world) release() {
	w.t.Helper()
	for _, name := range w.kind.claims {
		if err := shared.api.CoreV1().PersistentVolumeClaims(w.ns).Delete(w.t.Context(), name, metav1.DeleteOptions{}); err != nil {
			w.t.Fatal(err)
		}
		eventually(w.t, "claim "+name, func(ctx context.Context) string {
			_, err := shared.api.CoreV1().PersistentVolumeClaims(w.ns).Get(ctx, name, metav1.GetOptions{})
			return unless(apierrors.IsNotFound(err), "still there: %v", err)
		})
	}
}

// request is what a person wants of the world.
func (w *world) request() *migration.Request {
	pv := w.volumes[0]
	req := w.kind.request(w, actions.Ref{Kind: actions.VolumeKind, Name: pv.Name, UID: pv.UID})
	return &req
}

// goal is the claim that a volume shall have in the end.
func (w *world) goal(i int) actions.ClaimKey {
	if to := w.request().To; to != (actions.ClaimKey{}) {
		return to
	}
	return actions.ClaimKey{Namespace: w.ns, Name: w.kind.claims[i]}
}

// lost are the volumes whose data are gone.
func (w *world) lost() []string {
	var lost []string
	for _, pv := range w.volumes {
		if !shared.data.SentinelExists(pv.Spec.CSI.VolumeHandle) {
			lost = append(lost, pv.Name)
		}
	}
	return lost
}

// remove takes the world away. Nobody waits for that.
func (w *world) remove() {
	ctx := context.WithoutCancel(w.t.Context())
	for _, ns := range []string{w.ns, w.elsewhere} {
		_ = shared.api.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{})
	}
	for _, pv := range w.volumes {
		_ = shared.api.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, metav1.DeleteOptions{})
	}
	_ = shared.api.StorageV1().StorageClasses().Delete(ctx, w.class, metav1.DeleteOptions{})
}

// scale sets the number of pods of the workload, as a controller that keeps
// what is in Git does.
func (w *world) scale(ctx context.Context, manager string) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, w.kind.pods)
	var err error
	if w.kind.scaled == migration.StatefulSetKind {
		_, err = shared.api.AppsV1().StatefulSets(w.ns).Patch(ctx, setName, mergePatch, patch, metav1.PatchOptions{FieldManager: manager})
	} else {
		_, err = shared.api.AppsV1().Deployments(w.ns).Patch(ctx, deploymentName, mergePatch, patch, metav1.PatchOptions{FieldManager: manager})
	}
	if apierrors.IsNotFound(err) {
		return nil // It is being made anew.
	}
	return err
}

// replicas is how many pods the workload is to have; false when it is not
// there.
func (w *world) replicas(ctx context.Context) (int32, bool) {
	var replicas *int32
	if w.kind.scaled == migration.StatefulSetKind {
		if set, err := shared.api.AppsV1().StatefulSets(w.ns).Get(ctx, setName, metav1.GetOptions{}); err == nil {
			replicas = set.Spec.Replicas
		}
	} else if d, err := shared.api.AppsV1().Deployments(w.ns).Get(ctx, deploymentName, metav1.GetOptions{}); err == nil {
		replicas = d.Spec.Replicas
	}
	if replicas == nil {
		return 0, false
	}
	return *replicas, true
}

// untouched says whether all original claims are there and nobody has deleted
// them.
func (w *world) untouched() bool {
	return !slices.ContainsFunc(w.claims, func(was *corev1.PersistentVolumeClaim) bool {
		pvc, err := shared.api.CoreV1().PersistentVolumeClaims(w.ns).Get(w.t.Context(), was.Name, metav1.GetOptions{})
		return err != nil || pvc.UID != was.UID || pvc.DeletionTimestamp != nil
	})
}

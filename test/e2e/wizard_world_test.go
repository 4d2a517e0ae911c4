package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/controlplane/folders"
)

// The objects of the tests that lead through operations.
const (
	webClaim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, labels: {app: web}}
spec: {storageClassName: CLASS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
	webDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`
	dbSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  serviceName: db
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Delete}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: data, mountPath: /d}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {storageClassName: CLASS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`
)

// estate is what a test of an operation has to itself: a namespace, a class
// whose volumes have data, and what is made there.
type estate struct {
	cluster
	ns string
}

// newEstate makes the objects of manifests, of a class with a policy. The class
// is called as the namespace is.
func newEstate(t *testing.T, ns string, policy corev1.PersistentVolumeReclaimPolicy, manifests ...string) estate {
	t.Helper()
	e := estate{inspect(t), ns}
	e.namespace(ns)
	immediate := storagev1.VolumeBindingImmediate
	if _, err := e.StorageV1().StorageClasses().Create(e.ctx(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: ns}, Provisioner: folders.Name, ReclaimPolicy: &policy, VolumeBindingMode: &immediate,
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		e.create(strings.ReplaceAll(m, "CLASS", ns))
	}
	return e
}

func (e estate) create(manifest string) {
	e.t.Helper()
	o, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(manifest), nil, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	switch o := o.(type) {
	case *corev1.PersistentVolumeClaim:
		_, err = e.CoreV1().PersistentVolumeClaims(e.ns).Create(e.ctx(), o, metav1.CreateOptions{})
	case *appsv1.Deployment:
		_, err = e.AppsV1().Deployments(e.ns).Create(e.ctx(), o, metav1.CreateOptions{})
	case *appsv1.StatefulSet:
		_, err = e.AppsV1().StatefulSets(e.ns).Create(e.ctx(), o, metav1.CreateOptions{})
	default:
		err = fmt.Errorf("a %T is not known here", o)
	}
	if err != nil {
		e.t.Fatal(err)
	}
}

// until waits until something is so.
func (e estate) until(what string, is func(ctx context.Context) (bool, error)) {
	e.t.Helper()
	if err := wait.PollUntilContextTimeout(e.ctx(), poll, settleTimeout, true, is); err != nil {
		e.t.Fatalf("%s: %v", what, err)
	}
}

// holding is a claim with the volume that it is bound to.
type holding struct {
	claim  *corev1.PersistentVolumeClaim
	volume *corev1.PersistentVolume
}

// bound waits until a claim is bound, and returns it with its volume.
func (e estate) bound(name string) holding {
	e.t.Helper()
	c := e.waitClaim(e.ns, name, "bound", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
	e.waitBound(e.ns, name, c.Spec.VolumeName)
	return holding{c, e.pvNow(c.Spec.VolumeName)}
}

// running waits until the Deployment has its pod.
func (e estate) running() {
	e.t.Helper()
	e.until("Deployment web is ready", func(ctx context.Context) (bool, error) {
		d, err := e.AppsV1().Deployments(e.ns).Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ObservedGeneration == d.Generation && *d.Spec.Replicas == 1 && d.Status.ReadyReplicas == 1, err
	})
}

// setRunning waits until the StatefulSet has all its pods.
func (e estate) setRunning() *appsv1.StatefulSet {
	e.t.Helper()
	var set *appsv1.StatefulSet
	e.until("StatefulSet db is ready", func(ctx context.Context) (bool, error) {
		var err error
		set, err = e.AppsV1().StatefulSets(e.ns).Get(ctx, "db", metav1.GetOptions{})
		return err == nil && set.Status.ObservedGeneration == set.Generation && *set.Spec.Replicas == 3 && set.Status.ReadyReplicas == 3, err
	})
	return set
}

// stick keeps the pods of the Deployment from ending, as a kubelet does that
// can't be reached; unstick lets them go.
func (e estate) stick()   { e.t.Helper(); e.mark(`"yes"`) }
func (e estate) unstick() { e.t.Helper(); e.mark("null") }

func (e estate) mark(value string) {
	e.t.Helper()
	pods, err := e.CoreV1().Pods(e.ns).List(e.ctx(), metav1.ListOptions{})
	if err != nil || len(pods.Items) == 0 {
		e.t.Fatalf("pods of %s: %v, %d of them", e.ns, err, len(pods.Items))
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, controlplane.AnnotationStuck, value)
	for _, pod := range pods.Items {
		if _, err := e.CoreV1().Pods(e.ns).Patch(e.ctx(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			e.t.Fatal(err)
		}
	}
}

// claimGone waits until a claim, by its uid, is not there any more.
func (e estate) claimGone(was *corev1.PersistentVolumeClaim) {
	e.t.Helper()
	e.until("claim "+was.Name+" is gone", func(ctx context.Context) (bool, error) {
		now, err := e.CoreV1().PersistentVolumeClaims(was.Namespace).Get(ctx, was.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return err == nil && now.UID != was.UID, err
	})
}

// ended checks how an operation has to leave a volume, whichever way it went:
// with its data and its policy, bound to a claim of those modes, and without a
// trace of the operation.
func (e estate) ended(was holding, ns, claim string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	e.t.Helper()
	e.waitBound(ns, claim, was.volume.Name)
	c, err := e.CoreV1().PersistentVolumeClaims(ns).Get(e.ctx(), claim, metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	v := e.pvNow(was.volume.Name)
	e.kept(was)
	modes := []corev1.PersistentVolumeAccessMode{mode}
	if !slices.Equal(c.Spec.AccessModes, modes) || !slices.Equal(c.Status.AccessModes, modes) || !slices.Equal(v.Spec.AccessModes, modes) {
		e.t.Errorf("claim %s has modes %v, by its status %v, and its volume %v; want %v", claim, c.Spec.AccessModes, c.Status.AccessModes, v.Spec.AccessModes, modes)
	}
	if got, want := v.Spec.PersistentVolumeReclaimPolicy, was.volume.Spec.PersistentVolumeReclaimPolicy; got != want {
		e.t.Errorf("the policy of volume %s is %s, want %s as at first", v.Name, got, want)
	}
	if v.UID != was.volume.UID {
		e.t.Errorf("volume %s is another object", v.Name)
	}
	if f, err := migration.Find(v); f != nil || err != nil {
		e.t.Errorf("volume %s still has the note of an operation: %+v, %v", v.Name, f, err)
	}
	return c
}

// kept checks that the data of a volume are there.
func (e estate) kept(was holding) {
	e.t.Helper()
	if !shared.data.SentinelExists(was.volume.Spec.CSI.VolumeHandle) {
		e.t.Errorf("the data of volume %s are gone", was.volume.Name)
	}
}

// versions are the resourceVersions of what an operation would write to.
func (e estate) versions(was holding) string {
	e.t.Helper()
	c, err := e.CoreV1().PersistentVolumeClaims(e.ns).Get(e.ctx(), was.claim.Name, metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	d, err := e.AppsV1().Deployments(e.ns).Get(e.ctx(), "web", metav1.GetOptions{})
	if err != nil {
		e.t.Fatal(err)
	}
	return fmt.Sprintf("volume %s, claim %s, Deployment %s", e.pvNow(was.volume.Name).ResourceVersion, c.ResourceVersion, d.ResourceVersion)
}

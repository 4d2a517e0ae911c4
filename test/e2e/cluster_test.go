package e2e

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const poll = 50 * time.Millisecond

// cluster asks the API server, past the program, what is really so.
type cluster struct {
	t *testing.T
	kubernetes.Interface
}

func inspect(t *testing.T) cluster { return cluster{t, shared.cp.Admin()} }

func (c cluster) ctx() context.Context { return c.t.Context() }

// namespace makes a namespace, if it is not there yet.
func (c cluster) namespace(name string) {
	c.t.Helper()
	_, err := c.CoreV1().Namespaces().Create(c.ctx(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		c.t.Fatal(err)
	}
}

// class makes a class for volumes made by hand. Each test has its own, so
// that no claim of another test can take its volumes.
func (c cluster) class(name string) string {
	c.t.Helper()
	_, err := c.StorageV1().StorageClasses().Create(c.ctx(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "kubernetes.io/no-provisioner",
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		c.t.Fatal(err)
	}
	return name
}

// volume makes a CSI volume of a driver that nobody runs: what the controller
// does with it is the whole story.
func (c cluster) volume(name, class string, edit ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	c.t.Helper()
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              class,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "nobody.example.com", VolumeHandle: name},
			},
		},
	}
	for _, e := range edit {
		e(pv)
	}
	pv, err := c.CoreV1().PersistentVolumes().Create(c.ctx(), pv, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { c.removeVolume(name) })
	return pv
}

// removeVolume takes a volume out of the way of later tests.
func (c cluster) removeVolume(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout) //nolint:forbidigo // the test's own context has ended when this runs
	defer cancel()
	_ = c.CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
}

// claim makes a claim for 1Gi, RWO.
func (c cluster) claim(ns, name, class string, edit ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c.t.Helper()
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	for _, e := range edit {
		e(pvc)
	}
	pvc, err := c.CoreV1().PersistentVolumeClaims(ns).Create(c.ctx(), pvc, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), settleTimeout) //nolint:forbidigo // the test's own context has ended when this runs
		defer cancel()
		_ = c.CoreV1().PersistentVolumeClaims(ns).Delete(ctx, name, metav1.DeleteOptions{})
	})
	return pvc
}

// released makes a volume and lets a claim come and go.
func (c cluster) released(name, ns, claim, class string, edit ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	c.t.Helper()
	c.namespace(ns)
	c.volume(name, class, edit...)
	c.claim(ns, claim, class)
	c.waitVolume(name, "bound", isPhase(corev1.VolumeBound))
	c.waitClaim(ns, claim, "bound", func(p *corev1.PersistentVolumeClaim) bool { return p.Status.Phase == corev1.ClaimBound })
	c.deleteClaim(ns, claim)
	return c.waitVolume(name, "released", isPhase(corev1.VolumeReleased))
}

func (c cluster) deleteClaim(ns, name string) {
	c.t.Helper()
	if err := c.CoreV1().PersistentVolumeClaims(ns).Delete(c.ctx(), name, metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

func isPhase(p corev1.PersistentVolumePhase) func(*corev1.PersistentVolume) bool {
	return func(v *corev1.PersistentVolume) bool { return v.Status.Phase == p }
}

// pvNow reads a volume.
func (c cluster) pvNow(name string) *corev1.PersistentVolume {
	c.t.Helper()
	pv, err := c.CoreV1().PersistentVolumes().Get(c.ctx(), name, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return pv
}

// waitVolume waits until a volume is as described.
func (c cluster) waitVolume(name, what string, is func(*corev1.PersistentVolume) bool) *corev1.PersistentVolume {
	c.t.Helper()
	var last *corev1.PersistentVolume
	err := wait.PollUntilContextTimeout(c.ctx(), poll, settleTimeout, true, func(ctx context.Context) (bool, error) {
		pv, err := c.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = pv
		return is(pv), nil
	})
	if err != nil {
		c.t.Fatalf("volume %s is not %s: %v; it is %+v", name, what, err, last)
	}
	return last
}

// waitClaim waits until a claim is as described.
func (c cluster) waitClaim(ns, name, what string, is func(*corev1.PersistentVolumeClaim) bool) *corev1.PersistentVolumeClaim {
	c.t.Helper()
	var last *corev1.PersistentVolumeClaim
	err := wait.PollUntilContextTimeout(c.ctx(), poll, settleTimeout, true, func(ctx context.Context) (bool, error) {
		pvc, err := c.CoreV1().PersistentVolumeClaims(ns).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		last = pvc
		return is(pvc), nil
	})
	if err != nil {
		c.t.Fatalf("claim %s/%s is not %s: %v; it is %+v", ns, name, what, err, last)
	}
	return last
}

// waitBound waits until a claim is bound to a volume, and the volume to it.
func (c cluster) waitBound(ns, claim, volume string) {
	c.t.Helper()
	pvc := c.waitClaim(ns, claim, "bound to "+volume, func(p *corev1.PersistentVolumeClaim) bool {
		return p.Status.Phase == corev1.ClaimBound && p.Spec.VolumeName == volume
	})
	c.waitVolume(volume, "bound to "+claim, func(v *corev1.PersistentVolume) bool {
		return v.Status.Phase == corev1.VolumeBound && v.Spec.ClaimRef != nil && v.Spec.ClaimRef.UID == pvc.UID
	})
}

// waitVolumeGone waits until a volume does not exist any more.
func (c cluster) waitVolumeGone(name string) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.ctx(), poll, settleTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		c.t.Fatalf("volume %s is still there: %v", name, err)
	}
}

// settled gives the binder the time of several looks at everything, for
// claims that something must NOT happen: there is no event to wait for.
func (c cluster) settled(sentinel string) {
	c.t.Helper()
	// A volume and claim made now pass through the same queues as all others;
	// when they are bound and unbound again, whatever was going to happen to
	// what came before them has happened.
	class := c.class("settled-" + sentinel)
	c.released("settled-"+sentinel, "default", "settled-"+sentinel, class)
}

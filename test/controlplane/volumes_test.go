package controlplane_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/test/controlplane/folders"
)

// TestReuseOfReleasedVolume plays the story of a volume that goes back to the
// claim it had, ahead of another claim that wants it too.
func TestReuseOfReleasedVolume(t *testing.T) {
	t.Parallel()
	ns, class := namespace(t), addClass(t, "kubernetes.io/no-provisioner", corev1.PersistentVolumeReclaimRetain)
	client := shared.cp.Admin().CoreV1()
	volume, err := client.PersistentVolumes().Create(t.Context(), localVolume(class), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteVolume(t, volume.Name) })

	addClaim(t, ns, "first", class)
	waitClaim(t, ns, "first", corev1.ClaimBound)
	if err := client.PersistentVolumeClaims(ns).Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitVolume(t, volume.Name, corev1.VolumeReleased)

	_, err = client.PersistentVolumes().Patch(t.Context(), volume.Name, types.JSONPatchType,
		[]byte(`[{"op": "remove", "path": "/spec/claimRef/uid"}]`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	waitVolume(t, volume.Name, corev1.VolumeAvailable)

	addClaim(t, ns, "second", class)
	// The binder says so only after it has looked at the claim.
	eventually(t, "the binder's word on the second claim", func(ctx context.Context) (string, bool) {
		events, err := client.Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=second"})
		return fmt.Sprint(err), err == nil && len(events.Items) > 0
	})
	waitClaim(t, ns, "second", corev1.ClaimPending)

	addClaim(t, ns, "first", class)
	waitClaim(t, ns, "first", corev1.ClaimBound)
	waitClaim(t, ns, "second", corev1.ClaimPending)
	waitVolume(t, volume.Name, corev1.VolumeBound)
}

func TestProvisionedVolume(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		policy   corev1.PersistentVolumeReclaimPolicy
		survives bool
	}{
		{corev1.PersistentVolumeReclaimDelete, false},
		{corev1.PersistentVolumeReclaimRetain, true},
	} {
		t.Run(string(tc.policy), func(t *testing.T) {
			t.Parallel()
			ns, class := namespace(t), addClass(t, folders.Name, tc.policy)
			client := shared.cp.Admin().CoreV1()
			addClaim(t, ns, "data", class)
			name := waitClaim(t, ns, "data", corev1.ClaimBound).Spec.VolumeName
			if !shared.provisioner.SentinelExists(name) {
				t.Fatalf("no sentinel at %s", shared.provisioner.SentinelPath(name))
			}
			if err := client.PersistentVolumeClaims(ns).Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			if tc.survives {
				waitVolume(t, name, corev1.VolumeReleased)
				t.Cleanup(func() { deleteVolume(t, name) })
			} else {
				waitVolumeGone(t, name)
			}
			if got := shared.provisioner.SentinelExists(name); got != tc.survives {
				t.Errorf("sentinel exists: %t, want %t", got, tc.survives)
			}
		})
	}
}

// TestTripwire shows that data can be lost here at all, by the mistake that
// looks like the way to save it: a Released volume is opened to everyone and
// given its old policy back in one patch, while the binder lags. It runs alone,
// because it takes the binder from everyone.
func TestTripwire(t *testing.T) {
	ns, class := namespace(t), addClass(t, folders.Name, corev1.PersistentVolumeReclaimRetain)
	client := shared.cp.Admin().CoreV1()
	addClaim(t, ns, "data", class)
	name := waitClaim(t, ns, "data", corev1.ClaimBound).Spec.VolumeName
	if err := client.PersistentVolumeClaims(ns).Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waitVolume(t, name, corev1.VolumeReleased)
	if err := shared.cp.PauseControllers(); err != nil {
		t.Fatal(err)
	}
	_, err := client.PersistentVolumes().Patch(t.Context(), name, types.MergePatchType,
		[]byte(`{"spec": {"claimRef": null, "persistentVolumeReclaimPolicy": "Delete"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Error(err)
	}
	eventually(t, "the sentinel to go", func(context.Context) (string, bool) {
		return shared.provisioner.SentinelPath(name), !shared.provisioner.SentinelExists(name)
	})
	if err := shared.cp.ResumeControllers(); err != nil {
		t.Fatal(err)
	}
	waitVolumeGone(t, name)
}

// TestClaimInUse shows that the fake kubelet starts pods and lets them end,
// and that a claim outlives its deletion for as long as a pod uses it.
func TestClaimInUse(t *testing.T) {
	t.Parallel()
	ns, class := namespace(t), addClass(t, folders.Name, corev1.PersistentVolumeReclaimDelete)
	client := shared.cp.Admin().CoreV1()
	addClaim(t, ns, "data", class)
	_, err := client.Pods(ns).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "user"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "main", Image: "example.test/none"}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod to run", func(ctx context.Context) (string, bool) {
		pod, err := client.Pods(ns).Get(ctx, "user", metav1.GetOptions{})
		return fmt.Sprint(err, pod.Status), err == nil && pod.Status.Phase == corev1.PodRunning
	})
	if err := client.PersistentVolumeClaims(ns).Delete(t.Context(), "data", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if claim := waitClaim(t, ns, "data", corev1.ClaimBound); claim.DeletionTimestamp == nil {
		t.Error("the claim of a running pod is not Terminating")
	}
	if err := client.Pods(ns).Delete(t.Context(), "user", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pod and claim to go", func(ctx context.Context) (string, bool) {
		_, err := client.PersistentVolumeClaims(ns).Get(ctx, "data", metav1.GetOptions{})
		return fmt.Sprint(err), apierrors.IsNotFound(err)
	})
}

func addClass(t *testing.T, provisioner string, policy corev1.PersistentVolumeReclaimPolicy) string {
	t.Helper()
	class, err := shared.cp.Admin().StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta:    metav1.ObjectMeta{GenerateName: "test-"},
		Provisioner:   provisioner,
		ReclaimPolicy: &policy,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return class.Name
}

func addClaim(t *testing.T, ns, name, class string) {
	t.Helper()
	_, err := shared.cp.Admin().CoreV1().PersistentVolumeClaims(ns).Create(t.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class,
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: resource.MustParse("10Mi"),
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func localVolume(class string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName:              class,
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Mi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				Local: &corev1.LocalVolumeSource{Path: "/mnt/localdisk"},
			},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
					Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"},
				}}}},
			}},
		},
	}
}

func waitClaim(t *testing.T, ns, name string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	t.Helper()
	var claim *corev1.PersistentVolumeClaim
	eventually(t, fmt.Sprintf("claim %s to be %s", name, phase), func(ctx context.Context) (string, bool) {
		var err error
		claim, err = shared.cp.Admin().CoreV1().PersistentVolumeClaims(ns).Get(ctx, name, metav1.GetOptions{})
		return fmt.Sprint(err, claim.Status.Phase), err == nil && claim.Status.Phase == phase
	})
	return claim
}

func waitVolume(t *testing.T, name string, phase corev1.PersistentVolumePhase) {
	t.Helper()
	eventually(t, fmt.Sprintf("volume %s to be %s", name, phase), func(ctx context.Context) (string, bool) {
		volume, err := shared.cp.Admin().CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		return fmt.Sprint(err, volume.Status.Phase), err == nil && volume.Status.Phase == phase
	})
}

func waitVolumeGone(t *testing.T, name string) {
	t.Helper()
	eventually(t, fmt.Sprintf("volume %s to go", name), func(ctx context.Context) (string, bool) {
		volume, err := shared.cp.Admin().CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{})
		return fmt.Sprint(err, volume.Status.Phase), apierrors.IsNotFound(err)
	})
}

func deleteVolume(t *testing.T, name string) {
	t.Helper()
	// The test's own context has ended by the time of its cleanup.
	ctx := context.WithoutCancel(t.Context())
	err := shared.cp.Admin().CoreV1().PersistentVolumes().Delete(ctx, name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

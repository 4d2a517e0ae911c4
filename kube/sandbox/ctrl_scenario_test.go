package sandbox

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

// TestScenarioReuse is re-using a Released volume for the claim it belonged to,
// ahead of another that waits.
func TestScenarioReuse(t *testing.T) {
	w := newWorld(t, class("manual", volume.NotSupportedProvisioner, retains), pv("v"), pvc("one")).settle()
	w.volumeIs("v", corev1.VolumeBound, "one")
	w.claimIs("one", corev1.ClaimBound, "v")

	w.delete(claimKey("one")).settle()
	w.volumeIs("v", corev1.VolumeReleased, "one")

	w.editVolume("v", func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef.UID = ""
		delete(v.Annotations, volume.AnnBoundByController)
	}).create(pvc("two")).settle()
	w.volumeIs("v", corev1.VolumeAvailable, "one reserved")
	w.claimIs("two", corev1.ClaimPending, "")
	w.told("two", "ProvisioningFailed", "no volume plugin matched name: kubernetes.io/no-provisioner")

	w.create(pvc("one")).settle()
	w.claimIs("one", corev1.ClaimBound, "v")
	w.claimIs("two", corev1.ClaimPending, "")
	if metav1.HasAnnotation(w.volume("v").ObjectMeta, volume.AnnBoundByController) {
		t.Error("a binding that a user prepared is marked as the controller's")
	}

	w.delete(claimKey("one")).settle()
	w.editVolume("v", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }).settle()
	w.claimIs("two", corev1.ClaimBound, "v")
}

// TestScenarioDynamic is a claim that takes its volume and data along.
func TestScenarioDynamic(t *testing.T) {
	beta := pvc("data", classless, func(c *corev1.PersistentVolumeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, corev1.BetaStorageClassAnnotation, "fast")
		c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
	})
	w := newWorld(t, class("fast", folders), beta, podUsing("app", "data")).settle()
	made := w.of("data")
	w.volumeIs(made.Name, corev1.VolumeBound, "data")
	if made.Spec.StorageClassName != "fast" || made.Annotations[volume.AnnDynamicallyProvisioned] != folders || made.Name != "pvc-"+string(w.claim("data").UID) {
		t.Errorf("provisioned is %+v", made.ObjectMeta)
	}
	if metav1.HasAnnotation(made.ObjectMeta, volume.AnnBoundByController) {
		t.Error("the volume names the claim from the start, so the binder does not mark it")
	}
	want := []string{volume.PVDeletionProtectionFinalizer, volumeProtectionFinalizer}
	if !slices.Equal(made.Finalizers, want) {
		t.Errorf("finalizers are %q, want %q", made.Finalizers, want)
	}
	if p := w.s.Pod("ns", "app"); p.Status.Phase != corev1.PodRunning || p.Spec.NodeName != "n1" {
		t.Errorf("the pod is %s on %q", p.Status.Phase, p.Spec.NodeName)
	}
	if !w.s.HasData(Handle(made)) {
		t.Fatal("there is no data")
	}

	w.delete(claimKey("data")).settle()
	if w.claim("data").DeletionTimestamp == nil {
		t.Error("the claim is not being deleted")
	}
	w.volumeIs(made.Name, corev1.VolumeBound, "data")
	w.delete(podKey("app")).settle()
	w.gone(claimKey("data"))
	w.gone(Key{Volumes, "", made.Name})
	if w.s.HasData(Handle(made)) {
		t.Error("the data is still there")
	}
}

// TestScenarioDynamicRetained is the cure: the same with Retain set in time.
func TestScenarioDynamicRetained(t *testing.T) {
	w := newWorld(t, class("fast", folders), pvc("data", asks("fast"))).settle()
	name := w.of("data").Name
	w.editVolume(name, func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}).settle()
	if slices.Contains(w.volume(name).Finalizers, volume.PVDeletionProtectionFinalizer) {
		t.Error("the provisioner keeps its finalizer under Retain")
	}
	w.delete(claimKey("data")).settle()
	w.volumeIs(name, corev1.VolumeReleased, "data")
	if !w.s.HasData(name) {
		t.Error("the data is gone")
	}
}

// TestScenarioSinglePodLight is editing the volume's access modes only: the
// claim's spec and status then differ.
func TestScenarioSinglePodLight(t *testing.T) {
	w := newWorld(t, pv("v"), pvc("one")).settle()
	w.editVolume("v", modes(corev1.ReadWriteOncePod)).settle()
	one := w.claim("one")
	if !slices.Equal(one.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}) ||
		!slices.Equal(one.Status.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
		t.Errorf("spec %v, status %v", one.Spec.AccessModes, one.Status.AccessModes)
	}
}

// TestScenarioSinglePodWhole is the whole way from RWO to RWOP, with a claim
// about that would take the volume if it were ever open.
func TestScenarioSinglePodWhole(t *testing.T) {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"},
		Spec: appsv1.DeploymentSpec{
			Selector: selects("app"), Template: template("app", "one"),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
		},
	}
	w := newWorld(t, class("fast", folders), pvc("one", asks("fast")), d, class("manual", volume.NotSupportedProvisioner)).settle()
	name := w.of("one").Name
	scale := func(n int32) {
		w.s = w.s.Update(edited(w.s.Deployment("ns", "app"), func(d *appsv1.Deployment) { d.Spec.Replicas = &n }))
		w.settle()
	}
	w.editVolume(name, func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	}).settle()
	scale(0)
	if n := len(w.s.List(Pods)); n != 0 {
		t.Fatalf("%d pods are left", n)
	}
	w.create(pvc("rival", asks("fast"), names(name))).settle()
	w.told("rival", "FailedBinding", `volume "`+name+`" already bound to a different claim.`)
	w.delete(claimKey("one")).settle()
	w.volumeIs(name, corev1.VolumeReleased, "one")
	w.editVolume(name, func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef.UID, v.Spec.ClaimRef.ResourceVersion = "", ""
		v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}).settle()
	w.volumeIs(name, corev1.VolumeAvailable, "one reserved")
	w.create(pvc("one", asks("fast"), names(name), single)).settle()
	w.claimIs("one", corev1.ClaimBound, name)
	if metav1.HasAnnotation(w.claim("one").ObjectMeta, volume.AnnBoundByController) {
		t.Error("the claim named its volume itself, so the binder does not mark it")
	}
	w.editVolume(name, deletes).settle()
	scale(1)
	w.volumeIs(name, corev1.VolumeBound, "one")
	for pod := range w.s.Pods("ns") {
		if !running(pod) {
			t.Errorf("pod %s is %s", pod.Name, pod.Status.Phase)
		}
	}
	if !w.s.HasData(name) {
		t.Error("the data is gone")
	}
	w.claimIs("rival", corev1.ClaimPending, name)
}

package sandbox

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
)

// TestDataLoss is who loses data, and who does not.
func TestDataLoss(t *testing.T) {
	policy := func(p corev1.PersistentVolumeReclaimPolicy) func(*corev1.PersistentVolume) {
		return func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = p }
	}
	const retain = corev1.PersistentVolumeReclaimRetain
	dynamic := func(t *testing.T, provisioner string) (*world, string) {
		w := newWorld(t, class("fast", provisioner), pvc("one", asks("fast"))).settle()
		return w, w.of("one").Name
	}
	// released has the volume Released under Retain.
	released := func(t *testing.T, provisioner string) (*world, string) {
		w, name := dynamic(t, provisioner)
		w.editVolume(name, policy(retain)).settle().delete(claimKey("one")).settle()
		return w, name
	}
	tests := []struct {
		name  string
		loses bool
		play  func(t *testing.T) (w *world, handle string)
	}{
		{"Bound and Delete, claim deleted", true, func(t *testing.T) (*world, string) {
			w, name := dynamic(t, folders)
			return w.delete(claimKey("one")), name
		}},
		{"Released and Retain", false, func(t *testing.T) (*world, string) {
			return released(t, folders)
		}},
		{"Released, then Delete", true, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			return w.editVolume(name, deletes), name
		}},
		{"Retain just before the claim is deleted", false, func(t *testing.T) (*world, string) {
			w, name := dynamic(t, folders)
			return w.editVolume(name, policy(retain)).delete(claimKey("one")), name
		}},
		{"opened and Delete at once while the binder lags", true, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil; deletes(v) })
			return w.settleWithout("persistentvolume-binder"), name
		}},
		{"reserved and Delete at once while the binder lags", true, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = ""; deletes(v) })
			return w.settleWithout("persistentvolume-binder"), name
		}},
		{"reserved and Delete at once, the binder is first", false, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = ""; deletes(v) })
			return w, name
		}},
		{"the same in tree, which looks again", false, func(t *testing.T) (*world, string) {
			w, name := released(t, hostPathPlugin)
			handle := Handle(w.volume(name))
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil; deletes(v) })
			return w.settleWithout("external-provisioner"), handle
		}},
		{"Released in tree, then Delete", true, func(t *testing.T) (*world, string) {
			w, name := released(t, hostPathPlugin)
			handle := Handle(w.volume(name))
			return w.editVolume(name, deletes), handle
		}},
		{"reserved and Retain", false, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			return w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }), name
		}},
		{"reserved and Delete, the claim gets another volume", true, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }).settle().editVolume(name, deletes)
			w.create(pv("other", modes(corev1.ReadWriteOnce), func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "fast" }))
			w.create(pvc("one", asks("fast"), names("other")))
			w.settleWithout("external-provisioner")
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = w.claim("one").UID })
			return w, name
		}},
		{"open, a stranger takes it and goes", true, func(t *testing.T) (*world, string) {
			w, name := released(t, folders)
			w.editVolume(name, func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }).settle()
			w.create(pvc("stranger", asks("fast"))).settle()
			w.claimIs("stranger", corev1.ClaimBound, name)
			return w.editVolume(name, deletes).settle().delete(claimKey("stranger")), name
		}},
		{"restored with the claimRef of a claim that is gone, Delete", true, func(t *testing.T) (*world, string) {
			w := newWorld(t)
			w.s = w.s.WithData("handle-v")
			return w.create(pv("v", tiedTo("one", "old"), deletes)), "handle-v"
		}},
		{"restored with the claimRef of a claim that is gone, Retain", false, func(t *testing.T) (*world, string) {
			w := newWorld(t)
			w.s = w.s.WithData("handle-v")
			return w.create(pv("v", tiedTo("one", "old"))), "handle-v"
		}},
		{"static CSI volume, Delete, claim deleted", true, func(t *testing.T) (*world, string) {
			w := newWorld(t, pv("v", deletes), pvc("one"))
			w.s = w.s.WithData("handle-v")
			return w.settle().delete(claimKey("one")), "handle-v"
		}},
		{"static CSI volume of a driver that does not run", false, func(t *testing.T) (*world, string) {
			w := newWorld(t, pv("v", deletes), pvc("one"))
			w.cs = Controllers("another")
			w.s = w.s.WithData("handle-v")
			return w.settle().delete(claimKey("one")), "handle-v"
		}},
		{"set scaled down, claims deleted with it", true, func(t *testing.T) (*world, string) {
			w := newWorld(t, class("fast", folders), set(2, retention("Retain", "Delete"))).settle()
			name := w.of("data-web-1").Name
			return w.editSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(1)) }), name
		}},
		{"set scaled down, claims retained", false, func(t *testing.T) (*world, string) {
			w := newWorld(t, class("fast", folders), set(2, retention("Delete", "Retain"))).settle()
			name := w.of("data-web-1").Name
			return w.editSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(1)) }), name
		}},
		{"set deleted, claims with it", true, func(t *testing.T) (*world, string) {
			w := newWorld(t, class("fast", folders), set(2, retention("Delete", "Retain"))).settle()
			name := w.of("data-web-1").Name
			return w.delete(Key{StatefulSets, "ns", "web"}), name
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, handle := tt.play(t)
			if !tt.loses && !w.s.HasData(handle) {
				t.Fatal("the data was lost on the way")
			}
			if w.settle(); w.s.HasData(handle) == tt.loses {
				t.Errorf("the data is lost: %t, want %t", !w.s.HasData(handle), tt.loses)
			}
		})
	}
}

// TestTwoClaimsOneVolume is the window that a cleared claimRef opens: another
// claim may come first, and for a while both are Bound.
func TestTwoClaimsOneVolume(t *testing.T) {
	w := newWorld(t, pv("v"), pvc("one")).settle()
	w.create(pvc("rival")).editVolume("v", func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = nil
		delete(v.Annotations, volume.AnnBoundByController)
	})
	back := *w // The other way it may go.
	const binder = "persistentvolume-binder"
	w.fire(binder, "mark as Available", "v").fire(binder, "bind to claim ns/rival", "v").
		fire(binder, "mark as Bound", "v").fire(binder, "bind to volume", "rival").fire(binder, "mark as Bound", "rival")
	w.claimIs("one", corev1.ClaimBound, "v")
	w.claimIs("rival", corev1.ClaimBound, "v")
	w.settle()
	w.claimIs("one", corev1.ClaimLost, "v")
	w.claimIs("rival", corev1.ClaimBound, "v")

	back.fire(binder, "bind to claim ns/one", "v").settle()
	back.claimIs("one", corev1.ClaimBound, "v")
	back.claimIs("rival", corev1.ClaimPending, "")
}

func TestProtection(t *testing.T) {
	t.Run("a claim in use", func(t *testing.T) {
		for _, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed} {
			p := podUsing("app", "one")
			p.Annotations = map[string]string{AnnotationPhase: string(phase)}
			w := newWorld(t, pv("v"), pvc("one"), p).settle()
			if got := w.s.Pod("ns", "app").Status.Phase; got != phase {
				t.Fatalf("the pod is %s", got)
			}
			w.delete(claimKey("one")).settle()
			w.claimIs("one", corev1.ClaimBound, "v")
			w.volumeIs("v", corev1.VolumeBound, "one")
			w.delete(podKey("app")).settle()
			w.gone(claimKey("one"))
			w.volumeIs("v", corev1.VolumeReleased, "one")
		}
	})
	t.Run("a pod that is not scheduled holds nothing", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one")).settle()
		w.s = w.s.Remove(Key{Nodes, "", "n1"})
		w.create(podUsing("app", "one")).settle()
		w.told("app", "FailedScheduling", "no nodes available to schedule pods")
		w.delete(claimKey("one")).settle()
		w.gone(claimKey("one"))
		w.create(node("n1")).settle()
		w.told("app", "FailedScheduling",
			`0/1 nodes are available: persistentvolumeclaim "one" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.`)
	})
	t.Run("a pod that is stuck", func(t *testing.T) {
		p := podUsing("app", "one")
		p.Annotations = map[string]string{AnnotationStuck: "true"}
		w := newWorld(t, pv("v"), pvc("one"), p).settle()
		w.delete(podKey("app")).delete(claimKey("one")).settle()
		if w.claim("one").DeletionTimestamp == nil || w.s.Pod("ns", "app") == nil {
			t.Error("the claim or the pod is gone")
		}
	})
	t.Run("a volume in use", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one")).settle()
		w.s = w.s.WithData("handle-v")
		w.delete(Key{Volumes, "", "v"}).settle()
		w.volumeIs("v", corev1.VolumeBound, "one")
		w.delete(claimKey("one")).settle()
		w.gone(Key{Volumes, "", "v"})
		if !w.s.HasData("handle-v") {
			t.Error("a retained volume's data went with its object")
		}
	})
	t.Run("finalizers are put back", func(t *testing.T) {
		w := newWorld(t)
		w.s = w.s.Create(pv("v")).Create(pvc("one"))
		w.settle()
		if !slices.Contains(w.volume("v").Finalizers, volumeProtectionFinalizer) || !slices.Contains(w.claim("one").Finalizers, claimProtectionFinalizer) {
			t.Error("not protected")
		}
	})
	t.Run("the condition Unused", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one")).settle()
		status := func() corev1.ConditionStatus {
			c := w.claim("one").Status.Conditions
			if len(c) != 1 || c[0].Type != corev1.PersistentVolumeClaimUnused {
				t.Fatalf("conditions are %+v", c)
			}
			return c[0].Status
		}
		if status() != corev1.ConditionTrue {
			t.Error("a claim without pods is used")
		}
		if w.create(podUsing("app", "one")).settle(); status() != corev1.ConditionFalse {
			t.Error("a claim with a pod is unused")
		}
		w.editPod("app", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
		if w.settle(); status() != corev1.ConditionTrue {
			t.Error("a claim whose pod has ended is used")
		}
	})
}

func TestSinglePod(t *testing.T) {
	const taken = "0/1 nodes are available: 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. " +
		"preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
	t.Run("the scheduler goes by the claim", func(t *testing.T) {
		w := newWorld(t, pv("v", modes(corev1.ReadWriteOncePod)), pvc("one", single), podUsing("a", "one")).settle()
		w.create(podUsing("b", "one")).settle()
		if n := w.s.Pod("ns", "b").Spec.NodeName; n != "" {
			t.Errorf("the second pod is on %s", n)
		}
		w.told("b", "FailedScheduling", taken)
		// One that has ended is not in the way.
		w.editPod("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }).settle()
		if !running(w.s.Pod("ns", "b")) {
			t.Error("the second pod does not run")
		}
	})
	t.Run("a higher priority preempts", func(t *testing.T) {
		urgent := podUsing("b", "one")
		urgent.Spec.Priority = new(int32(10))
		w := newWorld(t, pv("v", modes(corev1.ReadWriteOncePod)), pvc("one", single), podUsing("a", "one")).settle()
		w.create(urgent).settle()
		w.gone(podKey("a"))
		if !running(w.s.Pod("ns", "b")) {
			t.Error("the urgent pod does not run")
		}
	})
	t.Run("the kubelet goes by the volume", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one"), podUsing("a", "one")).settle()
		w.editVolume("v", modes(corev1.ReadWriteOncePod)).create(podUsing("b", "one")).settle()
		b := w.s.Pod("ns", "b")
		if b.Spec.NodeName != "n1" || b.Status.Phase != corev1.PodPending {
			t.Errorf("the second pod is %s on %q", b.Status.Phase, b.Spec.NodeName)
		}
		w.told("b", "FailedMount",
			`MountVolume.SetUp failed for volume "v" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`)
		w.delete(podKey("a")).settle()
		if !running(w.s.Pod("ns", "b")) {
			t.Error("the second pod does not run")
		}
	})
	t.Run("the kubelet does not mind another mode beside it", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one"), podUsing("a", "one")).settle()
		w.editVolume("v", modes(corev1.ReadWriteOncePod, corev1.ReadWriteOnce)).create(podUsing("b", "one")).settle()
		if !running(w.s.Pod("ns", "b")) {
			t.Error("the second pod does not run")
		}
	})
	t.Run("a volume that is elsewhere", func(t *testing.T) {
		w := newWorld(t, pv("v", onNode("n9")), pvc("one"), podUsing("a", "one")).settle()
		w.told("a", "FailedScheduling", "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity. "+
			"preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.")
	})
}

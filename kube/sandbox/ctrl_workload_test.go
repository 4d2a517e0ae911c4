package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func podUIDs(s *State) map[string]types.UID {
	uids := map[string]types.UID{}
	for p := range s.Pods("ns") {
		uids[p.Name] = p.UID
	}
	return uids
}

func webKey() Key { return Key{StatefulSets, "ns", "web"} }

// TestStatefulSetRecreated is the way to other claim templates: the set is
// deleted, its pods are not, and a new one of the name takes them over.
func TestStatefulSetRecreated(t *testing.T) {
	w := newWorld(t, class("fast", folders), set(2, retention("Delete", "Retain"))).settle()
	before := podUIDs(w.s)
	revision := w.s.StatefulSet("ns", "web").Status.UpdateRevision
	if owner := metav1.GetControllerOf(w.claim("data-web-0")); owner == nil || owner.Kind != "StatefulSet" || !*owner.BlockOwnerDeletion {
		t.Fatalf("the claim's owner is %+v", owner)
	}
	w.delete(webKey(), metav1.DeletePropagationOrphan)
	if w.s.StatefulSet("ns", "web") == nil {
		t.Fatal("the set is gone before its dependents are orphaned")
	}
	w.settle()
	w.gone(webKey())
	if refs := w.claim("data-web-0").OwnerReferences; len(refs) != 0 {
		t.Errorf("the claim's owners are %+v", refs)
	}
	again := set(2, retention("Delete", "Retain"))
	single(&again.Spec.VolumeClaimTemplates[0])
	w.create(again).settle()
	if after := podUIDs(w.s); !maps.Equal(before, after) {
		t.Errorf("pods are %v, were %v", after, before)
	}
	web := w.s.StatefulSet("ns", "web")
	if web.Status.UpdateRevision != revision || web.Status.ReadyReplicas != 2 || web.Status.CurrentRevision != revision {
		t.Errorf("status is %+v", web.Status)
	}
	for _, name := range []string{"data-web-0", "data-web-1"} {
		if owner := metav1.GetControllerOf(w.claim(name)); owner == nil || owner.UID != web.UID {
			t.Errorf("the owner of %s is %+v", name, owner)
		}
		// The claims that are there stay as they are.
		if got := w.claim(name).Spec.AccessModes[0]; got != corev1.ReadWriteOnce {
			t.Errorf("%s is %s", name, got)
		}
	}
}

func TestStatefulSetOrder(t *testing.T) {
	pods := func(w *world) []string { return slices.Sorted(maps.Keys(podUIDs(w.s))) }
	t.Run("one after the other", func(t *testing.T) {
		s := set(3)
		s.Spec.Template.Annotations = map[string]string{AnnotationPhase: "Pending"}
		w := newWorld(t, class("fast", folders), s).settle()
		if got := pods(w); !slices.Equal(got, []string{"web-0"}) {
			t.Errorf("pods are %v", got)
		}
	})
	t.Run("all at once", func(t *testing.T) {
		s := set(3, parallel)
		s.Spec.Template.Annotations = map[string]string{AnnotationPhase: "Pending"}
		w := newWorld(t, class("fast", folders), s).settle()
		if got := pods(w); !slices.Equal(got, []string{"web-0", "web-1", "web-2"}) {
			t.Errorf("pods are %v", got)
		}
	})
	t.Run("other ordinals", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(2, func(s *appsv1.StatefulSet) { s.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5} })).settle()
		if got := pods(w); !slices.Equal(got, []string{"web-5", "web-6"}) {
			t.Errorf("pods are %v", got)
		}
	})
	t.Run("down and up again with the same claims", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(2)).settle()
		was := w.claim("data-web-1").UID
		w.editSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(0)) }).settle()
		if got := pods(w); len(got) != 0 {
			t.Errorf("pods are %v", got)
		}
		w.editSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(2)) }).settle()
		if w.claim("data-web-1").UID != was || len(pods(w)) != 2 {
			t.Error("the claim is another one, or a pod is missing")
		}
	})
	t.Run("a deleted claim comes back from the old template", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(1)).settle()
		was := w.claim("data-web-0").UID
		w.delete(claimKey("data-web-0")).delete(podKey("web-0")).settle()
		if now := w.claim("data-web-0"); now.UID == was || now.Status.Phase != corev1.ClaimBound {
			t.Errorf("the claim is %s", now.Status.Phase)
		}
	})
	t.Run("a claim that is being deleted keeps the pod waiting", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(1)).settle()
		w.delete(claimKey("data-web-0")).delete(podKey("web-0")).settleWithout("persistentvolumeclaim-protection")
		w.told("web", "FailedCreate", "Create Pod web-0 in StatefulSet web failed error: pvc data-web-0 is being deleted")
		w.gone(podKey("web-0"))
	})
	t.Run("a new template", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(2)).settle()
		before := podUIDs(w.s)
		w.editSet(func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Image = "newer" }).settle()
		for name, uid := range podUIDs(w.s) {
			if uid == before[name] || w.s.Pod("ns", name).Spec.Containers[0].Image != "newer" {
				t.Errorf("%s is not renewed", name)
			}
		}
		if st := w.s.StatefulSet("ns", "web").Status; st.CurrentRevision != st.UpdateRevision || st.UpdatedReplicas != 2 {
			t.Errorf("status is %+v", st)
		}
	})
}

// TestRetention is who owns a claim under each policy, and who is deleted with
// whom.
func TestRetention(t *testing.T) {
	const keep, drop = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	tests := []struct {
		deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType
		owner           string
		downGone        bool
		deleteGone      bool
	}{
		{keep, keep, "", false, false},
		{drop, keep, "StatefulSet", false, true},
		{keep, drop, "", true, false},
		{drop, drop, "StatefulSet", true, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("deleted %s scaled %s", tt.deleted, tt.scaled), func(t *testing.T) {
			w := newWorld(t, class("fast", folders), set(2, retention(tt.deleted, tt.scaled))).settle()
			owner := ""
			if ref := metav1.GetControllerOf(w.claim("data-web-1")); ref != nil {
				owner = ref.Kind
			}
			if owner != tt.owner {
				t.Errorf("the claim's owner is %q, want %q", owner, tt.owner)
			}
			down := *w
			down.editSet(func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(1)) }).settle()
			if got := down.s.Claim("ns", "data-web-1") == nil; got != tt.downGone {
				t.Errorf("gone when scaled down: %t", got)
			}
			if down.s.Claim("ns", "data-web-0") == nil {
				t.Error("the claim of a pod that stays is gone")
			}
			w.delete(webKey()).settle()
			w.gone(webKey())
			if got := w.s.Claim("ns", "data-web-0") == nil; got != tt.deleteGone {
				t.Errorf("gone when deleted: %t", got)
			}
		})
	}
	t.Run("the policy changes", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(1, retention(drop, keep))).settle()
		w.editSet(retention(keep, keep)).settle()
		if refs := w.claim("data-web-0").OwnerReferences; len(refs) != 0 {
			t.Errorf("owners are %+v", refs)
		}
	})
}

func TestGarbage(t *testing.T) {
	owned := func(owner metav1.OwnerReference) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = append(c.OwnerReferences, owner) }
	}
	dead := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: "dead"}
	t.Run("owner of an earlier uid", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(0), pvc("one", owned(dead))).settle()
		w.gone(claimKey("one"))
	})
	t.Run("one owner lives", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(0))
		live := *metav1.NewControllerRef(w.s.StatefulSet("ns", "web"), setKind())
		w.create(pvc("one", owned(dead), owned(live))).settle()
		if refs := w.claim("one").OwnerReferences; len(refs) != 1 || refs[0].UID != live.UID {
			t.Errorf("owners are %+v", refs)
		}
	})
	t.Run("owner in another namespace", func(t *testing.T) {
		other := set(0)
		other.Namespace = "elsewhere"
		w := newWorld(t, other)
		w.create(pvc("one", owned(*metav1.NewControllerRef(w.s.StatefulSet("elsewhere", "web"), setKind())))).settle()
		w.gone(claimKey("one"))
	})
	t.Run("owner of an unknown kind", func(t *testing.T) {
		w := newWorld(t, pvc("one", owned(metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Thing", Name: "x", UID: "x"}))).settle()
		w.claimIs("one", corev1.ClaimPending, "")
	})
	t.Run("a volume can't have an owner in a namespace", func(t *testing.T) {
		w := newWorld(t, pv("v", func(v *corev1.PersistentVolume) { v.OwnerReferences = []metav1.OwnerReference{dead} })).settle()
		w.volumeIs("v", corev1.VolumeAvailable, "")
	})
	t.Run("foreground", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), set(1)).settle()
		w.delete(webKey(), metav1.DeletePropagationForeground).settleWithout("kubelet")
		if w.s.StatefulSet("ns", "web") == nil || w.s.Pod("ns", "web-0").DeletionTimestamp == nil {
			t.Error("the owner went first, or its pod is not being deleted")
		}
		w.settle()
		w.gone(webKey())
		w.gone(podKey("web-0"))
	})
	t.Run("a namespace", func(t *testing.T) {
		w := newWorld(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}, class("fast", folders), set(2)).settle()
		name := w.of("data-web-0").Name
		w.delete(Key{Namespaces, "", "ns"}).settle()
		w.gone(Key{Namespaces, "", "ns"})
		if n := len(w.s.List(Pods)) + len(w.s.List(Claims)) + len(w.s.List(StatefulSets)); n != 0 {
			t.Errorf("%d objects are left", n)
		}
		if w.s.HasData(name) {
			t.Error("the data is still there")
		}
	})
}

func TestDeployment(t *testing.T) {
	deployment := func(strategy appsv1.DeploymentStrategy, replicas int32) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selects("app"), Template: template("app", "one"), Strategy: strategy},
		}
	}
	edit := func(w *world, mutate func(*appsv1.Deployment)) {
		w.s = w.s.Update(edited(w.s.Deployment("ns", "app"), mutate))
	}
	newer := func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "newer" }
	recreate := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	surge := func(n, gone int) appsv1.DeploymentStrategy {
		return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
			MaxSurge: new(intstr.FromInt(n)), MaxUnavailable: new(intstr.FromInt(gone)),
		}}
	}
	for name, tt := range map[string]struct {
		strategy appsv1.DeploymentStrategy
		stuck    bool
	}{
		"Recreate":                {recreate, false},
		"surge deadlocks on RWOP": {surge(1, 0), true},
		"no surge does not":       {surge(0, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pv("v", modes(corev1.ReadWriteOncePod)), pvc("one", single), deployment(tt.strategy, 1)).settle()
			if d := w.s.Deployment("ns", "app"); d.Status.ReadyReplicas != 1 {
				t.Fatalf("status is %+v", d.Status)
			}
			edit(w, newer)
			w.settle()
			images := []string{}
			for p := range w.s.Pods("ns") {
				images = append(images, p.Spec.Containers[0].Image+" "+string(p.Status.Phase))
			}
			slices.Sort(images)
			want := []string{"newer Running"}
			if tt.stuck {
				want = []string{"image Running", "newer Pending"}
			}
			if !slices.Equal(images, want) {
				t.Errorf("pods are %q, want %q", images, want)
			}
		})
	}
	t.Run("Recreate waits for the last old pod", func(t *testing.T) {
		d := deployment(recreate, 1)
		d.Spec.Template.Annotations = map[string]string{AnnotationStuck: "true"}
		w := newWorld(t, pv("v"), pvc("one"), d).settle()
		edit(w, newer)
		w.settle()
		if n := len(w.s.List(Pods)); n != 1 {
			t.Errorf("%d pods while one does not end", n)
		}
		for p := range w.s.Pods("ns") {
			w.s = w.s.Remove(KeyOf(p))
		}
		if w.settle(); w.s.Deployment("ns", "app").Status.UpdatedReplicas != 1 {
			t.Error("there is no new pod")
		}
	})
	t.Run("deleted with its pods", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one"), deployment(recreate, 2)).settle()
		w.delete(Key{Deployments, "ns", "app"}).settle()
		if n := len(w.s.List(Pods)) + len(w.s.List(ReplicaSets)); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
	t.Run("an autoscaler", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one"), deployment(recreate, 1), &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "app"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{Kind: "Deployment", Name: "app"}, MinReplicas: new(int32(2)), MaxReplicas: 3,
			},
		}).settle()
		if n := len(w.s.List(Pods)); n != 2 {
			t.Errorf("%d pods", n)
		}
		edit(w, func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) })
		if w.settle(); len(w.s.List(Pods)) != 0 {
			t.Error("it scales up from zero")
		}
	})
}

func TestOtherWorkloads(t *testing.T) {
	t.Run("a daemon set", func(t *testing.T) {
		w := newWorld(t, node("n2"), pv("v"), pvc("one"), &appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent"},
			Spec:       appsv1.DaemonSetSpec{Selector: selects("agent"), Template: template("agent", "one")},
		}).settle()
		on := map[string]bool{}
		for p := range w.s.Pods("ns") {
			on[p.Spec.NodeName] = running(p)
		}
		if !on["n1"] || !on["n2"] || len(on) != 2 {
			t.Errorf("pods are on %v", on)
		}
		w.s = w.s.Update(edited(w.s.DaemonSet("ns", "agent"), func(d *appsv1.DaemonSet) { d.Spec.Template.Spec.Containers[0].Image = "newer" }))
		w.settle()
		if st := w.s.DaemonSet("ns", "agent").Status; st.UpdatedNumberScheduled != 2 || st.NumberReady != 2 {
			t.Errorf("status is %+v", st)
		}
	})
	cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "backup"}, Spec: batchv1.CronJobSpec{Schedule: "@daily"}}
	cron.Spec.JobTemplate.Spec = batchv1.JobSpec{Completions: new(int32(3)), Parallelism: new(int32(2)), Template: template("backup", "one")}
	cron.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	cron.Spec.JobTemplate.Spec.Template.Annotations = map[string]string{AnnotationPhase: "Succeeded"}
	t.Run("a cron job and its job", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one"), cron).settle()
		if n := len(w.s.List(Jobs)); n != 0 {
			t.Fatalf("%d jobs before the hour", n)
		}
		w.s = RunCron(w.s, "ns", "backup")
		w.settle()
		job, ok := w.s.List(Jobs)[0].(*batchv1.Job)
		if !ok || job.Status.Succeeded != 3 || !jobDone(job) {
			t.Errorf("job status is %+v", job.Status)
		}
		for p := range w.s.Pods("ns") {
			if !ended(p) || slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) {
				t.Errorf("pod %s is %s with %q", p.Name, p.Status.Phase, p.Finalizers)
			}
		}
		if n := len(w.s.List(Pods)); n != 3 {
			t.Errorf("%d pods", n)
		}
		w.delete(KeyOf(job), metav1.DeletePropagationBackground).settle()
		if n := len(w.s.List(Pods)); n != 0 {
			t.Errorf("%d pods are left", n)
		}
	})
	t.Run("suspended", func(t *testing.T) {
		w := newWorld(t, edited(cron, func(c *batchv1.CronJob) { c.Spec.Suspend = new(true) })).settle()
		if w.s = RunCron(w.s, "ns", "backup"); len(w.s.List(Jobs)) != 0 {
			t.Error("it has run")
		}
	})
	t.Run("a job that fails", func(t *testing.T) {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "j"}, Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(1)), Template: template("j"), Selector: selects("j"),
		}}
		j.Spec.Template.Annotations = map[string]string{AnnotationPhase: "Failed"}
		w := newWorld(t, j).settle()
		if st := w.s.Job("ns", "j").Status; st.Failed != 2 || !jobDone(w.s.Job("ns", "j")) {
			t.Errorf("status is %+v", st)
		}
	})
}

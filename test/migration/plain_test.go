package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/claimref/claimref/actions/migration"
)

// uninterrupted carries an operation out, and judges its end by what Kubernetes
// says of it.
func uninterrupted(w *world) ends {
	e := ends{before: w.picture(w.t.Context())}
	was := w.set()
	pods := w.followPods()
	line := &wire{}
	r, err := w.carryOut(w.begin(), line)
	if err != nil || r.Outcome != finished {
		w.t.Fatalf("%+v: %v", r, err)
	}
	if len(r.Steps) < line.writes() {
		w.t.Errorf("%d writes, but approved were only %v", line.writes(), r.Steps)
	}
	eventually(w.t, "the end", func(ctx context.Context) string {
		if wrong := w.notReady(ctx); wrong != "" {
			return wrong
		}
		return w.wrongVolumes(ctx) + w.wrongSet(ctx, was) + w.wrongDeployment(ctx) + w.wrongPods(ctx)
	})
	pods.restartedOnce(w)
	e.after = w.picture(w.t.Context())
	// A step that was overtaken by somebody else's write was approved again.
	for _, step := range slices.Compact(r.Steps) {
		e.steps = append(e.steps, w.neutral(step))
	}
	if len(e.steps) != line.writes() {
		w.t.Errorf("%d writes for the steps %v", line.writes(), e.steps)
	}
	shared.tally.took(w.kind.name, len(e.steps))
	w.t.Logf("writes: %v\nend:\n%s", e.steps, e.after)
	return e
}

func (w *world) set() *appsv1.StatefulSet {
	w.t.Helper()
	if w.kind.scaled != migration.StatefulSetKind {
		return nil
	}
	set, err := shared.api.AppsV1().StatefulSets(w.ns).Get(w.t.Context(), setName, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return set
}

// wrongVolumes compares volumes and claims with what they were.
func (w *world) wrongVolumes(ctx context.Context) string {
	var wrong []string
	check := func(holds bool, what string, got any) {
		if !holds {
			wrong = append(wrong, fmt.Sprintf("%s: %v", what, got))
		}
	}
	modes := []corev1.PersistentVolumeAccessMode{w.kind.modes}
	for i, was := range w.volumes {
		pv, err := shared.api.CoreV1().PersistentVolumes().Get(ctx, was.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		goal, old := w.goal(i), w.claims[i]
		pvc, err := shared.api.CoreV1().PersistentVolumeClaims(goal.Namespace).Get(ctx, goal.Name, metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		check(pv.UID == was.UID, "the volume is another one", pv.Name)
		check(bound(pv, pvc), "volume and claim are not bound to each other", pv.Spec.ClaimRef)
		check(pvc.UID != old.UID, "the claim is the old one", pvc.Name)
		check(slices.Equal(pv.Spec.AccessModes, modes), "modes of the volume", pv.Spec.AccessModes)
		check(slices.Equal(pvc.Spec.AccessModes, modes), "modes of the claim", pvc.Spec.AccessModes)
		check(slices.Equal(pvc.Status.AccessModes, modes), "modes in the claim's status", pvc.Status.AccessModes)
		check(pv.Spec.PersistentVolumeReclaimPolicy == w.kind.policy, "policy", pv.Spec.PersistentVolumeReclaimPolicy)
		check(pvc.Spec.StorageClassName != nil && *pvc.Spec.StorageClassName == w.class, "class", pvc.Spec.StorageClassName)
		check(equality.Semantic.DeepEqual(pvc.Spec.Resources, old.Spec.Resources), "size", pvc.Spec.Resources)
		if w.kind.name != "recreate" {
			// Nobody knows any more what the claim that is missing was like.
			check(equality.Semantic.DeepEqual(pvc.Labels, old.Labels), "labels", pvc.Labels)
			check(pvc.Annotations["example.com/owner"] == old.Annotations["example.com/owner"], "annotations", pvc.Annotations)
		}
		for key := range pv.Annotations {
			check(!strings.HasPrefix(key, "claimref.io/"), "left on the volume", key)
		}
	}
	return strings.Join(wrong, "\n")
}

// wrongSet compares the StatefulSet with what it was.
func (w *world) wrongSet(ctx context.Context, was *appsv1.StatefulSet) string {
	if was == nil {
		return ""
	}
	set, err := shared.api.AppsV1().StatefulSets(w.ns).Get(ctx, setName, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	revisions, err := shared.api.AppsV1().ControllerRevisions(w.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	want, kept := was.Spec.DeepCopy(), w.request().KeepTemplates
	if !kept {
		want.VolumeClaimTemplates[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{w.kind.modes}
	}
	switch {
	case kept != (set.UID == was.UID):
		return "the set was made anew, or was not"
	case !equality.Semantic.DeepEqual(set.Spec, *want):
		return fmt.Sprintf("the set is %s and not %s", as(set.Spec), as(want))
	case set.Status.CurrentRevision != was.Status.CurrentRevision || len(revisions.Items) != 1:
		return fmt.Sprintf("its revision is %s of %d, and was %s", set.Status.CurrentRevision, len(revisions.Items), was.Status.CurrentRevision)
	}
	return ""
}

func (w *world) wrongDeployment(ctx context.Context) string {
	if w.kind.scaled != migration.DeploymentKind {
		return ""
	}
	d, err := shared.api.AppsV1().Deployments(w.ns).Get(ctx, deploymentName, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	jobs, err := shared.api.BatchV1().CronJobs(w.ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	for _, job := range jobs.Items {
		if job.Spec.Suspend != nil && *job.Spec.Suspend {
			return "the CronJob is suspended"
		}
	}
	return unless(d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && *d.Spec.Replicas == w.kind.pods,
		"the Deployment is %s", as(d.Spec))
}

// wrongPods looks whether all pods run, each on the claim that it had.
func (w *world) wrongPods(ctx context.Context) string {
	pods, err := shared.api.CoreV1().Pods(w.ns).List(ctx, metav1.ListOptions{})
	if err != nil || len(pods.Items) != int(w.kind.pods) {
		return fmt.Sprintf("%d pods: %v", len(pods.Items), err)
	}
	used := make(map[string]bool)
	for _, pod := range pods.Items {
		if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			return fmt.Sprintf("pod %s is %s", pod.Name, pod.Status.Phase)
		}
		for _, v := range pod.Spec.Volumes {
			if v.PersistentVolumeClaim != nil {
				used[v.PersistentVolumeClaim.ClaimName] = true
			}
		}
	}
	return unless(len(used) == int(w.kind.pods) && (w.kind.pods == 0 || used[w.kind.claims[0]]), "the pods use claims %v", used)
}

// podLog are all pods that a namespace has had.
type podLog struct {
	watch watch.Interface
	mu    sync.Mutex
	// seen are the uids of each name.
	seen map[string]map[types.UID]bool
	done sync.WaitGroup
}

// followPods notes all pods of the world from now on.
func (w *world) followPods() *podLog {
	w.t.Helper()
	l := &podLog{seen: make(map[string]map[types.UID]bool)}
	pods, err := shared.api.CoreV1().Pods(w.ns).List(w.t.Context(), metav1.ListOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range pods.Items {
		l.note(&pods.Items[i])
	}
	l.watch, err = shared.api.CoreV1().Pods(w.ns).Watch(w.t.Context(), metav1.ListOptions{ResourceVersion: pods.ResourceVersion})
	if err != nil {
		w.t.Fatal(err)
	}
	l.done.Go(func() {
		for event := range l.watch.ResultChan() {
			if pod, ok := event.Object.(*corev1.Pod); ok {
				l.note(pod)
			}
		}
	})
	w.t.Cleanup(l.stop)
	return l
}

func (l *podLog) note(pod *corev1.Pod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen[pod.Name] == nil {
		l.seen[pod.Name] = make(map[types.UID]bool)
	}
	l.seen[pod.Name][pod.UID] = true
}

func (l *podLog) stop() {
	l.watch.Stop()
	l.done.Wait()
}

// restartedOnce checks that each pod was replaced by one other.
func (l *podLog) restartedOnce(w *world) {
	w.t.Helper()
	eventually(w.t, "pods", func(context.Context) string {
		l.mu.Lock()
		defer l.mu.Unlock()
		total := 0
		for name, uids := range l.seen {
			total += len(uids)
			if w.kind.scaled == migration.StatefulSetKind && len(uids) != 2 {
				return fmt.Sprintf("there were %d pods of the name %s", len(uids), name)
			}
		}
		return unless(total == 2*int(w.kind.pods), "there were %d pods in all", total)
	})
}

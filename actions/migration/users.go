package migration

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// The kinds of workloads that no step is about.
const (
	daemonSetKind actions.Kind = "DaemonSet"
	jobKind       actions.Kind = "Job"
)

// user is a workload that uses a claim: one of its pods names it, or would.
type user struct {
	ref actions.Ref
	// object is the workload; nil for one of a kind that is not looked at.
	object metav1.Object
	// operator is the owner of the workload, as Request.Operators names it,
	// where it has one that this package knows nothing of.
	operator string
}

// usersOf are the workloads that use a claim, each once, the bare pods among
// them. Templates are looked at as well as pods: what has no pod now may make
// one in the middle of the operation.
func (d *draft) usersOf(key actions.ClaimKey) []user {
	var users []user
	add := func(u user) {
		if !slices.ContainsFunc(users, func(known user) bool { return sameObject(known.ref, u.ref) }) {
			users = append(users, u)
		}
	}
	for _, pod := range d.running(key) {
		add(d.top(pod, PodKind))
	}
	for _, object := range d.workloads() {
		if object.GetNamespace() == key.Namespace && object.names(key) && !outdated(object.Object) {
			add(d.top(object.Object, object.kind))
		}
	}
	return users
}

// outdated says whether an object is a ReplicaSet that is left over from an
// earlier revision of its Deployment.
func outdated(o metav1.Object) bool {
	rs, ok := o.(*appsv1.ReplicaSet)
	return ok && value(rs.Spec.Replicas, 1) == 0 && metav1.GetControllerOf(rs) != nil
}

// top follows the controllers of an object up to the one that is to be
// stopped.
func (d *draft) top(o metav1.Object, kind actions.Kind) user {
	const longestChain = 8
	u := user{ref: refOf(o, kind), object: o}
	for range longestChain {
		owner := metav1.GetControllerOf(u.object)
		if owner == nil {
			return u
		}
		at := slices.IndexFunc(d.workloads(), func(w workload) bool {
			return w.GetUID() == owner.UID
		})
		if at < 0 {
			ref := actions.Ref{Kind: actions.Kind(owner.Kind), Namespace: o.GetNamespace(), Name: owner.Name, UID: owner.UID}
			u.operator = refText(ref)
			if u.ref.Kind == PodKind {
				// There is nothing else to stop the pod by.
				u.ref, u.object = ref, nil
			}
			return u
		}
		w := d.workloads()[at]
		u.ref, u.object = w.ref(), w.Object
	}
	return u
}

// workload is an object that makes pods by a template.
type workload struct {
	metav1.Object
	kind     actions.Kind
	template *corev1.PodTemplateSpec
	// makes says whether the workload makes the claim itself.
	makes func(actions.ClaimKey) bool
}

func (w workload) ref() actions.Ref { return refOf(w.Object, w.kind) }

// names says whether pods of the workload use a claim.
func (w workload) names(key actions.ClaimKey) bool {
	return volumesName(w.template.Spec.Volumes, key.Name) || w.makes != nil && w.makes(key)
}

func refOf(o metav1.Object, kind actions.Kind) actions.Ref {
	return actions.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}
}

// workloads are all that make pods and have not run to their end.
func (d *draft) workloads() []workload {
	if d.loads != nil {
		return d.loads
	}
	loads := []workload{}
	for _, o := range d.s.Deployments {
		loads = append(loads, workload{Object: o, kind: DeploymentKind, template: &o.Spec.Template})
	}
	for _, o := range d.s.StatefulSets {
		makes := func(key actions.ClaimKey) bool { return templateOf(o, key) != "" }
		loads = append(loads, workload{Object: o, kind: StatefulSetKind, template: &o.Spec.Template, makes: makes})
	}
	for _, o := range d.s.ReplicaSets {
		loads = append(loads, workload{Object: o, kind: ReplicaSetKind, template: &o.Spec.Template})
	}
	for _, o := range d.s.DaemonSets {
		loads = append(loads, workload{Object: o, kind: daemonSetKind, template: &o.Spec.Template})
	}
	for _, o := range d.s.CronJobs {
		loads = append(loads, workload{Object: o, kind: CronJobKind, template: &o.Spec.JobTemplate.Spec.Template})
	}
	for _, o := range d.s.Jobs {
		if !jobFinished(o) {
			loads = append(loads, workload{Object: o, kind: jobKind, template: &o.Spec.Template})
		}
	}
	d.loads = loads
	return loads
}

func jobFinished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// running are the pods that name a claim and have not run to their end,
// whether they have begun or not.
func (d *draft) running(key actions.ClaimKey) []*corev1.Pod {
	return d.pods(key, func(pod *corev1.Pod) bool { return !ended(pod) })
}

// held are the pods that have run to their end and hold a claim all the same:
// it is not let go as long as a pod that had a node names it
// (pkg/controller/volume/pvcprotection).
func (d *draft) held(key actions.ClaimKey) []*corev1.Pod {
	return d.pods(key, func(pod *corev1.Pod) bool {
		return ended(pod) && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil
	})
}

func (d *draft) pods(key actions.ClaimKey, which func(*corev1.Pod) bool) []*corev1.Pod {
	var found []*corev1.Pod
	for _, pod := range d.s.Pods {
		if pod.Namespace == key.Namespace && podNames(pod, key.Name) && which(pod) {
			found = append(found, pod)
		}
	}
	return found
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func podNames(pod *corev1.Pod, claim string) bool {
	return volumesName(pod.Spec.Volumes, claim) || ephemeral(pod, claim)
}

func volumesName(volumes []corev1.Volume, claim string) bool {
	return slices.ContainsFunc(volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
	})
}

// ephemeral says whether a claim was made for a pod, and goes with it. It is
// named after both (component-helpers/storage/ephemeral, VolumeClaimName).
func ephemeral(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil && pod.Name+"-"+v.Name == claim
	})
}

// anyPod is for what matters whatever a pod does.
func anyPod(*corev1.Pod) bool { return true }

func podList(pods []*corev1.Pod) string {
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = pod.Name
	}
	slices.Sort(names)
	return list(names)
}

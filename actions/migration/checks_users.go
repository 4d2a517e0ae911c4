package migration

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/claimref/claimref/actions"
)

// stop plans that all that uses the claims is stopped meanwhile, and checks
// that it can be, and that it can do with ReadWriteOncePod afterwards.
func (d *draft) stop() {
	var all []user
	for _, m := range d.members {
		users := d.usersOf(m.key)
		d.onePod(m.key)
		d.oneWorkload(m.key, users)
		for _, u := range users {
			if !slices.ContainsFunc(all, func(known user) bool { return sameObject(known.ref, u.ref) }) {
				all = append(all, u)
			}
		}
	}
	for _, u := range all {
		d.stopUser(u)
	}
	if len(all) == 0 && !d.workloadsUnread() {
		d.pass("unused", "Nothing uses the claim: nothing has to be stopped")
	}
}

// onePod checks that no more than one pod uses a claim. More could not, from
// then on.
func (d *draft) onePod(key actions.ClaimKey) {
	if pods := d.running(key); len(pods) > 1 {
		d.block("several-pods",
			fmt.Sprintf("%d pods use claim %s: %s; with ReadWriteOncePod only one of them could run", len(pods), key, podList(pods)),
			"Bring them down to one first, or keep ReadWriteOnce")
	}
}

// oneWorkload checks that no more than one workload uses a claim all the time.
func (d *draft) oneWorkload(key actions.ClaimKey, users []user) {
	var steady, jobs []string
	for _, u := range users {
		if u.ref.Kind == CronJobKind {
			jobs = append(jobs, refText(u.ref))
		} else {
			steady = append(steady, refText(u.ref))
		}
	}
	switch {
	case len(steady) > 1:
		d.block("several-workloads",
			fmt.Sprintf("%d workloads use claim %s: %s; with ReadWriteOncePod only one of their pods could run", len(steady), key, list(steady)),
			"Take the claim out of all of them but one, or keep ReadWriteOnce")
	case len(steady)+len(jobs) > 1:
		d.warn("cronjob-beside",
			fmt.Sprintf("Claim %s is used by %s: with ReadWriteOncePod their pods can no longer run at the same time", key, list(slices.Concat(steady, jobs))),
			"A job that starts while another pod runs waits until that has gone; give it a way of its own to the data, or keep ReadWriteOnce")
	}
}

// stopUser checks one workload, and plans how it is stopped.
func (d *draft) stopUser(u user) {
	d.operated(u)
	if u.object == nil {
		return
	}
	if u.object.GetDeletionTimestamp() != nil {
		d.block("workload-terminating", refText(u.ref)+" uses the claim and is being deleted", "Wait until it is gone, then look again")
		return
	}
	w := Workload{Ref: u.ref}
	switch o := u.object.(type) {
	case *appsv1.Deployment:
		w.Replicas = value(o.Spec.Replicas, 1)
		w.Unready = max(0, w.Replicas-o.Status.ReadyReplicas)
		d.oneReplica(u, w.Replicas)
		d.surge(o, &w)
	case *appsv1.ReplicaSet:
		w.Replicas = value(o.Spec.Replicas, 1)
		w.Unready = max(0, w.Replicas-o.Status.ReadyReplicas)
		d.oneReplica(u, w.Replicas)
	case *appsv1.StatefulSet:
		w.Replicas = value(o.Spec.Replicas, 1)
		w.Unready = max(0, w.Replicas-o.Status.ReadyReplicas)
		if d.set != nil && o.UID == d.set.UID {
			d.statefulSet(&w)
		} else {
			d.oneReplica(u, w.Replicas)
			d.retention(o, &w)
		}
	case *batchv1.CronJob:
		w.Suspended = value(o.Spec.Suspend, false)
		text := refText(u.ref) + " is suspended meanwhile, and resumed at the end"
		if w.Suspended {
			text = refText(u.ref) + " is suspended already, and stays so"
		}
		d.pass("cronjob", text)
		for _, job := range d.s.Jobs {
			if owner := metav1.GetControllerOf(job); owner != nil && owner.UID == o.UID && !jobFinished(job) {
				d.job(job)
			}
		}
	default:
		d.unstoppable(u)
		return
	}
	if u.ref.Kind != CronJobKind {
		d.scaled(w)
	}
	d.autoscaler(u)
	d.journal.Workloads = append(d.journal.Workloads, w)
}

// scaled says that a workload is stopped.
func (d *draft) scaled(w Workload) {
	if w.Replicas == 0 {
		d.pass("scaled", refText(w.Ref)+" is at 0 replicas already, and stays so")
		return
	}
	d.pass("scaled", fmt.Sprintf("%s is scaled to 0 meanwhile, which stops its pods, and back to %d at the end", refText(w.Ref), w.Replicas))
}

// unstoppable says what to do about a workload that no step can stop and start
// again.
func (d *draft) unstoppable(u user) {
	switch o := u.object.(type) {
	case *appsv1.DaemonSet:
		d.block("daemonset", refText(u.ref)+" uses the claim with a pod on each node; with ReadWriteOncePod only one of them could run",
			"Keep ReadWriteOnce, or run it as a Deployment of one pod")
	case *batchv1.Job:
		d.job(o)
	case *corev1.Pod:
		d.block("bare-pod", refText(u.ref)+" uses the claim and has no controller: once stopped, nothing would start it again",
			fmt.Sprintf("Save its manifest (kubectl get pod -n %s %s -o yaml), delete it, and create it again afterwards", u.ref.Namespace, u.ref.Name))
	}
}

// job checks that a job has nothing left to do. It can't be stopped and started
// again where it was.
func (d *draft) job(job *batchv1.Job) {
	text := refText(refOf(job, jobKind)) + " uses the claim and "
	if value(job.Spec.Suspend, false) && job.Status.Active == 0 {
		d.warn("job-suspended", text+"is suspended", "Do not resume it before the operation has finished")
		return
	}
	d.block("job-running", text+"has not finished", "Wait until it has finished, or delete it")
}

// operated checks that nothing of which this package knows nothing would start
// a workload again.
func (d *draft) operated(u user) {
	switch {
	case u.operator == "":
	case d.acknowledged(u.operator) && u.object == nil:
		d.warn("operator-acknowledged", "Pods of "+u.operator+" use the claim, and no step can stop them",
			"Stop them yourself: the operation waits until they are gone")
	case slices.Contains(d.req.Operators, u.operator):
		d.warn("operator-acknowledged", refText(u.ref)+" belongs to "+u.operator+", for which you take responsibility",
			"Make sure that its operator is paused; the operation halts if pods come back")
	case u.object == nil:
		d.block("operator", "Pods of "+u.operator+" use the claim, and no step can stop them",
			"Stop them first; or say that you take responsibility for "+u.operator+", and stop them when it is their turn")
	default:
		d.block("operator", refText(u.ref)+" belongs to "+u.operator+", whose operator may start it again while its claim is replaced",
			"Pause the operator, then say that you take responsibility for "+u.operator)
	}
}

func (d *draft) oneReplica(u user, replicas int32) {
	if replicas > 1 {
		d.block("replicas", fmt.Sprintf("%s has %d replicas, all of which use the same claim; with ReadWriteOncePod only one pod could run", refText(u.ref), replicas),
			"Scale it to 1 first, or keep ReadWriteOnce")
	}
}

// surge looks whether a rollout would wait for itself: the new pod waits for
// the claim, and the old one for the new pod to be ready.
func (d *draft) surge(o *appsv1.Deployment, w *Workload) {
	strategy := o.Spec.Strategy
	if strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return
	}
	most := intstr.FromString("25%") // The default (pkg/apis/apps/v1/defaults.go).
	if strategy.RollingUpdate != nil && strategy.RollingUpdate.MaxSurge != nil {
		most = *strategy.RollingUpdate.MaxSurge
	}
	surge, err := intstr.GetScaledValueFromIntOrPercent(&most, int(max(w.Replicas, 1)), true)
	if err == nil && surge == 0 {
		return
	}
	if d.req.Recreate {
		w.Strategy = strategy.DeepCopy()
		d.pass("recreate", refText(w.Ref)+" gets the strategy Recreate: a rollout stops the old pod before it starts the new one")
		return
	}
	d.warn("surge", refText(w.Ref)+" starts a new pod before the old one has gone (RollingUpdate): with ReadWriteOncePod a rollout would wait for itself",
		"Let this operation set the strategy Recreate, or set maxSurge to 0 yourself")
}

// autoscaler warns of what scales a workload up again.
func (d *draft) autoscaler(u user) {
	for _, a := range d.s.Autoscalers {
		target := a.Spec.ScaleTargetRef
		if a.Namespace != u.ref.Namespace || target.Name != u.ref.Name || !isKind(metav1.OwnerReference{APIVersion: target.APIVersion, Kind: target.Kind}, u.ref.Kind) {
			continue
		}
		owner, keda := a.Labels["scaledobject.keda.sh/name"]
		if !keda {
			owner, keda = strings.CutPrefix(a.Name, "keda-hpa-")
		}
		switch {
		case keda:
			d.warn("autoscaler-keda", fmt.Sprintf("KEDA scales %s (ScaledObject %s), and would start it again while its claim is replaced", refText(u.ref), owner),
				"Pause it first: set the annotation autoscaling.keda.sh/paused to \"true\" on the ScaledObject")
		case value(a.Spec.MinReplicas, 1) == 0:
			d.warn("autoscaler", fmt.Sprintf("HorizontalPodAutoscaler %s scales %s from 0, and may start it again while its claim is replaced", a.Name, refText(u.ref)),
				"Delete it, or set its minReplicas to 1, until the operation has finished")
		default:
			d.warn("autoscaler", fmt.Sprintf("HorizontalPodAutoscaler %s scales %s up to %d pods; it leaves it alone while that is at 0", a.Name, refText(u.ref), a.Spec.MaxReplicas),
				"Make sure that it asks for no more than one pod for each claim")
		}
	}
}

// completed looks at pods that have run to their end and hold the claim.
func (d *draft) completed(key actions.ClaimKey) {
	pods := slices.DeleteFunc(d.held(key), func(pod *corev1.Pod) bool {
		// They go as the set is scaled down.
		owner := metav1.GetControllerOf(pod)
		return owner != nil && isKind(*owner, StatefulSetKind) && d.req.Verb == SinglePod
	})
	switch {
	case len(pods) == 0:
	case d.req.DeleteCompleted:
		d.pass("pods-completed", fmt.Sprintf("Pods that have run to their end and hold claim %s are deleted, with their logs: %s", key, podList(pods)))
	default:
		d.block("pods-hold", fmt.Sprintf("Pods that have run to their end hold claim %s, which can't go before they do: %s", key, podList(pods)),
			"Let this operation delete them, with their logs, or delete them yourself")
	}
}

// sources warns of what puts things back as they were. Change names what is to
// be changed there.
func (d *draft) sources(change string) {
	kept := map[string][]string{}
	var order []string
	note := func(o metav1.Object, what string) {
		if source := actions.Source(o.GetLabels(), o.GetAnnotations()); source != "" {
			if kept[source] == nil {
				order = append(order, source)
			}
			kept[source] = append(kept[source], what)
		}
	}
	for _, m := range d.members {
		note(m.pv, "volume "+m.pv.Name)
		if m.claim != nil {
			note(m.claim, "claim "+m.key.String())
		}
	}
	for _, w := range d.journal.Workloads {
		for _, o := range d.workloads() {
			if sameObject(o.ref(), w.Ref) {
				note(o.Object, refText(w.Ref))
			}
		}
	}
	for _, source := range order {
		d.warn("source", fmt.Sprintf("%s seems to keep %s as its source says, and may undo what is done here", upper(source), list(kept[source])),
			"Pause its syncing first; change "+change+" in its source before you let it go on")
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (d *draft) workloadsUnread() bool {
	return slices.ContainsFunc(unreadRules(), func(r unreadRule) bool { return r.users && d.unread(r.resource) })
}

package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// jobs is pkg/controller/job, without indexes, deadlines and policies. Pods
// that have ended stay; each is counted once, when it loses the finalizer.
type jobs struct{}

func (jobs) Name() string { return "job" }

func jobKind() schema.GroupVersionKind { return batchv1.SchemeGroupVersion.WithKind("Job") }

func (c jobs) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for job := range s.Jobs("") {
		pods, busy := members(&a, job, jobKind(), job.Spec.Selector)
		if !busy {
			syncJob(&a, job, pods)
		}
	}
	// Pods whose job is gone have nobody to be counted by (orphan pods).
	for pod := range s.Pods("") {
		if owner := metav1.GetControllerOf(pod); slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) &&
			(owner == nil || s.ByUID(owner.UID) == nil) {
			change(&a, "let go of", pod, func(p *corev1.Pod) { dropFinalizer(p, batchv1.JobTrackingFinalizer) })
		}
	}
	return a.list
}

func syncJob(a *agenda, job *batchv1.Job, pods []*corev1.Pod) {
	status := *job.Status.DeepCopy()
	status.Active, status.Ready = 0, new(int32(0))
	counting := false
	for _, pod := range pods {
		switch {
		case slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) && (ended(pod) || pod.DeletionTimestamp != nil && finished(pod)):
			countPod(a, job, pod)
			counting = true
		case active(pod):
			status.Active++
			if running(pod) {
				*status.Ready++
			}
		}
	}
	if counting {
		return
	}
	done := jobDone(job)
	if !done && job.DeletionTimestamp == nil {
		done = manageJob(a, job, pods, &status)
	}
	if done {
		for _, pod := range pods {
			if active(pod) {
				a.add("delete", pod, func(s *State) *State { return remove(s, pod) })
			}
		}
	}
	if status.StartTime == nil && !deref(job.Spec.Suspend, false) {
		status.StartTime = new(metav1.NewTime(a.s.Now()))
	}
	if !reflect.DeepEqual(status, job.Status) {
		change(a, "report the status of", job, func(job *batchv1.Job) { job.Status = status })
	}
}

// countPod counts a pod and takes its finalizer off. Kubernetes does it in
// three writes, so that nothing is lost on the way
// (trackJobStatusAndRemoveFinalizers).
func countPod(a *agenda, job *batchv1.Job, pod *corev1.Pod) {
	a.add("count", pod, func(s *State) *State {
		s = s.Update(edited(job, func(j *batchv1.Job) {
			if pod.Status.Phase == corev1.PodSucceeded {
				j.Status.Succeeded++
			} else {
				j.Status.Failed++
			}
		}))
		return s.Update(edited(pod, func(p *corev1.Pod) { dropFinalizer(p, batchv1.JobTrackingFinalizer) }))
	})
}

func jobDone(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

// manageJob is manageJob and the part of syncJob that decides whether it is
// over.
func manageJob(a *agenda, job *batchv1.Job, pods []*corev1.Pod, status *batchv1.JobStatus) (done bool) {
	now := metav1.NewTime(a.s.Now())
	finish := func(conditions ...batchv1.JobConditionType) {
		for _, c := range conditions {
			status.Conditions = append(status.Conditions, batchv1.JobCondition{
				Type: c, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now,
			})
		}
	}
	wanted, parallel := deref(job.Spec.Completions, -1), deref(job.Spec.Parallelism, 1)
	switch {
	case status.Failed > deref(job.Spec.BackoffLimit, 6):
		finish(batchv1.JobFailureTarget, batchv1.JobFailed)
		return true
	case wanted >= 0 && status.Succeeded >= wanted, wanted < 0 && status.Succeeded > 0 && status.Active == 0:
		finish(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
		status.CompletionTime = &now
		return true
	case deref(job.Spec.Suspend, false):
		parallel = 0
	case wanted >= 0:
		parallel = min(parallel, wanted-status.Succeeded)
	case status.Succeeded > 0:
		parallel = status.Active // Nothing new once one has succeeded.
	}
	switch {
	case status.Active < parallel:
		key := Key{Pods, job.Namespace, freeName(a.s, job)}
		a.create(key, func(s *State) *State {
			pod := podOf(job, jobKind(), &job.Spec.Template)
			pod.Name, pod.GenerateName = key.Name, job.Name+"-"
			protect(pod, batchv1.JobTrackingFinalizer)
			return admitted(s, pod)
		})
	case status.Active > parallel:
		surplus := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return !active(p) })
		slices.SortStableFunc(surplus, spareable)
		for _, pod := range surplus[:status.Active-parallel] {
			a.add("delete", pod, func(s *State) *State { return remove(s, pod) })
		}
	}
	return false
}

// cronJobs is pkg/controller/cronjob, except that it knows no schedule: RunCron
// is its hour.
type cronJobs struct{}

func (cronJobs) Name() string { return "cronjob" }

func (c cronJobs) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for cron := range s.CronJobs("") {
		var running []corev1.ObjectReference
		var succeeded, failed []*batchv1.Job
		for job := range s.Jobs(cron.Namespace) {
			ref := metav1.GetControllerOf(job)
			switch {
			case ref == nil || ref.UID != cron.UID || job.DeletionTimestamp != nil:
			case !jobDone(job):
				running = append(running, corev1.ObjectReference{
					APIVersion: jobKind().GroupVersion().String(), Kind: jobKind().Kind,
					Namespace: job.Namespace, Name: job.Name, UID: job.UID,
				})
			case job.Status.CompletionTime != nil:
				succeeded = append(succeeded, job)
			default:
				failed = append(failed, job)
			}
		}
		trimHistory(&a, succeeded, int(deref(cron.Spec.SuccessfulJobsHistoryLimit, 3)))
		trimHistory(&a, failed, int(deref(cron.Spec.FailedJobsHistoryLimit, 1)))
		if !slices.Equal(running, cron.Status.Active) {
			change(&a, "report the status of", cron, func(c *batchv1.CronJob) { c.Status.Active = running })
		}
	}
	return a.list
}

// trimHistory deletes the oldest jobs beyond a limit (removeOldestJobs).
func trimHistory(a *agenda, done []*batchv1.Job, limit int) {
	slices.SortStableFunc(done, func(a, b *batchv1.Job) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, job := range done[:max(0, len(done)-limit)] {
		a.add("delete", job, func(s *State) *State {
			return s.Delete(KeyOf(job), metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
		})
	}
}

// RunCron is a State after the hour of a cron job has come: it has a new job,
// unless it is suspended, or the last one still runs and may not be joined.
func RunCron(s *State, namespace, name string) *State {
	cron := s.CronJob(namespace, name)
	if cron == nil || cron.DeletionTimestamp != nil || deref(cron.Spec.Suspend, false) || ending(s, namespace) {
		return s
	}
	if cron.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent && len(cron.Status.Active) > 0 {
		return s
	}
	template := cron.Spec.JobTemplate
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: fmt.Sprintf("%s-%d", name, s.Now().Unix()/60),
			Labels: maps.Clone(template.Labels), Annotations: maps.Clone(template.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cron, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *template.Spec.DeepCopy(),
	}
	if s.Job(namespace, job.Name) != nil {
		return s
	}
	if cron.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent {
		for _, ref := range cron.Status.Active {
			s = s.Delete(Key{Jobs, namespace, ref.Name}, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
		}
	}
	s = admitted(s, job)
	return s.Update(edited(cron, func(c *batchv1.CronJob) { c.Status.LastScheduleTime = new(metav1.NewTime(s.Now())) }))
}

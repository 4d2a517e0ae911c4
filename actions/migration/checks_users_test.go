package migration

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/claimref/claimref/actions"
)

func (st *stage) web() *appsv1.Deployment { return st.s.Deployments[1] }

func adds(pods ...*corev1.Pod) spoil { return func(st *stage) { st.pods(pods...) } }

func userCases() []draftCase {
	web := func(change func(*appsv1.Deployment)) spoil { return func(st *stage) { change(st.web()) } }
	alone := func(rs *appsv1.ReplicaSet) spoil {
		return func(st *stage) { st.s.ReplicaSets = append(st.s.ReplicaSets, rs) }
	}
	sharing := func(replicas int32, retention appsv1.PersistentVolumeClaimRetentionPolicyType) spoil {
		return func(st *stage) {
			st.s.StatefulSets = append(st.s.StatefulSets, &appsv1.StatefulSet{ObjectMeta: in("shop", "shared"), Spec: appsv1.StatefulSetSpec{
				Replicas: &replicas, Template: template("data"), Selector: selector("web"),
				PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: retention},
			}})
		}
	}
	const keep, lose = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	daemons := func(st *stage) {
		st.s.DaemonSets = append(st.s.DaemonSets, &appsv1.DaemonSet{ObjectMeta: in("shop", "agent"), Spec: appsv1.DaemonSetSpec{Template: template("data")}})
	}
	surge := func(most intstr.IntOrString) spoil {
		return web(func(d *appsv1.Deployment) { d.Spec.Strategy.RollingUpdate.MaxSurge = &most })
	}
	operator := controlledBy("shops.example.test/v1", "Shop", "main")
	operated := web(func(d *appsv1.Deployment) { d.OwnerReferences = []metav1.OwnerReference{operator} })
	acknowledged := func(names ...string) spoil { return func(st *stage) { st.req.Operators = names } }
	controller := controlledBy("v1", "ReplicationController", "old")
	oldPod := adds(pod("shop", "old-x", "data", corev1.PodRunning, controller))
	done := pod("shop", "done-x", "data", corev1.PodSucceeded)
	return []draftCase{
		{"", bare, nil, "unused", actions.Pass, "Nothing uses"},
		{"workloads unread", bare, []spoil{unreadable("daemonsets")}, "unused", none, ""},
		{"other unread", bare, []spoil{unreadable("limitranges")}, "unused", actions.Pass, ""},
		{"used", running, nil, "unused", none, ""},

		{"", running, []spoil{adds(pod("shop", "web-new-y", "data", corev1.PodPending, controlledBy("apps/v1", "ReplicaSet", "web-new")))}, "several-pods", actions.Block, "web-new-x, web-new-y"},
		{"waiting for a node", running, []spoil{adds(func() *corev1.Pod {
			p := pod("shop", "web-new-y", "data", corev1.PodPending, controlledBy("apps/v1", "ReplicaSet", "web-new"))
			p.Spec.NodeName = ""
			return p
		}())}, "several-pods", actions.Block, "2 pods"},
		{"one has ended", running, []spoil{adds(done)}, "several-pods", none, ""},
		{"", running, []spoil{sharing(1, keep)}, "several-workloads", actions.Block, "Deployment shop/web, StatefulSet shop/shared"},
		{"old revision", running, []spoil{func(st *stage) { *st.s.ReplicaSets[1].Spec.Replicas = 1 }}, "several-workloads", none, ""},

		{"Deployment", running, []spoil{web(func(d *appsv1.Deployment) { *d.Spec.Replicas = 2 })}, "replicas", actions.Block, "2 replicas"},
		{"none", running, []spoil{web(func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 })}, "replicas", none, ""},
		{"default", running, []spoil{web(func(d *appsv1.Deployment) { d.Spec.Replicas = nil })}, "replicas", none, ""},
		{"ReplicaSet", bare, []spoil{alone(replicaSet("rs", "data", 2))}, "replicas", actions.Block, "ReplicaSet shop/rs has 2"},
		{"one ReplicaSet", bare, []spoil{alone(replicaSet("rs", "data", 1))}, "replicas", none, ""},
		{"owned ReplicaSet", running, []spoil{func(st *stage) { *st.s.ReplicaSets[1].Spec.Replicas = 2 }}, "replicas", none, ""},
		{"StatefulSet that shares", bare, []spoil{sharing(2, keep)}, "replicas", actions.Block, "StatefulSet shop/shared"},
		{"one that shares", bare, []spoil{sharing(1, keep)}, "replicas", none, ""},
		{"another set that shares", set, []spoil{sharing(2, keep), func(st *stage) {
			st.s.StatefulSets[2].Spec.Template = template("data-db-1")
		}}, "replicas", actions.Block, "StatefulSet shop/shared"},
		{"claims of its own", set, nil, "replicas", none, ""},
		{"shares one and deletes others", bare, []spoil{sharing(1, lose)}, "retention", actions.Pass, "StatefulSet shop/shared"},

		{"", running, []spoil{web(func(d *appsv1.Deployment) { d.DeletionTimestamp = &metav1.Time{} })}, "workload-terminating", actions.Block, "Deployment shop/web"},
		{"pod of it", running, []spoil{func(st *stage) { st.s.Pods[len(st.s.Pods)-1].DeletionTimestamp = &metav1.Time{} }}, "workload-terminating", none, ""},
		{"pod", bare, []spoil{adds(func() *corev1.Pod {
			p := pod("shop", "lone", "data", corev1.PodRunning)
			p.DeletionTimestamp = &metav1.Time{}
			return p
		}())}, "workload-terminating", actions.Block, "Pod shop/lone"},
		{"", running, nil, "scaled", actions.Pass, "back to 1"},
		{"set", set, nil, "scaled", actions.Pass, "back to 3"},
		{"stopped", running, []spoil{web(func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 })}, "scaled", actions.Pass, "already"},
		{"nothing", bare, nil, "scaled", none, ""},
		{"", bare, []spoil{daemons}, "daemonset", actions.Block, "DaemonSet shop/agent"},
		{"", bare, []spoil{adds(pod("shop", "lone", "data", corev1.PodRunning))}, "bare-pod", actions.Block, "Pod shop/lone"},
		{"ended", bare, []spoil{adds(pod("shop", "lone", "data", corev1.PodFailed))}, "bare-pod", none, ""},

		{"25%", running, []spoil{surge(intstr.FromString("25%"))}, "surge", actions.Warn, "wait for itself"},
		{"1", running, []spoil{surge(intstr.FromInt32(1))}, "surge", actions.Warn, ""},
		{"by default", running, []spoil{web(func(d *appsv1.Deployment) { d.Spec.Strategy = appsv1.DeploymentStrategy{} })}, "surge", actions.Warn, ""},
		{"not said", running, []spoil{web(func(d *appsv1.Deployment) { d.Spec.Strategy.RollingUpdate.MaxSurge = nil })}, "surge", actions.Warn, ""},
		{"not to be read", running, []spoil{surge(intstr.FromString("many"))}, "surge", actions.Warn, ""},
		{"at 0 replicas", running, []spoil{web(func(d *appsv1.Deployment) { *d.Spec.Replicas = 0 }), surge(intstr.FromString("25%"))}, "surge", actions.Warn, ""},
		{"0%", running, []spoil{surge(intstr.FromString("0%"))}, "surge", none, ""},
		{"Recreate already", running, []spoil{web(func(d *appsv1.Deployment) {
			d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
		})}, "surge", none, ""},
		{"planned", running, []spoil{surge(intstr.FromInt32(1)), func(st *stage) { st.req.Recreate = true }}, "surge", none, ""},
		{"", running, []spoil{surge(intstr.FromInt32(1)), func(st *stage) { st.req.Recreate = true }}, "recreate", actions.Pass, "Recreate"},
		{"no need", running, []spoil{func(st *stage) { st.req.Recreate = true }}, "recreate", none, ""},

		{"Deployment", running, []spoil{operated}, "operator", actions.Block, "Deployment shop/web belongs to Shop shop/main"},
		{"another acknowledged", running, []spoil{operated, acknowledged("Shop shop/other")}, "operator", actions.Block, ""},
		{"acknowledged", running, []spoil{operated, acknowledged("Shop shop/main")}, "operator", none, ""},
		{"Deployment", running, []spoil{operated, acknowledged("Shop shop/main")}, "operator-acknowledged", actions.Warn, "take responsibility"},
		{"pod", bare, []spoil{oldPod}, "operator", actions.Block, "Pods of ReplicationController shop/old use the claim, and no step can stop them"},
		{"pod", bare, []spoil{oldPod, acknowledged("ReplicationController shop/old")}, "operator-acknowledged", actions.Warn, "no step can stop them"},
		{"pod of a set that is not seen", bare, []spoil{adds(pod("shop", "x-0", "data", corev1.PodRunning, controlledBy("apps/v1", "StatefulSet", "x")))}, "operator", actions.Block, "StatefulSet shop/x"},

		{"", running, []spoil{withAutoscaler("Deployment", "web")}, "autoscaler", actions.Warn, "up to 3 pods"},
		{"from 0", running, []spoil{withAutoscaler("Deployment", "web", func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Spec.MinReplicas = new(int32(0)) })}, "autoscaler", actions.Warn, "from 0"},
		{"elsewhere", running, []spoil{withAutoscaler("Deployment", "web", func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Namespace = "lab" })}, "autoscaler", none, ""},
		{"another group", running, []spoil{withAutoscaler("Deployment", "web", func(a *autoscalingv2.HorizontalPodAutoscaler) {
			a.Spec.ScaleTargetRef.APIVersion = "shops.example.test/v1"
		})}, "autoscaler", none, ""},
		{"label", running, []spoil{withAutoscaler("Deployment", "web", func(a *autoscalingv2.HorizontalPodAutoscaler) {
			a.Labels = map[string]string{"scaledobject.keda.sh/name": "scale-web"}
		})}, "autoscaler-keda", actions.Warn, "ScaledObject scale-web"},
		{"name", set, []spoil{withAutoscaler("StatefulSet", "db", func(a *autoscalingv2.HorizontalPodAutoscaler) { a.Name = "keda-hpa-db" })}, "autoscaler-keda", actions.Warn, "ScaledObject db"},

		{"", bare, []spoil{func(st *stage) { st.s.CronJobs = append(st.s.CronJobs, cronJob("backup", "data")) }}, "scaled", none, ""},
		{"", bare, []spoil{adds(done)}, "pods-hold", actions.Block, "done-x"},
		{"failed", moving, []spoil{adds(pod("shop", "done-x", "data", corev1.PodFailed))}, "pods-hold", actions.Block, "done-x"},
		{"of the set", set, nil, "pods-hold", none, ""},
		{"of a Deployment", running, []spoil{adds(pod("shop", "evicted", "data", corev1.PodFailed, controlledBy("apps/v1", "ReplicaSet", "web-new")))}, "pods-hold", actions.Block, "evicted"},
		{"of a set that is not stopped", moving, []spoil{adds(pod("shop", "x-0", "data", corev1.PodFailed, controlledBy("apps/v1", "StatefulSet", "x")))}, "pods-hold", actions.Block, "x-0"},
		{"planned", bare, []spoil{adds(done), func(st *stage) { st.req.DeleteCompleted = true }}, "pods-hold", none, ""},
		{"", bare, []spoil{adds(done), func(st *stage) { st.req.DeleteCompleted = true }}, "pods-completed", actions.Pass, "done-x"},
	}
}

func jobCases() []draftCase {
	cron := func(name string, suspended bool) spoil {
		return func(st *stage) {
			c := cronJob(name, "data")
			c.Spec.Suspend = &suspended
			st.s.CronJobs = append(st.s.CronJobs, c)
		}
	}
	jobs := func(j *batchv1.Job) spoil { return func(st *stage) { st.s.Jobs = append(st.s.Jobs, j) } }
	suspended := func(active int32) *batchv1.Job {
		j := job("import", "data")
		j.Spec.Suspend, j.Status.Active = new(true), active
		return j
	}
	ofCron := controlledBy("batch/v1", "CronJob", "backup")
	return []draftCase{
		{"", running, []spoil{cron("backup", false)}, "cronjob-beside", actions.Warn, "Deployment shop/web, CronJob shop/backup"},
		{"two", bare, []spoil{cron("backup", false), cron("report", false)}, "cronjob-beside", actions.Warn, ""},
		{"alone", bare, []spoil{cron("backup", false)}, "cronjob-beside", none, ""},
		{"beside one", running, []spoil{cron("backup", false)}, "several-workloads", none, ""},
		{"", bare, []spoil{cron("backup", false)}, "cronjob", actions.Pass, "resumed at the end"},
		{"suspended", bare, []spoil{cron("backup", true)}, "cronjob", actions.Pass, "stays so"},

		{"", bare, []spoil{jobs(job("import", "data"))}, "job-running", actions.Block, "Job shop/import"},
		{"finished", bare, []spoil{jobs(finished(job("import", "data")))}, "job-running", none, ""},
		{"failed", bare, []spoil{jobs(func() *batchv1.Job {
			j := finished(job("import", "data"))
			j.Status.Conditions[0].Type = batchv1.JobFailed
			return j
		}())}, "job-running", none, ""},
		{"not quite", bare, []spoil{jobs(func() *batchv1.Job {
			j := finished(job("import", "data"))
			j.Status.Conditions[0].Status = corev1.ConditionFalse
			return j
		}())}, "job-running", actions.Block, ""},
		{"of a CronJob", bare, []spoil{cron("backup", false), jobs(job("backup-1", "data", ofCron))}, "job-running", actions.Block, "Job shop/backup-1"},
		{"of a CronJob that has changed since", bare, []spoil{cron("backup", false), jobs(job("backup-1", "data", ofCron)), func(st *stage) {
			st.s.CronJobs[1].Spec.JobTemplate.Spec.Template = template("data-2")
		}}, "job-running", actions.Block, "Job shop/backup-1"},
		{"of another CronJob", bare, []spoil{cron("backup", false), jobs(job("other-1", "data-2", controlledBy("batch/v1", "CronJob", "other-cron")))}, "job-running", none, ""},
		{"suspended, says a condition", bare, []spoil{jobs(func() *batchv1.Job {
			j := finished(job("import", "data"))
			j.Status.Conditions[0].Type = batchv1.JobSuspended
			return j
		}())}, "job-running", actions.Block, ""},
		{"of a CronJob, finished", bare, []spoil{cron("backup", false), jobs(finished(job("backup-1", "data", ofCron)))}, "job-running", none, ""},
		{"suspended", bare, []spoil{jobs(suspended(0))}, "job-suspended", actions.Warn, "suspended"},
		{"suspended with a pod left", bare, []spoil{jobs(suspended(1))}, "job-running", actions.Block, ""},
	}
}

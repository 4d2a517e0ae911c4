package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func claimTemplate(name string, modes ...corev1.PersistentVolumeAccessMode) corev1.PersistentVolumeClaim {
	return corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes},
	}
}

func TestTrimWorkload(t *testing.T) {
	yes := true
	meta := func(name string, labels map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID("uid-" + name), Labels: labels}
	}
	owned := meta("owned", nil)
	owned.OwnerReferences = []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "no-controller", UID: "uid-no"},
		{APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Name: "pg", UID: "uid-pg", Controller: &yes},
	}
	ended := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: meta("job", nil), Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status}}}}
	}
	for name, tt := range map[string]struct {
		object runtime.Object
		want   Workload
	}{
		"stateful set": {&appsv1.StatefulSet{
			ObjectMeta: meta("db", map[string]string{"argocd.argoproj.io/instance": "shop"}),
			Spec: appsv1.StatefulSetSpec{
				Replicas: new(int32(3)), Template: template("z", "shared"),
				VolumeClaimTemplates: []corev1.PersistentVolumeClaim{
					claimTemplate("wal", corev1.ReadWriteOncePod), claimTemplate("data", corev1.ReadWriteOnce),
				},
				PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
				},
			},
		}, Workload{
			Kind: "StatefulSet", Name: "db", Claims: []string{"shared", "z"}, Templates: []string{"data", "wal"}, Replicas: new(int32(3)),
			WhenScaled: "Delete", WhenDeleted: "Retain", Source: "Argo CD application shop", Single: true,
		}},
		"stateful set of an old server": {
			&appsv1.StatefulSet{ObjectMeta: meta("db", nil), Spec: appsv1.StatefulSetSpec{
				VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claimTemplate("data", corev1.ReadWriteOnce, corev1.ReadOnlyMany)},
			}},
			Workload{Kind: "StatefulSet", Name: "db", Templates: []string{"data"}, WhenScaled: "Retain", WhenDeleted: "Retain"},
		},
		"deployment": {
			&appsv1.Deployment{ObjectMeta: meta("web", nil), Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Template: template("c")}},
			Workload{Kind: "Deployment", Name: "web", Claims: []string{"c"}, Replicas: new(int32(2)), Surges: true},
		},
		"replica set of a custom resource": {
			&appsv1.ReplicaSet{ObjectMeta: owned, Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(0))}},
			Workload{
				Kind: "ReplicaSet", Name: "owned", Replicas: new(int32(0)),
				Owner: Owner{APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Name: "pg", UID: "uid-pg"},
			},
		},
		"daemon set":    {&appsv1.DaemonSet{ObjectMeta: meta("log", nil)}, Workload{Kind: "DaemonSet", Name: "log"}},
		"job":           {&batchv1.Job{ObjectMeta: meta("job", nil), Spec: batchv1.JobSpec{Suspend: new(false)}}, Workload{Kind: "Job", Name: "job"}},
		"suspended job": {&batchv1.Job{ObjectMeta: meta("job", nil), Spec: batchv1.JobSpec{Suspend: &yes}}, Workload{Kind: "Job", Name: "job", Suspended: true}},
		"complete job":  {ended(batchv1.JobComplete, corev1.ConditionTrue), Workload{Kind: "Job", Name: "job", Finished: true}},
		"failed job":    {ended(batchv1.JobFailed, corev1.ConditionTrue), Workload{Kind: "Job", Name: "job", Finished: true}},
		"failing job":   {ended(batchv1.JobFailureTarget, corev1.ConditionTrue), Workload{Kind: "Job", Name: "job"}},
		"job that is not complete after all": {
			ended(batchv1.JobComplete, corev1.ConditionFalse), Workload{Kind: "Job", Name: "job"},
		},
		"cron job": {
			&batchv1.CronJob{ObjectMeta: meta("nightly", nil), Spec: batchv1.CronJobSpec{Suspend: &yes, JobTemplate: batchv1.JobTemplateSpec{
				Spec: batchv1.JobSpec{Template: template("c")},
			}}},
			Workload{Kind: "CronJob", Name: "nightly", Claims: []string{"c"}, Suspended: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want.Namespace, tt.want.UID = "a", types.UID("uid-"+tt.want.Name)
			got := unpack[Workload](newTrimmer().trim(tt.object))
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkloadRecordsDoNotKeepTheirObjects(t *testing.T) {
	replicas := int32(3)
	set := &appsv1.StatefulSet{ObjectMeta: named("a", "db"), Spec: appsv1.StatefulSetSpec{Replicas: &replicas}}
	if unpack[Workload](newTrimmer().trim(set)).Replicas == &replicas {
		t.Error("the record keeps the whole object alive")
	}
}

// A change of anything that is kept is a change.
func TestWorkloadsAreToldApart(t *testing.T) {
	first := func() *Workload {
		return &Workload{Kind: "StatefulSet", Namespace: "a", Name: "db", UID: "1", Claims: []string{"c"}, Templates: []string{"t"}, Replicas: new(int32(1))}
	}
	for name, change := range map[string]func(*Workload){
		"kind":         func(w *Workload) { w.Kind = "Deployment" },
		"namespace":    func(w *Workload) { w.Namespace = "b" },
		"name":         func(w *Workload) { w.Name = "x" },
		"uid":          func(w *Workload) { w.UID = "2" },
		"owner":        func(w *Workload) { w.Owner.APIVersion = "x/v1" },
		"claims":       func(w *Workload) { w.Claims = []string{"d"} },
		"templates":    func(w *Workload) { w.Templates = nil },
		"replicas":     func(w *Workload) { w.Replicas = new(int32(0)) },
		"no replicas":  func(w *Workload) { w.Replicas = nil },
		"surges":       func(w *Workload) { w.Surges = true },
		"suspended":    func(w *Workload) { w.Suspended = true },
		"finished":     func(w *Workload) { w.Finished = true },
		"when scaled":  func(w *Workload) { w.WhenScaled = "Delete" },
		"when deleted": func(w *Workload) { w.WhenDeleted = "Delete" },
		"source":       func(w *Workload) { w.Source = "Helm release shop" },
		"single":       func(w *Workload) { w.Single = true },
	} {
		changed := first()
		change(changed)
		if changed.same(first()) {
			t.Errorf("another %s is not noticed", name)
		}
	}
	if !first().same(first()) {
		t.Error("equal workloads differ")
	}
}

func TestSurges(t *testing.T) {
	deployment := func(kind appsv1.DeploymentStrategyType, replicas int32, most *intstr.IntOrString) runtime.Object {
		d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas, Strategy: appsv1.DeploymentStrategy{Type: kind}}}
		if kind == appsv1.RollingUpdateDeploymentStrategyType {
			d.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: most}
		}
		return d
	}
	daemonSet := func(kind appsv1.DaemonSetUpdateStrategyType, most *intstr.IntOrString) runtime.Object {
		d := &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{UpdateStrategy: appsv1.DaemonSetUpdateStrategy{Type: kind}}}
		if kind == appsv1.RollingUpdateDaemonSetStrategyType {
			d.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxSurge: most}
		}
		return d
	}
	const (
		rolling  = appsv1.RollingUpdateDeploymentStrategyType
		rollingD = appsv1.RollingUpdateDaemonSetStrategyType
	)
	number, percent := func(n int) *intstr.IntOrString { return new(intstr.FromInt32(int32(n))) }, func(s string) *intstr.IntOrString { return new(intstr.FromString(s)) }
	for name, tt := range map[string]struct {
		object runtime.Object
		want   bool
	}{
		"recreate":                         {deployment(appsv1.RecreateDeploymentStrategyType, 3, nil), false},
		"no strategy":                      {deployment("", 1, nil), true},
		"a quarter by default":             {deployment(rolling, 1, nil), true},
		"a quarter of one rounds up":       {deployment(rolling, 1, percent("25%")), true},
		"a percent of one rounds up":       {deployment(rolling, 1, percent("1%")), true},
		"nothing":                          {deployment(rolling, 3, number(0)), false},
		"no percent":                       {deployment(rolling, 3, percent("0%")), false},
		"two":                              {deployment(rolling, 3, number(2)), true},
		"scaled to none, surges when back": {deployment(rolling, 0, percent("25%")), true},
		"daemon set by default":            {daemonSet(rollingD, nil), false},
		"daemon set without strategy":      {daemonSet("", nil), false},
		"daemon set that surges":           {daemonSet(rollingD, percent("10%")), true},
		"daemon set that surges not":       {daemonSet(rollingD, number(0)), false},
		"daemon set on delete":             {daemonSet(appsv1.OnDeleteDaemonSetStrategyType, nil), false},
		"stateful set":                     {&appsv1.StatefulSet{}, false},
		"replica set":                      {&appsv1.ReplicaSet{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := unpack[Workload](newTrimmer().trim(tt.object)).Surges; got != tt.want {
				t.Errorf("surges = %v", got)
			}
		})
	}
}

// Only workloads whose pods use claims are listed, whichever way they do.
func TestListedWorkloads(t *testing.T) {
	by := func(m metav1.ObjectMeta, owner *metav1.OwnerReference) metav1.ObjectMeta {
		m.OwnerReferences = []metav1.OwnerReference{*owner}
		return m
	}
	s := NewSnapshot(Objects{
		StatefulSets: []*appsv1.StatefulSet{
			{ObjectMeta: named("b", "db"), Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{claimTemplate("data")}}},
			{ObjectMeta: named("b", "cache")},
		},
		Deployments: []*appsv1.Deployment{
			{ObjectMeta: named("a", "web"), Spec: appsv1.DeploymentSpec{Template: template("c")}},
			{ObjectMeta: named("a", "ephemeral")},
			{ObjectMeta: named("a", "stateless")},
		},
		ReplicaSets: []*appsv1.ReplicaSet{
			{ObjectMeta: by(named("a", "ephemeral-1"), controlledBy("Deployment", "ephemeral"))},
			{ObjectMeta: by(named("a", "stateless-1"), controlledBy("Deployment", "stateless"))},
		},
		DaemonSets: []*appsv1.DaemonSet{{ObjectMeta: named("a", "log"), Spec: appsv1.DaemonSetSpec{Template: template("c")}}},
		Pods: []*corev1.Pod{
			newPod("a", "p1", controlledBy("ReplicaSet", "ephemeral-1"), "p1-scratch"),
			newPod("a", "p2", controlledBy("ReplicaSet", "stateless-1")),
		},
	})
	var got []string
	for _, w := range s.Workloads {
		got = append(got, w.Namespace+" "+w.Kind+" "+w.Name)
		if s.Workload(w.Kind, w.Namespace, w.Name) != w {
			t.Errorf("%s is not found", w.Name)
		}
	}
	want := []string{"a DaemonSet log", "a Deployment ephemeral", "a Deployment web", "a ReplicaSet ephemeral-1", "b StatefulSet db"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
	if s.Workload("Deployment", "a", "stateless") != nil || s.Workload("Deployment", "b", "web") != nil {
		t.Error("found what is not listed")
	}
}

// A workload comes and goes with the pods that use claims, and stays the same
// record meanwhile.
func TestWorkloadIsListedWhileItsPodsUseClaims(t *testing.T) {
	m := newModel()
	step := func(r Resource, key string, object any) *Snapshot {
		t.Helper()
		m.deliver(r, map[string]any{key: m.trim.trim(object)}, false)
		m.join.rebuild()
		return m.join.snapshot()
	}
	set := &appsv1.ReplicaSet{ObjectMeta: named("a", "web-1")}
	set.OwnerReferences = []metav1.OwnerReference{*controlledBy("Deployment", "web")}
	step(Deployments, "a/web", &appsv1.Deployment{ObjectMeta: named("a", "web")})
	if s := step(ReplicaSets, "a/web-1", set); len(s.Workloads) != 0 {
		t.Errorf("%d workloads without claims are listed", len(s.Workloads))
	}
	s := step(Pods, "a/p", newPod("a", "p", controlledBy("ReplicaSet", "web-1"), "c"))
	web := s.Workload("Deployment", "a", "web")
	if len(s.Workloads) != 2 || web == nil {
		t.Fatalf("%d workloads are listed", len(s.Workloads))
	}
	s = step(PersistentVolumeClaims, "a/c", newClaim("a", "c"))
	if users := s.Claim("a", "c").Users; len(users) != 1 || users[0].Workload != web {
		t.Errorf("users = %+v", users)
	}
	if s = step(Pods, "a/q", newPod("a", "q", controlledBy("ReplicaSet", "web-1"), "c")); s.Workload("Deployment", "a", "web") != web {
		t.Error("the workload was made anew for another pod of it")
	}
	step(Pods, "a/q", newPod("a", "q", nil))
	if s = step(Pods, "a/p", newPod("a", "p", nil)); len(s.Workloads) != 0 {
		t.Errorf("%d workloads are listed when the pods are gone", len(s.Workloads))
	}
}

// A set that is let go takes its claims with it.
func TestOwnerWithoutItsSetIsNotListed(t *testing.T) {
	m := newModel()
	owned := &appsv1.ReplicaSet{ObjectMeta: named("a", "web-1"), Spec: appsv1.ReplicaSetSpec{Template: template("c")}}
	orphan := owned.DeepCopy()
	owned.OwnerReferences = []metav1.OwnerReference{*controlledBy("Deployment", "web")}
	m.deliver(Deployments, map[string]any{"a/web": m.trim.trim(&appsv1.Deployment{ObjectMeta: named("a", "web")})}, false)
	m.deliver(ReplicaSets, map[string]any{"a/web-1": m.trim.trim(owned)}, false)
	m.join.rebuild()
	if m.join.snapshot().Workload("Deployment", "a", "web") == nil {
		t.Fatal("the owner is not listed")
	}
	m.deliver(ReplicaSets, map[string]any{"a/web-1": m.trim.trim(orphan)}, false)
	m.join.rebuild()
	if s := m.join.snapshot(); s.Workload("Deployment", "a", "web") != nil || s.Workload("ReplicaSet", "a", "web-1") == nil {
		t.Errorf("%d workloads are listed", len(s.Workloads))
	}
}

// What goes and comes back between two snapshots is the same record, for the
// users of claims, too.
func TestWorkloadThatComesBackIsTheSame(t *testing.T) {
	m := newModel()
	web := &appsv1.Deployment{ObjectMeta: named("a", "web"), Spec: appsv1.DeploymentSpec{Template: template("c")}}
	put := func() { m.deliver(Deployments, map[string]any{"a/web": m.trim.trim(web.DeepCopy())}, false) }
	put()
	m.deliver(PersistentVolumeClaims, map[string]any{"a/c": m.trim.trim(newClaim("a", "c"))}, false)
	m.join.rebuild()
	before := m.join.snapshot()
	m.deliver(Deployments, map[string]any{"a/web": nil}, false)
	put()
	if m.join.rebuild() {
		t.Error("something has changed")
	}
	after := m.join.snapshot()
	if after.Workloads[0] != before.Workloads[0] || after.Claims[0] != before.Claims[0] {
		t.Error("records were made anew for nothing")
	}
	m.deliver(Pods, map[string]any{"a/p": m.trim.trim(newPod("a", "p", controlledBy("Deployment", "web"), "c"))}, false)
	m.join.rebuild()
	if last := m.join.snapshot(); last.Claims[0].Users[0].Workload != last.Workloads[0] {
		t.Error("the user is not the listed workload")
	}
}

// Owners in a circle are nobody's, but possible; and when one goes, it goes.
func TestCircleOfOwnersEnds(t *testing.T) {
	m := newModel()
	circle := func(name, owner string) *appsv1.ReplicaSet {
		rs := &appsv1.ReplicaSet{ObjectMeta: named("a", name), Spec: appsv1.ReplicaSetSpec{Template: template("c")}}
		rs.OwnerReferences = []metav1.OwnerReference{*controlledBy("ReplicaSet", owner)}
		return rs
	}
	m.deliver(ReplicaSets, map[string]any{"a/x": m.trim.trim(circle("x", "y")), "a/y": m.trim.trim(circle("y", "x"))}, false)
	m.join.rebuild()
	if n := len(m.join.snapshot().Workloads); n != 2 {
		t.Errorf("%d workloads", n)
	}
	m.deliver(ReplicaSets, map[string]any{"a/x": nil}, false)
	m.join.rebuild()
	if s := m.join.snapshot(); len(s.Workloads) != 1 || s.Workloads[0].Name != "y" {
		t.Errorf("%d workloads", len(s.Workloads))
	}
}

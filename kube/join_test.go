package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/kube/binding"
)

func TestTies(t *testing.T) {
	tests := []struct {
		name       string
		volume     *corev1.PersistentVolume
		claim      *corev1.PersistentVolumeClaim
		wantVolume Tie
		wantClaim  Tie
	}{
		{"no reference", newVolume("pv"), newClaim("a", "c"), TieNone, TieNone},
		{"held", newVolume("pv", claimedBy("a", "c", "uid-c")), newClaim("a", "c", boundTo("pv")), TieHeld, TieHeld},
		{"claim gone", newVolume("pv", claimedBy("a", "gone", "uid-gone")), newClaim("a", "c"), TieAbsent, TieNone},
		{"volume gone", newVolume("pv"), newClaim("a", "c", boundTo("gone")), TieNone, TieAbsent},
		{"claim recreated", newVolume("pv", claimedBy("a", "c", "uid-old")), newClaim("a", "c"), TieOther, TieNone},
		{"claim recreated, names the volume", newVolume("pv", claimedBy("a", "c", "uid-old")), newClaim("a", "c", boundTo("pv")), TieOther, TieOther},
		{"claim went elsewhere", newVolume("pv", claimedBy("a", "c", "uid-c")), newClaim("a", "c", boundTo("else")), TieOther, TieAbsent},
		{"volume went elsewhere", newVolume("pv", claimedBy("a", "other", "uid-other")), newClaim("a", "c", boundTo("pv")), TieAbsent, TieOther},
		{"reserved", newVolume("pv", claimedBy("a", "c", "")), newClaim("a", "c"), TieOpen, TieNone},
		{"reserved, and asked for", newVolume("pv", claimedBy("a", "c", "")), newClaim("a", "c", boundTo("pv")), TieOpen, TieOpen},
		{"asked for", newVolume("pv"), newClaim("a", "c", boundTo("pv")), TieNone, TieOpen},
		{"half bound", newVolume("pv", claimedBy("a", "c", "uid-c")), newClaim("a", "c"), TieOpen, TieNone},
		{"same name in another namespace", newVolume("pv", claimedBy("b", "c", "uid-c")), newClaim("a", "c", boundTo("pv")), TieAbsent, TieOther},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSnapshot(Objects{
				Volumes: []*corev1.PersistentVolume{tt.volume},
				Claims:  []*corev1.PersistentVolumeClaim{tt.claim},
			})
			if got := s.Volume("pv").Tie; got != tt.wantVolume {
				t.Errorf("volume's tie = %d, want %d", got, tt.wantVolume)
			}
			if got := s.Claim("a", "c").Tie; got != tt.wantClaim {
				t.Errorf("claim's tie = %d, want %d", got, tt.wantClaim)
			}
		})
	}
}

// describe writes users as "Kind/name pod pod".
func describe(users []User) []string {
	var lines []string
	for _, u := range users {
		line := u.Kind + "/" + u.Name
		for _, p := range u.Pods {
			line += " " + p.Name
		}
		lines = append(lines, line)
	}
	return lines
}

func TestUsers(t *testing.T) {
	owned := func(m metav1.ObjectMeta, by *metav1.OwnerReference) metav1.ObjectMeta {
		m.OwnerReferences = []metav1.OwnerReference{*by}
		return m
	}
	three := int32(3)
	finished := batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}
	tests := []struct {
		name    string
		claim   string
		objects Objects
		want    []string
	}{
		{"nobody", "c", Objects{Pods: []*corev1.Pod{newPod("a", "p", nil), newPod("b", "p", nil, "c")}}, nil},
		{"bare pods", "c", Objects{Pods: []*corev1.Pod{newPod("a", "p2", nil, "c"), newPod("a", "p1", nil, "c")}}, []string{"Pod/p1 p1", "Pod/p2 p2"}},
		{"a pod that names it twice", "c", Objects{Pods: []*corev1.Pod{newPod("a", "p", nil, "c", "c")}}, []string{"Pod/p p"}},
		{"deployment through its replica set", "c", Objects{
			Pods: []*corev1.Pod{newPod("a", "p1", controlledBy("ReplicaSet", "web-1"), "c"), newPod("a", "p2", controlledBy("ReplicaSet", "web-2"), "c")},
			ReplicaSets: []*appsv1.ReplicaSet{
				{ObjectMeta: owned(named("a", "web-1"), controlledBy("Deployment", "web")), Spec: appsv1.ReplicaSetSpec{Template: template("c")}},
				{ObjectMeta: owned(named("a", "web-2"), controlledBy("Deployment", "web"))},
			},
			Deployments: []*appsv1.Deployment{{ObjectMeta: named("a", "web"), Spec: appsv1.DeploymentSpec{Template: template("c")}}},
		}, []string{"Deployment/web p1 p2"}},
		{"replica set that may not be read", "c", Objects{
			Pods: []*corev1.Pod{newPod("a", "p1", controlledBy("ReplicaSet", "web-1"), "c")},
		}, []string{"ReplicaSet/web-1 p1"}},
		{"custom resource through a replica set", "c", Objects{
			Pods:        []*corev1.Pod{newPod("a", "p1", controlledBy("ReplicaSet", "web-1"), "c")},
			ReplicaSets: []*appsv1.ReplicaSet{{ObjectMeta: owned(named("a", "web-1"), controlledBy("Rollout", "web"))}},
		}, []string{"Rollout/web p1"}},
		{"custom resource", "c", Objects{
			Pods: []*corev1.Pod{newPod("a", "p1", controlledBy("Cluster", "pg"), "c")},
		}, []string{"Cluster/pg p1"}},
		{"stateful set, by its claim templates", "data-db-0", Objects{
			Pods: []*corev1.Pod{newPod("a", "db-0", controlledBy("StatefulSet", "db"), "data-db-0")},
			StatefulSets: []*appsv1.StatefulSet{{
				ObjectMeta: owned(named("a", "db"), controlledBy("Postgres", "main")),
				Spec:       appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}},
			}},
		}, []string{"StatefulSet/db db-0"}},
		{"stateful set that is scaled down", "data-db-12", Objects{
			StatefulSets: []*appsv1.StatefulSet{{
				ObjectMeta: named("a", "db"),
				Spec:       appsv1.StatefulSetSpec{Replicas: &three, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}},
			}},
		}, []string{"StatefulSet/db"}},
		{"stateful set of another name", "data-db-x", Objects{
			StatefulSets: []*appsv1.StatefulSet{{
				ObjectMeta: named("a", "db"),
				Spec:       appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}},
			}},
		}, nil},
		{"templates without pods", "c", Objects{
			Deployments: []*appsv1.Deployment{{ObjectMeta: named("a", "web"), Spec: appsv1.DeploymentSpec{Template: template("c")}}},
			ReplicaSets: []*appsv1.ReplicaSet{
				{ObjectMeta: owned(named("a", "web-1"), controlledBy("Deployment", "web")), Spec: appsv1.ReplicaSetSpec{Template: template("c")}},
				{ObjectMeta: named("a", "alone"), Spec: appsv1.ReplicaSetSpec{Template: template("c")}},
			},
			DaemonSets: []*appsv1.DaemonSet{{ObjectMeta: named("a", "log"), Spec: appsv1.DaemonSetSpec{Template: template("c", "d")}}},
			CronJobs: []*batchv1.CronJob{{ObjectMeta: named("a", "backup"), Spec: batchv1.CronJobSpec{
				JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template("c")}},
			}}},
			Jobs: []*batchv1.Job{
				{ObjectMeta: named("a", "once"), Spec: batchv1.JobSpec{Template: template("c")}},
				{ObjectMeta: named("a", "done"), Spec: batchv1.JobSpec{Template: template("c")}, Status: finished},
			},
		}, []string{"CronJob/backup", "DaemonSet/log", "Deployment/web", "Job/once", "ReplicaSet/alone"}},
		{"cron job through its job", "c", Objects{
			Pods:     []*corev1.Pod{newPod("a", "p1", controlledBy("Job", "backup-1"), "c")},
			Jobs:     []*batchv1.Job{{ObjectMeta: owned(named("a", "backup-1"), controlledBy("CronJob", "backup"))}},
			CronJobs: []*batchv1.CronJob{{ObjectMeta: named("a", "backup")}},
		}, []string{"CronJob/backup p1"}},
		{"owners in a circle", "c", Objects{
			Pods: []*corev1.Pod{newPod("a", "p1", controlledBy("ReplicaSet", "x"), "c")},
			ReplicaSets: []*appsv1.ReplicaSet{
				{ObjectMeta: owned(named("a", "x"), controlledBy("ReplicaSet", "y"))},
				{ObjectMeta: owned(named("a", "y"), controlledBy("ReplicaSet", "x"))},
			},
		}, []string{"ReplicaSet/x p1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.objects.Claims = []*corev1.PersistentVolumeClaim{newClaim("a", tt.claim, boundTo("pv"))}
			tt.objects.Volumes = []*corev1.PersistentVolume{newVolume("pv", claimedBy("a", tt.claim, "uid-"+tt.objects.Claims[0].UID[4:]))}
			s := NewSnapshot(tt.objects)
			claim, volume := s.Claim("a", tt.claim), s.Volume("pv")
			if diff := cmp.Diff(tt.want, describe(claim.Users)); diff != "" {
				t.Errorf("claim's users (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, describe(volume.Users)); diff != "" {
				t.Errorf("volume's users (-want +got):\n%s", diff)
			}
			if !claim.UsersKnown || !volume.UsersKnown {
				t.Error("the users are not known, although everything has been read")
			}
		})
	}
}

func TestEphemeralVolumesClaim(t *testing.T) {
	pod := newPod("a", "p", nil)
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{
		Ephemeral: &corev1.EphemeralVolumeSource{},
	}})
	s := NewSnapshot(Objects{Claims: []*corev1.PersistentVolumeClaim{newClaim("a", "p-scratch")}, Pods: []*corev1.Pod{pod}})
	if got := describe(s.Claim("a", "p-scratch").Users); !cmp.Equal(got, []string{"Pod/p p"}) {
		t.Errorf("users = %v", got)
	}
}

// A bound volume whose claimRef was cleared, and which another claim took:
// the first claim's pods are still there.
func TestVolumeWithTwoBoundClaimsShowsAllUsers(t *testing.T) {
	s := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{newVolume("pv", claimedBy("a", "new", "uid-new"))},
		Claims:  []*corev1.PersistentVolumeClaim{newClaim("a", "old", boundTo("pv")), newClaim("a", "new", boundTo("pv"))},
		Pods:    []*corev1.Pod{newPod("a", "p1", nil, "old"), newPod("a", "p2", nil, "new")},
	})
	if got := describe(s.Volume("pv").Users); !cmp.Equal(got, []string{"Pod/p2 p2", "Pod/p1 p1"}) {
		t.Errorf("users = %v", got)
	}
}

func TestWhatCannotBeReadIsNotClaimedToBeAbsent(t *testing.T) {
	j := newJoin()
	trim := newTrimmer()
	load(j, trim, PersistentVolumes, []*corev1.PersistentVolume{
		newVolume("pv", claimedBy("a", "c", "uid-c")), newVolume("far", claimedBy("b", "c", "uid-c")), newVolume("free"),
	})
	load(j, trim, PersistentVolumeClaims, []*corev1.PersistentVolumeClaim{newClaim("a", "c", boundTo("pv")), newClaim("a", "lost", boundTo("gone"))})

	step := func(resource Resource, state ResourceState) *Snapshot {
		j.apply(resource, delivery{state: state})
		j.rebuild()
		return j.snapshot()
	}
	s := step(Pods, ResourceState{Phase: Loading})
	if s.Claim("a", "c").UsersKnown || s.Volume("pv").UsersKnown {
		t.Error("users are known although pods are still being read")
	}
	s = step(Pods, ResourceState{Phase: Forbidden})
	if s.Claim("a", "c").UsersKnown || s.Volume("pv").UsersKnown {
		t.Error("users are known although pods may not be read")
	}
	if !s.Volume("free").UsersKnown {
		t.Error("a volume that no claim names has no users, whoever may read pods")
	}
	s = step(Pods, ResourceState{Phase: Synced, Namespace: "a"})
	if !s.Claim("a", "c").UsersKnown || !s.Volume("pv").UsersKnown {
		t.Error("users are unknown although the pods of the namespace have been read")
	}
	s = step(PersistentVolumeClaims, ResourceState{Phase: Synced, Namespace: "a"})
	if got := s.Volume("far").Tie; got != TieUnknown {
		t.Errorf("tie of a volume whose claim's namespace is not read = %d", got)
	}
	if s.Volume("far").UsersKnown || s.Volume("free").UsersKnown {
		t.Error("users are known although claims of other namespaces are not read")
	}
	if s.Scope != "a" {
		t.Errorf("scope = %q", s.Scope)
	}
	s = step(PersistentVolumes, ResourceState{Phase: Forbidden})
	if got := s.Claim("a", "lost").Tie; got != TieUnknown {
		t.Errorf("tie of a claim whose volume may not be read = %d", got)
	}
	s = step(PersistentVolumes, ResourceState{Phase: Synced})
	if got := s.Claim("a", "lost").Tie; got != TieAbsent {
		t.Errorf("tie of a claim whose volume is gone = %d", got)
	}
}

func TestOwnersAreKnownWhenAllWorkloadsAre(t *testing.T) {
	everywhere, one := ResourceState{Phase: Synced}, ResourceState{Phase: Synced, Namespace: "a"}
	for _, resource := range []Resource{StatefulSets, Deployments, ReplicaSets, DaemonSets, Jobs, CronJobs} {
		s := NewSnapshot(Objects{})
		if !s.OwnersKnown() {
			t.Error("unknown although everything has been read")
		}
		for _, state := range []ResourceState{{}, {Phase: Forbidden}, one} {
			if s.Resources[resource] = state; s.OwnersKnown() {
				t.Errorf("known with %s in state %+v", resource, state)
			}
		}
		s.Scope = "a"
		if !s.OwnersKnown() {
			t.Errorf("unknown although %s are read wherever claims are", resource)
		}
		if s.Resources[resource] = everywhere; !s.OwnersKnown() {
			t.Errorf("unknown although %s are read everywhere", resource)
		}
	}
}

func TestClaimRecord(t *testing.T) {
	pvc := newClaim("a", "c", boundTo("pv"))
	pvc.Status.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	pvc.Status.Capacity = newVolume("x").Spec.Capacity
	s := NewSnapshot(Objects{Claims: []*corev1.PersistentVolumeClaim{pvc, newClaim("a", "d")}})
	c := s.Claim("a", "c")
	if !c.ModesDiffer || c.Request != 512<<20 || c.Capacity != 1<<30 || c.Class != (ClaimClass{Name: "slow", Set: true}) {
		t.Errorf("record = %+v", c)
	}
	if s.Claim("a", "d").ModesDiffer {
		t.Error("modes differ although there are none in the status yet")
	}
	if s.Claim("a", "e") != nil || s.Volume("e") != nil || s.Class("e") != nil {
		t.Error("found what is not there")
	}
}

func TestClassesCountTheirVolumes(t *testing.T) {
	s := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{
			newVolume("a"), newVolume("b"), newVolume("c", claimedBy("x", "y", "")), newVolume("d", func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = "" }),
		},
		Classes: []*storagev1.StorageClass{newClass("slow", true), newClass("unused", false)},
	})
	slow := s.Class("slow")
	want := map[binding.Phase]Tally{binding.Available: {2, 2 << 30}, binding.Reserved: {1, 1 << 30}}
	if diff := cmp.Diff(want, slow.Volumes); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	if !slow.Default || !slow.Effective || s.Class("unused").Default || s.Class("unused").Effective {
		t.Error("the default class is not told from the others")
	}
}

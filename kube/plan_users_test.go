package kube

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

// usedVolume is volume pv, Bound to a/c.
func usedVolume() (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	claim := newClaim("a", "c", boundTo("pv"))
	claim.Status.Phase = corev1.ClaimBound
	return newVolume("pv", claimedBy("a", "c", claim.UID)), claim
}

func podUsing(name, claim string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: named("a", name), Spec: corev1.PodSpec{Volumes: claimVolumes(claim)}, Status: corev1.PodStatus{Phase: phase}}
}

func TestWorldKnowsTheUsers(t *testing.T) {
	pv, claim := usedVolume()
	two := int32(2)
	owned := podUsing("web-1", "c", corev1.PodRunning)
	owned.OwnerReferences = []metav1.OwnerReference{*controlledBy("ReplicaSet", "web-abc")}
	set := &appsv1.ReplicaSet{ObjectMeta: named("a", "web-abc"), Spec: appsv1.ReplicaSetSpec{Template: template("c")}}
	set.OwnerReferences = []metav1.OwnerReference{*controlledBy("Deployment", "web")}
	snap := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{pv, newVolume("free")}, Claims: []*corev1.PersistentVolumeClaim{claim},
		Pods:        []*corev1.Pod{owned, podUsing("bare", "c", corev1.PodSucceeded), podUsing("other", "x", corev1.PodRunning)},
		ReplicaSets: []*appsv1.ReplicaSet{set},
		Deployments: []*appsv1.Deployment{{ObjectMeta: named("a", "web"), Spec: appsv1.DeploymentSpec{Replicas: &two, Template: template("c")}}},
		StatefulSets: []*appsv1.StatefulSet{{
			ObjectMeta: named("a", "c"), Spec: appsv1.StatefulSetSpec{Replicas: &two, Template: template("c")},
		}},
		DaemonSets: []*appsv1.DaemonSet{{ObjectMeta: named("a", "agent"), Spec: appsv1.DaemonSetSpec{Template: template("c")}}},
	})
	want := actions.Users{
		Pods: []actions.UserPod{{Name: "web-1"}, {Name: "bare", Ended: true}}, PodsKnown: true, WorkloadsKnown: true,
		Workloads: []actions.UserWorkload{
			{Kind: "DaemonSet", Name: "agent", Shared: true},
			{Kind: "Deployment", Name: "web", Shared: true, Replicas: &two, Surges: true},
			{Kind: "StatefulSet", Name: "c", Shared: true, Replicas: &two},
		},
	}
	if diff := cmp.Diff(want, snap.World("pv").Users); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(actions.Users{}, snap.World("free").Users); diff != "" {
		t.Errorf("users of a volume that names no claim:\n%s", diff)
	}
}

// TestWorldOfASetsOwnClaim: what a StatefulSet makes for one pod is not shared
// by all of them.
func TestWorldOfASetsOwnClaim(t *testing.T) {
	claim := newClaim("a", "data-web-0", boundTo("pv"))
	three := int32(3)
	set := &appsv1.StatefulSet{ObjectMeta: named("a", "web"), Spec: appsv1.StatefulSetSpec{Replicas: &three}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	snap := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{newVolume("pv", claimedBy("a", "data-web-0", claim.UID))},
		Claims:  []*corev1.PersistentVolumeClaim{claim}, StatefulSets: []*appsv1.StatefulSet{set},
	})
	want := []actions.UserWorkload{{Kind: "StatefulSet", Name: "web", Replicas: &three}}
	if diff := cmp.Diff(want, snap.World("pv").Users.Workloads); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}
}

func TestUsersAreKnownOnlyWhereTheyAreFollowed(t *testing.T) {
	tests := []struct {
		name            string
		change          func(*Snapshot)
		pods, workloads bool
	}{
		{"all is well", func(*Snapshot) {}, true, true},
		{"a stale link", func(s *Snapshot) { s.Link.Phase = Stale }, false, false},
		{"only this namespace", func(s *Snapshot) {
			s.Resources[Pods] = ResourceState{Phase: Synced, Namespace: "a", Missing: "list pods"}
			s.Resources[Deployments] = ResourceState{Phase: Synced, Namespace: "a", Missing: "list deployments"}
		}, true, true},
		{"another namespace", func(s *Snapshot) {
			s.Resources[Pods] = ResourceState{Phase: Synced, Namespace: "b", Missing: "list pods"}
			s.Resources[Jobs] = ResourceState{Phase: Synced, Namespace: "b"}
		}, false, false},
		{"listed from time to time", func(s *Snapshot) {
			s.Resources[Pods] = ResourceState{Phase: Synced, Missing: "watch pods"}
			s.Resources[DaemonSets] = ResourceState{Phase: Synced, Missing: "watch daemonsets"}
		}, false, false},
		{"failing", func(s *Snapshot) { s.Resources[Pods] = ResourceState{Phase: Synced, Err: "x"} }, false, true},
		{"forbidden", func(s *Snapshot) { s.Resources[Pods] = ResourceState{Phase: Forbidden} }, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pv, claim := usedVolume()
			snap := NewSnapshot(Objects{Volumes: []*corev1.PersistentVolume{pv}, Claims: []*corev1.PersistentVolumeClaim{claim}})
			tt.change(snap)
			if u := snap.World("pv").Users; u.PodsKnown != tt.pods || u.WorkloadsKnown != tt.workloads {
				t.Errorf("pods %v, workloads %v", u.PodsKnown, u.WorkloadsKnown)
			}
		})
	}
}

// picture joins what is in a lab into a snapshot.
func picture(l *lab) *Snapshot {
	return NewSnapshot(Objects{
		Volumes:     listed[*corev1.PersistentVolume](l, sandbox.Volumes),
		Claims:      listed[*corev1.PersistentVolumeClaim](l, sandbox.Claims),
		Pods:        listed[*corev1.Pod](l, sandbox.Pods),
		Deployments: listed[*appsv1.Deployment](l, sandbox.Deployments),
		ReplicaSets: listed[*appsv1.ReplicaSet](l, sandbox.ReplicaSets),
	})
}

func listed[T sandbox.Object](l *lab, r sandbox.Resource) []T {
	var found []T
	for _, o := range l.state().List(r) {
		if typed, ok := o.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

// light is the request for the volume of claim exam/data.
func light(s *Snapshot) actions.Request {
	pv := s.Volume(s.Claim("exam", "data").Object.Spec.VolumeName).Object
	return actions.Request{Verb: actions.SinglePodLight, Volume: actions.Ref{Kind: actions.VolumeKind, Name: pv.Name, UID: pv.UID}}
}

const labSecondPod = `
apiVersion: v1
kind: Pod
metadata: {name: second, namespace: exam}
spec:
  containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

const labStranger = `
apiVersion: v1
kind: Pod
metadata: {name: stranger, namespace: exam}
spec:
  containers: [{name: c, image: example.test/none}]
`

// TestPlanListsThePodsAnew: a second pod came after the snapshot. One that does
// not use the claim is no user.
func TestPlanListsThePodsAnew(t *testing.T) {
	l := newLab(t, with(labDeployment, labStranger))
	snap := picture(l)
	req := light(snap)
	plan, _, err := l.client.Plan(t.Context(), req, snap)
	if err != nil || plan.Blocked() != "" || len(plan.Steps) != 1 {
		t.Fatalf("one pod: %v, %q", err, plan.Blocked())
	}
	l.server.Apply(func(s *sandbox.State) *sandbox.State {
		s, err := sandbox.LoadManifest(s, l.cs, []byte(labSecondPod))
		if err != nil {
			t.Error(err)
		}
		return s
	})
	plan, _, err = l.client.Plan(t.Context(), req, snap)
	if why := plan.Blocked(); err != nil || !strings.Contains(why, "2 pods use the volume: ") || !strings.Contains(why, "second") {
		t.Errorf("two pods: %v, %q", err, why)
	}
	pods := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/namespaces/exam/pods") }
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if pods(r) {
			return refusal(403, "Forbidden", "no")
		}
		return nil, nil
	}
	if plan, _, err = l.client.Plan(t.Context(), req, snap); err != nil || !strings.Contains(plan.Blocked(), "Whether several pods use it is not known") {
		t.Errorf("pods that can't be listed: %v, %q", err, plan.Blocked())
	}
	// Other operations have no need of the pods.
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if pods(r) {
			t.Error("the pods were listed for another operation")
		}
		return nil, nil
	}
	req.Verb, req.Policy = actions.SetPolicy, corev1.PersistentVolumeReclaimRetain
	if _, _, err = l.client.Plan(t.Context(), req, snap); err != nil {
		t.Error(err)
	}
}

// TestSinglePodLight goes the light way to its end, and back: the claim's
// status follows the volume, its spec does not, and the table flags that.
func TestSinglePodLight(t *testing.T) {
	l := newLab(t, with(labDeployment))
	snap := picture(l)
	walk := func(step actions.Step) {
		t.Helper()
		p, err := l.client.Preview(t.Context(), nil, step)
		if err != nil {
			t.Fatal(err)
		}
		if !p.DryRun.Supported || !strings.Contains(p.Diff, "accessModes") {
			t.Errorf("preview: %+v", p.DryRun)
		}
		if _, err := l.client.Apply(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		l.settle()
	}
	check := func(what string, status corev1.PersistentVolumeAccessMode, differ bool) {
		t.Helper()
		c := picture(l).Claim("exam", "data")
		if diff := cmp.Diff([]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, c.Object.Spec.AccessModes); diff != "" {
			t.Errorf("%s: modes of the spec:\n%s", what, diff)
		}
		if diff := cmp.Diff([]corev1.PersistentVolumeAccessMode{status}, c.Object.Status.AccessModes); diff != "" {
			t.Errorf("%s: modes of the status:\n%s", what, diff)
		}
		if c.ModesDiffer != differ || c.State.Phase != Bound {
			t.Errorf("%s: differ %v, phase %s", what, c.ModesDiffer, c.State.Phase)
		}
	}
	check("before", corev1.ReadWriteOnce, false)
	plan, _, err := l.client.Plan(t.Context(), light(snap), snap)
	if err != nil || len(plan.Steps) != 1 {
		t.Fatalf("%v, %q", err, plan.Blocked())
	}
	walk(plan.Steps[0])
	check("after", corev1.ReadWriteOncePod, true)
	if again, _, err := l.client.Plan(t.Context(), light(snap), picture(l)); err != nil || !strings.Contains(again.Blocked(), "already") {
		t.Errorf("once more: %v, %q", err, again.Blocked())
	}
	walk(plan.Undo[0])
	check("undone", corev1.ReadWriteOnce, false)
	if n := len(l.wire.real()); n != 2 {
		t.Errorf("%d requests were sent, want 2: %v", n, l.wire.real())
	}
}

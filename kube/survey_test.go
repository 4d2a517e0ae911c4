package kube

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube/sandbox"
)

// journalOf is a journal of the claims of the lab, and of a set or deployment.
func (l *lab) journalOf(claims ...string) migration.Journal {
	l.t.Helper()
	pv := l.volume(claims[0])
	j := migration.Journal{
		Version: 1, ID: "0a0b0c0d", Started: l.state().Now(), By: "ann",
		Request: migration.Request{Verb: migration.SinglePod, Volume: refOf(actions.VolumeKind, pv)},
	}
	for _, name := range claims {
		pvc, pv := l.claim(name), l.volume(name)
		from := newClaimOf(pvc)
		from.Spec.AccessModes = pvc.Spec.AccessModes
		_, marked := pv.Annotations["pv.kubernetes.io/bound-by-controller"]
		j.Volumes = append(j.Volumes, migration.Volume{
			Ref: refOf(actions.VolumeKind, pv), Policy: pv.Spec.PersistentVolumeReclaimPolicy, Modes: pv.Spec.AccessModes,
			ClaimRef: pv.Spec.ClaimRef, BoundByController: marked, From: from, FromUID: pvc.UID, To: newClaimOf(pvc),
		})
	}
	if d := l.state().Deployment("exam", "web"); d != nil {
		j.Workloads = append(j.Workloads, migration.Workload{
			Ref: refOf(migration.DeploymentKind, d), Replicas: *d.Spec.Replicas, Strategy: d.Spec.Strategy.DeepCopy(),
		})
	}
	return j
}

// names lists objects.
func names[O interface{ GetName() string }](objects []O) []string {
	var list []string
	for _, o := range objects {
		list = append(list, o.GetName())
	}
	return list
}

const labDriver = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: folders.claimref.test}
spec: {attachRequired: false}
`

const labScaler = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: exam}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`

const labLimits = `
apiVersion: v1
kind: LimitRange
metadata: {name: sizes, namespace: exam}
spec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Ti}}]}
`

func TestSurveyForAPlan(t *testing.T) {
	l := fullLab(t, with(labQuota, labLimits, labDriver, labScaler))
	// What this server does not know is noted, and is no error.
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/daemonsets") {
			return nil, nil
		}
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: r}, nil
	}
	pv := l.volume("data")
	req := migration.Request{Verb: migration.SinglePod, Volume: refOf(actions.VolumeKind, pv)}
	scene, err := l.client.Survey(t.Context(), Subject{Request: &req}, nil)
	if err != nil {
		t.Fatal(err)
	}
	key := actions.ClaimKey{Namespace: "exam", Name: "data"}
	if scene.Volumes[pv.Name] == nil || scene.Claims[key] == nil {
		t.Fatalf("volumes %v, claims %v", scene.Volumes, scene.Claims)
	}
	got := map[string][]string{
		"pods": names(scene.Pods), "sets": names(scene.StatefulSets), "deployments": names(scene.Deployments),
		"crons": names(scene.CronJobs), "limits": names(scene.LimitRanges), "scalers": names(scene.Autoscalers), "quotas": names(scene.Quotas), "classes": names(scene.Classes),
		"namespaces": slices.Sorted(maps.Keys(scene.Namespaces)), "drivers": slices.Sorted(maps.Keys(scene.Drivers)),
		"other claims": names(scene.RelatedClaims),
	}
	want := map[string][]string{
		"pods": names(slices.Collect(l.state().Pods("exam"))), "sets": {"db"}, "deployments": {"web"}, "crons": {"backup"},
		"limits": {"sizes"}, "scalers": {"web"}, "quotas": {"few"}, "classes": {"folders"}, "namespaces": {"exam"}, "drivers": {"folders.claimref.test"},
		"other claims": {"data-db-0", "data-db-1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(scene.ReplicaSets) != 1 || len(scene.RelatedVolumes) != 2 || scene.Drivers["folders.claimref.test"] == nil {
		t.Errorf("replica sets %v, other volumes %v", names(scene.ReplicaSets), names(scene.RelatedVolumes))
	}
	if len(scene.Unread) != 1 || scene.Unread["daemonsets"] == "" {
		t.Errorf("unread %v", scene.Unread)
	}
}

func TestBriefSurvey(t *testing.T) {
	l := fullLab(t, with(labQuota, labDriver, labScaler))
	j := l.journalOf("data")
	j.Volumes[0].To.Name = "new"
	var asked atomic.Int32
	l.wire.before = func(*http.Request) (*http.Response, error) {
		asked.Add(1)
		return nil, nil
	}
	scene, err := l.client.Survey(t.Context(), Subject{Journal: &j, Brief: true}, &Snapshot{Link: Link{Version: "v1.37.2"}})
	if err != nil {
		t.Fatal(err)
	}
	missing, looked := scene.Claims[actions.ClaimKey{Namespace: "exam", Name: "new"}]
	if !looked || missing != nil || scene.Claims[actions.ClaimKey{Namespace: "exam", Name: "data"}] == nil {
		t.Errorf("claims %v", scene.Claims)
	}
	if len(scene.Pods) == 0 || len(scene.Deployments) != 1 || len(scene.Quotas)+len(scene.Autoscalers)+len(scene.RelatedClaims) != 0 || scene.Version != "v1.37.2" {
		t.Errorf("scene = %+v", scene)
	}
	// One volume, two claims, seven lists of the namespace, and attachments.
	if n := asked.Load(); n != 11 {
		t.Errorf("%d requests", n)
	}
	if len(scene.Unread) != 0 {
		t.Errorf("unread %v", scene.Unread)
	}
}

// mayRead lets somebody read some resources, and no others.
func mayRead(namespace string, resources ...string) sandbox.Rule {
	return sandbox.Rule{Namespace: namespace, PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"get", "list", "watch"}, APIGroups: []string{"*"}, Resources: resources,
	}}
}

func TestSurveyWithFewRights(t *testing.T) {
	l := fullLab(t, user(mayRead("", "persistentvolumes"), mayRead("exam", "persistentvolumeclaims", "pods")))
	req := migration.Request{Verb: migration.SinglePod, Volume: refOf(actions.VolumeKind, l.volume("data"))}
	scene, err := l.client.Survey(t.Context(), Subject{Request: &req}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cronjobs", "csidrivers", "daemonsets", "deployments", "horizontalpodautoscalers", "jobs", "limitranges", "namespaces",
		"persistentvolumeclaims", "replicasets", "resourcequotas", "statefulsets", "storageclasses", "volumeattachments",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(scene.Unread))); diff != "" {
		t.Errorf("unread (-want +got):\n%s", diff)
	}
	if _, known := scene.Namespaces["exam"]; known || len(scene.Pods) == 0 {
		t.Errorf("namespaces %v, %d pods", scene.Namespaces, len(scene.Pods))
	}
	if !strings.Contains(scene.Unread["deployments"], "cannot list") {
		t.Errorf("deployments: %s", scene.Unread["deployments"])
	}
}

// Once steps are taken by it, a look that does not see them is none.
func TestSurveyOfAnOperationNeedsItsObjects(t *testing.T) {
	for name, rights := range map[string][]sandbox.Rule{
		"volumes": {mayRead("exam", "*")},
		"claims":  {mayRead("", "persistentvolumes"), mayRead("exam", "pods")},
		"pods":    {mayRead("", "persistentvolumes"), mayRead("exam", "persistentvolumeclaims")},
	} {
		l := newLab(t, user(rights...))
		j := l.journalOf("data")
		if _, err := l.client.Survey(t.Context(), Subject{Journal: &j, Brief: true}, nil); KindOf(err) != KindForbidden {
			t.Errorf("%s: %v", name, err)
		}
		// A plan says what is missing.
		if _, err := l.client.Survey(t.Context(), Subject{Request: &j.Request}, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What may pass is an error: it says nothing about what is there.
func TestSurveyFails(t *testing.T) {
	for _, path := range []string{"persistentvolumes/", "persistentvolumeclaims/", "/pods", "/cronjobs", "/volumeattachments", "/storageclasses"} {
		l := newLab(t)
		j := l.journalOf("data")
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, path) {
				return refusal(500, "InternalError", "etcd")
			}
			return nil, nil
		}
		if _, err := l.client.Survey(t.Context(), Subject{Journal: &j}, nil); KindOf(err) != KindServer {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Questions are asked side by side, but not all at once, and each has its time.
func TestSurveyIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fullLab(t)
		j := l.journalOf("data", "data-db-0", "data-db-1")
		var now, most atomic.Int32
		l.wire.before = func(*http.Request) (*http.Response, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for {
				if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			time.Sleep(100 * time.Millisecond)
			return nil, nil
		}
		start := time.Now()
		if _, err := l.client.Survey(t.Context(), Subject{Journal: &j, Brief: true}, nil); err != nil {
			t.Fatal(err)
		}
		// Three volumes, three claims and seven lists in a row of six at a
		// time, and then the attachments.
		if took := time.Since(start); most.Load() != crewSize || took != 400*time.Millisecond {
			t.Errorf("%d at once, %v", most.Load(), took)
		}
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return nil, nil
		}
		start = time.Now()
		_, err := l.client.Survey(t.Context(), Subject{Journal: &j, Brief: true}, nil)
		if took := time.Since(start); KindOf(err) != KindTimeout || took != l.client.timing.Request {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// The cache serves for what is not written to, where it can be relied on.
func TestSurveyUsesTheCacheForRivals(t *testing.T) {
	l := newLab(t)
	req := migration.Request{Verb: migration.SinglePod, Volume: refOf(actions.VolumeKind, l.volume("data"))}
	snap := NewSnapshot(Objects{})
	snap.Link.Phase = Live
	snap.Volumes = []*Volume{{Object: newVolume("cached")}, {Object: l.volume("data")}}
	snap.Claims = []*Claim{{Object: newClaim("a", "cached")}}
	scene, err := l.client.Survey(t.Context(), Subject{Request: &req}, snap)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(names(scene.RelatedVolumes), []string{"cached"}) || !slices.Equal(names(scene.RelatedClaims), []string{"cached"}) {
		t.Errorf("volumes %v, claims %v", names(scene.RelatedVolumes), names(scene.RelatedClaims))
	}
	snap.Link.Phase = Stale
	if scene, err = l.client.Survey(t.Context(), Subject{Request: &req}, snap); err != nil {
		t.Fatal(err)
	}
	if len(scene.RelatedVolumes)+len(scene.RelatedClaims) != 0 {
		t.Errorf("volumes %v, claims %v", names(scene.RelatedVolumes), names(scene.RelatedClaims))
	}
}

func TestDenied(t *testing.T) {
	all := sandbox.Rule{Namespace: "exam", PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"*"}, APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"},
	}}
	one := sandbox.Rule{PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"patch"}, APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, ResourceNames: []string{"mine"},
	}}
	sets := sandbox.Rule{Namespace: "exam", PolicyRule: rbacv1.PolicyRule{
		Verbs: []string{"patch", "delete"}, APIGroups: []string{"apps"}, Resources: []string{"statefulsets"},
	}}
	l := newLab(t, user(all, one, sets))
	on := func(act migration.Act, kind actions.Kind, namespace, name string) migration.Step {
		return migration.Step{Act: act, Target: actions.Ref{Kind: kind, Namespace: namespace, Name: name}}
	}
	items := itemsOf(
		on(migration.Patch, actions.VolumeKind, "", "mine"),
		on(migration.Create, actions.ClaimKind, "exam", "data"),
		on(migration.Delete, actions.ClaimKind, "exam", "data"),
		on(migration.Patch, migration.StatefulSetKind, "exam", "db"),
		on(migration.Delete, migration.StatefulSetKind, "exam", "db"),
		migration.Step{Act: migration.Await},
	)
	if denied := l.client.Denied(t.Context(), items); len(denied) != 0 {
		t.Errorf("denied %v", denied)
	}
	items = append(items, itemsOf(
		on(migration.Patch, actions.VolumeKind, "", "yours"),
		on(migration.Create, actions.ClaimKind, "other", "data"),
		on(migration.Create, actions.ClaimKind, "other", "data-2"),
		on(migration.Scale, migration.StatefulSetKind, "exam", "db"),
		on(migration.Create, migration.StatefulSetKind, "exam", "db"),
		on(migration.Patch, migration.CronJobKind, "exam", "c"),
	)...)
	want := []string{
		"create persistentvolumeclaims in namespace other", "create statefulsets in namespace exam", "patch cronjobs in namespace exam",
		"patch persistentvolumes", "patch statefulsets/scale in namespace exam",
	}
	if diff := cmp.Diff(want, l.client.Denied(t.Context(), items)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A question without an answer denies nothing.
	l.wire.before = func(*http.Request) (*http.Response, error) { return nil, errors.New("gone") }
	if denied := l.client.Denied(t.Context(), items); len(denied) != 0 {
		t.Errorf("denied %v", denied)
	}
}

func (l *lab) setJournal() migration.Journal {
	j := l.journalOf("data-db-0", "data-db-1")
	set := l.state().StatefulSet("exam", "db")
	from := newSetOf(set)
	from.Spec = *set.Spec.DeepCopy()
	j.Workloads = []migration.Workload{{
		Ref: refOf(migration.StatefulSetKind, set), Replicas: *set.Spec.Replicas, Retention: set.Spec.PersistentVolumeClaimRetentionPolicy,
		From: from, To: newSetOf(set),
	}}
	return j
}

func TestTrials(t *testing.T) {
	l := newLab(t, with(labSet))
	before := l.state().Version()
	trials := l.client.Trials(t.Context(), l.setJournal())
	want := []migration.Trial{
		{Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "exam", Name: "data-db-0"}},
		{Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "exam", Name: "data-db-1"}},
		{Target: actions.Ref{Kind: migration.StatefulSetKind, Namespace: "exam", Name: "db"}},
	}
	if diff := cmp.Diff(want, trials); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if l.state().Version() != before || len(l.wire.real()) != 0 || len(l.wire.dry()) != 3 {
		t.Errorf("sent %v", l.wire.sent)
	}
	for _, sent := range l.wire.sent {
		if !strings.Contains(sent.body, `"name":"claimref-trial-`) || !strings.Contains(sent.query, "fieldValidation=Strict") {
			t.Errorf("sent %s %s", sent.query, sent.body)
		}
	}
}

func TestTrialsThatFail(t *testing.T) {
	const quota = `persistentvolumeclaims "x" is forbidden: exceeded quota: few, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1`
	for name, tt := range map[string]struct {
		code            int
		reason, message string
		change          func(*migration.Journal)
		untried         bool
		problem         string
	}{
		"policy":   {code: 403, reason: "Forbidden", message: "denied by\x1b policy x", problem: "denied by policy x"},
		"invalid":  {code: 422, reason: "Invalid", message: "no", problem: "no"},
		"no right": {code: 403, reason: "Forbidden", message: `User "a" cannot create resource "x"`, untried: true, problem: "you may not create it"},
		"webhook": {
			code: 400, reason: "BadRequest", message: `admission webhook "x" does not support dry run`,
			untried: true, problem: "does not support dry run",
		},
		"failure":   {code: 500, reason: "InternalError", message: "etcd", untried: true, problem: "etcd"},
		"old quota": {code: 403, reason: "Forbidden", message: quota, untried: true, problem: "still counts for a quota"},
		"quota of another namespace": {
			code: 403, reason: "Forbidden", message: quota, problem: "exceeded quota",
			change: func(j *migration.Journal) { j.Volumes[0].To.Namespace = "other" },
		},
		"quota, and nothing to go": {
			code: 403, reason: "Forbidden", message: quota, problem: "exceeded quota",
			change: func(j *migration.Journal) { j.Volumes[0].From = nil },
		},
	} {
		l := newLab(t)
		j := l.journalOf("data")
		if tt.change != nil {
			tt.change(&j)
		}
		l.wire.before = func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return refusal(tt.code, tt.reason, tt.message)
			}
			return nil, nil
		}
		trials := l.client.Trials(t.Context(), j)
		if len(trials) != 1 || trials[0].Untried != tt.untried || !strings.Contains(trials[0].Problem, tt.problem) {
			t.Errorf("%s: %+v", name, trials)
		}
	}
	l := newLab(t, withConfig(func(c *Config) { c.ReadOnly = true }))
	if trials := l.client.Trials(t.Context(), l.journalOf("data")); !trials[0].Untried || trials[0].Problem == "" {
		t.Errorf("read-only: %+v", trials)
	}
}

// A refusal is about the claim that is to be made, whatever it was called when
// it was tried: the same question has the same answer.
func TestTrialsSpeakOfTheClaim(t *testing.T) {
	l := newLab(t, with(strings.Replace(labLimits, "max: {storage: 1Ti}", "max: {storage: 1Mi}", 1)))
	want := `persistentvolumeclaims "data" is forbidden: maximum storage usage per PersistentVolumeClaim is 1Mi, but request is 1Gi`
	for range 2 {
		if trials := l.client.Trials(t.Context(), l.journalOf("data")); len(trials) != 1 || trials[0].Problem != want {
			t.Errorf("%+v", trials)
		}
	}
}

// What a webhook would change is told apart from what every server adds.
func TestTrialChanges(t *testing.T) {
	l := newLab(t)
	j := l.journalOf("data")
	j.Volumes[0].To.Spec.StorageClassName = nil
	j.Volumes[0].To.Spec.VolumeMode = nil
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodPost {
			return nil, nil
		}
		return success(`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"claimref-trial-x","namespace":"exam","uid":"u",
			"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web","team":"a"},"finalizers":["kubernetes.io/pvc-protection"]},
			"spec":{"accessModes":["ReadWriteOncePod"],"resources":{"requests":{"storage":"2Gi"}},"storageClassName":"fast","volumeMode":"Filesystem",
			"volumeName":"` + j.Volumes[0].Ref.Name + `"},"status":{"phase":"Pending"}}`), nil
	}
	trials := l.client.Trials(t.Context(), j)
	want := []string{"spec.resources.requests.storage", "spec.storageClassName", "metadata.labels.team"}
	if diff := cmp.Diff(want, trials[0].Changed); diff != "" || trials[0].Problem != "" {
		t.Errorf("%+v (-want +got):\n%s", trials[0], diff)
	}
}

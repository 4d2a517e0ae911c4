package kube

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// releasedVolume is a volume whose claim is gone.
func releasedVolume() *corev1.PersistentVolume {
	pv := newVolume("pv", claimedBy("a", "c", "uid-old"), inPhase(corev1.VolumeReleased))
	pv.Annotations = map[string]string{"pv.kubernetes.io/bound-by-controller": "yes", lastApplied: "{}"}
	pv.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "x", Operation: metav1.ManagedFieldsOperationUpdate}}
	return pv
}

// reserveStep reserves the released volume for its former claim.
func reserveStep() actions.Step {
	return actions.Step{
		ID:     "reserve",
		Target: actions.Ref{Kind: actions.VolumeKind, Name: "pv", UID: "uid-pv"},
		Patch:  json.RawMessage(`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},"spec":{"claimRef":{"uid":null}}}`),
		Before: actions.VolumeCondition{Phases: []corev1.PersistentVolumePhase{corev1.VolumeReleased}},
		After: actions.VolumeCondition{
			Phases:   []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound},
			ClaimRef: &actions.ClaimRefCondition{Claim: actions.ClaimKey{Namespace: "a", Name: "c"}, AnyUID: true},
		},
	}
}

func TestPreviewAndApplySendTheSameGuardedRequest(t *testing.T) {
	pv := releasedVolume()
	server, http1 := newAPIServer(t, pv)
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	if !p.DryRun.Supported || p.ResourceVersion != pv.ResourceVersion || p.Before.UID != "uid-pv" || p.Taken.IsZero() {
		t.Errorf("preview = %+v", p)
	}
	if p.After.Spec.ClaimRef.UID != "" || p.After.Spec.ClaimRef.Name != "c" {
		t.Errorf("claimRef after = %+v", p.After.Spec.ClaimRef)
	}
	want := `{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null},"resourceVersion":"` + pv.ResourceVersion +
		`","uid":"uid-pv"},"spec":{"claimRef":{"uid":null}}}`
	checkBody := func() {
		t.Helper()
		got, err := json.Marshal(server.lastBody())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	}
	checkBody()

	applied, err := c.Apply(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	checkBody()
	patches := server.sent(http.MethodPatch)
	if len(patches) != 2 {
		t.Fatalf("%d patches were sent", len(patches))
	}
	const rest = "fieldManager=claimref fieldValidation=Strict"
	const merge = "application/merge-patch+json "
	if got := parameters(patches[0]); got != merge+"dryRun=All "+rest {
		t.Errorf("dry run: %s", got)
	}
	if got := parameters(patches[1]); got != merge+rest {
		t.Errorf("real request: %s", got)
	}
	if applied.Recovered || applied.ResourceVersion == pv.ResourceVersion || applied.Object.Spec.ClaimRef.UID != "" {
		t.Errorf("applied = %+v", applied)
	}
}

func TestDiffShowsTheChangeAndNoBookkeeping(t *testing.T) {
	_, http1 := newAPIServer(t, releasedVolume())
	p, err := connect(t, http1.URL, nil).Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for line := range strings.Lines(p.Diff) {
		if (line[0] == '-' || line[0] == '+') && !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") {
			changed = append(changed, strings.TrimSpace(line))
		}
	}
	want := []string{"-  annotations:", "-    pv.kubernetes.io/bound-by-controller: \"yes\"", "-    uid: uid-old"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed lines (-want +got):\n%s\nin:\n%s", diff, p.Diff)
	}
	for _, noise := range []string{"managedFields", "resourceVersion", "last-applied"} {
		if strings.Contains(p.Diff, noise) {
			t.Errorf("the diff has %s:\n%s", noise, p.Diff)
		}
	}
	// The objects themselves are left as they were read.
	if p.Before.ResourceVersion == "" || len(p.Before.ManagedFields) == 0 {
		t.Error("the diff has changed the object")
	}
}

func TestPreviewGuards(t *testing.T) {
	pv := releasedVolume()
	server, http1 := newAPIServer(t, pv)
	c := connect(t, http1.URL, nil)

	step := reserveStep()
	step.Target.UID = "uid-other"
	if _, err := c.Preview(t.Context(), nil, step); !errors.Is(err, ErrReplaced) || KindOf(err) != KindReplaced {
		t.Errorf("replaced: %v", err)
	}
	step = reserveStep()
	step.Before.Policy = corev1.PersistentVolumeReclaimDelete
	_, err := c.Preview(t.Context(), nil, step)
	if guard, ok := errors.AsType[*GuardError](err); !ok || guard.Reason == "" {
		t.Errorf("guard: %v", err)
	}
	step = reserveStep()
	step.Target.Name = "gone"
	if _, err := c.Preview(t.Context(), nil, step); KindOf(err) != KindNotFound {
		t.Errorf("gone: %v", err)
	}
	step = reserveStep()
	step.Target.Kind = actions.ClaimKind
	if _, err := c.Preview(t.Context(), nil, step); err == nil {
		t.Error("a step on a claim was previewed as if it were on a volume")
	}
	if sent := server.sent(http.MethodPatch); len(sent) != 0 {
		t.Errorf("%d patches were sent", len(sent))
	}
}

func TestWebhookThatRefusesDryRuns(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	server.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("dryRun") == "" {
			return false
		}
		server.fail(w, 400, metav1.StatusReasonBadRequest, "admission webhook \"disk.example.com\" does not support dry run\x1b[2J")
		return true
	}
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	if p.DryRun.Supported || p.DryRun.Reason != `admission webhook "disk.example.com" does not support dry run[2J` {
		t.Errorf("dry run = %+v", p.DryRun)
	}
	if !strings.Contains(p.Diff, "-    uid: uid-old") {
		t.Errorf("diff:\n%s", p.Diff)
	}
	if _, err := c.Apply(t.Context(), p); err != nil {
		t.Errorf("apply: %v", err)
	}
}

func TestDryRunErrorsAreErrors(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	server.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPatch {
			server.fail(w, 403, metav1.StatusReasonForbidden, "no")
		}
		return r.Method == http.MethodPatch
	}
	if _, err := connect(t, http1.URL, nil).Preview(t.Context(), nil, reserveStep()); KindOf(err) != KindForbidden {
		t.Errorf("error = %v", err)
	}
}

func TestApplyConflicts(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	other := releasedVolume()
	server.put(other)
	if _, err := c.Apply(t.Context(), p); KindOf(err) != KindConflict {
		t.Errorf("error = %v", err)
	}
	if got := len(server.sent(http.MethodPatch)); got != 2 {
		t.Errorf("%d patches were sent, want the dry run and one attempt", got)
	}
}

// lose makes the server lose the answer to the real request, after it has
// been stored or before.
func lose(server *apiServer, stored bool, lost func(w http.ResponseWriter)) {
	isWrite := func(r *http.Request) bool {
		return r.Method == http.MethodPatch && r.URL.Query().Get("dryRun") == ""
	}
	hook := func(w http.ResponseWriter, r *http.Request) bool {
		if isWrite(r) {
			lost(w)
		}
		return isWrite(r)
	}
	if stored {
		server.after = hook
	} else {
		server.before = hook
	}
}

func TestLostAnswers(t *testing.T) {
	available := func(o map[string]any) { o["status"] = map[string]any{"phase": "Available"} }
	ways := map[string]func(t *testing.T, s *apiServer, w http.ResponseWriter){
		"hang up": func(t *testing.T, _ *apiServer, w http.ResponseWriter) { hangUp(t, w) },
		"500": func(_ *testing.T, s *apiServer, w http.ResponseWriter) {
			s.fail(w, 500, metav1.StatusReasonInternalError, "etcd")
		},
		"504": func(_ *testing.T, s *apiServer, w http.ResponseWriter) {
			s.fail(w, 504, metav1.StatusReasonTimeout, "slow")
		},
		"503, please retry": func(_ *testing.T, s *apiServer, w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			s.fail(w, 503, metav1.StatusReasonServiceUnavailable, "busy")
		},
		"rubbish": func(t *testing.T, _ *apiServer, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			if _, err := w.Write([]byte("{")); err != nil {
				t.Error(err)
			}
		},
	}
	for way, lost := range ways {
		tests := []struct {
			name    string
			stored  bool
			follow  func(map[string]any)
			want    Kind
			applied bool
		}{
			{"applied", true, available, KindOther, true},
			{"applied, and the controller is slow", true, nil, KindOther, true},
			{"not applied", false, nil, KindNotApplied, false},
			{"overwritten", true, func(o map[string]any) { o["spec"].(map[string]any)["claimRef"] = nil }, KindOutcomeUnknown, false},
		}
		for _, tt := range tests {
			t.Run(way+"/"+tt.name, func(t *testing.T) {
				server, http1 := newAPIServer(t, releasedVolume())
				lose(server, tt.stored, func(w http.ResponseWriter) { lost(t, server, w) })
				server.follow = tt.follow
				c := connect(t, http1.URL, nil)
				p, err := c.Preview(t.Context(), nil, reserveStep())
				if err != nil {
					t.Fatal(err)
				}
				applied, err := c.Apply(t.Context(), p)
				if tt.applied && (err != nil || !applied.Recovered || applied.ResourceVersion == p.ResourceVersion) {
					t.Errorf("applied = %+v, %v", applied, err)
				}
				if !tt.applied && (err == nil || KindOf(err) != tt.want) {
					t.Errorf("error = %v", err)
				}
				if got := len(server.sent(http.MethodPatch)); got != 2 {
					t.Errorf("%d patches were sent, want the dry run and one attempt", got)
				}
			})
		}
	}
}

func TestLostAnswerAndThenNothing(t *testing.T) {
	for name, then := range map[string]func(s *apiServer, w http.ResponseWriter){
		"unreadable": func(s *apiServer, w http.ResponseWriter) { s.fail(w, 500, metav1.StatusReasonInternalError, "etcd") },
		"gone":       func(s *apiServer, w http.ResponseWriter) { s.fail(w, 404, metav1.StatusReasonNotFound, "gone") },
	} {
		t.Run(name, func(t *testing.T) {
			server, http1 := newAPIServer(t, releasedVolume())
			c := connect(t, http1.URL, nil)
			p, err := c.Preview(t.Context(), nil, reserveStep())
			if err != nil {
				t.Fatal(err)
			}
			server.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPatch {
					hangUp(t, w)
				} else {
					then(server, w)
				}
				return true
			}
			if _, err := c.Apply(t.Context(), p); !errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// A user who quits while the request is under way still learns how it ended.
func TestCancelledApplyIsReadBack(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	lose(server, true, func(w http.ResponseWriter) {
		cancel()
		hangUp(t, w)
	})
	applied, err := c.Apply(ctx, p)
	if err != nil || !applied.Recovered {
		t.Errorf("applied = %+v, %v", applied, err)
	}
}

func TestNothingWasSentToAClosedPort(t *testing.T) {
	_, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, nil)
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	http1.Close()
	if _, err := c.Apply(t.Context(), p); KindOf(err) != KindUnreachable {
		t.Errorf("error = %v", err)
	}
}

func TestReadOnlyWritesNothing(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	p, err := connect(t, http1.URL, nil).Preview(t.Context(), nil, reserveStep())
	if err != nil {
		t.Fatal(err)
	}
	before := len(server.sent(http.MethodPatch))
	c := connect(t, http1.URL, func(cfg *Config) { cfg.ReadOnly = true })
	if _, err := c.Preview(t.Context(), nil, reserveStep()); !errors.Is(err, ErrReadOnly) {
		t.Errorf("preview: %v", err)
	}
	if _, err := c.Apply(t.Context(), p); !errors.Is(err, ErrReadOnly) {
		t.Errorf("apply: %v", err)
	}
	// The transport keeps the promise by itself.
	if _, err := c.patch(t.Context(), p, p.Step.Patch, true); !errors.Is(err, ErrReadOnly) || KindOf(err) != KindReadOnly {
		t.Errorf("dry run: %v", err)
	}
	if _, err := c.patch(t.Context(), p, p.Step.Patch, false); !errors.Is(err, ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if err := c.api.CoreV1().PersistentVolumes().Delete(t.Context(), "pv", metav1.DeleteOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("delete: %v", err)
	}
	if got := len(server.sent(http.MethodPatch)) + len(server.sent(http.MethodDelete)); got != before {
		t.Errorf("%d writing requests reached the server", got-before)
	}
	// Questions about access may be asked.
	c.rights(t.Context())
	if got := len(server.sent(http.MethodPost)); got != 1 {
		t.Errorf("%d access reviews reached the server", got)
	}
}

func TestDryRunModePreviewsOnly(t *testing.T) {
	server, http1 := newAPIServer(t, releasedVolume())
	c := connect(t, http1.URL, func(cfg *Config) { cfg.DryRun = true })
	p, err := c.Preview(t.Context(), nil, reserveStep())
	if err != nil || !p.DryRun.Supported {
		t.Fatalf("preview: %+v, %v", p.DryRun, err)
	}
	if _, err := c.Apply(t.Context(), p); !errors.Is(err, ErrDryRunOnly) {
		t.Errorf("apply: %v", err)
	}
	if _, err := c.patch(t.Context(), p, p.Step.Patch, false); !errors.Is(err, ErrDryRunOnly) {
		t.Errorf("write: %v", err)
	}
	if got := len(server.sent(http.MethodPatch)); got != 1 {
		t.Errorf("%d patches reached the server, want the dry run", got)
	}
}

func TestGuardIsNotFooled(t *testing.T) {
	sent := 0
	next := roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return nil, errors.New("sent")
	})
	for _, tt := range []struct {
		method, url    string
		readOnly, only bool
	}{
		{"GET", "/api/v1/pods", true, true},
		{"PATCH", "/api/v1/persistentvolumes/pv", false, false},
		{"PATCH", "/api/v1/persistentvolumes/pv?dryRun=All", false, true},
		{"PATCH", "/api/v1/persistentvolumes/pv?dryRun=", false, false},
		{"PATCH", "/api/v1/persistentvolumes/pv?dryRun=All&dryRun=None", false, false},
		{"DELETE", "/api/v1/persistentvolumes/pv", false, false},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", true, true},
		{"POST", "/proxy/c-1/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", true, true},
		{"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", false, false},
		{"POST", "/api/v1/namespaces/a/pods", false, false},
		{"CONNECT", "/api/v1/namespaces/a/pods/p/exec", false, false},
	} {
		for _, dryRun := range []bool{false, true} {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://h"+tt.url, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			sent = 0
			response, err := guard{next: next, dryRun: dryRun}.RoundTrip(req)
			if response != nil {
				_ = response.Body.Close()
				t.Fatal("a guard made up an answer")
			}
			if err == nil {
				t.Fatal("a guard kept quiet")
			}
			want := tt.readOnly
			if dryRun {
				want = tt.only
			}
			if (sent == 1) != want {
				t.Errorf("%s %s, dryRun %v: sent %d", tt.method, tt.url, dryRun, sent)
			}
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestSeen(t *testing.T) {
	pv := newVolume("pv")
	pv.ResourceVersion = "99"
	s := NewSnapshot(Objects{Volumes: []*corev1.PersistentVolume{pv}})
	at := func(version string, change func(*corev1.PersistentVolume)) Applied {
		o := newVolume("pv")
		o.ResourceVersion = version
		if change != nil {
			change(o)
		}
		return Applied{ResourceVersion: version, Object: o}
	}
	for _, tt := range []struct {
		name    string
		snap    *Snapshot
		applied Applied
		want    bool
	}{
		{"older", s, at("98", nil), true},
		{"same", s, at("99", nil), true},
		{"newer, with one more digit", s, at("100", nil), false},
		{"not a number", s, at("x", nil), false},
		{"replaced", s, at("100", func(pv *corev1.PersistentVolume) { pv.UID = "other" }), true},
		{"gone", NewSnapshot(Objects{}), at("100", nil), true},
		{"not read", &Snapshot{}, at("100", nil), false},
		{"nothing applied", s, Applied{}, false},
	} {
		if got := Seen(tt.snap, tt.applied); got != tt.want {
			t.Errorf("%s: seen = %v", tt.name, got)
		}
	}
}

func TestPlanUsesFreshObjects(t *testing.T) {
	// The snapshot is behind: it shows the volume bound, and a claim that has
	// been deleted since.
	old := newVolume("pv", claimedBy("a", "c", "uid-c"))
	snap := NewSnapshot(Objects{
		Volumes: []*corev1.PersistentVolume{old, newVolume("other")},
		Claims:  []*corev1.PersistentVolumeClaim{newClaim("a", "c", boundTo("pv"))},
	})
	fresh := newVolume("pv", claimedBy("a", "c", "uid-c"), inPhase(corev1.VolumeReleased))
	server, http1 := newAPIServer(t, fresh, &corev1.Namespace{ObjectMeta: named("", "a")}, newClaim("a", "new"))
	c := connect(t, http1.URL, nil)
	req := actions.Request{
		Verb: actions.Reserve, Volume: actions.Ref{Kind: actions.VolumeKind, Name: "pv", UID: "uid-pv"},
		Claim: actions.ClaimKey{Namespace: "a", Name: "new"},
	}
	plan, w, err := c.Plan(t.Context(), req, snap)
	if err != nil {
		t.Fatal(err)
	}
	if w.Volume.Status.Phase != corev1.VolumeReleased || len(w.Volumes) != 2 {
		t.Errorf("volume = %+v", w.Volume)
	}
	if len(w.Claims) != 1 || w.Claims[0].Name != "new" {
		t.Errorf("%d claims", len(w.Claims))
	}
	if deleting, exists := w.Namespaces["a"]; deleting || !exists || len(w.Unread) != 0 {
		t.Errorf("namespaces = %v, unread = %v", w.Namespaces, w.Unread)
	}
	if plan.Request != req || len(plan.Checks) == 0 {
		t.Errorf("plan = %+v", plan)
	}
	if len(snap.Claims) != 1 || snap.Volume("pv").Object.Status.Phase != corev1.VolumeBound {
		t.Error("planning has changed the snapshot")
	}

	server.before = func(w http.ResponseWriter, r *http.Request) bool {
		refused := !strings.Contains(r.URL.Path, "persistentvolumes/")
		if refused {
			server.fail(w, 403, metav1.StatusReasonForbidden, "no")
		}
		return refused
	}
	_, w, err = c.Plan(t.Context(), req, snap)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"namespaces", "persistentvolumeclaims"}, w.Unread); diff != "" || w.Namespaces != nil {
		t.Errorf("unread (-want +got):\n%s", diff)
	}

	server.before = nil
	req.Volume.Name = "gone"
	if plan, w, err = c.Plan(t.Context(), req, snap); err != nil || w.Volume != nil || plan.Blocked() == "" {
		t.Errorf("a volume that is gone: %v, %+v", err, plan)
	}
	http1.Close()
	if _, _, err = c.Plan(t.Context(), req, snap); KindOf(err) != KindUnreachable {
		t.Errorf("error = %v", err)
	}
}

// In dry-run mode a plan is walked to its end although nothing is written.
func TestDryRunModeTakesEarlierStepsAsDone(t *testing.T) {
	pv := releasedVolume()
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	server, http1 := newAPIServer(t, pv)
	retain := actions.Step{
		ID: "retain", Target: reserveStep().Target,
		Patch: json.RawMessage(`{"metadata":{"annotations":{"x":"y"}},"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`),
	}
	reserve := reserveStep()
	reserve.Before.Policy = corev1.PersistentVolumeReclaimRetain
	c := connect(t, http1.URL, func(cfg *Config) { cfg.DryRun = true })
	if _, err := c.Preview(t.Context(), nil, reserve); KindOf(err) != KindGuard {
		t.Errorf("without the step before: %v", err)
	}
	p, err := c.Preview(t.Context(), []actions.Step{retain}, reserve)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(p.Diff, "+  persistentVolumeReclaimPolicy") || !strings.Contains(p.Diff, "-    uid: uid-old") {
		t.Errorf("the diff does not show what this step adds:\n%s", p.Diff)
	}
	body, err := json.Marshal(server.lastBody())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null,"x":"y"},"resourceVersion":"` + pv.ResourceVersion +
		`","uid":"uid-pv"},"spec":{"claimRef":{"uid":null},"persistentVolumeReclaimPolicy":"Retain"}}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	// Where writes are real, done steps are on the server, or were undone.
	if _, err := connect(t, http1.URL, nil).Preview(t.Context(), []actions.Step{retain}, reserve); KindOf(err) != KindGuard {
		t.Errorf("outside dry-run mode: %v", err)
	}
}

func TestDrainWaitsForWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster().client
		if err := c.Drain(time.Second); err != nil {
			t.Errorf("nothing to wait for: %v", err)
		}
		failed := errors.New("conflict")
		for _, outcome := range []error{nil, failed} {
			end := c.writes.begin()
			start := time.Now()
			go func() {
				time.Sleep(3 * time.Second)
				end(outcome)
			}()
			if err := c.Drain(time.Minute); !errors.Is(err, outcome) || time.Since(start) != 3*time.Second {
				t.Errorf("drained after %v: %v", time.Since(start), err)
			}
		}
		c = newCluster().client
		end := c.writes.begin()
		if err := c.Drain(time.Second); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("gave up: %v", err)
		}
		end(nil)
	})
}

package kube

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

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

	applied, err := c.Apply(t.Context(), p, nil)
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
	if _, err := c.Apply(t.Context(), p, nil); err != nil {
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

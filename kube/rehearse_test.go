package kube

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

func itemsOf(steps ...migration.Step) []migration.Item {
	items := make([]migration.Item, len(steps))
	for i, s := range steps {
		items[i] = migration.Item{Step: s, State: migration.Later}
	}
	return items
}

// A plan is rehearsed to its end although nothing is written, and each step
// shows what it adds to those before it.
func TestRehearseAWholePlan(t *testing.T) {
	l := newLab(t, with(labDeployment))
	done := migration.Item{Step: migration.Step{ID: "done", Act: "nonsense"}, State: migration.Done}
	reserve := l.retain()
	reserve.ID = "reserve"
	reserve.Patch = json.RawMessage(`{"spec":{"accessModes":["ReadWriteOncePod"],"claimRef":{"uid":null}}}`)
	restore := l.retain()
	restore.ID, restore.Patch = "restore", json.RawMessage(`{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}`)
	start := l.scaleTo("1")
	start.ID = "start"
	items := append([]migration.Item{done}, itemsOf(
		l.retain(), l.scaleTo("0"), migration.Step{ID: "wait", Act: migration.Await}, l.deleteClaim("data"), reserve, l.createClaim("data"), start, restore)...)
	before := l.state().Version()
	previews, err := l.client.Rehearse(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"retain":  {"-  persistentVolumeReclaimPolicy: Delete", "+  persistentVolumeReclaimPolicy: Retain"},
		"scale":   {"-  replicas: 1", "+  replicas: 0"},
		"wait":    nil,
		"reserve": {"-  - ReadWriteOnce", "+  - ReadWriteOncePod", "-    uid: (uid)"},
		"start":   {"-  replicas: 0", "+  replicas: 1"},
		"restore": {"-  persistentVolumeReclaimPolicy: Retain", "+  persistentVolumeReclaimPolicy: Delete"},
	}
	var order []string
	for _, p := range previews {
		order = append(order, p.Step.ID)
		if lines, ok := want[p.Step.ID]; ok {
			if diff := cmp.Diff(lines, p.Changes()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", p.Step.ID, diff)
			}
		}
		if p.DryRun.Later || p.DryRun.Supported != (p.Step.Act != migration.Await) {
			t.Errorf("%s: %+v", p.Step.ID, p.DryRun)
		}
		if (p.Step.Act == migration.Create) != (p.Temporary != "") {
			t.Errorf("%s: temporary name %q", p.Step.ID, p.Temporary)
		}
	}
	if diff := cmp.Diff([]string{"retain", "scale", "wait", "delete", "reserve", "create", "start", "restore"}, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if l.state().Version() != before || len(l.wire.real()) != 0 {
		t.Error("a rehearsal has written something")
	}
	// What was previewed on assumptions is not for real.
	for _, p := range previews[1:] {
		if p.Step.ID == "reserve" || p.Step.ID == "restore" {
			if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != KindGuard {
				t.Errorf("perform %s: %v", p.Step.ID, err)
			}
		}
	}
}

// A set that is deleted and made again can't be asked about before.
func TestRehearseStepsOnWhatIsStillToBeMade(t *testing.T) {
	l := newLab(t, with(labSet))
	retention := migration.Step{
		ID: "retention", Act: migration.Patch, Target: actions.Ref{Kind: migration.StatefulSetKind, Namespace: "exam", Name: "db"},
		Patch: json.RawMessage(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain"}}}`),
	}
	scale := migration.Step{
		ID: "scale", Act: migration.Scale, Target: retention.Target, Patch: json.RawMessage(`{"spec":{"replicas":5}}`),
	}
	previews, err := l.client.Rehearse(t.Context(), itemsOf(l.deleteSet("db"), l.createSet("db"), retention, scale))
	if err != nil {
		t.Fatal(err)
	}
	if !previews[0].DryRun.Supported || !previews[1].DryRun.Supported {
		t.Errorf("delete %+v, create %+v", previews[0].DryRun, previews[1].DryRun)
	}
	for i, want := range map[int][]string{
		2: {"-    whenDeleted: Delete", "+    whenDeleted: Retain"},
		3: {"-  replicas: 2", "+  replicas: 5"},
	} {
		p := previews[i]
		if p.DryRun.Supported || !p.DryRun.Later || p.DryRun.Reason != "not before the steps before it" {
			t.Errorf("%s: %+v", p.Step.ID, p.DryRun)
		}
		if diff := cmp.Diff(want, p.Changes()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Step.ID, diff)
		}
		if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != KindGuard {
			t.Errorf("perform %s: %v", p.Step.ID, err)
		}
	}
}

// Rehearsed and fresh previews of one step are the same, although the steps
// before it are written by then, and the controllers have answered.
func TestRehearsedAndFreshPreviewsAreTheSame(t *testing.T) {
	l := newLab(t, with(labDeployment))
	l.wire.settles = true
	reserve := l.retain()
	reserve.ID = "reserve"
	reserve.Patch = json.RawMessage(`{"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":null}},"spec":{"accessModes":["ReadWriteOncePod"],"claimRef":{"uid":null}}}`)
	steps := []migration.Step{l.retain(), l.scaleTo("0"), l.deleteClaim("data"), reserve, l.createClaim("data"), l.scaleTo("1")}
	rehearsed, err := l.client.Rehearse(t.Context(), itemsOf(steps...))
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range steps {
		fresh, err := l.client.PreviewStep(t.Context(), nil, step)
		if err != nil {
			t.Fatalf("%s: %v", step.ID, err)
		}
		if !Same(rehearsed[i], fresh) {
			t.Errorf("%s (-rehearsed +fresh):\n%s", step.ID, cmp.Diff(rehearsed[i].Changes(), fresh.Changes()))
		}
		if _, err := l.client.Perform(t.Context(), fresh, nil); err != nil {
			t.Fatalf("%s: %v", step.ID, err)
		}
	}
}

const labQuota = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: exam}
spec: {hard: {persistentvolumeclaims: "1"}}
`

// A quota counts the claim that is to go. That is no reason to give up.
func TestRehearseCreationBesideWhatAQuotaCounts(t *testing.T) {
	l := newLab(t, with(labQuota))
	previews, err := l.client.Rehearse(t.Context(), itemsOf(l.deleteClaim("data"), l.createClaim("data")))
	if err != nil {
		t.Fatal(err)
	}
	if p := previews[1]; !p.DryRun.Later || !strings.Contains(p.DryRun.Reason, "quota") || !strings.Contains(p.Diff, "+  name: data") {
		t.Errorf("%+v\n%s", p.DryRun, p.Diff)
	}
	// Where nothing goes, it is a reason.
	if _, err := l.client.Rehearse(t.Context(), itemsOf(l.createClaim("data"))); KindOf(err) != KindForbidden {
		t.Errorf("error = %v", err)
	}
}

// What fails does not hide the rest.
func TestRehearsalWithARefusal(t *testing.T) {
	l := newLab(t, with(labDeployment))
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodDelete {
			return refusal(403, "Forbidden", "no")
		}
		return nil, nil
	}
	previews, err := l.client.Rehearse(t.Context(), itemsOf(l.retain(), l.deleteClaim("data"), l.scaleTo("0")))
	if KindOf(err) != KindForbidden || !strings.Contains(err.Error(), "claim exam/data") {
		t.Errorf("error = %v", err)
	}
	ids := []string{}
	for _, p := range previews {
		ids = append(ids, p.Step.ID)
	}
	if !slices.Equal(ids, []string{"retain", "delete", "scale"}) || previews[0].Diff == "" || previews[1].Diff != "" || previews[2].Diff == "" {
		t.Errorf("previews = %+v", previews)
	}
}

// A pod that has gone meanwhile need not be deleted.
func TestRehearseDeletionOfWhatIsGone(t *testing.T) {
	l := newLab(t, with(labDeployment))
	pod := migration.Step{ID: "pod", Act: migration.Delete, Target: refOf(migration.PodKind, l.aPod("web"))}
	l.remove(l.aPod("web"))
	previews, err := l.client.Rehearse(t.Context(), itemsOf(pod))
	if err != nil || !previews[0].DryRun.Later {
		t.Errorf("%v, %+v", err, previews)
	}
}

// An operation that lost its note in the middle has steps ahead of it on what is
// gone already. They do not keep it from being resumed; only the first step has
// to be about something.
func TestRehearseStepsOnWhatIsNotThere(t *testing.T) {
	l := newLab(t, with(labDeployment))
	gone := l.deleteClaim("data")
	gone.Target.UID = ""
	previews, err := l.client.Rehearse(t.Context(), itemsOf(l.retain(), gone))
	if err != nil || !previews[0].DryRun.Supported || !previews[1].DryRun.Later || previews[1].DryRun.Supported {
		t.Errorf("%v, %+v", err, previews)
	}
	if previews, err = l.client.Rehearse(t.Context(), itemsOf(gone)); err == nil {
		t.Errorf("the step whose turn it is was previewed: %+v", previews)
	}
}

package kube

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// plusMinus are the lines of a diff that were taken out or put in.
func plusMinus(diff string) []string {
	var lines []string
	for i, line := range strings.Split(diff, "\n") {
		if i >= 2 && line != "" && (line[0] == '+' || line[0] == '-') {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestPreviewOfEachActWritesNothing(t *testing.T) {
	l := fullLab(t)
	before := l.state().Version()
	for name, step := range l.each() {
		p, err := l.client.PreviewStep(t.Context(), nil, step)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !p.DryRun.Supported || p.Diff == "" || p.Taken.IsZero() || p.Temporary != "" {
			t.Errorf("%s: %+v", name, p)
		}
		for _, noise := range []string{"managedFields", "resourceVersion", "creationTimestamp", "generation:"} {
			if slices.ContainsFunc(plusMinus(p.Diff), func(l string) bool { return strings.Contains(l, noise) && !strings.Contains(l, "claimRef") }) {
				t.Errorf("%s: the diff has %s:\n%s", name, noise, p.Diff)
			}
		}
		one := func(mark byte) bool {
			return !slices.ContainsFunc(plusMinus(p.Diff), func(l string) bool { return l[0] != mark })
		}
		if step.Act == migration.Create && !one('+') || step.Act == migration.Delete && !one('-') {
			t.Errorf("%s:\n%s", name, p.Diff)
		}
	}
	if l.state().Version() != before || len(l.wire.real()) != 0 {
		t.Error("a preview has written something")
	}
}

func TestPatchPreviewShowsWhatChanges(t *testing.T) {
	l := newLab(t, with(labDeployment))
	p, err := l.client.PreviewStep(t.Context(), nil, l.retain())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"-  persistentVolumeReclaimPolicy: Delete", "+  persistentVolumeReclaimPolicy: Retain"}
	if diff := cmp.Diff(want, plusMinus(p.Diff)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, p.Changes()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	p, err = l.client.PreviewStep(t.Context(), nil, l.scaleTo("0"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"-  replicas: 1", "+  replicas: 0"}, plusMinus(p.Diff)); diff != "" {
		t.Errorf("scale (-want +got):\n%s", diff)
	}
}

// A request holds for the one version of the one object that was read.
func TestRequestsCarryTheirPreconditions(t *testing.T) {
	l := fullLab(t)
	for name, step := range l.each() {
		l.wire.sent = nil
		p, err := l.client.PreviewStep(t.Context(), nil, step)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(l.wire.sent) != 1 {
			t.Fatalf("%s: %v", name, l.wire.sent)
		}
		sent := l.wire.sent[0]
		var body struct {
			Metadata, Preconditions struct {
				UID             string
				ResourceVersion string
			}
			PropagationPolicy  string
			GracePeriodSeconds *int
			DryRun             []string
		}
		if err := json.Unmarshal([]byte(sent.body), &body); err != nil {
			t.Fatal(err)
		}
		target := l.target(step.Target)
		switch step.Act {
		case migration.Create:
			if !strings.Contains(sent.query, "fieldValidation=Strict") || !strings.Contains(sent.query, "fieldManager=claimref") {
				t.Errorf("%s: %s", name, sent.query)
			}
		case migration.Delete:
			if body.Preconditions.UID != string(target.GetUID()) || body.Preconditions.ResourceVersion != target.GetResourceVersion() {
				t.Errorf("%s: %s", name, sent.body)
			}
			if body.GracePeriodSeconds != nil || (body.PropagationPolicy == "Orphan") != step.Orphan || !slices.Equal(body.DryRun, []string{"All"}) {
				t.Errorf("%s: %s", name, sent.body)
			}
		default:
			if body.Metadata.UID != string(target.GetUID()) || body.Metadata.ResourceVersion != target.GetResourceVersion() {
				t.Errorf("%s: %s", name, sent.body)
			}
			if !strings.Contains(sent.query, "fieldValidation=Strict") || strings.HasSuffix(sent.path, "/scale") != (step.Act == migration.Scale) {
				t.Errorf("%s: %s?%s", name, sent.path, sent.query)
			}
		}
		if !p.DryRun.Supported {
			t.Errorf("%s: %+v", name, p.DryRun)
		}
	}
}

// A name that is taken is no reason not to show what would be made.
func TestCreationUnderATakenName(t *testing.T) {
	for _, name := range []string{"claim", "set"} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, with(labSet))
			step := l.createClaim("data")
			if name == "set" {
				step = l.createSet("db")
			}
			p, err := l.client.PreviewStep(t.Context(), nil, step)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(p.Temporary, "claimref-trial-") || !p.DryRun.Supported {
				t.Fatalf("preview = %+v", p)
			}
			if p.After.GetName() != step.Target.Name || strings.Contains(p.Diff, "claimref-trial") || strings.Contains(p.Diff, "\n+status:") {
				t.Errorf("after %s:\n%s", p.After.GetName(), p.Diff)
			}
			if !strings.Contains(p.Diff, "+  name: "+step.Target.Name) || !strings.Contains(p.Diff, "ReadWriteOncePod") {
				t.Errorf("diff:\n%s", p.Diff)
			}
			if _, err := l.client.Perform(t.Context(), p, nil); KindOf(err) != KindGuard {
				t.Errorf("perform: %v", err)
			}
			if sent := l.wire.real(); len(sent) != 0 {
				t.Errorf("sent %v", sent)
			}
		})
	}
}

func TestStepsThatAreNotTaken(t *testing.T) {
	l := fullLab(t)
	pv, set := refOf(actions.VolumeKind, l.volume("data")), refOf(migration.StatefulSetKind, l.state().StatefulSet("exam", "db"))
	noUID := l.retain()
	noUID.Target.UID = ""
	otherName := l.createClaim("data")
	otherName.Target.Name = "other"
	for name, step := range map[string]migration.Step{
		"delete a volume":             {ID: "x", Act: migration.Delete, Target: pv},
		"delete a set with its pods":  {ID: "x", Act: migration.Delete, Target: set},
		"create a volume":             {ID: "x", Act: migration.Create, Target: pv, Object: json.RawMessage(`{}`)},
		"patch a claim":               {ID: "x", Act: migration.Patch, Target: refOf(actions.ClaimKind, l.claim("data")), Patch: json.RawMessage(`{}`)},
		"scale a volume":              {ID: "x", Act: migration.Scale, Target: pv, Patch: json.RawMessage(`{}`)},
		"patch whichever":             noUID,
		"create another than it says": otherName,
		"something else":              {ID: "x", Act: "replace", Target: pv},
	} {
		if _, err := l.client.PreviewStep(t.Context(), nil, step); KindOf(err) != KindGuard {
			t.Errorf("%s: preview: %v", name, err)
		}
		// Perform does not rely on the preview having been made here.
		made := StepPreview{Step: step, Taken: l.state().Now(), ResourceVersion: "1"}
		if step.Act != migration.Create {
			made.Before = &object{Object: map[string]any{}}
		}
		made.After = &object{Object: map[string]any{}}
		if _, err := l.client.Perform(t.Context(), made, nil); KindOf(err) != KindGuard {
			t.Errorf("%s: perform: %v", name, err)
		}
	}
	if len(l.wire.sent) != 0 {
		t.Errorf("sent %v", l.wire.sent)
	}
}

func TestPreviewOfAReplacedObject(t *testing.T) {
	l := fullLab(t)
	for name, step := range l.each() {
		if step.Act == migration.Create {
			continue
		}
		step.Target.UID = otherUID
		if _, err := l.client.PreviewStep(t.Context(), nil, step); !errors.Is(err, ErrReplaced) {
			t.Errorf("%s: %v", name, err)
		}
		step.Target.Name += "-gone"
		if _, err := l.client.PreviewStep(t.Context(), nil, step); KindOf(err) != KindNotFound {
			t.Errorf("%s, gone: %v", name, err)
		}
	}
	if dry := l.wire.dry(); len(dry) != 0 {
		t.Errorf("sent %v", dry)
	}
}

// A webhook that can't take part is told, and what would happen is worked out
// here.
func TestStepsThatCanNotBeDryRun(t *testing.T) {
	l := fullLab(t)
	steps := l.each()
	want := map[string]StepPreview{}
	for name, step := range steps {
		p, err := l.client.PreviewStep(t.Context(), nil, step)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = p
	}
	l.wire.before = webhook
	for name, step := range steps {
		p, err := l.client.PreviewStep(t.Context(), nil, step)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.DryRun.Supported || p.DryRun.Later || !strings.Contains(p.DryRun.Reason, "disk.example.com") || p.Diff == "" {
			t.Errorf("%s: %+v", name, p.DryRun)
		}
		// A set lists its whole self, defaults included; a claim lacks some.
		if step.Act != migration.Create && !slices.Equal(p.Changes(), want[name].Changes()) {
			t.Errorf("%s: (-server +here)\n%s", name, cmp.Diff(want[name].Changes(), p.Changes()))
		}
		if Same(want[name], p) {
			t.Errorf("%s: that the server can't tell any more is no news", name)
		}
	}
}

func TestForbiddenPreview(t *testing.T) {
	l := fullLab(t)
	steps := l.each()
	l.wire.before = func(r *http.Request) (*http.Response, error) {
		if mutates(r) {
			return refusal(403, "Forbidden", "no")
		}
		return nil, nil
	}
	for name, step := range steps {
		if _, err := l.client.PreviewStep(t.Context(), nil, step); KindOf(err) != KindForbidden {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadOnlyPreviewsNothing(t *testing.T) {
	l := fullLab(t, withConfig(func(c *Config) { c.ReadOnly = true }))
	for name, step := range l.each() {
		if _, err := l.client.PreviewStep(t.Context(), nil, step); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(l.wire.sent) != 0 {
		t.Errorf("sent %v", l.wire.sent)
	}
}

// The dry-run mode lets every preview through, deletions too, and nothing else.
func TestDryRunModePreviewsEachAct(t *testing.T) {
	l := fullLab(t, withConfig(func(c *Config) { c.DryRun = true }))
	before := l.state().Version()
	for name, step := range l.each() {
		p, err := l.client.PreviewStep(t.Context(), nil, step)
		if err != nil || !p.DryRun.Supported {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := l.client.Perform(t.Context(), p, nil); !errors.Is(err, ErrDryRunOnly) {
			t.Errorf("perform %s: %v", name, err)
		}
		// The transport keeps the promise by itself.
		w, err := p.request(nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.client.send(t.Context(), w, false); !errors.Is(err, ErrDryRunOnly) {
			t.Errorf("send %s: %v", name, err)
		}
	}
	if l.state().Version() != before {
		t.Error("something was written")
	}
}

// A server reads the options of a deletion from its body alone.
func TestGuardLooksIntoDeletions(t *testing.T) {
	for body, want := range map[string]bool{
		"":                                 true,
		`{"dryRun":["All"]}`:               true,
		`{}`:                               false,
		`{"dryRun":[]}`:                    false,
		`{"dryRun":["All","x"]}`:           false,
		"k8s\x00\n\x0c\n\x02v1":            false,
		`{"preconditions":{"uid":"All"}}`:  false,
		`{"kind":"DeleteOptions","x":"y"}`: false,
	} {
		var got string
		sent := false
		next := roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = true
			text := new(strings.Builder)
			if err := r.Write(text); err != nil {
				t.Error(err)
			}
			got = text.String()
			return nil, errors.New("sent")
		})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://h/api/v1/persistentvolumes/pv?dryRun=All", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response, err := guard{next: next, dryRun: true}.RoundTrip(req)
		if response != nil {
			_ = response.Body.Close()
		}
		if response != nil || err == nil {
			t.Fatal("a guard made up an answer")
		}
		if sent != want || want && !strings.Contains(got, body) {
			t.Errorf("%q: sent %v: %s", body, sent, got)
		}
	}
}

// The uid of a claim, and versions and times, are another each time.
func TestChangesLeaveOutWhatIsAnotherEachTime(t *testing.T) {
	l := newLab(t)
	reserve := l.retain()
	reserve.Patch = json.RawMessage(`{"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`)
	first, err := l.client.PreviewStep(t.Context(), nil, reserve)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"-    uid: (uid)"}, first.Changes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef.UID = otherUID
		pv.Spec.ClaimRef.ResourceVersion = "77"
		pv.Status.Phase = corev1.VolumeReleased
	})
	second, err := l.client.PreviewStep(t.Context(), nil, reserve)
	if err != nil {
		t.Fatal(err)
	}
	if first.Diff == second.Diff || !Same(first, second) {
		t.Errorf("first:\n%s\nsecond:\n%s", first.Diff, second.Diff)
	}
	edit(l, l.volume("data"), func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "" })
	third, err := l.client.PreviewStep(t.Context(), nil, reserve)
	if err != nil {
		t.Fatal(err)
	}
	if Same(first, third) {
		t.Error("that there is no uid to take out is no news")
	}

	gone, err := l.client.PreviewStep(t.Context(), nil, l.deleteClaim("data"))
	if err != nil {
		t.Fatal(err)
	}
	edit(l, l.claim("data"), func(pvc *corev1.PersistentVolumeClaim) { pvc.Labels["app"] = "else" })
	later, err := l.client.PreviewStep(t.Context(), nil, l.deleteClaim("data"))
	if err != nil {
		t.Fatal(err)
	}
	if Same(gone, later) {
		t.Error("that the claim has another label is no news")
	}
	if Same(gone, third) {
		t.Error("two steps are the same")
	}
}

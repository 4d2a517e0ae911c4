package views

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

func webReport(t *testing.T, edit func(*reportInput)) string {
	t.Helper()
	j := webJournal(t)
	in := reportInput{
		journal: j, items: migration.Outline(j, migration.Run{}, webScene()), who: "bob on desk-1", ended: noon(),
		took: map[string]time.Duration{"stop/shop/web": 41 * time.Second}, pods: "pods were stopped for 0:41",
		started: j.Started, scene: webScene(),
	}
	if edit != nil {
		edit(&in)
	}
	return report(in)
}

func wantIn(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("not in the report: %q\n%s", want, text)
		}
	}
}

func TestReport(t *testing.T) {
	text := webReport(t, nil)
	wantIn(t, text,
		"Migrate to ReadWriteOncePod: shop/web-data on "+webVolume,
		"Started   2026-03-01 11:58:00 UTC  by ann on laptop-7",
		"Finished  2026-03-01 12:00:00 UTC  by bob on desk-1",
		"Pods were stopped for 0:41",
		"   2   0:41  Scale Deployment shop/web from 1 to 0",
		"Claim shop/web-data and volume "+webVolume+" are ReadWriteOncePod",
	)
}

// TestReportManifest: what is said to be put into Git is YAML that says it.
func TestReportManifest(t *testing.T) {
	j := webJournal(t)
	class := "true" // a name that YAML would take for something else
	j.Volumes[0].To.Spec.StorageClassName = &class
	var claim corev1.PersistentVolumeClaim
	if err := yaml.UnmarshalStrict([]byte(strings.Join(manifests(j), "\n")), &claim); err != nil {
		t.Fatal(err)
	}
	if claim.Name != "web-data" || claim.Namespace != "shop" || claim.Spec.VolumeName != webVolume ||
		*claim.Spec.StorageClassName != class || len(claim.Spec.AccessModes) != 1 || claim.Spec.AccessModes[0] != corev1.ReadWriteOncePod {
		t.Errorf("the manifest says %+v", claim)
	}
}

// TestReportOfASet: nobody keeps manifests of the claims that a template makes,
// but of the template.
func TestReportOfASet(t *testing.T) {
	j := webJournal(t)
	j.Volumes[0].From.Name, j.Volumes[0].To.Name = "data-web-0", "data-web-0"
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
		ObjectMeta: metav1.ObjectMeta{Name: "data"},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}},
	}}
	j.Workloads = []migration.Workload{{Ref: actions.Ref{Kind: migration.StatefulSetKind, Namespace: "shop", Name: "web"}, Replicas: 1, To: set}}
	var got appsv1.StatefulSet
	if err := yaml.UnmarshalStrict([]byte(strings.Join(manifests(j), "\n")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Spec.VolumeClaimTemplates) != 1 || got.Spec.VolumeClaimTemplates[0].Name != "data" ||
		got.Spec.VolumeClaimTemplates[0].Spec.AccessModes[0] != corev1.ReadWriteOncePod {
		t.Errorf("the manifest says %+v", got.Spec)
	}
	wantIn(t, strings.Join(differences(j, migration.Forward, webScene()), "\n"), "StatefulSet shop/web was made anew")
}

func TestReportOfAnUndo(t *testing.T) {
	key := actions.ClaimKey{Namespace: "shop", Name: "web-data"}
	text := webReport(t, func(in *reportInput) {
		in.direction, in.whole = migration.Back, true
		in.sent = map[string]bool{"create/" + webVolume: true}
		anew := in.scene.Claims[key].DeepCopy()
		anew.UID = "another"
		in.scene.Claims[key] = anew
	})
	wantIn(
		t, text, "Undone: Migrate",
		"Claim shop/web-data has volume "+webVolume+" again, as before; it was made anew, so that its uid is another one (another)",
		"What was not needed, since it was so already\n   1         Set Retain on volume",
	)
	done, rest, _ := strings.Cut(text, "What was not needed")
	wantIn(t, done, "   8         Create claim shop/web-data", "   9         Wait until claim shop/web-data and volume "+webVolume+" are bound")
	// What nobody had to do is not among what was done, nor are the waits for it.
	if strings.Contains(done, "Delete claim") || !strings.Contains(rest, "Delete claim") || strings.Contains(text, "Deployment shop/web are ready") {
		t.Errorf("what was not needed is said to be done:\n%s", text)
	}
	wantIn(t, webReport(t, func(in *reportInput) { in.direction = migration.Back }),
		"Claim shop/web-data has volume "+webVolume+" as before; it was never deleted", "What was done before, by whoever was at it, or was not needed")
	if strings.Contains(text, "manifests") || strings.Contains(text, "one pod at a time") {
		t.Errorf("an undo says what the operation would have said:\n%s", text)
	}
}

func TestReportOfAMove(t *testing.T) {
	j := webJournal(t)
	j.Request.Verb = migration.MoveClaim
	j.Volumes[0].To.Namespace, j.Volumes[0].To.Name = "web", "files"
	wantIn(t, strings.Join(differences(j, migration.Forward, webScene()), "\n"), "Claim web/files has volume", "Claim shop/web-data is gone")
	wantIn(t, strings.Join(manifests(j), "\n"), "claimName: files")
}

func TestTemplateIn(t *testing.T) {
	for claim, want := range map[string]string{
		"data-db-0": "data", "data-db-12": "data", "a-db-b-db-3": "a-db-b", "data-db-01": "", "data-db-x": "", "-db-0": "", "db-0": "", "data-dbx-0": "",
	} {
		if got, ok := templateIn("db", claim); ok != (want != "") || ok && got != want {
			t.Errorf("%s is of %q (%v), want %q", claim, got, ok, want)
		}
	}
}

func TestClockText(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0:00", 41 * time.Second: "0:41", 725 * time.Second: "12:05", 3723 * time.Second: "1:02:03", -time.Second: "0:00"} {
		if got := clockText(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}

// TestClock: the pods count as stopped from the first stop that was seen done
// until the last of them is ready again.
func TestClock(t *testing.T) {
	items := func(states ...migration.State) []migration.Item {
		var out []migration.Item
		for i, id := range []string{"note/v", "stop/a/b", "create/v", "started/a/b"} {
			out = append(out, migration.Item{Step: migration.Step{ID: id}, State: states[i]})
		}
		return out
	}
	const l, n, d = migration.Later, migration.Now, migration.Done
	at := func(s int) time.Time { return noon().Add(time.Duration(s) * time.Second) }
	var c walkClock
	c.see(items(n, l, l, l), at(0))
	c.see(items(d, n, l, l), at(10))
	if c.pods(at(20)) != "" {
		t.Error("the pods count as stopped before they are")
	}
	c.see(items(d, d, n, l), at(20))
	c.send("create/v", at(40))
	if got := c.pods(at(61)); got != "pods stopped for 0:41" {
		t.Error(got)
	}
	c.see(items(d, d, d, n), at(70))
	c.see(items(d, d, d, d), at(80))
	if got := c.pods(at(500)); got != "pods were stopped for 1:00" {
		t.Error(got)
	}
	// What somebody took to read a difference is no part of it.
	if got := c.took["create/v"]; got != 30*time.Second {
		t.Errorf("the creation took %v", got)
	}
	if got, known := c.took["stop/a/b"]; known {
		t.Errorf("what somebody else did took %v", got)
	}
	// What was done before anybody looked has no times.
	var late walkClock
	late.see(items(d, d, n, l), at(0))
	if got := late.pods(at(5)); got != "pods stopped for more than 0:05" || len(late.took) != 0 {
		t.Error(got, late.took)
	}
}

// TestFoldNote: nothing but the journal's own text is left out of a diff.
func TestFoldNote(t *testing.T) {
	diff := "@@ -1,3 +1,6 @@\n metadata:\n   annotations:\n+    claimref.io/holder: '{}'\n+    claimref.io/journal: '{\"a\":\n+      1}'\n+    claimref.io/plan: x y\n   name: v\n"
	got := foldNote(diff)
	for _, want := range []string{"claimref.io/holder: '{}'", "+    claimref.io/journal: (", "claimref.io/plan: x y", "   name: v"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is lost:\n%s", want, got)
		}
	}
	if strings.Contains(got, "1}'") {
		t.Errorf("it is not folded:\n%s", got)
	}
	if other := "@@ -1 +1 @@\n-a: 1\n+a: 2\n"; foldNote(other) != other {
		t.Errorf("another diff is changed:\n%s", foldNote(other))
	}
}

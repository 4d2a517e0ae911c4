package views

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

func TestWizardChecksFirst(t *testing.T) {
	r := webRig(t)
	r.press("a")
	r.wantOn("Migrate to ReadWriteOncePod…", "Move or rename the claim…", "Re-create the claim… not now: its claim is there")
	r.press("m", "down")
	r.wantOn("Full", "Light", "and no pod stops")
	r.press("f")
	r.wantOn("What was looked at before anything is written", "Nothing is written yet.", "are Bound to each other", "enter review")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("something was written before the review")
	}
	r.press("enter")
	r.wantOn("step", "Retain, note the plan", "dry run by the server: ok", "enter start", "v next difference")
	if len(r.cluster.op.sent) != 0 {
		t.Fatal("something was written by the review")
	}
}

func TestWizardLightWay(t *testing.T) {
	r := webRig(t)
	r.press("a", "m", "l")
	if p := r.top(); p == nil || p.req.Verb != actions.SinglePodLight || p.req.Volume.Name != webVolume {
		t.Fatalf("the light way opens %+v", p)
	}
}

// TestWizardMenuReasons: what is plainly impossible is said in the menu.
func TestWizardMenuReasons(t *testing.T) {
	for name, want := range map[string][]string{
		"nfs-archive": {"Migrate to ReadWriteOncePod… not now: its modes are RWX", "Move or rename the claim… not now: the volume has no claim", "Re-create the claim… not now: it names no claim"},
		"pvc-5e28b8":  {"Migrate to ReadWriteOncePod… not now: its claim is gone; re-create that first", "Re-create the claim… make the claim that the volume lacks"},
		"pvc-77b1":    {"Migrate to ReadWriteOncePod… not now: the volume is being deleted"},
		"example-pv":  {"Migrate to ReadWriteOncePod… not now: it is no CSI volume"},
	} {
		r := newRig(t, shop())
		r.resize(160, 45)
		r.press("/")
		r.typeText(name)
		r.press("enter", "a")
		r.wantOn(want...)
	}
	r := webRig(t, func(o *Options) { o.ReadOnly = true })
	r.press("a", "m")
	r.wantOn("Migrate to ReadWriteOncePod… not now: started with --read-only")
	if len(r.cluster.planned) != 0 {
		t.Error("something was planned in spite of --read-only")
	}
}

func TestWizardBlocked(t *testing.T) {
	r := webRig(t)
	r.cluster.plan = func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		return migration.Journal{}, []actions.Check{
			{Severity: actions.Pass, Text: "All is well"},
			{Severity: actions.Block, Text: "Two pods use it", Remedy: "Stop one of them"},
		}, nil, nil
	}
	r.press("a", "m", "f")
	r.wantOn("It can't be started: 1 check forbids it", "Blocked, nothing is written: Two pods use it.", "Stop one of them")
	if at, ok := strings.Index(r.screen(), "Two pods"), strings.Index(r.screen(), "All is well"); at > ok {
		t.Error("what is worst does not come first")
	}
	r.press("enter")
	r.wantOff("Steps")
	r.wantOn("review: Two pods use it")
	r.cluster.plan = nil
	r.press("r")
	r.wantOn("enter review")
}

func TestWizardOptionsReplan(t *testing.T) {
	r := webRig(t)
	r.cluster.operators = []string{"Kafka shop/main"}
	r.cluster.plan = func(req migration.Request) (migration.Journal, []actions.Check, []migration.Item, error) {
		var checks []actions.Check
		if !req.Recreate {
			checks = append(checks, actions.Check{ID: "surge", Severity: actions.Warn, Text: "It would wait for itself"})
		}
		if !req.DeleteCompleted {
			checks = append(checks, actions.Check{ID: "pods-hold", Severity: actions.Block, Text: "Completed pods hold it"})
		}
		if len(req.Operators) == 0 {
			checks = append(checks, actions.Check{
				ID: "owner-operator", Severity: actions.Block, Text: "It belongs to Kafka shop/main",
				Remedy: "Pause its operator",
			})
		}
		return r.cluster.op.journal, checks, r.cluster.op.items, nil
	}
	r.press("a", "m", "f", "s", "x")
	r.wantOn("Strategy Recreate: set", "Completed pods: deleted", "Responsibility taken: not yet for Kafka shop/main")
	r.press("A")
	r.typeText("Kafka shop/other")
	r.press("enter")
	r.wantOn("that is Kafka shop/other, not Kafka shop/main")
	for range "other" {
		r.press("backspace")
	}
	r.typeText("main")
	r.press("enter")
	r.wantOn("Responsibility taken: Kafka shop/main", "enter review")
	last := r.cluster.planned[len(r.cluster.planned)-1]
	if !last.Recreate || !last.DeleteCompleted || !slices.Equal(last.Operators, []string{"Kafka shop/main"}) {
		t.Errorf("planned with %+v", last)
	}
}

func TestParseOrdinals(t *testing.T) {
	all := []int{0, 1, 2, 5}
	for text, want := range map[string][]int{"all": nil, "": nil, "0": {0}, "2, 0": {0, 2}, "1-5": {1, 2, 5}, "0-5": nil} {
		if got, err := parseOrdinals(text, all); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "3", "0-9", "2-1", "0,,1", "-1"} {
		if got, err := parseOrdinals(text, all); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

// TestOrdinalsOfASet: those of the claims that the set made from the template of
// the volume's claim, of which some may be missing; no others of like names.
func TestOrdinalsOfASet(t *testing.T) {
	var objects kube.Objects
	claim := func(namespace, name string) {
		objects.Claims = append(objects.Claims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name)}})
	}
	for _, name := range []string{"data-db-3", "data-db-0", "data-db-1", "data-db-01", "data-db", "data-dbs-2", "logs-db-4", "data-db-x"} {
		claim("shop", name)
	}
	claim("lab", "data-db-2")
	p := &checksPage{session: &session{snap: kube.NewSnapshot(objects)}}
	volume := func(ref *corev1.ObjectReference) *kube.Volume {
		return &kube.Volume{Object: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{ClaimRef: ref}}}
	}
	if got := p.ordinals(volume(&corev1.ObjectReference{Namespace: "shop", Name: "data-db-0"}), "db"); !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("got %v", got)
	}
	for _, ref := range []*corev1.ObjectReference{nil, {Namespace: "elsewhere", Name: "data-db-0"}, {Namespace: "shop", Name: "alone"}} {
		if got := p.ordinals(volume(ref), "db"); len(got) != 0 {
			t.Errorf("of %v: got %v", ref, got)
		}
	}
}

// TestListOrdinals: what is written can be typed.
func TestListOrdinals(t *testing.T) {
	var many []int
	for i := range 200 {
		many = append(many, i)
	}
	for want, list := range map[string][]int{
		"": nil, "3": {3}, "0, 1": {0, 1}, "0-2": {0, 1, 2}, "0-2, 5": {0, 1, 2, 5}, "1, 3, 5-8, 10, 11": {1, 3, 5, 6, 7, 8, 10, 11},
		"0-199": many,
	} {
		got := listOrdinals(list)
		if got != want {
			t.Errorf("%v is %q, want %q", list, got, want)
		}
		back, err := parseOrdinals(got, append(slices.Clone(list), 1000))
		if err != nil || !slices.Equal(back, list) {
			t.Errorf("%q is read as %v, %v", got, back, err)
		}
	}
}

func TestWizardMoveTarget(t *testing.T) {
	r := webRig(t)
	r.press("a", "v")
	r.wantOn("Move claim shop/web-data to", "that is the claim it has")
	for range "web-data" {
		r.press("backspace")
	}
	r.typeText("Web_Data")
	r.wantOn("can't be a claim's name")
	for range "Web_Data" {
		r.press("backspace")
	}
	r.typeText("web-files")
	r.press("enter")
	if len(r.cluster.planned) != 1 || r.cluster.planned[0].To.String() != "shop/web-files" || r.cluster.planned[0].Verb != migration.MoveClaim {
		t.Errorf("planned %+v", r.cluster.planned)
	}
}

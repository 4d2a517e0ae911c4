package views

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// scene brings the app to a screen worth looking at.
type scene struct {
	name string
	play func(*rig)
}

func scenes() []scene { return append(tableScenes(), wizardScenes()...) }

func tableScenes() []scene {
	return []scene{
		{"volumes", func(*rig) {}},
		{"volumes-wide", func(r *rig) { r.press("w") }},
		{"claims", func(r *rig) { r.press("2") }},
		{"classes", func(r *rig) { r.press("3") }},
		{"filter", func(r *rig) { r.press("/"); r.typeText("phase:re") }},
		{"actions", func(r *rig) { r.onReleased(); r.press("a") }},
		{"details", func(r *rig) { r.onReleased(); r.press("enter") }},
		{"details-pending", func(r *rig) { r.press("2", "j", "enter") }},
		{"risks", func(r *rig) { r.press("4") }},
		{"only-risks", func(r *rig) { r.press("!") }},
		{"tree", func(r *rig) { r.press("G", "t") }},
		{"timeline", func(r *rig) { r.cluster.object, r.cluster.events = lifeOfOrders(); r.onReleased(); r.press("T") }},
		{"step", func(r *rig) { r.onReleased(); r.press("a", "r"); r.settleTop() }},
		{"step-warned", func(r *rig) { r.onReleased(); r.press("a", "u"); r.settleTop() }},
		{"choose-claim", func(r *rig) { r.onReleased(); r.press("a", "o") }},
		{"help", func(r *rig) { r.press("?") }},
		{"unreachable", func(r *rig) {
			r.see(shop(), func(s *kube.Snapshot) {
				s.Link = kube.Link{Phase: kube.Unreachable, Since: noon().Add(-90e9), Err: "connection refused", Version: "v1.37.2"}
			})
		}},
		{"forbidden", func(r *rig) {
			r.see(kube.Objects{}, func(s *kube.Snapshot) {
				s.Resources[kube.PersistentVolumes] = kube.ResourceState{Phase: kube.Forbidden, Missing: "list persistentvolumes"}
			})
		}},
	}
}

// onReleased puts the bar on the released volume.
func (r *rig) onReleased() {
	r.t.Helper()
	r.press("/")
	r.typeText("phase:released")
	r.press("enter")
	r.wantOn("data-orders-0")
}

// settleTop lets the diff on the step page on top have been seen long enough.
func (r *rig) settleTop() {
	r.t.Helper()
	if p := r.top(); p != nil {
		r.settle(p)
	}
}

// top is the step page that was opened last.
func (r *rig) top() *stepPage {
	if len(r.steps) == 0 {
		return nil
	}
	return r.steps[len(r.steps)-1]
}

// TestScreens compares each scene with its golden file, in the sizes and looks
// that users have.
func TestScreens(t *testing.T) {
	sizes := []struct{ w, h int }{{80, 24}, {120, 40}, {160, 45}}
	for _, sc := range scenes() {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size.w, size.h), func(t *testing.T) {
				r := newRig(t, shop())
				r.resize(size.w, size.h)
				sc.play(r)
				golden.RequireEqual(t, r.screen())
			})
		}
	}
}

// TestLooks compares the volumes table in colour with its golden files: dark,
// light, without colour, and in ASCII.
func TestLooks(t *testing.T) {
	for name, edit := range map[string]func(*Options){
		"dark":     func(*Options) {},
		"light":    func(o *Options) { o.Dark = false },
		"no-color": func(o *Options) { o.Color = false },
		"ascii":    func(o *Options) { o.ASCII = true; o.Color = false },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, shop(), edit)
			r.resize(120, 24)
			golden.RequireEqual(t, r.app.View().Content)
		})
	}
}

// TestNoColour: without colour nothing is lost but colour: the text is the
// same, and no sequence sets one.
func TestNoColour(t *testing.T) {
	with, without := newRig(t, shop()), newRig(t, shop(), func(o *Options) { o.Color = false })
	if a, b := with.screen(), without.screen(); a != b {
		t.Errorf("the text differs:\n%s\n%s", a, b)
	}
	for _, sequence := range []string{"\x1b[38;", "\x1b[48;", "\x1b[3", "\x1b[9"} {
		for part := range strings.SplitSeq(without.app.View().Content, "\x1b[") {
			code, _, _ := strings.Cut(part, "m")
			if strings.HasPrefix("\x1b["+code, sequence) && len(code) > 1 && code != "39" && code != "3" {
				t.Errorf("a colour is set: ESC[%sm", code)
			}
		}
	}
}

// TestASCII: the ASCII set has nothing else on the screen, but for what the
// cluster's own names bring.
func TestASCII(t *testing.T) {
	objects := shop()
	objects.Claims = objects.Claims[:5]
	for _, sc := range scenes() {
		r := newRig(t, objects, func(o *Options) { o.ASCII = true })
		sc.play(r)
		for _, c := range r.screen() {
			if c > 126 {
				t.Errorf("%s: %q is on the screen:\n%s", sc.name, c, r.screen())
				break
			}
		}
	}
}

// TestSizes: every screen is exactly as large as the terminal, at any size.
func TestSizes(t *testing.T) {
	for _, sc := range scenes() {
		r := newRig(t, shop())
		sc.play(r)
		for w := 20; w <= 220; w += 13 {
			for h := 5; h <= 60; h += 7 {
				r.resize(w, h)
				lines := strings.Split(r.app.View().Content, "\n")
				if len(lines) != h {
					t.Fatalf("%s at %dx%d has %d lines", sc.name, w, h, len(lines))
				}
				for i, line := range lines {
					if got := ansi.StringWidth(line); got != w {
						t.Fatalf("%s at %dx%d: line %d is %d wide:\n%s", sc.name, w, h, i, got, r.screen())
					}
				}
			}
		}
	}
}

// TestHostileNames: what the cluster says never drives the terminal.
func TestHostileNames(t *testing.T) {
	evil := "x\x1b[31m\x1b]0;owned\x07\u202e\u200b\x9b2J\r\n"
	objects := shop()
	objects.Volumes[0].Name += evil
	objects.Volumes[0].Spec.ClaimRef.Name += evil
	objects.Volumes[0].Status.Message += evil
	objects.Volumes[0].Labels = map[string]string{"l" + evil: evil}
	objects.Claims[0].Namespace += evil
	objects.Classes[0].Provisioner += evil
	objects.Pods[0].Name += evil
	for _, sc := range append(scenes(), scene{"first volume", func(r *rig) { r.press("G", "enter", "y") }}) {
		r := newRig(t, objects)
		r.cluster.manifest = "name: " + evil
		r.cluster.events = []kube.Event{{Reason: evil, Message: evil, Source: evil, Type: "Warning"}}
		sc.play(r)
		text := r.app.View().Content
		for _, bad := range []string{"\x1b]", "\x07", "\u202e", "\u200b", "\x9b", "\r", "[31m\x1b]"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q reaches the terminal", sc.name, bad)
			}
		}
	}
}

// TestViewIsPure: drawing changes nothing, and drawing twice is drawing once.
func TestViewIsPure(t *testing.T) {
	for _, sc := range scenes() {
		r := newRig(t, shop())
		sc.play(r)
		if a, b := r.app.View().Content, r.app.View().Content; a != b {
			t.Errorf("%s: two looks differ", sc.name)
		}
	}
}

// TestBeforeTheFirstSnapshot: the program says that it is connecting and
// loading, not that there is nothing.
func TestBeforeTheFirstSnapshot(t *testing.T) {
	app := New(t.Context(), &fakeCluster{}, Options{Identity: kube.Identity{Context: "c", User: "u"}, Color: true, Dark: true}, noon())
	r := &rig{t: t, app: app, cluster: &fakeCluster{}}
	r.wantOff("No volumes")
	r.resize(80, 24)
	r.wantOn("connecting", "Loading volumes")
	r.wantOff("No volumes in this cluster")
}

// TestUpdateDoesNoIO: a cluster that hangs never stops a key from working.
func TestUpdateDoesNoIO(t *testing.T) {
	r := newRig(t, shop())
	hanging := &hangingCluster{}
	r.onReleased()
	r.app.cluster = hanging
	r.patience = 0
	r.press("enter")
	r.wantOn("reading…")
	r.press("esc", "a", "r")
	r.wantOn("Reading the volume")
	r.press("esc")
	r.wantOn("1 Volumes")
}

// hangingCluster never answers.
type hangingCluster struct{}

func (hangingCluster) Next(ctx context.Context) (*kube.Snapshot, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (hangingCluster) SetScope(string) {}
func (hangingCluster) Plan(ctx context.Context, _ actions.Request, _ *kube.Snapshot) (actions.Plan, actions.World, error) {
	<-ctx.Done()
	return actions.Plan{}, actions.World{}, ctx.Err()
}

func (hangingCluster) Preview(ctx context.Context, _ []actions.Step, _ actions.Step) (kube.Preview, error) {
	<-ctx.Done()
	return kube.Preview{}, ctx.Err()
}

func (hangingCluster) Apply(ctx context.Context, _ kube.Preview, _ func(context.Context) error) (kube.Applied, error) {
	<-ctx.Done()
	return kube.Applied{}, ctx.Err()
}

func (hangingCluster) Events(ctx context.Context, _ actions.Ref) ([]kube.Event, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingCluster) Manifest(ctx context.Context, _ actions.Ref) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func (hangingCluster) Object(ctx context.Context, _ actions.Ref) (metav1.Object, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingCluster) PlanOperation(ctx context.Context, _ migration.Request, _ *kube.Snapshot) (kube.OperationPlan, error) {
	<-ctx.Done()
	return kube.OperationPlan{}, ctx.Err()
}

func (hangingCluster) NewOperation(migration.Journal) Operation { return nil }

func (hangingCluster) ResumeOperation(migration.Found) (Operation, error) { return nil, nil }

func (hangingCluster) History(ctx context.Context, _ actions.Ref) ([]kube.Record, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingCluster) Backups(ctx context.Context) ([]kube.Backup, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hangingCluster) Report(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func (hangingCluster) SaveReport(ctx context.Context, _, _ string) error {
	<-ctx.Done()
	return ctx.Err()
}

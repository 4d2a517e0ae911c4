package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// openDemo connects to a demo as the program does, and waits until all of it
// has been read.
func openDemo(t *testing.T, f flags) (backend, *kube.Snapshot) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	demo, err := newDemo(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); demo.Run(ctx) }()
	client, err := kube.Connect(kube.Config{ClientConfig: demo.ClientConfig(), UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Check(ctx); err != nil {
		t.Fatal(err)
	}
	b := newBackend(client, client.Watch(ctx), flags{backupDir: t.TempDir()}, os.Getenv)
	t.Cleanup(func() { cancel(); b.Wait(); <-ended })
	return b, until(t, b, "everything read", func(s *kube.Snapshot) bool {
		return s.Known(kube.PersistentVolumes, "") && s.Known(kube.PersistentVolumeClaims, "") && s.Known(kube.StorageClasses, "") &&
			s.Known(kube.Pods, "") && s.OwnersKnown() && s.Link.Phase == kube.Live &&
			s.Known(kube.Nodes, "") && s.Known(kube.Namespaces, "") && s.Known(kube.VolumeAttachments, "")
	})
}

func until(t *testing.T, b backend, what string, is func(*kube.Snapshot) bool) *kube.Snapshot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		s, err := b.Next(ctx)
		if err != nil {
			t.Fatalf("wait for %s: %v", what, err)
		}
		if is(s) {
			return s
		}
	}
}

// TestDemoHasEverything: each phase, each kind of workload, two defaults, and
// what goes wrong on purpose.
func TestDemoHasEverything(t *testing.T) {
	_, snap := openDemo(t, flags{demo: allScenarios})
	volumes, claims, kinds := map[kube.Phase]int{}, map[kube.Phase]int{}, map[string]int{}
	for _, v := range snap.Volumes {
		volumes[v.State.Phase]++
		for _, u := range v.Users {
			kinds[u.Kind]++
		}
	}
	for _, c := range snap.Claims {
		claims[c.State.Phase]++
	}
	for _, p := range []kube.Phase{kube.Bound, kube.Available, kube.Reserved, kube.Released, kube.Failed, kube.Terminating} {
		if volumes[p] == 0 {
			t.Errorf("no volume is %s", p)
		}
	}
	for _, p := range []kube.Phase{kube.Bound, kube.Pending, kube.Lost, kube.Terminating} {
		if claims[p] == 0 {
			t.Errorf("no claim is %s", p)
		}
	}
	for _, k := range []string{"Deployment", "StatefulSet", "DaemonSet", "CronJob", "Pod"} {
		if kinds[k] == 0 {
			t.Errorf("no %s uses a volume: %v", k, kinds)
		}
	}
	defaults := 0
	for _, c := range snap.Classes {
		if c.Default {
			defaults++
		}
	}
	if defaults != 2 {
		t.Errorf("%d default classes, want 2", defaults)
	}
	if a := snap.Volume("nodes-attached").Attachments; len(a) != 1 || !a[0].Attached || snap.Node(a[0].Node) == nil {
		t.Errorf("nodes-attached is attached by %+v", a)
	}
	if gone := snap.Volume("nodes-gone"); gone.State.Phase != kube.Bound || snap.Node("n9") != nil {
		t.Errorf("nodes-gone is %s, and node n9 %+v", gone.State.Phase, snap.Node("n9"))
	}
	for _, name := range []string{"n1", "n2", "n3"} {
		if n := snap.Node(name); n == nil || !n.Ready || n.Labels[corev1.LabelHostname] != name {
			t.Errorf("node %s is %+v", name, n)
		}
	}
	if snap.Namespace("plant") == nil || snap.Namespace("closed-branch") != nil {
		t.Error("the namespaces are not those of the scenarios")
	}
	if w := snap.Workload("Deployment", "platform", "grafana"); w == nil || w.Source != "Flux Kustomization grafana" || !w.Surges {
		t.Errorf("grafana is %+v", w)
	}
	if len(snap.Volumes) < 50 {
		t.Errorf("only %d volumes", len(snap.Volumes))
	}
	// A rival waits for a volume that is about to be re-used.
	v := snap.Volume("rival-ledger")
	plan := actions.Make(actions.Request{
		Verb: actions.Unreserve, Volume: actions.Ref{Kind: actions.VolumeKind, Name: v.Object.Name, UID: v.Object.UID},
	}, snap.World(v.Object.Name))
	if !slices.ContainsFunc(plan.Checks, func(c actions.Check) bool {
		return c.Severity == actions.Warn && strings.Contains(c.Text, "rival/scratch")
	}) {
		t.Errorf("nobody waits for rival-ledger: %+v", plan.Checks)
	}
}

// TestDemoReuse plays the re-use of a released volume on the demo, by the same
// requests that go to a real cluster.
func TestDemoReuse(t *testing.T) {
	b, snap := openDemo(t, flags{demo: "reuse"})
	v := snap.Volume("example-pv")
	if v == nil || v.State.Phase != kube.Released {
		t.Fatalf("example-pv is %+v, want Released", v)
	}
	req := actions.Request{
		Verb: actions.Reserve, Volume: actions.Ref{Kind: actions.VolumeKind, Name: v.Object.Name, UID: v.Object.UID},
		Claim: actions.ClaimKey{Namespace: "exam", Name: "example-pvc"},
	}
	plan, _, err := b.Plan(t.Context(), req, snap)
	if err != nil || plan.Blocked() != "" || len(plan.Steps) != 1 {
		t.Fatalf("plan %+v, %v", plan, err)
	}
	preview, err := b.Preview(t.Context(), nil, plan.Steps[0])
	if err != nil || !preview.DryRun.Supported || !strings.Contains(preview.Diff, "-    uid:") {
		t.Fatalf("preview %+v, %v", preview, err)
	}
	applied, err := b.Apply(t.Context(), preview, nil)
	if err != nil {
		t.Fatal(err)
	}
	snap = until(t, b, "the volume to be reserved", func(s *kube.Snapshot) bool {
		return kube.Seen(s, applied) && s.Volume("example-pv").State.Phase == kube.Reserved
	})
	if got := snap.Volume("example-pv").Object; got.Spec.ClaimRef.UID != "" || got.Status.Phase != corev1.VolumeAvailable {
		t.Errorf("the volume is %s for %+v", got.Status.Phase, got.Spec.ClaimRef)
	}
	// What was approved once is not sent twice.
	if _, err := b.Apply(t.Context(), preview, nil); kube.KindOf(err) != kube.KindConflict {
		t.Errorf("sent again: %v, want a conflict", err)
	}
}

func TestDemoFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--demo=nothing":                            `no scenario "nothing"`,
		"--demo-listen=127.0.0.1:0":                 "use it with --demo",
		"--demo --demo-listen=0.0.0.0:0":            "loopback only",
		"--demo --demo-listen=nonsense":             "listen on nonsense",
		"--demo --demo-listen=example.com:80":       "loopback only",
		"--demo --read-only --dry-run":              "exclude each other",
		"--demo --context=prod":                     "--context=prod means a real cluster",
		"--demo= --server=https://prod":             "means a real cluster",
		"--demo=reuse --demo-listen=192.168.1.1:80": "loopback only",
	} {
		cmd := newCommand(&strings.Builder{})
		cmd.SetArgs(strings.Fields(args))
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}

func TestScenarioList(t *testing.T) {
	var out strings.Builder
	cmd := newCommand(&out)
	cmd.SetArgs([]string{"--demo=list"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || strings.Count(out.String(), "\n") < 10 {
		t.Errorf("%v\n%s", err, out.String())
	}
}

package views

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
)

// column reads a column of the table on the screen, by its header.
func (r *rig) column(title string) []string {
	r.t.Helper()
	lines := strings.Split(r.screen(), "\n")
	head := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "NAME") && strings.Contains(l, title) })
	if head < 0 {
		r.t.Fatalf("no column %s:\n%s", title, r.screen())
	}
	before, _, _ := strings.Cut(lines[head], title)
	from := ansi.StringWidth(before)
	var cells []string
	for _, l := range lines[head+1:] {
		if strings.TrimSpace(l) == "" || strings.HasPrefix(l, "─") || strings.HasPrefix(l, "/") {
			break
		}
		cell, _, _ := strings.Cut(ansi.Cut(l, from, ansi.StringWidth(l)), "  ")
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

func (r *rig) wantColumn(title string, want ...string) {
	r.t.Helper()
	if got := r.column(title); !slices.Equal(got, want) {
		r.t.Errorf("%s is %q, want %q\n%s", title, got, want, r.screen())
	}
}

func names[T any](p *listPage[T]) []string {
	var out []string
	for _, r := range p.rows {
		out = append(out, p.kind.name(r))
	}
	return out
}

// TestRiskColumn: a Failed volume under Delete is deleted at any moment; what is
// reserved in a namespace that does not exist waits in vain; a StatefulSet's
// data under Delete go with the claim.
func TestRiskColumn(t *testing.T) {
	r := newRig(t, shop())
	r.wantColumn("RISK", "▲ crit", "▿ low", "–", "–", "–", "△ high")
	r.press("3")
	r.wantColumn("RISK", "–", "–", "▿ low")
}

// TestRiskColumnOnSmallScreens: of what does not name an object it is the last
// to go. The story tells the worst risk in any case.
func TestRiskColumnOnSmallScreens(t *testing.T) {
	r := newRig(t, shop())
	r.resize(160, 45)
	r.wantOn("RISK", "AGE", "CLAIM")
	for w := 160; w >= 60; w-- {
		r.resize(w, 24)
		head := strings.Split(r.screen(), "\n")[3]
		for _, other := range []string{"AGE", "USED BY", "CLASS", "POLICY", "MODES", "CAPACITY"} {
			if strings.Contains(head, other) && !strings.Contains(head, "RISK") {
				t.Errorf("at %d columns the risk goes before %s: %s", w, other, head)
			}
		}
	}
	r.resize(80, 24)
	r.wantColumn("RISK", "▲ crit", "▿ low", "–", "–", "–", "△ high")
	r.wantOn("▲ Critical. Failed 12d ago")
}

func TestRisksWithoutColour(t *testing.T) {
	r := newRig(t, shop(), func(o *Options) { o.Color, o.ASCII = false, true })
	if got, want := r.column("RISK"), []string{"! crit", "- low", "-", "-", "-", "^ high"}; !slices.Equal(got, want) {
		t.Errorf("RISK is %q, want %q", got, want)
	}
}

// TestSortByRisk: the worst first; turned around, the worst last.
func TestSortByRisk(t *testing.T) {
	r := newRig(t, shop())
	sortBy := func() {
		r.press("s")
		r.typeText("risk")
		r.press("enter")
	}
	sortBy()
	if got, want := names(r.app.volumes)[:3], []string{"broken", "pvc-77b1c2d4-1111-2222-3333-44445590aaf0", "example-pv"}; !slices.Equal(got, want) {
		t.Errorf("by risk: %v, want %v first", got, want)
	}
	sortBy()
	if got := names(r.app.volumes); got[len(got)-1] != "broken" {
		t.Errorf("turned around the worst is not last: %v", got)
	}
	// It follows the risks as they change.
	objects := shop()
	objects.Volumes[0].Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete // Released
	objects.Volumes[5].Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain // Failed
	r.see(objects)
	if got := names(r.app.volumes); got[len(got)-1] != objects.Volumes[0].Name {
		t.Errorf("the worst by now is not last: %v", got)
	}
}

func TestFilterByRisk(t *testing.T) {
	r := newRig(t, shop())
	for filter, want := range map[string][]string{
		"risk:":                 {"broken", "example-pv", "pvc-77b1c2d4-1111-2222-3333-44445590aaf0"},
		"!risk:":                {"nfs-archive", "pvc-11aa07c3-aaaa-4444-8888-0000000c0de1", "pvc-5e28b8a0-13ff-11e7-a430-5254001ba551"},
		"risk:crit":             {"broken"},
		"risk:High":             {"pvc-77b1c2d4-1111-2222-3333-44445590aaf0"},
		"risk:released-delete":  {"broken"},
		"risk: phase:reserved":  {"example-pv"},
		"risk:?":                nil,
		"risk:no-such-thing":    nil,
		`risk:"delete-stateful`: nil,
	} {
		r.app.volumes.filterBy(filter)
		if got := names(r.app.volumes); !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", filter, got, want)
		}
	}
}

// TestOnlyRisks: one key shows the rows with risks, and all again; what else is
// filtered by stays.
func TestOnlyRisks(t *testing.T) {
	r := newRig(t, shop())
	r.press("/")
	r.typeText("policy:delete")
	r.press("enter", "!")
	r.wantOn("/policy:delete risk:", "2 of 6")
	r.press("!")
	r.wantOn("/policy:delete", "3 of 6")
	r.wantOff("risk:")
	r.press("esc", "!")
	r.wantOn("3 of 6")
	// Rows come and go with their risks.
	objects := shop()
	objects.Volumes[5].Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	objects.Volumes[5].Status.Phase = corev1.VolumeReleased
	r.see(objects)
	r.wantOn("2 of 6")
	r.press("4", "!")
	r.wantOn("every row here is a risk")
}

// TestRisksComeLater: before the first look has ended, no object is said to be
// without a risk, and no table of risks to be empty.
func TestRisksComeLater(t *testing.T) {
	r := newRig(t, shop())
	var finding tea.Cmd
	app := New(t.Context(), &fakeCluster{}, Options{Identity: kube.Identity{Context: "c", User: "u"}, Color: true, Dark: true}, noon())
	late := &rig{t: t, app: app, cluster: &fakeCluster{}}
	app.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	snap := r.app.snap
	app.accept(snapshotMsg{snap: snap})
	finding = app.assess()
	app.refresh()
	late.wantColumn("RISK", "…", "…", "…", "…", "…", "…")
	late.wantOn("4 Risks …")
	app.Update(keyMsg("4"))
	late.wantOn("Loading risks")
	late.wantOff("No risks")
	app.Update(keyMsg("1"))
	app.Update(keyMsg("!"))
	late.wantOn("The risks are being found")
	if again := app.assess(); again != nil {
		t.Error("two looks share one tracker")
	}
	app.Update(finding())
	late.wantColumn("RISK", "▲ crit", "▿ low", "△ high")
}

// TestRisksOfTheNewest: a snapshot that comes while the risks are found is
// looked at next.
func TestRisksOfTheNewest(t *testing.T) {
	r := newRig(t, shop())
	old, next := r.app.snap, kube.NewSnapshot(kube.Objects{})
	r.app.assessed = nil
	first := r.app.assess()
	r.app.snap = next
	more := r.app.judged(first().(risksMsg))
	if r.app.assessed != old || more == nil {
		t.Fatal("the newer snapshot is not looked at")
	}
	if r.app.judged(more().(risksMsg)); r.app.assessed != next || len(r.app.risks.List()) != 0 {
		t.Error("the risks are not those of the newest snapshot")
	}
}

// TestRisksUnseen: where something can't be seen, the absence of a known risk is
// no safety.
func TestRisksUnseen(t *testing.T) {
	r := newRig(t, shop())
	blind := func(s *kube.Snapshot) {
		s.Resources[kube.Pods] = kube.ResourceState{Phase: kube.Forbidden, Missing: "list pods"}
		for _, v := range s.Volumes {
			v.Users, v.UsersKnown = nil, false
		}
		for _, c := range s.Claims {
			c.Users, c.UsersKnown = nil, false
		}
	}
	r.see(shop(), blind)
	// Policy Delete and Bound: a StatefulSet may have its data there. A volume
	// under Retain, or without a claim, is no matter of pods.
	r.wantColumn("RISK", "▲ crit", "▿ low", "–", "?", "–", "?")
	r.press("2")
	r.wantColumn("RISK", "△ high", "?", "?", "△ high", "?", "?")
	r.press("/")
	r.typeText("risk:?")
	r.press("enter")
	r.wantOn("4 of 6")
	r.press("esc", "!")
	r.wantOn("2 of 6")
	r.press("esc", "1", "j", "j", "j", "enter")
	r.wantOn("not all risks can be told: pods can't be seen, you may not list pods")
	r.press("esc")
	r.see(kube.Objects{}, blind)
	r.press("4")
	r.wantOn("No risks found.", "not all can be seen", "pods")
}

func TestUnjudged(t *testing.T) {
	forbidden := kube.ResourceState{Phase: kube.Forbidden, Missing: "list it"}
	local := pv("local", corev1.VolumeAvailable, func(v *corev1.PersistentVolume) {
		v.Spec.StorageClassName = ""
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	})
	for name, tc := range map[string]struct {
		volume *corev1.PersistentVolume
		hide   kube.Resource
		tie    kube.Tie
		want   string
	}{
		"all seen":           {volume: pv("v", corev1.VolumeAvailable)},
		"classes":            {volume: pv("v", corev1.VolumeAvailable), hide: kube.StorageClasses, want: "storageclasses"},
		"classes, of none":   {volume: pv("v", corev1.VolumeAvailable, func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "" }), hide: kube.StorageClasses},
		"nodes":              {volume: local, hide: kube.Nodes, want: "nodes"},
		"nodes, of any":      {volume: pv("v", corev1.VolumeAvailable), hide: kube.Nodes},
		"workloads":          {volume: pv("v", corev1.VolumeBound, claimedBy("a", "b", "u"), withPolicy(corev1.PersistentVolumeReclaimDelete)), hide: kube.StatefulSets, want: "workloads"},
		"workloads, Retain":  {volume: pv("v", corev1.VolumeBound, claimedBy("a", "b", "u")), hide: kube.StatefulSets},
		"claims, reserved":   {volume: pv("v", corev1.VolumeAvailable, claimedBy("a", "b", "")), hide: kube.PersistentVolumeClaims, tie: kube.TieUnknown, want: "persistentvolumeclaims"},
		"claims, of no need": {volume: pv("v", corev1.VolumeReleased, claimedBy("a", "b", "u")), hide: kube.PersistentVolumeClaims, tie: kube.TieUnknown},
	} {
		s := tell(kube.Objects{Volumes: []*corev1.PersistentVolume{tc.volume}})
		if tc.hide != "" {
			s.snap.Resources[tc.hide] = forbidden
		}
		if tc.tie != kube.TieNone {
			s.snap.Volumes[0].Tie = tc.tie
		}
		if got := s.volumeUnjudged(s.snap.Volumes[0]); got != tc.want && (tc.want == "" || !strings.HasPrefix(got, tc.want)) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// deletingSet is a cluster with a StatefulSet that deletes its claims.
func deletingSet() kube.Objects {
	objects := kube.Objects{
		Classes: shop().Classes,
		Volumes: []*corev1.PersistentVolume{pv("db", corev1.VolumeBound, claimedBy("web", "data-db-0", "pvc-web-data-db-0"), withPolicy(corev1.PersistentVolumeReclaimDelete))},
		Claims:  []*corev1.PersistentVolumeClaim{pvc("web", "data-db-0", corev1.ClaimBound, "db")},
		Pods:    []*corev1.Pod{podOf("web", "db-0", "data-db-0", "StatefulSet", "db")},
	}
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "db", UID: "StatefulSet-db"}}
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	objects.StatefulSets = []*appsv1.StatefulSet{set}
	return objects
}

// TestStoryTellsTheWorstRisk: what the summary does not say is told in full, and
// first if it is high; what it says, by its severity.
func TestStoryTellsTheWorstRisk(t *testing.T) {
	r := newRig(t, deletingSet())
	r.press("2")
	r.wantOn("△ High risk: When StatefulSet web/db is scaled down, it deletes this claim")
	r.press("1")
	r.wantOn("△ High risk. Bound to claim web/data-db-0")
	tracker, err := explain.NewTracker(explain.RiskOptions{Protected: []string{"web/*"}})
	if err != nil {
		t.Fatal(err)
	}
	r = newRig(t, deletingSet(), func(o *Options) { o.Tracker = tracker })
	r.press("2")
	r.wantOn("▲ Critical: Its data are to outlive it", "▲ crit")
}

func TestRisksPage(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 45}} {
		r := newRig(t, shop())
		r.resize(size[0], size[1])
		r.wantOn("4 Risks 6")
		r.press("4")
		r.wantOn("▲ crit", "volume broken", "Failed under policy Delete", "Set the reclaim policy to Retain now")
		// The worst is never what is cut off.
		r.wantOn("crit 1")
		if got := r.app.dangers.rows; got[0].Severity != explain.Critical || !slices.IsSortedFunc(got, func(a, b *explain.Risk) int { return int(b.Severity - a.Severity) }) {
			t.Error("the worst are not first")
		}
		// To the object, and back.
		r.press("enter")
		r.wantBar("broken")
		r.wantOn("CAPACITY")
		r.press("b")
		r.wantBar("volume broken")
		// Why, and what can be done.
		r.press("e")
		r.wantOn("Risks", "What can be done", "1 Set Retain first")
	}
}

// TestCures: the guided action of a risk is planned as any other; where there
// is none, the remedy is told.
func TestCures(t *testing.T) {
	r := newRig(t, shop())
	r.press("4", "a")
	if p := r.top(); p == nil || p.req.Verb != actions.SetPolicy || p.req.Policy != corev1.PersistentVolumeReclaimRetain || p.req.Volume.Name != "broken" {
		t.Fatalf("the cure is not to set Retain on the volume at risk:\n%s", r.screen())
	}
	if len(r.cluster.applied) != 0 {
		t.Error("a cure was written without a look at its difference")
	}
	r.press("esc")
	r.onRisk("reserved-namespace")
	r.press("a")
	r.wantOn("Reserve example-pv for claim")
	r.press("esc")
	r.onRisk("several-defaults")
	r.press("a")
	r.wantOn("no guided action for this. Take the mark off all classes but one.")
	r.press("enter")
	r.wantBar("old-default")

	r = newRig(t, deletingSet())
	r.onRisk("retention-delete")
	r.press("a")
	if p := r.top(); p == nil || p.req.Volume.Name != "db" {
		t.Error("the cure of a claim's risk is not on its volume")
	}
	r = newRig(t, shop(), func(o *Options) { o.ReadOnly = true })
	r.press("4", "a")
	r.wantOn("--read-only")
}

// TestRepairIsACure: a claim that is Lost over its volume.
func TestRepairIsACure(t *testing.T) {
	r := newRig(t, kube.Objects{
		Volumes: []*corev1.PersistentVolume{pv("v", corev1.VolumeAvailable, claimedBy("a", "b", ""))},
		Claims:  []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimLost, "v")},
	})
	r.onRisk("lost")
	r.press("a")
	if p := r.top(); p == nil || p.req.Verb != actions.Repair || p.req.Claim != (actions.ClaimKey{Namespace: "a", Name: "b"}) || p.req.Volume.Name != "v" {
		t.Errorf("the cure is not to repair the claim:\n%s", r.screen())
	}
}

// onRisk puts the bar on the only risk of a rule.
func (r *rig) onRisk(rule string) {
	r.t.Helper()
	r.press("4", "/")
	r.app.dangers.filterBy("risk:" + rule)
	if len(r.app.dangers.rows) != 1 {
		r.t.Fatalf("%d risks of rule %s", len(r.app.dangers.rows), rule)
	}
}

// TestRisksOfANamespace: a volume counts to the namespace of its claim.
func TestRisksOfANamespace(t *testing.T) {
	r := newRig(t, shop(), func(o *Options) { o.Namespace = "web" })
	r.press("4")
	r.wantOn("4 Risks 3", "volume broken", "claim web/lost")
	r.wantOff("train-cache", "old-default")
}

// TestSnapshotError: what ends the feed is no reason to look at risks again.
func TestSnapshotError(t *testing.T) {
	r := newRig(t, shop())
	r.send(snapshotMsg{err: errors.New("gone")})
	if r.app.assess() != nil {
		t.Error("the risks of the same snapshot are found again")
	}
}

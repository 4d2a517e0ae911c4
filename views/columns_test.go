package views

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// drawnColumns are the titles of the columns that there is room for.
func drawnColumns[T any](p *listPage[T]) []string {
	dropped := p.table.Dropped()
	var titles []string
	for _, i := range p.shown {
		if !slices.Contains(dropped, p.columns[i].Title) {
			titles = append(titles, p.columns[i].Title)
		}
	}
	return titles
}

// busy is the shop with rows of all widths.
func busy() kube.Objects {
	objects := shop()
	for _, phase := range []corev1.PersistentVolumePhase{corev1.VolumeBound, corev1.VolumeReleased, corev1.VolumeAvailable, corev1.VolumeFailed} {
		for _, n := range []string{"0", "1", "2"} {
			objects.Volumes = append(objects.Volumes, pv("gp3-"+strings.ToLower(string(phase))+n, phase, claimedBy("web", "a-claim-of-a-long-name-"+n, "x")))
		}
	}
	return objects
}

// TestColumnsDependOnTheWidth: which columns a table has is for the width of
// the screen to say. A filter does not change it, and the wide view takes none
// of the others away.
func TestColumnsDependOnTheWidth(t *testing.T) {
	r := newRig(t, busy())
	r.press("3")
	columnsDependOnTheWidth(t, r, "3", r.app.classes, "example-sc")
	columnsDependOnTheWidth(t, r, "2", r.app.claims, "web/a")
	columnsDependOnTheWidth(t, r, "1", r.app.volumes, "nfs-archive")
}

func columnsDependOnTheWidth[T any](t *testing.T, r *rig, tab string, p *listPage[T], filter string) {
	t.Helper()
	r.press(tab)
	for w := 60; w <= 240; w += 4 {
		r.resize(w, 24)
		all := drawnColumns(p)
		for _, must := range []string{"NAME", "PHASE"} {
			if !slices.Contains(all, must) && tab != "3" {
				t.Errorf("%s at %d columns: no %s among %v", p.kind.title, w, must, all)
			}
		}
		if w >= 80 && !slices.Contains(all, "RISK") {
			t.Errorf("%s at %d columns: no RISK among %v", p.kind.title, w, all)
		}
		r.press("w")
		wide := drawnColumns(p)
		for _, c := range all {
			if !slices.Contains(wide, c) {
				t.Errorf("%s at %d columns: the wide view takes %s away: %v", p.kind.title, w, c, wide)
			}
		}
		// A filter that was there before the columns were measured, and one that
		// came later.
		p.filterBy(filter)
		r.press("w", "w")
		if got := drawnColumns(p); !slices.Equal(got, wide) {
			t.Errorf("%s at %d columns: the filter makes %v of %v", p.kind.title, w, got, wide)
		}
		r.press("w")
		r.resize(w+1, 24)
		r.resize(w, 24)
		if got := drawnColumns(p); !slices.Equal(got, all) {
			t.Errorf("%s at %d columns: with the filter there are %v, without %v", p.kind.title, w, got, all)
		}
		p.filterBy("")
	}
}

// TestWideWithoutRoom: a key that can't do anything says so.
func TestWideWithoutRoom(t *testing.T) {
	r := newRig(t, busy())
	r.resize(80, 24)
	r.press("w")
	r.wantOn("There is no room for more columns here. A wider terminal shows DRIVER")
	r = newRig(t, busy())
	r.resize(200, 24)
	r.press("w")
	r.wantOn("DRIVER")
	r.wantOff("There is no room")
}

// TestNumbersAreWhole: no width cuts a number, as the beginning of one is
// another one.
func TestNumbersAreWhole(t *testing.T) {
	cut := regexp.MustCompile(`\d[KMGTi]*…|… ?\d`)
	r := newRig(t, busy())
	r.press("3")
	for w := 60; w <= 160; w++ {
		r.resize(w, 24)
		for _, line := range strings.Split(r.screen(), "\n")[4:8] {
			if cut.MatchString(line) {
				t.Errorf("at %d columns a number is cut: %s", w, line)
			}
		}
	}
	whole(t, r.app.volumes)
	whole(t, r.app.claims)
	whole(t, r.app.classes)
	whole(t, r.app.dangers)
}

// whole looks at what the columns allow: numbers at the right are not cut, and
// counts behind a name stay.
func whole[T any](t *testing.T, p *listPage[T]) {
	t.Helper()
	for _, c := range p.columns {
		switch {
		case c.Align == ui.Right && c.Min > 0:
			t.Errorf("%s: %s may be cut", p.kind.title, c.Title)
		case c.Title == "USED BY" && !c.Tail, c.Title == "CLASS" && !c.Tail, c.Title == "VOLUMES" && !c.Whole, c.Title == "PHASE" && !c.Whole:
			t.Errorf("%s: the end of %s may be cut", p.kind.title, c.Title)
		}
	}
}

// TestPhaseIsNeverCut: on a narrow screen the phase under Terminating goes as a
// whole, the phase stays.
func TestPhaseIsNeverCut(t *testing.T) {
	r := newRig(t, shop())
	r.wantOn("✕ Terminating (Bound)")
	for w := 60; w <= 120; w++ {
		r.resize(w, 24)
		if !strings.Contains(r.screen(), "✕ Terminating ") {
			t.Errorf("at %d columns:\n%s", w, r.screen())
		}
	}
}

// TestMadeAnewIsFollowed: an operation deletes a claim and makes one of the
// same name. The bar is on that one then, and the story says so.
func TestMadeAnewIsFollowed(t *testing.T) {
	r := newRig(t, shop())
	r.press("2")
	r.filter("train-cache")
	r.press("space") // a mark is not handed on
	gone := shop()
	gone.Claims = slices.DeleteFunc(gone.Claims, func(c *corev1.PersistentVolumeClaim) bool { return c.Name == "train-cache" })
	r.see(gone)
	r.wantOn("The object that was selected here is gone")
	again := shop()
	for _, c := range again.Claims {
		if c.Name == "train-cache" {
			c.UID = "another"
		}
	}
	r.see(again)
	r.wantBar("train-cache")
	r.wantOn("What was selected here was deleted, and was made anew under the same name")
	r.wantOff("is gone", "marked")
	r.press("esc", "down")
	r.see(again)
	r.press("up")
	r.wantBar("train-cache")
	r.wantOff("made anew")
}

// TestAnotherNameIsNotFollowed: a neighbour is not the object that went.
func TestAnotherNameIsNotFollowed(t *testing.T) {
	r := newRig(t, shop())
	r.press("2", "down")
	again := shop()
	for _, c := range again.Claims {
		if c.Name == "cache-0" {
			c.Namespace, c.UID = "other", "another"
		}
	}
	r.press("G")
	for !strings.Contains(r.bar(), "cache-0") {
		r.press("up")
	}
	r.see(again)
	r.wantOn("The object that was selected here is gone")
}

// TestStillThereButNotShown: what a filter takes away by itself is not gone.
func TestStillThereButNotShown(t *testing.T) {
	r := newRig(t, shop())
	r.filter("phase:available")
	r.wantBar("nfs-archive")
	taken := shop()
	for _, v := range taken.Volumes {
		if v.Name == "nfs-archive" {
			claimedBy("web", "a", "")(v)
		}
	}
	r.see(taken)
	r.wantOn("The object that was selected here is still there, but no longer among what is shown.")
	// Whoever chooses what is shown does not want to hear of it.
	r.press("n")
	r.typeText("web")
	r.press("enter")
	r.wantOff("still there", "is gone")
}

// TestFirstVisitToRisks: what the first snapshots made of the risks, before
// anybody looked, is not missed.
func TestFirstVisitToRisks(t *testing.T) {
	r := newRig(t, kube.Objects{Volumes: []*corev1.PersistentVolume{pv("early", corev1.VolumeFailed, withPolicy(corev1.PersistentVolumeReclaimDelete))}})
	r.see(shop())
	r.press("4")
	r.wantOff("is gone", "selection gone")
	if r.bar() == "" {
		t.Errorf("nothing is selected:\n%s", r.screen())
	}
	// What was looked at is missed.
	cured := shop()
	cured.Volumes = slices.DeleteFunc(cured.Volumes, func(v *corev1.PersistentVolume) bool { return strings.Contains(r.bar(), v.Name) })
	if len(cured.Volumes) == len(shop().Volumes) {
		t.Fatalf("the first risk is of no volume: %s", r.bar())
	}
	r.see(cured)
	r.wantOn("The risk that was selected here is gone")
}

// TestKeyLineLeadsOn: on a wide screen all keys stand that lead on, on a narrow
// one the way out and the help do.
func TestKeyLineLeadsOn(t *testing.T) {
	line := func(r *rig) string {
		lines := strings.Split(strings.TrimRight(r.screen(), "\n"), "\n")
		return lines[len(lines)-1]
	}
	want := func(r *rig, where string, keys ...string) {
		t.Helper()
		for _, key := range keys {
			if !strings.Contains(line(r)+" ", " "+key+" ") {
				t.Errorf("%s: no %q in the key line %q", where, key, line(r))
			}
		}
	}
	for tab, keys := range map[string][]string{
		"1": {"a actions", "p policy", "enter details", "/ filter", "! risks", "t tree", "T timeline", "R unfinished", ": command", "? help"},
		"2": {"a actions", "enter details", "v volume", "/ filter", "! risks", "t tree", "T timeline", "R unfinished", ": command", "? help"},
		"3": {"enter details", "v volumes", "/ filter", "! risks", "t tree", "R unfinished", ": command", "? help"},
		"4": {"a cure", "enter to the object", "t tree", "T timeline", "R unfinished", ": command", "? help"},
	} {
		r := newRig(t, shop())
		r.resize(200, 40)
		r.press(tab)
		want(r, "tab "+tab, keys...)
		for _, w := range []int{60, 80, 120} {
			r.resize(w, 24)
			want(r, "tab "+tab, "q quit", "? help")
		}
		r.resize(80, 24)
		if r.press("/"); tab != "4" {
			r.typeText("a")
		} else {
			r.typeText("e")
		}
		r.press("enter")
		want(r, "tab "+tab+" with a filter", "esc clear", "? help")
		if tab == "4" {
			continue
		}
		r.press("esc", "enter")
		want(r, "details from tab "+tab, "esc back", "? help")
		r.resize(200, 40)
		want(r, "details from tab "+tab, "t tree", ": command", "esc back", "? help")
		if tab != "3" {
			want(r, "details from tab "+tab, "T timeline")
		}
	}
}

// TestTickInASCII: a letter in the place of a tick looks like a key.
func TestTickInASCII(t *testing.T) {
	r := newRig(t, shop(), func(o *Options) { o.ASCII = true })
	r.onReleased()
	r.press("a", "r")
	r.settleTop()
	r.wantOn("dry run by the server: ok", "+ ")
	for line := range strings.Lines(r.screen()) {
		if strings.HasPrefix(strings.TrimSpace(line), "v ") {
			t.Errorf("a tick looks like a key: %s", line)
		}
	}
	r = newRig(t, shop(), func(o *Options) { o.ASCII = true })
	r.onReleased()
	r.press("a")
	r.wantOn("m Migrate to ReadWriteOncePod...", "o Reserve for another claim...")
	r.wantOff("Pod~", "claim~")
}

func TestVerbs(t *testing.T) {
	for n, want := range map[int]string{0: "forbid", 1: "forbids", 2: "forbid"} {
		if got := verb(n, "forbids", "forbid"); got != want {
			t.Errorf("%d checks %s it", n, got)
		}
	}
	for n, want := range map[int]string{1: "1 check forbids it", 2: "2 checks forbid it"} {
		p := &checksPage{drafted: true, draft: draft{checks: slices.Repeat([]actions.Check{{Severity: actions.Block, Text: "no"}}, n)}}
		if got := p.verdict()[0].Text; !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Of two marked volumes, one keeps its data already.
	objects := kube.Objects{Volumes: []*corev1.PersistentVolume{
		pv("a", corev1.VolumeAvailable, withPolicy(corev1.PersistentVolumeReclaimDelete)), pv("b", corev1.VolumeAvailable),
	}, Classes: shop().Classes}
	r := newRig(t, objects)
	r.press("space", "space", "a")
	r.wantOn("1 of them has another one now")
	objects.Volumes[1] = pv("b", corev1.VolumeAvailable, withPolicy(corev1.PersistentVolumeReclaimDelete), func(v *corev1.PersistentVolume) {
		v.CreationTimestamp = metav1.NewTime(noon())
	})
	r.press("esc")
	r.see(objects)
	r.press("a")
	r.wantOn("2 of them have another one now")
}

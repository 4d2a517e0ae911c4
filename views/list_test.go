package views

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// bar is the line under the selection bar.
func (r *rig) bar() string {
	for line := range strings.Lines(r.screen()) {
		if strings.HasPrefix(line, "▌") {
			return line
		}
	}
	return ""
}

func (r *rig) wantBar(text string) {
	r.t.Helper()
	if !strings.Contains(r.bar(), text) {
		r.t.Errorf("the bar is on %q, want %q\n%s", r.bar(), text, r.screen())
	}
}

// TestSelectionStays: rows that come and go never move the bar to another
// object, and a row that goes leaves nothing that a key could act on.
func TestSelectionStays(t *testing.T) {
	r := newRig(t, shop())
	r.press("j", "j")
	r.wantBar("nfs-archive")
	more := shop()
	more.Volumes = append(more.Volumes, pv("aaa", corev1.VolumeAvailable), pv("bbb", corev1.VolumeAvailable), pv("zzz", corev1.VolumeAvailable))
	r.see(more)
	r.wantBar("nfs-archive")
	gone := shop()
	gone.Volumes = slices.DeleteFunc(gone.Volumes, func(v *corev1.PersistentVolume) bool { return v.Name == "nfs-archive" })
	r.see(gone)
	r.wantOn("The object that was selected here is gone")
	r.press("a")
	r.wantOff("Actions on")
	r.wantOn("nothing is selected")
	r.press("j", "a")
	r.wantOn("Actions on")
}

// TestSelectionIsByUID: an object of the same name is another one, and it is
// said that it is.
func TestSelectionIsByUID(t *testing.T) {
	r := newRig(t, shop())
	r.press("j", "j", "space", "up")
	again := shop()
	for _, v := range again.Volumes {
		if v.Name == "nfs-archive" {
			v.UID = "another"
		}
	}
	r.see(again)
	r.wantOn("was made anew under the same name")
	r.wantOff("1 marked")
	r.wantBar("nfs-archive")
}

func TestSort(t *testing.T) {
	r := newRig(t, shop())
	r.press("s")
	r.typeText("capacity")
	r.press("enter")
	names := func() []string {
		var out []string
		for _, v := range r.app.volumes.rows {
			out = append(out, v.Object.Name)
		}
		return out
	}
	if got := names(); got[len(got)-1] != "nfs-archive" {
		t.Errorf("by capacity the largest is not last: %v", got)
	}
	r.press("s")
	r.typeText("capacity")
	r.press("enter")
	if got := names(); got[0] != "nfs-archive" {
		t.Errorf("turned around the largest is not first: %v", got)
	}
}

// TestSortsByEveryColumn: each column of each table sorts without disorder.
func TestSortsByEveryColumn(t *testing.T) {
	r := newRig(t, shop())
	sortsByEvery(t, r.app.volumes)
	sortsByEvery(t, r.app.claims)
	sortsByEvery(t, r.app.classes)
	sortsByEvery(t, r.app.dangers)
}

func sortsByEvery[T any](t *testing.T, p *listPage[T]) {
	t.Helper()
	for i, c := range p.columns {
		p.sort, p.desc = i, false
		p.rebuild()
		if !slices.IsSortedFunc(p.rows, c.compare) {
			t.Errorf("%s is not sorted by %s", p.kind.title, c.Title)
		}
	}
}

func TestNamespaceSwitch(t *testing.T) {
	r := newRig(t, shop())
	r.press("n")
	r.wantOn("all namespaces", "exam", "web")
	r.typeText("web")
	r.press("enter")
	r.wantOn("namespace web", "broken")
	r.wantOff("nfs-archive", "train-cache")
	r.press("2")
	r.wantOn("cache-0")
	r.wantOff("train-cache")
	r.press("3")
	r.wantOn("example-sc")
	r.press("n")
	r.press("enter")
	r.press("1")
	r.wantOn("nfs-archive", "all namespaces")
}

// TestNamespaceScope: for a user who may read one namespace only, the switch
// chooses which one is read.
func TestNamespaceScope(t *testing.T) {
	r := newRig(t, shop())
	r.see(shop(), func(s *kube.Snapshot) { s.Scope = "web" })
	r.wantOn("namespace web only")
	r.press("n")
	r.wantOff("all namespaces")
	r.typeText("other")
	r.press("enter")
	if r.cluster.scope != "other" {
		t.Errorf("the namespace read is %q, want other", r.cluster.scope)
	}
}

func TestJumps(t *testing.T) {
	r := newRig(t, shop())
	r.press("j", "j", "j")
	r.wantBar("ml/train-cache")
	r.press("c")
	r.wantOn("NAMESPACE")
	r.wantBar("train-cache")
	r.press("v")
	r.wantBar("ml/train-cache")
	r.press("C")
	r.wantBar("gp3")
	r.press("b")
	r.wantBar("ml/train-cache")
	r.press("b")
	r.wantOn("NAMESPACE")
	r.press("b")
	r.wantOn("CLAIM")
	r.press("b")
	r.wantOn("no jump to go back from")
	// A jump finds its object behind a filter, too.
	r.press("2", "/")
	r.typeText("web/a")
	r.press("enter", "1", "c")
	r.wantBar("train-cache")
}

func TestJumpsSayWhyNot(t *testing.T) {
	r := newRig(t, shop())
	r.press("c")
	r.wantOn("claim web/gone does not exist")
	r.press("j", "j", "c")
	r.wantOn("it names no claim")
	r.press("C")
	r.wantOn("it has no class")
	r.press("2", "j", "v")
	r.wantOn("it names no volume")
}

func TestClassLeadsToItsVolumes(t *testing.T) {
	r := newRig(t, shop())
	r.press("3", "j", "v")
	r.wantOn(`class:"gp3"`, "4 of 6")
	r.press("b")
	r.wantBar("gp3")
}

func TestFilterAsYouType(t *testing.T) {
	r := newRig(t, shop())
	r.press("/")
	r.typeText("q")
	// A letter is text here, not a command.
	r.wantOn("None of 6 volumes matches the filter")
	r.press("backspace")
	r.typeText("arch")
	r.wantBar("nfs-archive")
	r.press("esc")
	r.wantOn("broken")
	r.press("/")
	r.typeText("arch")
	r.press("enter", "esc")
	r.wantOn("broken")
	r.press("esc")
	r.wantOn("no filter and no marks to clear")
}

func TestMarks(t *testing.T) {
	r := newRig(t, shop())
	r.press("space", "space")
	r.wantOn("2 marked")
	r.press("Y")
	r.wantOn("2 names")
	r.press("esc")
	r.wantOff("2 marked")
}

// TestEffectiveClassAndBeta: the deprecated annotation overrules the field,
// on claims and on volumes.
func TestEffectiveClassAndBeta(t *testing.T) {
	beta := map[string]string{"volume.beta.kubernetes.io/storage-class": "old-default"}
	objects := kube.Objects{
		Volumes: []*corev1.PersistentVolume{pv("v", corev1.VolumeAvailable, func(v *corev1.PersistentVolume) { v.Annotations = beta })},
		Claims:  []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimPending, "", func(c *corev1.PersistentVolumeClaim) { c.Annotations = beta })},
		Classes: shop().Classes,
	}
	r := newRig(t, objects)
	r.wantBar("old-default")
	r.press("2")
	r.wantBar("old-default")
}

// TestUsersMayBeHidden: without the right to list pods nobody is said to be
// unused.
func TestUsersMayBeHidden(t *testing.T) {
	r := newRig(t, shop())
	r.see(shop(), func(s *kube.Snapshot) {
		s.Resources[kube.Pods] = kube.ResourceState{Phase: kube.Forbidden, Missing: "list pods"}
		for _, v := range s.Volumes {
			v.Users, v.UsersKnown = nil, false
		}
	})
	r.wantOn("You may not list pods")
	r.wantBar("?")
}

// TestHeader shows the connection in each of its states.
func TestHeader(t *testing.T) {
	r := newRig(t, shop())
	for phase, want := range map[kube.LinkPhase]string{
		kube.Connecting:  "connecting",
		kube.Live:        "live",
		kube.Stale:       "stale for 2m",
		kube.Unreachable: "unreachable for 2m",
	} {
		r.see(shop(), func(s *kube.Snapshot) { s.Link = kube.Link{Phase: phase, Since: before(2 * 60e9).Time} })
		r.wantOn(want)
	}
}

// TestKeysAreReachable presses every key that a binding of the tables names:
// none falls through to the shell as unknown.
func TestKeysAreReachable(t *testing.T) {
	for _, tab := range []string{"1", "2", "3"} {
		r := newRig(t, shop())
		r.press(tab)
		var page ui.Page = r.app.volumes
		switch tab {
		case "2":
			page = r.app.claims
		case "3":
			page = r.app.classes
		}
		for _, b := range page.Bindings() {
			for _, key := range b.Keys {
				r := newRig(t, shop())
				r.press(tab, key)
				r.wantOff("no key " + key)
			}
		}
	}
}

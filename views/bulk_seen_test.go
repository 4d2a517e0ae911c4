package views

import (
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// TestBulkHeldKey: a key that is held down, or pressed again and again, never
// approves anything.
func TestBulkHeldKey(t *testing.T) {
	r := marked(t, store(), 3)
	r.press("p")
	r.lookBulk()
	r.press("enter", "enter", "enter")
	r.wantOn("the differences have only just appeared")
	r.wantOff("Type 3")
	// The pause that the last press began anew is another one.
	r.send(bulkSettledMsg{page: r.bulk, turn: r.bulk.turn, wait: r.bulk.wait - 1, shown: true})
	r.press("enter")
	r.wantOff("Type 3")
	r.send(bulkSettledMsg{page: r.bulk, turn: r.bulk.turn, wait: r.bulk.wait, shown: false})
	r.press("enter")
	r.wantOff("Type 3")
	r.settleBulk()
	r.press("enter", "enter", "enter")
	r.wantOn("Type 3 to change 3 volumes")
	for _, wrong := range []string{"4", "03", "yes"} {
		r.typeText(wrong)
		r.press("enter")
		for range wrong {
			r.press("backspace")
		}
	}
	r.wantTargets("")
	r.typeText("3")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-2")
}

// TestBulkFlashesAreNotSeen: what a key that is held down flashes through has
// not been looked at, however often a second passes meanwhile.
func TestBulkFlashesAreNotSeen(t *testing.T) {
	for _, key := range []string{"tab", "j"} {
		r := marked(t, store(), 4)
		r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
			p, err := policyDiff(s)
			p.Diff += "+  of: " + s.Target.Name + "\n"
			return p, err
		}
		r.press("p")
		r.settleBulk()
		for range 10 {
			// So many that it comes back to where it was.
			for range 24 {
				r.press(key)
				if key == "j" && r.bulk.table.Index() == 3 {
					r.press("g")
				}
			}
			r.send(tickMsg(r.app.now))
		}
		r.wantOn("differences looked at: 0/4")
		r.press("enter")
		r.wantOff("Type 4")
		// While something is over it, it is not seen either.
		r.press("?")
		r.second()
		r.press("esc")
		r.wantOn("differences looked at: 0/4")
		r.lookBulk()
		r.press("enter")
		r.wantOn("Type 4 to change 4 volumes")
	}
}

// TestBulkEveryKindIsSeen: one that makes another difference than the others
// has to be looked at, too.
func TestBulkEveryKindIsSeen(t *testing.T) {
	r := marked(t, store(), 4)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		p, err := policyDiff(s)
		if s.Target.Name == "disk-2" {
			p.Diff += "+  labels: set by a webhook\n"
		}
		return p, err
	}
	r.press("p")
	r.settleBulk()
	r.wantOn("differences looked at: 0/2", "• Difference 1 of 2, not looked at yet; the same for 3 volumes: disk-0, disk-1, disk-3")
	r.second()
	r.wantOn("differences looked at: 1/2", "✓ 1", "• 2")
	r.press("enter")
	r.wantOff("Type 4")
	r.wantOn("differences looked at: 1/2; each has to be on the screen to its end for a second")
	r.press("tab")
	r.wantOn("set by a webhook", "Difference 2 of 2, not looked at yet; of this volume alone", "differences looked at: 1/2")
	r.second()
	r.wantOn("differences looked at: 2/2")
	// Those of the others can be looked at.
	r.press("j")
	r.wantOn("✓ Difference 1 of 2, looked at")
	r.press("enter")
	r.wantOn("Type 4 to change 4 volumes")
}

// TestBulkLongDifference: the part below the screen must have been seen.
func TestBulkLongDifference(t *testing.T) {
	r := marked(t, store(), 2)
	r.resize(80, 24)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		p, err := policyDiff(s)
		p.Diff += strings.Repeat("+  line\n", 20)
		return p, err
	}
	r.press("p")
	r.settleBulk()
	r.press("enter")
	r.wantOff("Type 2")
	r.second()
	if got := r.bulk.looked(); got != "0/1" {
		t.Errorf("%s differences count as looked at before the end was on the screen", got)
	}
	for range 12 {
		r.press("J")
	}
	r.second()
	r.press("enter")
	r.wantOn("Type 2 to change 2 volumes")
}

// TestBulkKindsByPlace: the same line is another difference in another place.
func TestBulkKindsByPlace(t *testing.T) {
	r := marked(t, store(), 4)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		p, err := policyDiff(s)
		where := "labels"
		if s.Target.Name == "disk-2" {
			where = "annotations"
		}
		_, policy, _ := strings.Cut(p.Diff, "@@")
		p.Diff = "--- now\n+++ then\n@@ -2,3 +2,4 @@\n metadata:\n   " + where + ":\n+    team: ops\n@@" + policy
		return p, err
	}
	r.press("p")
	r.settleBulk()
	r.second()
	r.wantOn("differences looked at: 1/2")
	r.press("tab")
	r.wantOn("annotations:")
	r.second()
	r.wantOn("differences looked at: 2/2")
}

// TestDiffKind: what is around a line matters as far as it holds the line.
func TestDiffKind(t *testing.T) {
	kind := func(diff string) string {
		return diffKind(kube.Preview{Diff: "--- now\n+++ then\n@@ -1 +1 @@\n" + diff, DryRun: kube.DryRunResult{Supported: true}})
	}
	for name, tc := range map[string]struct {
		a, b string
		same bool
	}{
		"another neighbour":    {"   csi:\n     handle: a\n-  policy: Delete\n", "   csi:\n     handle: b\n-  policy: Delete\n", true},
		"another parent":       {"   labels:\n+    a: b\n", "   annotations:\n+    a: b\n", false},
		"another list":         {"   modes:\n+  - RWO\n", "   options:\n+  - RWO\n", false},
		"the list has ended":   {"   modes:\n   - RWO\n+  policy: Retain\n", "   options:\n   - ro\n+  policy: Retain\n", true},
		"another uid":          {"   claimRef:\n-    uid: a\n", "   claimRef:\n-    uid: b\n", true},
		"a uid that is put in": {"   claimRef:\n+    uid: a\n", "   claimRef:\n+    uid: b\n", false},
		"another value":        {"+  policy: Retain\n", "+  policy: Delete\n", false},
	} {
		if got := kind(tc.a) == kind(tc.b); got != tc.same {
			t.Errorf("%s: the same %v, want %v: %q, %q", name, got, tc.same, kind(tc.a), kind(tc.b))
		}
	}
}

// TestBulkOneKeyReadsAll: v, or the space bar, turns a difference that is longer
// than its place, and then goes to the next, until none is left.
func TestBulkOneKeyReadsAll(t *testing.T) {
	for _, key := range []string{"v", "space"} {
		r := marked(t, store(), 4)
		r.resize(80, 24)
		r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
			p, err := policyDiff(s)
			p.Diff += strings.Repeat("+  of: "+s.Target.Name+"\n", 40)
			return p, err
		}
		r.press("p")
		r.settleBulk()
		for range 100 {
			if len(r.bulk.unseen()) == 0 {
				break
			}
			r.press(key)
			r.send(tickMsg(noon()), tickMsg(noon()))
		}
		if left := r.bulk.unseen(); len(left) > 0 {
			t.Errorf("%s: %v are left\n%s", key, left, r.screen())
		}
	}
}

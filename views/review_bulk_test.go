package views

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

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
	r.wantOn("1 kind of difference has not been looked at")
	r.press("tab")
	r.wantOn("annotations:")
	r.wantOff("has not been looked at")
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

// TestBulkWithoutDryRun: what the server has not dry-run is said before the
// other warnings, and takes another word.
func TestBulkWithoutDryRun(t *testing.T) {
	r := marked(t, store(), 5)
	r.resize(80, 24)
	r.cluster.preview = func(s actions.Step) (kube.Preview, error) {
		p, err := policyDiff(s)
		if s.Target.Name == "disk-4" {
			p.DryRun = kube.DryRunResult{Reason: "webhook w does not support dry run"}
		}
		return p, err
	}
	r.press("p")
	r.settleBulk()
	for _, it := range r.bulk.items {
		for i := range 3 {
			it.finding.plan.Checks = append(it.finding.plan.Checks, actions.Check{
				Severity: actions.Warn, Text: fmt.Sprintf("Warning %d of volume %s is a long one so that it goes on on another line", i, it.req.Volume.Name),
			})
		}
	}
	r.press("tab", "tab", "enter")
	if shown := strings.Join(strings.Fields(r.dialog()), " "); !strings.Contains(shown, "The server could not dry-run this: webhook w does not support dry run.") {
		t.Errorf("not said before the other warnings\n%s", r.screen())
	}
	r.typeText("5")
	r.press("enter")
	r.wantTargets("")
	r.typeText(" without dry run")
	r.press("enter")
	if len(r.cluster.applied)+len(r.bulk.in(bulkSkipped)) != 5 {
		t.Errorf("the word was typed, and written: %q\n%s", r.targets(), r.screen())
	}
}

package views

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

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
	r.lookBulk()
	r.press("enter")
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

// TestBulkAsksForWhatAsksAlone: where a volume alone would have a word typed, the
// number alone is not enough, and the volumes are named.
func TestBulkAsksForWhatAsksAlone(t *testing.T) {
	waits := func(o *kube.Objects) { o.Claims = append(o.Claims, pvc("shop", "waits", corev1.ClaimPending, "")) }
	of := func(class string) func(*corev1.PersistentVolume) {
		return func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = class }
	}
	r := marked(t, past(waits, on("disk-1", "100", of("example-sc")), on("disk-2", "100", of("old-default"))), 4)
	r.cluster.preview = refDiff
	r.press("u")
	r.settleBulk()
	r.lookBulk()
	r.press("enter")
	r.wantOn("Type 3 with 1 at risk to change 3 volumes")
	if shown := strings.Join(strings.Fields(r.dialog()), " "); !strings.Contains(shown, "At risk are the data of disk-0: another claim can take them") {
		t.Errorf("not said what is at risk\n%s", r.screen())
	}
	r.typeText("3")
	r.press("enter")
	r.wantTargets("")
	r.wantOn("type 3 with 1 at risk to go on")
	r.typeText(" with 1 at risk")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-2")
}

// TestBulkRiskSinceApproval: a volume that has come to ask for a word since is
// left out.
func TestBulkRiskSinceApproval(t *testing.T) {
	other := on("disk-1", "100", func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "example-sc" })
	r := marked(t, past(other), 2)
	r.cluster.preview = refDiff
	r.press("u")
	r.settleBulk()
	r.lookBulk()
	r.press("enter")
	r.wantOn("Type 2 to change 2 volumes")
	r.see(past(other, func(o *kube.Objects) {
		o.Claims = append(o.Claims, pvc("shop", "waits", corev1.ClaimPending, "", func(c *corev1.PersistentVolumeClaim) {
			class := "example-sc"
			c.Spec.StorageClassName = &class
		}))
	}))
	r.typeText("2")
	r.press("enter")
	r.wantTargets("disk-0")
	if s := r.state("disk-1"); s != bulkSkipped {
		t.Errorf("disk-1 is in state %d", s)
	}
}

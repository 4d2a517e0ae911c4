package views

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
)

func TestBulkReserve(t *testing.T) {
	r := marked(t, past(), 4)
	r.cluster.preview = refDiff
	r.wantOn("Reserve 3 for their former claims")
	r.press("r")
	// Which uid goes makes no difference to look at.
	r.wantOn("3 volumes: 3 will be reserved for their former claims", "differences looked at: 0/1", "Difference 1 of 1, not looked at yet; the same for 3 volumes: disk-0, disk-1, disk-2")
	r.settleBulk()
	r.confirm("3")
	r.wantTargets("disk-0 disk-1 disk-2")
	for i, s := range r.cluster.applied {
		if want := fmt.Sprint("data-", i); s.After.ClaimRef.Claim.Name != want || s.After.ClaimRef.UID != "" {
			t.Errorf("%s is reserved for %+v, want %s", s.Target.Name, s.After.ClaimRef, want)
		}
	}
	free := func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID, v.Status.Phase = "", corev1.VolumeAvailable }
	r.see(past(on("disk-0", "101", free), on("disk-1", "101", free), on("disk-2", "101", free)))
	r.wantOn("3 done and seen to be done")
}

// TestBulkReserveBlocked: one is under Delete and takes two steps, two were the
// same claim's.
func TestBulkReserveBlocked(t *testing.T) {
	r := marked(t, past(
		on("disk-0", "100", withPolicy(corev1.PersistentVolumeReclaimDelete)),
		on("disk-2", "100", claimedBy("shop", "data-1", "older")),
	), 4)
	r.cluster.preview = refDiff
	r.press("r")
	r.wantOn("3 are blocked: This takes 2 steps", "and so on", "would be reserved for claim shop/data-1 too")
	r.settleBulk()
	r.press("enter")
	r.wantOn("there is nothing to change")
	r.wantTargets("")
}

// TestBulkUnreserve: two volumes that one claim could take, whichever comes
// first, are not opened; one that nobody waits for is.
func TestBulkUnreserve(t *testing.T) {
	waits := func(o *kube.Objects) { o.Claims = append(o.Claims, pvc("shop", "waits", corev1.ClaimPending, "")) }
	other := func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "example-sc" }
	r := marked(t, past(waits, on("disk-2", "100", other)), 4)
	r.cluster.preview = refDiff
	r.press("u")
	r.wantOn("1 will be open to any claim, 2 are blocked: Claim shop/waits would take this volume or volume disk-1, whichever comes first")
	r.settleBulk()
	r.confirm("1")
	r.wantTargets("disk-2")
}

package views

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
)

// TestBulkUndo brings back Delete, for those only whose claims still hold them.
func TestBulkUndo(t *testing.T) {
	r := protectStep(t, 3)
	r.confirm("3")
	after := []func(*kube.Objects){retained("101", "disk-0", "disk-1", "disk-2")}
	r.see(store(after...))
	r.wantOn("3 done and seen to be done")
	// The claim of one has begun to go: Delete would take its data along.
	going := func(o *kube.Objects) {
		at := before(0)
		o.Claims[1].DeletionTimestamp, o.Claims[1].Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	}
	r.see(store(append(after, going)...))
	r.press("u")
	r.wantOn("Undo on 3 volumes", "2 will be taken back, 1 is blocked: to set Delete now could destroy the data", "claim shop/data-1 is being deleted")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-2")
	r.settleBulk()
	r.cluster.apply = accepts("102")
	r.confirm("2 at risk")
	r.wantTargets("disk-0 disk-1 disk-2 disk-0 disk-2")
	for _, s := range r.cluster.applied[3:] {
		if string(s.Patch) != `{"spec":{"persistentVolumeReclaimPolicy":"Delete"}}` || s.Before.ClaimRef == nil || s.Before.ClaimRef.UID == "" {
			t.Errorf("the undo is %+v", s)
		}
	}
	back := func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	}
	r.see(store(append(after, on("disk-0", "102", back), on("disk-2", "102", back))...))
	r.wantOn("2 done and seen to be done")
	if why := r.bulk.cannotUndo(); why == "" {
		t.Error("an undo can be undone")
	}
}

// TestBulkUndoLooksAgain: between the diff of the undo and its request the
// claim begins to go.
func TestBulkUndoLooksAgain(t *testing.T) {
	r := protectStep(t, 2)
	r.confirm("2")
	after := retained("101", "disk-0", "disk-1")
	r.see(store(after))
	r.press("u")
	r.settleBulk()
	r.lookBulk()
	r.press("enter")
	r.see(store(after, func(o *kube.Objects) {
		at := before(0)
		o.Claims[0].DeletionTimestamp, o.Claims[0].Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	}))
	r.typeText("2 at risk")
	r.press("enter")
	r.wantTargets("disk-0 disk-1 disk-1")
	if r.state("disk-0") != bulkSkipped {
		t.Errorf("disk-0 is in state %d", r.state("disk-0"))
	}
	r.wantOn("1 skipped: not written")
}

package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestMailboxNeverBlocks(t *testing.T) {
	dirty := make(chan struct{}, 1)
	box := newMailbox(newTrimmer().trim, dirty)
	// Nobody collects, and nobody takes the signal.
	for range 10_000 {
		if err := box.Add(newVolume("pv")); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(box.collect().changes); got != 1 {
		t.Errorf("%d changes for one object", got)
	}
	if len(dirty) != 1 {
		t.Error("no signal")
	}
	if got := len(box.collect().changes); got != 0 {
		t.Errorf("%d changes are delivered twice", got)
	}
}

func TestMailboxUnderstandsTombstones(t *testing.T) {
	box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
	if err := box.Delete(cache.DeletedFinalStateUnknown{Key: "a/c"}); err != nil {
		t.Fatal(err)
	}
	if err := box.Delete(newClaim("a", "d")); err != nil {
		t.Fatal(err)
	}
	changes := box.collect().changes
	for _, key := range []string{"a/c", "a/d"} {
		if value, ok := changes[key]; !ok || value != nil {
			t.Errorf("%s: %v, %v", key, value, ok)
		}
	}
}

func TestMailboxKeysRecords(t *testing.T) {
	box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
	if err := box.Replace([]any{newPod("a", "p", nil, "c")}, "1"); err != nil {
		t.Fatal(err)
	}
	record, ok := box.collect().changes["a/p"].(*podRecord)
	if !ok || record.Name != "p" {
		t.Fatalf("record = %+v", record)
	}
	// A record comes back to the mailbox when the first list was streamed.
	if err := box.Replace([]any{record}, "1"); err != nil {
		t.Fatal(err)
	}
	if box.collect().changes["a/p"] != any(record) {
		t.Error("a record was trimmed into something else")
	}
}

func TestFirstPageNeverOverridesTheList(t *testing.T) {
	box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
	stale, fresh := newVolume("pv"), newVolume("pv")
	box.page([]any{stale, newVolume("other")})
	d := box.collect()
	if len(d.changes) != 2 || d.replaced || d.state.Phase != Loading {
		t.Errorf("delivery = %+v", d)
	}
	if err := box.Replace([]any{fresh}, "1"); err != nil {
		t.Fatal(err)
	}
	d = box.collect()
	if d.changes["pv"].(*corev1.PersistentVolume) != fresh || !d.replaced || d.state.Phase != Synced {
		t.Errorf("delivery = %+v", d)
	}
	box.page([]any{stale})
	if d = box.collect(); len(d.changes) != 0 {
		t.Errorf("a late page was delivered: %+v", d)
	}
}

func TestForbiddenForgetsWhatWasRead(t *testing.T) {
	box := newMailbox(newTrimmer().trim, make(chan struct{}, 1))
	if err := box.Replace([]any{newVolume("pv")}, "1"); err != nil {
		t.Fatal(err)
	}
	j := newJoin()
	j.apply(PersistentVolumes, box.collect())
	box.forbid("", "list persistentvolumes", "no")
	d := box.collect()
	j.apply(PersistentVolumes, d)
	j.rebuild()
	if len(j.snapshot().Volumes) != 0 || d.state.Phase != Forbidden || d.state.Missing != "list persistentvolumes" {
		t.Errorf("delivery = %+v", d)
	}
}

package views

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// store is a cluster of volumes disk-0 to disk-4, each Bound to claim
// shop/data-N under Delete, and one that is Retain already.
func store(edit ...func(*kube.Objects)) kube.Objects {
	objects := kube.Objects{}
	for i := range 5 {
		name, claim := fmt.Sprint("disk-", i), fmt.Sprint("data-", i)
		objects.Volumes = append(objects.Volumes, pv(name, corev1.VolumeBound, claimedBy("shop", claim, "pvc-shop-"+claim), withPolicy(corev1.PersistentVolumeReclaimDelete)))
		objects.Claims = append(objects.Claims, pvc("shop", claim, corev1.ClaimBound, name))
	}
	objects.Volumes = append(objects.Volumes, pv("disk-kept", corev1.VolumeBound, claimedBy("shop", "kept", "pvc-shop-kept")))
	objects.Claims = append(objects.Claims, pvc("shop", "kept", corev1.ClaimBound, "disk-kept"))
	objects.Classes = shop().Classes
	for _, e := range edit {
		e(&objects)
	}
	return objects
}

// on edits one volume of the objects.
func on(name, version string, edit func(*corev1.PersistentVolume)) func(*kube.Objects) {
	return func(o *kube.Objects) {
		for _, v := range o.Volumes {
			if v.Name == name {
				v.ResourceVersion = version
				edit(v)
			}
		}
	}
}

func retained(version string, names ...string) func(*kube.Objects) {
	return func(o *kube.Objects) {
		for _, name := range names {
			on(name, version, func(v *corev1.PersistentVolume) {
				v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
			})(o)
		}
	}
}

// policyDiff is how a policy change looks.
func policyDiff(s actions.Step) (kube.Preview, error) {
	from, to := "Delete", "Retain"
	if s.After.Policy == corev1.PersistentVolumeReclaimDelete {
		from, to = to, from
	}
	return kube.Preview{
		Step: s, ResourceVersion: "100", DryRun: kube.DryRunResult{Supported: true},
		Diff: "--- now\n+++ then\n@@ -9,3 +9,3 @@\n   volumeHandle: " + s.Target.Name +
			"\n-  persistentVolumeReclaimPolicy: " + from + "\n+  persistentVolumeReclaimPolicy: " + to + "\n",
	}, nil
}

// accepts answers as a server that knows each volume by its own uid.
func accepts(version string) func(kube.Preview) (kube.Applied, error) {
	return func(p kube.Preview) (kube.Applied, error) {
		return kube.Applied{ResourceVersion: version, Object: pv(p.Step.Target.Name, corev1.VolumeBound)}, nil
	}
}

func conflict(name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "persistentvolumes"}, name, errors.New("modified"))
}

// marked opens the actions menu of the first volumes of the table.
func marked(t *testing.T, objects kube.Objects, n int, edit ...func(*Options)) *rig {
	t.Helper()
	r := newRig(t, objects, edit...)
	r.cluster.preview, r.cluster.apply = policyDiff, accepts("101")
	for range n {
		r.press("space")
	}
	r.press("a")
	return r
}

// protectStep has the first n volumes looked at and settled.
func protectStep(t *testing.T, n int, edit ...func(*Options)) *rig {
	t.Helper()
	r := marked(t, store(), n, edit...)
	r.press("p")
	r.settleBulk()
	r.lookBulk()
	return r
}

func (r *rig) settleBulk() {
	r.t.Helper()
	r.send(bulkSettledMsg{page: r.bulk, turn: r.bulk.turn, wait: r.bulk.wait, shown: true})
}

// second lets two seconds pass: what is on the screen all the while has been
// looked at.
func (r *rig) second() {
	r.send(tickMsg(r.app.now), tickMsg(r.app.now))
}

// lookBulk looks at a difference of each kind for as long as it takes.
func (r *rig) lookBulk() {
	r.t.Helper()
	for range 200 {
		unseen := r.bulk.unseen()
		if len(unseen) == 0 {
			return
		}
		if !slices.Contains(unseen, r.bulk.table.Index()) {
			r.press("tab")
		}
		r.press("J")
		r.second()
	}
	r.t.Fatalf("%d differences are not looked at\n%s", len(r.bulk.unseen()), r.screen())
}

// confirm looks at all differences, and approves all that is ready.
func (r *rig) confirm(word string) {
	r.t.Helper()
	r.lookBulk()
	r.press("enter")
	r.wantOn("Type " + word + " to change")
	r.typeText(word)
	r.press("enter")
}

// targets are the volumes that were written, in that order.
func (r *rig) targets() string {
	var names []string
	for _, s := range r.cluster.applied {
		names = append(names, s.Target.Name)
	}
	return strings.Join(names, " ")
}

func (r *rig) wantTargets(want string) {
	r.t.Helper()
	if got := r.targets(); got != want {
		r.t.Fatalf("written: %q, want %q\n%s", got, want, r.screen())
	}
}

// state finds an item by its volume.
func (r *rig) state(name string) bulkState {
	r.t.Helper()
	i := slices.IndexFunc(r.bulk.items, func(it *bulkItem) bool { return it.req.Volume.Name == name })
	if i < 0 {
		r.t.Fatalf("no item %s", name)
	}
	return r.bulk.items[i].state
}

// past are three Released volumes of former claims, and one that is Bound.
func past(edit ...func(*kube.Objects)) kube.Objects {
	objects := kube.Objects{Classes: shop().Classes}
	for i := range 3 {
		objects.Volumes = append(objects.Volumes, pv(fmt.Sprint("disk-", i), corev1.VolumeReleased, claimedBy("shop", fmt.Sprint("data-", i), "old")))
	}
	objects.Volumes = append(objects.Volumes, pv("disk-held", corev1.VolumeBound, claimedBy("shop", "held", "pvc-shop-held")))
	objects.Claims = append(objects.Claims, pvc("shop", "held", corev1.ClaimBound, "disk-held"))
	for _, e := range edit {
		e(&objects)
	}
	return objects
}

// refDiff is how it looks when a uid goes: each has its own.
func refDiff(s actions.Step) (kube.Preview, error) {
	return kube.Preview{
		Step: s, ResourceVersion: "100", DryRun: kube.DryRunResult{Supported: true},
		Diff: "--- now\n+++ then\n@@ -1,5 +1,4 @@\n   claimRef:\n-    uid: of " + s.Target.Name + "\n",
	}, nil
}

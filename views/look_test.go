package views

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// lifeOfOrders is a volume with its books, and what was said about it.
func lifeOfOrders() (metav1.Object, []kube.Event) {
	v := shop().Volumes[0]
	entry := func(manager, subresource, fields string, d time.Duration) metav1.ManagedFieldsEntry {
		at := before(d)
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &at, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields),
		}
	}
	v.ManagedFields = []metav1.ManagedFieldsEntry{
		entry("csi-provisioner", "", `{"f:spec":{"f:capacity":{},"f:csi":{}}}`, 30*day),
		entry("kubectl-patch", "", `{"f:spec":{"f:persistentVolumeReclaimPolicy":{}}}`, 13*day),
		entry("kube-controller-manager", "status", `{"f:status":{"f:phase":{}}}`, 12*day),
	}
	return v, []kube.Event{{Time: noon().Add(-10 * time.Minute), Type: "Warning", Reason: "VolumeFailedDelete", Message: "rpc error: volume is in use", Source: "ebs.csi.aws.com", Count: 4}}
}

func TestTree(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 45}} {
		r := newRig(t, shop())
		r.resize(size[0], size[1])
		r.press("G", "t")
		r.wantOn("▸ volume pvc-77b1c2d4", "class gp3", "claim web/cache-0", "StatefulSet web/cache", "pod web/cache-0", "✕ Terminating", "● Bound", "Running")
		r.wantBar("volume pvc-77b1c2d4")
		// It follows the cluster.
		objects := shop()
		objects.Claims[1].DeletionTimestamp = new(before(time.Minute))
		objects.Pods[1].Status.Phase = corev1.PodSucceeded
		r.see(objects)
		r.wantOn("Succeeded")
		r.wantBar("volume pvc-77b1c2d4")
		// To the details of a node that has some.
		r.press("j")
		r.wantBar("claim web/cache-0")
		r.press("enter")
		r.wantOn("PersistentVolumeClaim web/cache-0")
		r.press("esc", "j", "j")
		r.wantBar("pod web/cache-0")
		r.press("enter")
		r.wantOn("there are no details of a pod here")
		// Gone: the last tree stays, and is said to be old.
		r.press("k")
		r.see(kube.Objects{})
		r.wantOn("This object is gone", "claim web/cache-0")
	}
}

// TestTreeOfWhatIsNotThere: named but absent, and named but not to be seen.
func TestTreeOfWhatIsNotThere(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("t")
	r.wantOn("claim shop/data-orders-0", "does not exist")
	r.press("j")
	r.press("enter")
	r.wantOn("it does not exist, or can't be seen")
	r.press("esc")
	r.see(shop(), func(s *kube.Snapshot) {
		s.Resources[kube.PersistentVolumeClaims] = kube.ResourceState{Phase: kube.Forbidden, Missing: "list persistentvolumeclaims"}
		s.Claims = nil
		for _, v := range s.Volumes {
			v.Tie = kube.TieUnknown
		}
	})
	r.press("t")
	r.wantOn("? can't be seen")
	r.wantOff("does not exist")
}

// TestTreeOfAClass: it has volumes without end, and shows the first.
func TestTreeOfAClass(t *testing.T) {
	r := newRig(t, many(treeWidth+10))
	r.press("3", "j", "t")
	r.press("G")
	r.wantOn("… 10 more")
	r.press("enter")
	r.wantOn("these are too many to show")
}

func TestTimeline(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 45}} {
		r := newRig(t, shop())
		r.resize(size[0], size[1])
		r.cluster.object, r.cluster.events = lifeOfOrders()
		r.onReleased()
		r.press("T")
		r.wantOn("Created", "kubectl-patch", "Became Released", "12d", "13d", "10m", "×4 VolumeFailedDelete")
		text := r.screen()
		for earlier, later := range map[string]string{"Created": "kubectl-patch", "kubectl-patch": "Became Released", "Became Released": "VolumeFailedDelete"} {
			if strings.Index(text, earlier) > strings.Index(text, later) {
				t.Errorf("%s stands behind %s:\n%s", earlier, later, text)
			}
		}
		// The newest is last, and in sight.
		r.wantBar("VolumeFailedDelete")
		r.wantOn("VolumeFailedDelete: rpc error: volume is in use, by ebs.csi.aws.com.", "only the last change is on record")
	}
}

// TestTimelineFollows: it is read again when the object changes, and stays when
// that is gone.
func TestTimelineFollows(t *testing.T) {
	r := newRig(t, shop())
	object, _ := lifeOfOrders()
	r.cluster.object = object
	r.onReleased()
	r.press("T")
	r.wantBar("Became Released")
	r.cluster.events = []kube.Event{{Time: noon(), Reason: "News", Message: "it goes on"}}
	r.see(shop())
	r.wantOff("News")
	r.see(after("101", func(*corev1.PersistentVolume) {}))
	r.wantBar("News: it goes on")
	r.cluster.object = nil
	r.press("r")
	r.wantOn("It can't be read again: no such object", "News: it goes on")
	r.see(kube.Objects{})
	r.wantOn("News: it goes on")
}

// TestTimelineWithoutRights: that events can't be read hides nothing else.
func TestTimelineWithoutRights(t *testing.T) {
	r := newRig(t, shop())
	r.cluster.object, _ = lifeOfOrders()
	r.app.cluster = noEvents{r.cluster}
	r.onReleased()
	r.press("T")
	r.wantOn("Its events can't be read", "you may not", "Became Released")
	r.press("esc")
	r.cluster.object = nil
	r.press("T")
	r.wantOn("can't be read: no such object")
	r.wantOff("Nothing is on record")
	r.press("esc", "3", "T")
	r.wantOn("only volumes and claims have one")
}

// noEvents is a cluster whose events may not be read.
type noEvents struct{ *fakeCluster }

func (noEvents) Events(context.Context, actions.Ref) ([]kube.Event, error) {
	return nil, errors.New("you may not list events")
}

// TestDetailsExplain: what is the matter, what can be done, and what shows it.
func TestDetailsExplain(t *testing.T) {
	r := newRig(t, shop())
	r.resize(160, 60)
	r.cluster.events = []kube.Event{{Time: noon().Add(-time.Minute), Type: "Warning", Reason: "ProvisioningFailed", Message: "quota of zone b exceeded", Source: "ebs.csi.aws.com", Count: 3}}
	r.press("2", "j", "enter")
	// Of a claim that is not bound: all reasons against each volume, the best
	// first, and how many there were.
	r.wantOn("Volumes it could take: 0 of 4 compared; 2 that are bound to other claims left out",
		"✕ nfs-archive access modes: the volume offers ReadWriteMany, asked for ReadWriteOnce; class: the volume has \"\", asked for gp3",
		"the volume belongs to web/gone; the volume is Failed, not Available")
	// The events say the same.
	r.wantOn("Event ProvisioningFailed: quota of zone b exceeded (ebs.csi.aws.com), 3 times, last 60s ago")
	r.press("esc", "1", "g", "enter")
	r.wantOn("Risks", "▲ crit Failed under policy Delete", "What can be done", "1 Set Retain first: it ends the attempts", "Who would take it", "Fields")
	r.press("1")
	if p := r.top(); p == nil || p.req.Verb != actions.SetPolicy || p.req.Volume.Name != "broken" {
		t.Errorf("the first remedy is not planned:\n%s", r.screen())
	}
	if len(r.cluster.applied) > 0 {
		t.Error("a remedy was written without a look at its difference")
	}
}

// TestRemedyAsksForTheClaim: to reserve for a claim yet to be named, that is
// asked for.
func TestRemedyAsksForTheClaim(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("enter")
	r.wantOn("2 Reserve it for another claim")
	r.press("2")
	r.wantOn("pick one, or type namespace/name")
	r.press("esc", "9")
	r.wantOn("no key 9 here")
	r = newRig(t, shop(), func(o *Options) { o.ReadOnly = true })
	r.onReleased()
	r.press("enter", "1")
	r.wantOn("--read-only")
}

// TestHoldersAreShown: a claim that is being deleted waits for its pods.
func TestHoldersAreShown(t *testing.T) {
	objects := shop()
	at := before(time.Minute)
	objects.Claims[1].DeletionTimestamp, objects.Claims[1].Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	r := newRig(t, objects)
	r.resize(160, 60)
	r.press("2", "j", "j", "enter")
	r.wantOn("What a deletion waits for pod Pod cache-0 is Running on node n1 finalizer Finalizer kubernetes.io/pvc-protection")
	// An attachment does not keep a claim.
	objects.Pods[1].Spec.NodeName = ""
	r.see(objects)
	r.wantOn("What else has to do with it pod Pod cache-0 is Running, and not scheduled")
}

// TestExplanationIsMadeAside: the full explanation looks at all objects, and so
// is never made by a key. Of two at work the newest wins.
func TestExplanationIsMadeAside(t *testing.T) {
	r := newRig(t, shop())
	p := &detailsPage{session: r.app.session, ref: volumeRef(r.app.snap.Volumes[0])}
	p.eventsRead = true
	first := p.explain()
	if first == nil || p.full.made {
		t.Fatal("it is not made by a command")
	}
	if p.explain() != nil {
		t.Error("it is made twice at once")
	}
	p.full.making, p.full.made, p.full.madeFor = false, true, p.storyKey()
	if p.explain() != nil {
		t.Error("it is made again, though nothing has changed")
	}
	p.snap = kube.NewSnapshot(shop())
	if p.explain() == nil {
		t.Error("it is not made again for a new snapshot")
	}
}

// TestOtherObjectOfThatName: an object made anew under its name is another one.
func TestOtherObjectOfThatName(t *testing.T) {
	snap := kube.NewSnapshot(shop())
	for _, ref := range []actions.Ref{volumeRef(snap.Volumes[0]), claimRef(snap.Claims[0]), classRef(snap.Classes[0])} {
		if _, found := explainRef(snap, ref, (&session{snap: snap, now: noon()}).brief()); !found {
			t.Errorf("%s is not found", refText(ref))
		}
		ref.UID = "another"
		if _, found := explainRef(snap, ref, (&session{snap: snap, now: noon()}).brief()); found {
			t.Errorf("another one is taken for %s", refText(ref))
		}
	}
}

// TestHostileLooks: what the cluster says drives the terminal from none of the
// pages that explain.
func TestHostileLooks(t *testing.T) {
	evil := "x\x1b[31m\x1b]0;owned\x07\u202e\u200b\x9b2J\r\n"
	objects := shop()
	broken := objects.Volumes[5]
	broken.Status.Message += evil
	broken.Finalizers = []string{"example.com/" + evil}
	broken.Spec.ClaimRef.Name += evil
	broken.Spec.StorageClassName += evil
	objects.Claims[2].Spec.StorageClassName = &broken.Spec.StorageClassName
	for name, keys := range map[string][]string{
		"table": nil, "risks": {"4"}, "wide risks": {"4", "w"}, "details": {"enter"}, "details at the end": {"enter", "G"},
		"tree": {"t"}, "tree below": {"t", "j", "j"}, "timeline": {"T"}, "timeline at the start": {"T", "g"}, "pending": {"2", "j", "enter"},
	} {
		r := newRig(t, objects)
		object := objects.Volumes[5].DeepCopy()
		object.Status.Phase += corev1.PersistentVolumePhase(evil)
		at := before(time.Hour)
		object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: evil, Time: &at, FieldsV1: metav1.NewFieldsV1(`{"f:` + "\u202e" + `":{}}`)}}
		r.cluster.object = object
		r.cluster.events = []kube.Event{{Reason: evil, Message: evil, Source: evil, Type: "Warning", Time: noon()}}
		r.press(keys...)
		for _, bad := range []string{"\x1b]", "\x07", "\u202e", "\u200b", "\x9b", "\r", "[31m\x1b]"} {
			if strings.Contains(r.app.View().Content, bad) {
				t.Errorf("%s: %q reaches the terminal", name, bad)
			}
		}
	}
}

// TestKeysAreFree: no table has two uses for one key.
func TestKeysAreFree(t *testing.T) {
	r := newRig(t, shop())
	for _, page := range []ui.Page{r.app.volumes, r.app.claims, r.app.classes, r.app.dangers} {
		var keys []string
		for _, b := range page.Bindings() {
			keys = append(keys, b.Keys...)
		}
		slices.Sort(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				t.Errorf("%s: key %s has two uses", page.Title(), keys[i])
			}
		}
	}
}

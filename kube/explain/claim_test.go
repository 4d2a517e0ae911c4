package explain

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

func TestClaim(t *testing.T) {
	type sc = []*storagev1.StorageClass
	classes := func(list ...*storagev1.StorageClass) func(*kube.Objects) {
		return func(o *kube.Objects) { o.Classes = list }
	}
	annotated := func(key, value string) pvcOption {
		return func(c *corev1.PersistentVolumeClaim) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, value) }
	}
	selector := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "a"}}
	}
	block := corev1.PersistentVolumeBlock
	gold := "gold"
	for name, tc := range map[string]struct {
		claim    *corev1.PersistentVolumeClaim
		volumes  []*corev1.PersistentVolume
		edit     func(*kube.Objects)
		unread   []kube.Resource
		tie      kube.Tie // where something is unread
		events   []kube.Event
		verdict  Verdict
		summary  []string
		evidence []string
		not      []string
		requests string
	}{
		"names a volume that does not exist": {
			claim: newPVC("c", names("v")), verdict: ClaimNamesMissing,
			summary: []string{"Waits for volume v, which does not exist; Kubernetes says nothing about that."},
		},
		"names a volume, and volumes are unread": {
			claim: newPVC("c", names("v")), unread: []kube.Resource{kube.PersistentVolumes}, tie: kube.TieUnknown, verdict: ClaimNamesUnknown,
			summary: []string{"can't be seen: you may not list persistentvolumes"}, not: []string{"does not exist"},
		},
		"names a volume of an earlier claim of its name": {
			claim: newPVC("data", names("v")), volumes: pvs(newPV("v", released)), verdict: ClaimNamesTaken,
			summary: []string{"which still carries the uid of an earlier claim of this name."}, requests: "reserve",
		},
		"names a volume that another claim holds": {
			claim: newPVC("c", names("v")), volumes: pvs(newPV("v", tied("data", "uid-data"))),
			edit:    func(o *kube.Objects) { o.Claims = append(o.Claims, newPVC("data", boundTo("v"))) },
			verdict: ClaimNamesTaken, summary: []string{"which claim shop/data holds."},
		},
		"names a volume that a claim held which is gone": {
			claim: newPVC("c", names("v")), volumes: pvs(newPV("v", released)), verdict: ClaimNamesTaken,
			summary: []string{"which claim shop/data once held."}, requests: "reserve",
		},
		"names a volume that is reserved for another": {
			claim: newPVC("c", names("v")), volumes: pvs(newPV("v", tied("data", ""))), verdict: ClaimNamesTaken,
			summary: []string{"which is reserved for claim shop/data."}, requests: "reserve",
		},
		"names a volume of another class": {
			claim: newPVC("c", names("v")), volumes: pvs(newPV("v", ofClass(""))), verdict: ClaimNamesUnfit,
			summary: []string{`which does not fit: class: the volume has "", asked for fast.`},
		},
		// A class that the default class has filled in, against "".
		"names a volume without a class, the default was filled in": {
			claim: newPVC("c", names("v"), asksClass("std")), volumes: pvs(newPV("v", ofClass(""))), edit: classes(newSC("std", isDefault)), verdict: ClaimNamesUnfit,
			summary: []string{`the volume has "", asked for std`},
		},
		"names a volume of another volume mode": {
			claim:   newPVC("c", names("v")),
			volumes: pvs(newPV("v", func(pv *corev1.PersistentVolume) { pv.Spec.VolumeMode = &block })), verdict: ClaimNamesUnfit,
			summary: []string{"the volume is Block, asked for Filesystem"},
		},
		"names a volume of another attributes class": {
			claim:   newPVC("c", names("v")),
			volumes: pvs(newPV("v", func(pv *corev1.PersistentVolume) { pv.Spec.VolumeAttributesClassName = &gold })), verdict: ClaimNamesUnfit,
			summary: []string{"attributes class"},
		},
		"names a volume that fits; selector and waiting do not matter": {
			claim: newPVC("c", names("v"), selector), volumes: pvs(newPV("v", released, func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = nil })),
			edit: classes(newSC("fast", waits)), verdict: ClaimAboutToBind,
			summary: []string{"is about to be bound"}, evidence: []string{"selector does not match the volume's labels; this path does not look at it"},
		},
		"both name each other, nothing is compared": {
			claim: newPVC("data", names("v"), wants("50Gi")), volumes: pvs(newPV("v", tied("data", ""))), verdict: ClaimAboutToBind,
			summary: []string{"Both name each other, so that nothing is compared."}, evidence: []string{"too small"},
		},
		"names a volume of a node that is gone": {
			claim: newPVC("c", names("v")), volumes: pvs(newPV("v", onNode("n9"))), edit: nil, verdict: ClaimAboutToBind,
			evidence: []string{"the claim binds, but no pod can use it"},
		},
		"made anew with its old annotations": {
			claim: newPVC("data", names("v"), marked), volumes: pvs(newPV("v", tied("data", ""))), verdict: ClaimAboutToBeLost,
			summary: []string{"is about to call it Lost"},
		},
		"made anew with its old annotations, without a volume": {
			claim: newPVC("data", marked), verdict: ClaimAboutToBeLost, summary: []string{"names no volume: the controller is about to call it Lost"},
		},
		// With the claimRef nil the same manifest binds unchecked.
		"made anew with its old annotations, the volume open": {
			claim: newPVC("data", names("v"), marked, wants("50Gi")), volumes: pvs(newPV("v")), verdict: ClaimAboutToBind, summary: []string{"is about to be bound"},
		},

		"no class, no default": {
			claim: newPVC("c", noClass), edit: classes(newSC("std")), verdict: ClaimNoClass,
			summary: []string{"Not bound for 3d", "there is no default class: only a volume without a class fits", "There is no volume."},
		},
		"no class, the default to come": {
			claim: newPVC("c", noClass), edit: classes(newSC("std", isDefault)), verdict: ClaimDefaultToCome,
			summary: []string{"the default class std is about to be filled in"}, evidence: []string{"gets the default class std", "csi.test has not been asked"},
		},
		"no class, several defaults": {
			claim: newPVC("c", noClass), edit: classes(newSC("b", isDefault), newSC("a", isDefault)), verdict: ClaimDefaultToCome,
			summary: []string{"the default class a"}, evidence: []string{"Several classes are marked as default: a wins over b"},
		},
		"no class, classes unread": {
			claim: newPVC("c", noClass), edit: classes(), unread: []kube.Resource{kube.StorageClasses}, verdict: ClaimClassUnknown,
			summary: []string{"whether there is a default class can't be seen"}, not: []string{"there is no default class"},
		},
		`class ""`: {
			claim: newPVC("c", asksClass("")), edit: classes(newSC("std", isDefault)), verdict: ClaimNoClass,
			summary: []string{`class ""`, "nothing is provisioned"}, evidence: []string{"never filled in"}, not: []string{"about to be filled in"},
		},
		"class gone": {
			claim: newPVC("c", asksClass("old")), verdict: ClaimClassGone, summary: []string{"Its class old does not exist: nothing is provisioned."},
		},
		"class unread": {
			claim: newPVC("c", asksClass("old")), unread: []kube.Resource{kube.StorageClasses}, verdict: ClaimClassUnknown, not: []string{"does not exist"},
		},
		"by the beta annotation": {
			claim: newPVC("c", annotated(corev1.BetaStorageClassAnnotation, "old")), verdict: ClaimClassGone, evidence: []string{"deprecated annotation", "says old"},
		},
		"waits for a pod, none there": {
			claim: newPVC("c"), edit: classes(newSC("fast", waits)), verdict: ClaimWaitsForPod, summary: []string{"to be scheduled; no pod uses it."},
		},
		"waits for a pod that is not scheduled": {
			claim: newPVC("c"), edit: func(o *kube.Objects) {
				o.Classes = sc{newSC("fast", waits)}
				o.Pods = append(o.Pods, newPod("p", "c", podOn(""), podPhase(corev1.PodPending)))
			}, verdict: ClaimWaitsForPod, summary: []string{"to be scheduled: p is not."}, evidence: []string{"Pod p uses it and is not scheduled"},
		},
		"waits for a pod of a set that is scaled to 0": {
			claim: newPVC("data-web-0"), edit: func(o *kube.Objects) {
				o.Classes = sc{newSC("fast", waits)}
				o.StatefulSets = append(o.StatefulSets, newSet("web", 0))
			}, verdict: ClaimWaitsForPod, summary: []string{"sts/web would use it, but has no pod now"},
		},
		"waits for a pod, and a volume fits": {
			claim: newPVC("c"), volumes: pvs(newPV("v"), newPV("w", sized("20Gi"))), edit: classes(newSC("fast", waits)), verdict: ClaimWaitsForPod,
			summary: []string{"It could take 2 volumes; the closest is v."},
		},
		"the pod was scheduled": {
			claim: newPVC("c", annotated(volume.AnnSelectedNode, "n1"), annotated(volume.AnnStorageProvisioner, "csi.test")),
			edit:  classes(newSC("fast", waits)), verdict: ClaimProvisioning,
			evidence: []string{"The scheduler chose node n1", "csi.test has been asked to make a volume", "it may not be installed, or not running"},
		},
		"the pod was scheduled to a node that is gone": {
			claim: newPVC("c", annotated(volume.AnnSelectedNode, "n9")), edit: classes(newSC("fast", waits)), verdict: ClaimProvisioning,
			evidence: []string{"Node n9 does not exist any more"},
		},
		"the provisioner has been at work": {
			claim: newPVC("c"), volumes: pvs(newPV("v", tied("x", "uid-x"), provisionedBy("csi.test"))), verdict: ClaimProvisioning,
			summary: []string{"or for csi.test to make one", "All volumes are bound to other claims."}, not: []string{"may not be installed"},
		},
		"made by hand": {
			claim: newPVC("c"), edit: classes(newSC("fast", byHand)), verdict: ClaimWaitsByHand,
			summary: []string{"provisions nothing"}, evidence: []string{"a volume has to be made by hand"}, not: []string{"is asked for a new one", "may not be installed"},
		},
		"a selector, and a provisioner": {
			claim: newPVC("c", selector), volumes: pvs(newPV("v")), verdict: ClaimProvisioning,
			summary: []string{"No volume fits; the closest is v: the claim's selector does not match the volume's labels."}, evidence: []string{"most provisioners make no volume"},
		},
		"about to take the smallest": {
			claim: newPVC("c", wants("5Gi")), volumes: pvs(newPV("v", sized("30Gi")), newPV("w")), verdict: ClaimProvisioning,
			summary: []string{"Volume w fits and is about to be bound."},
		},
		"what waits for it does not fit": {
			claim: newPVC("c", wants("5Gi")), verdict: ClaimProvisioning,
			volumes: pvs(newPV("small", sized("4Gi")), newPV("own", sized("1Gi"), offers(corev1.ReadWriteMany), tied("c", "")), newPV("x", sized("5Gi"), tied("x", ""))),
			summary: []string{"Volume own is reserved for it, and does not fit: ", "1Gi, asked for 5Gi"}, not: []string{"the closest is"},
		},
		"what waits for it does not fit, and another one does": {
			claim: newPVC("c", wants("5Gi")), verdict: ClaimProvisioning,
			volumes: pvs(newPV("own", sized("1Gi"), tied("c", "")), newPV("large", sized("90Gi"))),
			summary: []string{"Volume large fits and is about to be bound."}, not: []string{"is reserved for it"},
		},
		"volumes unread": {
			claim: newPVC("c"), unread: []kube.Resource{kube.PersistentVolumes}, verdict: ClaimProvisioning,
			summary: []string{"There is no volume that can be seen."}, not: []string{"may not be installed"},
		},
		"what the events say": {
			claim: newPVC("c"), verdict: ClaimProvisioning, events: []kube.Event{
				{Type: "Warning", Reason: "ProvisioningFailed", Message: "exceeded quota: storage\x1b[31m.", Count: 3, Time: noon().Add(-time.Minute), Source: "csi"},
				{Type: "Normal", Reason: "Irrelevant", Message: "hm"},
				{Type: "Normal", Reason: "WaitForFirstConsumer", Message: "waiting", Time: noon().Add(-time.Hour)},
			},
			evidence: []string{"ProvisioningFailed: exceeded quota: storage[31m (csi), 3 times, last 60s ago\n", "WaitForFirstConsumer: waiting", "Quota: A quota stands in the way"},
			not:      []string{"Irrelevant", "\x1b"},
		},

		"bound": {
			claim: newPVC("data", boundTo("v")), volumes: pvs(newPV("v", tied("data", "uid-data"))), verdict: ClaimBound,
			summary: []string{"Bound, used by nobody.", "keeps the data when the claim goes (Retain)"},
		},
		"bound, dies": {
			claim: newPVC("data", boundTo("v")), volumes: pvs(newPV("v", tied("data", "uid-data"), policy(remove))), verdict: ClaimBound,
			summary: []string{"the data die with this claim"}, requests: "set-policy",
		},
		"bound, modes edited": {
			claim: newPVC("data", boundTo("v"), func(c *corev1.PersistentVolumeClaim) {
				c.Status.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
			}), volumes: pvs(newPV("v", tied("data", "uid-data"))), verdict: ClaimBound,
			summary: []string{"Its spec says RWO, its volume RWOP"},
		},
		"bound, its volume gone": {
			claim: newPVC("data", boundTo("v")), verdict: ClaimBound, summary: []string{"v does not exist any more: the controller is about to call it Lost"},
		},
		"bound, its volume opened": {
			claim: newPVC("data", boundTo("v")), volumes: pvs(newPV("v")), verdict: ClaimBound, summary: []string{"about to bind it again, unless another claim is faster"},
		},
		"bound, its volume lost the uid": {
			claim: newPVC("data", boundTo("v")), volumes: pvs(newPV("v", tied("data", ""))), verdict: ClaimBound, summary: []string{"about to call it Lost"},
		},
		"bound, class gone": {
			claim: newPVC("data", boundTo("v"), asksClass("old")), volumes: pvs(newPV("v", tied("data", "uid-data"))), verdict: ClaimBound, evidence: []string{"Class old does not exist any more"},
		},
		"bound, unused for long": {
			claim: newPVC("data", boundTo("v"), func(c *corev1.PersistentVolumeClaim) {
				c.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimUnused, Status: corev1.ConditionTrue, LastTransitionTime: before(48 * time.Hour)}}
			}), volumes: pvs(newPV("v", tied("data", "uid-data"))), verdict: ClaimBound, evidence: []string{"No pod has used it for 2d"},
		},
		"terminating, held by a completed pod": {
			claim: newPVC("data", boundTo("v"), goingPVC), volumes: pvs(newPV("v", tied("data", "uid-data"), policy(remove))),
			edit:    func(o *kube.Objects) { o.Pods = append(o.Pods, newPod("job-1", "data", podPhase(corev1.PodSucceeded))) },
			verdict: ClaimTerminating, summary: []string{"Being deleted for 5m", "Held by 1 pod that names it: job-1 (a completed pod holds it, too).", "die with this claim"}, requests: "set-policy",
		},
		"terminating, an unscheduled pod does not hold": {
			claim: newPVC("data", boundTo("v"), goingPVC), volumes: pvs(newPV("v", tied("data", "uid-data"))),
			edit: func(o *kube.Objects) {
				o.Pods = append(o.Pods, newPod("p", "data", podOn(""), podPhase(corev1.PodPending)))
			},
			verdict: ClaimTerminating, summary: []string{"Held by kubernetes.io/pvc-protection."}, not: []string{"Held by 1 pod"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := world(tc.volumes, tc.claim)
			if tc.edit != nil {
				tc.edit(&objects)
			}
			snap := kube.NewSnapshot(objects)
			c := *snap.Claim("shop", tc.claim.Name)
			if len(tc.unread) > 0 {
				unread(snap, tc.unread...)
				c.Tie = tc.tie
			}
			e := Claim(snap, &c, Ask{Now: noon(), Events: tc.events})
			if e.Verdict != tc.verdict {
				t.Errorf("verdict %q, want %q", e.Verdict, tc.verdict)
			}
			has(t, e.Summary.String(), tc.summary...)
			has(t, evidence(e)+"\n", tc.evidence...)
			hasNot(t, e.Summary.String()+"\n"+evidence(e), tc.not...)
			if got := requests(e); got != tc.requests {
				t.Errorf("remedies %q, want %q", got, tc.requests)
			}
			wellFormed(t, e)
			doable(t, snap, e)
			brief := Claim(snap, &c, Ask{Now: noon(), Brief: true})
			if brief.Verdict != e.Verdict || brief.Candidates != nil || !strings.HasPrefix(e.Summary.String(), brief.Summary.String()) {
				t.Errorf("in brief it says: %s", brief.Summary)
			}
		})
	}
}

// TestCandidates: all reasons of each volume, the best first.
func TestCandidates(t *testing.T) {
	claim := newPVC("c", wants("5Gi"))
	snap := kube.NewSnapshot(world(pvs(
		newPV("far", sized("1Gi"), ofClass("slow")),
		newPV("small", sized("4Gi")),
		newPV("smaller", sized("1Gi")),
		newPV("old", released, inPhase(corev1.VolumeReleased)),
		newPV("mine", tied("c", ""), sized("50Gi"), ofClass("other")),
		newPV("fits"),
		newPV("theirs", tied("x", "")),
		newPV("held", tied("data", "uid-data")),
	), claim, newPVC("data", boundTo("held"))))
	found := Claim(snap, snap.Claim("shop", "c"), ask()).Candidates
	var got []string
	for _, c := range found.List {
		got = append(got, c.Volume.Name)
	}
	if want := "mine fits small smaller theirs far old"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if found.Total != 7 || found.Held != 1 || found.Fit != 2 || !found.Known {
		t.Errorf("got %+v", found)
	}
	for name, want := range map[string]string{
		"mine": "fits, and is about to be bound", "fits": "fits, but another volume suits better",
		"far":    "the volume is too small: 1Gi, asked for 5Gi; class: the volume has slow, asked for fast",
		"theirs": "the volume is reserved for shop/x",
		"old":    "the volume belongs to shop/data; the volume is Released, not Available",
	} {
		for _, c := range found.List {
			if c.Volume.Name == name && c.Text() != want {
				t.Errorf("%s: %q, want %q", name, c.Text(), want)
			}
		}
	}
	if c := found.List[0]; c.Path != binding.ByClaimRef || len(c.Notes) == 0 {
		t.Errorf("a class that is not compared is noted: %+v", c)
	}
	few := Claim(snap, snap.Claim("shop", "c"), Ask{Now: noon(), Top: 2}).Candidates
	if len(few.List) != 2 || few.Total != 7 || few.List[1].Volume.Name != "fits" {
		t.Errorf("got %+v", few)
	}
}

// TestCandidatesByNode: the scheduler minds the nodes, the controller does not.
func TestCandidatesByNode(t *testing.T) {
	for name, tc := range map[string]struct {
		class *storagev1.StorageClass
		edit  func(*kube.Snapshot)
		text  string
	}{
		"waiting for a pod": {newSC("fast", waits), nil, "no node fits the volume's node affinity (n9)"},
		"bound at once":     {newSC("fast"), nil, "fits, and is about to be bound"},
		"nodes unread":      {newSC("fast", waits), func(s *kube.Snapshot) { unread(s, kube.Nodes) }, "fits, and waits for the claim's first pod"},
	} {
		objects := world(pvs(newPV("v", onNode("n9"))), newPVC("c"))
		objects.Classes = []*storagev1.StorageClass{tc.class}
		snap := kube.NewSnapshot(objects)
		if tc.edit != nil {
			tc.edit(snap)
		}
		if got := Claim(snap, snap.Claims[0], ask()).Candidates.List[0].Text(); got != tc.text {
			t.Errorf("%s: %q", name, got)
		}
	}
}

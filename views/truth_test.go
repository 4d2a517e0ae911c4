package views

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
)

// These tests hold what the screen says against what is known: nothing is
// said to be absent that is only not seen.

func withResource(r kube.Resource, st kube.ResourceState) func(*kube.Snapshot) {
	return func(s *kube.Snapshot) { s.Resources[r] = st }
}

func TestRecycleIsNotSafe(t *testing.T) {
	recycle := withPolicy(corev1.PersistentVolumeReclaimRecycle)
	s := tell(kube.Objects{
		Volumes: []*corev1.PersistentVolume{pv("v", corev1.VolumeBound, claimedBy("a", "b", "pvc-a-b"), recycle)},
		Claims:  []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimBound, "v")},
	})
	wantStory(t, spansText(s.claimStory(s.snap.Claims[0])), []string{"the files are erased"}, []string{"keeps the data"})
	wantStory(t, spansText(s.volumeStory(s.snap.Volumes[0])), []string{"erases the files"}, nil)
}

// TestBeingBoundIsNotOpen: between the first and the last of the controller's
// writes a volume is Available and has the claim's uid.
func TestBeingBoundIsNotOpen(t *testing.T) {
	s := tell(kube.Objects{Volumes: []*corev1.PersistentVolume{pv("v", corev1.VolumeAvailable, claimedBy("a", "b", "uid"))}})
	wantStory(t, spansText(s.volumeStory(s.snap.Volumes[0])), []string{"Being bound to claim a/b"}, []string{"Open to any"})
}

func TestLoadingIsNotForbidden(t *testing.T) {
	blind := func(s *kube.Snapshot) {
		for _, v := range s.Volumes {
			v.Users, v.UsersKnown, v.Tie = nil, false, kube.TieUnknown
		}
	}
	for phase, want := range map[kube.ResourceState]string{
		{Phase: kube.Loading}:                                 "still being read",
		{Phase: kube.Forbidden, Missing: "list pods"}:         "you may not list pods",
		{Phase: kube.Synced, Namespace: "web", Missing: "no"}: "only namespace web is read",
	} {
		s := tell(shop(), blind, withResource(kube.Pods, phase), withResource(kube.PersistentVolumeClaims, phase))
		for _, v := range s.snap.Volumes {
			if v.State.Phase == kube.Bound || v.State.Phase == kube.Reserved || v.State.Phase == kube.Released {
				wantStory(t, spansText(s.volumeStory(v)), []string{want}, []string{"nobody", "does not exist"})
			}
		}
	}
}

func TestClassesUnseen(t *testing.T) {
	claim := pvc("a", "b", corev1.ClaimPending, "", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil })
	s := tell(kube.Objects{Claims: []*corev1.PersistentVolumeClaim{claim}},
		withResource(kube.StorageClasses, kube.ResourceState{Phase: kube.Forbidden, Missing: "list storageclasses"}))
	wantStory(t, spansText(s.claimStory(s.snap.Claims[0])), []string{"can't be seen"}, []string{"there is no default class"})
}

func TestWorkloadsUnseen(t *testing.T) {
	s := tell(shop(), withResource(kube.CronJobs, kube.ResourceState{Phase: kube.Forbidden, Missing: "list cronjobs"}))
	for _, v := range s.snap.Volumes {
		wantStory(t, spansText(s.volumeStory(v)), nil, []string{"used by nobody"})
	}
}

// TestUnscheduledPodHoldsNothing: only a pod with a node keeps a claim.
func TestUnscheduledPodHoldsNothing(t *testing.T) {
	pod := podOf("a", "p", "b", "Job", "j")
	pod.Spec.NodeName = ""
	at := before(0)
	claim := pvc("a", "b", corev1.ClaimBound, "v", func(c *corev1.PersistentVolumeClaim) {
		c.DeletionTimestamp, c.Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	})
	s := tell(kube.Objects{Claims: []*corev1.PersistentVolumeClaim{claim}, Pods: []*corev1.Pod{pod}})
	wantStory(t, spansText(s.claimStory(s.snap.Claims[0])), []string{"Held by kubernetes.io/pvc-protection"}, []string{"Held by 1 pod"})
}

// TestCountsAreOfWhatIsShown: with a namespace chosen, tab and header count in
// it.
func TestCountsAreOfWhatIsShown(t *testing.T) {
	r := newRig(t, shop(), func(o *Options) { o.Namespace = "ml" })
	r.wantOn("1 Volumes 1", "2 Claims 1", "Bound 1")
	r.wantOff("Failed", "Released")
}

// TestNarrowedTables: a user who may read one namespace is not told that the
// cluster is empty.
func TestNarrowedTables(t *testing.T) {
	r := newRig(t, shop())
	r.see(kube.Objects{}, func(s *kube.Snapshot) {
		s.Scope = "web"
		s.Resources[kube.PersistentVolumeClaims] = kube.ResourceState{Phase: kube.Synced, Namespace: "web", Missing: "list persistentvolumeclaims"}
	})
	r.press("2")
	r.wantOn("No claims for namespace web", "You may not list persistentvolumeclaims")
	r.wantOff("in this cluster")
}

func TestReadErrorsAreShown(t *testing.T) {
	r := newRig(t, shop())
	r.see(kube.Objects{}, withResource(kube.PersistentVolumes, kube.ResourceState{Phase: kube.Loading, Err: "the server failed"}))
	r.wantOn("The volumes can't be read: the server failed.", "Can't be read: persistentvolumes: the server failed")
	r.wantOff("Loading volumes")
}

// TestBannerFitsTheFailure: a server that answers is not said to be silent.
func TestBannerFitsTheFailure(t *testing.T) {
	r := newRig(t, shop())
	for kind, silent := range map[kube.Kind]bool{kube.KindUnreachable: true, kube.KindTimeout: true, kube.KindUnauthorized: false, kube.KindServer: false} {
		r.see(shop(), func(s *kube.Snapshot) {
			s.Link = kube.Link{Phase: kube.Unreachable, Since: noon(), Err: "reason", Kind: kind}
		})
		if silent {
			r.wantOn("does not answer: reason.")
		} else {
			r.wantOff("does not answer")
		}
	}
}

// TestMenuHasEverything: what can be done with a volume is in its menu, with
// the reason why not.
func TestMenuHasEverything(t *testing.T) {
	r := newRig(t, shop())
	r.onReleased()
	r.press("a")
	r.wantOn("Details", "YAML", "To its claim", "not now: claim shop/data-orders-0 does not exist", "To its class", "Copy its name")
	r.press("C")
	r.wantBar("gp3")
}

// TestStepPageHintsNoForeignKeys: the story of a finished step names no key
// that the page does not have.
func TestStepPageHintsNoForeignKeys(t *testing.T) {
	r := reserveStep(t)
	r.press("enter")
	r.see(after("102", reserved))
	r.wantOn("Now: Reserved for claim")
	r.wantOff("sets Retain", "a reserves")
}

// TestYAMLFollows: the object changes under its details.
func TestYAMLFollows(t *testing.T) {
	r := newRig(t, shop())
	r.cluster.manifest = "kind: First\n"
	r.onReleased()
	r.press("y")
	r.wantOn("kind: First")
	r.cluster.manifest = "kind: Second\n"
	r.see(after("101", func(*corev1.PersistentVolume) {}))
	r.wantOn("kind: Second")
}

// TestSurroundingsUnseen: what surrounds volumes may be hidden without a word
// in the banner; the details of a volume say so.
func TestSurroundingsUnseen(t *testing.T) {
	objects := kube.Objects{Volumes: []*corev1.PersistentVolume{
		pv("disk", corev1.VolumeAvailable, func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "h"}}
		}),
		pv("share", corev1.VolumeAvailable, func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/p"}}
		}),
	}}
	var hide []func(*kube.Snapshot)
	for _, r := range []kube.Resource{kube.Nodes, kube.Namespaces, kube.VolumeAttachments} {
		hide = append(hide, withResource(r, kube.ResourceState{Phase: kube.Forbidden, Missing: "list " + string(r), Err: "the API server refuses"}))
	}
	s := tell(objects, hide...)
	if banner := spansText(s.banner()); banner != "" {
		t.Errorf("banner = %q", banner)
	}
	if got, want := s.attachedFact(s.snap.Volume("disk")), "can't be told: attachments can't be seen, you may not list volumeattachments"; got != want {
		t.Errorf("attached = %q, want %q", got, want)
	}
	if got := s.attachedFact(s.snap.Volume("share")); got != "" {
		t.Errorf("attached = %q, of a volume that no driver attaches", got)
	}
}

func TestAttachedFact(t *testing.T) {
	s := tell(kube.Objects{})
	for want, attachments := range map[string][]*kube.Attachment{
		"":                      nil,
		"to n1":                 {{Node: "n1", Attached: true}},
		"to n1, not yet":        {{Node: "n1"}},
		"to n1, being detached": {{Node: "n1", Attached: true, Terminating: true}},
		"to n1; to n2, not yet": {{Node: "n1", Attached: true}, {Node: "n2"}},
		"to n1, being detached (last failure: still mounted)": {{Node: "n1", Attached: true, Terminating: true, Problem: "still mounted"}},
	} {
		if got := s.attachedFact(&kube.Volume{Attachments: attachments}); got != want {
			t.Errorf("attached = %q, want %q", got, want)
		}
	}
}

package views

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

func spansText(spans []ui.Span) string {
	text := ""
	for _, s := range spans {
		text += s.Text
	}
	return text
}

// tell makes a session that has seen these objects.
func tell(objects kube.Objects, edit ...func(*kube.Snapshot)) *session {
	s := &session{snap: kube.NewSnapshot(objects), now: noon()}
	for _, e := range edit {
		e(s.snap)
	}
	return s
}

func TestVolumeStory(t *testing.T) {
	none := corev1.PersistentVolumePhase("")
	for name, tc := range map[string]struct {
		volume *corev1.PersistentVolume
		claims []*corev1.PersistentVolumeClaim
		want   []string
		not    []string
	}{
		"released, kept": {
			volume: pv("v", corev1.VolumeReleased, claimedBy("a", "b", "old")),
			want:   []string{"Released 12d ago", "claim a/b", "is gone", "Data kept (Retain).", "No claim of that name exists now."},
			not:    []string{"Delete"},
		},
		"released, about to go": {
			volume: pv("v", corev1.VolumeReleased, claimedBy("a", "b", "old"), withPolicy(corev1.PersistentVolumeReclaimDelete)),
			want:   []string{"may be removed at any moment", "sets Retain"},
			not:    []string{"Data kept"},
		},
		"released, recycled": {
			volume: pv("v", corev1.VolumeReleased, claimedBy("a", "b", "old"), withPolicy(corev1.PersistentVolumeReclaimRecycle)),
			want:   []string{"Recycle wipes its data"},
		},
		"released, claim made again": {
			volume: pv("v", corev1.VolumeReleased, claimedBy("a", "b", "old")),
			claims: []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimPending, "")},
			want:   []string{"A claim of that name exists again, but it is another one, which is not bound."},
			not:    []string{"No claim of that name"},
		},
		"reserved for nobody yet": {
			volume: pv("v", corev1.VolumeAvailable, claimedBy("a", "b", "")),
			want:   []string{"Reserved for claim a/b", "does not exist", "binds here, if it fits"},
		},
		"reserved in vain": {
			volume: pv("v", corev1.VolumeAvailable, claimedBy("a", "b", "")),
			claims: []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimBound, "elsewhere")},
			want:   []string{"bound to another volume"},
		},
		"available": {
			volume: pv("v", corev1.VolumeAvailable),
			want:   []string{"Open to any claim that fits", "class gp3"},
		},
		"bound, dies with its claim": {
			volume: pv("v", corev1.VolumeBound, claimedBy("a", "b", "pvc-a-b"), withPolicy(corev1.PersistentVolumeReclaimDelete)),
			claims: []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimBound, "v")},
			want:   []string{"Bound to claim a/b", "used by nobody", "deleting the claim destroys this volume and its data"},
		},
		"bound, safe": {
			volume: pv("v", corev1.VolumeBound, claimedBy("a", "b", "pvc-a-b")),
			claims: []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimBound, "v")},
			not:    []string{"destroys"},
		},
		"terminating, held by its claim": {
			volume: pv("v", corev1.VolumeBound, claimedBy("a", "b", "pvc-a-b"), deleting),
			claims: []*corev1.PersistentVolumeClaim{pvc("a", "b", corev1.ClaimBound, "v")},
			want:   []string{"Being deleted for 5m", "can't be taken back", "for as long as claim a/b is bound", "Its data stay with the storage (Retain)"},
		},
		"terminating, data go": {
			volume: pv("v", corev1.VolumeReleased, claimedBy("a", "b", "x"), deleting, withPolicy(corev1.PersistentVolumeReclaimDelete)),
			want:   []string{"Held by kubernetes.io/pv-protection", "Policy Delete: its data may be being deleted now"},
		},
		"failed": {
			volume: pv("v", corev1.VolumeFailed, claimedBy("a", "b", "x"), func(v *corev1.PersistentVolume) { v.Status.Message = "in use." }),
			want:   []string{"Failed 12d ago: in use.", "under Retain it does not try again"},
			not:    []string{"in use.."},
		},
		"new": {volume: pv("v", none), want: []string{"has not looked at it yet"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(kube.Objects{Volumes: []*corev1.PersistentVolume{tc.volume}, Claims: tc.claims})
			wantStory(t, spansText(s.volumeStory(s.snap.Volumes[0])), tc.want, tc.not)
		})
	}
}

func wantStory(t *testing.T, got string, want, not []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("it does not say %q: %s", w, got)
		}
	}
	for _, w := range not {
		if strings.Contains(got, w) {
			t.Errorf("it says %q: %s", w, got)
		}
	}
}

// TestStoryWithoutRights: what may not be seen is not said to be absent.
func TestStoryWithoutRights(t *testing.T) {
	blind := func(s *kube.Snapshot) {
		for _, v := range s.Volumes {
			v.Tie, v.UsersKnown = kube.TieUnknown, false
		}
	}
	s := tell(kube.Objects{Volumes: []*corev1.PersistentVolume{
		pv("bound", corev1.VolumeBound, claimedBy("a", "b", "x")),
		pv("released", corev1.VolumeReleased, claimedBy("a", "b", "x")),
		pv("reserved", corev1.VolumeAvailable, claimedBy("a", "b", "")),
	}}, blind)
	for _, v := range s.snap.Volumes {
		wantStory(t, spansText(s.volumeStory(v)), nil, []string{"does not exist", "No claim of that name", "used by nobody"})
	}
}

func TestClaimStory(t *testing.T) {
	class := func(name *string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = name }
	}
	empty := ""
	late := func(m storagev1.VolumeBindingMode) *storagev1.StorageClass {
		c := sc("gp3", "ebs.csi.aws.com", false, before(day))
		c.VolumeBindingMode = &m
		return c
	}
	gp3 := sc("gp3", "ebs.csi.aws.com", false, before(day))
	gone := func(c *corev1.PersistentVolumeClaim) {
		at := before(time.Minute)
		c.DeletionTimestamp, c.Finalizers = &at, []string{"kubernetes.io/pvc-protection"}
	}
	held := pv("v", corev1.VolumeBound, claimedBy("a", "b", "pvc-a-b"), withPolicy(corev1.PersistentVolumeReclaimDelete))
	for name, tc := range map[string]struct {
		claim   *corev1.PersistentVolumeClaim
		volumes []*corev1.PersistentVolume
		classes []*storagev1.StorageClass
		pods    []*corev1.Pod
		want    []string
		not     []string
	}{
		"bound": {
			claim: pvc("a", "b", corev1.ClaimBound, "v"), volumes: []*corev1.PersistentVolume{held},
			want: []string{"Bound, used by nobody", "the data die with this claim"},
		},
		"modes differ": {
			claim: pvc("a", "b", corev1.ClaimBound, "v", func(c *corev1.PersistentVolumeClaim) {
				c.Status.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
			}),
			volumes: []*corev1.PersistentVolume{held},
			want:    []string{"spec says RWO, its volume RWOP", "scheduler goes by the first, the kubelet by the second"},
		},
		"terminating, held by a pod": {
			claim: pvc("a", "b", corev1.ClaimBound, "v", gone), volumes: []*corev1.PersistentVolume{held},
			pods: []*corev1.Pod{podOf("a", "p1", "b", "Job", "j")},
			want: []string{"Being deleted for 60s", "Held by 1 pod that names it: p1"},
		},
		"terminating, held by a finalizer": {
			claim: pvc("a", "b", corev1.ClaimBound, "v", gone), volumes: []*corev1.PersistentVolume{held},
			want: []string{"Held by kubernetes.io/pvc-protection"},
		},
		"lost, volume gone":    {claim: pvc("a", "b", corev1.ClaimLost, "v"), want: []string{"its volume v does not exist"}},
		"lost, no name":        {claim: pvc("a", "b", corev1.ClaimLost, ""), want: []string{"it names no volume any more"}},
		"lost, another's":      {claim: pvc("a", "b", corev1.ClaimLost, "v"), volumes: []*corev1.PersistentVolume{pv("v", corev1.VolumeBound, claimedBy("a", "b", "other"))}, want: []string{"does not carry this claim's uid"}},
		"waits for nothing":    {claim: pvc("a", "b", corev1.ClaimPending, "v"), want: []string{"Waits for volume v, which does not exist"}},
		"waits for another's":  {claim: pvc("a", "b", corev1.ClaimPending, "v"), volumes: []*corev1.PersistentVolume{pv("v", corev1.VolumeReleased, claimedBy("a", "c", "old"))}, want: []string{"which claim a/c once held"}},
		"no class, no default": {claim: pvc("a", "b", corev1.ClaimPending, "", class(nil)), want: []string{"asks for no class and there is no default class"}},
		"no class, default":    {claim: pvc("a", "b", corev1.ClaimPending, "", class(nil)), classes: []*storagev1.StorageClass{sc("std", "p", true, before(day))}, want: []string{"default class std"}},
		"class of nothing":     {claim: pvc("a", "b", corev1.ClaimPending, "", class(&empty)), want: []string{`asks for class "": only a volume without a class fits`}},
		"class gone":           {claim: pvc("a", "b", corev1.ClaimPending, ""), want: []string{"class gp3 does not exist"}},
		"immediate":            {claim: pvc("a", "b", corev1.ClaimPending, ""), classes: []*storagev1.StorageClass{gp3}, want: []string{"or for ebs.csi.aws.com to make one"}},
		"first consumer":       {claim: pvc("a", "b", corev1.ClaimPending, ""), classes: []*storagev1.StorageClass{late(storagev1.VolumeBindingWaitForFirstConsumer)}, want: []string{"waits for a pod"}},
		"made by hand":         {claim: pvc("a", "b", corev1.ClaimPending, ""), classes: []*storagev1.StorageClass{sc("gp3", "kubernetes.io/no-provisioner", false, before(day))}, want: []string{"provisions nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(kube.Objects{Volumes: tc.volumes, Claims: []*corev1.PersistentVolumeClaim{tc.claim}, Classes: tc.classes, Pods: tc.pods})
			wantStory(t, spansText(s.claimStory(s.snap.Claims[0])), tc.want, tc.not)
		})
	}
}

func TestClassStory(t *testing.T) {
	s := tell(shop())
	wantStory(t, spansText(s.classStory(s.snap.Class("gp3"))), []string{"The default class", "ebs.csi.aws.com with policy Delete"}, nil)
	wantStory(t, spansText(s.classStory(s.snap.Class("old-default"))), []string{"Marked as default too, but gp3 is newer and wins"}, nil)
	wantStory(t, spansText(s.classStory(s.snap.Class("example-sc"))), []string{"made by hand"}, []string{"New volumes"})
}

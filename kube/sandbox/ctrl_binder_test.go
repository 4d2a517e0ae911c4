package sandbox

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

// inPhaseOf makes a volume that was in a phase before.
func inPhaseOf(phase corev1.PersistentVolumePhase) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Status.Phase = phase }
}

func boundTo(name string, uid types.UID) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.UID, c.Spec.VolumeName, c.Status.Phase = uid, name, corev1.ClaimBound
		completed(c)
	}
}

func withUID(uid types.UID) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.UID = uid }
}

func provisionedBy(v string) func(*corev1.PersistentVolume) {
	return annotated(volume.AnnDynamicallyProvisioned, v)
}

// TestVolumePhases is every way of syncVolume, each from the phases in which a
// volume may come to it.
func TestVolumePhases(t *testing.T) {
	all := []corev1.PersistentVolumePhase{
		corev1.VolumePending, corev1.VolumeAvailable, corev1.VolumeBound, corev1.VolumeReleased, corev1.VolumeFailed,
	}
	byController := annotated(volume.AnnBoundByController, "yes")
	block := func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }
	tests := []struct {
		name   string
		from   []corev1.PersistentVolumePhase
		volume []func(*corev1.PersistentVolume)
		claims []Object
		phase  corev1.PersistentVolumePhase
		ref    string
		reason string
		says   string
		gone   bool
	}{
		{name: "no claimRef", from: all, phase: corev1.VolumeAvailable},
		{name: "reserved", from: all, volume: []func(*corev1.PersistentVolume){reservedFor("one")}, phase: corev1.VolumeAvailable, ref: "one reserved"},
		{
			name: "claim names it", from: all, volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")},
			claims: []Object{pvc("one", boundTo("v", "u1"))}, phase: corev1.VolumeBound, ref: "one",
		},
		{
			name: "claim does not name it yet", from: []corev1.PersistentVolumePhase{corev1.VolumePending, corev1.VolumeReleased},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")},
			claims: []Object{pvc("one", withUID("u1"))}, phase: corev1.VolumeBound, ref: "one",
		},
		{
			name: "claim of another volume mode", from: []corev1.PersistentVolumePhase{corev1.VolumeReleased},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")},
			claims: []Object{pvc("one", withUID("u1"), block)}, phase: corev1.VolumeReleased, ref: "one",
			reason: "VolumeMismatch", says: `Cannot bind PersistentVolume to requested PersistentVolumeClaim "one" due to incompatible volumeMode.`,
		},
		{
			name: "claim is elsewhere: provisioned and Delete", from: []corev1.PersistentVolumePhase{corev1.VolumeBound, corev1.VolumeAvailable},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes, provisionedBy(folders)},
			claims: []Object{pvc("one", boundTo("other", "u1"))}, gone: true,
		},
		{
			name: "claim is elsewhere: provisioned and Retain", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), provisionedBy(folders)},
			claims: []Object{pvc("one", boundTo("other", "u1"))}, phase: corev1.VolumeAvailable, ref: "one reserved",
		},
		{
			name: "claim is elsewhere: bound by the controller", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), byController},
			claims: []Object{pvc("one", boundTo("other", "u1"))}, phase: corev1.VolumeAvailable,
		},
		{
			name: "claim is elsewhere: bound by a user", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")},
			claims: []Object{pvc("one", boundTo("other", "u1"))}, phase: corev1.VolumeAvailable, ref: "one reserved",
		},
		{
			name: "claim missing, Retain", from: []corev1.PersistentVolumePhase{corev1.VolumePending, corev1.VolumeAvailable, corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")}, phase: corev1.VolumeReleased, ref: "one",
		},
		{
			name: "claim missing, Failed stays", from: []corev1.PersistentVolumePhase{corev1.VolumeFailed},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")}, phase: corev1.VolumeFailed, ref: "one",
		},
		{
			name: "claim of another uid", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1")},
			claims: []Object{pvc("one", withUID("u2"))}, phase: corev1.VolumeReleased, ref: "one",
		},
		{
			name: "Delete, CSI", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes}, gone: true,
		},
		{
			name: "Delete, Failed is not for the external deleter", from: []corev1.PersistentVolumePhase{corev1.VolumeFailed},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes}, phase: corev1.VolumeFailed, ref: "one",
		},
		{
			name: "Delete, migrated", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes, at("/mnt"), annotated(volume.AnnMigratedTo, "kubernetes.io/none")},
			phase:  corev1.VolumeReleased, ref: "one",
		},
		{
			name: "Delete, no plugin", from: []corev1.PersistentVolumePhase{corev1.VolumeBound, corev1.VolumeReleased},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes, func(v *corev1.PersistentVolume) {
				v.Spec.CSI, v.Spec.Local = nil, &corev1.LocalVolumeSource{Path: "/mnt/disk"}
			}},
			phase: corev1.VolumeFailed, ref: "one", reason: "VolumeFailedDelete",
			says: `error getting deleter volume plugin for volume "v": no volume plugin matched`,
		},
		{
			name: "Delete, host path below /tmp", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes, at("/tmp/x")}, gone: true,
		},
		{
			name: "Delete, host path elsewhere", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes, at("/data/x")},
			phase:  corev1.VolumeFailed, ref: "one", reason: "VolumeFailedDelete",
			says: "host_path deleter only supports /tmp/.+ but received provided /data/x",
		},
		{
			name: "Delete, unknown in-tree provisioner", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), deletes, provisionedBy("kubernetes.io/gone")},
			phase:  corev1.VolumeFailed, ref: "one", reason: "VolumeFailedDelete", says: "no volume plugin matched name: kubernetes.io/gone",
		},
		{
			name: "Recycle, no plugin", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), recycles},
			phase:  corev1.VolumeFailed, ref: "one", reason: "VolumeFailedRecycle", says: "No recycler plugin found for the volume!",
		},
		{
			name: "Recycle, bound by the controller", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), recycles, at("/mnt"), byController},
			phase:  corev1.VolumeAvailable, reason: "VolumeRecycled", says: "Volume recycled",
		},
		{
			name: "unknown policy", from: []corev1.PersistentVolumePhase{corev1.VolumeBound},
			volume: []func(*corev1.PersistentVolume){tiedTo("one", "u1"), func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = "Burn" }},
			phase:  corev1.VolumeFailed, ref: "one", reason: "VolumeUnknownReclaimPolicy", says: "Volume has unrecognized PersistentVolumeReclaimPolicy",
		},
	}
	for _, tt := range tests {
		for _, from := range tt.from {
			t.Run(tt.name+"/from "+string(from), func(t *testing.T) {
				w := newWorld(t)
				v := pv("v", append(tt.volume, inPhaseOf(from))...)
				w.s = w.s.Load(append(tt.claims, v)...).WithData(Handle(v))
				// The other volume is only named, so that its claim is lost
				// rather than that it changes anything about this one.
				w.settle()
				if tt.gone {
					w.gone(Key{Volumes, "", "v"})
					if w.s.HasData(Handle(v)) {
						t.Error("the data is still there")
					}
					return
				}
				w.volumeIs("v", tt.phase, tt.ref)
				if tt.reason != "" {
					w.told("v", tt.reason, tt.says)
				}
				if recycled := tt.reason == "VolumeRecycled"; w.s.HasData(Handle(v)) == recycled {
					t.Errorf("data exists: %t", !recycled)
				}
			})
		}
	}
}

func recycles(v *corev1.PersistentVolume) {
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRecycle
}

// TestClaimRefTable is what a claimRef leads to, by who is named on both sides.
func TestClaimRefTable(t *testing.T) {
	tests := []struct {
		name    string
		objects []Object
		volume  corev1.PersistentVolumePhase
		ref     string
		claim   corev1.PersistentVolumeClaimPhase
		of      string
		reason  string
		says    string
	}{
		{"T1 open, any claim", []Object{pv("v"), pvc("one", withUID("u1"))}, corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", ""},
		{"T2 open, claim names it", []Object{pv("v"), pvc("one", withUID("u1"), names("v"))}, corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", ""},
		{
			"T2 open, claim names it and does not fit",
			[]Object{pv("v", modes(corev1.ReadOnlyMany)), pvc("one", withUID("u1"), names("v"))},
			corev1.VolumeAvailable, "", corev1.ClaimPending, "v",
			"VolumeMismatch", `Cannot bind to requested volume "v": incompatible accessMode`,
		},
		{
			"T3 open, bound before",
			[]Object{pv("v", modes(corev1.ReadOnlyMany)), pvc("one", boundTo("v", "u1"))},
			corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", "",
		},
		{"T4 reserved, no claim", []Object{pv("v", reservedFor("one"))}, corev1.VolumeAvailable, "one reserved", "", "", "", ""},
		{
			"T4 reserved, another claim",
			[]Object{pv("v", reservedFor("two")), pvc("one", withUID("u1"))},
			corev1.VolumeAvailable, "two reserved", corev1.ClaimPending, "", "", "",
		},
		{
			"T5 reserved, class is not looked at",
			[]Object{pv("v", reservedFor("one")), pvc("one", withUID("u1"), asks("another"))},
			corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", "",
		},
		{
			"T5 reserved, waiting for a consumer is not",
			[]Object{class("wait", volume.NotSupportedProvisioner, delayed), pv("v", reservedFor("one")), pvc("one", withUID("u1"), asks("wait"))},
			corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", "",
		},
		{
			"T5 reserved, access modes are",
			[]Object{pv("v", reservedFor("one")), pvc("one", withUID("u1"), single)},
			corev1.VolumeAvailable, "one reserved", corev1.ClaimPending, "", "", "",
		},
		{
			"T6 both, nothing is looked at",
			[]Object{pv("v", reservedFor("one")), pvc("one", withUID("u1"), names("v"), single, asks("another"), huge)},
			corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", "",
		},
		{
			"T7 reserved, bound before",
			[]Object{pv("v", reservedFor("one")), pvc("one", boundTo("v", "u1"))},
			corev1.VolumeAvailable, "one reserved", corev1.ClaimLost, "v",
			"ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly",
		},
		{
			"T8 reserved, claim is elsewhere",
			[]Object{pv("v", reservedFor("one")), pv("w", tiedTo("one", "u1")), pvc("one", boundTo("w", "u1"))},
			corev1.VolumeAvailable, "one reserved", corev1.ClaimBound, "w", "", "",
		},
		{
			"T9 tied to each other",
			[]Object{pv("v", tiedTo("one", "u1")), pvc("one", withUID("u1"), names("v"))},
			corev1.VolumeBound, "one", corev1.ClaimBound, "v", "", "",
		},
		{
			"T10 tied to an earlier claim",
			[]Object{pv("v", tiedTo("one", "u0")), pvc("one", withUID("u1"), names("v"))},
			corev1.VolumeReleased, "one", corev1.ClaimPending, "v",
			"FailedBinding", `volume "v" already bound to a different claim.`,
		},
		{
			"T11 tied, claim is elsewhere",
			[]Object{
				pv("v", tiedTo("one", "u1"), annotated(volume.AnnBoundByController, "yes")), pv("w", tiedTo("one", "u1")), pvc("one", boundTo("w", "u1")),
			},
			corev1.VolumeAvailable, "", corev1.ClaimBound, "w", "", "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			for _, o := range tt.objects {
				setDefaults(o)
			}
			w.s = w.s.Load(tt.objects...)
			w.settle()
			w.volumeIs("v", tt.volume, tt.ref)
			if tt.claim != "" {
				w.claimIs("one", tt.claim, tt.of)
			}
			if tt.reason != "" {
				w.told("one", tt.reason, tt.says)
			}
		})
	}
}

func huge(c *corev1.PersistentVolumeClaim) {
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Pi")}
}

// TestRequestMessages is each reason for which a volume that a claim names is
// refused, in the controller's words; and the first of several.
func TestRequestMessages(t *testing.T) {
	block := func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) }
	attributes := func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = new("gold") }
	tests := []struct {
		why   string
		claim []func(*corev1.PersistentVolumeClaim)
	}{
		{"requested PV is too small", []func(*corev1.PersistentVolumeClaim){huge, asks("x"), single}},
		{"storageClassName does not match", []func(*corev1.PersistentVolumeClaim){asks("x"), attributes, block}},
		{"volumeAttributesClassName does not match", []func(*corev1.PersistentVolumeClaim){attributes, block, single}},
		{"incompatible volumeMode", []func(*corev1.PersistentVolumeClaim){block, single}},
		{"incompatible accessMode", []func(*corev1.PersistentVolumeClaim){single}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			w := newWorld(t, pv("v"), pvc("one", append(tt.claim, names("v"))...)).settle()
			w.told("one", "VolumeMismatch", `Cannot bind to requested volume "v": `+tt.why)
			w.claimIs("one", corev1.ClaimPending, "v")
		})
	}
	t.Run("deletion", func(t *testing.T) {
		w := newWorld(t, pv("v")).settle()
		w.delete(Key{Volumes, "", "v"}).create(pvc("one", names("v"))).fire("persistentvolume-binder", "tell", "one")
		w.told("one", "VolumeMismatch", `Cannot bind to requested volume "v": the volume is marked for deletion "v"`)
	})
}

// TestClaimPhases is how claims become Bound and Lost, and Bound again.
func TestClaimPhases(t *testing.T) {
	t.Run("four writes", func(t *testing.T) {
		w := newWorld(t, pv("v")).settle().create(pvc("one"))
		w.fire("persistentvolume-binder", "bind to claim", "v")
		w.volumeIs("v", corev1.VolumeAvailable, "one")
		w.claimIs("one", corev1.ClaimPending, "")
		w.fire("persistentvolume-binder", "mark as Bound", "v")
		w.claimIs("one", corev1.ClaimPending, "")
		w.fire("persistentvolume-binder", "bind to volume", "one")
		w.claimIs("one", corev1.ClaimPending, "v")
		if one := w.claim("one"); !metav1.HasAnnotation(one.ObjectMeta, volume.AnnBindCompleted) || !metav1.HasAnnotation(one.ObjectMeta, volume.AnnBoundByController) {
			t.Errorf("annotations are %v", one.Annotations)
		}
		w.fire("persistentvolume-binder", "mark as Bound", "one")
		w.claimIs("one", corev1.ClaimBound, "v")
		one := w.claim("one")
		if size := one.Status.Capacity[corev1.ResourceStorage]; size.String() != "1Gi" || len(one.Status.AccessModes) != 1 {
			t.Errorf("status is %+v", one.Status)
		}
	})
	t.Run("the claim goes half-way", func(t *testing.T) {
		w := newWorld(t, pv("v")).settle().create(pvc("one")).fire("persistentvolume-binder", "bind to claim", "v")
		w.delete(claimKey("one")).settle()
		w.volumeIs("v", corev1.VolumeReleased, "one")
	})
	t.Run("the volume goes", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one")).settle()
		w.delete(Key{Volumes, "", "v"}).settle()
		w.claimIs("one", corev1.ClaimBound, "v")
		w.s = w.s.Remove(Key{Volumes, "", "v"})
		w.settle()
		w.claimIs("one", corev1.ClaimLost, "v")
		w.told("one", "ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!")
		if one := w.claim("one"); one.Status.AccessModes != nil || one.Status.Capacity != nil {
			t.Errorf("status is %+v", one.Status)
		}
		w.create(pv("v")).settle()
		w.claimIs("one", corev1.ClaimBound, "v")
	})
	t.Run("the name goes", func(t *testing.T) {
		w := newWorld(t, pvc("one", completed)).settle()
		w.claimIs("one", corev1.ClaimLost, "")
		w.told("one", "ClaimLost", "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!")
	})
	t.Run("repaired", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one")).settle()
		w.editVolume("v", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = "" }).settle()
		w.claimIs("one", corev1.ClaimLost, "v")
		w.editVolume("v", func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = w.claim("one").UID }).settle()
		w.claimIs("one", corev1.ClaimBound, "v")
	})
	t.Run("capacity is kept once Bound", func(t *testing.T) {
		w := newWorld(t, pv("v"), pvc("one")).settle()
		w.editVolume("v", func(v *corev1.PersistentVolume) {
			v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("5Gi")}
			v.Spec.AccessModes = append(v.Spec.AccessModes, corev1.ReadOnlyMany)
		}).settle()
		if size := w.claim("one").Status.Capacity[corev1.ResourceStorage]; size.String() != "1Gi" {
			t.Errorf("capacity is %s", size.String())
		}
	})
	t.Run("a volume that does not exist", func(t *testing.T) {
		w := newWorld(t, pvc("one", names("v"))).settle()
		w.claimIs("one", corev1.ClaimPending, "v")
		if n := len(w.s.List(Events)); n != 0 {
			t.Errorf("%d events, want silence", n)
		}
	})
	t.Run("the smallest of an earlier group wins over a reservation", func(t *testing.T) {
		w := newWorld(t, pv("open"), pv("reserved", modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany), reservedFor("one"))).settle()
		w.create(pvc("one")).settle()
		w.claimIs("one", corev1.ClaimBound, "open")
		w.volumeIs("reserved", corev1.VolumeAvailable, "one reserved")
	})
}

// TestProvisioning is what becomes of claims that no volume fits.
func TestProvisioning(t *testing.T) {
	t.Run("no class at all", func(t *testing.T) {
		w := newWorld(t, pvc("one", classless)).settle()
		w.told("one", "FailedBinding", "no persistent volumes available for this claim and no storage class is set")
		// A default that comes later is given to it.
		w.create(class("fast", folders, isDefault)).settle()
		if got := w.claim("one").Spec.StorageClassName; got == nil || *got != "fast" {
			t.Errorf("class is %v", got)
		}
		w.volumeIs(w.of("one").Name, corev1.VolumeBound, "one")
	})
	t.Run("the empty class", func(t *testing.T) {
		w := newWorld(t, class("fast", folders, isDefault), pvc("one", asks(""))).settle()
		w.claimIs("one", corev1.ClaimPending, "")
	})
	t.Run("a volume without a class comes before the default class", func(t *testing.T) {
		bare := pvc("one", classless)
		w := newWorld(t, pv("v", func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "" })).settle()
		w.create(bare, class("fast", folders, isDefault)).settle()
		w.claimIs("one", corev1.ClaimBound, "v")
		if got := w.claim("one").Spec.StorageClassName; got != nil {
			t.Errorf("class is %q", *got)
		}
	})
	t.Run("a volume of the default class is taken only once the claim has it", func(t *testing.T) {
		w := newWorld(t, pvc("one", classless), pv("v", func(v *corev1.PersistentVolume) { v.Spec.StorageClassName = "fast" })).settle()
		w.create(class("fast", folders, isDefault)).settle()
		w.claimIs("one", corev1.ClaimBound, "v")
		if got := w.claim("one").Spec.StorageClassName; got == nil || *got != "fast" {
			t.Errorf("class is %v", got)
		}
	})
	t.Run("a claim that lost its node", func(t *testing.T) {
		w := newWorld(t, class("fast", folders, delayed), pvc("one", asks("fast"), func(c *corev1.PersistentVolumeClaim) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnStorageProvisioner, folders)
		})).settle()
		w.claimIs("one", corev1.ClaimPending, "")
		if n := len(w.s.List(Volumes)); n != 0 {
			t.Errorf("%d volumes", n)
		}
	})
	t.Run("an unknown class", func(t *testing.T) {
		w := newWorld(t, pvc("one", asks("lost"))).settle()
		w.told("one", "ProvisioningFailed", `storageclass.storage.k8s.io "lost" not found`)
	})
	t.Run("a provisioner that does not run", func(t *testing.T) {
		w := newWorld(t, class("fast", folders), pvc("one", asks("fast")))
		w.cs = Controllers("another")
		w.settle()
		one := w.claim("one")
		if one.Annotations[volume.AnnStorageProvisioner] != folders || one.Annotations[volume.AnnBetaStorageProvisioner] != folders {
			t.Errorf("annotations are %v", one.Annotations)
		}
		w.told("one", "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner '"+folders+
			"' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.")
	})
	t.Run("a provisioner that fails", func(t *testing.T) {
		w := newWorld(t, class("fast", folders, func(c *storagev1.StorageClass) {
			c.Parameters = map[string]string{ParameterProvisionError: "no space"}
		}), pvc("one", asks("fast"))).settle()
		w.told("one", "ProvisioningFailed", "no space")
		w.claimIs("one", corev1.ClaimPending, "")
	})
	t.Run("a deleter that fails", func(t *testing.T) {
		w := newWorld(t, class("fast", folders, func(c *storagev1.StorageClass) {
			c.Parameters = map[string]string{ParameterDeleteError: "in use"}
		}), pvc("one", asks("fast"))).settle()
		name := w.of("one").Name
		w.delete(claimKey("one")).settle()
		w.volumeIs(name, corev1.VolumeReleased, "one")
		w.told(name, "VolumeFailedDelete", "in use")
	})
	t.Run("the plugin that is built in", func(t *testing.T) {
		w := newWorld(t, class("host", hostPathPlugin), pvc("one", asks("host"))).settle()
		made := w.of("one")
		if !metav1.HasAnnotation(made.ObjectMeta, volume.AnnBoundByController) || made.Annotations[volume.AnnDynamicallyProvisioned] != hostPathPlugin {
			t.Errorf("annotations are %v", made.Annotations)
		}
		if !slices.Contains(made.Finalizers, volume.PVDeletionInTreeProtectionFinalizer) || !strings.HasPrefix(made.Spec.HostPath.Path, hostPathRoot) {
			t.Errorf("made %+v", made)
		}
		w.editVolume(made.Name, func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		}).settle()
		if slices.Contains(w.volume(made.Name).Finalizers, volume.PVDeletionInTreeProtectionFinalizer) {
			t.Error("the finalizer is kept under Retain")
		}
		w.editVolume(made.Name, deletes).settle().delete(claimKey("one")).settle()
		w.gone(Key{Volumes, "", made.Name})
		if w.s.HasData(Handle(made)) {
			t.Error("the data is still there")
		}
	})
	t.Run("waiting for a consumer", func(t *testing.T) {
		w := newWorld(t, class("fast", folders, delayed), pvc("one", asks("fast"))).settle()
		w.told("one", "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
		w.create(podUsing("app", "one")).fire("persistentvolume-binder", "tell", "one")
		w.told("one", "WaitForPodScheduled", "waiting for pod app to be scheduled")
		w.settle()
		if got := w.claim("one").Annotations[volume.AnnSelectedNode]; got != "n1" {
			t.Errorf("selected node is %q", got)
		}
		w.volumeIs(w.of("one").Name, corev1.VolumeBound, "one")
		if !running(w.s.Pod("ns", "app")) {
			t.Error("the pod does not run")
		}
	})
	t.Run("waiting for a consumer, a volume is there", func(t *testing.T) {
		w := newWorld(t, node("n2"), class("manual", volume.NotSupportedProvisioner, delayed), pv("v", onNode("n2")), pvc("one"), podUsing("app", "one")).settle()
		w.claimIs("one", corev1.ClaimBound, "v")
		if got := w.s.Pod("ns", "app").Spec.NodeName; got != "n2" {
			t.Errorf("the pod is on %q", got)
		}
	})
}

func onNode(name string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}}},
		}}}}
	}
}

package migration

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/binding"
)

// recreate plans that the claim which a volume lacks is made, from a backup or
// as it fits the volume.
func (d *draft) recreate() {
	m := member{pv: d.pv}
	key, ok := d.missing()
	if !ok {
		d.notUnderWay(d.pv)
		return
	}
	m.key = key
	d.members = []member{m}
	d.volume(m.pv)
	d.unbound()
	d.counting(key)
	d.deletionUnderWay()
	if !d.target(key) {
		return
	}
	d.namespace(key.Namespace)
	source := member{pv: m.pv, key: key, claim: d.req.Manifest}
	d.class(source)
	if source.claim != nil {
		d.dataSource(source)
	}
	d.sources("the claim, so that it is the one made here,")
	d.enlist(m, d.made(source))
	d.notBusy()
	if m.pv.Spec.ClaimRef == nil {
		d.warn("open-now", fmt.Sprintf("Volume %s is open to any claim that fits, until it is reserved for claim %s", m.pv.Name, key),
			"Go on soon; the operation halts if another claim is there first")
		return
	}
	d.pass("never-open", fmt.Sprintf("No other claim can take volume %s: it is never open, and kept for claim %s", m.pv.Name, key))
}

// missing names the claim to make.
func (d *draft) missing() (actions.ClaimKey, bool) {
	ref := d.pv.Spec.ClaimRef
	switch {
	case d.req.Manifest != nil:
		key := claimKey(d.req.Manifest)
		if ref != nil && refKey(ref) != key {
			d.warn("manifest-other", fmt.Sprintf("The manifest is that of claim %s, and the volume was last held by, or reserved for, claim %s", key, refKey(ref)),
				"Make sure that these are the data which claim "+key.String()+" is to have")
		}
		if name := d.req.Manifest.Spec.VolumeName; name != "" && name != d.pv.Name {
			d.warn("manifest-volume", fmt.Sprintf("The manifest of claim %s names volume %s; the new claim names %s", key, name, d.pv.Name),
				"Make sure that this is the volume with the data")
		}
		if len(d.req.Manifest.OwnerReferences) > 0 {
			d.pass("manifest-owner", "The manifest names owners of the claim, which may be gone by now; the new claim belongs to nobody")
		}
		return key, true
	case ref != nil:
		return refKey(ref), true
	}
	d.block("no-claim-known", "Volume "+d.pv.Name+" names no claim, so which to make is not known", "Give the claim's manifest, or reserve the volume for a claim")
	return actions.ClaimKey{}, false
}

// unbound checks that no claim holds the volume, or is about to.
func (d *draft) unbound() {
	pv := d.pv
	if pv.Status.Phase == corev1.VolumeBound {
		d.block("volume-bound", fmt.Sprintf("Volume %s is Bound, or still counts as it", pv.Name), "If its claim is gone, wait until the controller marks it Released")
		return
	}
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return
	}
	if c := d.s.claim(refKey(ref)); c != nil && c.UID == ref.UID {
		d.block("volume-bound", fmt.Sprintf("Volume %s carries the uid of claim %s, which is there", pv.Name, refKey(ref)), "Wait until both are Bound")
	}
}

// counting looks for claims that were bound to the volume and count on it.
// With a claimRef that has not their uid, the controller calls them Lost
// (pv_controller.go, syncBoundClaim).
func (d *draft) counting(key actions.ClaimKey) {
	for _, c := range d.s.RelatedClaims {
		switch {
		case c.Spec.VolumeName != d.pv.Name || claimKey(c) == key:
		case binding.ClaimState(c).Stored == binding.Lost:
			d.warn("claim-lost", fmt.Sprintf("Claim %s was bound to this volume and is Lost; it stays so", claimKey(c)),
				"If that claim should have the volume, repair it instead")
		default:
			d.block("claim-counts", fmt.Sprintf("Claim %s names this volume and counts on it", claimKey(c)), "Delete that claim first, or let it have the volume")
		}
	}
}

// deletionUnderWay warns of what Retain may come too late for.
func (d *draft) deletionUnderWay() {
	phase := d.pv.Status.Phase
	if d.pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete && (phase == corev1.VolumeReleased || phase == corev1.VolumeFailed) {
		d.warn("deletion-under-way", fmt.Sprintf("The volume is %s under policy Delete: its deletion may already be under way", phase),
			"Setting Retain stops what has not begun; look at the data before you rely on them")
	}
}

// made is the claim to make: the manifest, cleaned, or one that fits the
// volume in every respect.
func (d *draft) made(m member) *corev1.PersistentVolumeClaim {
	if m.claim == nil {
		spec := m.pv.Spec.DeepCopy()
		m.claim = &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: spec.AccessModes,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: spec.Capacity[corev1.ResourceStorage]},
			},
			VolumeMode:                spec.VolumeMode,
			VolumeAttributesClassName: spec.VolumeAttributesClassName,
		}}
	}
	return d.cleanedClaim(m, m.key)
}

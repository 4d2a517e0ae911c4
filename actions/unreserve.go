package actions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube/binding"
)

// unreserve plans that a volume is open to any claim that fits.
func (d *draft) unreserve() {
	d.allowed()
	d.notInOperation()
	d.notTerminating()
	d.notRecycling()
	if d.pv.Spec.ClaimRef == nil {
		d.block("not-reserved", "Volume "+d.pv.Name+" has no claimRef: nothing keeps a claim from it", "")
		return
	}
	d.notBound("to open the volume could give its data to another claim while this one uses them")
	if d.blocked() {
		return
	}
	d.deletionUnderWay()
	sure := d.claimsRead("who would take the volume is not known")
	takers := d.takers()
	confirm := ""
	if !sure || takers > 0 || d.unread("storageclasses") {
		confirm = d.pv.Name
	}
	d.unreserveSteps(confirm)
}

// takers names the claims that would get the volume, and counts them.
func (d *draft) takers() int {
	var now, later []string
	var name, why string
	for _, t := range binding.Takers(d.pv, d.w.volumes(d.pv), d.w.Claims, d.w.Classes) {
		key := claimKey(t.Claim).String()
		if t.Claim.DeletionTimestamp != nil {
			key += " (being deleted)"
		}
		if t.AtOnce() {
			if len(now) == 0 {
				why = t.Reason
				name = claimKey(t.Claim).String()
			}
			now = append(now, key)
		} else {
			later = append(later, key)
		}
	}
	const remedy = "Reserve the volume for the claim that should have it, rather than open it"
	switch {
	case len(now) == 1:
		d.warn("takers", fmt.Sprintf("Claim %s would take the volume at once: it %s", name, why), remedy)
	case len(now) > 1:
		d.warn("takers", fmt.Sprintf("%d claims would take the volume at once, whichever comes first: %s", len(now), nameList(now)), remedy)
	case !d.unread("persistentvolumeclaims"):
		d.pass("no-takers", "No claim would take the volume at once; a new one that fits may, at any time")
	}
	if len(later) > 0 {
		d.warn("possible-takers", fmt.Sprintf("%s might take the volume, once a first pod is placed or another volume is gone: %s",
			counted(len(later), "claim"), nameList(later)), remedy)
	}
	if d.unread("storageclasses") {
		d.warn("classes-unread", "Storage classes could not be read: which claims get the default class, or wait for a pod, is not known", "")
	}
	return len(now) + len(later)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (d *draft) unreserveSteps(confirm string) {
	d.retainFirst()
	ref, after := d.pv.Spec.ClaimRef, opened(d.pv)
	gone := seenRef(ref)
	if ref.UID == "" {
		// If the claim that the volume waits for has taken it before this
		// step, the step has not taken effect.
		gone.AnyUID = true
	}
	d.plan.Steps = append(d.plan.Steps, Step{
		ID:     stepUnreserve,
		Title:  "Remove the claimRef",
		Why:    "Without a claimRef the volume is open to any claim that fits",
		Target: d.target(),
		Patch:  mergePatch(d.pv, after),
		Before: VolumeCondition{
			Phases: d.phases(), Policy: corev1.PersistentVolumeReclaimRetain, ClaimRef: seenRef(ref),
		},
		After: VolumeCondition{
			Phases:      []corev1.PersistentVolumePhase{corev1.VolumeAvailable, corev1.VolumeBound},
			Policy:      corev1.PersistentVolumeReclaimRetain,
			NotClaimRef: gone,
		},
		Then:    "The volume becomes Available, and the first claim that fits takes it with all its data",
		Confirm: confirm,
	})
	d.undoClaimRef(after, VolumeCondition{
		Phases: d.undoPhases(), Policy: corev1.PersistentVolumeReclaimRetain, ClaimRef: &ClaimRefCondition{},
	})
}

package actions

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

// reservedTarget foretells what the claim will do, by the rules of the path
// that it will take once the volume is reserved for it.
func (d *draft) reservedTarget() {
	key := d.req.Claim
	claim := d.w.claim(key)
	if claim == nil {
		if d.claimsRead(fmt.Sprintf("whether claim %s exists and would bind is not known", key)) {
			d.pass("claim-absent", fmt.Sprintf("Claim %s does not exist yet: the volume will wait for it", key))
		}
		d.pass("claim-rules", "When the claim comes, size, access modes, volume mode and attributes class must fit; "+
			"class and selector are not compared, and nothing is if the claim names the volume (volumeName)")
		d.nodesKept()
		return
	}
	if !d.claimUsable(claim) {
		return
	}
	sim := binding.ReservedFor(d.pv, types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
	verdict := binding.Judge(sim, claim, d.w.Classes)
	switch {
	case verdict.Path == binding.ByBoth && len(verdict.Ignored) > 0:
		d.warn("binds-unchecked",
			fmt.Sprintf("Claim %s names this volume, so they bind without any check, although they do not fit: %s", key, binding.Texts(verdict.Ignored)),
			"Stop here unless the claim is meant to have this volume as it is; a claim can only be corrected by re-creating it")
	case verdict.Path == binding.ByBoth:
		d.pass("binds", fmt.Sprintf("Claim %s names this volume and fits: they bind at once", key))
	case !verdict.Binds:
		d.warn("will-not-bind",
			fmt.Sprintf("Claim %s will not take this volume: %s", key, binding.Texts(verdict.Blocking)),
			"Re-create the claim so that it fits; until then it looks elsewhere, and may be given a new, empty volume")
	case len(verdict.Ignored) > 0:
		d.warn("binds-despite",
			fmt.Sprintf("Claim %s will bind in spite of a difference that is not compared for a reserved volume: %s", key, binding.Texts(verdict.Ignored)),
			"Go on if that is meant")
	default:
		d.pass("binds", fmt.Sprintf("Claim %s exists and fits", key))
	}
	if verdict.Path == binding.ByClaimRef && verdict.Binds {
		d.otherFirst(claim, sim)
		d.provisionerAsked(claim)
	}
	d.nodes(claim, verdict.Binds)
}

// claimUsable checks that the claim can still take a volume at all.
func (d *draft) claimUsable(claim *corev1.PersistentVolumeClaim) bool {
	key, named := claimKey(claim), claim.Spec.VolumeName
	switch {
	case claim.DeletionTimestamp != nil:
		d.block("claim-terminating", fmt.Sprintf("Claim %s is being deleted", key),
			"Wait until it is gone, then reserve for the claim that takes its place")
	case named != "" && named != d.pv.Name && binding.BindCompleted(claim) && !isLost(claim):
		d.block("claim-bound", fmt.Sprintf("Claim %s is bound to volume %s, so it will not take another", key, named),
			"Reserve for another claim, or delete this one first")
	case isLost(claim) || binding.BindCompleted(claim):
		// One that names this volume is told apart, with its own remedy.
		if named != d.pv.Name {
			d.block("claim-lost", fmt.Sprintf("Claim %s is Lost: it was bound before, and never takes another volume", key),
				"Delete the claim and make it anew, then reserve for it")
		} else if !binding.BindCompleted(claim) {
			d.block("claim-lost", fmt.Sprintf("Claim %s is Lost", key),
				"Delete the claim and make it anew, then reserve for it")
		}
	case named != "" && named != d.pv.Name:
		d.block("claim-names-other", fmt.Sprintf("Claim %s asks for volume %s by name, so it will not take this one", key, named),
			"Re-create the claim without volumeName, or with the name of this volume")
	default:
		return true
	}
	return false
}

// otherFirst: volumes with fewer access modes are looked at before this one,
// reserved or not (index.go, findByClaim).
func (d *draft) otherFirst(claim *corev1.PersistentVolumeClaim, sim *corev1.PersistentVolume) {
	found := binding.Choices(claim, d.w.volumes(sim), d.w.Classes)
	mine := slices.Contains(found, sim)
	for _, v := range found {
		// A second reservation is warned of on its own.
		if v == sim || mine && v.Spec.ClaimRef != nil {
			continue
		}
		verb := "takes"
		if mine || len(found) > 1 {
			verb = "may take"
		}
		d.warn("other-volume-first",
			fmt.Sprintf("Claim %s %s volume %s rather than this one: volumes with fewer access modes are looked at first, also before a reserved one",
				claimKey(claim), verb, v.Name),
			"Re-create the claim with volumeName "+d.pv.Name+" to be certain")
	}
}

// provisionerAsked: somebody is making a new volume for the claim, and may be
// done first.
func (d *draft) provisionerAsked(claim *corev1.PersistentVolumeClaim) {
	provisioner := claim.Annotations[volume.AnnStorageProvisioner]
	if provisioner == "" {
		provisioner = claim.Annotations[volume.AnnBetaStorageProvisioner]
	}
	if provisioner != "" {
		d.warn("provisioner-asked",
			fmt.Sprintf("%s has been asked for a new volume for claim %s, and may be faster", provisioner, claimKey(claim)),
			"See afterwards which volume the claim got; this one is kept under Retain either way")
	}
}

// nodes: a reserved volume is bound before a pod is placed, also where the
// class would have waited for one (component-helpers, FindMatchingVolume).
func (d *draft) nodes(claim *corev1.PersistentVolumeClaim, binds bool) {
	if !binds || !hasNodeAffinity(d.pv) || !binding.Delays(claim, d.w.Classes) {
		d.nodesKept()
		return
	}
	d.warn("binds-before-pod",
		fmt.Sprintf("Claim %s binds at once, before its pod is placed, and the volume can be used on certain nodes only", claimKey(claim)),
		"Make sure that its pods may run on a node that the volume's node affinity allows")
}

func (d *draft) nodesKept() {
	if hasNodeAffinity(d.pv) {
		d.pass("node-affinity", "The volume can be used only on nodes that its node affinity allows; this does not keep a claim from binding")
	}
}

func hasNodeAffinity(pv *corev1.PersistentVolume) bool {
	return pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil
}

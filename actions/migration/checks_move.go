package migration

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/claimref/claimref/actions"
)

// move plans that the volume gets a claim of another name or namespace.
func (d *draft) move() {
	m, ok := d.pair(d.pv)
	if !ok {
		d.notUnderWay(d.pv)
		return
	}
	d.members = []member{m}
	d.volume(m.pv)
	d.boundBothWays(m)
	d.claim(m)
	d.owners(m, d.req.To)
	d.class(m)
	d.completed(m.key)
	d.free(m)
	d.namespace(m.key.Namespace)
	d.attachments()
	d.sources("the claim's name and namespace")
	if d.req.To == m.key {
		d.block("move-same", fmt.Sprintf("Volume %s belongs to claim %s already", m.pv.Name, m.key), "Choose another name or namespace")
		return
	}
	if !d.target(d.req.To) {
		return
	}
	if d.req.To.Namespace != m.key.Namespace {
		d.namespace(d.req.To.Namespace)
		d.secrets(m.pv)
	}
	d.enlist(m, d.cleanedClaim(m, d.req.To))
	d.notBusy()
	d.pass("never-open", fmt.Sprintf("No other claim can take volume %s: it is never open, and kept for claim %s from the moment that the old one is gone", m.pv.Name, d.req.To))
}

// target checks the claim to come: its name, and that it is free.
func (d *draft) target(key actions.ClaimKey) bool {
	if msgs := validation.ValidateNamespaceName(key.Namespace, false); len(msgs) > 0 {
		d.block("claim-name", fmt.Sprintf("%q cannot be a namespace: %s", key.Namespace, msgs[0]), "Correct the namespace")
		return false
	}
	// Claims are named by the rule for volumes (pkg/apis/core/validation,
	// ValidatePersistentVolumeName).
	if msgs := validation.NameIsDNSSubdomain(key.Name, false); len(msgs) > 0 {
		d.block("claim-name", fmt.Sprintf("%q cannot be the name of a claim: %s", key.Name, msgs[0]), "Correct the name")
		return false
	}
	there, looked := d.s.Claims[key]
	switch {
	case !looked || there == nil && d.unread("persistentvolumeclaims"):
		d.block("target-unread", fmt.Sprintf("Whether there is a claim %s could not be read", key), "Try again as somebody who may read claims there")
		return false
	case there != nil && there.DeletionTimestamp != nil:
		d.block("target-exists", fmt.Sprintf("There is a claim %s, which is being deleted", key), "Wait until it is gone")
		return false
	case there != nil:
		d.block("target-exists", fmt.Sprintf("There is a claim %s already", key), "Choose another name, or delete that claim first")
		return false
	}
	d.setOfTarget(key)
	return true
}

// setOfTarget looks whether a StatefulSet would make the claim to come by
// itself.
func (d *draft) setOfTarget(key actions.ClaimKey) {
	set, template := setOf(d.s, key)
	if set == nil {
		return
	}
	text := fmt.Sprintf("Claim %s is one that StatefulSet %s/%s makes by itself", key, set.Namespace, set.Name)
	if ordinal, _ := Ordinal(set.Name, template, key.Name); wanted(set, ordinal) {
		d.warn("target-set", text+": it may be there first, with an empty volume", "Scale the set down below that ordinal first; afterwards its pod gets this volume")
		return
	}
	d.pass("target-set", text+" once it is scaled up that far; its pod then gets this volume")
}

// free checks that nothing uses the claim that is to go.
func (d *draft) free(m member) {
	if pods := d.running(m.key); len(pods) > 0 {
		d.block("claim-in-use", fmt.Sprintf("Pods use claim %s, which can't go before they do: %s", m.key, podList(pods)),
			"Stop them first: scale their workload to 0, or delete them")
	}
	for _, u := range d.usersOf(m.key) {
		set, _ := u.object.(*appsv1.StatefulSet)
		switch {
		case u.ref.Kind == PodKind || u.object == nil:
			// It is running, and told as such.
		case set != nil && templateOf(set, m.key) != "":
			d.madeBySet(set, m.key)
		default:
			d.warn("template-names", fmt.Sprintf("The pods of %s name claim %s, and won't find it", refText(u.ref), m.key), d.renameRemedy(m.key))
		}
	}
}

// madeBySet checks that a StatefulSet won't make the claim anew at once.
func (d *draft) madeBySet(set *appsv1.StatefulSet, key actions.ClaimKey) {
	ordinal, _ := Ordinal(set.Name, templateOf(set, key), key.Name)
	name := refText(refOf(set, StatefulSetKind))
	if wanted(set, ordinal) {
		d.block("claim-of-set", fmt.Sprintf("%s makes claim %s by itself: as soon as that is gone, it would make another, with an empty volume", name, key),
			fmt.Sprintf("Scale the set down below ordinal %d first", ordinal))
		return
	}
	d.warn("claim-of-set-idle", fmt.Sprintf("%s makes another claim %s, with an empty volume, when it is scaled up to ordinal %d again", name, key, ordinal),
		"Go on if that pod is no longer to have these data")
}

// renameRemedy says what to do about a template that names the old claim. Pods
// use claims of their own namespace only.
func (d *draft) renameRemedy(from actions.ClaimKey) string {
	if d.req.To.Namespace != from.Namespace {
		return "Move the workload to namespace " + d.req.To.Namespace + ", too: pods use claims of their own namespace only"
	}
	return "Change the claim's name in its template to " + d.req.To.Name + " before you start it again"
}

// secrets warns of references that stay as they are.
func (d *draft) secrets(pv *corev1.PersistentVolume) {
	csi := pv.Spec.CSI
	if csi == nil {
		return
	}
	for _, ref := range []*corev1.SecretReference{
		csi.ControllerPublishSecretRef, csi.NodeStageSecretRef, csi.NodePublishSecretRef, csi.ControllerExpandSecretRef, csi.NodeExpandSecretRef,
	} {
		if ref != nil {
			d.warn("secrets", fmt.Sprintf("Volume %s needs Secret %s/%s wherever its claim is, and that can't be changed", pv.Name, ref.Namespace, ref.Name),
				"Keep that Secret, and its namespace, as long as the volume")
			return
		}
	}
}

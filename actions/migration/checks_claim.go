package migration

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube/binding"
)

// pair is a volume with the claim that it names. It blocks, and is false, when
// there is none.
func (d *draft) pair(pv *corev1.PersistentVolume) (member, bool) {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		d.block("claim-none", "Volume "+pv.Name+" belongs to no claim, so that there is none to replace",
			"Bind it to a claim first")
		return member{}, false
	}
	key := refKey(ref)
	claim, looked := d.s.Claims[key]
	switch {
	case !looked || claim == nil && d.unread("persistentvolumeclaims"):
		d.block("claim-unread", fmt.Sprintf("Claim %s could not be read", key), "Try again as somebody who may read claims")
	case claim == nil:
		d.block("claim-gone", fmt.Sprintf("Claim %s, to which volume %s belongs, is gone", key, pv.Name),
			"Re-create the claim first: the volume can be kept for it, with its data")
	default:
		return member{pv: pv, key: key, claim: claim}, true
	}
	return member{}, false
}

// boundBothWays checks that volume and claim name each other, by uid, and that
// the controller says so on both.
func (d *draft) boundBothWays(m member) {
	ref := m.pv.Spec.ClaimRef
	switch {
	case ref == nil || refKey(ref) != m.key || ref.UID != m.claim.UID:
		d.block("claim-misbound", fmt.Sprintf("Claim %s names volume %s, but the volume does not carry the claim's uid", m.key, m.pv.Name),
			"Find out whose data these are, and repair the binding first")
	case m.claim.Spec.VolumeName != m.pv.Name:
		d.block("claim-misbound", fmt.Sprintf("Volume %s carries the uid of claim %s, but the claim does not name the volume", m.pv.Name, m.key),
			"Wait until the controller has looked at both, then try again")
	case m.pv.Status.Phase != corev1.VolumeBound:
		d.block("not-bound", fmt.Sprintf("Volume %s is %s, not Bound", m.pv.Name, binding.VolumeState(m.pv).Stored),
			"Wait until volume and claim are Bound to each other, then try again")
	case m.claim.Status.Phase != corev1.ClaimBound:
		d.block("not-bound", fmt.Sprintf("Claim %s is %s, not Bound", m.key, binding.ClaimState(m.claim).Stored),
			"Wait until volume and claim are Bound to each other, then try again")
	default:
		d.pass("bound", fmt.Sprintf("Volume %s and claim %s are Bound to each other", m.pv.Name, m.key))
	}
}

// singleModes checks that both have ReadWriteOnce and nothing else: it is the
// only way to ReadWriteOncePod that Kubernetes supports.
func (d *draft) singleModes(m member) {
	volume, claim := m.pv.Spec.AccessModes, m.claim.Spec.AccessModes
	switch {
	case only(claim, toMode) && only(volume, toMode):
		d.block("already", fmt.Sprintf("Claim %s and volume %s are ReadWriteOncePod already", m.key, m.pv.Name), "There is nothing left to do")
	case only(claim, toMode):
		d.block("modes-mixed", fmt.Sprintf("Claim %s is ReadWriteOncePod already, but volume %s is %s", m.key, m.pv.Name, modesText(volume)),
			"Set the volume's access modes to [ReadWriteOncePod]; the claim can stay")
	case only(claim, fromMode) && only(volume, fromMode):
		d.pass("modes", fmt.Sprintf("Claim %s and volume %s are ReadWriteOnce", m.key, m.pv.Name))
	case only(claim, fromMode) && only(volume, toMode):
		d.pass("modes-half", fmt.Sprintf("Volume %s is ReadWriteOncePod already, and claim %s asks for ReadWriteOnce: only the claim is left to be replaced", m.pv.Name, m.key))
	default:
		d.block("modes-unsupported",
			fmt.Sprintf("Claim %s asks for %s and volume %s offers %s; only from ReadWriteOnce, and nothing else, is there a way to ReadWriteOncePod",
				m.key, modesText(claim), m.pv.Name, modesText(volume)),
			"Keep these access modes, or copy the data to a new volume")
	}
}

func only(modes []corev1.PersistentVolumeAccessMode, mode corev1.PersistentVolumeAccessMode) bool {
	return len(modes) == 1 && modes[0] == mode
}

func modesText(modes []corev1.PersistentVolumeAccessMode) string {
	if len(modes) == 0 {
		return "no access mode"
	}
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, " and ")
}

// claim checks that nothing is going on with a claim, and what would be lost
// with it.
func (d *draft) claim(m member) {
	if m.claim.DeletionTimestamp != nil {
		d.block("claim-terminating",
			fmt.Sprintf("Claim %s is being deleted, which can't be taken back", m.key),
			"Set Retain on volume "+m.pv.Name+" now; when the claim is gone, re-create it")
	}
	d.finalizers(m)
	d.resizing(m)
	d.modifying(m)
	d.dataSource(m)
	if m.claim.Spec.Selector != nil {
		d.pass("selector", fmt.Sprintf("Claim %s has a selector, and keeps it; volume and claim name each other, so that it is not looked at", m.key))
	}
}

// dataSource says that the new claim has none: the data are there, and nothing
// must fill the volume again.
func (d *draft) dataSource(m member) {
	if m.claim.Spec.DataSource != nil || m.claim.Spec.DataSourceRef != nil {
		d.warn("data-source",
			fmt.Sprintf("Claim %s says what its volume was filled from (dataSource); the new claim does not, as the data are there", m.key),
			"Keep the old manifest if you need to know it later")
	}
}

// finalizers looks at who holds the claim from being deleted.
func (d *draft) finalizers(m member) {
	for _, name := range foreign(m.claim.Finalizers, claimFinalizer) {
		if name == "snapshot.storage.kubernetes.io/pvc-as-source-protection" || strings.Contains(name, "cloning-protection") {
			d.block("claim-source", fmt.Sprintf("Claim %s is being copied: a snapshot or clone of it is under way (finalizer %s)", m.key, name),
				"Wait until that is done")
			continue
		}
		d.warn("claim-finalizer",
			fmt.Sprintf("Claim %s has the finalizer %s: its deletion waits until whatever set it has removed it", m.key, name),
			"Find out what it is for; the operation waits there, and so do the pods")
	}
}

func claimFinalizer(name string) bool { return name == "kubernetes.io/pvc-protection" }

// resizing checks that the size of the volume is settled. The new claim would
// know nothing of a change that is under way.
func (d *draft) resizing(m member) {
	status := m.claim.Status
	const remedy = "Wait until the change of size is finished, or has been given up"
	for _, c := range status.Conditions {
		switch c.Type {
		case corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending,
			corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError:
			if c.Status == corev1.ConditionTrue {
				d.block("resizing", fmt.Sprintf("The size of claim %s is being changed (%s)", m.key, c.Type), remedy)
				return
			}
		default:
			// The others are not about the size.
		}
	}
	if state := status.AllocatedResourceStatuses[corev1.ResourceStorage]; state != "" {
		d.block("resizing", fmt.Sprintf("The size of claim %s is being changed (%s)", m.key, state), remedy)
		return
	}
	have, seen := status.Capacity[corev1.ResourceStorage]
	asked := m.claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if seen && have.Cmp(asked) < 0 {
		d.block("resizing", fmt.Sprintf("Claim %s asks for %s and has %s: its size is being changed, or could not be", m.key, asked.String(), have.String()), remedy)
	}
}

// modifying checks that the volume's attributes are settled, and those that
// the claim asks for.
func (d *draft) modifying(m member) {
	spec, status := m.claim.Spec, m.claim.Status
	const remedy = "Wait until the change is finished, or take it back"
	for _, c := range status.Conditions {
		if (c.Type == corev1.PersistentVolumeClaimVolumeModifyingVolume || c.Type == corev1.PersistentVolumeClaimVolumeModifyVolumeError) &&
			c.Status == corev1.ConditionTrue {
			d.block("modifying", fmt.Sprintf("The attributes of the volume of claim %s are being changed (%s)", m.key, c.Type), remedy)
			return
		}
	}
	if status.ModifyVolumeStatus != nil {
		d.block("modifying", fmt.Sprintf("The attributes of the volume of claim %s are being changed (%s)", m.key, status.ModifyVolumeStatus.Status), remedy)
		return
	}
	asked, have := value(spec.VolumeAttributesClassName, ""), value(m.pv.Spec.VolumeAttributesClassName, "")
	current := value(status.CurrentVolumeAttributesClassName, "")
	if asked != have || asked != current {
		d.block("modifying",
			fmt.Sprintf("Claim %s asks for the volume attributes class %q, its status says %q, and volume %s has %q", m.key, asked, current, m.pv.Name, have), remedy)
	}
}

// class says what class the new claim names. It is always named, "" included,
// as the default one would be filled in otherwise.
func (d *draft) class(m member) {
	class := effectiveClass(m)
	if m.claim != nil {
		written, set, beta := binding.ClaimClass(m.claim)
		switch {
		case beta:
			d.pass("class-beta", fmt.Sprintf("Claim %s names its class %q by the old annotation; the new one names it in storageClassName", m.key, written))
		case !set:
			d.pass("class-explicit", fmt.Sprintf("Claim %s names no class; the new one names that of the volume, %q, so that no default is filled in", m.key, class))
		}
	}
	if class == "" || d.unread("storageclasses") {
		return
	}
	for _, c := range d.s.Classes {
		if c.Name == class {
			return
		}
	}
	d.warn("class-gone", fmt.Sprintf("Class %s of volume %s no longer exists; volume and claim need none to be bound, but the volume can't be enlarged", class, m.pv.Name),
		"Go on if that is known")
}

// fits compares each volume, as it will be, with the claim to come. The
// controller does not: it binds what name each other without a look
// (pv_controller.go, syncUnboundClaim).
func (d *draft) fits() {
	for i, v := range d.journal.Volumes {
		pv := d.members[i].pv.DeepCopy()
		if d.req.Verb == SinglePod {
			pv.Spec.AccessModes = v.To.Spec.AccessModes
		}
		key := claimKey(v.To)
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: key.Namespace, Name: key.Name}
		pv.Status.Phase = corev1.VolumeAvailable
		verdict := binding.Judge(pv, v.To, d.s.Classes)
		for _, mismatch := range slices.Concat(verdict.Blocking, verdict.Ignored) {
			text := fmt.Sprintf("Claim %s does not fit volume %s: %s", key, pv.Name, mismatch.Text)
			switch mismatch.Kind {
			case binding.Deletion, binding.Selector, binding.SelectorInvalid:
				// Told where the volume and the claim are looked at.
			case binding.Class:
				d.warn("class-differs", text, "They are bound all the same; make sure that the class is the one you want")
			default:
				d.block("misfit", text, "Correct the claim, or the volume, first")
			}
		}
	}
}

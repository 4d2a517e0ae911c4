package migration

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/claimref/claimref/actions"
)

// chosen are the volumes whose claims are migrated: the user's one alone or,
// for a StatefulSet's, those of all its claims or of the ordinals asked for.
// They are in the order of the ordinals, so that the lead is the same
// whichever of them the user began with: two who begin at once collide there.
func (d *draft) chosen(first member) []member {
	if d.set == nil {
		if len(d.req.Ordinals) > 0 {
			d.block("ordinals", fmt.Sprintf("Claim %s is no StatefulSet's, and has no ordinals to choose from", first.key), "Leave the ordinals out")
		}
		return []member{first}
	}
	asked := existing(d.s, d.set, d.template)
	if d.req.Ordinals != nil {
		asked = slices.Compact(slices.Sorted(slices.Values(d.req.Ordinals)))
		own, _ := Ordinal(d.set.Name, d.template, first.key.Name)
		if !slices.Contains(asked, own) {
			d.block("ordinals", fmt.Sprintf("Volume %s is that of ordinal %d, which is not among those asked for", first.pv.Name, own),
				"Choose that ordinal too, or begin with another volume")
		}
	}
	var members []member
	for _, ordinal := range asked {
		if m, ok := d.sibling(first, ordinal); ok {
			members = append(members, m)
		}
	}
	return members
}

// sibling is the volume of another ordinal; false if there is nothing to do
// for it, or nothing that could be done.
func (d *draft) sibling(first member, ordinal int) (member, bool) {
	key := ordinalKey(d.set, d.template, ordinal)
	claim := d.s.claim(key)
	switch {
	case key == first.key:
		return first, true
	case claim == nil:
		d.block("ordinals", fmt.Sprintf("Claim %s, of ordinal %d, does not exist", key, ordinal), "Leave that ordinal out")
		return member{}, false
	case claim.Spec.VolumeName == "":
		d.block("sibling-unbound", fmt.Sprintf("Claim %s of the same StatefulSet has no volume yet", key),
			"Wait until it is Bound, delete it, or leave its ordinal out")
		return member{}, false
	}
	pv := d.s.Volumes[claim.Spec.VolumeName]
	switch {
	case pv == nil:
		d.block("sibling-lost", fmt.Sprintf("Volume %s of claim %s is not there, or could not be read", claim.Spec.VolumeName, key),
			"Leave its ordinal out, or look what became of the volume")
		return member{}, false
	case only(claim.Spec.AccessModes, toMode) && only(pv.Spec.AccessModes, toMode):
		d.pass("sibling-done", fmt.Sprintf("Claim %s of the same StatefulSet is ReadWriteOncePod already", key))
		return member{}, false
	}
	return member{pv: pv, key: key, claim: claim}, true
}

// statefulSet checks the set that makes the claims, and plans how it is
// stopped and, unless its template is to stay, made anew.
func (d *draft) statefulSet(w *Workload) {
	set := d.set
	d.retention(set, w)
	d.left()
	if value(set.Spec.Replicas, 1) > 1 && (set.Spec.PodManagementPolicy == appsv1.OrderedReadyPodManagement || set.Spec.PodManagementPolicy == "") {
		d.pass("ordered", fmt.Sprintf("%s stops and starts its %d pods one after the other", refText(w.Ref), value(set.Spec.Replicas, 1)))
	}
	if d.req.KeepTemplates {
		d.warn("templates-kept", fmt.Sprintf("The volumeClaimTemplate %s of %s stays as it is: claims that it makes later are not ReadWriteOncePod", d.template, refText(w.Ref)),
			"Change the template too, unless the set will never have more pods")
		return
	}
	if d.templateDone() {
		d.pass("template-done", fmt.Sprintf("The volumeClaimTemplate %s of %s is ReadWriteOncePod already", d.template, refText(w.Ref)))
		return
	}
	d.rollout(w.Ref)
	d.overlap(w.Ref)
	if msgs := validation.NameIsDNSLabel(set.Name, false); len(msgs) > 0 {
		d.block("set-name", fmt.Sprintf("%s could not be made again under its name: %s", refText(w.Ref), msgs[0]),
			"Keep its templates as they are, or make it anew under another name yourself")
	}
	if held := foreign(set.Finalizers, func(string) bool { return false }); len(held) > 0 {
		d.warn("set-finalizer", fmt.Sprintf("%s has finalizers: %s; its deletion waits until whatever set them has removed them, and the new one has none", refText(w.Ref), list(held)),
			"Find out what they are for before you go on")
	}
	d.setOwners(w.Ref)
	w.From = d.cleanedSet(set)
	w.To = migratedSet(w.From, d.template)
	d.pass("set-recreated", refText(w.Ref)+" is deleted without its pods and claims, and made anew with a volumeClaimTemplate of ReadWriteOncePod")
}

// setOwners says what becomes of the set's owners. An operator is told of
// where the workloads are looked at.
func (d *draft) setOwners(ref actions.Ref) {
	for _, owner := range d.set.OwnerReferences {
		if d.ownerGone(owner) {
			d.pass("set-owner-dropped", fmt.Sprintf("%s belongs to %s %s, which is gone; the new one does not", refText(ref), owner.Kind, owner.Name))
		}
	}
}

// retention plans that a set's claims are kept while it is scaled to 0. Under
// whenScaled: Delete they would be deleted with its pods.
func (d *draft) retention(set *appsv1.StatefulSet, w *Workload) {
	policy := set.Spec.PersistentVolumeClaimRetentionPolicy
	if policy == nil || policy.WhenScaled != appsv1.DeletePersistentVolumeClaimRetentionPolicyType &&
		policy.WhenDeleted != appsv1.DeletePersistentVolumeClaimRetentionPolicyType {
		return
	}
	w.Retention = policy.DeepCopy()
	d.pass("retention", refText(w.Ref)+" deletes its claims by itself (persistentVolumeClaimRetentionPolicy); that is set to Retain first, and brought back at the end")
}

// left says which claims of the set keep the old mode.
func (d *draft) left() {
	var left []string
	for _, ordinal := range existing(d.s, d.set, d.template) {
		key := ordinalKey(d.set, d.template, ordinal)
		if slices.ContainsFunc(d.members, func(m member) bool { return m.key == key }) || only(d.s.claim(key).Spec.AccessModes, toMode) {
			continue
		}
		left = append(left, key.Name)
	}
	if len(left) > 0 {
		d.warn("ordinals-left", "Claims of the same StatefulSet keep their access modes, whatever its template says: "+list(left),
			"Migrate them later, or now with the others: all pods of the set are stopped either way")
	}
}

func (d *draft) templateDone() bool {
	for i := range d.set.Spec.VolumeClaimTemplates {
		if t := &d.set.Spec.VolumeClaimTemplates[i]; t.Name == d.template {
			return only(t.Spec.AccessModes, toMode)
		}
	}
	return false
}

// rollout checks that all pods are of one revision. The new set knows no other
// than the latest, so that one half done, or held back by a partition, would
// be completed (stateful_set_control.go, updateStatefulSet).
func (d *draft) rollout(ref actions.Ref) {
	status := d.set.Status
	const remedy = "Finish the rollout, or take it back; or keep the templates as they are"
	switch {
	case status.ObservedGeneration < d.set.Generation:
		d.block("rollout", "The controller has not yet looked at the latest change of "+refText(ref), remedy)
	case status.CurrentRevision != status.UpdateRevision:
		text := fmt.Sprintf("A rollout of %s is half done, and would be completed when the set is made anew", refText(ref))
		if partition := partitionOf(d.set); partition > 0 {
			text = fmt.Sprintf("A rollout of %s is held at partition %d, and would be completed when the set is made anew", refText(ref), partition)
		}
		d.block("rollout", text, remedy)
	}
}

func partitionOf(set *appsv1.StatefulSet) int32 {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil {
		return value(rolling.Partition, 0)
	}
	return 0
}

// overlap checks that no other controller takes the set's pods for its own. It
// might adopt them while the set is away.
func (d *draft) overlap(ref actions.Ref) {
	pods := labels.Set(d.set.Spec.Template.Labels)
	var others []string
	look := func(o metav1.Object, kind actions.Kind, s *metav1.LabelSelector) {
		if o.GetNamespace() != d.set.Namespace || o.GetUID() == d.set.UID {
			return
		}
		selector, err := metav1.LabelSelectorAsSelector(s)
		if err == nil && selector.Matches(pods) {
			others = append(others, refText(refOf(o, kind)))
		}
	}
	for _, o := range d.s.StatefulSets {
		look(o, StatefulSetKind, o.Spec.Selector)
	}
	for _, o := range d.s.Deployments {
		look(o, DeploymentKind, o.Spec.Selector)
	}
	for _, o := range d.s.ReplicaSets {
		look(o, ReplicaSetKind, o.Spec.Selector)
	}
	for _, o := range d.s.DaemonSets {
		look(o, daemonSetKind, o.Spec.Selector)
	}
	if len(others) > 0 {
		d.block("selector-overlap", fmt.Sprintf("The pods of %s match the selector of %s, too, which may take them while the set is made anew", refText(ref), list(others)),
			"Correct the selectors first, or keep the templates as they are")
	}
}

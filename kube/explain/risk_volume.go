package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

const setRetain = "Set the reclaim policy to Retain"

// volume finds the risks of a volume. It looks at its record, the classes,
// the nodes and the namespaces, and at nothing else: see Tracker.
func (e *surroundings) volume(v *kube.Volume) *verdicts {
	f := &finding{object: volumeRef(v.Object)}
	if ref := v.Object.Spec.ClaimRef; ref != nil {
		f.namespace = ref.Namespace
	}
	e.volumePolicy(f, v)
	e.volumeTie(f, v)
	pv := v.Object
	if v.Class != "" && e.classesKnown && e.snap.Class(v.Class) == nil {
		f.add(RiskClassGone, Low, "Its class "+clean(v.Class)+" does not exist any more: the volume can't grow, and only claims of that class fit it",
			"Make the class again if its volumes are still in use")
	}
	if hasMode(pv.Spec.AccessModes, corev1.ReadWriteOncePod) && pv.Spec.CSI == nil {
		// concepts/storage/persistent-volumes of Kubernetes' documentation.
		f.add(RiskSinglePodDriver, Low, "ReadWriteOncePod, which Kubernetes supports for CSI volumes only, and it is no CSI volume: whether a second pod is refused is not certain",
			"Have the workload itself run no more than one pod at a time")
	}
	if e.home.nowhere(pv) {
		severity, text := Low, "No node fits its node affinity ("+affinityText(pv)+"): no pod can use it now"
		if pv.Spec.Local != nil || pv.Spec.HostPath != nil {
			severity, text = High, "Its data are on a node that is gone, or has lost its label ("+affinityText(pv)+"): no pod can use it"
		}
		f.add(RiskNodeGone, severity, text, "Bring the node back, or its label; else restore the data on another volume: the node affinity can't be changed")
	}
	for _, name := range pv.Finalizers {
		if !finalizer(name, pv.Spec.PersistentVolumeReclaimPolicy, false).foreign {
			continue
		}
		if pv.DeletionTimestamp != nil {
			f.add(RiskForeignFinalizer, High, "Its deletion waits for finalizer "+name+", which nothing of Kubernetes removes",
				"Find out who put it there, and whether that still runs").Since = pv.DeletionTimestamp.Time
		} else {
			f.add(RiskForeignFinalizer, Info, "It carries finalizer "+name+", which nothing of Kubernetes removes: a deletion would wait for whoever put it there", "")
		}
		break
	}
	if actions.InOperation(pv) {
		// It is the operation that goes on.
		for _, r := range f.risks {
			if r.Cure != actions.SetPolicy {
				r.Cure = ""
			}
		}
	}
	return f.sorted()
}

func (e *surroundings) volumePolicy(f *finding, v *kube.Volume) {
	pv := v.Object
	policy := pv.Spec.PersistentVolumeReclaimPolicy
	released := v.State.Stored == kube.Released
	failed := v.State.Stored == kube.Failed
	since := timeOf(pv.Status.LastPhaseTransitionTime)
	switch {
	case policy == corev1.PersistentVolumeReclaimRecycle && (released || failed):
		f.add(RiskRecycle, Critical, "Released under policy Recycle: its files may be being erased right now", setRetain+", then look at what is left").Cure = actions.SetPolicy
	case policy == corev1.PersistentVolumeReclaimRecycle:
		f.add(RiskRecycle, High, "Policy Recycle, which is deprecated: its files are erased when its claim goes", setRetain).Cure = actions.SetPolicy
	case policy == corev1.PersistentVolumeReclaimDelete && released:
		r := f.add(RiskReleasedDelete, Critical, "Released under policy Delete: the volume and its data may be removed at any moment", setRetain+" now if the data are wanted")
		r.Cure, r.Since = actions.SetPolicy, since
	case policy == corev1.PersistentVolumeReclaimDelete && failed:
		r := f.add(RiskReleasedDelete, Critical, "Failed under policy Delete: its deletion was tried, and is tried again", setRetain+" now if the data are wanted")
		r.Cure, r.Since = actions.SetPolicy, since
	case failed:
		f.add(RiskFailed, Low, "Failed: "+message(pv.Status.Message, "the controller gave no message"), "Reserve it for a claim, which also takes it out of Failed").Since = since
	}
	if policy != corev1.PersistentVolumeReclaimDelete {
		return
	}
	if v.State.Stored == kube.Bound {
		for _, u := range v.Users {
			if u.Kind == "StatefulSet" {
				f.add(RiskDeleteStatefulSet, High, fmt.Sprintf("Policy Delete, and StatefulSet %s/%s keeps data on it: they go when claim %s is deleted", u.Namespace, u.Name, claimOf(pv)),
					setRetain).Cure = actions.SetPolicy
				break
			}
		}
	}
	if c := e.snap.Class(v.Class); v.Class != "" && c != nil && classPolicy(c.Object) == corev1.PersistentVolumeReclaimRetain {
		f.add(RiskPolicyDiffers, High, "Its class "+v.Class+" says Retain, but the volume says Delete, which is what counts", setRetain).Cure = actions.SetPolicy
	}
}

func (e *surroundings) volumeTie(f *finding, v *kube.Volume) {
	pv := v.Object
	switch {
	case v.State.Phase == kube.Reserved && v.Tie == kube.TieOther:
		f.add(RiskReservedElsewhere, Low, "Reserved for claim "+claimOf(pv)+", whose volume is another one: this one waits for nothing",
			"Reserve it for the claim that should have it").Cure = actions.Reserve
	case v.State.Phase == kube.Reserved:
		e.reservedNamespace(f, v)
	case v.State.Phase == kube.Available && pv.Spec.ClaimRef == nil && heldData(pv):
		r := f.add(RiskOpenWithData, High, "Open to any claim that fits, and likely holds the data of a former claim: it was provisioned for one",
			"Reserve it for the claim that should have the data")
		r.Cure, r.Since = actions.Reserve, timeOf(pv.Status.LastPhaseTransitionTime)
	}
}

// reservedNamespace: a claim that is there has a namespace, whatever the list
// of namespaces, which may be behind, says.
func (e *surroundings) reservedNamespace(f *finding, v *kube.Volume) {
	ns, claim := v.Object.Spec.ClaimRef.Namespace, claimOf(v.Object)
	there := v.Tie == kube.TieOpen || v.Tie == kube.TieHeld
	switch state := namespaceState(e.snap, ns); {
	case state == namespaceGone && !there:
		f.add(RiskReservedNamespace, Low, "Reserved for claim "+claim+", whose namespace does not exist", "Make namespace "+ns+" and the claim, or reserve the volume for another").Cure = actions.Reserve
	case state == namespaceGoing:
		f.add(RiskReservedNamespace, Low, "Reserved for claim "+claim+", whose namespace is being deleted", "Wait until the namespace is there again, or reserve the volume for another claim").Cure = actions.Reserve
	}
}

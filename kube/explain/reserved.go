package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// reservedVolume: the volume waits for one claim.
func (t *telling) reservedVolume(v *kube.Volume) {
	pv := v.Object
	name := claimOf(pv)
	t.Verdict = VolumeReserved
	t.say("Reserved for claim " + name + ": no other claim can take it.")
	c := t.snap.Claim(pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name)
	switch {
	case v.Tie == kube.TieAbsent:
		t.reservedForNobody(v)
	case v.Tie == kube.TieUnknown || c == nil:
		t.say("Whether that claim exists can't be seen: " + unseen(t.snap, kube.PersistentVolumeClaims) + ".")
	case c.State.Phase == kube.Lost && c.Object.Spec.VolumeName == pv.Name:
		t.stress(Bad, "That claim was bound to it and is Lost, as the volume does not carry its uid.")
		t.cure(actions.Repair)
		t.advise("Put the claim's uid into the claimRef: both are then bound to each other again", repairRequest(pv, c.Object))
	case v.Tie == kube.TieOther:
		t.stress(Notice, "That claim is bound to another volume, so that this one waits for nothing.")
		t.reserveRemedy(v, actions.ClaimKey{}, "Reserve it for another claim")
	default:
		t.reservedForClaim(v, c)
	}
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimDelete:
		t.stress(Notice, "Policy Delete: once that claim has it, the volume and its data go with the claim.")
		t.cure(actions.SetPolicy)
	case corev1.PersistentVolumeReclaimRecycle:
		t.stress(Notice, "Policy Recycle: once that claim has it, its files are erased when the claim goes.")
		t.cure(actions.SetPolicy)
	case corev1.PersistentVolumeReclaimRetain:
	}
	t.retainRemedy(v, "Set Retain, so that the data outlive the claim")
	t.advise("Open it to any claim that fits", &actions.Request{Verb: actions.Unreserve, Volume: volumeRef(pv)})
	t.takers(v)
}

func (t *telling) reservedForNobody(v *kube.Volume) {
	t.say("That claim does not exist; when it is created it binds here, if it fits.")
	switch namespaceState(t.snap, v.Object.Spec.ClaimRef.Namespace) {
	case namespaceGone:
		t.factOf(Notice, "Namespace", "Namespace "+v.Object.Spec.ClaimRef.Namespace+" does not exist: make it before the claim", actions.Ref{})
	case namespaceGoing:
		t.factOf(Notice, "Namespace", "Namespace "+v.Object.Spec.ClaimRef.Namespace+" is being deleted: no claim can be made there until it is back", actions.Ref{})
	case namespaceFine:
	}
}

// reservedForClaim: the claim is there and not bound; foretell what it does.
func (t *telling) reservedForClaim(v *kube.Volume, c *kube.Claim) {
	name := claimOf(v.Object)
	verdict := binding.Judge(v.Object, c.Object, classes(t.snap))
	ref := claimRef(c.Object)
	switch {
	case c.Object.DeletionTimestamp != nil:
		t.stress(Notice, "That claim is being deleted.")
		return
	case verdict.Binds && v.Tie == kube.TieHeld:
		t.say("Both name each other: they are about to be bound.")
	case verdict.Binds:
		t.say("That claim exists and is not bound yet.")
	default:
		t.stress(Warn, "That claim exists, but will not take it: "+clean(binding.Texts(verdict.Blocking))+".")
		for _, m := range verdict.Blocking {
			t.factOf(Warn, string(m.Kind), clean(m.Text), ref)
		}
		t.advise("Make the claim anew so that it fits; until then it looks elsewhere, and may be given a new, empty volume", nil)
	}
	for _, m := range verdict.Ignored {
		t.factOf(Notice, string(m.Kind), clean(m.Text)+"; this is not compared for a reserved volume", ref)
	}
	if t.ask.Brief || verdict.Path == binding.ByBoth {
		return
	}
	found := choices(t.snap, c, volumesFor(t.snap, c))
	for _, other := range found.volumes {
		if other.Object.Name == v.Object.Name {
			continue
		}
		verb := "takes"
		if found.contains(v) || len(found.volumes) > 1 {
			verb = "may take"
		}
		t.factOf(Warn, "Instead", fmt.Sprintf("Claim %s %s volume %s rather than this one", name, verb, other.Object.Name), volumeRef(other.Object))
	}
}

func repairRequest(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) *actions.Request {
	return &actions.Request{
		Verb: actions.Repair, Volume: volumeRef(pv),
		Claim: actions.ClaimKey{Namespace: pvc.Namespace, Name: pvc.Name},
	}
}

// namespaces' states: fine also stands for not known.
type namespacePhase int

const (
	namespaceFine namespacePhase = iota
	namespaceGone
	namespaceGoing
)

func namespaceState(snap *kube.Snapshot, name string) namespacePhase {
	if !snap.Known(kube.Namespaces, "") {
		return namespaceFine
	}
	switch n := snap.Namespace(name); {
	case n == nil:
		return namespaceGone
	case n.Terminating:
		return namespaceGoing
	default:
		return namespaceFine
	}
}

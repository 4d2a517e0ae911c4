package explain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// Volume explains a volume of a snapshot.
func Volume(snap *kube.Snapshot, v *kube.Volume, ask Ask) Explanation {
	t := &telling{snap: snap, ask: ask}
	t.Object = volumeRef(v.Object)
	switch v.State.Phase {
	case kube.Terminating:
		t.terminatingVolume(v)
	case kube.Released:
		t.releasedVolume(v)
	case kube.Reserved:
		t.reservedVolume(v)
	case kube.Available:
		t.availableVolume(v)
	case kube.Bound:
		t.boundVolume(v)
	case kube.Failed:
		t.failedVolume(v)
	case kube.Pending:
		t.Verdict = VolumeNew
		t.say("The controller has not looked at it yet.")
	default:
		t.Verdict = VolumeUnknown
		t.say("Its phase " + message(string(v.Object.Status.Phase), "") + " is not known here.")
	}
	t.volumeEvidence(v)
	t.events()
	t.volumeHolders(v)
	t.inOperation()
	return t.Explanation
}

func (t *telling) retainRemedy(v *kube.Volume, text string) {
	if v.Object.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
		t.advise(text, &actions.Request{
			Verb: actions.SetPolicy, Volume: volumeRef(v.Object), Policy: corev1.PersistentVolumeReclaimRetain,
		})
	}
}

func (t *telling) reserveRemedy(v *kube.Volume, claim actions.ClaimKey, text string) {
	t.advise(text, &actions.Request{Verb: actions.Reserve, Volume: volumeRef(v.Object), Claim: claim})
}

func keyOf(ref *corev1.ObjectReference) actions.ClaimKey {
	return actions.ClaimKey{Namespace: ref.Namespace, Name: ref.Name}
}

func (t *telling) availableVolume(v *kube.Volume) {
	pv := v.Object
	if name := claimOf(pv); name != "" {
		t.Verdict = VolumeBinding
		t.say("Being bound to claim " + name + ".")
		return
	}
	t.Verdict = VolumeOpen
	t.say("Open to any claim that fits its size, modes and class " + quoted(v.Class) + "; held by nobody" + t.lasting(pv) + ".")
	t.cure(actions.Reserve)
	if heldData(pv) {
		t.stress(Notice, "It was provisioned for a claim once, so that it likely holds that claim's data.")
	}
	t.takers(v)
	t.reserveRemedy(v, actions.ClaimKey{}, "Reserve it for the claim that should have it")
}

// heldData says that a volume without a claim likely held data: somebody made
// it for a claim, and the claim is not there any more.
func heldData(pv *corev1.PersistentVolume) bool {
	return metav1.HasAnnotation(pv.ObjectMeta, volume.AnnDynamicallyProvisioned)
}

func (t *telling) boundVolume(v *kube.Volume) {
	pv := v.Object
	t.Verdict = VolumeBound
	t.say("Bound to claim " + claimOf(pv) + t.lasting(pv) + ", " + t.usersText(v.Users, v.UsersKnown) + ".")
	switch v.Tie {
	case kube.TieAbsent:
		t.stress(Warn, "That claim does not exist any more: the controller has not noticed yet.")
	case kube.TieOther:
		t.stress(Bad, "But that claim does not name this volume back.")
	default:
		// All is well, or can't be seen.
	}
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimDelete:
		t.stress(Notice, "Policy Delete: deleting the claim destroys this volume and its data.")
		t.cure(actions.SetPolicy)
	case corev1.PersistentVolumeReclaimRecycle:
		t.stress(Notice, "Policy Recycle: deleting the claim erases the files on it.")
		t.cure(actions.SetPolicy)
	case corev1.PersistentVolumeReclaimRetain:
	}
	t.retainRemedy(v, "Set Retain, so that the data outlive the claim")
}

func (t *telling) releasedVolume(v *kube.Volume) {
	pv := v.Object
	t.Verdict = VolumeReleased
	t.say("Released" + t.ago(pv) + ": claim " + claimOf(pv) + ", to which it was bound, is gone.")
	t.policyWithoutClaim(v)
	t.successor(v)
	if pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRecycle {
		t.cure(actions.Reserve)
	}
	t.retainRemedy(v, "Set Retain first: it stops a deletion that has not begun")
	if !t.recycles(v) {
		if t.formerRemedy(v, "Reserve it for claim "+claimOf(pv)+": only that claim can then take it") {
			t.reserveRemedy(v, actions.ClaimKey{}, "Reserve it for another claim")
		}
	}
	t.takers(v)
}

// formerRemedy offers the volume to the claim that it names. One that exists
// again may be past having it, or count on it so that no other can have it.
func (t *telling) formerRemedy(v *kube.Volume, text string) (others bool) {
	ref := v.Object.Spec.ClaimRef
	if ref == nil {
		return true
	}
	name, c := claimOf(v.Object), t.snap.Claim(ref.Namespace, ref.Name)
	switch {
	case c == nil:
		t.reserveRemedy(v, keyOf(ref), text)
	case c.Object.DeletionTimestamp != nil:
		t.advise("Wait until claim "+name+", which is being deleted, is gone, and reserve it for the one that takes its place", nil)
	case c.Object.Spec.VolumeName != "" && c.Object.Spec.VolumeName != v.Object.Name:
		t.advise("Claim "+name+" is on another volume now: if it is to have these data, scale down what uses it, delete it, "+
			"and reserve this volume for it before it is made again", nil)
	case c.State.Stored == kube.Lost && c.Object.Spec.VolumeName == v.Object.Name && c.Object.UID != ref.UID:
		t.advise("If claim "+name+", which is Lost over it, is to have the data, put its uid into the claimRef", repairRequest(v.Object, c.Object))
	case binding.BindCompleted(c.Object):
		t.advise("Claim "+name+" carries the mark of an earlier binding (pv.kubernetes.io/bind-completed): make it anew without that annotation first", nil)
		return c.Object.Spec.VolumeName != v.Object.Name
	default:
		t.reserveRemedy(v, keyOf(ref), text)
	}
	return true
}

// recycles: as long as the files may be being erased, nobody is to get the
// volume.
func (t *telling) recycles(v *kube.Volume) bool {
	if v.Object.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRecycle {
		return false
	}
	t.advise("Then look for a pod that is erasing it, and at the files that are left, before you reserve it for a claim", nil)
	return true
}

// policyWithoutClaim says what the policy means for a volume that no claim
// holds any more.
func (t *telling) policyWithoutClaim(v *kube.Volume) {
	switch v.Object.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
		t.say("Data kept (Retain).")
	case corev1.PersistentVolumeReclaimRecycle:
		t.stress(Bad, "Policy Recycle wipes its data: that may be under way right now.")
		t.cure(actions.SetPolicy)
	default:
		t.stress(Bad, "Policy Delete: the volume and its data may be removed at any moment.")
		t.cure(actions.SetPolicy)
	}
}

// successor says what has become of the claim that a volume names.
func (t *telling) successor(v *kube.Volume) {
	ref := v.Object.Spec.ClaimRef
	if ref == nil {
		return
	}
	switch v.Tie {
	case kube.TieOther:
		text := "A claim of that name exists again, but it is another one"
		if c := t.snap.Claim(ref.Namespace, ref.Name); c != nil {
			switch name := c.Object.Spec.VolumeName; {
			case name == v.Object.Name && c.State.Phase == kube.Lost:
				text += ", Lost over this volume"
			case name == v.Object.Name:
				text += ", which asks for this volume"
			case name != "":
				text += ", on volume " + name
			default:
				text += ", which is not bound"
			}
		}
		t.say(text + ".")
	case kube.TieAbsent:
		t.say("No claim of that name exists now.")
	case kube.TieUnknown:
		t.say("Whether a claim of that name exists can't be seen: " + unseen(t.snap, kube.PersistentVolumeClaims) + ".")
	default:
		// The controller will notice in a moment.
	}
}

func (t *telling) failedVolume(v *kube.Volume) {
	pv := v.Object
	t.Verdict = VolumeFailed
	t.stress(Bad, "Failed"+t.ago(pv)+": "+message(pv.Status.Message, "the controller gave no message")+".")
	t.policyWithoutClaim(v)
	gone := "Its claim " + claimOf(pv) + " is gone"
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
		t.say(gone + "; the controller could not delete it, and under Retain it does not try again.")
	case corev1.PersistentVolumeReclaimRecycle:
		t.say(gone + "; the controller could not erase it, and tries again.")
	default:
		t.say(gone + "; the controller could not delete it, and tries again.")
		if !heldData(pv) && pv.Spec.CSI == nil {
			t.fact("Deletion", "It was made by hand and is no CSI volume: likely nothing here can delete it, so that it stays Failed")
		}
	}
	for _, a := range v.Attachments {
		t.factOf(Warn, "Attachment", "It is still attached to node "+a.Node+", which keeps its storage from being deleted", attachmentRef(a))
	}
	t.successorFact(v)
	t.retainRemedy(v, "Set Retain first: it ends the attempts")
	if !t.recycles(v) {
		t.formerRemedy(v, "If the data are wanted, reserve it for claim "+claimOf(pv)+"; this also takes it out of Failed")
	}
	t.takers(v)
}

func (t *telling) successorFact(v *kube.Volume) {
	at := len(t.Summary)
	t.successor(v)
	for _, s := range t.Summary[at:] {
		t.factOf(Plain, "Claim", strings.TrimSuffix(s.Text, "."), claimRefOf(v.Object))
	}
	t.Summary = t.Summary[:at]
}

func (t *telling) terminatingVolume(v *kube.Volume) {
	pv := v.Object
	t.Verdict = VolumeTerminating
	t.stress(Warn, "Being deleted for "+t.age(pv.DeletionTimestamp.Time)+"; this can't be taken back.")
	switch {
	case v.State.Stored == kube.Bound:
		t.say("It stays for as long as claim " + claimOf(pv) + " is bound to it, and goes when that claim is deleted.")
	case len(pv.Finalizers) > 0:
		t.say("Held by " + strings.Join(pv.Finalizers, ", ") + ".")
	}
	policy := pv.Spec.PersistentVolumeReclaimPolicy
	// A volume that no claim has held since it was reserved or opened is not
	// reclaimed: the provisioner deletes what is Released.
	reclaimed := claimOf(pv) != "" && v.State.Stored != kube.Available
	switch {
	case policy == corev1.PersistentVolumeReclaimRetain:
		t.say("Its data stay with the storage (Retain), without this object.")
	case policy == corev1.PersistentVolumeReclaimDelete && reclaimed && v.State.Stored == kube.Bound:
		t.stress(Bad, "Policy Delete: its data are deleted when the claim goes.")
	case policy == corev1.PersistentVolumeReclaimDelete && reclaimed:
		t.stress(Bad, "Policy Delete: its data may be being deleted now.")
	default:
		t.say("Whether its data stay with the storage depends on its driver.")
	}
	for _, f := range pv.Finalizers {
		who := finalizer(f, policy, v.State.Stored == kube.Bound)
		level := Plain
		if who.foreign {
			level = Warn
		}
		t.factOf(level, "Finalizer", f+": "+who.text, actions.Ref{})
	}
	for _, a := range v.Attachments {
		t.factOf(Notice, "Attachment", attachmentText(a), attachmentRef(a))
	}
	if v.State.Stored != kube.Bound && policy == corev1.PersistentVolumeReclaimDelete {
		t.fact("Data", "Whether the storage behind it has been deleted already is not known here: ask its driver")
	}
	t.retainRemedy(v, "Set Retain at once if the data must survive the object")
	if v.State.Stored == kube.Bound {
		t.advise("Delete claim "+claimOf(pv)+" to let the volume go; write down first where the data are", nil)
	} else if len(pv.Finalizers) > 0 {
		t.advise("Look at the logs and rights of whoever removes the finalizer; to strip it by hand can leave storage behind that nobody knows of", nil)
	}
}

// volumeEvidence is what is said of every volume.
func (t *telling) volumeEvidence(v *kube.Volume) {
	pv := v.Object
	t.tieFact(v)
	if classMissing(t.snap, v.Class) {
		t.factOf(Notice, "Class", "Class "+v.Class+" does not exist any more; the volume works without it", actions.Ref{Kind: actions.ClassKind, Name: v.Class})
	}
	if c := t.snap.Class(v.Class); c != nil && v.Class != "" {
		if p := pv.Spec.PersistentVolumeReclaimPolicy; p == corev1.PersistentVolumeReclaimDelete && classPolicy(c.Object) == corev1.PersistentVolumeReclaimRetain {
			t.factOf(Warn, "Policy", fmt.Sprintf("Class %s says Retain, but the volume says %s, which counts", v.Class, p), actions.Ref{Kind: actions.ClassKind, Name: v.Class})
		}
	}
	if home := newHome(t.snap); home.known && home.nowhere(pv) {
		t.factOf(Warn, "Nodes", "No node fits its node affinity ("+affinityText(pv)+"): no pod can use it", actions.Ref{})
	}
	for _, f := range pv.Finalizers {
		if who := finalizer(f, pv.Spec.PersistentVolumeReclaimPolicy, v.State.Stored == kube.Bound); who.foreign && pv.DeletionTimestamp == nil {
			t.fact("Finalizer", f+": "+who.text)
		}
	}
}

// tieFact says what the claimRef names, exactly, and what stands behind it.
func (t *telling) tieFact(v *kube.Volume) {
	ref := v.Object.Spec.ClaimRef
	if ref == nil {
		if v.State.Phase != kube.Available {
			t.fact("claimRef", "It names no claim")
		}
		return
	}
	text := "It names claim " + claimOf(v.Object)
	if ref.UID == "" {
		text += " without a uid"
	} else {
		text += " with uid " + clean(string(ref.UID))
	}
	level := Plain
	switch v.Tie {
	case kube.TieHeld:
		text += ", which names this volume back"
	case kube.TieAbsent:
		text += ", which does not exist"
	case kube.TieOpen:
		text += ", which exists and is not bound to it yet"
	case kube.TieUnknown:
		text += "; whether it exists can't be seen: " + unseen(t.snap, kube.PersistentVolumeClaims)
	case kube.TieOther:
		level = Notice
		text += otherText(t.snap, v)
	default:
	}
	t.factOf(level, "claimRef", text, claimRefOf(v.Object))
}

// otherText tells apart why a volume and the claim it names do not belong to
// each other.
func otherText(snap *kube.Snapshot, v *kube.Volume) string {
	ref := v.Object.Spec.ClaimRef
	c := snap.Claim(ref.Namespace, ref.Name)
	switch {
	case c == nil:
		return ", which is another one"
	case ref.UID != "" && ref.UID != c.Object.UID:
		return "; the claim of that name has uid " + clean(string(c.Object.UID)) + ": it was made anew"
	case c.Object.Spec.VolumeName != "":
		return ", which is on volume " + c.Object.Spec.VolumeName
	default:
		return ", which does not name it back"
	}
}

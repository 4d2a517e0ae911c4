package explain

import (
	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// lostClaim tells apart the three causes for which the controller calls a
// claim Lost, and which of them can be repaired (pv_controller.go,
// syncBoundClaim).
func (t *telling) lostClaim(c *kube.Claim) {
	name := c.Object.Spec.VolumeName
	v := t.snap.Volume(name)
	switch {
	case name == "":
		t.Verdict = ClaimLostNoName
		t.stress(Bad, "Lost: it names no volume any more.")
		t.lostWithoutName(c)
	case c.Tie == kube.TieAbsent:
		t.Verdict = ClaimLostMissing
		t.stress(Bad, "Lost: its volume "+name+" does not exist.")
		t.fact("Data", "Whether the data are still with the storage is not known here: they are, if the volume's policy was Retain")
		t.advise("If the storage is still there, make a volume "+name+" of it whose claimRef has this claim's namespace, name and uid ("+string(c.Object.UID)+"): the controller then binds the claim to it again, and no other claim can take it", nil)
	case v == nil:
		t.Verdict = ClaimLostUnknown
		t.stress(Bad, "Lost: its volume "+name+" is gone or holds another claim (volumes can't be seen).")
		t.fact("Volumes", "They can't be seen: "+unseen(t.snap, kube.PersistentVolumes))
	default:
		t.Verdict = ClaimLostMisbound
		t.lostMisbound(c, v)
	}
	t.fact("Path", "A claim that was bound before never takes another volume")
}

// lostWithoutName looks for the volume that still carries the claim's uid.
func (t *telling) lostWithoutName(c *kube.Claim) {
	if !t.ask.Brief {
		for _, v := range t.snap.Volumes {
			if ref := v.Object.Spec.ClaimRef; ref != nil && ref.UID == c.Object.UID && ref.UID != "" {
				t.factOf(Notice, "Volume", "Volume "+v.Object.Name+" still carries this claim's uid: it is likely its volume", volumeRef(v.Object))
				t.advise("Put volumeName "+v.Object.Name+" back into the claim: the controller then binds them again", nil)
				return
			}
		}
	}
	t.advise("Find out which volume it had, and put its name back into the claim (volumeName)", nil)
}

// lostMisbound: the volume is there, and does not carry the claim's uid.
func (t *telling) lostMisbound(c *kube.Claim, v *kube.Volume) {
	name, ref := v.Object.Name, v.Object.Spec.ClaimRef
	repair := repairRequest(v.Object, c.Object)
	own := ref != nil && ref.Namespace == c.Object.Namespace && ref.Name == c.Object.Name
	t.stress(Bad, "Lost: its volume "+name+" does not carry this claim's uid.")
	switch {
	case v.Object.DeletionTimestamp != nil:
		t.factOf(Bad, "Volume", "Volume "+name+" is being deleted, so that the claim can't be repaired", volumeRef(v.Object))
		t.retainRemedy(v, "Set Retain on volume "+name+" at once if the data must survive")
		return
	case ref == nil:
		t.say("The volume is open: the controller binds them again by itself, unless another claim is faster.")
		t.advise("Put the claim's uid into the claimRef, so that no other claim gets the volume first", repair)
	case own && ref.UID == c.Object.UID:
		t.say("By now it does: the controller is about to bind them again.")
	case own && ref.UID == "":
		t.say("The volume is reserved for a claim of this name, but the uid is missing.")
		t.advise("Put the claim's uid into the claimRef: both are then bound to each other again", repair)
		t.openRemedy(v)
	case own:
		t.say("The volume carries the uid of an earlier claim of this name.")
		t.advise("If the claim is to have that claim's data, put its uid into the claimRef", repair)
	case heldByLiving(t.snap, v):
		t.stress(Warn, "Claim "+claimOf(v.Object)+" has it now.")
		t.advise("Decide which of the two claims is to have the data: make one of them anew", nil)
	case ref.UID == "":
		t.stress(Warn, "It is reserved for claim "+claimOf(v.Object)+".")
		t.advise("If the data are this claim's, put its uid into the claimRef; claim "+claimOf(v.Object)+" loses the reservation", repair)
	case v.Tie == kube.TieUnknown:
		t.stress(Warn, "Claim "+claimOf(v.Object)+" has it or once had it: claims can't all be seen.")
	default:
		t.stress(Warn, "Claim "+claimOf(v.Object)+", which is gone, had it since.")
		t.advise("If the data are this claim's, put its uid into the claimRef; look at them first, claim "+claimOf(v.Object)+" may have changed them", repair)
	}
	t.cureIfRepairable()
	t.tieFact(v)
}

// openRemedy is the other way back: without a claimRef the controller binds the
// same claim again. It is second, as the volume is open to others meanwhile.
func (t *telling) openRemedy(v *kube.Volume) {
	t.advise("Or clear the claimRef: the controller then binds the same claim again, unless another one is faster",
		&actions.Request{Verb: actions.Unreserve, Volume: volumeRef(v.Object)})
}

func (t *telling) cureIfRepairable() {
	for _, r := range t.Remedies {
		if r.Request != nil && r.Request.Verb == actions.Repair {
			t.cure(actions.Repair)
			return
		}
	}
}

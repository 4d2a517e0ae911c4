package explain

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/binding"
)

// Claim explains a claim of a snapshot.
func Claim(snap *kube.Snapshot, c *kube.Claim, ask Ask) Explanation {
	t := &telling{snap: snap, ask: ask}
	t.Object = claimRef(c.Object)
	switch c.State.Phase {
	case kube.Terminating:
		t.terminatingClaim(c)
	case kube.Lost:
		t.lostClaim(c)
	case kube.Bound:
		t.boundClaim(c)
	case kube.Pending:
		t.pendingClaim(c)
	default:
		t.Verdict = ClaimUnknown
		t.say("Its phase " + message(string(c.Object.Status.Phase), "") + " is not known here.")
	}
	t.events()
	t.claimHolders(c)
	t.inOperation()
	return t.Explanation
}

func (t *telling) boundClaim(c *kube.Claim) {
	t.Verdict = ClaimBound
	t.say("Bound, " + t.usersText(c.Users, c.UsersKnown) + ".")
	if c.ModesDiffer {
		t.stress(Warn, modesDifferText(c)+".")
	}
	if c.Tie == kube.TieAbsent {
		t.stress(Bad, "Its volume "+c.Object.Spec.VolumeName+" does not exist any more: the controller is about to call it Lost.")
	}
	if c.Tie == kube.TieOther || c.Tie == kube.TieOpen {
		t.stress(Bad, "Its volume "+c.Object.Spec.VolumeName+" does not carry this claim's uid: the controller is about to "+t.misboundFate(c)+".")
	}
	t.fate(c)
	if classMissing(t.snap, c.Class.Name) {
		t.factOf(Plain, "Class", "Class "+c.Class.Name+" does not exist any more; a bound claim does not need it, except to grow", actions.Ref{Kind: actions.ClassKind, Name: c.Class.Name})
	}
	if since, unused := unusedSince(c); unused && !since.IsZero() {
		t.fact("Unused", "No pod has used it for "+t.age(since))
	}
}

// misboundFate foretells what becomes of a bound claim whose volume lost its
// uid (pv_controller.go, syncBoundClaim).
func (t *telling) misboundFate(c *kube.Claim) string {
	if v := t.snap.Volume(c.Object.Spec.VolumeName); v != nil && v.Object.Spec.ClaimRef == nil {
		return "bind it again, unless another claim is faster"
	}
	return "call it Lost"
}

func modesDifferText(c *kube.Claim) string {
	return "Its spec says " + modes(c.Object.Spec.AccessModes) + ", its volume " + modes(c.Object.Status.AccessModes) +
		": the scheduler goes by the first, the kubelet by the second"
}

// fate says what becomes of the data when the claim goes.
func (t *telling) fate(c *kube.Claim) {
	v := t.snap.Volume(c.Object.Spec.VolumeName)
	if v == nil || c.State.Stored != kube.Bound {
		return
	}
	switch v.Object.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
		t.say("Its volume keeps the data when the claim goes (Retain).")
		return
	case corev1.PersistentVolumeReclaimRecycle:
		t.stress(Notice, "Its volume has policy Recycle: the files are erased when this claim goes.")
	default:
		t.stress(Notice, "Its volume has policy Delete: the data die with this claim.")
	}
	t.cure(actions.SetPolicy)
	t.retainRemedy(v, "Set Retain on its volume, so that the data outlive the claim")
}

func (t *telling) terminatingClaim(c *kube.Claim) {
	pvc := c.Object
	t.Verdict = ClaimTerminating
	t.stress(Warn, "Being deleted for "+t.age(pvc.DeletionTimestamp.Time)+"; this can't be taken back.")
	pods := holding(c.Users)
	switch {
	case len(pods) > 0:
		that := "that names it"
		if len(pods) > 1 {
			that = "that name it"
		}
		t.say("Held by " + count(len(pods), "pod") + " " + that + ": " + few(pods) + " (a completed pod holds it, too).")
	case len(pvc.Finalizers) > 0 && !c.UsersKnown:
		t.say("Held by " + strings.Join(pvc.Finalizers, ", ") + "; pods can't all be seen (" + unseen(t.snap, kube.Pods) + ").")
	case len(pvc.Finalizers) > 0:
		t.say("Held by " + strings.Join(pvc.Finalizers, ", ") + ".")
	}
	t.fate(c)
	v := t.snap.Volume(pvc.Spec.VolumeName)
	policy, bound := corev1.PersistentVolumeReclaimRetain, false
	if v != nil {
		policy, bound = v.Object.Spec.PersistentVolumeReclaimPolicy, v.State.Stored == kube.Bound
	}
	if len(pods) > 0 {
		// What ends the data comes after what keeps them.
		let := "Delete " + few(pods)
		if policy != corev1.PersistentVolumeReclaimRetain {
			let = "Only after that, or if the data are not wanted, delete " + few(pods)
		}
		t.advise(let+", or scale down what owns them, to let the claim go", nil)
	}
	for _, f := range pvc.Finalizers {
		who := finalizer(f, policy, bound)
		level := Plain
		if who.foreign {
			level = Warn
		}
		t.factOf(level, "Finalizer", f+": "+who.text, actions.Ref{})
	}
}

// pendingClaim: the claim is not bound.
func (t *telling) pendingClaim(c *kube.Claim) {
	if c.Object.Spec.VolumeName != "" || binding.BindCompleted(c.Object) {
		t.pendingByName(c)
		return
	}
	t.say("Not bound for " + t.age(c.Object.CreationTimestamp.Time) + ".")
	t.pendingByClass(c)
	t.fact("Path", "It names no volume: it takes one that fits, the smallest first"+t.orProvisions(c))
	if !t.ask.Brief {
		t.Candidates = candidatesOf(t.snap, c, t.ask.top())
		t.candidateVerdict()
	}
	t.defaultFacts(c)
	t.provisionerFacts(c)
	t.podFacts(c)
}

// pendingByName: the claim names its volume, and waits for that one alone.
func (t *telling) pendingByName(c *kube.Claim) {
	pvc := c.Object
	name := pvc.Spec.VolumeName
	v := t.snap.Volume(name)
	if !t.ask.Brief {
		t.Candidates = named(t.snap, c, v)
	}
	switch {
	case name == "":
		t.Verdict = ClaimAboutToBeLost
		t.stress(Bad, "It is marked as bound before, but names no volume: the controller is about to call it Lost.")
		t.advise("Make the claim anew without the annotation pv.kubernetes.io/bind-completed", nil)
		return
	case c.Tie == kube.TieAbsent:
		t.Verdict = ClaimNamesMissing
		t.stress(Warn, "Waits for volume "+name+", which does not exist; Kubernetes says nothing about that.")
		t.fact("Path", "It names its volume: no other can take that one's place, and nothing is provisioned")
		t.advise("Make volume "+name+", or make the claim anew without volumeName", nil)
		return
	case v == nil:
		t.Verdict = ClaimNamesUnknown
		t.say("Waits for volume " + name + ", which can't be seen: " + unseen(t.snap, kube.PersistentVolumes) + ".")
		return
	}
	verdict := binding.Judge(v.Object, pvc, classes(t.snap))
	t.namedVolume(c, v, verdict)
	for _, m := range verdict.Blocking {
		t.factOf(Warn, string(m.Kind), clean(m.Text), volumeRef(v.Object))
	}
	for _, m := range verdict.Ignored {
		// A claimRef in place makes the phase of no account.
		if m.Kind != binding.PhaseNotAvailable {
			t.factOf(Notice, string(m.Kind), clean(m.Text)+"; this path does not look at it", volumeRef(v.Object))
		}
	}
	if home := newHome(t.snap); verdict.Binds && home.nowhere(v.Object) {
		t.factOf(Warn, "Nodes", "No node fits that volume's node affinity ("+affinityText(v.Object)+"): the claim binds, but no pod can use it", volumeRef(v.Object))
	}
}

func (t *telling) namedVolume(c *kube.Claim, v *kube.Volume, verdict binding.Verdict) {
	name := v.Object.Name
	switch {
	case verdict.Lost:
		t.Verdict = ClaimAboutToBeLost
		t.stress(Bad, "It is marked as bound before to volume "+name+", which does not carry its uid: the controller is about to call it Lost.")
		t.advise("Make the claim anew without the annotation pv.kubernetes.io/bind-completed; reserve the volume for it", nil)
	case verdict.Path == binding.None:
		t.Verdict = ClaimNamesTaken
		t.stress(Warn, "Waits for volume "+name+", "+takenText(t.snap, v, c)+".")
		t.fact("Path", "It names its volume: no other can take that one's place, and nothing is provisioned")
		switch {
		case heldByLiving(t.snap, v):
		case v.Object.DeletionTimestamp != nil:
			t.factOf(Bad, "Volume", "Volume "+name+" is being deleted: no claim can get it any more", volumeRef(v.Object))
			t.retainRemedy(v, "Set Retain on volume "+name+" at once if the data must survive")
		case v.Object.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle:
			t.factOf(Bad, "Volume", "Volume "+name+" has policy Recycle: its files may be being erased right now", volumeRef(v.Object))
			t.retainRemedy(v, "Set Retain on volume "+name+", then look at what is left")
		default:
			key := actions.ClaimKey{Namespace: c.Object.Namespace, Name: c.Object.Name}
			t.reserveRemedy(v, key, "Reserve volume "+name+" for this claim; they then bind at once, without any check")
		}
	case !verdict.Binds:
		t.Verdict = ClaimNamesUnfit
		t.stress(Warn, "Waits for volume "+name+", which does not fit: "+clean(binding.Texts(verdict.Blocking))+".")
		t.advise("Make the claim anew so that it fits; a claim can't be changed", nil)
	default:
		t.Verdict = ClaimAboutToBind
		t.say("Waits for volume " + name + ", and is about to be bound to it.")
		if verdict.Path == binding.ByBoth && len(verdict.Ignored) > 0 {
			t.stress(Notice, "Both name each other, so that nothing is compared.")
		}
	}
}

// takenText says to whom the named volume belongs.
func takenText(snap *kube.Snapshot, v *kube.Volume, c *kube.Claim) string {
	ref := v.Object.Spec.ClaimRef
	same := ref.Namespace == c.Object.Namespace && ref.Name == c.Object.Name
	other := claimOf(v.Object)
	switch {
	case same && v.State.Phase == kube.Released:
		return "which still carries the uid of an earlier claim of this name"
	case same:
		return "which carries the uid of another claim of this name"
	case ref.UID == "":
		return "which is reserved for claim " + other
	case heldByLiving(snap, v):
		return "which claim " + other + " holds"
	case v.Tie == kube.TieUnknown:
		return "which claim " + other + " holds or once held"
	default:
		return "which claim " + other + " once held"
	}
}

// heldByLiving says that a claim that exists has the volume, as far as can be
// seen.
func heldByLiving(snap *kube.Snapshot, v *kube.Volume) bool {
	ref := v.Object.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		return false
	}
	c := snap.Claim(ref.Namespace, ref.Name)
	return c != nil && c.Object.UID == ref.UID && (c.Object.Spec.VolumeName == v.Object.Name || c.Object.Spec.VolumeName == "")
}

// pendingByClass says what the class does for a claim that names no volume.
func (t *telling) pendingByClass(c *kube.Claim) {
	class := t.snap.Class(c.Class.Name)
	byDefault := defaultClass(t.snap)
	switch {
	case !c.Class.Set && !t.snap.Known(kube.StorageClasses, ""):
		t.Verdict = ClaimClassUnknown
		t.say("It asks for no class; whether there is a default class can't be seen: " + unseen(t.snap, kube.StorageClasses) + ".")
	case !c.Class.Set && byDefault == nil:
		t.Verdict = ClaimNoClass
		t.say("It asks for no class and there is no default class: only a volume without a class fits.")
	case !c.Class.Set:
		t.Verdict = ClaimDefaultToCome
		t.say("It asks for no class; the default class " + byDefault.Object.Name + " is about to be filled in.")
	case c.Class.Name == "":
		t.Verdict = ClaimNoClass
		t.say(`It asks for class "": only a volume without a class fits, and nothing is provisioned.`)
	case classMissing(t.snap, c.Class.Name):
		t.Verdict = ClaimClassGone
		t.stress(Warn, "Its class "+clean(c.Class.Name)+" does not exist: nothing is provisioned.")
		t.advise("Make the class, or make the claim anew with one that exists", nil)
	case class == nil:
		t.Verdict = ClaimClassUnknown
		t.say("Its class " + clean(c.Class.Name) + " can't be seen: " + unseen(t.snap, kube.StorageClasses) + ".")
	case delays(class.Object) && c.Object.Annotations[volume.AnnSelectedNode] == "":
		t.Verdict = ClaimWaitsForPod
		t.waitsForPod(c)
	case class.Object.Provisioner == noProvisioner:
		t.Verdict = ClaimWaitsByHand
		t.say("Class " + c.Class.Name + " provisions nothing: it waits for a volume of that class.")
	default:
		t.Verdict = ClaimProvisioning
		t.say("It waits for a volume of class " + c.Class.Name + ", or for " + clean(class.Object.Provisioner) + " to make one.")
	}
}

// waitsForPod says which pods a claim of such a class waits for.
func (t *telling) waitsForPod(c *kube.Claim) {
	head := "Class " + c.Class.Name + " waits for a pod that uses the claim to be scheduled"
	var waiting []string
	placed := false
	for _, u := range c.Users {
		for _, p := range u.Pods {
			switch {
			case !alive(p):
			case p.Node == "":
				waiting = append(waiting, p.Name)
			default:
				placed = true
			}
		}
	}
	switch {
	case len(waiting) > 0:
		t.say(head + ": " + few(waiting) + " " + map[bool]string{true: "is", false: "are"}[len(waiting) == 1] + " not.")
	case placed:
		t.say(head + ".")
	case len(c.Users) > 0:
		t.say(head + "; " + userText(c.Users[0]) + " would use it, but has no pod now.")
	case c.UsersKnown:
		t.say(head + "; no pod uses it.")
	default:
		t.say(head + ".")
	}
}

// orProvisions says what follows when no volume fits.
func (t *telling) orProvisions(c *kube.Claim) string {
	class := t.snap.Class(c.Class.Name)
	if !c.Class.Set {
		class = defaultClass(t.snap)
	}
	if class == nil || class.Object.Provisioner == noProvisioner {
		return ""
	}
	return ", and if none does, " + clean(class.Object.Provisioner) + " is asked for a new one"
}

// candidateVerdict adds to the summary what the comparison found.
func (t *telling) candidateVerdict() {
	found := t.Candidates
	known := ""
	if !found.Known {
		known = " that can be seen"
	}
	switch {
	case len(found.List) > 0 && found.List[0].Chosen:
		t.say(fmt.Sprintf("Volume %s fits and is about to be bound.", found.List[0].Volume.Name))
	case found.Fit > 0 && found.List[0].Delayed:
		t.say(fmt.Sprintf("It could take %s%s; the closest is %s.", count(found.Fit, "volume"), known, found.List[0].Volume.Name))
	case found.Total == 0 && found.Held == 0:
		t.say("There is no volume" + known + ".")
	case found.Total == 0:
		t.say("All volumes" + known + " are bound to other claims.")
	case len(found.List) > 0 && found.List[0].Path == binding.ByClaimRef:
		t.say(fmt.Sprintf("Volume %s is reserved for it, and does not fit: %s.", found.List[0].Volume.Name, found.List[0].Text()))
	case len(found.List) > 0:
		t.say(fmt.Sprintf("No volume%s fits; the closest is %s: %s.", known, found.List[0].Volume.Name, found.List[0].Text()))
	}
}

package views

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// story builds the sentences about an object: first the fact, then the cause,
// then what can be done.
type story []ui.Span

func (t *story) say(text string) { *t = append(*t, ui.Span{Text: t.gap() + text}) }
func (t *story) warn(role ui.Role, text string) {
	*t = append(*t, ui.Span{Text: t.gap() + text, Role: role})
}

// hint offers a key: "a reserves it".
func (t *story) hint(key, does string) {
	*t = append(*t, ui.Span{Text: t.gap()}, ui.Span{Text: key, Role: ui.Key}, ui.Span{Text: " " + does, Role: ui.Dim})
}

func (t *story) gap() string {
	if len(*t) == 0 {
		return ""
	}
	return " "
}

// volumeStory says what a volume is, why, and what can be done.
func (s *session) volumeStory(v *kube.Volume) []ui.Span {
	var t story
	pv := v.Object
	switch v.State.Phase {
	case kube.Terminating:
		s.tellTerminatingVolume(&t, v)
	case kube.Released:
		s.tellReleased(&t, v)
	case kube.Reserved:
		s.tellReserved(&t, v)
	case kube.Available:
		if claimOf(pv) != "" {
			t.say("Being bound to claim " + claimOf(pv) + ".")
			break
		}
		t.say("Open to any claim that fits its size, modes and class " + quoted(v.Class) + "; nobody holds it" + s.lasting(pv) + ".")
		t.hint("a", "reserves it for one claim.")
	case kube.Bound:
		s.tellBoundVolume(&t, v)
	case kube.Failed:
		t.warn(ui.Bad, "Failed"+s.ago(pv)+": "+orText(pv.Status.Message, "the controller gave no message")+".")
		s.tellPolicy(&t, v)
		if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain {
			t.say("Its claim " + claimOf(pv) + " went, and the controller could not reclaim it; under Retain it does not try again.")
		} else {
			t.say("Its claim " + claimOf(pv) + " went, the controller could not reclaim it, and tries again.")
		}
	default:
		t.say("The controller has not looked at it yet.")
	}
	return t
}

func (s *session) tellTerminatingVolume(t *story, v *kube.Volume) {
	pv := v.Object
	t.warn(ui.Warn, "Being deleted for "+age(*pv.DeletionTimestamp, s.now)+"; this can't be taken back.")
	switch {
	case v.State.Stored == kube.Bound:
		t.say("It stays for as long as claim " + claimOf(pv) + " is bound to it, and goes when that claim is deleted.")
	case len(pv.Finalizers) > 0:
		t.say("Held by " + strings.Join(pv.Finalizers, ", ") + ".")
	}
	switch policy := pv.Spec.PersistentVolumeReclaimPolicy; {
	case policy == corev1.PersistentVolumeReclaimRetain:
		t.say("Its data stay with the storage (Retain), without this object.")
	case policy == corev1.PersistentVolumeReclaimDelete && claimOf(pv) != "" && v.State.Stored != kube.Available:
		t.warn(ui.Bad, "Its data are deleted when its claim goes, or now (Delete).")
	default:
		t.say("Whether its data stay with the storage depends on its driver.")
	}
}

func (s *session) tellReleased(t *story, v *kube.Volume) {
	pv := v.Object
	t.say("Released" + s.ago(pv) + ": claim " + claimOf(pv) + ", to which it was bound, is gone.")
	s.tellPolicy(t, v)
	switch v.Tie {
	case kube.TieOther:
		t.say("A claim of that name exists again, but it is another one.")
	case kube.TieAbsent:
		t.say("No claim of that name exists now.")
	case kube.TieUnknown:
		t.say("Whether a claim of that name exists can't be seen: " + s.unseen(kube.PersistentVolumeClaims) + ".")
	default:
		// The controller will notice in a moment.
	}
	t.hint("a", "reserves it again, or opens it.")
}

// tellPolicy says what the policy means for a volume without a claim.
func (s *session) tellPolicy(t *story, v *kube.Volume) {
	switch v.Object.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
		t.say("Data kept (Retain).")
	case corev1.PersistentVolumeReclaimRecycle:
		t.warn(ui.Bad, "Policy Recycle wipes its data.")
	default:
		t.warn(ui.Bad, "Policy Delete: the volume and its data may be removed at any moment.")
		t.hint("p", "sets Retain.")
	}
}

func (s *session) tellReserved(t *story, v *kube.Volume) {
	pv := v.Object
	name := claimOf(pv)
	t.say("Reserved for claim " + name + ": no other claim can take it.")
	switch v.Tie {
	case kube.TieAbsent:
		t.say("That claim does not exist; when it is created it binds here, if it fits.")
	case kube.TieOther:
		t.warn(ui.Notice, "That claim is bound to another volume, so that this one waits for nothing.")
	case kube.TieOpen:
		t.say("That claim exists and is not bound yet.")
	case kube.TieUnknown:
		t.say("Whether that claim exists can't be seen: " + s.unseen(kube.PersistentVolumeClaims) + ".")
	default:
		// Both sides name each other: it is about to be bound.
	}
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimDelete:
		t.warn(ui.Notice, "Policy Delete: it dies with that claim.")
		t.hint("p", "sets Retain.")
	case corev1.PersistentVolumeReclaimRecycle:
		t.warn(ui.Notice, "Policy Recycle: its files are erased when that claim goes.")
		t.hint("p", "sets Retain.")
	case corev1.PersistentVolumeReclaimRetain:
	}
}

func (s *session) tellBoundVolume(t *story, v *kube.Volume) {
	pv := v.Object
	t.say("Bound to claim " + claimOf(pv) + s.lasting(pv) + ", " + s.users(v.Users, v.UsersKnown) + ".")
	switch v.Tie {
	case kube.TieAbsent:
		t.warn(ui.Warn, "That claim does not exist any more: the controller has not noticed yet.")
	case kube.TieOther:
		t.warn(ui.Bad, "But that claim does not name this volume back.")
	default:
		// All is well, or can't be seen.
	}
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimDelete:
		t.warn(ui.Notice, "Policy Delete: deleting the claim destroys this volume and its data.")
		t.hint("p", "sets Retain.")
	case corev1.PersistentVolumeReclaimRecycle:
		t.warn(ui.Notice, "Policy Recycle: deleting the claim erases the files on it.")
		t.hint("p", "sets Retain.")
	case corev1.PersistentVolumeReclaimRetain:
	}
}

// users says in words who uses a claim.
func (s *session) users(list []kube.User, known bool) string {
	switch {
	case len(list) > 0:
	case !known:
		return "used by pods that can't be seen (" + s.unseen(kube.Pods) + ")"
	case !s.snap.OwnersKnown():
		return "used by no pod"
	default:
		return "used by nobody"
	}
	pods := 0
	for _, u := range list {
		pods += len(u.Pods)
	}
	text := "used by " + kindShort(list[0].Kind) + "/" + list[0].Name
	if more := len(list) - 1; more > 0 {
		text += " and " + count(more, "other")
	}
	if pods == 0 {
		return text + " (no pod now)"
	}
	return text + " (" + count(pods, "pod") + ")"
}

// claimStory says what a claim is, why, and what can be done.
func (s *session) claimStory(c *kube.Claim) []ui.Span {
	var t story
	pvc := c.Object
	switch c.State.Phase {
	case kube.Terminating:
		t.warn(ui.Warn, "Being deleted for "+age(*pvc.DeletionTimestamp, s.now)+"; this can't be taken back.")
		if pods := holders(c.Users); len(pods) > 0 {
			t.say("Held by " + count(len(pods), "pod") + " that names it: " + strings.Join(pods, ", ") + " (a completed pod holds it, too).")
		} else if len(pvc.Finalizers) > 0 {
			t.say("Held by " + strings.Join(pvc.Finalizers, ", ") + ".")
		}
		s.tellFate(&t, c)
	case kube.Lost:
		t.warn(ui.Bad, "Lost: "+lostCause(c)+".")
	case kube.Bound:
		// The row names the volume; the room here is for what it does not say.
		t.say("Bound, " + s.users(c.Users, c.UsersKnown) + ".")
		if c.ModesDiffer {
			t.warn(ui.Warn, "Its spec says "+modes(pvc.Spec.AccessModes)+", its volume "+modes(pvc.Status.AccessModes)+": the scheduler goes by the first, the kubelet by the second.")
		}
		s.tellFate(&t, c)
	default:
		s.tellPending(&t, c)
	}
	return t
}

// tellFate says what becomes of the data when the claim goes.
func (s *session) tellFate(t *story, c *kube.Claim) {
	v := s.volumeNamed(c.Object.Spec.VolumeName)
	if v == nil || !bound(c) {
		return
	}
	switch v.Object.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
		t.say("Its volume keeps the data when the claim goes (Retain).")
	case corev1.PersistentVolumeReclaimRecycle:
		t.warn(ui.Notice, "Its volume has policy Recycle: the files are erased when this claim goes.")
		t.hint("p", "sets Retain.")
	default:
		t.warn(ui.Notice, "Its volume has policy Delete: the data die with this claim.")
		t.hint("p", "sets Retain.")
	}
}

func lostCause(c *kube.Claim) string {
	switch name := c.Object.Spec.VolumeName; {
	case name == "":
		return "it names no volume any more"
	case c.Tie == kube.TieAbsent:
		return "its volume " + name + " does not exist"
	case c.Tie == kube.TieUnknown:
		return "its volume " + name + " is gone or holds another claim (volumes can't be seen)"
	default:
		return "its volume " + name + " does not carry this claim's uid"
	}
}

func (s *session) tellPending(t *story, c *kube.Claim) {
	pvc := c.Object
	if name := pvc.Spec.VolumeName; name != "" {
		switch c.Tie {
		case kube.TieAbsent:
			t.warn(ui.Warn, "Waits for volume "+name+", which does not exist; Kubernetes says nothing about that.")
		case kube.TieOther:
			t.warn(ui.Warn, "Waits for volume "+name+", which another claim holds or once held.")
		default:
			t.say("Waits for volume " + name + ".")
		}
		return
	}
	t.say("Not bound for " + age(pvc.CreationTimestamp, s.now) + ".")
	switch class := s.snap.Class(c.Class.Name); {
	case !c.Class.Set && !s.snap.Known(kube.StorageClasses, ""):
		t.say("It asks for no class; whether there is a default class can't be seen: " + s.unseen(kube.StorageClasses) + ".")
	case !c.Class.Set && s.defaultClass() == nil:
		t.say("It asks for no class and there is no default class: only a volume without a class fits.")
	case !c.Class.Set:
		t.say("It asks for no class; the default class " + s.defaultClass().Object.Name + " is about to be filled in.")
	case c.Class.Name == "":
		t.say(`It asks for class "": only a volume without a class fits, and nothing is provisioned.`)
	case s.classMissing(c.Class.Name):
		t.warn(ui.Warn, "Its class "+c.Class.Name+" does not exist: nothing is provisioned.")
	case class != nil && bindingMode(class.Object) != "Immediate":
		t.say("Class " + c.Class.Name + " waits for a pod that uses the claim to be scheduled.")
	case class != nil && class.Object.Provisioner == noProvisioner:
		t.say("Class " + c.Class.Name + " provisions nothing: it waits for a volume of that class.")
	case class != nil:
		t.say("It waits for a volume of class " + c.Class.Name + ", or for " + class.Object.Provisioner + " to make one.")
	}
}

// noProvisioner marks a class whose volumes are made by hand
// (storage.k8s.io docs: local volumes).
const noProvisioner = "kubernetes.io/no-provisioner"

func (s *session) defaultClass() *kube.Class {
	for _, c := range s.snap.Classes {
		if c.Effective {
			return c
		}
	}
	return nil
}

// classStory says what a class means for new claims and volumes.
func (s *session) classStory(c *kube.Class) []ui.Span {
	var t story
	switch {
	case c.Effective:
		t.say("The default class: a claim that names none gets it.")
	case c.Default:
		t.warn(ui.Notice, "Marked as default too, but "+s.defaultClass().Object.Name+" is newer and wins.")
	}
	if c.Object.Provisioner == noProvisioner {
		t.say("Nothing is provisioned for it: its volumes are made by hand.")
	} else {
		t.say("New volumes are made by " + c.Object.Provisioner + " with policy " + string(classPolicy(c.Object)) + ".")
	}
	if bindingMode(c.Object) != "Immediate" {
		t.say("Claims bind when a pod that uses them is scheduled.")
	}
	if classPolicy(c.Object) == corev1.PersistentVolumeReclaimDelete && c.Object.Provisioner != noProvisioner {
		t.say("Changing a class does not change its volumes.")
	}
	return t
}

// holders are the pods that keep a claim from going: those that were placed on
// a node, whatever became of them since (pvc_protection_controller.go,
// podUsesPVC).
func holders(list []kube.User) []string {
	var names []string
	for _, u := range list {
		for _, p := range u.Pods {
			if p.Node != "" {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// withoutHints leaves out the keys, for a page where they do something else.
func withoutHints(spans []ui.Span) []ui.Span {
	var out []ui.Span
	for i := 0; i < len(spans); i++ {
		if spans[i].Role == ui.Key {
			i++ // what it does
			continue
		}
		out = append(out, spans[i])
	}
	return out
}

// ago says when the phase last changed (" 12d ago"), lasting for how long it
// has been so (" for 12d"). Both are empty where the server does not say.
func (s *session) ago(pv *corev1.PersistentVolume) string {
	if t := pv.Status.LastPhaseTransitionTime; t != nil {
		return " " + age(*t, s.now) + " ago"
	}
	return ""
}

func (s *session) lasting(pv *corev1.PersistentVolume) string {
	if t := pv.Status.LastPhaseTransitionTime; t != nil {
		return " for " + age(*t, s.now)
	}
	return ""
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return strings.TrimSuffix(text, ".")
}

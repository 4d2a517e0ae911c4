package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Hold is how something has to do with an object.
type Hold string

// The holds.
const (
	HoldClaim      Hold = "claim"
	HoldPod        Hold = "pod"
	HoldTemplate   Hold = "template"
	HoldAttachment Hold = "attachment"
	HoldFinalizer  Hold = "finalizer"
	HoldOwner      Hold = "owner"
	HoldOrigin     Hold = "origin"
)

// The kinds of those holders that are none of actions' kinds.
const (
	podKind        actions.Kind = "Pod"
	nodeKind       actions.Kind = "Node"
	attachmentKind actions.Kind = "VolumeAttachment"
)

// Holder is something that uses an object, keeps it from going, or will put it
// back.
type Holder struct {
	How Hold
	// Object is the holder, if it is an object.
	Object actions.Ref
	// Text is a sentence without a period.
	Text  string
	Level Level
	// Blocks: while it is there, a deletion of the object does not finish.
	Blocks bool
}

func attachmentRef(a *kube.Attachment) actions.Ref {
	return actions.Ref{Kind: attachmentKind, Name: a.Name, UID: a.UID}
}

func attachmentText(a *kube.Attachment) string {
	text := "Attached to node " + a.Node
	switch {
	case a.Terminating:
		text = "Being detached from node " + a.Node
	case !a.Attached:
		text = "To be attached to node " + a.Node + ", and not yet"
	}
	text += " by " + clean(a.Attacher)
	if a.Problem != "" {
		text += "; the last attempt failed: " + message(a.Problem, "")
	}
	return text
}

func (t *telling) hold(h Holder) {
	h.Text = clean(h.Text)
	t.Holders = append(t.Holders, h)
}

func (t *telling) volumeHolders(v *kube.Volume) {
	pv := v.Object
	if name := claimOf(pv); name != "" && v.Tie == kube.TieHeld {
		t.hold(Holder{How: HoldClaim, Object: claimRefOf(pv), Text: "Claim " + name + " is bound to it", Blocks: v.State.Stored == kube.Bound})
	}
	t.userHolders(v.Users, false)
	t.attachmentHolders(v)
	t.finalizerHolders(pv.Finalizers, v)
	t.originHolder(pv.Labels, pv.Annotations)
}

func (t *telling) claimHolders(c *kube.Claim) {
	t.userHolders(c.Users, true)
	v := t.snap.Volume(c.Object.Spec.VolumeName)
	if v != nil && c.Tie == kube.TieHeld {
		t.attachmentHolders(v)
	}
	t.finalizerHolders(c.Object.Finalizers, v)
	for _, ref := range c.Object.OwnerReferences {
		owner := actions.Ref{Kind: actions.Kind(ref.Kind), Namespace: c.Object.Namespace, Name: ref.Name, UID: ref.UID}
		text := fmt.Sprintf("It is owned by %s %s, and is deleted with it", clean(ref.Kind), ref.Name)
		t.hold(Holder{How: HoldOwner, Object: owner, Text: text, Level: Notice})
	}
	t.originHolder(c.Object.Labels, c.Object.Annotations)
}

// userHolders tells pods, templates, and who stands above them. claims says
// that a pod keeps the object from going, which goes for claims only.
func (t *telling) userHolders(users []kube.User, claims bool) {
	for _, u := range users {
		for _, p := range u.Pods {
			t.hold(podHolder(u, p, claims))
		}
		if len(u.Pods) == 0 {
			t.hold(Holder{How: HoldTemplate, Object: userRef(u), Text: templateText(u)})
		}
		t.ownerHolders(u)
		if u.Workload != nil && u.Workload.Source != "" {
			t.hold(Holder{
				How: HoldOrigin, Object: userRef(u), Level: Notice,
				Text: fmt.Sprintf("%s %s comes from %s, which may put back what is changed by hand", u.Kind, u.Name, clean(u.Workload.Source)),
			})
		}
	}
}

func podHolder(u kube.User, p kube.Pod, blocks bool) Holder {
	text := fmt.Sprintf("Pod %s is %s", p.Name, phaseText(p))
	if p.Node == "" {
		text += ", and not scheduled"
	} else {
		text += " on node " + p.Node
	}
	if p.Terminating {
		text += ", being deleted"
	}
	if blocks && p.Node != "" && !alive(p) {
		text += "; a completed pod holds the claim, too"
	}
	return Holder{
		How: HoldPod, Object: actions.Ref{Kind: podKind, Namespace: u.Namespace, Name: p.Name, UID: p.UID},
		Text: text, Blocks: blocks && p.Node != "",
	}
}

func phaseText(p kube.Pod) string {
	if p.Phase == "" {
		return string(corev1.PodPending)
	}
	return clean(string(p.Phase))
}

// templateText says what a workload without pods would do.
func templateText(u kube.User) string {
	text := fmt.Sprintf("The template of %s %s names the claim; no pod now", u.Kind, u.Name)
	switch w := u.Workload; {
	case w != nil && w.Suspended:
		text += ", as it is suspended"
	case u.Replicas != nil && *u.Replicas == 0:
		text += ", as it is scaled to 0"
	case u.Replicas != nil:
		text += fmt.Sprintf(", though it is to have %d", *u.Replicas)
	}
	return text
}

// ownerHolders goes up from a workload as far as it is known; the last one may
// be a custom resource.
func (t *telling) ownerHolders(u kube.User) {
	w := u.Workload
	below := u.Kind + " " + u.Name
	for range maxChain {
		if w == nil || w.Owner.Name == "" {
			return
		}
		o := w.Owner
		t.hold(Holder{
			How: HoldOwner, Level: Notice,
			Object: actions.Ref{Kind: actions.Kind(o.Kind), Namespace: u.Namespace, Name: o.Name, UID: o.UID},
			Text:   fmt.Sprintf("%s is controlled by %s %s, which may put back what is changed by hand", below, clean(o.Kind), o.Name),
		})
		below = o.Kind + " " + o.Name
		w = workloadOf(t.snap, u.Namespace, o)
	}
}

// maxChain bounds the walk from an owner to the owner's owner: Kubernetes
// itself has chains of two, and a circle must end.
const maxChain = 5

// workloadOf finds what a controller reference names; nil when it is of a kind
// that is not watched.
func workloadOf(snap *kube.Snapshot, namespace string, o kube.Owner) *kube.Workload {
	if w := snap.Workload(o.Kind, namespace, o.Name); w != nil && o.UID != "" && w.UID == o.UID {
		return w
	}
	return nil
}

func (t *telling) attachmentHolders(v *kube.Volume) {
	for _, a := range v.Attachments {
		h := Holder{How: HoldAttachment, Object: attachmentRef(a), Text: attachmentText(a)}
		if a.Problem != "" {
			h.Level = Warn
		}
		t.hold(h)
	}
}

func (t *telling) finalizerHolders(names []string, v *kube.Volume) {
	policy, bound := corev1.PersistentVolumeReclaimRetain, false
	if v != nil {
		policy, bound = v.Object.Spec.PersistentVolumeReclaimPolicy, v.State.Stored == kube.Bound
	}
	for _, name := range names {
		who := finalizer(name, policy, bound)
		h := Holder{How: HoldFinalizer, Text: "Finalizer " + name + ": " + who.text, Blocks: true}
		if who.foreign {
			h.Level = Notice
		}
		t.hold(h)
	}
}

// originHolder says what put the object itself there.
func (t *telling) originHolder(labels, annotations map[string]string) {
	if source := actions.Source(labels, annotations); source != "" {
		t.hold(Holder{
			How: HoldOrigin, Level: Notice,
			Text: "It comes from " + clean(source) + ", which may put it back, or change it back",
		})
	}
}

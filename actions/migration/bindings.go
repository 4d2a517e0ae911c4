package migration

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/actions"
)

// claimProtection is taken off a claim when no pod uses it any more
// (pkg/volume/util/finalizer.go).
const claimProtection = "kubernetes.io/pvc-protection"

// bindings are the steps that give each volume its other claim, one volume
// after the other.
func (m *machine) bindings() []node {
	var nodes []node
	for _, v := range m.j.Volumes {
		s := m.side(v)
		if s.other != nil {
			nodes = append(nodes, m.deleteClaim(s))
		}
		nodes = append(nodes, m.awaitReleased(s), m.makeReady(s))
		if s.goal != nil {
			nodes = append(nodes, m.awaitReserved(s), m.createClaim(s), m.awaitBound(s))
		}
	}
	return nodes
}

func (m *machine) deleteClaim(s side) node {
	key := claimKey(s.other)
	n := node{Step: Step{
		ID: "delete/" + s.v.Ref.Name, Title: "Delete claim " + key.String(),
		Why:    "A claim's access modes, its name and its namespace can't be changed: another one takes its place",
		Act:    Delete,
		Target: actions.Ref{Kind: actions.ClaimKind, Namespace: key.Namespace, Name: key.Name},
		Then:   "The volume is Released, and its data are kept: its policy is Retain",
		Stop:   m.undeleted(),
	}}
	if s.atOther != nil {
		n.Target.UID = s.atOther.UID
	}
	n.done = s.otherGone() || s.atOther.DeletionTimestamp != nil
	switch {
	case n.done:
	case !s.isOther():
		n.halt = fmt.Sprintf("claim %s is not the one that this is about: another of that name was made%s", key, m.madeBy(s.atOther))
		n.remedy = foreignRemedy
	case !s.namesOther():
		// Without its claim it would be open to anybody.
		n.halt = fmt.Sprintf("volume %s does not name claim %s as the one that it is bound to%s", s.v.Ref.Name, key, m.namedBy(s))
		n.remedy = "Look at both: the controller may bind them again within a minute, and undo needs the claim to be there; then resume or undo"
	case m.grown(s) != "":
		n.halt = m.grown(s)
		n.remedy = "Undo, which leaves the claim as it is, and begin anew: the journal would take the change back"
	case s.goal != nil && s.atGoal != nil && claimKey(s.goal) != key:
		n.halt, n.remedy = m.taken(s)
	}
	return n
}

// grown says that the original claim asks for another size than the journal
// says: to make it from that would lose the change.
func (m *machine) grown(s side) string {
	is, was := s.atOther.Spec.Resources.Requests.Storage(), s.other.Spec.Resources.Requests.Storage()
	if is.Cmp(*was) == 0 {
		return ""
	}
	return fmt.Sprintf("claim %s was changed meanwhile%s: it asks for %s, and asked for %s",
		claimKey(s.other), by(managerOf(s.atOther, "spec", "resources", "requests", "storage")), is, was)
}

func (m *machine) namedBy(s side) string {
	return by(managerOf(s.pv, "spec", "claimRef", "uid"))
}

// foreignRemedy is for a claim that came in between.
const foreignRemedy = "Look at what it holds; keep whoever made it from making it again, and delete it; then resume. Your volume is safe from it: it is kept for its own claim"

// taken says that the name of the claim to come is somebody else's.
func (m *machine) taken(s side) (reason, remedy string) {
	return fmt.Sprintf("claim %s exists, and is not the one to come%s", claimKey(s.goal), m.madeBy(s.atGoal)), foreignRemedy
}

func (m *machine) madeBy(pvc *corev1.PersistentVolumeClaim) string {
	var text string
	if who := firstManager(pvc); who != "" {
		text = ", by " + who
	}
	if pvc.Spec.VolumeName != "" && pvc.Status.Phase == corev1.ClaimBound {
		text += ", and is bound to volume " + pvc.Spec.VolumeName
	}
	return text
}

func (m *machine) awaitReleased(s side) node {
	n := node{Step: Step{
		ID: "released/" + s.v.Ref.Name, Title: "Wait until volume " + s.v.Ref.Name + " is released",
		Why:    "As long as it counts as bound, a change of its claimRef would let two claims have it",
		Act:    Await,
		Target: s.v.Ref,
		Stop:   m.resumable(),
	}}
	if s.other != nil && !s.otherGone() {
		n.holds = append(n.holds, m.deletionHolds(s.atOther)...)
	} else if !s.ready() && !s.holdsGoal() && s.pv != nil && s.pv.Status.Phase == corev1.VolumeBound {
		n.holds = append(n.holds, "the controller has yet to mark volume "+s.v.Ref.Name+" Released")
	}
	n.done = len(n.holds) == 0
	return n
}

// deletionHolds says what keeps a claim that is being deleted.
func (m *machine) deletionHolds(pvc *corev1.PersistentVolumeClaim) []string {
	key := claimKey(pvc)
	if pvc.DeletionTimestamp == nil {
		return []string{fmt.Sprintf("claim %s has yet to be deleted", key)}
	}
	var holds []string
	for _, pod := range m.podsOf(key) {
		holds = append(holds, fmt.Sprintf("pod %s/%s (%s) uses claim %s", pod.Namespace, pod.Name, podState(pod), key))
	}
	for _, f := range pvc.Finalizers {
		if f != claimProtection {
			holds = append(holds, fmt.Sprintf("finalizer %s on claim %s; whoever set it has to take it off", f, key))
		}
	}
	if len(holds) == 0 {
		holds = append(holds, fmt.Sprintf("the controller has yet to let go of claim %s", key))
	}
	return holds
}

// makeReady is the one patch that changes modes and claimRef together, so that
// the volume is never open to a stranger, nor to the claim to come in a shape
// that does not fit it.
func (m *machine) makeReady(s side) node {
	n := node{Step: Step{
		ID: "ready/" + s.v.Ref.Name, Title: "Keep volume " + s.v.Ref.Name + " for " + m.forWhom(s),
		Why:    "One patch for modes and claimRef, so that no other claim can get the volume at any moment",
		Act:    Patch,
		Target: s.v.Ref,
		Stop:   m.resumable(),
	}}
	if s.goal != nil {
		n.Then = "The volume becomes Available, for that claim only"
	}
	if n.done = s.ready(); n.done || s.pv == nil {
		return n
	}
	spec := map[string]any{}
	if !sameModes(s.pv.Spec.AccessModes, s.modes) {
		spec["accessModes"] = s.modes
	}
	patch := map[string]any{"spec": spec}
	if s.holdsGoal() {
		// They have each other, and only the modes are not what they were.
		n.Patch = encode(patch)
		return n
	}
	var uid any
	if s.reached() {
		// A claim that has been bound is Lost when the volume names it without
		// its uid (pv_controller.go, syncBoundClaim).
		uid = string(s.atGoal.UID)
	}
	switch ref := s.pv.Spec.ClaimRef; {
	case s.goal == nil && s.ref == nil:
		spec["claimRef"] = nil
	case s.goal == nil:
		spec["claimRef"] = map[string]any{
			"apiVersion": s.ref.APIVersion, "kind": s.ref.Kind, "namespace": s.ref.Namespace, "name": s.ref.Name,
			"uid": string(s.ref.UID), "resourceVersion": nil,
		}
	case ref != nil && refKey(ref) == claimKey(s.goal):
		spec["claimRef"] = map[string]any{"uid": uid, "resourceVersion": nil}
	default:
		spec["claimRef"] = map[string]any{
			"apiVersion": "v1", "kind": string(actions.ClaimKind), "namespace": s.goal.Namespace, "name": s.goal.Name,
			"uid": uid, "resourceVersion": nil,
		}
	}
	// With this mark, the controller would drop the whole claimRef when the
	// claim goes elsewhere (pv_controller.go, unbindVolume).
	if _, marked := s.pv.Annotations[volume.AnnBoundByController]; marked {
		patch["metadata"] = map[string]any{"annotations": map[string]any{volume.AnnBoundByController: nil}}
	}
	n.Patch = encode(patch)
	n.halt, n.remedy = m.strange(s)
	return n
}

func (m *machine) forWhom(s side) string {
	if s.goal == nil {
		return "whom it was for"
	}
	if m.j.Request.Verb == SinglePod {
		return fmt.Sprintf("claim %s, %s", claimKey(s.goal), modeNames(s.modes))
	}
	return "claim " + claimKey(s.goal).String()
}

func modeNames(modes []corev1.PersistentVolumeAccessMode) string {
	names := make([]string, len(modes))
	for i, mode := range modes {
		names[i] = string(mode)
	}
	return strings.Join(names, ", ")
}

// strange says that a volume names a claim that it has no business with.
func (m *machine) strange(s side) (reason, remedy string) {
	ref := s.pv.Spec.ClaimRef
	if ref == nil {
		return "", ""
	}
	key := refKey(ref)
	ours := s.goal != nil && key == claimKey(s.goal) || s.other != nil && key == claimKey(s.other) ||
		s.v.ClaimRef != nil && key == refKey(s.v.ClaimRef)
	if !ours {
		return fmt.Sprintf("volume %s names claim %s, with which this has nothing to do%s", s.v.Ref.Name, key, by(managerOf(s.pv, "spec", "claimRef"))),
			"Find out who changed it, and whether that claim's pods write to the volume; then reserve it for its own claim and resume"
	}
	for _, pvc := range [...]*corev1.PersistentVolumeClaim{s.atGoal, s.atOther} {
		if pvc != nil && ref.UID == pvc.UID && claimKey(pvc) == key && pvc.Spec.VolumeName == s.v.Ref.Name {
			return fmt.Sprintf("claim %s has volume %s", key, s.v.Ref.Name), foreignRemedy
		}
	}
	return "", ""
}

func (m *machine) awaitReserved(s side) node {
	n := node{Step: Step{
		ID: "reserved/" + s.v.Ref.Name, Title: "Wait until volume " + s.v.Ref.Name + " is available to its claim",
		Why:    "The controller has to have seen that the former claim is gone",
		Act:    Await,
		Target: s.v.Ref,
		Stop:   m.resumable(),
	}}
	n.done = s.ready() && (s.reached() || s.pv.Status.Phase == corev1.VolumeAvailable)
	if !n.done {
		n.holds = []string{"the controller has yet to mark volume " + s.v.Ref.Name + " Available"}
	}
	return n
}

func (m *machine) createClaim(s side) node {
	key := claimKey(s.goal)
	n := node{Step: Step{
		ID: "create/" + s.v.Ref.Name, Title: fmt.Sprintf("Create claim %s, %s", key, modeNames(s.goal.Spec.AccessModes)),
		Why:    "It names the volume, and the volume names it: they are bound to each other and to nothing else",
		Act:    Create,
		Target: actions.Ref{Kind: actions.ClaimKind, Namespace: key.Namespace, Name: key.Name},
		Object: encode(s.goal),
		Then:   "The controller binds the two",
		Stop:   m.resumable(),
	}}
	n.done = s.reached()
	switch c := s.atGoal; {
	case n.done || c == nil:
	case c.DeletionTimestamp != nil:
		n.holds = m.deletionHolds(c)
	default:
		n.halt, n.remedy = m.taken(s)
	}
	return n
}

func (m *machine) awaitBound(s side) node {
	key := claimKey(s.goal)
	n := node{Step: Step{
		ID: "bound/" + s.v.Ref.Name, Title: fmt.Sprintf("Wait until claim %s and volume %s are bound to each other", key, s.v.Ref.Name),
		Why:    "Only then the volume's policy may be anything but Retain, and pods may start",
		Act:    Await,
		Target: actions.Ref{Kind: actions.ClaimKind, Namespace: key.Namespace, Name: key.Name},
		Stop:   m.resumable(),
	}}
	n.done = s.isBound()
	switch {
	case n.done:
	case s.atGoal != nil && s.atGoal.Status.Phase == corev1.ClaimLost:
		n.halt = fmt.Sprintf("claim %s is Lost", key)
		n.remedy = "Look at what volume " + s.v.Ref.Name + " names as its claim; undo brings the former claim back"
	default:
		n.holds = []string{"the controller has yet to bind claim " + key.String()}
	}
	return n
}

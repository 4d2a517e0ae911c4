package migration

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// node is a step with what a Scene says about it.
type node struct {
	Step
	done bool
	// holds: others have to act before it is done (Await), or before it can be
	// taken.
	holds []string
	// halt says what stands against it, and remedy what to do about that.
	halt   string
	remedy string
	// starts: it starts pods, or what makes them.
	starts bool
	// flips: it may become undone again without anybody having meddled, as
	// pods do that are ready and then not.
	flips bool
}

// machine is one look at an operation.
type machine struct {
	j   Journal
	run Run
	s   Scene
	dir Direction
	// found is what the lead volume says of an operation, nil for nothing;
	// broken is what is wrong with that.
	found  *Found
	broken error
	// bound: every volume is bound to the claim that it shall have.
	bound bool
	// others are the rivals, once they were looked for.
	others *[]rival
}

func newMachine(j Journal, run Run, s Scene) *machine {
	m := &machine{j: j, run: run, s: s}
	if lead := s.Volumes[j.Lead()]; lead != nil {
		m.found, m.broken = Find(lead)
	}
	// The marks go last, and the direction with them.
	m.dir = run.Direction
	if m.leadNoted() {
		m.dir = m.found.Direction
	}
	m.bound = true
	for _, v := range j.Volumes {
		m.bound = m.bound && m.side(v).isBound()
	}
	return m
}

// Outline lists all steps of an operation towards the end that it is walking
// to, with how far each has come. The first that is not done is the one whose
// turn it is.
func Outline(j Journal, run Run, s Scene) []Item {
	nodes := newMachine(j, run, s).nodes()
	items := make([]Item, len(nodes))
	turn := false
	for i, n := range nodes {
		items[i] = Item{Step: n.Step, Holds: n.holds}
		switch {
		case turn:
			items[i].State, items[i].Holds, items[i].Met = Later, nil, n.done
		case n.done:
			items[i].State, items[i].Holds = Done, nil
		default:
			items[i].State, turn = Now, true
		}
	}
	return items
}

// Next says what to do next, by nothing but the Journal and how the world
// looks. It is asked before every write, on a fresh Scene.
func Next(j Journal, run Run, s Scene) Move {
	m := newMachine(j, run, s)
	if reason, remedy := m.trouble(); reason != "" {
		return Move{Kind: Halt, Reason: reason, Remedy: remedy}
	}
	if reason, remedy := m.parted(); reason != "" {
		return Move{Kind: Halt, Reason: reason, Remedy: remedy}
	}
	for _, n := range m.nodes() {
		switch {
		case n.done:
			continue
		case n.halt != "":
			return Move{Kind: Halt, Step: n.Step, Reason: n.halt, Remedy: n.remedy}
		case run.Seen[n.ID] && !n.flips:
			return Move{Kind: Halt, Step: n.Step, Reason: m.takenBack(n), Remedy: againRemedy, Holds: n.holds}
		case n.Act == Await || len(n.holds) > 0:
			return Move{Kind: WaitNow, Step: n.Step, Holds: n.holds}
		}
		return Move{Kind: ActNow, Step: n.Step}
	}
	return Move{Kind: Finished}
}

// againRemedy is what to do when something was changed back: neither to give
// way nor to fight is ours to choose.
const againRemedy = "Find out who did that and keep it from happening again; then look again and resume, which does the step once more, or undo"

// takenBack says that a step that had been seen done is not done any more.
func (m *machine) takenBack(n node) string {
	what := n.Title
	if len(n.holds) > 0 {
		return fmt.Sprintf("this was done and holds no longer: %q: %s", what, n.holds[0])
	}
	if who := m.changer(n.Step); who != "" {
		return fmt.Sprintf("this was done and has been changed back by %s: %q", who, what)
	}
	return fmt.Sprintf("this was done and has been changed back: %q", what)
}

// trouble is what stands against the operation as a whole.
func (m *machine) trouble() (reason, remedy string) {
	for _, v := range m.j.Volumes {
		pv := m.s.Volumes[v.Ref.Name]
		switch {
		case pv == nil:
			return "volume " + v.Ref.Name + " is gone", "Its data may still be where they are stored: make a new volume from them; the backup says what it was like"
		case pv.UID != v.Ref.UID:
			return "volume " + v.Ref.Name + " was deleted, and another of the same name was made", "Look at the new one; the backup says what the old one was like"
		case pv.DeletionTimestamp != nil && !m.side(v).isBound():
			return "volume " + v.Ref.Name + " is being deleted, which can't be taken back", m.deletedRemedy(v)
		}
		if mark := pv.Annotations[AnnotationPlan]; mark != "" && mark != m.mark() && !m.withdraws() {
			return fmt.Sprintf("another operation, %s, is under way on volume %s", mark, v.Ref.Name), "Finish or undo that one first; if there is none, " + strayRemedy
		}
	}
	if reason := m.blind(); reason != "" {
		return reason, "Go on as somebody who may read them"
	}
	switch found := m.found; {
	case m.broken != nil:
		return m.broken.Error(), "Put the journal back from the backup"
	case found == nil:
		return "", ""
	case found.ID != m.j.ID:
		return fmt.Sprintf("another operation, %s, is under way on volume %s", found.ID, m.j.Lead()), "Finish or undo that one first"
	}
	if h := m.found.Holder; m.found.Journal != nil && h.Token != m.run.Holder.Token {
		text := h.Who + " has been at work on this"
		if !h.Since.IsZero() {
			text += " since " + h.Since.Format("2006-01-02 15:04:05 MST")
		}
		return text, "Ask them, or take it over"
	}
	return "", ""
}

// deletedRemedy says what is left to do about a volume that is being deleted. As
// long as it is bound, it stays, and its pods can use it.
func (m *machine) deletedRemedy(v Volume) string {
	const kept = "The data are kept as long as the volume's policy is Retain: leave that as it is, and take no finalizer off. "
	turned, way := *m, "Undo"
	turned.dir = Back
	if m.dir == Back {
		turned.dir, way = Forward, "Go on with it after all"
	}
	if s := turned.side(v); s.goal != nil && s.isBound() {
		return kept + way + ", which starts the pods again, as volume and claim are still bound to each other; the volume goes when the claim does. " +
			"Then copy the data to a new volume, or make one from the same storage by the manifest in the backup"
	}
	steps := []string{kept + "Make a new volume from the same storage, by the manifest in the backup, with claim " + claimKey(v.To).String() + " bound to it"}
	for _, w := range m.workloads() {
		if _, replicas := m.scaled(w); scales(w.Ref.Kind) && w.Replicas > 0 && replicas == 0 {
			steps = append(steps, fmt.Sprintf("only then start the pods: %s (before that, they may get a new, empty volume)", w.scaleCommand()))
		}
	}
	return strings.Join(steps, "; ")
}

// scaleCommand is how a person brings a workload back.
func (w Workload) scaleCommand() string {
	return line(nil, "scale", strings.ToLower(string(w.Ref.Kind))+"/"+w.Ref.Name, "--namespace="+w.Ref.Namespace, fmt.Sprintf("--replicas=%d", w.Replicas))
}

// parted says that a volume and a claim which this run has seen bound to each
// other are so no longer. All else that follows from it would be told of as if
// somebody had done that.
func (m *machine) parted() (reason, remedy string) {
	for _, v := range m.j.Volumes {
		s := m.side(v)
		if s.goal == nil || !m.run.Seen["bound/"+v.Ref.Name] || s.isBound() {
			continue
		}
		key, had := claimKey(s.goal), fmt.Sprintf(", which had been bound to volume %s, ", v.Ref.Name)
		remedy = "Find out who did that and keep it from happening again; the data are kept (policy Retain). Then look again and resume, which binds a claim to the volume again, or undo"
		if s.pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain {
			remedy = "Set Retain on the volume at once, or its data go with the claim; then find out who did that, and resume or undo"
		}
		switch ref := s.pv.Spec.ClaimRef; {
		case s.atGoal == nil:
			return "claim " + key.String() + had + "is gone", remedy
		case s.atGoal.DeletionTimestamp != nil:
			return "claim " + key.String() + had + "is being deleted", remedy
		case !s.reached():
			return "claim " + key.String() + had + "is gone, and another of that name was made" + m.madeBy(s.atGoal), remedy
		case ref == nil || ref.UID != s.atGoal.UID:
			return fmt.Sprintf("volume %s had been bound to claim %s, and no longer names it%s", v.Ref.Name, key, m.namedBy(s)), remedy
		case !sameModes(s.pv.Spec.AccessModes, s.modes):
			return fmt.Sprintf("the access modes of volume %s have been changed to %s%s", v.Ref.Name, modesText(s.pv.Spec.AccessModes), by(managerOf(s.pv, "spec", "accessModes"))), remedy
		}
		return fmt.Sprintf("claim %s%sis %s, and the volume %s", key, had, s.atGoal.Status.Phase, s.pv.Status.Phase), remedy
	}
	return "", ""
}

// blind says what cannot be seen that has to be: where pods may not be read,
// none would seem to use a claim.
func (m *machine) blind() string {
	needed := make([]string, 1, 1+len(m.j.Workloads))
	needed[0] = "pods"
	for _, w := range m.workloads() {
		needed = append(needed, plural(w.Ref.Kind))
	}
	for _, resource := range needed {
		if why := m.s.Unread[resource]; why != "" {
			return fmt.Sprintf("%s can't be read, so that it is not known what uses the claims: %s", resource, why)
		}
	}
	return ""
}

func plural(k actions.Kind) string { return strings.ToLower(string(k)) + "s" }

// nodes are all steps, in their order.
func (m *machine) nodes() []node {
	if m.withdraws() {
		return m.withdrawal()
	}
	before := m.beforeBinding()
	binding := m.bindings()
	after := m.afterBinding()
	policies := m.policies(m.j.Volumes)
	// Once everything else is done, the policy is what it is to be, and the
	// marks of the operation may go.
	closing := m.bound && (settled(after) || m.policyBack())
	last := closing && allDone(policies) && (allDone(after) || m.cleaning())
	nodes, gate := m.notes(closing, last), m.gate()
	if !m.leadNoted() {
		nodes, gate = slices.Concat(gate, nodes), nil
	}
	for _, part := range [][]node{gate, before, binding, after, policies, m.cleanups(m.j.Volumes, last)} {
		nodes = append(nodes, part...)
	}
	return nodes
}

// policyBack says that this run has brought a policy back already: what comes
// in between then is not about Retain.
func (m *machine) policyBack() bool {
	for _, v := range m.j.Volumes {
		if m.run.Seen["policy/"+v.Ref.Name] {
			return true
		}
	}
	return false
}

// cleaning says that the marks are being taken off already, or are gone: what
// comes and goes by itself does not bring them back.
func (m *machine) cleaning() bool {
	if !m.run.Started && !m.leadNoted() {
		return false
	}
	for i, v := range m.j.Volumes {
		if !m.noted(i, m.s.Volumes[v.Ref.Name]) {
			return true
		}
	}
	return false
}

// settled leaves out what comes and goes by itself.
func settled(nodes []node) bool {
	for _, n := range nodes {
		if !n.done && !n.flips {
			return false
		}
	}
	return true
}

func allDone(nodes []node) bool {
	for _, n := range nodes {
		if !n.done {
			return false
		}
	}
	return true
}

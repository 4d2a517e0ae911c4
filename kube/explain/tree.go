package explain

import (
	"fmt"
	"slices"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Node is an object in a tree of what has to do with what, with the state it
// is in now.
type Node struct {
	Object actions.Ref
	// Phase is the state in a word; empty for what has none.
	Phase string
	// Note says something more about it, in a clause.
	Note  string
	Level Level
	// Selected: it is the object that was asked about.
	Selected bool
	// Missing: something names it, but it does not exist. Unknown: whether it
	// exists can't be seen.
	Missing bool
	Unknown bool
	// More is how many children were left out.
	More     int
	Children []*Node
}

// defaultWidth is how many children a node shows: a class has volumes without
// end.
const defaultWidth = 50

// Tree is what an object has to do with: class, volume, claim, those who use
// it with their pods and owners, and where it is attached. It may have several
// roots, as a pod may have claims of several classes, and none when nothing is
// known of the object. Any kind of object may be asked about; width bounds the
// children of a node, 0 for 50.
func Tree(snap *kube.Snapshot, ref actions.Ref, width int) []*Node {
	if width <= 0 {
		width = defaultWidth
	}
	g := &grower{snap: snap, ref: ref, width: width, classes: map[string]*Node{}}
	switch ref.Kind {
	case actions.ClassKind:
		g.fromClass()
	case actions.VolumeKind:
		if v := snap.Volume(ref.Name); v != nil {
			g.volume(v)
		}
	case actions.ClaimKind:
		if c := snap.Claim(ref.Namespace, ref.Name); c != nil {
			g.claim(c)
		}
	case nodeKind, attachmentKind:
		g.fromAttachments()
	default:
		g.fromUsers()
	}
	tidy(g.roots)
	return g.roots
}

// tidy makes all notes safe to show.
func tidy(nodes []*Node) {
	for _, n := range nodes {
		n.Phase, n.Note = clean(n.Phase), clean(n.Note)
		tidy(n.Children)
	}
}

// grower makes a tree.
type grower struct {
	snap  *kube.Snapshot
	ref   actions.Ref
	width int
	roots []*Node
	// classes are the roots by class.
	classes map[string]*Node
}

func (g *grower) node(ref actions.Ref, phase string) *Node {
	n := &Node{Object: ref, Phase: phase}
	n.Selected = ref.Kind == g.ref.Kind && ref.Name == g.ref.Name && ref.Namespace == g.ref.Namespace &&
		(g.ref.UID == "" || ref.UID == "" || g.ref.UID == ref.UID)
	return n
}

// attach adds a child, or counts it.
func (g *grower) attach(parent, child *Node) {
	if len(parent.Children) < g.width {
		parent.Children = append(parent.Children, child)
	} else {
		parent.More++
	}
}

// underClass puts a node under its class; one without a class is a root.
func (g *grower) underClass(name string, n *Node) {
	if name == "" {
		g.roots = append(g.roots, n)
		return
	}
	root := g.classes[name]
	if root == nil {
		root = g.class(name)
		g.classes[name] = root
		g.roots = append(g.roots, root)
	}
	g.attach(root, n)
}

func (g *grower) class(name string) *Node {
	c := g.snap.Class(name)
	if c == nil {
		n := g.node(actions.Ref{Kind: actions.ClassKind, Name: name}, "")
		n.Missing = g.snap.Known(kube.StorageClasses, "")
		n.Unknown = !n.Missing
		return n
	}
	n := g.node(classRef(c.Object), "")
	n.Note = clean(c.Object.Provisioner) + ", policy " + string(classPolicy(c.Object))
	if c.Effective {
		n.Note += ", the default"
	}
	return n
}

func (g *grower) fromClass() {
	if g.snap.Class(g.ref.Name) == nil {
		return
	}
	root := g.class(g.ref.Name)
	g.classes[g.ref.Name] = root
	g.roots = append(g.roots, root)
	for _, v := range g.snap.Volumes {
		switch {
		case v.Class != g.ref.Name:
		case len(root.Children) >= g.width:
			root.More++ // It is not shown: spare the work.
		default:
			g.volume(v)
		}
	}
	for _, c := range g.snap.Claims {
		switch {
		case c.Class.Name != g.ref.Name || c.Object.Spec.VolumeName != "":
		case len(root.Children) >= g.width:
			root.More++
		default:
			g.claim(c)
		}
	}
}

// volume grows a volume with its claim and attachments under its class.
func (g *grower) volume(v *kube.Volume) {
	n := g.volumeNode(v)
	if ref := v.Object.Spec.ClaimRef; ref != nil {
		g.attach(n, g.namedClaim(v))
	}
	for _, c := range g.claimsNaming(v) {
		child := g.claimNode(c)
		child.Note, child.Level = "names this volume, which does not name it back", Warn
		g.attach(n, child)
	}
	g.underClass(v.Class, n)
}

func (g *grower) volumeNode(v *kube.Volume) *Node {
	n := g.node(volumeRef(v.Object), string(v.State.Phase))
	n.Note = "policy " + string(v.Object.Spec.PersistentVolumeReclaimPolicy)
	if v.State.Phase == kube.Terminating {
		n.Level = Warn
	}
	if v.State.Phase == kube.Failed {
		n.Level = Bad
	}
	for _, a := range v.Attachments {
		child := g.node(attachmentRef(a), "")
		child.Note = attachmentText(a)
		if a.Problem != "" {
			child.Level = Warn
		}
		child.Children = []*Node{g.machine(a.Node)}
		g.attach(n, child)
	}
	return n
}

func (g *grower) machine(name string) *Node {
	n := g.node(actions.Ref{Kind: nodeKind, Name: name}, "")
	switch m := g.snap.Node(name); {
	case m == nil:
		n.Missing = g.snap.Known(kube.Nodes, "")
		n.Unknown = !n.Missing
	case m.Ready:
		n.Object.UID, n.Phase = m.UID, "Ready"
	default:
		n.Object.UID, n.Phase, n.Level = m.UID, "NotReady", Warn
	}
	return n
}

// namedClaim is the claim that a volume's claimRef names, whether or not it is
// there.
func (g *grower) namedClaim(v *kube.Volume) *Node {
	ref := v.Object.Spec.ClaimRef
	c := g.snap.Claim(ref.Namespace, ref.Name)
	if c == nil {
		n := g.node(claimRefOf(v.Object), "")
		n.Missing = v.Tie == kube.TieAbsent
		n.Unknown = !n.Missing
		return n
	}
	n := g.claimNode(c)
	if v.Tie == kube.TieOther {
		n.Note, n.Level = "named by the volume"+otherText(g.snap, v), Notice
	}
	return n
}

// claimsNaming are the claims that name a volume which names another, or
// nobody. The tie of a claim tells without a look at the volume.
func (g *grower) claimsNaming(v *kube.Volume) []*kube.Claim {
	if g.ref.Kind == actions.ClassKind {
		return nil // Each would be a look at all claims.
	}
	var found []*kube.Claim
	for _, c := range g.snap.Claims {
		if c.Object.Spec.VolumeName == v.Object.Name && claimName(c.Object) != claimOf(v.Object) {
			found = append(found, c)
		}
	}
	return found
}

// claim grows a claim from its volume, if it has one.
func (g *grower) claim(c *kube.Claim) {
	name := c.Object.Spec.VolumeName
	if v := g.snap.Volume(name); v != nil {
		g.volume(v)
		return
	}
	n := g.claimNode(c)
	if name != "" {
		parent := g.node(actions.Ref{Kind: actions.VolumeKind, Name: name}, "")
		parent.Missing = c.Tie == kube.TieAbsent
		parent.Unknown = !parent.Missing
		parent.Children = []*Node{n}
		n = parent
	}
	g.underClass(c.Class.Name, n)
}

func (g *grower) claimNode(c *kube.Claim) *Node {
	n := g.node(claimRef(c.Object), string(c.State.Phase))
	if c.State.Phase == kube.Lost {
		n.Level = Bad
	}
	if c.State.Phase == kube.Terminating {
		n.Level = Warn
	}
	if source := actions.Source(c.Object.Labels, c.Object.Annotations); source != "" {
		n.Note = "from " + clean(source)
	}
	for _, u := range c.Users {
		g.attach(n, g.user(u))
	}
	if len(c.Users) == 0 && !c.UsersKnown {
		n.Note = "pods can't be seen: " + unseen(g.snap, kube.Pods)
	}
	return n
}

func (g *grower) user(u kube.User) *Node {
	if u.Kind == string(podKind) && len(u.Pods) == 1 {
		return g.pod(u, u.Pods[0])
	}
	n := g.node(userRef(u), "")
	if u.Replicas != nil {
		n.Note = fmt.Sprintf("to have %s", count(int(*u.Replicas), "pod"))
	}
	if u.Workload != nil && u.Workload.Source != "" {
		n.Note = joined(n.Note, "from "+clean(u.Workload.Source))
	}
	for _, p := range u.Pods {
		g.attach(n, g.pod(u, p))
	}
	if owner := g.owner(u.Namespace, u.Workload, maxChain); owner != nil {
		n.Children = append(n.Children, owner) // Never left out.
	}
	return n
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

func (g *grower) owner(namespace string, w *kube.Workload, left int) *Node {
	if w == nil || w.Owner.Name == "" || left == 0 {
		return nil
	}
	o := w.Owner
	n := g.node(actions.Ref{Kind: actions.Kind(o.Kind), Namespace: namespace, Name: o.Name, UID: o.UID}, "")
	n.Note = "controls it"
	if above := g.owner(namespace, workloadOf(g.snap, namespace, o), left-1); above != nil {
		n.Children = []*Node{above}
	}
	return n
}

func (g *grower) pod(u kube.User, p kube.Pod) *Node {
	n := g.node(actions.Ref{Kind: podKind, Namespace: u.Namespace, Name: p.Name, UID: p.UID}, phaseText(p))
	n.Note = "not scheduled"
	if p.Node != "" {
		n.Note = "on node " + p.Node
	}
	if p.Terminating {
		n.Phase, n.Level = "Terminating", Notice
	}
	return n
}

// fromAttachments: a machine, or an attachment, leads to volumes.
func (g *grower) fromAttachments() {
	for _, v := range g.snap.Volumes {
		for _, a := range v.Attachments {
			if g.ref.Kind == nodeKind && a.Node == g.ref.Name || g.ref.Kind == attachmentKind && a.Name == g.ref.Name {
				g.volume(v)
				break
			}
		}
	}
}

// fromUsers: a pod, a workload or its owner leads to claims.
func (g *grower) fromUsers() {
	for _, c := range g.snap.Claims {
		if slices.ContainsFunc(c.Users, g.isUser) {
			g.claim(c)
		}
	}
}

func (g *grower) isUser(u kube.User) bool {
	if u.Namespace != g.ref.Namespace {
		return false
	}
	if u.Kind == string(g.ref.Kind) && u.Name == g.ref.Name {
		return true
	}
	if g.ref.Kind == podKind {
		for _, p := range u.Pods {
			if p.Name == g.ref.Name {
				return true
			}
		}
		return false
	}
	w := u.Workload
	for range maxChain {
		if w == nil || w.Owner.Name == "" {
			return false
		}
		if w.Owner.Kind == string(g.ref.Kind) && w.Owner.Name == g.ref.Name {
			return true
		}
		w = workloadOf(g.snap, u.Namespace, w.Owner)
	}
	return false
}

package explain

import (
	"maps"
	"slices"
	"strings"

	"github.com/claimref/claimref/kube"
)

// noVerdicts is what nearly all objects have: it is shared.
var noVerdicts = &verdicts{}

// surroundings are what the risks of an object depend on besides the object
// itself.
type surroundings struct {
	snap    *kube.Snapshot
	options RiskOptions
	home    *home
	// wanting: volume name to the claims that name it and do not hold it.
	wanting map[string][]*kube.Claim
	// rivals are the names of the claims that name a volume or have it, sorted,
	// of those volumes that were asked about.
	rivals       map[string][]string
	classesKnown bool
	ownersKnown  bool
	// volumes by name, where so many are looked up that it pays.
	volumes map[string]*kube.Volume
}

// indexed is how many lookups of a volume make an index worth while.
const indexed = 2000

func (e *surroundings) index() {
	e.volumes = make(map[string]*kube.Volume, len(e.snap.Volumes))
	for _, v := range e.snap.Volumes {
		e.volumes[v.Object.Name] = v
	}
}

func (e *surroundings) volumeNamed(name string) *kube.Volume {
	if e.volumes != nil {
		return e.volumes[name]
	}
	return e.snap.Volume(name)
}

func surround(snap *kube.Snapshot, options RiskOptions, wanting map[string][]*kube.Claim) *surroundings {
	return &surroundings{
		snap: snap, options: options, home: newHome(snap), wanting: wanting, rivals: map[string][]string{},
		classesKnown: snap.Known(kube.StorageClasses, ""), ownersKnown: snap.OwnersKnown(),
	}
}

// sameClasses tells whether the classes are the same for all that risks ask of
// them. How many volumes a class has is of no account.
func sameClasses(a, b *kube.Snapshot) bool {
	return a.Known(kube.StorageClasses, "") == b.Known(kube.StorageClasses, "") &&
		slices.EqualFunc(a.Classes, b.Classes, func(c, d *kube.Class) bool {
			return c == d || c.Object.Name == d.Object.Name && classPolicy(c.Object) == classPolicy(d.Object)
		})
}

// sameNodes does the same for the nodes. That one is ready or not is of no
// account.
func sameNodes(a, b *kube.Snapshot) bool {
	return a.Known(kube.Nodes, "") == b.Known(kube.Nodes, "") &&
		slices.EqualFunc(a.Nodes, b.Nodes, func(n, m *kube.Node) bool {
			return n == m || n.Name == m.Name && maps.Equal(n.Labels, m.Labels)
		})
}

func sameNamespaces(a, b *kube.Snapshot) bool {
	return a.Known(kube.Namespaces, "") == b.Known(kube.Namespaces, "") &&
		slices.EqualFunc(a.Namespaces, b.Namespaces, func(n, m *kube.Namespace) bool {
			return n == m || n.Name == m.Name && n.Terminating == m.Terminating
		})
}

// Tracker finds the risks of one snapshot after another. What has not changed,
// which it knows by the identity of the records, is not looked at again. It
// belongs to one goroutine; the Risks it makes may be read by any.
type Tracker struct {
	options RiskOptions
	snap    *kube.Snapshot
	risks   *Risks
	wanting map[string][]*kube.Claim
}

// NewTracker makes a tracker. The error names a pattern that can't be read.
func NewTracker(options RiskOptions) (*Tracker, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	return &Tracker{options: options}, nil
}

// Update finds the risks of a snapshot.
func (t *Tracker) Update(snap *kube.Snapshot) *Risks {
	if t.snap == snap {
		return t.risks
	}
	before, old := t.snap, t.risks
	if before == nil || !sameClasses(before, snap) || before.OwnersKnown() != snap.OwnersKnown() {
		before, old = &kube.Snapshot{}, &Risks{}
		t.wanting = make(map[string][]*kube.Claim)
	}
	claims := align(before.Claims, old.claims, snap.Claims, compareClaims)
	volumes := align(before.Volumes, old.volumes, snap.Volumes, compareVolumes)
	for _, c := range claims.changes {
		t.want(c.before, c.after)
	}
	e := surround(snap, t.options, t.wanting)
	if old == t.risks {
		// Otherwise everything is looked at anyway.
		t.spread(snap, claims, volumes)
		e.moved(before, volumes)
	}
	if len(claims.changes) > indexed {
		e.index()
	}
	for i, known := range claims.kept {
		if known == nil {
			claims.kept[i] = e.claim(snap.Claims[i])
			claims.added = append(claims.added, claims.kept[i].risks...)
		}
	}
	for i, known := range volumes.kept {
		if known == nil {
			volumes.kept[i] = e.volume(snap.Volumes[i])
			volumes.added = append(volumes.added, volumes.kept[i].risks...)
		}
	}
	classes := classRisks(snap)
	gone := slices.Concat(claims.gone, volumes.gone, old.classes)
	added := slices.Concat(claims.added, volumes.added, classes)
	t.snap = snap
	t.risks = &Risks{
		Revision: snap.Revision, snap: snap, claims: claims.kept, volumes: volumes.kept, classes: classes,
		list: replaceRisks(old.list, gone, added),
	}
	return t.risks
}

// want keeps the index of the claims that name a volume they do not hold.
func (t *Tracker) want(before, after *kube.Claim) {
	if wanting(before) {
		name := before.Object.Spec.VolumeName
		left := slices.DeleteFunc(slices.Clone(t.wanting[name]), func(c *kube.Claim) bool { return c == before })
		if len(left) == 0 {
			delete(t.wanting, name)
		} else {
			t.wanting[name] = left
		}
	}
	if wanting(after) {
		name := after.Object.Spec.VolumeName
		t.wanting[name] = append(t.wanting[name], after)
	}
}

func wanting(c *kube.Claim) bool {
	return c != nil && c.Object.Spec.VolumeName != "" && c.Tie != kube.TieHeld
}

// spread marks those claims for another look whose volume has changed, or with
// which another claim shares the name of a volume. No volume depends on more
// of a claim than its own record tells.
func (t *Tracker) spread(snap *kube.Snapshot, claims *aligned[kube.Claim], volumes *aligned[kube.Volume]) {
	touch := func(namespace, name string) {
		i, found := slices.BinarySearchFunc(snap.Claims, struct{}{}, func(c *kube.Claim, _ struct{}) int {
			return compareKeys(c.Object.Namespace, c.Object.Name, namespace, name)
		})
		if found {
			claims.again(i)
		}
	}
	done := map[string]bool{}
	rivals := func(volume string) {
		if done[volume] {
			return
		}
		done[volume] = true
		for _, c := range t.wanting[volume] {
			touch(c.Object.Namespace, c.Object.Name)
		}
	}
	for _, c := range claims.changes {
		for _, side := range [...]*kube.Claim{c.before, c.after} {
			if side != nil && side.Object.Spec.VolumeName != "" {
				rivals(side.Object.Spec.VolumeName)
			}
		}
	}
	for _, c := range volumes.changes {
		for _, side := range [...]*kube.Volume{c.before, c.after} {
			if side == nil {
				continue
			}
			if ref := side.Object.Spec.ClaimRef; ref != nil {
				touch(ref.Namespace, ref.Name)
			}
			rivals(side.Object.Name)
		}
	}
}

// moved marks those volumes for another look whose nodes or namespaces have
// come or gone.
func (e *surroundings) moved(before *kube.Snapshot, volumes *aligned[kube.Volume]) {
	if !sameNodes(before, e.snap) {
		for i, v := range e.snap.Volumes {
			known := volumes.kept[i]
			if known != nil && v.Object.Spec.NodeAffinity != nil && e.home.nowhere(v.Object) != known.has(RiskNodeGone) {
				volumes.again(i)
			}
		}
	}
	if !sameNamespaces(before, e.snap) {
		for i, v := range e.snap.Volumes {
			if v.State.Phase == kube.Reserved {
				volumes.again(i)
			}
		}
	}
}

func compareVolumes(a, b *kube.Volume) int { return strings.Compare(a.Object.Name, b.Object.Name) }

func compareClaims(a, b *kube.Claim) int {
	return compareKeys(a.Object.Namespace, a.Object.Name, b.Object.Namespace, b.Object.Name)
}

func compareKeys(namespaceA, nameA, namespaceB, nameB string) int {
	if c := strings.Compare(namespaceA, namespaceB); c != 0 {
		return c
	}
	return strings.Compare(nameA, nameB)
}

// change is a record that came, changed (both set) or went.
type change[T any] struct {
	before *T
	after  *T
}

// aligned is what is known of the records of a new snapshot from an old one.
type aligned[T any] struct {
	// kept are the verdicts by the new snapshot's order; nil for a record that
	// has to be looked at.
	kept    []*verdicts
	changes []change[T]
	// gone are the risks that no longer hold, added those that take their
	// place.
	gone  []*Risk
	added []*Risk
}

// again has a record looked at again, though it has not changed.
func (a *aligned[T]) again(i int) {
	if a.kept[i] != nil {
		a.gone = append(a.gone, a.kept[i].risks...)
		a.kept[i] = nil
	}
}

// align goes through two ordered lists of records at once.
func align[T any](before []*T, known []*verdicts, after []*T, compare func(a, b *T) int) *aligned[T] {
	a := &aligned[T]{kept: make([]*verdicts, len(after))}
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		if i < len(before) && j < len(after) && before[i] == after[j] {
			a.kept[j] = known[i]
			i, j = i+1, j+1
			continue
		}
		var c change[T]
		order := 0
		switch {
		case i == len(before):
			order = 1
		case j == len(after):
			order = -1
		default:
			order = compare(before[i], after[j])
		}
		if order <= 0 {
			c.before = before[i]
			a.gone = append(a.gone, known[i].risks...)
			i++
		}
		if order >= 0 {
			c.after = after[j]
			j++
		}
		a.changes = append(a.changes, c)
	}
	return a
}

// replaceRisks takes some risks out of an ordered list and puts others in. The
// list itself belongs to the readers of former risks, and is not changed.
func replaceRisks(list, gone, added []*Risk) []*Risk {
	slices.SortFunc(gone, (*Risk).compare)
	slices.SortFunc(added, (*Risk).compare)
	if len(gone)+len(added) == 0 {
		return list
	}
	out := make([]*Risk, 0, len(list)-len(gone)+len(added))
	for len(gone)+len(added) > 0 {
		// What goes comes first: the new one may stand in its place.
		if len(gone) > 0 && (len(added) == 0 || gone[0].compare(added[0]) <= 0) {
			at, _ := slices.BinarySearchFunc(list, gone[0], (*Risk).compare)
			out = append(out, list[:at]...)
			list, gone = list[at+1:], gone[1:]
			continue
		}
		at, _ := slices.BinarySearchFunc(list, added[0], (*Risk).compare)
		out = append(append(out, list[:at]...), added[0])
		list, added = list[at:], added[1:]
	}
	return append(out, list...)
}

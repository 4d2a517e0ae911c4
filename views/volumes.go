package views

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// volumesKind is the table of PersistentVolumes.
func volumesKind() kind[*kube.Volume] {
	k := kind[*kube.Volume]{
		title:     "Volumes",
		resource:  kube.PersistentVolumes,
		items:     func(s *session) []*kube.Volume { return s.snap.Volumes },
		id:        func(v *kube.Volume) string { return uidID(v.Object.UID) },
		name:      func(v *kube.Volume) string { return v.Object.Name },
		namespace: volumeNamespace,
		values:    volumeValues,
		story:     (*session).volumeStory,
		tally:     func(v *kube.Volume) (kube.Phase, int64) { return v.State.Phase, v.Capacity },
		keys:      volumeKeys,
		ref:       volumeRef,
		unjudged:  (*session).volumeUnjudged,
	}
	k.risk = func(s *session, v *kube.Volume, found []*explain.Risk, test func(string) bool) bool {
		return hasRisk(s, k, v, found, test)
	}
	k.found = func(s *session, all []*kube.Volume, each func(int, []*explain.Risk)) { s.risks.EachVolume(all, each) }
	k.columns = func(s *session) []column[*kube.Volume] { return volumeColumns(s, riskColumn(s, k)) }
	return k
}

func uidID(uid types.UID) string { return string(uid) }

// volumeNamespace is the namespace of the claim a volume names: a volume has
// none of its own.
func volumeNamespace(v *kube.Volume) string {
	if ref := v.Object.Spec.ClaimRef; ref != nil {
		return ref.Namespace
	}
	return ""
}

func volumeValues(v *kube.Volume) has {
	return func(key string, test func(string) bool) bool {
		pv := v.Object
		switch key {
		case "phase":
			return test(string(v.State.Phase)) || test(string(v.State.Stored)) && v.State.Phase == kube.Terminating
		case "class":
			return test(v.Class)
		case "ns":
			return pv.Spec.ClaimRef != nil && test(pv.Spec.ClaimRef.Namespace)
		case "policy":
			return test(string(pv.Spec.PersistentVolumeReclaimPolicy))
		case "mode":
			return anyMode(pv.Spec.AccessModes, test)
		case "driver":
			return test(driver(pv))
		}
		return test(pv.Name) || test(v.Class) || test(string(v.State.Phase)) || test(claimOf(pv)) ||
			test(driver(pv)) || test(handle(pv)) || anyUser(v.Users, test)
	}
}

// anyMode tests the short and the long names of access modes.
func anyMode(list []corev1.PersistentVolumeAccessMode, test func(string) bool) bool {
	for i, m := range list {
		if test(modes(list[i:i+1])) || test(string(m)) {
			return true
		}
	}
	return false
}

func anyUser(users []kube.User, test func(string) bool) bool {
	for _, u := range users {
		if test(kindShort(u.Kind) + "/" + u.Name) {
			return true
		}
		for _, p := range u.Pods {
			if test(p.Name) {
				return true
			}
		}
	}
	return false
}

func volumeColumns(s *session, risk column[*kube.Volume]) []column[*kube.Volume] {
	type vol = *kube.Volume
	spec := func(v vol) *corev1.PersistentVolumeSpec { return &v.Object.Spec }
	by := func(f func(vol) string) func(a, b vol) int {
		return func(a, b vol) int { return cmp.Compare(f(a), f(b)) }
	}
	policy := func(v vol) string { return string(spec(v).PersistentVolumeReclaimPolicy) }
	vac := func(v vol) string { return deref(spec(v).VolumeAttributesClassName) }
	return []column[vol]{
		{
			Column:  ui.Column{Title: "NAME", Min: 18, Max: 44, Middle: true, Grow: true},
			cell:    s.volumeNameCell,
			compare: by(func(v vol) string { return v.Object.Name }),
		},
		{
			Column:  ui.Column{Title: "CAPACITY", Align: ui.Right, Usual: 8, Priority: 2},
			cell:    func(v vol) ui.Cell { return plain(storage(spec(v).Capacity)) },
			compare: func(a, b vol) int { return cmp.Compare(a.Capacity, b.Capacity) },
		},
		{
			Column:  ui.Column{Title: "MODES", Usual: 7, Priority: 2},
			cell:    func(v vol) ui.Cell { return plain(modes(spec(v).AccessModes)) },
			compare: by(func(v vol) string { return modes(spec(v).AccessModes) }),
		},
		{
			Column:  ui.Column{Title: "POLICY", Usual: 6, Priority: 3},
			cell:    func(v vol) ui.Cell { return policyCell(spec(v).PersistentVolumeReclaimPolicy) },
			compare: by(policy),
		},
		{
			Column:  phaseColumn(),
			cell:    func(v vol) ui.Cell { return s.phaseCell(v.State) },
			compare: func(a, b vol) int { return cmp.Compare(phaseRank(a.State.Phase), phaseRank(b.State.Phase)) },
		},
		risk,
		{
			Column:  ui.Column{Title: "CLAIM", Min: 14, Max: 48, Middle: true, Grow: true, Priority: 1},
			cell:    s.volumeClaimCell,
			compare: by(func(v vol) string { return claimOf(v.Object) }),
		},
		{
			Column:  ui.Column{Title: "CLASS", Min: 8, Max: 24, Tail: true, Priority: 4},
			cell:    func(v vol) ui.Cell { return s.classCell(v.Class) },
			compare: by(func(v vol) string { return v.Class }),
		},
		{
			Column:  ui.Column{Title: "USED BY", Min: 10, Max: 28, Tail: true, Priority: 5},
			cell:    func(v vol) ui.Cell { return usedBy(v.Users, v.UsersKnown) },
			compare: func(a, b vol) int { return compareUsers(a.Users, b.Users) },
		},
		{
			Column:  ui.Column{Title: "AGE", Align: ui.Right, Usual: 5, Priority: 6},
			cell:    func(v vol) ui.Cell { return dim(age(v.Object.CreationTimestamp, s.now)) },
			compare: func(a, b vol) int { return b.Object.CreationTimestamp.Compare(a.Object.CreationTimestamp.Time) },
		},
		{
			wide: true, Column: ui.Column{Title: "DRIVER", Min: 12, Max: 32, Middle: true, Priority: 1},
			cell:    func(v vol) ui.Cell { return plain(driver(v.Object)) },
			compare: by(func(v vol) string { return driver(v.Object) }),
		},
		{
			wide: true, Column: ui.Column{Title: "HANDLE", Min: 16, Max: 40, Middle: true, Priority: 2},
			cell:    func(v vol) ui.Cell { return plain(handle(v.Object)) },
			compare: by(func(v vol) string { return handle(v.Object) }),
		},
		{
			wide: true, Column: ui.Column{Title: "VOLUME MODE", Usual: 11, Priority: 7},
			cell:    func(v vol) ui.Cell { return plain(volumeMode(spec(v).VolumeMode)) },
			compare: by(func(v vol) string { return volumeMode(spec(v).VolumeMode) }),
		},
		{
			wide: true, Column: ui.Column{Title: "ATTRIBUTES", Min: 8, Max: 16, Priority: 8},
			cell:    func(v vol) ui.Cell { return plain(vac(v)) },
			compare: by(vac),
		},
		{
			wide: true, Column: ui.Column{Title: "NODES", Min: 8, Max: 30, Priority: 5},
			cell:    func(v vol) ui.Cell { return plain(affinity(v.Object)) },
			compare: by(func(v vol) string { return affinity(v.Object) }),
		},
		{
			wide: true, Column: ui.Column{Title: "SINCE", Align: ui.Right, Usual: 5, Priority: 3},
			cell:    func(v vol) ui.Cell { return dim(s.since(v.Object)) },
			compare: func(a, b vol) int { return cmp.Compare(transition(b.Object), transition(a.Object)) },
		},
		{
			wide: true, Column: ui.Column{Title: "REASON", Min: 16, Max: 50, Priority: 4},
			cell:    func(v vol) ui.Cell { return plain(reason(v.Object)) },
			compare: by(func(v vol) string { return reason(v.Object) }),
		},
		{
			wide: true, Column: ui.Column{Title: "FINALIZERS", Min: 16, Max: 40, Priority: 6},
			cell:    func(v vol) ui.Cell { return plain(finalizers(v.Object.Finalizers)) },
			compare: by(func(v vol) string { return finalizers(v.Object.Finalizers) }),
		},
	}
}

// volumeClaimCell names the claim; one that does not exist, or is another one
// by now, is dimmed: the name is a memory.
func (s *session) volumeClaimCell(v *kube.Volume) ui.Cell {
	name := claimOf(v.Object)
	if name == "" {
		return plain(none)
	}
	if v.Tie == kube.TieAbsent || v.Tie == kube.TieOther {
		return dim(name)
	}
	return plain(name)
}

// classCell names a volume's class and flags one that does not exist.
func (s *session) classCell(name string) ui.Cell {
	if name == "" {
		return dim(`""`)
	}
	if s.classMissing(name) {
		return ui.Cell{{Text: name, Role: ui.Dim}, {Text: " gone", Role: ui.Dim}}
	}
	return plain(name)
}

// classMissing says that a class is named but does not exist. As long as the
// classes have not all been read, nothing is missing.
func (s *session) classMissing(name string) bool {
	return name != "" && s.readState(kube.StorageClasses).Phase == kube.Synced && s.snap.Class(name) == nil
}

func compareUsers(a, b []kube.User) int {
	name := func(u []kube.User) string {
		if len(u) == 0 {
			return "\xff" // unused ones last
		}
		return kindShort(u[0].Kind) + "/" + u[0].Name
	}
	return cmp.Compare(name(a), name(b))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func volumeMode(m *corev1.PersistentVolumeMode) string {
	if m == nil {
		return string(corev1.PersistentVolumeFilesystem)
	}
	return string(*m)
}

func finalizers(list []string) string { return strings.Join(list, ",") }

func reason(pv *corev1.PersistentVolume) string {
	switch r, m := pv.Status.Reason, pv.Status.Message; {
	case r == "":
		return m
	case m == "":
		return r
	default:
		return r + ": " + m
	}
}

// transition is the moment of the last change of phase, 0 when the server
// does not say.
func transition(pv *corev1.PersistentVolume) int64 {
	if t := pv.Status.LastPhaseTransitionTime; t != nil {
		return t.Unix()
	}
	return 0
}

func (s *session) since(pv *corev1.PersistentVolume) string {
	if t := pv.Status.LastPhaseTransitionTime; t != nil {
		return age(*t, s.now)
	}
	return none
}

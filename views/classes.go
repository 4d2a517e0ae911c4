package views

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
	"github.com/claimref/claimref/ui"
)

// classesKind is the table of StorageClasses.
func classesKind() kind[*kube.Class] {
	k := kind[*kube.Class]{
		title:    "Classes",
		resource: kube.StorageClasses,
		items:    func(s *session) []*kube.Class { return s.snap.Classes },
		id:       func(c *kube.Class) string { return uidID(c.Object.UID) },
		name:     func(c *kube.Class) string { return c.Object.Name },
		values:   classValues,
		story:    (*session).classStory,
		keys:     classKeys,
		ref:      classRef,
		unjudged: func(*session, *kube.Class) string { return "" },
	}
	k.risk = func(s *session, c *kube.Class, found []*explain.Risk, test func(string) bool) bool {
		return hasRisk(s, k, c, found, test)
	}
	k.found = func(s *session, all []*kube.Class, each func(int, []*explain.Risk)) {
		for i, c := range all {
			each(i, s.risksOf(k.ref(c)))
		}
	}
	k.columns = func(s *session) []column[*kube.Class] { return classColumns(s, riskColumn(s, k)) }
	return k
}

func classRef(c *kube.Class) actions.Ref {
	return actions.Ref{Kind: actions.ClassKind, Name: c.Object.Name, UID: c.Object.UID}
}

func classValues(c *kube.Class) has {
	return func(key string, test func(string) bool) bool {
		switch key {
		case "class":
			return test(c.Object.Name)
		case "policy":
			return test(string(classPolicy(c.Object)))
		case "driver":
			return test(c.Object.Provisioner)
		case "phase", "ns", "mode":
			return false
		}
		return test(c.Object.Name) || test(c.Object.Provisioner) || test(string(classPolicy(c.Object)))
	}
}

// classPolicy is the policy that the class's new volumes get: Delete unless
// it says otherwise.
func classPolicy(c *storagev1.StorageClass) corev1.PersistentVolumeReclaimPolicy {
	if c.ReclaimPolicy == nil {
		return corev1.PersistentVolumeReclaimDelete
	}
	return *c.ReclaimPolicy
}

func bindingMode(c *storagev1.StorageClass) storagev1.VolumeBindingMode {
	if c.VolumeBindingMode == nil {
		return storagev1.VolumeBindingImmediate
	}
	return *c.VolumeBindingMode
}

func expansion(c *storagev1.StorageClass) string {
	if c.AllowVolumeExpansion != nil && *c.AllowVolumeExpansion {
		return "yes"
	}
	return "no"
}

func classColumns(s *session, risk column[*kube.Class]) []column[*kube.Class] {
	type class = *kube.Class
	by := func(f func(class) string) func(a, b class) int {
		return func(a, b class) int { return cmp.Compare(f(a), f(b)) }
	}
	total := func(c class) kube.Tally {
		var t kube.Tally
		for _, v := range c.Volumes {
			t.Count, t.Bytes = t.Count+v.Count, t.Bytes+v.Bytes
		}
		return t
	}
	return []column[class]{
		{
			Column:  ui.Column{Title: "NAME", Min: 24, Max: 40, Middle: true, Tail: true, Grow: true},
			cell:    s.classNameCell,
			compare: by(func(c class) string { return c.Object.Name }),
		},
		risk,
		{
			Column:  ui.Column{Title: "PROVISIONER", Min: 12, Max: 44, Middle: true, Priority: 1},
			cell:    func(c class) ui.Cell { return plain(c.Object.Provisioner) },
			compare: by(func(c class) string { return c.Object.Provisioner }),
		},
		{
			Column:  ui.Column{Title: "POLICY", Usual: 6, Priority: 2},
			cell:    func(c class) ui.Cell { return policyCell(classPolicy(c.Object)) },
			compare: by(func(c class) string { return string(classPolicy(c.Object)) }),
		},
		{
			Column:  ui.Column{Title: "BINDING", Usual: 20, Priority: 3},
			cell:    func(c class) ui.Cell { return plain(string(bindingMode(c.Object))) },
			compare: by(func(c class) string { return string(bindingMode(c.Object)) }),
		},
		{
			Column:  ui.Column{Title: "EXPANSION", Priority: 5},
			cell:    func(c class) ui.Cell { return plain(expansion(c.Object)) },
			compare: by(func(c class) string { return expansion(c.Object) }),
		},
		{
			Column:  ui.Column{Title: "SIZE", Align: ui.Right, Usual: 6, Priority: 2},
			cell:    func(c class) ui.Cell { return s.sizeCell(total(c)) },
			compare: func(a, b class) int { return cmp.Compare(total(a).Bytes, total(b).Bytes) },
		},
		{
			Column:  ui.Column{Title: "VOLUMES", Min: 14, Max: 60, Whole: true, Better: 24, BetterThan: 2, Priority: 1},
			cell:    s.classVolumesCell,
			compare: func(a, b class) int { return cmp.Compare(total(a).Count, total(b).Count) },
		},
		{
			Column:  ui.Column{Title: "AGE", Align: ui.Right, Usual: 5, Priority: 6},
			cell:    func(c class) ui.Cell { return dim(age(c.Object.CreationTimestamp, s.now)) },
			compare: func(a, b class) int { return b.Object.CreationTimestamp.Compare(a.Object.CreationTimestamp.Time) },
		},
	}
}

// classNameCell stars the default class in effect. Others that are marked as
// default too are said to be, for they are one deletion away from it.
func (s *session) classNameCell(c *kube.Class) ui.Cell {
	cell := ui.Cell{{Text: c.Object.Name}}
	switch {
	case c.Effective:
		cell = append(cell, ui.Span{Text: s.glyph(" ★ default", " * default"), Role: ui.Accent})
	case c.Default:
		cell = append(cell, ui.Span{Text: s.glyph(" ☆ also default", " also default"), Role: ui.Notice})
	}
	return cell
}

func (s *session) sizeCell(t kube.Tally) ui.Cell {
	if unknown := s.volumesUnknown(); unknown != "" {
		return dim(unknown)
	}
	if t.Count == 0 {
		return plain(none)
	}
	return plain(bytes(t.Bytes))
}

// volumesUnknown stands for volumes that may not be seen, or not yet.
func (s *session) volumesUnknown() string {
	switch s.readState(kube.PersistentVolumes).Phase {
	case kube.Forbidden:
		return hidden
	case kube.Loading:
		return "…"
	default:
		return ""
	}
}

// classVolumesCell counts its volumes by phase, with their sizes:
// "12  ● 9 90Gi  ◌ 3 30Gi".
func (s *session) classVolumesCell(c *kube.Class) ui.Cell {
	if unknown := s.volumesUnknown(); unknown != "" {
		return dim(unknown)
	}
	n := 0
	cell := ui.Cell{{}}
	for _, p := range phaseOrder() {
		if t := c.Volumes[p]; t.Count > 0 {
			n += t.Count
			m := markOf(p)
			cell = append(
				cell,
				ui.Span{Text: "  " + s.glyph(m.glyph, m.ascii) + " " + strconv.Itoa(t.Count), Role: m.role},
				ui.Span{Text: " " + bytes(t.Bytes), Role: ui.Dim},
			)
		}
	}
	if n == 0 {
		return plain(none)
	}
	cell[0].Text = strconv.Itoa(n)
	return cell
}

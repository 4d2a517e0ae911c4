package kube

import (
	"cmp"
	"slices"
	"strings"
)

// lookup finds a record in an ordered slice; order compares a record with the
// wanted one.
func lookup[T any](records []*T, order func(*T) int) *T {
	i, ok := slices.BinarySearchFunc(records, struct{}{}, func(r *T, _ struct{}) int { return order(r) })
	if !ok {
		return nil
	}
	return records[i]
}

func volumeOrder(name string) func(*Volume) int {
	return func(v *Volume) int { return strings.Compare(v.Object.Name, name) }
}

func claimOrder(namespace, name string) func(*Claim) int {
	return func(c *Claim) int { return compareNames(c.Object.Namespace, c.Object.Name, namespace, name) }
}

func classOrder(name string) func(*Class) int {
	return func(c *Class) int { return strings.Compare(c.Object.Name, name) }
}

func nodeOrder(name string) func(*Node) int {
	return func(n *Node) int { return strings.Compare(n.Name, name) }
}

func namespaceOrder(name string) func(*Namespace) int {
	return func(n *Namespace) int { return strings.Compare(n.Name, name) }
}

func workloadOrder(kind, namespace, name string) func(*Workload) int {
	return func(w *Workload) int {
		return cmp.Or(strings.Compare(w.Namespace, namespace), strings.Compare(w.Kind, kind), strings.Compare(w.Name, name))
	}
}

func compareNames(namespaceA, nameA, namespaceB, nameB string) int {
	if c := strings.Compare(namespaceA, namespaceB); c != 0 {
		return c
	}
	return strings.Compare(nameA, nameB)
}

func compareVolumes(a, b *Volume) int { return strings.Compare(a.Object.Name, b.Object.Name) }

func compareClaims(a, b *Claim) int {
	return compareNames(a.Object.Namespace, a.Object.Name, b.Object.Namespace, b.Object.Name)
}

func compareClasses(a, b *Class) int { return strings.Compare(a.Object.Name, b.Object.Name) }

func compareNodes(a, b *Node) int { return strings.Compare(a.Name, b.Name) }

func compareNamespaces(a, b *Namespace) int { return strings.Compare(a.Name, b.Name) }

func compareWorkloads(a, b *Workload) int { return workloadOrder(b.Kind, b.Namespace, b.Name)(a) }

// change is a record that came, changed (both set) or went.
type change[T any] struct {
	before *T
	after  *T
}

// merge applies changes to an ordered slice and returns a new one; the old
// one belongs to the snapshots that were made of it. One pass over both is
// the same for a single change and for a first list.
func merge[T any](records []*T, changes []change[T], compare func(a, b *T) int) []*T {
	if len(changes) == 0 {
		return records
	}
	key := func(c change[T]) *T {
		if c.after != nil {
			return c.after
		}
		return c.before
	}
	slices.SortFunc(changes, func(a, b change[T]) int { return compare(key(a), key(b)) })
	merged := make([]*T, 0, len(records)+len(changes))
	rest := records
	for _, c := range changes {
		at, found := slices.BinarySearchFunc(rest, key(c), compare)
		merged = append(merged, rest[:at]...)
		if found {
			at++
		}
		rest = rest[at:]
		if c.after != nil {
			merged = append(merged, c.after)
		}
	}
	return append(merged, rest...)
}

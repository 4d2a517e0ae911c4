package sandbox

import (
	"cmp"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// shelf holds the objects of one resource in the order of namespace and name.
// It is copied when it is changed, and otherwise shared.
type shelf []*record

// record is a stored object and what was worked out about it. States share it.
type record struct {
	object Object
	once   sync.Once
	print  fingerprint
}

func (s shelf) find(namespace, name string) (int, bool) {
	return slices.BinarySearchFunc(s, name, func(r *record, name string) int {
		if c := cmp.Compare(r.object.GetNamespace(), namespace); c != 0 {
			return c
		}
		return cmp.Compare(r.object.GetName(), name)
	})
}

// within is the part of the shelf that is in a namespace.
func (s shelf) within(namespace string) shelf {
	from, _ := s.find(namespace, "")
	to := from
	for to < len(s) && s[to].object.GetNamespace() == namespace {
		to++
	}
	return s[from:to]
}

func (s shelf) objects() []Object {
	objects := make([]Object, len(s))
	for i, r := range s {
		objects[i] = r.object
	}
	return objects
}

func (s shelf) inserted(i int, o Object) shelf {
	next := make(shelf, 0, len(s)+1)
	next = append(next, s[:i]...)
	next = append(next, &record{object: o})
	return append(next, s[i:]...)
}

func (s shelf) replaced(i int, o Object) shelf {
	next := slices.Clone(s)
	next[i] = &record{object: o}
	return next
}

func (s shelf) removed(i int) shelf {
	next := make(shelf, 0, len(s)-1)
	next = append(next, s[:i]...)
	return append(next, s[i+1:]...)
}

// uidIndex finds the key of a uid. It is made when it is first asked, as most
// States are never asked.
type uidIndex struct {
	once sync.Once
	keys map[types.UID]Key
}

func (x *uidIndex) of(s *State) map[types.UID]Key {
	x.once.Do(func() {
		x.keys = map[types.UID]Key{}
		for resource, shelf := range s.shelves {
			for _, r := range shelf {
				x.keys[r.object.GetUID()] = Key{resource, r.object.GetNamespace(), r.object.GetName()}
			}
		}
	})
	return x.keys
}

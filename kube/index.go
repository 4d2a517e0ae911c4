package kube

import (
	"maps"
	"slices"
)

// index maps a key to the few things that name it.
type index[V comparable] map[string][]V

func (x index[V]) add(key string, value V) {
	if key != "" && !slices.Contains(x[key], value) {
		x[key] = append(x[key], value)
	}
}

func (x index[V]) remove(key string, value V) {
	values := x[key]
	at := slices.Index(values, value)
	if at < 0 {
		return
	}
	if len(values) == 1 {
		delete(x, key)
		return
	}
	last := len(values) - 1
	values[at] = values[last]
	var none V
	values[last] = none
	x[key] = values[:last]
}

// set is a set of keys.
type set map[string]struct{}

func (s set) add(key string) { s[key] = struct{}{} }

// inOrder are the keys in the order of the lists. Records that are made one
// after the other lie one behind the other in memory, and so going through a
// list of them later is several times faster.
func inOrder(s set) []string { return slices.Sorted(maps.Keys(s)) }

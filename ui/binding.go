package ui

import "slices"

// match finds the binding of a key. Of several the first one that can be used
// counts, so that a key may mean different things in different states.
func match(bindings []Binding, key string) (Binding, bool) {
	var refused Binding
	found := false
	for _, b := range bindings {
		if b.Do == nil || !slices.Contains(b.Keys, key) {
			continue
		}
		if reason(b) == "" {
			return b, true
		}
		if !found {
			refused, found = b, true
		}
	}
	return refused, found
}

// reason says why a binding can't be used now, or nothing.
func reason(b Binding) string {
	if b.Disabled == nil {
		return ""
	}
	return b.Disabled()
}

package migration

import (
	"encoding/json"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ownManager is how the steps sign what they write.
const ownManager = "claimref"

// managerOf names who last wrote a field, by the object's managedFields; empty
// when they do not say.
func managerOf(o metav1.Object, path ...string) string { return managerOfAny(o, [][]string{path}) }

// managerOfAny names who last wrote one of several fields. Times have whole
// seconds: of two at once, the other is meant rather than this program.
func managerOfAny(o metav1.Object, paths [][]string) string {
	var who string
	var when time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil || !slices.ContainsFunc(paths, func(path []string) bool { return owns(entry.FieldsV1.GetRawBytes(), path) }) {
			continue
		}
		at := time.Time{}
		if entry.Time != nil {
			at = entry.Time.Time
		}
		if who == "" || at.After(when) || at.Equal(when) && who == ownManager {
			who, when = entry.Manager, at
		}
	}
	return who
}

// leaves are the paths of the fields that a merge patch is about.
func leaves(patch json.RawMessage) [][]string {
	var whole any
	if json.Unmarshal(patch, &whole) != nil {
		return nil
	}
	var found [][]string
	var walk func(at any, path []string)
	walk = func(at any, path []string) {
		fields, ok := at.(map[string]any)
		if !ok {
			found = append(found, path)
			return
		}
		for key, value := range fields {
			walk(value, append(slices.Clone(path), key))
		}
	}
	walk(whole, nil)
	return found
}

// owns says whether a set of fields holds a path.
func owns(raw []byte, path []string) bool {
	var fields map[string]json.RawMessage
	for _, name := range path {
		if json.Unmarshal(raw, &fields) != nil {
			return false
		}
		next, ok := fields["f:"+name]
		if !ok {
			return false
		}
		raw, fields = next, nil
	}
	return true
}

// firstManager names who made an object, by its managedFields.
func firstManager(o metav1.Object) string {
	var who string
	var when time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Subresource != "" || entry.Time == nil {
			continue
		}
		if who == "" || entry.Time.Time.Before(when) {
			who, when = entry.Manager, entry.Time.Time
		}
	}
	return who
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " (by " + who + ")"
}

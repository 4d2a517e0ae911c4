package migration

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// managerOf names who last wrote a field, by the object's managedFields; empty
// when they do not say.
func managerOf(o metav1.Object, path ...string) string {
	var who string
	var when time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.FieldsV1 == nil || !owns(entry.FieldsV1.GetRawBytes(), path) {
			continue
		}
		at := time.Time{}
		if entry.Time != nil {
			at = entry.Time.Time
		}
		if who == "" || at.After(when) {
			who, when = entry.Manager, at
		}
	}
	return who
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

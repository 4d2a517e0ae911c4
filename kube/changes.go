package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// plain is a copy of an object as a person would write it: without the fields
// in which the server keeps its books.
func plain(o *object) *object {
	o = o.DeepCopy()
	for _, field := range []string{"managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if annotations := o.GetAnnotations(); annotations[lastApplied] != "" {
		delete(annotations, lastApplied)
		o.SetAnnotations(annotations)
	}
	return o
}

// asYAML writes an object as YAML, in which control characters are escaped as
// the format demands; nothing for nil.
func asYAML(o *object) (string, error) {
	if o == nil {
		return "", nil
	}
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return "", fmt.Errorf("write %s as YAML: %w", o.GetName(), err)
	}
	return string(text), nil
}

// difference compares two versions of an object, one of which may be nil: what
// is made, or goes.
func difference(before, after *object) (string, error) {
	old, err := asYAML(before)
	if err != nil {
		return "", err
	}
	updated, err := asYAML(after)
	if err != nil {
		return "", err
	}
	return unified(old, updated)
}

// Changes are the lines that a step takes out and puts in, marked with - and +,
// in a form in which they compare equal for the same step at another time:
// without status, and with a mark in the place of the uid of a claim.
func (p StepPreview) Changes() []string {
	text, err := difference(essence(p.Before), essence(p.After))
	if err != nil {
		return nil // Diff could not have been made either.
	}
	var lines []string
	for i, line := range strings.Split(text, "\n") {
		header := i < 2
		if !header && line != "" && (line[0] == '-' || line[0] == '+') {
			lines = append(lines, line)
		}
	}
	return lines
}

// someUID stands for whichever uid.
const someUID = "(uid)"

// essence is a copy of an object without what changes by itself.
func essence(o *object) *object {
	if o == nil {
		return nil
	}
	o = plain(o)
	unstructured.RemoveNestedField(o.Object, "status")
	for _, field := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "ownerReferences"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if o.GetKind() == string(actions.VolumeKind) {
		if ref, found, _ := unstructured.NestedMap(o.Object, "spec", "claimRef"); found {
			delete(ref, "resourceVersion")
			if ref["uid"] != nil {
				ref["uid"] = someUID
			}
			_ = unstructured.SetNestedMap(o.Object, ref, "spec", "claimRef") // There is such a map.
		}
	}
	return o
}

// Same tells whether a fresh preview shows what was rehearsed: whoever approved
// the one has approved the other.
func Same(rehearsed, fresh StepPreview) bool {
	a, b := rehearsed.Step, fresh.Step
	if b.Confirm != "" {
		// It is approved by a word of its own, each time.
		return false
	}
	if a.ID != b.ID || a.Act != b.Act || a.Orphan != b.Orphan ||
		a.Target.Kind != b.Target.Kind || a.Target.Namespace != b.Target.Namespace || a.Target.Name != b.Target.Name {
		return false
	}
	// A server that could tell then, and can't now, is news.
	if (rehearsed.DryRun.Supported || rehearsed.DryRun.Later) && !fresh.DryRun.Supported && a.Act != migration.Await {
		return false
	}
	// What is made goes with its owners. What is there has them put on and taken
	// off by controllers, which Changes leaves out.
	if a.Act == migration.Create && !equality.Semantic.DeepEqual(owners(rehearsed.After), owners(fresh.After)) {
		return false
	}
	return slices.Equal(rehearsed.Changes(), fresh.Changes())
}

func owners(o *object) []metav1.OwnerReference {
	if o == nil {
		return nil
	}
	return o.GetOwnerReferences()
}

// parted lists where two versions of an object differ in what people write:
// its spec, labels, annotations and finalizers. How values are compared is
// differing, or lacking where the second may have more.
func parted(expected, got *object, how func(path string, a, b any) []string) []string {
	part := func(path ...string) []string {
		a, _, _ := unstructured.NestedFieldNoCopy(expected.Object, path...)
		b, _, _ := unstructured.NestedFieldNoCopy(got.Object, path...)
		return how(strings.Join(path, "."), a, b)
	}
	return slices.Concat(part("spec"), part("metadata", "labels"), part("metadata", "annotations"), part("metadata", "finalizers"))
}

// listIn is a list in the metadata of an object, nil for none.
func listIn(o *object, field string) any {
	list, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", field)
	return list
}

// differing lists the paths at which two JSON values differ. What is empty is
// the same as what is not there.
func differing(path string, a, b any) []string {
	if empty(a) && empty(b) {
		return nil
	}
	first, isMap := a.(map[string]any)
	second, alsoMap := b.(map[string]any)
	if isMap && (alsoMap || empty(b)) || alsoMap && empty(a) {
		keys := slices.Collect(maps.Keys(first))
		keys = slices.AppendSeq(keys, maps.Keys(second))
		slices.Sort(keys)
		var paths []string
		for _, key := range slices.Compact(keys) {
			paths = append(paths, differing(deeper(path, key), first[key], second[key])...)
		}
		return paths
	}
	one, isList := a.([]any)
	two, alsoList := b.([]any)
	if isList && alsoList && len(one) == len(two) {
		var paths []string
		for i := range one {
			paths = append(paths, differing(fmt.Sprintf("%s[%d]", path, i), one[i], two[i])...)
		}
		return paths
	}
	if equality.Semantic.DeepEqual(a, b) {
		return nil
	}
	return []string{clean(path)}
}

// deeper is a path one step further down. A key with a dot in it, as most
// annotations have, is told apart from two steps.
func deeper(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "[" + key + "]"
	}
	return path + "." + key
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

// lacking lists the paths at which got has not what is wanted. It may have
// more.
func lacking(path string, wanted, got any) []string {
	if empty(wanted) {
		return nil
	}
	if fields, ok := wanted.(map[string]any); ok {
		others, _ := got.(map[string]any)
		var paths []string
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			paths = append(paths, lacking(deeper(path, key), fields[key], others[key])...)
		}
		return paths
	}
	items, isList := wanted.([]any)
	others, alsoList := got.([]any)
	if isList && alsoList && len(items) == len(others) {
		var paths []string
		for i := range items {
			paths = append(paths, lacking(fmt.Sprintf("%s[%d]", path, i), items[i], others[i])...)
		}
		return paths
	}
	if equality.Semantic.DeepEqual(wanted, got) {
		return nil
	}
	return []string{clean(path)}
}

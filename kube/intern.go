package kube

import (
	"slices"
	"strings"
	"sync"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxShared bounds an interner. What repeats in a cluster (classes, zones,
// sizes, drivers) is seen early; what comes after that many different values
// is not of the repeating sort.
const maxShared = 4096

// interner lets equal values share one copy. A cluster's volumes differ in
// their names and little else: sharing the rest is what keeps tens of
// thousands of them within the memory of a laptop tool. The shared values are
// read only, as everything in a snapshot is.
type interner struct {
	mu     sync.Mutex
	shared map[string]any
}

func newInterner() *interner {
	return &interner{shared: make(map[string]any)}
}

// intern returns the copy that all equal values share.
func intern[V any](in *interner, key string, value V) V {
	in.mu.Lock()
	defer in.mu.Unlock()
	if found, ok := in.shared[key]; ok {
		if same, ok := found.(V); ok {
			return same
		}
	}
	if len(in.shared) < maxShared {
		in.shared[key] = value
	}
	return value
}

// text shares a string.
func text(s string) string { return unique.Make(s).Value() }

func (in *interner) words(prefix string, values []string) []string {
	if len(values) == 0 {
		return nil
	}
	return intern(in, prefix+strings.Join(values, "\x00"), slices.Clip(values))
}

func (in *interner) modes(values []corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode {
	if len(values) == 0 {
		return nil
	}
	key := []byte("modes\x00")
	for _, v := range values {
		key = append(append(key, v...), 0)
	}
	return intern(in, string(key), slices.Clip(values))
}

func (in *interner) pairs(prefix string, values map[string]string) map[string]string {
	if len(values) == 0 {
		return nil
	}
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var key strings.Builder
	key.WriteString(prefix)
	for _, k := range keys {
		key.WriteString(k)
		key.WriteByte(0)
		key.WriteString(values[k])
		key.WriteByte(0)
	}
	return intern(in, key.String(), values)
}

// sizes shares a list that says how much storage there is and nothing else,
// which is every list that a volume has.
func (in *interner) sizes(values corev1.ResourceList) corev1.ResourceList {
	size, ok := values[corev1.ResourceStorage]
	if !ok || len(values) != 1 {
		return values
	}
	return intern(in, "size\x00"+size.String(), values)
}

func (in *interner) affinity(value *corev1.VolumeNodeAffinity) *corev1.VolumeNodeAffinity {
	if value == nil {
		return nil
	}
	key, err := value.Marshal()
	if err != nil {
		return value
	}
	return intern(in, "affinity\x00"+string(key), value)
}

func (in *interner) selector(value *metav1.LabelSelector) *metav1.LabelSelector {
	if value == nil {
		return nil
	}
	key, err := value.Marshal()
	if err != nil {
		return value
	}
	return intern(in, "selector\x00"+string(key), value)
}

// pointerTo shares what an optional field points to.
func pointerTo[S ~string](in *interner, prefix string, value *S) *S {
	if value == nil {
		return nil
	}
	return intern(in, prefix+string(*value), value)
}

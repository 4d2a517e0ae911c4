package binding

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// indexedModes returns the modes under which the controller indexes a volume,
// in its order and without duplicates; a mode it does not know is dropped
// (index.go, accessModesIndexFunc).
func indexedModes(modes []corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode {
	known := [...]corev1.PersistentVolumeAccessMode{
		corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOncePod,
	}
	var kept []corev1.PersistentVolumeAccessMode
	for _, k := range known {
		if slices.Contains(modes, k) {
			kept = append(kept, k)
		}
	}
	return kept
}

// modeKey is the key of a group of the index.
func modeKey(modes []corev1.PersistentVolumeAccessMode) string {
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ",")
}

// containsAll says whether a group has all the modes that a claim asks for.
func containsAll(have, asked []corev1.PersistentVolumeAccessMode) bool {
	for _, m := range asked {
		if !slices.Contains(have, m) {
			return false
		}
	}
	return true
}

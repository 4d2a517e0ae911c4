package migration

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// Wanted says which volumes and claims a Scene has to hold, and of which
// namespaces it needs the pods and workloads. All are sorted.
type Wanted struct {
	Volumes    []string
	Claims     []actions.ClaimKey
	Namespaces []string
}

// Want is what a Scene has to hold for Draft. It depends on what the Scene
// holds already: the caller asks again with what it found until nothing new is
// wanted.
func Want(req Request, s Scene) Wanted {
	volumes := map[string]bool{req.Volume.Name: true}
	claims := map[actions.ClaimKey]bool{}
	if req.Verb == MoveClaim {
		claims[req.To] = true
	}
	if req.Manifest != nil {
		claims[claimKey(req.Manifest)] = true
	}
	if pv := s.Volumes[req.Volume.Name]; pv != nil && pv.Spec.ClaimRef != nil {
		key := refKey(pv.Spec.ClaimRef)
		claims[key] = true
		if set, template := setOf(s, key); set != nil && req.Verb == SinglePod {
			for _, ordinal := range ordinals(s, set, template) {
				claims[ordinalKey(set, template, ordinal)] = true
			}
		}
	}
	w := Wanted{Claims: slices.SortedFunc(maps.Keys(claims), compareKeys)}
	namespaces := map[string]bool{}
	for key := range claims {
		namespaces[key.Namespace] = true
		if c := s.Claims[key]; c != nil && c.Spec.VolumeName != "" && req.Verb == SinglePod {
			volumes[c.Spec.VolumeName] = true
		}
	}
	w.Volumes = slices.Sorted(maps.Keys(volumes))
	w.Namespaces = slices.Sorted(maps.Keys(namespaces))
	return w
}

func compareKeys(a, b actions.ClaimKey) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Ordinal is that of a claim which a StatefulSet made from one of its
// volumeClaimTemplates, by its name: template-set-ordinal
// (pkg/controller/statefulset/stateful_set_utils.go, getPersistentVolumeClaimName).
func Ordinal(set, template, claim string) (int, bool) {
	digits, ok := strings.CutPrefix(claim, template+"-"+set+"-")
	if !ok {
		return 0, false
	}
	ordinal, err := strconv.Atoi(digits)
	if err != nil || strconv.Itoa(ordinal) != digits || ordinal < 0 {
		return 0, false
	}
	return ordinal, true
}

// setOf is the StatefulSet that makes a claim, and the template's name; nil if
// there is none. Of several, which could only be by a mischance of names, it
// is the first: the others show up as other users of the claim.
func setOf(s Scene, key actions.ClaimKey) (*appsv1.StatefulSet, string) {
	for _, set := range s.StatefulSets {
		if template := templateOf(set, key); template != "" {
			return set, template
		}
	}
	return nil, ""
}

// templateOf is the name of the template from which a StatefulSet makes a
// claim; empty if it does not.
func templateOf(set *appsv1.StatefulSet, key actions.ClaimKey) string {
	for i := range set.Spec.VolumeClaimTemplates {
		template := set.Spec.VolumeClaimTemplates[i].Name
		if _, ok := Ordinal(set.Name, template, key.Name); ok && set.Namespace == key.Namespace {
			return template
		}
	}
	return ""
}

func ordinalKey(set *appsv1.StatefulSet, template string, ordinal int) actions.ClaimKey {
	return actions.ClaimKey{Namespace: set.Namespace, Name: template + "-" + set.Name + "-" + strconv.Itoa(ordinal)}
}

// wanted says whether a StatefulSet makes the claim of an ordinal when it is
// not there.
func wanted(set *appsv1.StatefulSet, ordinal int) bool {
	start := firstOrdinal(set)
	return ordinal >= start && ordinal < start+int(value(set.Spec.Replicas, 1))
}

func firstOrdinal(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// maxGuess is for how many ordinals claims are looked for by their name alone.
// A number of replicas is anything that somebody typed; the claims of a set
// that is really that large are known from the cache.
const maxGuess = 1000

// ordinals are those whose claims may exist: the ones that the set wants now,
// and those of claims that an earlier, larger size has left.
func ordinals(s Scene, set *appsv1.StatefulSet, template string) []int {
	found := map[int]bool{}
	start := firstOrdinal(set)
	for i := range min(int(value(set.Spec.Replicas, 1)), maxGuess) {
		found[start+i] = true
	}
	note := func(key actions.ClaimKey) {
		if ordinal, ok := Ordinal(set.Name, template, key.Name); ok && key.Namespace == set.Namespace {
			found[ordinal] = true
		}
	}
	for key := range s.Claims {
		note(key)
	}
	for _, c := range s.RelatedClaims {
		note(claimKey(c))
	}
	return slices.Sorted(maps.Keys(found))
}

// existing are the ordinals whose claims were seen.
func existing(s Scene, set *appsv1.StatefulSet, template string) []int {
	return slices.DeleteFunc(ordinals(s, set, template), func(ordinal int) bool {
		return s.claim(ordinalKey(set, template, ordinal)) == nil
	})
}

func (s Scene) claim(key actions.ClaimKey) *corev1.PersistentVolumeClaim { return s.Claims[key] }

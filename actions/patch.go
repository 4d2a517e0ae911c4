package actions

import (
	"encoding/json"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
)

// claimKind is what a volume's claimRef always refers to.
const claimKind = "PersistentVolumeClaim"

// reserved is the volume with the claimRef of a reservation: no uid and no
// resourceVersion, and without the mark that would let the controller drop
// the whole claimRef when the claim goes elsewhere (pv_controller.go,
// unbindVolume).
func reserved(pv *corev1.PersistentVolume, claim ClaimKey) *corev1.PersistentVolume {
	c := pv.DeepCopy()
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: claimKind, Namespace: claim.Namespace, Name: claim.Name}
	if old := pv.Spec.ClaimRef; old != nil && keyOf(old) == claim {
		// Its own claim: what else the reference says is left alone.
		ref.FieldPath = old.FieldPath
		if old.APIVersion != "" {
			ref.APIVersion = old.APIVersion
		}
		if old.Kind != "" {
			ref.Kind = old.Kind
		}
	}
	c.Spec.ClaimRef = ref
	delete(c.Annotations, volume.AnnBoundByController)
	return c
}

// opened is the volume without a claimRef, and without the mark that belongs
// to it.
func opened(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	c := pv.DeepCopy()
	c.Spec.ClaimRef = nil
	delete(c.Annotations, volume.AnnBoundByController)
	return c
}

func policyPatch(p corev1.PersistentVolumeReclaimPolicy) json.RawMessage {
	return json.RawMessage(`{"spec":{"persistentVolumeReclaimPolicy":"` + string(p) + `"}}`)
}

// mergePatch is the JSON merge patch (RFC 7386) that makes one version of a
// volume of another, with only the keys that change. Nil when none does.
func mergePatch(from, to *corev1.PersistentVolume) json.RawMessage {
	diff := diffMaps(asMap(from), asMap(to))
	if len(diff) == 0 {
		return nil
	}
	// What came out of Marshal goes into it again.
	patch, _ := json.Marshal(diff)
	return patch
}

func diffMaps(from, to map[string]any) map[string]any {
	diff := map[string]any{}
	for k, have := range from {
		if _, kept := to[k]; kept {
			continue
		}
		diff[k] = nil
		// The last annotation goes by its own name: null for all of them
		// would take along one that somebody adds meanwhile.
		if annotations, ok := have.(map[string]any); ok && k == "annotations" {
			diff[k] = diffMaps(annotations, nil)
		}
	}
	for k, want := range to {
		have, there := from[k]
		if there && reflect.DeepEqual(have, want) {
			continue
		}
		haveMap, ok1 := have.(map[string]any)
		wantMap, ok2 := want.(map[string]any)
		if ok1 && ok2 {
			diff[k] = diffMaps(haveMap, wantMap)
		} else {
			diff[k] = want
		}
	}
	return diff
}

// changes says whether a merge patch would change a volume at all.
func changes(patch json.RawMessage, pv *corev1.PersistentVolume) bool {
	var p map[string]any
	if json.Unmarshal(patch, &p) != nil {
		return true
	}
	return mapChanges(asMap(pv), p)
}

func mapChanges(current, patch map[string]any) bool {
	for k, want := range patch {
		have, there := current[k]
		switch want := want.(type) {
		case nil:
			if there {
				return true
			}
		case map[string]any:
			haveMap, ok := have.(map[string]any)
			if !ok && onlyRemoves(want) && !there && k == "annotations" {
				// Annotations that are absent altogether lack every key.
				continue
			}
			if !ok || mapChanges(haveMap, want) {
				return true
			}
		default:
			if !there || !reflect.DeepEqual(have, want) {
				return true
			}
		}
	}
	return false
}

func onlyRemoves(patch map[string]any) bool {
	for _, v := range patch {
		if v != nil {
			return false
		}
	}
	return true
}

// asMap is the volume as JSON. An API object always converts.
func asMap(pv *corev1.PersistentVolume) map[string]any {
	m := map[string]any{}
	if data, err := json.Marshal(pv); err == nil {
		_ = json.Unmarshal(data, &m)
	}
	return m
}

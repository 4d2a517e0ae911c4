package differential

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// way is a way on which a claim and a volume come together.
type way struct {
	name   string
	volume []pvEdit
	claim  []pvcEdit
}

// mismatch is something in which a claim and a volume do not suit each other.
type mismatch struct {
	name   string
	volume pvEdit
	claim  pvcEdit
	// deleted volumes are deleted, and held, before the claim comes.
	deleted bool
	// binds are the paths on which they are bound nevertheless.
	binds string
	// long is for what adds little to the others.
	long bool
}

func paths() []way {
	return []way{
		{"free", nil, nil},
		{"A", nil, []pvcEdit{names("vol")}},
		{"B", []pvEdit{reserved("data")}, nil},
		{"C", []pvEdit{reserved("data")}, []pvcEdit{names("vol")}},
	}
}

func mismatches() []mismatch {
	const all = "free A B C"
	sameVolume, sameClaim := func(*corev1.PersistentVolume) {}, func(*corev1.PersistentVolumeClaim) {}
	block := new(corev1.PersistentVolumeBlock)
	gold := new("gold")
	return []mismatch{
		{name: "no mismatch", volume: sameVolume, claim: sameClaim, binds: all},
		{name: "capacity too small", volume: size("500Mi"), claim: sameClaim, binds: "C"},
		{name: "capacity larger", volume: size("3Gi"), claim: sameClaim, binds: all, long: true},
		{name: "another class", volume: ofClass("$-elsewhere"), claim: sameClaim, binds: "B C"},
		{name: "no class", volume: ofClass(""), claim: sameClaim, binds: "B C", long: true},
		{name: "another class by the old annotation", volume: betaClass("$-elsewhere"), claim: sameClaim, binds: "B C"},
		{
			name:   "the old annotation against the field",
			volume: both(ofClass("$-elsewhere"), betaClass(slow)), claim: sameClaim, binds: all,
		},
		{
			name:   "the claim's old annotation",
			volume: sameVolume, claim: bothClaim(noClass, annotated(corev1.BetaStorageClassAnnotation, slow)), binds: all,
		},
		{
			name:   "the claim's old annotation for another class",
			volume: sameVolume, claim: bothClaim(noClass, annotated(corev1.BetaStorageClassAnnotation, later)), binds: "B C",
		},
		{name: "a mode that the volume lacks", volume: sameVolume, claim: asksModes(rwx), binds: "C"},
		{name: "one of two modes lacking", volume: sameVolume, claim: asksModes(rwo, rox), binds: "C", long: true},
		{name: "more modes than asked for", volume: withModes(rwo, rox, rwx), claim: asksModes(rox), binds: all, long: true},
		{name: "ReadWriteOncePod of ReadWriteOnce", volume: sameVolume, claim: asksModes(rwop), binds: "C"},
		{name: "ReadWriteOnce of ReadWriteOncePod", volume: withModes(rwop), claim: sameClaim, binds: "C"},
		{
			name:   "block volume",
			volume: func(pv *corev1.PersistentVolume) { pv.Spec.VolumeMode = block }, claim: sameClaim, binds: "C",
		},
		{
			name:   "block claim",
			volume: sameVolume, claim: func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeMode = block }, binds: "C", long: true,
		},
		{
			name:   "an attributes class of the volume",
			volume: func(pv *corev1.PersistentVolume) { pv.Spec.VolumeAttributesClassName = gold }, claim: sameClaim, binds: "C",
		},
		{
			name:   "an attributes class of the claim",
			volume: sameVolume, claim: func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeAttributesClassName = gold }, binds: "C",
		},
		{
			name:   "the same attributes class",
			volume: func(pv *corev1.PersistentVolume) { pv.Spec.VolumeAttributesClassName = gold },
			claim:  func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeAttributesClassName = gold }, binds: all, long: true,
		},
		{
			name: "selector", volume: sameVolume, binds: "A B C",
			claim: func(pvc *corev1.PersistentVolumeClaim) {
				pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "fast"}}
			},
		},
		{name: "node affinity", volume: tied("example.com/place", "nowhere"), claim: sameClaim, binds: all},
		{name: "deletion", volume: held, claim: sameClaim, deleted: true, binds: "C"},
		{name: "a class that waits for the first consumer", volume: ofClass(later), claim: asksClass(later), binds: "A B C"},
	}
}

func both(a, b pvEdit) pvEdit {
	return func(pv *corev1.PersistentVolume) { a(pv); b(pv) }
}

func bothClaim(a, b pvcEdit) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) { a(pvc); b(pvc) }
}

// tied ties a volume to nodes with a label.
func tied(key, value string) pvEdit {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
	}
}

// bindingPaths has a history for each mismatch on each path, and a pod that
// uses the claim: what the binder does not look at, the scheduler may.
func bindingPaths() []history {
	var all []history
	for _, m := range mismatches() {
		for _, p := range paths() {
			h := history{name: "path " + p.name + ": " + m.name, long: m.long}
			pv := volume("vol", append(p.volume, m.volume)...)
			h.acts = append(h.acts, create(pv))
			if m.deleted {
				h.acts = append(h.acts, remove("pv/vol", "").is(want{"pv/vol deleting": "yes"}))
			}
			expected := want{"pvc/data phase": "Pending", "pvc/data volumeName": claim("data", p.claim...).Spec.VolumeName}
			if slices.Contains(strings.Fields(m.binds), p.name) {
				expected = boundPair
			}
			h.acts = append(h.acts,
				create(claim("data", append(p.claim, m.claim)...)).is(expected),
				create(pod("app", "data")))
			all = append(all, h)
		}
	}
	return append(all, lateVolumes()...)
}

// lateVolumes are paths on which the claim is there first, and bindings that
// the scheduler makes.
func lateVolumes() []history {
	return []history{
		{name: "a volume that suits a waiting claim", acts: []act{
			create(claim("data")).is(want{"pvc/data phase": "Pending"}),
			create(volume("vol")).is(boundPair),
		}},
		{name: "a volume that is changed until it suits", acts: []act{
			given(volume("vol", size("500Mi"), withModes(rox))),
			create(claim("data")).is(want{"pvc/data phase": "Pending"}),
			patch("pv/vol", merge, `{"spec":{"capacity":{"storage":"1Gi"}}}`).is(want{"pvc/data phase": "Pending"}),
			patch("pv/vol", merge, `{"spec":{"accessModes":["ReadWriteOnce","ReadOnlyMany"]}}`).is(boundPair),
		}},
		{name: "the scheduler finds a volume for the first consumer", acts: []act{
			given(volume("vol", ofClass(later))),
			create(claim("data", asksClass(later))).is(want{"pvc/data phase": "Pending"}),
			create(pod("app", "data")).is(boundPair).is(want{"pod/app phase": "Running"}),
		}},
		{name: "the scheduler minds the node affinity of volumes", acts: []act{
			given(volume("vol", ofClass(later), tied("example.com/place", "nowhere"))),
			create(claim("data", asksClass(later))),
			create(pod("app", "data")).is(want{"pvc/data phase": "Pending", "pod/app phase": "Pending", "pod/app node": "no"}),
			create(volume("near", ofClass(later), tied(corev1.LabelHostname, "n2"))).is(want{"pvc/data volumeName": "$-near", "pod/app node": "yes"}),
		}},
		{name: "a volume is made for the first consumer", acts: []act{
			create(claim("data", asksClass(madeLater))).is(want{
				"pvc/data phase": "Pending", "pvc/data volume.kubernetes.io/storage-provisioner": "",
			}),
			create(pod("app", "data")).is(want{"pvc/data phase": "Bound", "pvc/data volume.kubernetes.io/selected-node": "set"}),
		}},
		{name: "a volume is made at once, for block and with two modes", acts: []act{
			create(claim("data", asksClass(made), asksModes(rwo, rox), func(pvc *corev1.PersistentVolumeClaim) {
				pvc.Spec.VolumeMode = new(corev1.PersistentVolumeBlock)
			})).is(want{"pvc/data phase": "Bound"}),
		}},
		{name: "a mismatch on path B ends in a new volume", acts: []act{
			given(volume("vol", ofClass(made), size("500Mi"), reserved("data"))),
			create(claim("data", asksClass(made))).is(want{
				"pvc/data phase": "Bound", "pvc/data volumeName": "pvc-{pvc/data}", "pv/vol phase": "Available",
			}),
		}},
		{name: "modes of a bound volume are changed, and the claim's status follows", acts: []act{
			given(volume("vol")),
			create(claim("data")).is(boundPair),
			patch("pv/vol", merge, `{"spec":{"accessModes":["ReadWriteOncePod"]}}`).is(want{"pvc/data status.modes": "ReadWriteOncePod"}).is(boundPair),
			create(pod("app", "data")).is(want{"pod/app phase": "Running"}),
		}},
	}
}

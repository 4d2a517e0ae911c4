package binding

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/storage/volume"
)

// MismatchKind names a respect in which a volume and a claim do not fit.
type MismatchKind string

// The mismatches.
const (
	Deletion          MismatchKind = "Deletion"
	Capacity          MismatchKind = "Capacity"
	AccessModes       MismatchKind = "AccessModes"
	VolumeMode        MismatchKind = "VolumeMode"
	Class             MismatchKind = "Class"
	AttributesClass   MismatchKind = "AttributesClass"
	Selector          MismatchKind = "Selector"
	SelectorInvalid   MismatchKind = "SelectorInvalid"
	PhaseNotAvailable MismatchKind = "PhaseNotAvailable"
	// ReservedForOther: the volume's claimRef names somebody else.
	ReservedForOther MismatchKind = "ReservedForOther"
	// AsksForOther: the claim's volumeName names another volume.
	AsksForOther MismatchKind = "AsksForOther"
	// Misbound: the claim carries the mark of a finished binding that the
	// volume does not confirm. The controller declares it Lost.
	Misbound MismatchKind = "Misbound"
)

// Mismatch is one respect in which a volume and a claim do not fit. Text is a
// clause: no capital, no period.
type Mismatch struct {
	Kind MismatchKind
	Text string
}

// Texts joins the texts of mismatches into one clause.
func Texts(ms []Mismatch) string {
	texts := make([]string, len(ms))
	for i, m := range ms {
		texts[i] = m.Text
	}
	return strings.Join(texts, "; ")
}

// Verdict says what the controller does with a claim and a volume, as long as
// no other volume is preferred (see Choices).
type Verdict struct {
	Path Path
	// Binds: the controller binds them to each other.
	Binds bool
	// Delayed: they fit, but the claim waits for its first pod; it is then
	// the scheduler that chooses, with the node in mind.
	Delayed bool
	// Lost: the controller declares the claim Lost over this volume.
	Lost bool
	// Blocking are the mismatches that keep them apart.
	Blocking []Mismatch
	// Ignored are the mismatches that this path does not look at.
	Ignored []Mismatch
}

// Judge compares a volume and a claim by the rules of the path that applies.
// A claim without a class may, on the ordinary path, match a volume without
// one or, the default class filled in, one of the default class: the
// controller tries both in this order (pv_controller.go, syncUnboundClaim).
func Judge(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) Verdict {
	v := Verdict{Path: PathOf(pv, pvc)}
	if v.Path == None {
		v.Blocking, v.Lost = apart(pv, pvc)
		return v
	}
	asked := pvc
	if filled := withDefault(pvc, classes); v.Path == Ordinary && filled != nil && VolumeClass(pv) != "" {
		asked = filled
	}
	for _, m := range compare(v.Path, pv, asked, pvc) {
		if v.Path.blocks(m.Kind) {
			v.Blocking = append(v.Blocking, m)
		} else {
			v.Ignored = append(v.Ignored, m)
		}
	}
	fits := len(v.Blocking) == 0
	v.Delayed = fits && v.Path == Ordinary && Delays(asked, classes)
	v.Binds = fits && !v.Delayed
	return v
}

// blocks is the table of what each path looks at: checkVolumeSatisfyClaim in
// pv_controller.go for ByVolumeName, FindMatchingVolume in component-helpers
// and the index by access modes for the next two, nothing for the others.
func (p Path) blocks(k MismatchKind) bool {
	switch k {
	case Deletion, Capacity, AccessModes, VolumeMode, AttributesClass:
		return p == Ordinary || p == ByVolumeName || p == ByClaimRef
	case Class:
		return p == Ordinary || p == ByVolumeName
	case SelectorInvalid:
		return p == Ordinary || p == ByClaimRef
	case Selector, PhaseNotAvailable:
		return p == Ordinary
	default:
		return false
	}
}

// apart says why no path leads from the claim to the volume.
func apart(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) (why []Mismatch, lost bool) {
	if name := pvc.Spec.VolumeName; name != "" && name != pv.Name {
		return []Mismatch{{AsksForOther, "the claim names volume " + name}}, false
	}
	if BindCompleted(pvc) {
		text := "the claim is marked as bound before, but names no volume"
		if pvc.Spec.VolumeName != "" {
			text = "the claim is marked as bound to this volume, which does not carry the claim's uid"
		}
		return []Mismatch{{Misbound, text}}, true
	}
	ref := pv.Spec.ClaimRef
	text := fmt.Sprintf("the volume is reserved for %s/%s", ref.Namespace, ref.Name)
	switch {
	case ref.Namespace == pvc.Namespace && ref.Name == pvc.Name:
		text = "the volume belonged to an earlier claim of the same name"
	case ref.UID != "":
		text = fmt.Sprintf("the volume belongs to %s/%s", ref.Namespace, ref.Name)
	}
	return []Mismatch{{ReservedForOther, text}}, false
}

// compare lists all that does not fit, whether a path looks at it or not. The
// claim as asked has the default class filled in; the one as written has not.
func compare(path Path, pv *corev1.PersistentVolume, asked, written *corev1.PersistentVolumeClaim) []Mismatch {
	var ms []Mismatch
	add := func(k MismatchKind, format string, args ...any) {
		ms = append(ms, Mismatch{k, fmt.Sprintf(format, args...)})
	}
	if pv.DeletionTimestamp != nil {
		add(Deletion, "the volume is being deleted")
	}
	have, want := pv.Spec.Capacity[corev1.ResourceStorage], asked.Spec.Resources.Requests[corev1.ResourceStorage]
	if smaller(path, have, want) {
		add(Capacity, "the volume is too small: %s, asked for %s", have.String(), want.String())
	}
	if !volume.CheckAccessModes(asked, pv) {
		add(AccessModes, "access modes: the volume offers %s, asked for %s",
			modeList(pv.Spec.AccessModes), modeList(asked.Spec.AccessModes))
	}
	if volume.CheckVolumeModeMismatches(&asked.Spec, &pv.Spec) {
		add(VolumeMode, "volume mode: the volume is %s, asked for %s",
			volumeMode(pv.Spec.VolumeMode), volumeMode(asked.Spec.VolumeMode))
	}
	if has, wants := VolumeClass(pv), volume.GetPersistentVolumeClaimClass(asked); has != wants {
		shown := quoteEmpty(wants)
		if asked != written {
			shown += ", the default, as the claim names none"
		} else if _, set, _ := ClaimClass(asked); !set {
			shown = "none"
		}
		add(Class, "class: the volume has %s, asked for %s", quoteEmpty(has), shown)
	}
	has, wants := deref(pv.Spec.VolumeAttributesClassName, ""), deref(asked.Spec.VolumeAttributesClassName, "")
	if has != wants {
		add(AttributesClass, "attributes class: the volume has %s, asked for %s", quoteEmpty(has), quoteEmpty(wants))
	}
	if asked.Spec.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(asked.Spec.Selector)
		switch {
		case err != nil:
			add(SelectorInvalid, "the claim's selector is invalid")
		case !selector.Matches(labels.Set(pv.Labels)):
			add(Selector, "the claim's selector does not match the volume's labels")
		}
	}
	if pv.Status.Phase != corev1.VolumeAvailable {
		add(PhaseNotAvailable, "the volume is %s, not Available", storedPhase(string(pv.Status.Phase)))
	}
	return ms
}

// smaller compares as each path does. A volume that is named is compared in
// whole bytes, rounded up (pv_controller.go, checkVolumeSatisfyClaim), so that
// it may lack a part of a byte; the search compares exactly.
func smaller(path Path, have, want resource.Quantity) bool {
	if path == ByVolumeName {
		return have.Value() < want.Value()
	}
	return have.Cmp(want) < 0
}

func modeList(modes []corev1.PersistentVolumeAccessMode) string {
	if len(modes) == 0 {
		return "none"
	}
	names := make([]string, len(modes))
	for i, m := range modes {
		names[i] = string(m)
	}
	return strings.Join(names, ", ")
}

func volumeMode(m *corev1.PersistentVolumeMode) string {
	return string(deref(m, corev1.PersistentVolumeFilesystem))
}

// deref reads a field that may be unset.
func deref[T any](p *T, unset T) T {
	if p == nil {
		return unset
	}
	return *p
}

// quoteEmpty makes an empty name visible.
func quoteEmpty(name string) string {
	if name == "" {
		return strconv.Quote("")
	}
	return name
}

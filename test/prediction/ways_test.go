package prediction

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

// way says how volume and claim name each other.
type way struct {
	name string
	// names is the claim's volumeName: "", this or missing.
	names string
	// claimRef is whom the volume's claimRef names.
	claimRef claimRef
	// completed: the claim has the mark of a finished binding.
	completed bool
}

// claimRef says whom the volume's claimRef names.
type claimRef string

const (
	nobody        claimRef = "nobody"
	byName        claimRef = "the claim, by name"
	byUID         claimRef = "the claim, by uid"
	earlier       claimRef = "an earlier claim of that name"
	somebody      claimRef = "somebody else"
	somebodyByUID claimRef = "somebody else, by uid"
	elsewhere     claimRef = "its namesake of another namespace"
)

// The values of way.names.
const (
	this    = "this"
	missing = "missing"
)

// plainWays are those on which the binder compares different things.
func plainWays() []way {
	return []way{
		{name: "ordinary", claimRef: nobody},
		{name: "volumeName", names: this, claimRef: nobody},
		{name: "claimRef", claimRef: byName},
		{name: "both", names: this, claimRef: byName},
	}
}

// ways has what is common more than once.
func ways() []way {
	plain := plainWays()
	byOwnUID := way{name: "claimRef with uid", claimRef: byUID}
	return append(append(append(plain, plain...), plain[:3]...), []way{
		byOwnUID, byOwnUID, byOwnUID,
		{name: "both with uid", names: this, claimRef: byUID},
		{name: "rebind, open", names: this, claimRef: nobody, completed: true},
		{name: "rebind, with uid", names: this, claimRef: byUID, completed: true},
		{name: "rebind, without uid", names: this, claimRef: byName, completed: true},
		{name: "rebind, stale uid", names: this, claimRef: earlier, completed: true},
		{name: "rebind, somebody else's", names: this, claimRef: somebody, completed: true},
		{name: "rebind, names nothing", claimRef: nobody, completed: true},
		{name: "rebind, names nothing, with uid", claimRef: byUID, completed: true},
		{name: "rebind, names a missing volume", names: missing, claimRef: nobody, completed: true},
		{name: "stale uid", claimRef: earlier},
		{name: "volumeName, stale uid", names: this, claimRef: earlier},
		{name: "somebody else's", claimRef: somebody},
		{name: "volumeName, somebody else's", names: this, claimRef: somebody},
		{name: "volumeName, somebody else's with uid", names: this, claimRef: somebodyByUID},
		{name: "a namesake's", claimRef: elsewhere},
		{name: "volumeName, a namesake's", names: this, claimRef: elsewhere},
		{name: "names a missing volume", names: missing, claimRef: nobody},
		{name: "names a missing volume, claimRef", names: missing, claimRef: byName},
		{name: "names a missing volume, claimRef with uid", names: missing, claimRef: byUID},
	}...)
}

func (w way) apply(p *pair) {
	p.way = w.name
	switch w.names {
	case this:
		p.pvc.Spec.VolumeName = p.pv.Name
	case missing:
		p.pvc.Spec.VolumeName = p.id + "-missing"
	}
	if w.completed {
		metav1.SetMetaDataAnnotation(&p.pvc.ObjectMeta, volume.AnnBindCompleted, "yes")
	}
	ref := &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Name: p.pvc.Name}
	switch w.claimRef {
	case nobody:
		ref = nil
	case byName:
	case byUID:
		p.owned = true
	case earlier:
		ref.UID = staleUID
	case somebody:
		ref.Name = "somebody"
	case somebodyByUID:
		ref.Name, ref.UID = "somebody", staleUID
	case elsewhere:
		ref.Namespace = metav1.NamespaceDefault
	}
	p.pv.Spec.ClaimRef = ref
}

// in puts the pair into a namespace.
func (p *pair) in(namespace string) {
	p.pvc.Namespace = namespace
	if ref := p.pv.Spec.ClaimRef; ref != nil && ref.Namespace == "" {
		ref.Namespace = namespace
	}
}

// own ties the volume to the claim that has come to be.
func (p *pair) own(uid types.UID) {
	if p.owned {
		p.pv.Spec.ClaimRef.UID = uid
	}
}

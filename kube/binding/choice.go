package binding

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

// Choice is the volume that the controller chooses for a claim, or nil. Of
// several that it might choose as well as another it is the first by name.
func Choice(pvc *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, classes []*storagev1.StorageClass) *corev1.PersistentVolume {
	if found := Choices(pvc, volumes, classes); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Choices are the volumes that the controller might choose for a claim, by
// name. They are more than one when equally good ones compete: it walks
// through its index in no fixed order, so which it takes is not determined.
//
// The volumes are searched by groups of equal access modes, those with the
// fewest modes first. In a group a volume reserved for the claim wins, then
// the smallest that fits. So an ordinary volume of an earlier group wins over
// a reserved one of a later group (index.go, findByClaim).
func Choices(pvc *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, classes []*storagev1.StorageClass) []*corev1.PersistentVolume {
	return newPool(volumes, classes).choices(pvc)
}

// pool is what the controller chooses from. Volumes that belong to a claim
// are set apart under the claim's name, so that a search for one claim looks
// at the open volumes and its own only.
type pool struct {
	classes []*storagev1.StorageClass
	byName  map[string]*corev1.PersistentVolume
	tied    map[types.NamespacedName][]*corev1.PersistentVolume
	// open are the groups of the open volumes, by their key in the index.
	open map[string]*group
}

// group is what the index holds under one set of access modes.
type group struct {
	modes   []corev1.PersistentVolumeAccessMode
	volumes []*corev1.PersistentVolume
}

func newPool(volumes []*corev1.PersistentVolume, classes []*storagev1.StorageClass) *pool {
	p := &pool{
		classes: classes,
		byName:  make(map[string]*corev1.PersistentVolume, len(volumes)),
		tied:    make(map[types.NamespacedName][]*corev1.PersistentVolume),
		open:    make(map[string]*group),
	}
	for _, pv := range volumes {
		p.byName[pv.Name] = pv
		switch ref := pv.Spec.ClaimRef; {
		case ref != nil:
			key := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
			p.tied[key] = append(p.tied[key], pv)
		case pv.Status.Phase == corev1.VolumeAvailable:
			put(p.open, pv)
		}
	}
	return p
}

// put adds a volume to its group.
func put(groups map[string]*group, pv *corev1.PersistentVolume) {
	modes := indexedModes(pv.Spec.AccessModes)
	key := modeKey(modes)
	if groups[key] == nil {
		groups[key] = &group{modes: modes}
	}
	groups[key].volumes = append(groups[key].volumes, pv)
}

func (p *pool) choices(pvc *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	if pvc.Spec.VolumeName != "" || BindCompleted(pvc) {
		pv := p.byName[pvc.Spec.VolumeName]
		if pv == nil || !Judge(pv, pvc, p.classes).Binds {
			return nil
		}
		return []*corev1.PersistentVolume{pv}
	}
	// A claim without a class is first matched as it is; only when nothing
	// fits is the default class filled in, and the search made again.
	if found := p.search(pvc); len(found) > 0 {
		return found
	}
	if filled := withDefault(pvc, p.classes); filled != nil {
		return p.search(filled)
	}
	return nil
}

// search goes through the groups that hold all modes asked for. Groups of
// equally many modes have no fixed order, so their finds are put together.
func (p *pool) search(pvc *corev1.PersistentVolumeClaim) []*corev1.PersistentVolume {
	delayed := Delays(pvc, p.classes)
	var found []*corev1.PersistentVolume
	modes := 0
	for _, g := range p.groups(pvc) {
		if len(found) > 0 && len(g.modes) > modes {
			break
		}
		modes = len(g.modes)
		found = append(found, best(pvc, g.volumes, delayed)...)
	}
	slices.SortFunc(found, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	return found
}

// groups are those that hold all the modes the claim asks for, fewest modes
// first, each with the open volumes and those that are the claim's own.
func (p *pool) groups(pvc *corev1.PersistentVolumeClaim) []group {
	own := make(map[string]*group)
	for _, pv := range p.tied[types.NamespacedName{Namespace: pvc.Namespace, Name: pvc.Name}] {
		put(own, pv)
	}
	var groups []group
	for _, key := range slices.Sorted(maps.Keys(own)) {
		g := *own[key]
		if open := p.open[key]; open != nil {
			g.volumes = append(g.volumes, open.volumes...)
		}
		groups = append(groups, g)
	}
	for _, key := range slices.Sorted(maps.Keys(p.open)) {
		if own[key] == nil {
			groups = append(groups, *p.open[key])
		}
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return !containsAll(g.modes, pvc.Spec.AccessModes) })
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(len(a.modes), len(b.modes)) })
	return groups
}

// best are the volumes of one group that FindMatchingVolume may return: the
// one it does return, and those that it would have returned in another order.
func best(pvc *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, delayed bool) []*corev1.PersistentVolume {
	first := match(pvc, volumes, delayed)
	if first == nil {
		return nil
	}
	reserved := volume.IsVolumeBoundToClaim(first, pvc)
	size := first.Spec.Capacity[corev1.ResourceStorage]
	var found []*corev1.PersistentVolume
	for i, pv := range volumes {
		equal := reserved && volume.IsVolumeBoundToClaim(pv, pvc) ||
			!reserved && size.Cmp(pv.Spec.Capacity[corev1.ResourceStorage]) == 0
		if pv == first || equal && match(pvc, volumes[i:i+1], delayed) != nil {
			found = append(found, pv)
		}
	}
	return found
}

func match(pvc *corev1.PersistentVolumeClaim, volumes []*corev1.PersistentVolume, delayed bool) *corev1.PersistentVolume {
	// No node: this is the controller's view, not the scheduler's. An error
	// is a selector that cannot be parsed; the controller then binds nothing.
	found, err := volume.FindMatchingVolume(pvc, volumes, nil, nil, delayed, true)
	if err != nil {
		return nil
	}
	return found
}

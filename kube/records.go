package kube

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/kube/binding"
)

// rebuild makes the marked records anew and tells whether anything that is
// shown has changed. A record that comes out the same is not replaced, so that
// a reader can tell by the pointer.
func (j *join) rebuild() bool {
	changed := j.statesChanged
	j.statesChanged = false
	j.markSetClaims()

	// Users point to workloads, and volumes have the users of their claims.
	loads := j.rebuildLoads()
	j.loadList = merge(j.loadList, loads, compareWorkloads)
	claims := j.rebuildClaims()
	j.claimList = merge(j.claimList, claims, compareClaims)
	volumes := j.rebuildVolumes()
	j.volumeList = merge(j.volumeList, volumes, compareVolumes)
	classes := j.rebuildClasses()
	j.classList = merge(j.classList, classes, compareClasses)
	nodes, namespaces := j.nodes.rebuild(), j.namespaces.rebuild()
	return changed || nodes || namespaces || len(loads)+len(claims)+len(volumes)+len(classes) > 0
}

// markSetClaims marks the claims made from the templates of changed sets.
func (j *join) markSetClaims() {
	if len(j.dirtyPrefixes) == 0 {
		return
	}
	for key := range j.claims {
		if prefix, ok := withoutOrdinal(key); ok {
			if _, dirty := j.dirtyPrefixes[prefix]; dirty {
				j.touchClaim(key)
			}
		}
	}
	clear(j.dirtyPrefixes)
}

func (j *join) rebuildClaims() []change[Claim] {
	var changes []change[Claim]
	for _, key := range inOrder(j.dirtyClaims) {
		before := j.claimRecords[key]
		var after *Claim
		if pvc := j.claims[key]; pvc != nil {
			after = j.claimRecord(key, pvc)
		}
		if after == nil {
			delete(j.claimRecords, key)
		} else {
			if before != nil && equalUsers(before.Users, after.Users) {
				after.Users = before.Users
				if before.same(after) {
					continue
				}
			}
			j.claimRecords[key] = after
		}
		if before != nil || after != nil {
			changes = append(changes, change[Claim]{before, after})
		}
	}
	clear(j.dirtyClaims)
	return changes
}

func (j *join) claimRecord(key string, pvc *corev1.PersistentVolumeClaim) *Claim {
	c := &Claim{
		Object:     pvc,
		State:      binding.ClaimState(pvc),
		Request:    bytes(pvc.Spec.Resources.Requests),
		Capacity:   bytes(pvc.Status.Capacity),
		Tie:        j.claimTie(pvc),
		Traits:     ClaimTraits(pvc),
		Users:      j.usersOf(key, pvc.Namespace),
		UsersKnown: j.states[Pods].covers(pvc.Namespace),
	}
	c.Class.Name, c.Class.Set, c.Class.Beta = binding.ClaimClass(pvc)
	c.ModesDiffer = len(pvc.Spec.AccessModes) > 0 && len(pvc.Status.AccessModes) > 0 &&
		!sameModes(pvc.Spec.AccessModes, pvc.Status.AccessModes)
	return c
}

// same compares all but the users.
func (c *Claim) same(d *Claim) bool {
	return c.Object == d.Object && c.State == d.State && c.Class == d.Class && c.Request == d.Request &&
		c.Capacity == d.Capacity && c.Tie == d.Tie && c.ModesDiffer == d.ModesDiffer && c.UsersKnown == d.UsersKnown
}

func sameModes(a, b []corev1.PersistentVolumeAccessMode) bool {
	if len(a) != len(b) {
		return false
	}
	for _, mode := range a {
		if !slices.Contains(b, mode) {
			return false
		}
	}
	return true
}

func bytes(sizes corev1.ResourceList) int64 {
	size := sizes[corev1.ResourceStorage]
	return size.Value()
}

func (j *join) claimTie(pvc *corev1.PersistentVolumeClaim) Tie {
	name := pvc.Spec.VolumeName
	if name == "" {
		return TieNone
	}
	pv := j.volumes[name]
	switch {
	case pv == nil && j.states[PersistentVolumes].covers(""):
		return TieAbsent
	case pv == nil:
		return TieUnknown
	case pv.Spec.ClaimRef == nil:
		return TieOpen
	}
	ref := pv.Spec.ClaimRef
	switch {
	case ref.Namespace != pvc.Namespace || ref.Name != pvc.Name:
		return TieOther
	case ref.UID == "":
		return TieOpen
	case ref.UID != pvc.UID:
		return TieOther
	}
	return TieHeld
}

func (j *join) volumeTie(pv *corev1.PersistentVolume) Tie {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return TieNone
	}
	pvc := j.claims[claimRefKey(pv)]
	switch {
	case pvc == nil && j.states[PersistentVolumeClaims].covers(ref.Namespace):
		return TieAbsent
	case pvc == nil:
		return TieUnknown
	case ref.UID != "" && ref.UID != pvc.UID:
		return TieOther
	case pvc.Spec.VolumeName != "" && pvc.Spec.VolumeName != pv.Name:
		return TieOther
	case ref.UID != "" && pvc.Spec.VolumeName == pv.Name:
		return TieHeld
	}
	return TieOpen
}

func (j *join) rebuildVolumes() []change[Volume] {
	var changes []change[Volume]
	for _, name := range inOrder(j.dirtyVolumes) {
		before := j.volumeRecords[name]
		var after *Volume
		if pv := j.volumes[name]; pv != nil {
			after = j.volumeRecord(pv)
		}
		if before == nil && after == nil {
			continue
		}
		if after == nil {
			delete(j.volumeRecords, name)
		} else {
			if before != nil && after.keep(before) {
				continue
			}
			j.volumeRecords[name] = after
		}
		j.tally(before, after)
		changes = append(changes, change[Volume]{before, after})
	}
	clear(j.dirtyVolumes)
	return changes
}

func (j *join) volumeRecord(pv *corev1.PersistentVolume) *Volume {
	v := &Volume{
		Object:   pv,
		State:    binding.VolumeState(pv),
		Class:    binding.VolumeClass(pv),
		Capacity: bytes(pv.Spec.Capacity),
		Tie:      j.volumeTie(pv),
		Traits:   VolumeTraits(pv),
	}
	v.Users, v.UsersKnown = j.volumeUsers(pv, v.Tie)
	v.Attachments = j.attachmentsOf(pv.Name)
	return v
}

// keep takes over the lists of an older record that are the same, and tells
// whether everything is.
func (v *Volume) keep(before *Volume) bool {
	users, attachments := equalUsers(before.Users, v.Users), equalAttachments(before.Attachments, v.Attachments)
	if users {
		v.Users = before.Users
	}
	if attachments {
		v.Attachments = before.Attachments
	}
	return users && attachments && v.same(before)
}

// same compares all but the lists.
func (v *Volume) same(w *Volume) bool {
	return v.Object == w.Object && v.State == w.State && v.Class == w.Class && v.Capacity == w.Capacity &&
		v.Tie == w.Tie && v.UsersKnown == w.UsersKnown
}

// volumeUsers are the users of every claim that is bound to the volume. That
// may be two of them: after the claimRef of a bound volume is cleared,
// another claim can take it while the first is not told for up to 15 s.
func (j *join) volumeUsers(pv *corev1.PersistentVolume, tie Tie) (users []User, known bool) {
	known = j.usersKnown(pv, tie)
	keys := j.claimsByVolume[pv.Name]
	if len(keys) > 1 {
		keys = slices.Sorted(slices.Values(keys))
	}
	for _, key := range keys {
		pvc := j.claims[key]
		if pvc.Status.Phase != corev1.ClaimBound && (tie != TieHeld || key != claimRefKey(pv)) {
			continue
		}
		if users == nil {
			users = j.claimRecords[key].Users
		} else {
			users = slices.Concat(users, j.claimRecords[key].Users)
		}
	}
	return users, known
}

// usersKnown tells whether an empty list of users would mean that there are
// none. A volume whose claim does not exist has none whoever may read pods;
// but one without a claimRef can still be in use by a claim that names it.
func (j *join) usersKnown(pv *corev1.PersistentVolume, tie Tie) bool {
	claims, pods := j.states[PersistentVolumeClaims], j.states[Pods]
	if pv.Spec.ClaimRef == nil || tie == TieOther {
		return claims.covers("") && (pods.covers("") || len(j.claimsByVolume[pv.Name]) == 0)
	}
	namespace := pv.Spec.ClaimRef.Namespace
	return claims.covers(namespace) && (tie == TieAbsent || pods.covers(namespace))
}

// tally moves a volume between the sums of its classes.
func (j *join) tally(before, after *Volume) {
	if before != nil {
		j.count(before, -1)
	}
	if after != nil {
		j.count(after, 1)
	}
}

func (j *join) count(v *Volume, by int) {
	if v.Class == "" {
		return
	}
	phases := j.tallies[v.Class]
	if phases == nil {
		phases = make(map[binding.Phase]Tally)
		j.tallies[v.Class] = phases
	}
	sum := phases[v.State.Phase]
	sum.Count += by
	sum.Bytes += int64(by) * v.Capacity
	if sum.Count == 0 {
		delete(phases, v.State.Phase)
	} else {
		phases[v.State.Phase] = sum
	}
	j.dirtyClasses.add(v.Class)
}

func (j *join) rebuildClasses() []change[Class] {
	effective := ""
	if j.classesChanged {
		// Any class may have gained or lost the title.
		for name := range j.classes {
			j.dirtyClasses.add(name)
		}
		j.classesChanged = false
	}
	if len(j.dirtyClasses) > 0 {
		if sc := binding.EffectiveDefault(j.allClasses()); sc != nil {
			effective = sc.Name
		}
	}
	changes := make([]change[Class], 0, len(j.dirtyClasses))
	for name := range j.dirtyClasses {
		before := j.classRecords[name]
		var after *Class
		if sc := j.classes[name]; sc != nil {
			after = &Class{
				Object:    sc,
				Default:   binding.IsDefault(sc),
				Effective: name == effective,
				Volumes:   maps.Clone(j.tallies[name]),
			}
			if after.Volumes == nil {
				after.Volumes = make(map[binding.Phase]Tally)
			}
		}
		switch {
		case before == nil && after == nil, before != nil && after != nil && before.same(after):
			continue
		case after == nil:
			delete(j.classRecords, name)
		default:
			j.classRecords[name] = after
		}
		changes = append(changes, change[Class]{before, after})
	}
	clear(j.dirtyClasses)
	return changes
}

func (c *Class) same(d *Class) bool {
	return c.Object == d.Object && c.Default == d.Default && c.Effective == d.Effective && maps.Equal(c.Volumes, d.Volumes)
}

// allClasses is in the order of names, so that the answer does not depend on
// that of a map.
func (j *join) allClasses() []*storagev1.StorageClass {
	classes := slices.Collect(maps.Values(j.classes))
	slices.SortFunc(classes, func(a, b *storagev1.StorageClass) int { return compareNames("", a.Name, "", b.Name) })
	return classes
}

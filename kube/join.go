package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/kube/binding"
)

// join holds all that has been read, indexed by what names what, and the
// records made of it. It works incrementally: a change marks the records that
// depend on it, and only those are made anew. It belongs to one goroutine;
// what it hands out is immutable.
//
// What depends on what: a claim's record on the claim, the volume it names,
// and the pods and workloads that use it; a volume's record on the volume, the
// claim its claimRef names, the users of the claims that name it, and its
// attachments; a class's record on the class, all classes, and the volumes in
// it. A workload's record is its own, but whether it is shown depends on its
// pods and on the workloads that it controls.
type join struct {
	volumes map[string]*corev1.PersistentVolume
	claims  map[string]*corev1.PersistentVolumeClaim
	classes map[string]*storagev1.StorageClass
	pods    map[string]*podRecord
	loads   map[Resource]map[string]*Workload
	states  map[Resource]ResourceState

	nodes       *register[Node]
	namespaces  *register[Namespace]
	attachments map[string]*Attachment

	// volumesByClaim: claim key to the volumes whose claimRef names it.
	volumesByClaim index[string]
	// claimsByVolume: volume name to the claims whose volumeName it is.
	claimsByVolume index[string]
	podsByClaim    index[*podRecord]
	podsByOwner    index[*podRecord]
	loadsByClaim   index[*Workload]
	loadsByOwner   index[*Workload]
	// setsByPrefix: namespace/template-set to the StatefulSets whose claims
	// are called so, less the ordinal.
	setsByPrefix index[*Workload]
	loadsByUID   map[string]*Workload
	// attachmentsByVolume: volume name to what says where it is attached.
	attachmentsByVolume index[*Attachment]

	volumeRecords map[string]*Volume
	claimRecords  map[string]*Claim
	classRecords  map[string]*Class
	// tallies by class name and phase, zero ones left out.
	tallies map[string]map[binding.Phase]Tally

	dirtyVolumes set
	dirtyClaims  set
	dirtyClasses set
	// dirtyPrefixes: sets' claims to be found by going through all claims,
	// once for however many sets have changed.
	dirtyPrefixes set
	// dirtyLoads: the workloads as they are now, nil for those that have gone.
	dirtyLoads map[loadKey]*Workload
	// classesChanged: the effective default may have moved.
	classesChanged bool
	statesChanged  bool

	volumeList []*Volume
	claimList  []*Claim
	classList  []*Class
	loadList   []*Workload
}

func newJoin() *join {
	return &join{
		volumes: make(map[string]*corev1.PersistentVolume),
		claims:  make(map[string]*corev1.PersistentVolumeClaim),
		classes: make(map[string]*storagev1.StorageClass),
		pods:    make(map[string]*podRecord),
		loads:   make(map[Resource]map[string]*Workload),
		states:  make(map[Resource]ResourceState),

		nodes:       newRegister((*Node).same, compareNodes),
		namespaces:  newRegister((*Namespace).same, compareNamespaces),
		attachments: make(map[string]*Attachment),

		volumesByClaim: make(index[string]),
		claimsByVolume: make(index[string]),
		podsByClaim:    make(index[*podRecord]),
		podsByOwner:    make(index[*podRecord]),
		loadsByClaim:   make(index[*Workload]),
		loadsByOwner:   make(index[*Workload]),
		setsByPrefix:   make(index[*Workload]),
		loadsByUID:     make(map[string]*Workload),

		attachmentsByVolume: make(index[*Attachment]),

		volumeRecords: make(map[string]*Volume),
		claimRecords:  make(map[string]*Claim),
		classRecords:  make(map[string]*Class),
		tallies:       make(map[string]map[binding.Phase]Tally),

		dirtyVolumes:  make(set),
		dirtyClaims:   make(set),
		dirtyClasses:  make(set),
		dirtyPrefixes: make(set),
		dirtyLoads:    make(map[loadKey]*Workload),
	}
}

// apply takes in what a mailbox delivers.
func (j *join) apply(resource Resource, d delivery) {
	j.setState(resource, d.state)
	switch resource {
	case PersistentVolumes:
		deliver(d, j.volumes, j.setVolume)
	case PersistentVolumeClaims:
		deliver(d, j.claims, j.setClaim)
	case StorageClasses:
		deliver(d, j.classes, j.setClass)
	case Nodes:
		deliver(d, j.nodes.all, j.nodes.put)
	case Namespaces:
		deliver(d, j.namespaces.all, j.namespaces.put)
	case VolumeAttachments:
		deliver(d, j.attachments, j.setAttachment)
	case Pods:
		deliver(d, j.pods, j.setPod)
	case StatefulSets, Deployments, ReplicaSets, DaemonSets, Jobs, CronJobs:
		if j.loads[resource] == nil {
			j.loads[resource] = make(map[string]*Workload)
		}
		deliver(d, j.loads[resource], func(key string, w *Workload) { j.setLoad(resource, key, w) })
	}
}

// deliver turns a delivery into single changes.
func deliver[T any](d delivery, have map[string]*T, setOne func(key string, value *T)) {
	if d.replaced {
		for key := range have {
			if d.changes[key] == nil {
				setOne(key, nil)
			}
		}
	}
	for key, obj := range d.changes {
		setOne(key, unpack[T](obj))
	}
}

// unpack is what has been delivered; nil for a deletion.
func unpack[T any](obj any) *T {
	if s, ok := obj.(slim[T]); ok {
		return s.value
	}
	value, _ := obj.(*T)
	return value
}

func (j *join) setState(resource Resource, state ResourceState) {
	before := j.states[resource]
	if before == state {
		return
	}
	j.states[resource] = state
	j.statesChanged = true
	if before.Phase == state.Phase && before.Namespace == state.Namespace {
		return
	}
	// What is absent, or unused, has been proved so by one more resource, or
	// by one less.
	if resource == PersistentVolumes || resource == PersistentVolumeClaims || resource == Pods {
		for key := range j.claims {
			j.dirtyClaims.add(key)
		}
		for name := range j.volumes {
			j.dirtyVolumes.add(name)
		}
	}
}

func (j *join) setVolume(name string, pv *corev1.PersistentVolume) {
	before := j.volumes[name]
	if before == nil && pv == nil || before != nil && pv != nil && before.UID == pv.UID && before.ResourceVersion == pv.ResourceVersion && pv.ResourceVersion != "" {
		return
	}
	if before != nil {
		j.volumesByClaim.remove(claimRefKey(before), name)
	}
	if pv != nil {
		j.volumes[name] = pv
		j.volumesByClaim.add(claimRefKey(pv), name)
	} else {
		delete(j.volumes, name)
	}
	j.dirtyVolumes.add(name)
	for _, claim := range j.claimsByVolume[name] {
		j.dirtyClaims.add(claim)
	}
}

func claimRefKey(pv *corev1.PersistentVolume) string {
	if pv.Spec.ClaimRef == nil {
		return ""
	}
	return objectKey(pv.Spec.ClaimRef.Namespace, pv.Spec.ClaimRef.Name)
}

func (j *join) setClaim(key string, pvc *corev1.PersistentVolumeClaim) {
	before := j.claims[key]
	if before == nil && pvc == nil || before != nil && pvc != nil && before.UID == pvc.UID && before.ResourceVersion == pvc.ResourceVersion && pvc.ResourceVersion != "" {
		return
	}
	// Both the volumes that the old one stood in relation to and those of the
	// new one.
	j.touchClaim(key)
	if before != nil {
		j.claimsByVolume.remove(before.Spec.VolumeName, key)
	}
	if pvc != nil {
		j.claims[key] = pvc
		j.claimsByVolume.add(pvc.Spec.VolumeName, key)
	} else {
		delete(j.claims, key)
	}
	j.touchClaim(key)
}

// touchClaim marks a claim and the volumes whose records depend on it.
func (j *join) touchClaim(key string) {
	j.dirtyClaims.add(key)
	for _, volume := range j.volumesByClaim[key] {
		j.dirtyVolumes.add(volume)
	}
	if pvc := j.claims[key]; pvc != nil && pvc.Spec.VolumeName != "" {
		j.dirtyVolumes.add(pvc.Spec.VolumeName)
	}
}

func (j *join) setClass(name string, sc *storagev1.StorageClass) {
	before := j.classes[name]
	if before == nil && sc == nil || before != nil && sc != nil && before.UID == sc.UID && before.ResourceVersion == sc.ResourceVersion && sc.ResourceVersion != "" {
		return
	}
	if sc != nil {
		j.classes[name] = sc
	} else {
		delete(j.classes, name)
	}
	j.dirtyClasses.add(name)
	j.classesChanged = true
}

func (j *join) setPod(key string, pod *podRecord) {
	if pod != nil && len(pod.claims) == 0 {
		pod = nil
	}
	before := j.pods[key]
	if before == nil && pod == nil || before != nil && pod != nil && before.same(pod) {
		return
	}
	if before != nil {
		j.podsByOwner.remove(string(before.owner.UID), before)
		j.touchOwners(before.owner.UID)
		for _, claim := range before.claims {
			claimKey := objectKey(before.namespace, claim)
			j.podsByClaim.remove(claimKey, before)
			j.touchClaim(claimKey)
		}
	}
	if pod == nil {
		delete(j.pods, key)
		return
	}
	j.pods[key] = pod
	j.podsByOwner.add(string(pod.owner.UID), pod)
	j.touchOwners(pod.owner.UID)
	for _, claim := range pod.claims {
		claimKey := objectKey(pod.namespace, claim)
		j.podsByClaim.add(claimKey, pod)
		j.touchClaim(claimKey)
	}
}

func (j *join) setLoad(resource Resource, key string, w *Workload) {
	before := j.loads[resource][key]
	if before == nil && w == nil || before != nil && w != nil && before.same(w) {
		return
	}
	if before != nil {
		j.touchOwners(before.Owner.UID)
		// After the owners: in a circle it is among them.
		j.touchLoad(before.key(), nil)
		j.touchUsedBy(before, maxChain)
		if j.loadsByUID[string(before.UID)] == before {
			delete(j.loadsByUID, string(before.UID))
		}
		j.loadsByOwner.remove(string(before.Owner.UID), before)
		for _, claim := range before.Claims {
			j.loadsByClaim.remove(objectKey(before.Namespace, claim), before)
		}
		for _, template := range before.Templates {
			j.setsByPrefix.remove(setPrefix(before, template), before)
		}
	}
	if w == nil {
		delete(j.loads[resource], key)
		return
	}
	// What has come back as it was shown is the same record.
	if shown := j.shownLoad(w.key()); shown != nil && shown.same(w) {
		w = shown
	}
	j.loads[resource][key] = w
	j.loadsByUID[string(w.UID)] = w
	j.loadsByOwner.add(string(w.Owner.UID), w)
	for _, claim := range w.Claims {
		j.loadsByClaim.add(objectKey(w.Namespace, claim), w)
	}
	for _, template := range w.Templates {
		j.setsByPrefix.add(setPrefix(w, template), w)
	}
	j.touchLoad(w.key(), w)
	j.touchOwners(w.Owner.UID)
	j.touchUsedBy(w, maxChain)
}

// maxChain bounds the walk along owner references: a Deployment's pods are two
// steps away, and references that go in a circle are nobody's but possible.
const maxChain = 4

func setPrefix(w *Workload, template string) string {
	return objectKey(w.Namespace, template+"-"+w.Name)
}

// touchUsedBy marks the claims that a workload uses: by its template, by its
// pods, and by those of the workloads it controls.
func (j *join) touchUsedBy(w *Workload, depth int) {
	for _, claim := range w.Claims {
		j.touchClaim(objectKey(w.Namespace, claim))
	}
	for _, template := range w.Templates {
		j.dirtyPrefixes.add(setPrefix(w, template))
	}
	for _, pod := range j.podsByOwner[string(w.UID)] {
		for _, claim := range pod.claims {
			j.touchClaim(objectKey(pod.namespace, claim))
		}
	}
	if depth == 0 {
		return
	}
	for _, owned := range j.loadsByOwner[string(w.UID)] {
		j.touchUsedBy(owned, depth-1)
	}
}

// withoutOrdinal cuts "-3" from a name that ends so.
func withoutOrdinal(key string) (string, bool) {
	at := strings.LastIndexByte(key, '-')
	if at < 0 || at == len(key)-1 {
		return "", false
	}
	for _, digit := range []byte(key[at+1:]) {
		if digit < '0' || digit > '9' {
			return "", false
		}
	}
	return key[:at], true
}

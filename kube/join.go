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
// claim its claimRef names, and the users of the claims that name it; a
// class's record on the class, all classes, and the volumes in it.
type join struct {
	volumes map[string]*corev1.PersistentVolume
	claims  map[string]*corev1.PersistentVolumeClaim
	classes map[string]*storagev1.StorageClass
	pods    map[string]*podRecord
	loads   map[Resource]map[string]*workload
	states  map[Resource]ResourceState

	// volumesByClaim: claim key to the volumes whose claimRef names it.
	volumesByClaim index[string]
	// claimsByVolume: volume name to the claims whose volumeName it is.
	claimsByVolume index[string]
	podsByClaim    index[*podRecord]
	podsByOwner    index[*podRecord]
	loadsByClaim   index[*workload]
	loadsByOwner   index[*workload]
	// setsByPrefix: namespace/template-set to the StatefulSets whose claims
	// are called so, less the ordinal.
	setsByPrefix index[*workload]
	loadsByUID   map[string]*workload

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
	// classesChanged: the effective default may have moved.
	classesChanged bool
	statesChanged  bool

	volumeList []*Volume
	claimList  []*Claim
	classList  []*Class
}

func newJoin() *join {
	return &join{
		volumes: make(map[string]*corev1.PersistentVolume),
		claims:  make(map[string]*corev1.PersistentVolumeClaim),
		classes: make(map[string]*storagev1.StorageClass),
		pods:    make(map[string]*podRecord),
		loads:   make(map[Resource]map[string]*workload),
		states:  make(map[Resource]ResourceState),

		volumesByClaim: make(index[string]),
		claimsByVolume: make(index[string]),
		podsByClaim:    make(index[*podRecord]),
		podsByOwner:    make(index[*podRecord]),
		loadsByClaim:   make(index[*workload]),
		loadsByOwner:   make(index[*workload]),
		setsByPrefix:   make(index[*workload]),
		loadsByUID:     make(map[string]*workload),

		volumeRecords: make(map[string]*Volume),
		claimRecords:  make(map[string]*Claim),
		classRecords:  make(map[string]*Class),
		tallies:       make(map[string]map[binding.Phase]Tally),

		dirtyVolumes:  make(set),
		dirtyClaims:   make(set),
		dirtyClasses:  make(set),
		dirtyPrefixes: make(set),
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
	case Pods:
		deliver(d, j.pods, j.setPod)
	case StatefulSets, Deployments, ReplicaSets, DaemonSets, Jobs, CronJobs:
		if j.loads[resource] == nil {
			j.loads[resource] = make(map[string]*workload)
		}
		deliver(d, j.loads[resource], func(key string, w *workload) { j.setLoad(resource, key, w) })
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
		// A deletion arrives as nil, for which the assertion fails, with the
		// nil that is wanted.
		value, _ := obj.(*T)
		setOne(key, value)
	}
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
		j.podsByOwner.remove(string(before.owner.uid), before)
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
	j.podsByOwner.add(string(pod.owner.uid), pod)
	for _, claim := range pod.claims {
		claimKey := objectKey(pod.namespace, claim)
		j.podsByClaim.add(claimKey, pod)
		j.touchClaim(claimKey)
	}
}

func (j *join) setLoad(resource Resource, key string, w *workload) {
	before := j.loads[resource][key]
	if before == nil && w == nil || before != nil && w != nil && before.same(w) {
		return
	}
	if before != nil {
		j.touchUsedBy(before, maxChain)
		if j.loadsByUID[string(before.uid)] == before {
			delete(j.loadsByUID, string(before.uid))
		}
		j.loadsByOwner.remove(string(before.owner.uid), before)
		for _, claim := range before.claims {
			j.loadsByClaim.remove(objectKey(before.namespace, claim), before)
		}
		for _, template := range before.templates {
			j.setsByPrefix.remove(setPrefix(before, template), before)
		}
	}
	if w == nil {
		delete(j.loads[resource], key)
		return
	}
	j.loads[resource][key] = w
	j.loadsByUID[string(w.uid)] = w
	j.loadsByOwner.add(string(w.owner.uid), w)
	for _, claim := range w.claims {
		j.loadsByClaim.add(objectKey(w.namespace, claim), w)
	}
	for _, template := range w.templates {
		j.setsByPrefix.add(setPrefix(w, template), w)
	}
	j.touchUsedBy(w, maxChain)
}

// maxChain bounds the walk along owner references: a Deployment's pods are two
// steps away, and references that go in a circle are nobody's but possible.
const maxChain = 4

func setPrefix(w *workload, template string) string {
	return objectKey(w.namespace, template+"-"+w.name)
}

// touchUsedBy marks the claims that a workload uses: by its template, by its
// pods, and by those of the workloads it controls.
func (j *join) touchUsedBy(w *workload, depth int) {
	for _, claim := range w.claims {
		j.touchClaim(objectKey(w.namespace, claim))
	}
	for _, template := range w.templates {
		j.dirtyPrefixes.add(setPrefix(w, template))
	}
	for _, pod := range j.podsByOwner[string(w.uid)] {
		for _, claim := range pod.claims {
			j.touchClaim(objectKey(pod.namespace, claim))
		}
	}
	if depth == 0 {
		return
	}
	for _, owned := range j.loadsByOwner[string(w.uid)] {
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

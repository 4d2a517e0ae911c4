package prediction

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	hold     = "example.com/hold"
	suite    = "example.com/prediction"
	frozen   = "example.com/frozen"
	tier     = "example.com/tier"
	pairKey  = "example.com/pair"
	staleUID = "00000000-0000-4000-8000-000000000000"
)

// order says which of a pair is there while the controllers still run. They
// have seen it and are at rest when the other comes.
type order string

const (
	volumeFirst order = "volume first"
	claimFirst  order = "claim first"
	together    order = "together"
)

// pair is a volume and a claim, and how they come to be.
type pair struct {
	id    string
	way   string
	notes []string
	pv    *corev1.PersistentVolume
	pvc   *corev1.PersistentVolumeClaim
	// rivals are other volumes of the claim's class.
	rivals []*corev1.PersistentVolume
	// class is that of the pair's name. Without it the name stands for
	// nothing, as in a cluster whose volumes are all made by hand.
	class *storagev1.StorageClass
	order order
	// setting is the one that the pair has to be in.
	setting setting
	// owned: the volume's claimRef gets the uid of the claim.
	owned bool
	// deleted volumes are deleted, and held.
	deleted bool
	// phase of the volume is set by hand while the controllers are paused.
	phase corev1.PersistentVolumePhase
	// frozen volumes keep their phase: the controller may not set it.
	frozen bool
}

func (p *pair) String() string {
	return fmt.Sprintf("%s (%s, %s, default class: %s, phase by hand: %q; %s)",
		p.id, p.way, p.order, p.setting, p.phase, strings.Join(p.notes, ", "))
}

func (p *pair) volumes() []*corev1.PersistentVolume {
	return append([]*corev1.PersistentVolume{p.pv}, p.rivals...)
}

// newPair has a volume and a claim that suit each other.
func newPair(id string) *pair {
	return &pair{
		id: id, setting: none,
		pv: newVolume(id, id),
		pvc: &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Name: id},
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &id,
				AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:        corev1.VolumeResourceRequirements{Requests: storage("1Gi")},
			},
		},
		class: newClass(id),
	}
}

// newVolume is a volume of a driver that nobody runs.
func newVolume(name, id string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Finalizers: []string{hold},
			Labels: map[string]string{suite: "yes", pairKey: id, tier: "fast"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      storage("1Gi"),
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              id,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "nobody.example.com", VolumeHandle: name},
			},
		},
	}
}

// newClass has no provisioner: its volumes are made by hand.
func newClass(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{suite: "yes"}},
		Provisioner: "kubernetes.io/no-provisioner",
	}
}

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// draw makes the pairs of a seed. First come those that differ in one respect
// or in none, for each respect and each of the plain ways; they go through what
// there is in turn. The others are drawn freely.
func draw(seed uint64, count int) []*pair {
	r := rand.New(rand.NewPCG(seed, 0))
	ways, respects := ways(), len(attributes())
	var pairs []*pair
	add := func(w way, choose func(options []edit) edit, differing ...int) {
		pairs = append(pairs, drawPair(r, fmt.Sprintf("pair-%04d", len(pairs)), w, choose, differing))
	}
	for i, w := range plainWays() {
		each := 5
		if i == 0 {
			each = 10 // The ordinary way has the most to go wrong.
		}
		for respect := range respects + 1 { // The last is none.
			for n := range each {
				add(w, func(options []edit) edit { return options[n%len(options)] }, respect)
			}
		}
	}
	for len(pairs) < count {
		// Most differ in one respect or in none, so that each rule decides by
		// itself often enough.
		differing := r.Perm(respects)[:one(r, []int{0, 0, 1, 1, 1, 1, 2, 3})]
		add(one(r, ways), func(options []edit) edit { return one(r, options) }, differing...)
	}
	return pairs
}

func drawPair(r *rand.Rand, id string, w way, choose func([]edit) edit, differing []int) *pair {
	p := newPair(id)
	w.apply(p)
	if one(r, []bool{true, false, false}) {
		p.setting = one(r, settings()[1:])
	}
	for i, a := range attributes() {
		if slices.Contains(differing, i) {
			choose(a.differs)(r, p)
		} else {
			one(r, a.fits)(r, p)
		}
	}
	for _, c := range circumstances() {
		if r.IntN(100) < c.percent {
			c.apply(r, p)
		}
	}
	p.order = p.possibleOrder(r)
	return p
}

// possibleOrder leaves out the orders whose outcome is a matter of chance, or
// that cannot be.
func (p *pair) possibleOrder(r *rand.Rand) order {
	classless := p.pvc.Spec.StorageClassName == nil && p.setting != none
	switch {
	case p.owned: // There is no uid before the claim.
		if classless {
			p.setting = none
		}
		return one(r, []order{claimFirst, together})
	case p.frozen:
		return volumeFirst
	case len(p.rivals) > 0:
		// Which is chosen would depend on when the phase is set right.
		p.phase = ""
		return volumeFirst
	case p.deleted:
		return volumeFirst
	case classless:
		// The default class is filled in as soon as no volume is seen.
		p.phase = ""
		return volumeFirst
	default:
		return one(r, []order{volumeFirst, volumeFirst, claimFirst, together})
	}
}

func (p *pair) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

func one[T any](r *rand.Rand, options []T) T { return options[r.IntN(len(options))] }

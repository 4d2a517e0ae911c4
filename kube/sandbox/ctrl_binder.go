package sandbox

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

// binderSource is the component that the binder's events come from
// (pv_controller_base.go).
const binderSource = "persistentvolume-controller"

// binder is pkg/controller/volume/persistentvolume. A transition is the first
// write that a sync of a claim or a volume would make now, so that whatever
// happens between two writes is taken into account by the next, as it is by the
// controller, whose writes carry the version they were made from. File names in
// the comments here are of that package.
type binder struct{}

func (binder) Name() string { return "persistentvolume-binder" }

func (c binder) Enabled(s *State) []Transition {
	b := binderSync{
		agenda:  agenda{name: c.Name(), s: s},
		volumes: slices.Collect(s.Volumes()),
		classes: slices.Collect(s.Classes()),
	}
	for pvc := range s.Claims("") {
		b.syncClaim(pvc)
	}
	for _, pv := range b.volumes {
		b.syncVolume(pv)
	}
	return b.list
}

type binderSync struct {
	agenda
	volumes []*corev1.PersistentVolume
	classes []*storagev1.StorageClass
	pods    map[types.NamespacedName][]*corev1.Pod
}

// users are the pods that refer to a claim and have not ended. They are looked
// for when they are first asked for, as that is seldom.
func (b *binderSync) users(claim types.NamespacedName) []*corev1.Pod {
	if b.pods == nil {
		b.pods = podsByClaim(b.s)
	}
	return slices.DeleteFunc(slices.Clone(b.pods[claim]), ended)
}

func (b *binderSync) normal(about Object, reason, format string, args ...any) note {
	return note{binderSource, about, corev1.EventTypeNormal, reason, fmt.Sprintf(format, args...)}
}

func (b *binderSync) warning(about Object, reason, format string, args ...any) note {
	return note{binderSource, about, corev1.EventTypeWarning, reason, fmt.Sprintf(format, args...)}
}

func (b *binderSync) syncClaim(pvc *corev1.PersistentVolumeClaim) {
	switch {
	case binding.BindCompleted(pvc):
		b.syncBoundClaim(pvc)
	case pvc.Spec.VolumeName != "":
		b.syncRequest(pvc)
	default:
		b.syncUnboundClaim(pvc)
	}
}

// syncUnboundClaim looks for any volume (pv_controller.go, syncUnboundClaim).
// Of several that suit as well it depends on the order of a map which one is
// taken, so each is a possibility.
func (b *binderSync) syncUnboundClaim(pvc *corev1.PersistentVolumeClaim) {
	classes := b.classes
	if !volume.PersistentVolumeClaimHasClass(pvc) {
		// It is first matched as it is, without the default class that
		// Choices would go on to fill in: that is a write of its own.
		classes = nil
	}
	if found := binding.Choices(pvc, b.volumes, classes); len(found) > 0 {
		for _, pv := range found {
			b.bind(pv, pvc)
		}
		return
	}
	if class := b.defaultClass(pvc); class != nil {
		change(&b.agenda, "give the default class to", pvc, func(c *corev1.PersistentVolumeClaim) {
			c.Spec.StorageClassName = new(class.Name)
		})
		return
	}
	class, _, _ := binding.ClaimClass(pvc)
	switch {
	case binding.Delays(pvc, b.classes) && !volume.IsDelayBindingProvisioning(pvc):
		b.pending(pvc, b.waiting(pvc))
	case class != "":
		b.provision(pvc, class)
	default:
		b.pending(pvc, b.normal(pvc, "FailedBinding",
			"no persistent volumes available for this claim and no storage class is set"))
	}
}

// defaultClass is the class that a claim without one gets (assignDefaultStorageClass),
// nil if it has one or there is none to get.
func (b *binderSync) defaultClass(pvc *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	if volume.PersistentVolumeClaimHasClass(pvc) {
		return nil
	}
	return binding.EffectiveDefault(b.classes)
}

// waiting is emitEventForUnboundDelayBindingClaim.
func (b *binderSync) waiting(pvc *corev1.PersistentVolumeClaim) note {
	var pods []string
	for _, pod := range b.users(nameOf(pvc)) {
		if pod.Spec.NodeName == "" {
			pods = append(pods, pod.Name)
		}
	}
	switch len(pods) {
	case 0:
		return b.normal(pvc, "WaitForFirstConsumer", "waiting for first consumer to be created before binding")
	case 1:
		return b.normal(pvc, "WaitForPodScheduled", "waiting for pod %s to be scheduled", pods[0])
	default:
		return b.normal(pvc, "WaitForPodScheduled", "waiting for pods %s to be scheduled", strings.Join(pods, ","))
	}
}

// syncRequest is syncUnboundClaim for a claim that names a volume.
func (b *binderSync) syncRequest(pvc *corev1.PersistentVolumeClaim) {
	pv := b.s.Volume(pvc.Spec.VolumeName)
	switch {
	case pv == nil:
		// Nothing is said, however long it takes.
		b.status(pvc, corev1.ClaimPending, nil)
	case pv.Spec.ClaimRef == nil:
		if why := unsatisfied(pv, pvc, b.classes); why != "" {
			b.pending(pvc, b.warning(pvc, "VolumeMismatch", "Cannot bind to requested volume %q: %s", pv.Name, why))
			return
		}
		b.bind(pv, pvc)
	case volume.IsVolumeBoundToClaim(pv, pvc):
		// No check at all.
		b.bind(pv, pvc)
	default:
		taken := b.warning(pvc, "FailedBinding", "volume %q already bound to a different claim.", pv.Name)
		if metav1.HasAnnotation(pvc.ObjectMeta, volume.AnnBoundByController) {
			b.tell(taken)
			return
		}
		b.pending(pvc, taken)
	}
}

// unsatisfied is the first thing that checkVolumeSatisfyClaim finds wrong, in
// its order and its words.
func unsatisfied(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim, classes []*storagev1.StorageClass) string {
	blocking := binding.Judge(pv, pvc, classes).Blocking
	for _, c := range []struct {
		kind binding.MismatchKind
		text string
	}{
		{binding.Deletion, fmt.Sprintf("the volume is marked for deletion %q", pv.Name)},
		{binding.Capacity, "requested PV is too small"},
		{binding.Class, "storageClassName does not match"},
		{binding.AttributesClass, "volumeAttributesClassName does not match"},
		{binding.VolumeMode, "incompatible volumeMode"},
		{binding.AccessModes, "incompatible accessMode"},
	} {
		if slices.ContainsFunc(blocking, func(m binding.Mismatch) bool { return m.Kind == c.kind }) {
			return c.text
		}
	}
	return ""
}

// syncBoundClaim is for claims that carry the mark of a finished binding
// (pv_controller.go, syncBoundClaim).
func (b *binderSync) syncBoundClaim(pvc *corev1.PersistentVolumeClaim) {
	pv := b.s.Volume(pvc.Spec.VolumeName)
	switch {
	case pvc.Spec.VolumeName == "":
		b.lose(pvc, b.warning(pvc, "ClaimLost",
			"Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"))
	case pv == nil:
		b.lose(pvc, b.warning(pvc, "ClaimLost",
			"Bound claim has lost its PersistentVolume. Data on the volume is lost!"))
	case pv.Spec.ClaimRef == nil, pv.Spec.ClaimRef.UID == pvc.UID:
		b.bind(pv, pvc)
	default:
		b.lose(pvc, b.warning(pvc, "ClaimMisbound",
			"Two claims are bound to the same volume, this one is bound incorrectly"))
	}
}

// bind is bind of pv_controller.go, which makes four writes in this order.
func (b *binderSync) bind(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) {
	switch {
	case pv.Spec.ClaimRef == nil, pv.Spec.ClaimRef.UID != pvc.UID, !volume.IsVolumeBoundToClaim(pv, pvc):
		b.add("bind to claim "+nameOf(pvc).String()+" the volume", pv, func(s *State) *State {
			bound, _, err := volume.GetBindVolumeToClaim(pv, pvc)
			if err != nil {
				// It fails for kinds that the scheme does not know.
				return s
			}
			return s.Update(bound)
		})
	case pv.Status.Phase != corev1.VolumeBound:
		b.phase(pv, corev1.VolumeBound)
	case pvc.Spec.VolumeName != pv.Name, !binding.BindCompleted(pvc):
		// bindClaimToVolume: the mark of the controller's own choice is put on
		// only if the claim did not name the volume itself.
		change(&b.agenda, "bind to volume "+pv.Name+" the claim", pvc, func(c *corev1.PersistentVolumeClaim) {
			if c.Spec.VolumeName != pv.Name {
				c.Spec.VolumeName = pv.Name
				annotateOnce(c, volume.AnnBoundByController, "yes")
			}
			annotateOnce(c, volume.AnnBindCompleted, "yes")
		})
	default:
		b.status(pvc, corev1.ClaimBound, pv)
	}
}

func annotateOnce(o *corev1.PersistentVolumeClaim, key, value string) {
	if !metav1.HasAnnotation(o.ObjectMeta, key) {
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, key, value)
	}
}

// status is updateClaimStatus, for a volume or for none.
func (b *binderSync) status(pvc *corev1.PersistentVolumeClaim, phase corev1.PersistentVolumeClaimPhase, pv *corev1.PersistentVolume) {
	was := pvc.Status
	dirty := was.Phase != phase
	if pv == nil {
		dirty = dirty || was.AccessModes != nil || was.Capacity != nil || was.CurrentVolumeAttributesClassName != nil
	} else {
		if _, ok := pv.Spec.Capacity[corev1.ResourceStorage]; dirty && !ok {
			return // An error, tried again and again.
		}
		dirty = dirty || !slices.Equal(was.AccessModes, pv.Spec.AccessModes)
	}
	if dirty {
		change(&b.agenda, "mark as "+string(phase), pvc, func(c *corev1.PersistentVolumeClaim) { setStatus(&c.Status, phase, pv) })
	}
}

// pending says why a claim waits, and that it does.
func (b *binderSync) pending(pvc *corev1.PersistentVolumeClaim, why note) {
	b.tell(why)
	b.status(pvc, corev1.ClaimPending, nil)
}

// lose is updateClaimStatusWithEvent, which does nothing for a claim that is
// Lost already.
func (b *binderSync) lose(pvc *corev1.PersistentVolumeClaim, why note) {
	if pvc.Status.Phase == corev1.ClaimLost {
		return
	}
	b.add("mark as Lost", pvc, func(s *State) *State {
		return why.tell(s.Update(edited(pvc, func(c *corev1.PersistentVolumeClaim) { setStatus(&c.Status, corev1.ClaimLost, nil) })))
	})
}

// setStatus is what updateClaimStatus writes.
func setStatus(status *corev1.PersistentVolumeClaimStatus, phase corev1.PersistentVolumeClaimPhase, pv *corev1.PersistentVolume) {
	was := status.Phase
	status.Phase = phase
	if pv == nil {
		status.AccessModes, status.Capacity, status.CurrentVolumeAttributesClassName = nil, nil, nil
		return
	}
	status.AccessModes = pv.Spec.AccessModes
	if was == phase {
		return
	}
	// Only while becoming Bound: later it may differ on purpose.
	size := pv.Spec.Capacity[corev1.ResourceStorage]
	if has, ok := status.Capacity[corev1.ResourceStorage]; !ok || size.Cmp(has) != 0 {
		status.Capacity = pv.Spec.Capacity
	}
	if was == corev1.ClaimPending && phase == corev1.ClaimBound {
		status.CurrentVolumeAttributesClassName = pv.Spec.VolumeAttributesClassName
	}
}

// provision is provisionClaim: hand over to an external provisioner, or do it
// with the one plugin that is built in.
func (b *binderSync) provision(pvc *corev1.PersistentVolumeClaim, name string) {
	class := b.s.Class(name)
	failed := func(format string, args ...any) {
		b.tell(b.warning(pvc, "ProvisioningFailed", format, args...))
	}
	switch {
	case class == nil:
		failed("storageclass.storage.k8s.io %q not found", name)
	case inTree(class.Provisioner) && class.Provisioner != hostPathPlugin:
		failed("no volume plugin matched name: %s", class.Provisioner)
	case pvc.Annotations[volume.AnnStorageProvisioner] != class.Provisioner:
		// setClaimProvisioner.
		change(&b.agenda, "name the provisioner "+class.Provisioner+" to", pvc, func(c *corev1.PersistentVolumeClaim) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnBetaStorageProvisioner, class.Provisioner)
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnStorageProvisioner, class.Provisioner)
		})
	case class.Provisioner == hostPathPlugin:
		b.provisionHostPath(pvc, class)
	default:
		b.tell(b.normal(pvc, "ExternalProvisioning", "Waiting for a volume to be created either by the external provisioner '%s' "+
			"or manually by the system administrator. If volume creation is delayed, please verify that "+
			"the provisioner is running and correctly registered.", class.Provisioner))
	}
}

func inTree(provisioner string) bool { return strings.HasPrefix(provisioner, "kubernetes.io/") }

func nameOf(o Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

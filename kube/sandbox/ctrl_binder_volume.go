package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
	"k8s.io/component-helpers/storage/volume"
)

const (
	// hostPathPlugin is the one provisioner that is built in
	// (pkg/volume/hostpath/host_path.go).
	hostPathPlugin = "kubernetes.io/host-path"
	// hostPathRoot is where it makes its folders.
	hostPathRoot = "/tmp/hostpath_pv/"
	// hostPathDeletable is what a path must have in it, and more behind it, for
	// the plugin to delete the folder. The plugin does not ask that the path
	// begin with it.
	hostPathDeletable = "/tmp/"
)

var (
	errNoPlugin    = errors.New("no volume plugin matched")
	errNoDeletable = errors.New("no deletable volume plugin matched")
)

// syncVolume is syncVolume of pv_controller.go.
func (b *binderSync) syncVolume(pv *corev1.PersistentVolume) {
	if b.fixFinalizer(pv) {
		return
	}
	ref := pv.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		b.phase(pv, corev1.VolumeAvailable)
		return
	}
	pvc := b.s.Claim(ref.Namespace, ref.Name)
	switch {
	case pvc == nil, pvc.UID != ref.UID:
		b.release(pv)
	case pvc.Spec.VolumeName == "":
		// The claim's sync finishes the binding, but would never find this one.
		if volume.CheckVolumeModeMismatches(&pvc.Spec, &pv.Spec) {
			b.tell(b.warning(pv, "VolumeMismatch",
				"Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", pvc.Name))
			b.tell(b.warning(pvc, "VolumeMismatch",
				"Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", pv.Name))
		}
	case pvc.Spec.VolumeName == pv.Name:
		b.phase(pv, corev1.VolumeBound)
	case metav1.HasAnnotation(pv.ObjectMeta, volume.AnnDynamicallyProvisioned) &&
		pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete:
		// It was made for a claim that took another, and is not needed.
		b.release(pv)
	default:
		b.unbind(pv)
	}
}

// phase is updateVolumePhase.
func (b *binderSync) phase(pv *corev1.PersistentVolume, phase corev1.PersistentVolumePhase) {
	if pv.Status.Phase != phase {
		b.add("mark as "+string(phase), pv, func(s *State) *State { return s.Update(inPhase(s, pv, phase, "")) })
	}
}

// inPhase is a volume that enters a phase. The API server notes when
// (pkg/registry/core/persistentvolume/strategy.go).
func inPhase(s *State, pv *corev1.PersistentVolume, phase corev1.PersistentVolumePhase, message string) *corev1.PersistentVolume {
	return edited(pv, func(pv *corev1.PersistentVolume) {
		pv.Status.Phase, pv.Status.Message = phase, message
		pv.Status.LastPhaseTransitionTime = new(metav1.NewTime(s.Now()))
	})
}

// unbind is unbindVolume: all that the controller put there is taken back. What
// a user put there stays, as a reservation.
func (b *binderSync) unbind(pv *corev1.PersistentVolume) {
	change(&b.agenda, "unbind", pv, unbound)
}

func unbound(pv *corev1.PersistentVolume) {
	if !metav1.HasAnnotation(pv.ObjectMeta, volume.AnnBoundByController) {
		pv.Spec.ClaimRef.UID = ""
		return
	}
	pv.Spec.ClaimRef = nil
	delete(pv.Annotations, volume.AnnBoundByController)
	if len(pv.Annotations) == 0 {
		pv.Annotations = nil
	}
}

// release is the common end of the ways on which a volume's claim is found to
// be gone. Failed is kept for the user to see, but reclaiming goes on.
func (b *binderSync) release(pv *corev1.PersistentVolume) {
	if pv.Status.Phase != corev1.VolumeReleased && pv.Status.Phase != corev1.VolumeFailed {
		b.phase(pv, corev1.VolumeReleased)
		return
	}
	// reclaimVolume.
	if pv.Annotations[volume.AnnMigratedTo] != "" {
		return
	}
	switch pv.Spec.PersistentVolumeReclaimPolicy {
	case corev1.PersistentVolumeReclaimRetain:
	case corev1.PersistentVolumeReclaimRecycle:
		b.recycle(pv)
	case corev1.PersistentVolumeReclaimDelete:
		b.deleteVolume(pv)
	default:
		b.fail(pv, "VolumeUnknownReclaimPolicy", "Volume has unrecognized PersistentVolumeReclaimPolicy")
	}
}

// fail is updateVolumePhaseWithEvent for the phase Failed: the first failure is
// told, those of later tries are not.
func (b *binderSync) fail(pv *corev1.PersistentVolume, reason, message string) {
	if pv.Status.Phase == corev1.VolumeFailed {
		return
	}
	b.add("mark as Failed", pv, func(s *State) *State {
		return b.warning(pv, reason, "%s", message).tell(s.Update(inPhase(s, pv, corev1.VolumeFailed, message)))
	})
}

// recycle is recycleVolumeOperation. Two plugins can do it, by a pod that wipes
// the volume.
func (b *binderSync) recycle(pv *corev1.PersistentVolume) {
	ref := pv.Spec.ClaimRef
	pods := b.users(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
	users := make([]string, len(pods))
	for i, pod := range pods {
		users[i] = nameOf(pod).String()
	}
	switch {
	case len(users) > 0 && b.s.Claim(ref.Namespace, ref.Name) == nil:
		b.tell(b.normal(pv, "VolumeFailedRecycle", "Volume is used by pods: %s", strings.Join(users, ",")))
	case pv.Spec.HostPath == nil && pv.Spec.NFS == nil:
		b.fail(pv, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
	default:
		b.add("recycle", pv, func(s *State) *State {
			s = b.normal(pv, "VolumeRecycled", "Volume recycled").tell(s.withoutData(Handle(pv)))
			return s.Update(edited(pv, unbound))
		})
	}
}

// deleteVolume is deleteVolumeOperation. Data and object go one after the
// other; somebody may come between.
func (b *binderSync) deleteVolume(pv *corev1.PersistentVolume) {
	byPlugin, err := deletable(pv)
	switch {
	case err != nil:
		b.fail(pv, "VolumeFailedDelete", err.Error())
	case !byPlugin:
	case b.s.HasData(Handle(pv)):
		b.add("destroy the data of", pv, func(s *State) *State { return s.withoutData(Handle(pv)) })
	case pv.DeletionTimestamp == nil || slices.Contains(pv.Finalizers, volume.PVDeletionInTreeProtectionFinalizer):
		b.add("delete", pv, func(s *State) *State {
			s = s.Update(edited(pv, func(pv *corev1.PersistentVolume) {
				dropFinalizer(pv, volume.PVDeletionInTreeProtectionFinalizer)
			}))
			return remove(s, pv)
		})
	}
}

// deletable says whether the controller has a plugin that deletes the volume
// (findDeletablePlugin, and Delete in host_path.go). It has not if that is an
// external provisioner's business; the error says that it is nobody's.
func deletable(pv *corev1.PersistentVolume) (bool, error) {
	switch by := pv.Annotations[volume.AnnDynamicallyProvisioned]; {
	case by == hostPathPlugin:
	case inTree(by):
		return false, fmt.Errorf("%w name: %s", errNoPlugin, by)
	case by != "", metav1.HasAnnotation(pv.ObjectMeta, volume.AnnMigratedTo), pv.Spec.CSI != nil:
		return false, nil
	case pv.Spec.NFS != nil:
		return false, fmt.Errorf("error getting deleter volume plugin for volume %q: %w", pv.Name, errNoDeletable)
	case pv.Spec.HostPath == nil:
		return false, fmt.Errorf("error getting deleter volume plugin for volume %q: %w", pv.Name, errNoPlugin)
	}
	if pv.Spec.HostPath == nil {
		return false, fmt.Errorf("failed to create deleter for volume %q: %w", pv.Name,
			errors.New("spec.PersistentVolumeSource.HostPath is nil"))
	}
	if _, below, ok := strings.Cut(pv.Spec.HostPath.Path, hostPathDeletable); !ok || below == "" {
		return false, fmt.Errorf("host_path deleter only supports /tmp/.+ but received provided %s", pv.Spec.HostPath.Path)
	}
	return true, nil
}

// fixFinalizer is modifyDeletionFinalizers (pv_controller_base.go). It says
// whether the sync ends here: a finalizer can't be added to what is being
// deleted, and the controller then fails each time.
func (b *binderSync) fixFinalizer(pv *corev1.PersistentVolume) bool {
	if !inTree(pv.Annotations[volume.AnnDynamicallyProvisioned]) {
		return false
	}
	wanted := slices.Clone(pv.Finalizers)
	wanted = slices.DeleteFunc(wanted, func(f string) bool { return f == volume.PVDeletionProtectionFinalizer })
	has := slices.Contains(wanted, volume.PVDeletionInTreeProtectionFinalizer)
	switch policy := pv.Spec.PersistentVolumeReclaimPolicy; {
	case policy == corev1.PersistentVolumeReclaimDelete && !has:
		if pv.DeletionTimestamp != nil {
			return true
		}
		wanted = append(wanted, volume.PVDeletionInTreeProtectionFinalizer)
	case has && (policy == corev1.PersistentVolumeReclaimRetain || policy == corev1.PersistentVolumeReclaimRecycle):
		wanted = slices.DeleteFunc(wanted, func(f string) bool { return f == volume.PVDeletionInTreeProtectionFinalizer })
	}
	if slices.Equal(wanted, pv.Finalizers) {
		return false
	}
	change(&b.agenda, "set the finalizers of", pv, func(pv *corev1.PersistentVolume) { pv.Finalizers = wanted })
	return true
}

// provisionHostPath is provisionClaimOperation with the host-path plugin.
func (b *binderSync) provisionHostPath(pvc *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) {
	name := "pvc-" + string(pvc.UID)
	switch {
	case b.s.Volume(name) != nil:
	case len(class.MountOptions) > 0:
		b.tell(b.warning(pvc, "ProvisioningFailed",
			"Mount options are not supported by the provisioner but StorageClass %q has mount options %v", class.Name, class.MountOptions))
	case isBlock(pvc):
		b.tell(b.warning(pvc, "ProvisioningFailed",
			"Failed to provision volume with StorageClass %q: %s does not support block volume provisioning", class.Name, hostPathPlugin))
	default:
		b.add("provision a volume for", pvc, func(s *State) *State {
			pv, err := provisioned(pvc, class)
			if err != nil {
				return s
			}
			pv.Spec.HostPath = &corev1.HostPathVolumeSource{
				Path: hostPathRoot + string(pvc.UID), Type: new(corev1.HostPathUnset),
			}
			metav1.SetMetaDataAnnotation(&pv.ObjectMeta, "kubernetes.io/createdby", "hostpath-dynamic-provisioner")
			metav1.SetMetaDataAnnotation(&pv.ObjectMeta, volume.AnnBoundByController, "yes")
			// Its volumes have no mode; the API server fills one in.
			pv.Spec.VolumeMode, pv.Spec.VolumeAttributesClassName = nil, nil
			if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
				protect(pv, volume.PVDeletionInTreeProtectionFinalizer)
			}
			s = admitted(s.WithData(Handle(pv)), pv)
			return b.normal(pvc, "ProvisioningSucceeded", "Successfully provisioned volume %s using %s", name, hostPathPlugin).tell(s)
		})
	}
}

// provisioned is what the volumes of all provisioners have in common.
func provisioned(pvc *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (*corev1.PersistentVolume, error) {
	ref, err := reference.GetReference(scheme.Scheme, pvc)
	if err != nil {
		return nil, fmt.Errorf("refer to claim %s: %w", nameOf(pvc), err)
	}
	policy := corev1.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		policy = *class.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        "pvc-" + string(pvc.UID),
			Annotations: map[string]string{volume.AnnDynamicallyProvisioned: class.Provisioner},
		},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: policy,
			StorageClassName:              volume.GetPersistentVolumeClaimClass(pvc),
			AccessModes:                   pvc.Spec.AccessModes,
			VolumeMode:                    pvc.Spec.VolumeMode,
			VolumeAttributesClassName:     pvc.Spec.VolumeAttributesClassName,
			MountOptions:                  class.MountOptions,
			ClaimRef:                      ref,
			Capacity: corev1.ResourceList{
				corev1.ResourceStorage: pvc.Spec.Resources.Requests[corev1.ResourceStorage],
			},
		},
	}, nil
}

func isBlock(pvc *corev1.PersistentVolumeClaim) bool {
	return pvc.Spec.VolumeMode != nil && *pvc.Spec.VolumeMode == corev1.PersistentVolumeBlock
}

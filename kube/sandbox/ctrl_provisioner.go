package sandbox

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

// What a class says in its parameters to make its provisioner fail, with the
// value as the message. The second goes to the volumes as an attribute.
const (
	ParameterProvisionError = "provisionError"
	ParameterDeleteError    = "deleteError"
)

// provisioner is the provisioners of CSI drivers, as far as the library that
// they are built on decides: controller/controller.go of
// sig-storage-lib-external-provisioner v13. It is the same code for all of
// them; names says which run, none that all do.
type provisioner struct{ names []string }

func (provisioner) Name() string { return "external-provisioner" }

func (c provisioner) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for pvc := range s.Claims("") {
		if class := c.asked(s, pvc); class != nil {
			c.provision(&a, pvc, class)
		}
	}
	for pv := range s.Volumes() {
		c.syncVolume(&a, pv)
	}
	return a.list
}

func (c provisioner) knows(name string) bool {
	return name != "" && !inTree(name) && (len(c.names) == 0 || slices.Contains(c.names, name))
}

// asked is the class to provision a claim from, nil if it is not to be
// (shouldProvision, and the checks of provisionClaimOperation).
func (c provisioner) asked(s *State, pvc *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	by, ok := pvc.Annotations[volume.AnnStorageProvisioner]
	if !ok {
		by = pvc.Annotations[volume.AnnBetaStorageProvisioner]
	}
	if pvc.Spec.VolumeName != "" || !c.knows(by) {
		return nil
	}
	name, _, _ := binding.ClaimClass(pvc)
	class := s.Class(name)
	switch {
	case class == nil, !c.knows(class.Provisioner):
		return nil
	case class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer &&
		pvc.Annotations[volume.AnnSelectedNode] == "":
		return nil
	case s.Volume("pvc-"+string(pvc.UID)) != nil:
		return nil
	}
	return class
}

// provision is provisionClaimOperation: storage first, then the volume, which
// already names the claim. Binding is left to the binder.
func (c provisioner) provision(a *agenda, pvc *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) {
	tell := func(s *State, kind, reason, message string) *State {
		return note{class.Provisioner, pvc, kind, reason, message}.tell(s)
	}
	if message := class.Parameters[ParameterProvisionError]; message != "" {
		a.tell(note{class.Provisioner, pvc, corev1.EventTypeWarning, "ProvisioningFailed", message})
		return
	}
	a.add("provision a volume for", pvc, func(s *State) *State {
		pv, err := provisioned(pvc, class)
		if err != nil {
			// It fails for kinds that the scheme does not know.
			return s
		}
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: pv.Name}
		if message := class.Parameters[ParameterDeleteError]; message != "" {
			pv.Spec.CSI.VolumeAttributes = map[string]string{ParameterDeleteError: message}
		}
		protect(pv, volume.PVDeletionProtectionFinalizer)
		s = tell(s, corev1.EventTypeNormal, "Provisioning",
			fmt.Sprintf("External provisioner is provisioning volume for claim %q", nameOf(pvc)))
		s = admitted(s.WithData(Handle(pv)), pv)
		return tell(s, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume "+pv.Name)
	})
}

// responsible is the provisioner that a volume belongs to: by the mark of who
// made it or, for volumes that somebody described, by the driver
// (isProvisionerForVolume).
func (c provisioner) responsible(pv *corev1.PersistentVolume) (string, bool) {
	by, dynamic := pv.Annotations[volume.AnnDynamicallyProvisioned]
	if !dynamic && pv.Spec.CSI != nil {
		return pv.Spec.CSI.Driver, c.knows(pv.Spec.CSI.Driver)
	}
	if c.knows(by) {
		return by, true
	}
	migrated := pv.Annotations[volume.AnnMigratedTo]
	return migrated, c.knows(migrated)
}

func (c provisioner) syncVolume(a *agenda, pv *corev1.PersistentVolume) {
	by, ok := c.responsible(pv)
	if !ok {
		return
	}
	deleting, policy := pv.DeletionTimestamp != nil, pv.Spec.PersistentVolumeReclaimPolicy
	finalizer := slices.Contains(pv.Finalizers, volume.PVDeletionProtectionFinalizer)
	// handleProtectionFinalizer.
	switch {
	case policy == corev1.PersistentVolumeReclaimDelete && !deleting && !finalizer && pv.Status.Phase == corev1.VolumeBound:
		change(a, "keep for deletion", pv, func(pv *corev1.PersistentVolume) {
			protect(pv, volume.PVDeletionProtectionFinalizer)
		})
		return
	case finalizer && (policy == corev1.PersistentVolumeReclaimRetain || policy == corev1.PersistentVolumeReclaimRecycle):
		c.letGo(a, pv)
		return
	}
	// shouldDelete. The claimRef is not asked.
	if deleting && !finalizer || pv.Status.Phase != corev1.VolumeReleased || policy != corev1.PersistentVolumeReclaimDelete {
		return
	}
	// deleteVolumeOperation.
	if err := c.refuses(pv, by); err != nil {
		a.tell(note{by, pv, corev1.EventTypeWarning, "VolumeFailedDelete", err.Error()})
		return
	}
	switch {
	case a.s.HasData(Handle(pv)):
		a.add("destroy the data of", pv, func(s *State) *State { return s.withoutData(Handle(pv)) })
	case !deleting:
		a.add("delete", pv, func(s *State) *State { return remove(s, pv) })
	default:
		c.letGo(a, pv)
	}
}

func (c provisioner) letGo(a *agenda, pv *corev1.PersistentVolume) {
	change(a, "let go of", pv, func(pv *corev1.PersistentVolume) { dropFinalizer(pv, volume.PVDeletionProtectionFinalizer) })
}

// refuses is why the storage system does not delete a volume.
func (provisioner) refuses(pv *corev1.PersistentVolume, by string) error {
	if pv.Spec.CSI == nil || pv.Spec.CSI.Driver != by {
		return fmt.Errorf("delete %s: not a volume of %s", pv.Name, by)
	}
	if message := pv.Spec.CSI.VolumeAttributes[ParameterDeleteError]; message != "" {
		return errors.New(message)
	}
	return nil
}

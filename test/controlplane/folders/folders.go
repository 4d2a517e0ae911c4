// Package folders provisions volumes that are folders, driven by the library
// that the provisioners of real CSI drivers are built on. Each folder holds a
// sentinel file that stands for the data: the data of a volume survived exactly
// if its sentinel did.
//
// The provisioner runs in a process of its own (cmd/folders-provisioner): the
// library registers types in client-go's shared scheme when it starts, which
// races with every other client in the same process.
package folders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"
)

const (
	// Name is the provisioner of storage classes whose volumes are
	// folders, and the CSI driver of those volumes.
	Name = "folders.claimref.test"

	// ParameterProvisionError of a storage class makes provisioning fail with
	// its value as the message.
	ParameterProvisionError = "provisionError"
	// ParameterDeleteError of a storage class makes the deletion of its
	// volumes fail with its value as the message.
	ParameterDeleteError = "deleteError"

	// attributeFolder is the CSI volume attribute that names the folder.
	attributeFolder = "folder"
	// sentinel is the file that stands for the data of a volume.
	sentinel = "sentinel"
)

// errForeignVolume means that a volume is none of the provisioner's folders.
var errForeignVolume = errors.New("not a folder of this provisioner")

// Provisioner makes and removes folders when the library says so.
type Provisioner struct {
	root string
}

var (
	_ controller.Provisioner      = (*Provisioner)(nil)
	_ controller.BlockProvisioner = (*Provisioner)(nil)
)

// Run provisions and deletes until the context ends.
func Run(ctx context.Context, client kubernetes.Interface, root string) {
	ctrl := controller.NewProvisionController(ctx, client, Name, &Provisioner{root: root},
		controller.LeaderElection(false),
		// As the provisioner of CSI drivers has it.
		controller.AddFinalizer(true),
		// The library's own timers must not stretch a test.
		controller.ExponentialBackOffOnError(false),
	)
	var workers sync.WaitGroup
	ctrl.ControllerWaitGroup(&workers)
	ctrl.Run(ctx)
	workers.Wait()
}

// Provision makes the folder of a volume, with its sentinel.
func (p *Provisioner) Provision(_ context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	if message := o.StorageClass.Parameters[ParameterProvisionError]; message != "" {
		return nil, controller.ProvisioningFinished, errors.New(message)
	}
	if err := Add(p.root, o.PVName); err != nil {
		return nil, controller.ProvisioningFinished, err
	}
	attributes := map[string]string{attributeFolder: p.folder(o.PVName)}
	if message := o.StorageClass.Parameters[ParameterDeleteError]; message != "" {
		attributes[ParameterDeleteError] = message
	}
	policy := corev1.PersistentVolumeReclaimDelete
	if o.StorageClass.ReclaimPolicy != nil {
		policy = *o.StorageClass.ReclaimPolicy
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: policy,
			AccessModes:                   o.PVC.Spec.AccessModes,
			VolumeMode:                    o.PVC.Spec.VolumeMode,
			MountOptions:                  o.StorageClass.MountOptions,
			VolumeAttributesClassName:     o.PVC.Spec.VolumeAttributesClassName,
			Capacity: corev1.ResourceList{
				corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage],
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{
					Driver:           Name,
					VolumeHandle:     o.PVName,
					VolumeAttributes: attributes,
				},
			},
		},
	}, controller.ProvisioningFinished, nil
}

// Delete removes the folder of a volume. It goes by the volume's handle, as a
// storage system does, whatever the name of the PersistentVolume is by now.
func (p *Provisioner) Delete(_ context.Context, volume *corev1.PersistentVolume) error {
	csi := volume.Spec.CSI
	if csi == nil || csi.Driver != Name || filepath.Base(csi.VolumeHandle) != csi.VolumeHandle {
		return fmt.Errorf("delete %s: %w", volume.Name, errForeignVolume)
	}
	if message := csi.VolumeAttributes[ParameterDeleteError]; message != "" {
		return errors.New(message)
	}
	// Base also passes "." and "..", which would remove more than a volume.
	folder := p.folder(csi.VolumeHandle)
	if filepath.Dir(folder) != p.root {
		return fmt.Errorf("delete %s: %w", volume.Name, errForeignVolume)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("delete %s: %w", volume.Name, err)
	}
	return nil
}

// SupportsBlock lets raw block claims be provisioned too: nothing is mounted.
func (p *Provisioner) SupportsBlock(context.Context) bool { return true }

// Add makes the folder of a volume, with its sentinel.
func Add(root, handle string) error {
	if err := os.MkdirAll(filepath.Join(root, handle), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", handle, err)
	}
	if err := os.WriteFile(Sentinel(root, handle), []byte(handle+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the sentinel of %s: %w", handle, err)
	}
	return nil
}

// Sentinel is the path of the file that stands for the data of a volume.
func Sentinel(root, handle string) string {
	return filepath.Join(root, handle, sentinel)
}

func (p *Provisioner) folder(handle string) string {
	return filepath.Join(p.root, handle)
}

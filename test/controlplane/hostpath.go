package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// HostPathProvisioner is the provisioner that is built into the
	// controller manager.
	HostPathProvisioner = "kubernetes.io/host-path"

	annotationProvisionedBy = "pv.kubernetes.io/provisioned-by"
	// hostPathRoot is where it makes its volumes; it cannot be told another.
	hostPathRoot = "/tmp/hostpath_pv"
)

// removeHostPaths removes the folders of volumes that HostPathProvisioner made
// for this control plane: they lie outside of the temporary folder. The caller
// holds the lock.
func (cp *ControlPlane) removeHostPaths() error {
	if cp.admin == nil || cp.apiServer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) //nolint:forbidigo // the start's context has ended long before the stop
	defer cancel()
	volumes, err := cp.admin.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the volumes to remove: %w", err)
	}
	var errs []error
	for _, volume := range volumes.Items {
		source := volume.Spec.HostPath
		if source == nil || volume.Annotations[annotationProvisionedBy] != HostPathProvisioner {
			continue
		}
		// Anybody may have written the path of a volume.
		if path := filepath.Clean(source.Path); filepath.Dir(path) == hostPathRoot {
			errs = append(errs, os.RemoveAll(path))
		}
	}
	return errors.Join(errs...)
}

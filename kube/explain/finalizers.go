package explain

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/volume"
)

// remover is who removes a finalizer, and when.
type remover struct {
	text string
	// foreign: nothing of Kubernetes itself or of its storage drivers removes
	// it.
	foreign bool
}

// finalizer says what a finalizer of a volume or claim waits for. policy and
// bound are those of the volume.
func finalizer(name string, policy corev1.PersistentVolumeReclaimPolicy, bound bool) remover {
	switch name {
	case "kubernetes.io/pv-protection":
		// pv_protection_controller.go, isBeingUsed.
		if bound {
			return remover{text: "the controller manager removes it when the volume is no longer Bound"}
		}
		return remover{text: "the controller manager removes it within moments, as the volume is not Bound"}
	case "kubernetes.io/pvc-protection":
		// pvc_protection_controller.go, podUsesPVC.
		return remover{text: "the controller manager removes it when no pod that was placed on a node names the claim, completed ones included"}
	case "external-provisioner.volume.kubernetes.io/finalizer":
		// sig-storage-lib-external-provisioner, syncVolume.
		if policy == corev1.PersistentVolumeReclaimDelete {
			return remover{text: "the volume's provisioner removes it after it has deleted the storage behind the volume"}
		}
		return remover{text: "the volume's provisioner removes it by itself, as the policy is not Delete; if it stays, the provisioner is not running or lacks a right"}
	case "kubernetes.io/pv-controller":
		if policy == corev1.PersistentVolumeReclaimDelete {
			return remover{text: "the controller manager removes it after it has deleted the storage behind the volume"}
		}
		return remover{text: "the controller manager removes it by itself, as the policy is not Delete"}
	case "foregroundDeletion", "orphan":
		return remover{text: "the garbage collector removes it when it has dealt with what the object owns"}
	case "provisioner.storage.kubernetes.io/cloning-protection":
		return remover{text: "the provisioner removes it when no clone of the claim is being made"}
	}
	switch {
	case strings.HasPrefix(name, "external-attacher/"):
		return remover{text: "the driver's attacher removes it when the volume is attached nowhere"}
	case strings.HasPrefix(name, "snapshot.storage.kubernetes.io/"):
		return remover{text: "the snapshot controller removes it when no snapshot of the claim is being made"}
	}
	return remover{text: "nothing of Kubernetes removes it; whoever put it there has to", foreign: true}
}

// madeBy says whether a provisioner made a volume, or would be asked to
// delete it.
func madeBy(pv *corev1.PersistentVolume, provisioner string) bool {
	return pv.Annotations[volume.AnnDynamicallyProvisioned] == provisioner ||
		pv.Annotations[volume.AnnMigratedTo] == provisioner
}

package migration

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/claimref/claimref/actions"
)

// present checks that there is a volume, and that it is the one meant.
func (d *draft) present() bool {
	name := d.req.Volume.Name
	switch {
	case d.pv == nil && d.unread("persistentvolumes"):
		d.block("volume-unread", "Volume "+name+" could not be read: "+d.s.Unread["persistentvolumes"],
			"Try again as somebody who may read volumes")
		return false
	case d.pv == nil:
		d.block("volume-gone", "Volume "+name+" is gone", "There is nothing left to change")
		return false
	case d.req.Volume.UID != "" && d.req.Volume.UID != d.pv.UID:
		d.block("volume-replaced",
			"Volume "+name+" was deleted, and another of the same name was made",
			"Go back and look at the new one before you decide")
		return false
	}
	return true
}

// oldestServer is the first version that knows ReadWriteOncePod without being
// told to: it is beta since 1.27, and stable since 1.29.
const oldestServer = "1.27"

// serverVersion checks that the server accepts the new mode.
func (d *draft) serverVersion() {
	v, err := version.ParseGeneric(d.s.Version)
	switch {
	case err != nil:
		d.warn("version-unknown",
			fmt.Sprintf("The server's version is not known (%q), and ReadWriteOncePod needs Kubernetes %s or later", d.s.Version, oldestServer),
			"Make sure of the version before you go on")
	case v.LessThan(version.MustParseGeneric(oldestServer)):
		d.block("version-old",
			fmt.Sprintf("The server is Kubernetes %s, and ReadWriteOncePod needs %s or later", d.s.Version, oldestServer),
			"Upgrade the cluster first")
	default:
		d.pass("version", "The server, Kubernetes "+d.s.Version+", knows ReadWriteOncePod")
	}
}

// volume checks one volume of the operation for what every verb needs.
func (d *draft) volume(pv *corev1.PersistentVolume) {
	d.notUnderWay(pv)
	if pv.DeletionTimestamp != nil {
		d.block("volume-terminating",
			"Volume "+pv.Name+" is being deleted, which can't be taken back; no claim can get it any more",
			"Set its policy to Retain if the data must survive it, then make a new volume from the same disk")
	}
	d.policy(pv)
	if held := foreign(pv.Finalizers, volumeFinalizer); len(held) > 0 {
		d.warn("volume-finalizer",
			fmt.Sprintf("Volume %s has finalizers that something else has set: %s; whatever set them may act on the volume meanwhile", pv.Name, list(held)),
			"Find out what they are for before you go on")
	}
}

// policy says what becomes of the reclaim policy. It is Retain from the first
// step on, and the original comes back once volume and claim are Bound.
func (d *draft) policy(pv *corev1.PersistentVolume) {
	switch policy := pv.Spec.PersistentVolumeReclaimPolicy; policy {
	case corev1.PersistentVolumeReclaimRetain:
		d.pass("policy", "The reclaim policy of volume "+pv.Name+" is Retain: the data are kept, whatever happens to the claim")
	case corev1.PersistentVolumeReclaimDelete:
		d.pass("policy", "The reclaim policy of volume "+pv.Name+" is set to Retain first, and to Delete again once the new claim is Bound")
	default:
		d.block("policy-unsupported",
			fmt.Sprintf("The reclaim policy of volume %s is %q, and only Retain and Delete can be brought back (Recycle erases the data when the claim goes)", pv.Name, policy),
			"Set the policy to Retain first, and leave it so")
	}
}

// notUnderWay checks that no other operation has begun on a volume.
func (d *draft) notUnderWay(pv *corev1.PersistentVolume) {
	found, err := Find(pv)
	switch {
	case err != nil:
		d.block("plan-unreadable",
			fmt.Sprintf("Volume %s says that an operation is under way, but not which: %v", pv.Name, err),
			"Compare the volume with the backups of earlier operations, and remove its claimref.io annotations only if none is unfinished")
	case found != nil:
		d.block("plan-under-way",
			fmt.Sprintf("An unfinished operation is on volume %s (%s, recorded on volume %s)", pv.Name, found.ID, found.Lead),
			"Resume it, or undo it first")
	}
}

// notBusy checks that no other operation has stopped one of the workloads. It
// would be found stopped, and its size taken for the original one.
func (d *draft) notBusy() {
	for _, pv := range d.s.RelatedVolumes {
		if slices.ContainsFunc(d.members, func(m member) bool { return m.pv.Name == pv.Name }) {
			continue
		}
		found, err := Find(pv)
		if err != nil || found == nil || found.Journal == nil {
			continue // It is no business of this operation.
		}
		for _, w := range found.Journal.Workloads {
			if slices.ContainsFunc(d.journal.Workloads, func(own Workload) bool { return sameObject(own.Ref, w.Ref) }) {
				d.block("workload-busy",
					fmt.Sprintf("The unfinished operation %s on volume %s has stopped %s, which this one would stop, too", found.ID, pv.Name, refText(w.Ref)),
					"Finish it, or undo it first")
			}
		}
		for _, v := range found.Journal.Volumes {
			if slices.ContainsFunc(d.journal.Volumes, func(own Volume) bool { return claimKey(own.To) == claimKey(v.To) }) {
				d.block("claim-busy",
					fmt.Sprintf("The unfinished operation %s on volume %s makes claim %s, too", found.ID, pv.Name, claimKey(v.To)),
					"Finish it, or undo it first")
			}
		}
	}
}

func sameObject(a, b actions.Ref) bool {
	return a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

// driver looks at what provides the volume. Only CSI drivers are documented to
// support ReadWriteOncePod; which of them do cannot be seen in the cluster.
func (d *draft) driver(pv *corev1.PersistentVolume) {
	if pv.Spec.CSI == nil {
		d.warn("driver-not-csi",
			"Volume "+pv.Name+" is no CSI volume, and ReadWriteOncePod is supported for CSI volumes only; the kubelet likely enforces it all the same, as it goes by the volume's access modes",
			"Go on only if that is enough; it can be undone")
		return
	}
	name := pv.Spec.CSI.Driver
	registered, looked := d.s.Drivers[name]
	switch {
	case registered != nil:
		d.pass("driver", fmt.Sprintf("Volume %s is of CSI driver %s; whether that supports ReadWriteOncePod can't be seen in the cluster, so look it up", pv.Name, name))
	case looked:
		d.warn("driver-unseen",
			fmt.Sprintf("Volume %s is of CSI driver %s, which is not registered in the cluster (it has no CSIDriver object)", pv.Name, name),
			"Make sure that the driver runs and supports ReadWriteOncePod; otherwise no pod will get the volume")
	default:
		d.warn("driver-unseen",
			fmt.Sprintf("Whether CSI driver %s of volume %s is registered in the cluster could not be looked up", name, pv.Name),
			"Make sure that the driver runs and supports ReadWriteOncePod; otherwise no pod will get the volume")
	}
}

// attachments warns of volumes that are attached though no pod runs.
func (d *draft) attachments() {
	for _, m := range d.members {
		if len(d.running(m.key)) > 0 {
			continue // It is detached when its pods are gone.
		}
		for _, a := range d.s.Attachments {
			if value(a.Spec.Source.PersistentVolumeName, "") == m.pv.Name {
				d.warn("attached",
					fmt.Sprintf("Volume %s is attached to node %s, though no pod uses it", m.pv.Name, a.Spec.NodeName),
					"The operation waits until it is detached; if it never is, look at the node and at the driver")
			}
		}
	}
}

// volumeFinalizer says whether a finalizer on a volume is one that Kubernetes
// or the sidecars of CSI drivers set in the ordinary course of things.
func volumeFinalizer(name string) bool {
	switch name {
	case "kubernetes.io/pv-protection", "kubernetes.io/pv-controller", "external-provisioner.volume.kubernetes.io/finalizer":
		return true
	}
	return strings.HasPrefix(name, "external-attacher/")
}

func foreign(finalizers []string, known func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), known)
}

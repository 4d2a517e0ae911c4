package views

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// driver names who provides a volume: the CSI driver, or the kind of source.
func driver(pv *corev1.PersistentVolume) string {
	switch src := &pv.Spec.PersistentVolumeSource; {
	case src.CSI != nil:
		return src.CSI.Driver
	case src.Local != nil:
		return "local"
	case src.HostPath != nil:
		return "hostPath"
	case src.NFS != nil:
		return "nfs"
	case src.ISCSI != nil:
		return "iscsi"
	case src.FC != nil:
		return "fc"
	case src.FlexVolume != nil:
		return src.FlexVolume.Driver
	default:
		return oldDriver(src)
	}
}

// oldDriver names the in-tree sources whose code has left Kubernetes, but
// whose volumes still exist.
func oldDriver(src *corev1.PersistentVolumeSource) string {
	switch {
	case src.AWSElasticBlockStore != nil:
		return "awsElasticBlockStore"
	case src.GCEPersistentDisk != nil:
		return "gcePersistentDisk"
	case src.AzureDisk != nil:
		return "azureDisk"
	case src.AzureFile != nil:
		return "azureFile"
	case src.VsphereVolume != nil:
		return "vsphereVolume"
	case src.Cinder != nil:
		return "cinder"
	case src.CephFS != nil:
		return "cephfs"
	case src.RBD != nil:
		return "rbd"
	case src.Glusterfs != nil:
		return "glusterfs"
	case src.PortworxVolume != nil:
		return "portworxVolume"
	case src.Quobyte != nil, src.Flocker != nil, src.PhotonPersistentDisk != nil, src.ScaleIO != nil, src.StorageOS != nil:
		return "in-tree"
	default:
		return ""
	}
}

// handle says where the data is, in the driver's own terms.
func handle(pv *corev1.PersistentVolume) string {
	switch src := &pv.Spec.PersistentVolumeSource; {
	case src.CSI != nil:
		return src.CSI.VolumeHandle
	case src.Local != nil:
		return src.Local.Path
	case src.HostPath != nil:
		return src.HostPath.Path
	case src.NFS != nil:
		return src.NFS.Server + ":" + src.NFS.Path
	case src.ISCSI != nil:
		return src.ISCSI.TargetPortal + " " + src.ISCSI.IQN
	case src.AWSElasticBlockStore != nil:
		return src.AWSElasticBlockStore.VolumeID
	case src.GCEPersistentDisk != nil:
		return src.GCEPersistentDisk.PDName
	case src.AzureDisk != nil:
		return src.AzureDisk.DataDiskURI
	case src.VsphereVolume != nil:
		return src.VsphereVolume.VolumePath
	default:
		return ""
	}
}

// affinity writes the nodes a volume is tied to. Terms are alternatives,
// expressions within a term must all hold.
func affinity(pv *corev1.PersistentVolume) string {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return ""
	}
	terms := pv.Spec.NodeAffinity.Required.NodeSelectorTerms
	out := make([]string, 0, len(terms))
	for _, t := range terms {
		var parts []string
		for _, e := range slices.Concat(t.MatchExpressions, t.MatchFields) {
			values := strings.Join(e.Values, ",")
			switch {
			case e.Operator == corev1.NodeSelectorOpIn && e.Key == corev1.LabelHostname:
				parts = append(parts, values)
			case e.Operator == corev1.NodeSelectorOpIn:
				parts = append(parts, e.Key+"="+values)
			default:
				parts = append(parts, strings.TrimSpace(e.Key+" "+string(e.Operator)+" "+values))
			}
		}
		out = append(out, strings.Join(parts, " and "))
	}
	return strings.Join(out, " or ")
}

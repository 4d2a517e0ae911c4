package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trimmer cuts what is read down to what screens and rules use, before it is
// stored. Its methods change their argument, which nobody else has yet, and
// may be applied twice: a list that was streamed is trimmed as it comes and
// once more when it is complete. The kind, which typed clients leave empty,
// marks what has been done already.
type trimmer struct {
	in *interner
}

func newTrimmer() trimmer { return trimmer{newInterner()} }

// trim is the transform of every resource. An object that it does not know
// is left as it is.
func (t trimmer) trim(obj any) any {
	switch o := obj.(type) {
	case *corev1.PersistentVolume:
		return t.volume(o)
	case *corev1.PersistentVolumeClaim:
		return t.claim(o)
	case *storagev1.StorageClass:
		return t.class(o)
	case *corev1.Pod:
		return t.pod(o)
	case *corev1.Node:
		return slimmed(o, t.node(o))
	case *corev1.Namespace:
		return slimmed(o, t.namespace(o))
	case *storagev1.VolumeAttachment:
		return slimmed(o, t.attachment(o))
	}
	if load := t.workload(obj); load != nil {
		return slim[Workload]{load.Namespace, load.Name, load}
	}
	return obj
}

func (t trimmer) volume(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	if pv.Kind != "" {
		return pv
	}
	pv.Kind, pv.APIVersion = "PersistentVolume", "v1"
	t.meta(&pv.ObjectMeta)
	spec := &pv.Spec
	spec.Capacity = t.in.sizes(spec.Capacity)
	spec.AccessModes = t.in.modes(spec.AccessModes)
	spec.NodeAffinity = t.in.affinity(spec.NodeAffinity)
	spec.MountOptions = t.in.words("mount\x00", spec.MountOptions)
	spec.StorageClassName = text(spec.StorageClassName)
	spec.VolumeMode = pointerTo(t.in, "mode\x00", spec.VolumeMode)
	spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimPolicy(text(string(spec.PersistentVolumeReclaimPolicy)))
	if ref := spec.ClaimRef; ref != nil {
		ref.Kind, ref.APIVersion, ref.Namespace = text(ref.Kind), text(ref.APIVersion), text(ref.Namespace)
		// The version of the claim at the time of binding is of no use to
		// anybody.
		ref.ResourceVersion = ""
	}
	if csi := spec.CSI; csi != nil {
		csi.Driver, csi.FSType = text(csi.Driver), text(csi.FSType)
		csi.VolumeAttributes = nil
	}
	pv.Status.Phase = corev1.PersistentVolumePhase(text(string(pv.Status.Phase)))
	return pv
}

func (t trimmer) claim(pvc *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	if pvc.Kind != "" {
		return pvc
	}
	pvc.Kind, pvc.APIVersion = "PersistentVolumeClaim", "v1"
	t.meta(&pvc.ObjectMeta)
	spec, status := &pvc.Spec, &pvc.Status
	spec.AccessModes = t.in.modes(spec.AccessModes)
	spec.Resources.Requests = t.in.sizes(spec.Resources.Requests)
	spec.StorageClassName = pointerTo(t.in, "class\x00", spec.StorageClassName)
	spec.VolumeMode = pointerTo(t.in, "mode\x00", spec.VolumeMode)
	spec.Selector = t.in.selector(spec.Selector)
	status.Phase = corev1.PersistentVolumeClaimPhase(text(string(status.Phase)))
	status.AccessModes = t.in.modes(status.AccessModes)
	status.Capacity = t.in.sizes(status.Capacity)
	status.AllocatedResources = t.in.sizes(status.AllocatedResources)
	return pvc
}

func (t trimmer) class(sc *storagev1.StorageClass) *storagev1.StorageClass {
	t.meta(&sc.ObjectMeta)
	return sc
}

func (t trimmer) meta(m *metav1.ObjectMeta) {
	m.ManagedFields = nil
	m.Namespace = text(m.Namespace)
	m.Finalizers = t.in.words("finalizers\x00", m.Finalizers)
	m.Labels = t.in.pairs("labels\x00", m.Labels)
	m.Annotations = t.in.pairs("annotations\x00", keptAnnotations(m.Annotations))
}

// keptAnnotations leaves those that the binding rules read, those that tell
// who put an object there (and will put it back), and our own.
func keptAnnotations(all map[string]string) map[string]string {
	kept := 0
	for key := range all {
		if keepsAnnotation(key) {
			kept++
		}
	}
	switch kept {
	case len(all):
		return all
	case 0:
		return nil
	}
	few := make(map[string]string, kept)
	for key, value := range all {
		if keepsAnnotation(key) {
			few[key] = value
		}
	}
	return few
}

func keepsAnnotation(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok {
		return false
	}
	switch domain {
	case "pv.kubernetes.io", "storageclass.kubernetes.io", "storageclass.beta.kubernetes.io",
		"argocd.argoproj.io", "meta.helm.sh", "helm.sh":
		return true
	}
	return strings.HasPrefix(domain, "volume.") && strings.HasSuffix(domain, ".kubernetes.io") ||
		domain == "volume.kubernetes.io" ||
		domain == "claimref.io" || strings.HasSuffix(domain, ".claimref.io") ||
		strings.HasSuffix(domain, "toolkit.fluxcd.io")
}

package explain

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube"
)

const (
	keep    = corev1.PersistentVolumeReclaimRetain
	remove  = corev1.PersistentVolumeReclaimDelete
	recycle = corev1.PersistentVolumeReclaimRecycle
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func before(d time.Duration) metav1.Time { return metav1.NewTime(noon().Add(-d)) }

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: before(72 * time.Hour)}
}

type (
	pvOption  = func(*corev1.PersistentVolume)
	pvcOption = func(*corev1.PersistentVolumeClaim)
)

// newPV is an Available volume of 10Gi, RWO, class fast, Retain.
func newPV(name string, options ...pvOption) *corev1.PersistentVolume {
	since := before(24 * time.Hour)
	pv := &corev1.PersistentVolume{
		ObjectMeta: meta("", name),
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: keep,
			StorageClassName:              "fast",
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable, LastPhaseTransitionTime: &since},
	}
	for _, o := range options {
		o(pv)
	}
	return pv
}

func inPhase(p corev1.PersistentVolumePhase) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Status.Phase = p }
}

func policy(p corev1.PersistentVolumeReclaimPolicy) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Spec.PersistentVolumeReclaimPolicy = p }
}

func sized(size string) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse(size) }
}

func ofClass(name string) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = name }
}

func offers(modes ...corev1.PersistentVolumeAccessMode) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = modes }
}

// tied sets the claimRef to shop/name; a uid makes it Bound.
func tied(name, uid string) pvOption {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name, UID: types.UID(uid),
		}
		if uid != "" {
			pv.Status.Phase = corev1.VolumeBound
		}
	}
}

func released(pv *corev1.PersistentVolume) {
	tied("data", "uid-old")(pv)
	pv.Status.Phase = corev1.VolumeReleased
}

func goingPV(pv *corev1.PersistentVolume) {
	at := before(5 * time.Minute)
	pv.DeletionTimestamp = &at
}

func finalized(names ...string) pvOption {
	return func(pv *corev1.PersistentVolume) { pv.Finalizers = names }
}

func provisionedBy(name string) pvOption {
	return func(pv *corev1.PersistentVolume) {
		metav1.SetMetaDataAnnotation(&pv.ObjectMeta, volume.AnnDynamicallyProvisioned, name)
	}
}

// ofDriver makes it a CSI volume.
func ofDriver(pv *corev1.PersistentVolume) {
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.test", VolumeHandle: pv.Name}
}

// onNode makes it a local volume.
func onNode(name string) pvOption {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/mnt/disk"}
		affine(corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{name}})(pv)
	}
}

func affine(requirements ...corev1.NodeSelectorRequirement) pvOption {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: requirements}},
		}}
	}
}

// newPVC is shop/name: Pending, 10Gi, RWO, class fast.
func newPVC(name string, options ...pvcOption) *corev1.PersistentVolumeClaim {
	class := "fast"
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: meta("shop", name),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	for _, o := range options {
		o(pvc)
	}
	return pvc
}

func inNamespace(ns string) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) { c.Namespace = ns }
}

func names(volumeName string) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volumeName }
}

func marked(c *corev1.PersistentVolumeClaim) {
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnBindCompleted, "yes")
}

func boundTo(volumeName string) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) {
		names(volumeName)(c)
		marked(c)
		c.Status.Phase = corev1.ClaimBound
		c.Status.AccessModes = c.Spec.AccessModes
	}
}

func lostOver(volumeName string) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) {
		boundTo(volumeName)(c)
		c.Status.Phase, c.Status.AccessModes = corev1.ClaimLost, nil
	}
}

func wants(size string) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	}
}

func asks(modes ...corev1.PersistentVolumeAccessMode) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = modes }
}

func asksClass(name string) pvcOption {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &name }
}

func noClass(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }

func goingPVC(c *corev1.PersistentVolumeClaim) {
	at := before(5 * time.Minute)
	c.DeletionTimestamp = &at
	c.Finalizers = []string{"kubernetes.io/pvc-protection"}
}

type scOption = func(*storagev1.StorageClass)

// newSC is an Immediate class of csi.test with policy Delete.
func newSC(name string, options ...scOption) *storagev1.StorageClass {
	sc := &storagev1.StorageClass{ObjectMeta: meta("", name), Provisioner: "csi.test"}
	for _, o := range options {
		o(sc)
	}
	return sc
}

func isDefault(sc *storagev1.StorageClass) {
	metav1.SetMetaDataAnnotation(&sc.ObjectMeta, "storageclass.kubernetes.io/is-default-class", "true")
}

func waits(sc *storagev1.StorageClass) {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	sc.VolumeBindingMode = &mode
}

func byHand(sc *storagev1.StorageClass) { sc.Provisioner = noProvisioner }

func retains(sc *storagev1.StorageClass) {
	p := keep
	sc.ReclaimPolicy = &p
}

// newPod is shop/name, running on node n1 with a claim.
func newPod(name, claim string, options ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: meta("shop", name),
		Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, o := range options {
		o(pod)
	}
	return pod
}

func podOn(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func podPhase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func ownedBy(kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		yes := true
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: &yes}}
	}
}

func template(claims ...string) corev1.PodTemplateSpec {
	var t corev1.PodTemplateSpec
	for _, c := range claims {
		t.Spec.Volumes = append(t.Spec.Volumes, newPod("x", c).Spec.Volumes...)
	}
	return t
}

// newSet is a StatefulSet whose claims are called data-name-0 and so on.
func newSet(name string, replicas int32, options ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: meta("shop", name), Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
	}}
	for _, o := range options {
		o(set)
	}
	return set
}

func newNode(name string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: meta("", name)}
	n.Labels = map[string]string{corev1.LabelHostname: name, "zone": "a"}
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	return n
}

func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: meta("", name)}
}

// world is what most tests begin with: classes, nodes and namespaces.
func world(volumes []*corev1.PersistentVolume, claims ...*corev1.PersistentVolumeClaim) kube.Objects {
	return kube.Objects{
		Volumes: volumes, Claims: claims, Classes: []*storagev1.StorageClass{newSC("fast")},
		Nodes: []*corev1.Node{newNode("n1"), newNode("n2")}, Namespaces: []*corev1.Namespace{newNamespace("shop")},
	}
}

func pvs(list ...*corev1.PersistentVolume) []*corev1.PersistentVolume { return list }

// unread is the snapshot as somebody sees it who may not read some resources.
func unread(snap *kube.Snapshot, resources ...kube.Resource) *kube.Snapshot {
	for _, r := range resources {
		snap.Resources[r] = kube.ResourceState{Phase: kube.Forbidden, Missing: "list " + string(r)}
	}
	return snap
}

func ask() Ask { return Ask{Now: noon()} }

func has(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("it does not say %q: %s", w, got)
		}
	}
}

func hasNot(t *testing.T, got string, not ...string) {
	t.Helper()
	for _, w := range not {
		if strings.Contains(got, w) {
			t.Errorf("it says %q: %s", w, got)
		}
	}
}

// evidence joins the facts.
func evidence(e Explanation) string {
	var all []string
	for _, f := range e.Evidence {
		all = append(all, f.Label+": "+f.Text)
	}
	return strings.Join(all, "\n")
}

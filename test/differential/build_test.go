package differential

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/test/controlplane/folders"
)

const (
	rwo  = corev1.ReadWriteOnce
	rox  = corev1.ReadOnlyMany
	rwx  = corev1.ReadWriteMany
	rwop = corev1.ReadWriteOncePod
)

// The classes that each history has of its own.
const (
	// slow has no provisioner: its volumes are made by hand.
	slow = "$-slow"
	// later is like it, but waits for the first consumer.
	later = "$-later"
	// made has volumes that are folders, which are deleted with their claims.
	made = "$-made"
	// madeLater is like it, but waits for the first consumer.
	madeLater = "$-made-later"
)

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func class(name, provisioner string, edit ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	return edited(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner}, edit)
}

func waits(c *storagev1.StorageClass) {
	c.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
}

func isDefault(c *storagev1.StorageClass) {
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, "storageclass.kubernetes.io/is-default-class", "true")
}

// stage is what every history begins with.
func stage() act {
	const nobody = "kubernetes.io/no-provisioner"
	return given(namespace("$"), class(slow, nobody), class(later, nobody, waits),
		class(made, folders.Name), class(madeLater, folders.Name, waits))
}

func edited[T any](o *T, edit []func(*T)) *T {
	for _, e := range edit {
		e(o)
	}
	return o
}

type pvEdit = func(*corev1.PersistentVolume)

// volume is a CSI volume of 1Gi, RWO, Retain, of a driver that nobody runs.
func volume(name string, edit ...pvEdit) *corev1.PersistentVolume {
	return edited(&corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "$-" + name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{rwo},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              slow,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "nobody.example.com", VolumeHandle: "$-" + name},
			},
		},
	}, edit)
}

// folder makes it a volume of the driver whose volumes are folders.
func folder(pv *corev1.PersistentVolume) { pv.Spec.CSI.Driver = folders.Name }

// hostPath makes it a folder of the host.
func hostPath(path string) pvEdit {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}
	}
}

func dynamic(pv *corev1.PersistentVolume) {
	metav1.SetMetaDataAnnotation(&pv.ObjectMeta, "pv.kubernetes.io/provisioned-by", pv.Spec.CSI.Driver)
}

func deletes(pv *corev1.PersistentVolume) {
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
}

// reserved is a claimRef without a uid.
func reserved(claim string) pvEdit { return claimed(claim, "") }

// claimed is a claimRef with a uid, which may be one to fill in.
func claimed(claim, uid string) pvEdit {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "$", Name: claim}
		pv.Spec.ClaimRef.UID = types.UID(uid)
	}
}

func size(s string) pvEdit {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse(s)
	}
}

func withModes(ms ...corev1.PersistentVolumeAccessMode) pvEdit {
	return func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = ms }
}

func ofClass(name string) pvEdit {
	return func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = name }
}

func betaClass(name string) pvEdit {
	return func(pv *corev1.PersistentVolume) {
		metav1.SetMetaDataAnnotation(&pv.ObjectMeta, corev1.BetaStorageClassAnnotation, name)
	}
}

// held keeps it when it is deleted.
func held(pv *corev1.PersistentVolume) { pv.Finalizers = append(pv.Finalizers, "example.com/hold") }

type pvcEdit = func(*corev1.PersistentVolumeClaim)

// claim asks for 1Gi, RWO, of the class slow.
func claim(name string, edit ...pvcEdit) *corev1.PersistentVolumeClaim {
	return edited(&corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{rwo},
			StorageClassName: new(slow),
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}, edit)
}

func names(volume string) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeName = "$-" + volume }
}

func asks(s string) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(s)
	}
}

func asksModes(ms ...corev1.PersistentVolumeAccessMode) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.AccessModes = ms }
}

func asksClass(name string) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.StorageClassName = &name }
}

func noClass(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.StorageClassName = nil }

func annotated(key, value string) pvcEdit {
	return func(pvc *corev1.PersistentVolumeClaim) { metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, key, value) }
}

type podEdit = func(*corev1.Pod)

// pod runs as soon as it can, with a claim if that is named.
func pod(name, claim string, edit ...podEdit) *corev1.Pod {
	return edited(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: name}, Spec: podSpec(claim)}, edit)
}

func podSpec(claim string) corev1.PodSpec {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app.example.com/app:1"}}}
	if claim != "" {
		spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}}}
	}
	return spec
}

// nowhere asks for a node that is not there.
func nowhere(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"example.com/place": "nowhere"} }

func succeeds(p *corev1.Pod) {
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, "kubelet.claimref.test/phase", "Succeeded")
}

func stuck(p *corev1.Pod) {
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, "kubelet.claimref.test/stuck", "true")
}

type stsEdit = func(*appsv1.StatefulSet)

// statefulSet has one claim template, "data", of the class made.
func statefulSet(name string, replicas int32, edit ...stsEdit) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	return edited(&appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: name},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: name, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec("")},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec:       claim("data", asksClass(made)).Spec,
			}},
		},
	}, edit)
}

// onRetain and onDelete are retention policies.
const (
	onRetain = appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	onDelete = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
)

func retention(scaled, deleted appsv1.PersistentVolumeClaimRetentionPolicyType) stsEdit {
	return func(s *appsv1.StatefulSet) {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenScaled: scaled, WhenDeleted: deleted,
		}
	}
}

func templateModes(ms ...corev1.PersistentVolumeAccessMode) stsEdit {
	return func(s *appsv1.StatefulSet) { s.Spec.VolumeClaimTemplates[0].Spec.AccessModes = ms }
}

// daemonSet uses a claim on every node.
func daemonSet(name, claim string) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: name},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(claim)},
		},
	}
}

// job uses a claim until its pod has succeeded.
func job(name, claim string) *batchv1.Job {
	spec := podSpec(claim)
	spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"kubelet.claimref.test/phase": "Succeeded"}}, Spec: spec,
		}},
	}
}

// deployment uses a claim.
func deployment(name, claim string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "$", Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(claim)},
		},
	}
}

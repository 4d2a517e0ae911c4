package sandbox

import (
	"slices"
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
)

// folders is the name of an external provisioner.
const folders = "folders.claimref.test"

// world is a State with its history, as a test lets it happen.
type world struct {
	t  *testing.T
	s  *State
	cs []Controller
}

func newWorld(t *testing.T, objects ...Object) *world {
	t.Helper()
	w := &world{t: t, s: NewState(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), cs: Controllers()}
	w.create(node("n1"))
	w.create(objects...)
	return w
}

// create is what a client's create leads to.
func (w *world) create(objects ...Object) *world {
	for _, o := range objects {
		w.s = admitted(w.s, o)
	}
	return w
}

func (w *world) delete(k Key, propagation ...metav1.DeletionPropagation) *world {
	var o metav1.DeleteOptions
	if len(propagation) > 0 {
		o.PropagationPolicy = &propagation[0]
	}
	w.s = w.s.Delete(k, o)
	return w
}

func (w *world) settle() *world {
	w.t.Helper()
	s, err := Settle(w.s, w.cs, 2000)
	if err != nil {
		w.t.Fatal(err)
	}
	w.s = s
	return w
}

// settleWithout settles while one controller lags.
func (w *world) settleWithout(names ...string) *world {
	w.t.Helper()
	var cs []Controller
	for _, c := range w.cs {
		if !slices.Contains(names, c.Name()) {
			cs = append(cs, c)
		}
	}
	s, err := Settle(w.s, cs, 2000)
	if err != nil {
		w.t.Fatal(err)
	}
	w.s = s
	return w
}

// fire lets one transition happen.
func (w *world) fire(controller, act, name string) *world {
	w.t.Helper()
	enabled := Enabled(w.s, w.cs)
	for _, t := range enabled {
		if t.Controller == controller && strings.HasPrefix(t.Act, act) && t.Key.Name == name {
			w.s = t.Fire(w.s)
			return w
		}
	}
	var are []string
	for _, t := range enabled {
		are = append(are, t.Controller+": "+t.Act+" "+t.Key.String())
	}
	w.t.Fatalf("not enabled: %s: %s %s; enabled are\n%s", controller, act, name, strings.Join(are, "\n"))
	return w
}

func (w *world) editVolume(name string, mutate func(*corev1.PersistentVolume)) *world {
	w.t.Helper()
	w.s = w.s.Update(edited(w.volume(name), mutate))
	return w
}

func (w *world) editPod(name string, mutate func(*corev1.Pod)) *world {
	w.t.Helper()
	w.s = w.s.Update(edited(w.s.Pod("ns", name), mutate))
	return w
}

func (w *world) editSet(mutate func(*appsv1.StatefulSet)) *world {
	w.t.Helper()
	w.s = w.s.Update(edited(w.s.StatefulSet("ns", "web"), mutate))
	return w
}

func (w *world) volume(name string) *corev1.PersistentVolume {
	w.t.Helper()
	pv := w.s.Volume(name)
	if pv == nil {
		w.t.Fatalf("no volume %s", name)
	}
	return pv
}

func (w *world) claim(name string) *corev1.PersistentVolumeClaim {
	w.t.Helper()
	pvc := w.s.Claim("ns", name)
	if pvc == nil {
		w.t.Fatalf("no claim %s", name)
	}
	return pvc
}

// of is the volume that a claim is bound to.
func (w *world) of(name string) *corev1.PersistentVolume {
	w.t.Helper()
	return w.volume(w.claim(name).Spec.VolumeName)
}

func (w *world) volumeIs(name string, phase corev1.PersistentVolumePhase, claim string) {
	w.t.Helper()
	pv := w.volume(name)
	if pv.Status.Phase != phase {
		w.t.Errorf("volume %s is %s, want %s", name, pv.Status.Phase, phase)
	}
	ref := ""
	if r := pv.Spec.ClaimRef; r != nil {
		ref = r.Name
		if r.UID == "" {
			ref += " reserved"
		}
	}
	if ref != claim {
		w.t.Errorf("volume %s has claimRef %q, want %q", name, ref, claim)
	}
}

func (w *world) claimIs(name string, phase corev1.PersistentVolumeClaimPhase, of string) {
	w.t.Helper()
	pvc := w.claim(name)
	if pvc.Status.Phase != phase || pvc.Spec.VolumeName != of {
		w.t.Errorf("claim %s is %s of %q, want %s of %q", name, pvc.Status.Phase, pvc.Spec.VolumeName, phase, of)
	}
}

func (w *world) gone(k Key) {
	w.t.Helper()
	if w.s.Get(k) != nil {
		w.t.Errorf("%s is still there", k)
	}
}

// told looks for an event about an object of a name.
func (w *world) told(name, reason, message string) {
	w.t.Helper()
	var said []string
	for e := range w.s.Events("") {
		if e.InvolvedObject.Name != name {
			continue
		}
		if e.Reason == reason && e.Message == message {
			return
		}
		said = append(said, e.Reason+": "+e.Message)
	}
	w.t.Errorf("nobody said of %s %s: %s\nbut\n%s", name, reason, message, strings.Join(said, "\n"))
}

func claimKey(name string) Key { return Key{Claims, "ns", name} }

func podKey(name string) Key { return Key{Pods, "ns", name} }

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
}

func class(name, provisioner string, mutate ...func(*storagev1.StorageClass)) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner}
	for _, m := range mutate {
		m(c)
	}
	return c
}

func delayed(c *storagev1.StorageClass) {
	c.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
}

func isDefault(c *storagev1.StorageClass) {
	c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
}

func retains(c *storagev1.StorageClass) {
	c.ReclaimPolicy = new(corev1.PersistentVolumeReclaimRetain)
}

// pv is a CSI volume of the class "manual" with 1Gi, RWO, Retain.
func pv(name string, mutate ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "manual", PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: folders, VolumeHandle: "handle-" + name},
			},
		},
	}
	for _, m := range mutate {
		m(v)
	}
	return v
}

func deletes(v *corev1.PersistentVolume) {
	v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
}

func reservedFor(claim string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "ns", Name: claim}
	}
}

func tiedTo(claim string, uid types.UID) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		reservedFor(claim)(v)
		v.Spec.ClaimRef.UID = uid
	}
}

func at(path string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.CSI, v.Spec.HostPath = nil, &corev1.HostPathVolumeSource{Path: path}
	}
}

func annotated(key, value string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { metav1.SetMetaDataAnnotation(&v.ObjectMeta, key, value) }
}

func modes(m ...corev1.PersistentVolumeAccessMode) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.AccessModes = m }
}

// pvc is a claim of the class "manual" for 1Gi, RWO.
func pvc(name string, mutate ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: new("manual"),
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			},
		},
	}
	for _, m := range mutate {
		m(c)
	}
	return c
}

func asks(class string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &class }
}

func classless(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }

func names(volume string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volume }
}

func single(c *corev1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

func completed(c *corev1.PersistentVolumeClaim) {
	metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnBindCompleted, "yes")
}

func podUsing(name string, claims ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: podSpec(claims...)}
	return p
}

func podSpec(claims ...string) corev1.PodSpec {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}}
	for _, c := range claims {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: c, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c},
		}})
	}
	return spec
}

func template(app string, claims ...string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}}, Spec: podSpec(claims...)}
}

func selects(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// set is a StatefulSet web with a claim template data of the class "fast".
func set(replicas int32, mutate ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	claim := pvc("data", asks("fast"))
	claim.Namespace = ""
	s := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: selects("web"), Template: template("web"), ServiceName: "web",
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{*claim},
		},
	}
	for _, m := range mutate {
		m(s)
	}
	return s
}

func retention(deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSet) {
	return func(s *appsv1.StatefulSet) {
		s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: deleted, WhenScaled: scaled,
		}
	}
}

func parallel(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement }

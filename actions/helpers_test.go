package actions

import (
	"encoding/json"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"pgregory.net/rapid"
)

// setup is a world to be spoilt by one option after another: the Released
// volume "disk" of the former claim shop/data, under Retain.
type setup struct {
	w   World
	req Request
}

type option func(*setup)

func world(verb Verb, opts ...option) *setup {
	s := &setup{}
	s.w.Volume = &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: "disk", UID: "uid-disk",
			Annotations: map[string]string{volume.AnnBoundByController: "yes", "team": "shop"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:              "fast",
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data",
				UID: "uid-old", ResourceVersion: "17",
			},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
	}
	s.w.Volumes = []*corev1.PersistentVolume{s.w.Volume}
	s.w.Classes = []*storagev1.StorageClass{class("fast", storagev1.VolumeBindingImmediate)}
	s.w.Namespaces = map[string]bool{"shop": false, "lab": false}
	s.req = Request{Verb: verb, Volume: Ref{Kind: VolumeKind, Name: "disk", UID: "uid-disk"}}
	if verb == Reserve {
		s.req.Claim = ClaimKey{"shop", "data"}
	}
	for _, o := range opts {
		o(s)
	}
	return s
}

func (s *setup) plan() Plan { return Make(s.req, s.w) }

func class(name string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, VolumeBindingMode: &mode}
}

func claimOf(ns, name, uid string) *corev1.PersistentVolumeClaim {
	fast := "fast"
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID(uid)},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &fast,
			Resources: corev1.VolumeResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
}

// withClaim adds shop/name, Pending and fitting, as changed.
func withClaim(name, uid string, changes ...func(*corev1.PersistentVolumeClaim)) option {
	return func(s *setup) {
		c := claimOf("shop", name, uid)
		for _, change := range changes {
			change(c)
		}
		s.w.Claims = append(s.w.Claims, c)
	}
}

// withVolume adds another Available volume that fits, as changed.
func withVolume(name string, changes ...func(*corev1.PersistentVolume)) option {
	return func(s *setup) {
		v := s.w.Volume.DeepCopy()
		v.Name, v.UID, v.Annotations, v.Spec.ClaimRef = name, types.UID("uid-"+name), nil, nil
		v.Status.Phase = corev1.VolumeAvailable
		for _, change := range changes {
			change(v)
		}
		s.w.Volumes = append(s.w.Volumes, v)
	}
}

func vol(change func(*corev1.PersistentVolume)) option {
	return func(s *setup) { change(s.w.Volume) }
}

func phase(p corev1.PersistentVolumePhase) option {
	return vol(func(pv *corev1.PersistentVolume) { pv.Status.Phase = p })
}

func policy(p corev1.PersistentVolumeReclaimPolicy) option {
	return vol(func(pv *corev1.PersistentVolume) { pv.Spec.PersistentVolumeReclaimPolicy = p })
}

// tied sets the claimRef to shop/name with a uid, which may be empty.
func tied(name, uid string) option {
	return vol(func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: name, UID: types.UID(uid),
		}
	})
}

func untied(s *setup) { s.w.Volume.Spec.ClaimRef = nil }

func unmarked(s *setup) { delete(s.w.Volume.Annotations, volume.AnnBoundByController) }

func terminating(s *setup) { s.w.Volume.DeletionTimestamp = &metav1.Time{} }

func unread(resources ...string) option {
	return func(s *setup) { s.w.Unread = append(s.w.Unread, resources...) }
}

func forClaim(ns, name string) option {
	return func(s *setup) { s.req.Claim = ClaimKey{ns, name} }
}

func toPolicy(p corev1.PersistentVolumeReclaimPolicy) option {
	return func(s *setup) { s.req.Policy = p }
}

// bound makes "disk" Bound to shop/data, both by uid.
func bound(s *setup) {
	tied("data", "uid-data")(s)
	phase(corev1.VolumeBound)(s)
	withClaim("data", "uid-data", boundTo("disk"))(s)
}

func boundTo(volumeName string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volumeName
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnBindCompleted, "yes")
		c.Status.Phase = corev1.ClaimBound
	}
}

func lost(c *corev1.PersistentVolumeClaim)        { c.Status.Phase = corev1.ClaimLost }
func deletingPVC(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} }

func named(volumeName string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = volumeName }
}

func wants(size string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	}
}

func ofClass(name string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = &name }
}

func find(p Plan, id string) *Check {
	for i := range p.Checks {
		if p.Checks[i].ID == id {
			return &p.Checks[i]
		}
	}
	return nil
}

// apply sends a merge patch to an API server of a few lines.
func apply(t rapid.TB, pv *corev1.PersistentVolume, patch json.RawMessage) *corev1.PersistentVolume {
	t.Helper()
	before, err := json.Marshal(pv)
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		t.Fatal(err)
	}
	out := &corev1.PersistentVolume{}
	if err := json.Unmarshal(after, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// control does what the controller does to a volume's phase, as far as these
// tests need it (pv_controller.go, syncVolume).
func control(pv *corev1.PersistentVolume, claims []*corev1.PersistentVolumeClaim) {
	ref := pv.Spec.ClaimRef
	if ref == nil || ref.UID == "" {
		pv.Status.Phase = corev1.VolumeAvailable
		return
	}
	for _, c := range claims {
		if claimKey(c) == keyOf(ref) && c.UID == ref.UID {
			if c.Spec.VolumeName == pv.Name {
				pv.Status.Phase = corev1.VolumeBound
			}
			return
		}
	}
	if pv.Status.Phase != corev1.VolumeFailed {
		pv.Status.Phase = corev1.VolumeReleased
	}
}

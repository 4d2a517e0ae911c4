package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// claimOf is the name of the claim that an ordinal gets from a template
// (getPersistentVolumeClaimName in stateful_set_utils.go).
func (y *setSync) claimOf(template *corev1.PersistentVolumeClaim, n int) string {
	return template.Name + "-" + y.set.Name + "-" + strconv.Itoa(n)
}

// volumes puts the claims of an ordinal in the place of the template's volumes
// of the same names (updateStorage).
func (y *setSync) volumes(n int, others []corev1.Volume) []corev1.Volume {
	templates := y.set.Spec.VolumeClaimTemplates
	volumes := make([]corev1.Volume, 0, len(templates)+len(others))
	for i := range templates {
		volumes = append(volumes, corev1.Volume{Name: templates[i].Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: y.claimOf(&templates[i], n)},
		}})
	}
	for _, v := range others {
		if !slices.ContainsFunc(templates, func(t corev1.PersistentVolumeClaim) bool { return t.Name == v.Name }) {
			volumes = append(volumes, v)
		}
	}
	return volumes
}

// createClaims makes the claims that an ordinal lacks (stateful_pod_control.go,
// createPersistentVolumeClaims). Whether those that are there fit the template
// nobody asks; one that is being deleted keeps the pod waiting. It says whether
// it has something to do or to wait for.
func (y *setSync) createClaims(n int, pod string) bool {
	busy := false
	for i := range y.set.Spec.VolumeClaimTemplates {
		template := &y.set.Spec.VolumeClaimTemplates[i]
		name := y.claimOf(template, n)
		switch pvc := y.s.Claim(y.set.Namespace, name); {
		case pvc != nil && pvc.DeletionTimestamp == nil:
			continue
		case pvc != nil:
			if y.s.Pod(y.set.Namespace, pod) == nil {
				y.tell(y.note(corev1.EventTypeWarning, "FailedCreate", fmt.Sprintf(
					"Create Pod %s in StatefulSet %s failed error: pvc %s is being deleted", pod, y.set.Name, name)))
			}
		default:
			y.create(Key{Claims, y.set.Namespace, name}, func(s *State) *State {
				pvc := template.DeepCopy()
				pvc.Name, pvc.Namespace = name, y.set.Namespace
				if pvc.Labels == nil {
					pvc.Labels = map[string]string{}
				}
				if y.set.Spec.Selector != nil {
					maps.Copy(pvc.Labels, y.set.Spec.Selector.MatchLabels)
				}
				return y.event(admitted(s, pvc), corev1.EventTypeNormal, "SuccessfulCreate",
					fmt.Sprintf("Create Claim %s Pod %s in StatefulSet %s success", name, pod, y.set.Name))
			})
		}
		busy = true
	}
	return busy
}

// stale says whether a claim of the ordinal still belongs to an earlier pod of
// the name, with which it is about to be deleted (PodClaimIsStale).
func (y *setSync) stale(n int, pod string) bool {
	if _, scaled := y.retention(); !scaled {
		return false
	}
	for i := range y.set.Spec.VolumeClaimTemplates {
		pvc := y.s.Claim(y.set.Namespace, y.claimOf(&y.set.Spec.VolumeClaimTemplates[i], n))
		if pvc != nil && slices.ContainsFunc(pvc.OwnerReferences, func(r metav1.OwnerReference) bool { return refersTo(r, podKind(), pod) }) {
			return true
		}
	}
	return false
}

// retention says whether claims are deleted with the set, and when it is scaled
// down.
func (y *setSync) retention() (deleted, scaled bool) {
	p := y.set.Spec.PersistentVolumeClaimRetentionPolicy
	if p == nil {
		return false, false
	}
	return p.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
		p.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
}

// retain sets the owners of a pod's claims by the set's retention policy
// (UpdatePodClaimForRetentionPolicy), and says whether there was one to set.
func (y *setSync) retain(pod *corev1.Pod) bool {
	_, n := ordinal(pod)
	busy := false
	for i := range y.set.Spec.VolumeClaimTemplates {
		pvc := y.s.Claim(y.set.Namespace, y.claimOf(&y.set.Spec.VolumeClaimTemplates[i], n))
		if pvc == nil || y.owned(pvc, pod) {
			continue
		}
		change(y.agenda, "set the owners of", pvc, func(c *corev1.PersistentVolumeClaim) {
			c.OwnerReferences = y.owners(pvc, pod)
		})
		busy = true
	}
	return busy
}

func podKind() schema.GroupVersionKind { return corev1.SchemeGroupVersion.WithKind("Pod") }

func setKind() schema.GroupVersionKind { return appsv1.SchemeGroupVersion.WithKind("StatefulSet") }

// refersTo is matchesRef: by kind and name, whatever the uid.
func refersTo(r metav1.OwnerReference, kind schema.GroupVersionKind, name string) bool {
	return r.APIVersion == kind.GroupVersion().String() && r.Kind == kind.Kind && r.Name == name
}

// owned is isClaimOwnerUpToDate. A claim that belongs to an earlier set or pod
// of the same name is left alone.
func (y *setSync) owned(pvc *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	bySet, byPod, loose := false, false, false
	for _, r := range pvc.OwnerReferences {
		if refersTo(r, setKind(), y.set.Name) && r.UID != y.set.UID || refersTo(r, podKind(), pod.Name) && r.UID != pod.UID {
			return true
		}
		bySet = bySet || r.UID == y.set.UID
		byPod = byPod || r.UID == pod.UID
		loose = loose || (r.UID == y.set.UID || r.UID == pod.UID) && !deref(r.Controller, false)
	}
	if y.foreign(pvc, pod) {
		return !bySet && !byPod
	}
	wantSet, wantPod := y.wanted(pod)
	return !loose && bySet == wantSet && byPod == wantPod
}

// wanted says who is to own the claims of a pod.
func (y *setSync) wanted(pod *corev1.Pod) (bySet, byPod bool) {
	deleted, scaled := y.retention()
	_, n := ordinal(pod)
	condemned := !y.inRange(n)
	return deleted && (!scaled || !condemned), scaled && condemned
}

// foreign says whether another controller has the claim (hasUnexpectedController).
func (y *setSync) foreign(pvc *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	if deleted, scaled := y.retention(); !deleted && !scaled {
		return false
	}
	return slices.ContainsFunc(pvc.OwnerReferences, func(r metav1.OwnerReference) bool {
		return !refersTo(r, setKind(), y.set.Name) && !refersTo(r, podKind(), pod.Name) && deref(r.Controller, false)
	})
}

// owners is updateClaimOwnerRefForSetAndPod.
func (y *setSync) owners(pvc *corev1.PersistentVolumeClaim, pod *corev1.Pod) []metav1.OwnerReference {
	refs := slices.DeleteFunc(slices.Clone(pvc.OwnerReferences), func(r metav1.OwnerReference) bool {
		return refersTo(r, setKind(), y.set.Name) || refersTo(r, podKind(), pod.Name)
	})
	if y.foreign(pvc, pod) {
		return refs
	}
	bySet, byPod := y.wanted(pod)
	if byPod {
		refs = append(refs, *metav1.NewControllerRef(pod, podKind()))
	}
	if bySet {
		refs = append(refs, *metav1.NewControllerRef(y.set, setKind()))
	}
	return refs
}

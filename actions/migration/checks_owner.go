package migration

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
)

// owners says what becomes of the owners of a claim: the garbage collector
// deletes a claim all of whose owners are gone, and an operator may make
// another claim as soon as its own is missing.
func (d *draft) owners(m member, to actions.ClaimKey) {
	for _, pod := range d.pods(m.key, anyPod) {
		if ephemeral(pod, m.key.Name) {
			d.block("claim-ephemeral",
				fmt.Sprintf("Claim %s was made for pod %s alone, and goes with it; the next pod gets another one", m.key, pod.Name),
				"Change the volumeClaimTemplate in the pod's own template (ephemeral) instead")
			return
		}
	}
	for _, ref := range m.claim.OwnerReferences {
		d.owner(m, to, ref)
	}
}

func (d *draft) owner(m member, to actions.ClaimKey, ref metav1.OwnerReference) {
	owner := actions.Ref{Kind: actions.Kind(ref.Kind), Namespace: m.key.Namespace, Name: ref.Name}
	operated := ref.Controller != nil && *ref.Controller
	switch {
	case d.ownerGone(ref):
		d.pass("owner-dropped", fmt.Sprintf("Claim %s belongs to %s, which is gone; the new claim does not", m.key, refText(owner)))
	case isKind(ref, PodKind) || isKind(ref, StatefulSetKind):
		d.pass("owner-dropped", fmt.Sprintf("Claim %s belongs to %s, which makes itself the owner again where that is still due", m.key, refText(owner)))
	case operated && !d.acknowledged(refText(owner)):
		d.block("owner-operator",
			fmt.Sprintf("Claim %s belongs to %s, whose operator may make another claim as soon as this one is gone", m.key, refText(owner)),
			"Change it through the operator; or pause that, and say that you take responsibility for "+refText(owner))
	case to.Namespace != m.key.Namespace:
		d.warn("owner-left", fmt.Sprintf("Claim %s belongs to %s, which can't own a claim in namespace %s; the new claim belongs to nobody", m.key, refText(owner), to.Namespace),
			"Delete the new claim by hand when it is no longer needed")
	default:
		d.warn("owner-kept", fmt.Sprintf("Claim %s belongs to %s, and so will the new one: it goes when that is deleted", m.key, refText(owner)),
			"Make sure that whatever made it does not make another claim meanwhile")
	}
}

// ownerGone says whether an owner is known not to exist any more. Of a kind
// that is not looked at nothing is known, and it counts as being there.
func (d *draft) ownerGone(ref metav1.OwnerReference) bool {
	kinds := []struct {
		kind     actions.Kind
		resource string
	}{
		{PodKind, "pods"},
		{StatefulSetKind, "statefulsets"},
		{DeploymentKind, "deployments"},
		{ReplicaSetKind, "replicasets"},
		{daemonSetKind, "daemonsets"},
		{CronJobKind, "cronjobs"},
	}
	for _, k := range kinds {
		if isKind(ref, k.kind) {
			return !d.unread(k.resource) && !d.there(ref.UID)
		}
	}
	return false
}

// there says whether a pod or a workload of that uid was seen.
func (d *draft) there(uid types.UID) bool {
	return slices.ContainsFunc(d.s.Pods, func(pod *corev1.Pod) bool { return pod.UID == uid }) ||
		slices.ContainsFunc(d.workloads(), func(w workload) bool { return w.GetUID() == uid })
}

// isKind says whether an owner is of one of Kubernetes' own kinds. Others have
// a StatefulSet, too.
func isKind(ref metav1.OwnerReference, kind actions.Kind) bool {
	if ref.Kind != string(kind) {
		return false
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return false
	}
	switch kind {
	case PodKind:
		return gv.Group == ""
	case CronJobKind, jobKind:
		return gv.Group == "batch"
	default:
		return gv.Group == "apps"
	}
}

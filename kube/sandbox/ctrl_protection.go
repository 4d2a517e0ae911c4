package sandbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// claimProtection is pkg/controller/volume/pvcprotection.
type claimProtection struct{}

func (claimProtection) Name() string { return "persistentvolumeclaim-protection" }

func (c claimProtection) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	pods := podsByClaim(s)
	for pvc := range s.Claims("") {
		users := pods[nameOf(pvc)]
		protected := slices.Contains(pvc.Finalizers, claimProtectionFinalizer)
		switch deleting := pvc.DeletionTimestamp != nil; {
		case !deleting && !protected:
			change(&a, "protect", pvc, func(c *corev1.PersistentVolumeClaim) { protect(c, claimProtectionFinalizer) })
		case deleting && protected && !slices.ContainsFunc(users, func(p *corev1.Pod) bool { return holds(p, pvc) }):
			change(&a, "let go of", pvc, func(c *corev1.PersistentVolumeClaim) { dropFinalizer(c, claimProtectionFinalizer) })
		case !deleting && pvc.Status.Phase == corev1.ClaimBound:
			noteUse(&a, pvc, slices.ContainsFunc(users, func(p *corev1.Pod) bool { return !ended(p) }))
		}
	}
	return a.list
}

// holds says whether a pod keeps a claim from being deleted (podUsesPVCForDeletion):
// any pod that has a node does, also one that has ended; for ephemeral volumes
// only one that has not.
func holds(pod *corev1.Pod, pvc *corev1.PersistentVolumeClaim) bool {
	if pod.Spec.NodeName == "" {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == pvc.Name ||
			v.Ephemeral != nil && claimName(pod, v) == pvc.Name && !ended(pod)
	})
}

// noteUse keeps the condition Unused of a bound claim (updateUnusedCondition).
func noteUse(a *agenda, pvc *corev1.PersistentVolumeClaim, used bool) {
	wanted := corev1.PersistentVolumeClaimCondition{
		Type: corev1.PersistentVolumeClaimUnused, Status: corev1.ConditionTrue,
		Reason: "NoPodsUsingPVC", Message: "No pods are currently referencing this PVC",
		LastTransitionTime: metav1.NewTime(a.s.Now()),
	}
	if used {
		wanted.Status, wanted.Reason, wanted.Message = corev1.ConditionFalse, "PodUsingPVC", "A pod is currently referencing this PVC"
	}
	i := slices.IndexFunc(pvc.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool { return c.Type == wanted.Type })
	switch {
	case i < 0:
		change(a, "note the use of", pvc, func(c *corev1.PersistentVolumeClaim) {
			c.Status.Conditions = append(c.Status.Conditions, wanted)
		})
	case pvc.Status.Conditions[i].Status != wanted.Status:
		change(a, "note the use of", pvc, func(c *corev1.PersistentVolumeClaim) { c.Status.Conditions[i] = wanted })
	}
}

// volumeProtection is pkg/controller/volume/pvprotection.
type volumeProtection struct{}

func (volumeProtection) Name() string { return "persistentvolume-protection" }

func (c volumeProtection) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for pv := range s.Volumes() {
		protected := slices.Contains(pv.Finalizers, volumeProtectionFinalizer)
		switch deleting := pv.DeletionTimestamp != nil; {
		case !deleting && !protected:
			change(&a, "protect", pv, func(pv *corev1.PersistentVolume) { protect(pv, volumeProtectionFinalizer) })
		case deleting && protected && pv.Status.Phase != corev1.VolumeBound:
			// In use is what is Bound, and nothing else.
			change(&a, "let go of", pv, func(pv *corev1.PersistentVolume) { dropFinalizer(pv, volumeProtectionFinalizer) })
		}
	}
	return a.list
}

// ended says whether a pod is in a phase that no pod leaves.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// running says whether a pod runs and is ready.
func running(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// claimName is the name of the claim that a pod's volume is, "" if it is none.
func claimName(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// podsByClaim finds the pods that refer to a claim.
func podsByClaim(s *State) map[types.NamespacedName][]*corev1.Pod {
	pods := make(map[types.NamespacedName][]*corev1.Pod)
	for pod := range s.Pods("") {
		for _, v := range pod.Spec.Volumes {
			if name := claimName(pod, v); name != "" {
				key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
				pods[key] = append(pods[key], pod)
			}
		}
	}
	return pods
}

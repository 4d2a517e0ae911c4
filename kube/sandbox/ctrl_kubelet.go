package sandbox

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationPhase on a pod tells the kubelet which phase to report for it
	// instead of Running: Succeeded, Failed or Pending.
	AnnotationPhase = "kubelet.claimref.test/phase"
	// AnnotationStuck on a pod keeps the kubelet from ever confirming its end,
	// as if its node went down: deleted, it stays Terminating.
	AnnotationStuck = "kubelet.claimref.test/stuck"
)

// kubelet is the kubelets of all nodes. Nothing runs; they only report what a
// kubelet would.
type kubelet struct{}

func (kubelet) Name() string { return "kubelet" }

func (c kubelet) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for pod := range s.Pods("") {
		wanted := wantedPhase(pod)
		switch {
		case pod.Spec.NodeName == "":
		case pod.DeletionTimestamp != nil:
			if pod.Annotations[AnnotationStuck] == "" && !finished(pod) {
				a.add("finish", pod, func(s *State) *State {
					return s.Delete(KeyOf(pod), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
				})
			}
		case ended(pod), pod.Status.Phase == wanted && pod.Status.StartTime != nil:
		case pod.Status.Phase == corev1.PodPending && conflict(s, pod) != nil:
			a.tell(*conflict(s, pod))
		case pod.Status.Phase == wanted && wanted == corev1.PodPending:
			// Nothing is reported: that is its phase already.
		default:
			change(&a, "report "+string(wanted)+" of", pod, func(pod *corev1.Pod) { report(pod, wanted, metav1.NewTime(s.Now())) })
		}
	}
	return a.list
}

// finished says that a pod's end is confirmed, and only finalizers keep it.
func finished(pod *corev1.Pod) bool {
	return pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
}

// conflict is why a pod can't mount its volumes: one is for a single pod and
// another pod on the node has it (IsVolumeMountedElsewhere in
// pkg/kubelet/volumemanager/cache/actual_state_of_world.go, asked by
// pkg/volume/util/operationexecutor/operation_generator.go). What counts is
// the volume's access modes, and only if there is no other mode.
func conflict(s *State, pod *corev1.Pod) *note {
	for _, v := range pod.Spec.Volumes {
		pvc := s.Claim(pod.Namespace, claimName(pod, v))
		if pvc == nil {
			continue
		}
		pv := s.Volume(pvc.Spec.VolumeName)
		if pv == nil || !slices.Equal(pv.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}) {
			continue
		}
		for other := range s.Pods(pod.Namespace) {
			if other.UID != pod.UID && other.Spec.NodeName == pod.Spec.NodeName && other.Status.Phase == corev1.PodRunning && uses(other, pvc.Name) {
				return &note{"kubelet", pod, corev1.EventTypeWarning, "FailedMount", fmt.Sprintf(
					"MountVolume.SetUp failed for volume %q : volume uses the ReadWriteOncePod access mode and is already in use by another pod", pv.Name)}
			}
		}
	}
	return nil
}

func uses(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return claimName(pod, v) == claim })
}

func wantedPhase(pod *corev1.Pod) corev1.PodPhase {
	switch phase := corev1.PodPhase(pod.Annotations[AnnotationPhase]); phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return phase
	default:
		return corev1.PodRunning
	}
}

// report fills in the status of a pod that is in a phase since now.
func report(pod *corev1.Pod, phase corev1.PodPhase, now metav1.Time) {
	ready := corev1.ConditionFalse
	if phase == corev1.PodRunning {
		ready = corev1.ConditionTrue
	}
	pod.Status.Phase = phase
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &now
	}
	setCondition(pod, corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}, now)
	setCondition(pod, corev1.PodCondition{Type: corev1.ContainersReady, Status: ready}, now)
	setCondition(pod, corev1.PodCondition{Type: corev1.PodReady, Status: ready}, now)

	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image,
			ContainerID: "fake://" + string(pod.UID) + "/" + c.Name,
			Ready:       phase == corev1.PodRunning,
			Started:     new(phase == corev1.PodRunning),
			State:       containerState(phase, now),
		})
	}
}

// setCondition puts a condition in the place of the one of its type. The time
// of transition is kept where the status is.
func setCondition(pod *corev1.Pod, wanted corev1.PodCondition, now metav1.Time) {
	wanted.LastTransitionTime = now
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == wanted.Type })
	if i < 0 {
		pod.Status.Conditions = append(pod.Status.Conditions, wanted)
		return
	}
	if was := pod.Status.Conditions[i]; was.Status == wanted.Status {
		wanted.LastTransitionTime = was.LastTransitionTime
	}
	pod.Status.Conditions[i] = wanted
}

func containerState(phase corev1.PodPhase, now metav1.Time) corev1.ContainerState {
	switch phase {
	case corev1.PodSucceeded:
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: now, FinishedAt: now,
		}}
	case corev1.PodFailed:
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 1, Reason: "Error", StartedAt: now, FinishedAt: now,
		}}
	default:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
	}
}

package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setStatus fills in the status that a kubelet reports for a pod that is in a
// phase since now.
func setStatus(pod *corev1.Pod, phase corev1.PodPhase, now metav1.Time) {
	ready := corev1.ConditionFalse
	if phase == corev1.PodRunning {
		ready = corev1.ConditionTrue
	}
	pod.Status.Phase = phase
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &now
	}
	setCondition(pod, corev1.PodInitialized, corev1.ConditionTrue, now)
	setCondition(pod, corev1.ContainersReady, ready, now)
	setCondition(pod, corev1.PodReady, ready, now)

	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name:        c.Name,
			Image:       c.Image,
			ImageID:     c.Image,
			ContainerID: "fake://" + string(pod.UID) + "/" + c.Name,
			Ready:       phase == corev1.PodRunning,
			Started:     new(phase == corev1.PodRunning),
			State:       containerState(phase, now),
		})
	}
}

func setCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, now metav1.Time) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == kind {
			if c.Status != status {
				c.Status, c.LastTransitionTime = status, now
			}
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: kind, Status: status, LastTransitionTime: now,
	})
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

package differential

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const pulseNamespace = "pulse"

// rounds are the rounds of the pulse.
type rounds struct{ client kubernetes.Interface }

func (r rounds) prepare(ctx context.Context) error {
	if _, err := r.client.CoreV1().Namespaces().Create(ctx, namespace(pulseNamespace), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("make the namespace of the pulse: %w", err)
	}
	return nil
}

// run lets a volume, a claim and a pod come and go, so that binder, scheduler,
// kubelet, protection and, by a claim whose owner is dead, garbage collector
// have all had their turn.
func (r rounds) run(ctx context.Context, n int) error {
	name := "pulse-" + strconv.Itoa(n)
	pv := volume("", ofClass("pulse"), func(pv *corev1.PersistentVolume) {
		pv.Name, pv.Spec.CSI.VolumeHandle = name, name
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: pulseNamespace, Name: name}
	})
	pvc := claim(name, asksClass("pulse"), func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Namespace, pvc.Spec.VolumeName = pulseNamespace, name
	})
	orphan := claim(name+"-orphan", asksClass("pulse"), func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Namespace = pulseNamespace
		pvc.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "StatefulSet", Name: name, UID: types.UID("00000000-0000-4000-8000-000000000000"),
		}}
	})
	user := pod(name, name)
	user.Namespace = pulseNamespace

	volumes, claims, pods := r.client.CoreV1().PersistentVolumes(), r.client.CoreV1().PersistentVolumeClaims(pulseNamespace), r.client.CoreV1().Pods(pulseNamespace)
	for _, step := range []func() error{
		func() error { _, err := volumes.Create(ctx, pv, metav1.CreateOptions{}); return err },
		func() error { _, err := claims.Create(ctx, pvc, metav1.CreateOptions{}); return err },
		func() error { _, err := claims.Create(ctx, orphan, metav1.CreateOptions{}); return err },
		func() error {
			return until(ctx, func(ctx context.Context) (bool, error) {
				c, err := claims.Get(ctx, name, metav1.GetOptions{})
				return err == nil && c.Status.Phase == corev1.ClaimBound, err
			})
		},
		func() error { _, err := pods.Create(ctx, user, metav1.CreateOptions{}); return err },
		func() error {
			return until(ctx, func(ctx context.Context) (bool, error) {
				p, err := pods.Get(ctx, name, metav1.GetOptions{})
				return err == nil && p.Status.Phase == corev1.PodRunning, err
			})
		},
		func() error { return pods.Delete(ctx, name, metav1.DeleteOptions{}) },
		func() error { return claims.Delete(ctx, name, metav1.DeleteOptions{}) },
		func() error {
			return until(ctx, func(ctx context.Context) (bool, error) {
				v, err := volumes.Get(ctx, name, metav1.GetOptions{})
				return err == nil && v.Status.Phase == corev1.VolumeReleased, err
			})
		},
		func() error { return volumes.Delete(ctx, name, metav1.DeleteOptions{}) },
		func() error {
			return until(ctx, func(ctx context.Context) (bool, error) {
				_, err := claims.Get(ctx, orphan.Name, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return true, nil
				}
				return false, err
			})
		},
	} {
		if err := step(); err != nil {
			return fmt.Errorf("round %d of the pulse: %w", n, err)
		}
	}
	return nil
}

func until(ctx context.Context, done wait.ConditionWithContextFunc) error {
	return wait.PollUntilContextTimeout(ctx, poll, settleTimeout, true, done)
}

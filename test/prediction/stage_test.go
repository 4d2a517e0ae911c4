package prediction

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// stage is where a wave is played.
type stage struct {
	ctx       context.Context // of the test; a stage lives as long as one wave
	client    kubernetes.Interface
	namespace string
}

func (s stage) await(done func() (bool, error)) error {
	return wait.PollUntilContextTimeout(s.ctx, poll, timeout, true, func(context.Context) (bool, error) { return done() })
}

// each does the same with all pairs, several at a time.
func (s stage) each(pairs []*pair, do func(*pair) error) error {
	tasks := make([]func() error, len(pairs))
	for i, p := range pairs {
		tasks[i] = func() error {
			if err := do(p); err != nil {
				return fmt.Errorf("%s: %w", p, err)
			}
			return nil
		}
	}
	return abreast(tasks)
}

// abreast does tasks, several at a time.
func abreast(tasks []func() error) error {
	errs := make([]error, len(tasks))
	next := make(chan int)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := range next {
				errs[i] = tasks[i]()
			}
		})
	}
	for i := range tasks {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

// look reads what is stored.
func (s stage) look() (picture, error) {
	is := picture{volumes: make(map[string]*corev1.PersistentVolume), claims: make(map[string]*corev1.PersistentVolumeClaim)}
	volumes, err := s.client.CoreV1().PersistentVolumes().List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return is, fmt.Errorf("list volumes: %w", err)
	}
	for i := range volumes.Items {
		is.volumes[volumes.Items[i].Name] = &volumes.Items[i]
	}
	claims, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return is, fmt.Errorf("list claims: %w", err)
	}
	for i := range claims.Items {
		is.claims[claims.Items[i].Name] = &claims.Items[i]
	}
	classes, err := s.client.StorageV1().StorageClasses().List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return is, fmt.Errorf("list classes: %w", err)
	}
	for i := range classes.Items {
		is.classes = append(is.classes, &classes.Items[i])
	}
	return is, nil
}

// events are what has been told of each claim.
func (s stage) events() (map[types.UID][]told, error) {
	list, err := s.client.CoreV1().Events(s.namespace).List(s.ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list events: %w", err)
	}
	events := make(map[types.UID][]told)
	for _, e := range list.Items {
		events[e.InvolvedObject.UID] = append(events[e.InvolvedObject.UID], told{e.Reason, e.Message})
	}
	return events, nil
}

// clear removes everything, so that the next wave meets nothing.
func (s stage) clear() error {
	is, err := s.look()
	if err != nil {
		return err
	}
	var tasks []func() error
	if err := s.markOlder("false"); err != nil {
		return err
	}
	for _, c := range is.classes {
		if c.Name == olderClass {
			continue
		}
		tasks = append(tasks, func() error {
			return s.client.StorageV1().StorageClasses().Delete(s.ctx, c.Name, metav1.DeleteOptions{})
		})
	}
	release := []byte(`{"metadata":{"finalizers":null}}`)
	claims, volumes := s.client.CoreV1().PersistentVolumeClaims(s.namespace), s.client.CoreV1().PersistentVolumes()
	for _, pvc := range is.claims {
		tasks = append(tasks, func() error {
			if err := ignoreNotFound(claims.Delete(s.ctx, pvc.Name, metav1.DeleteOptions{})); err != nil {
				return err
			}
			_, err := claims.Patch(s.ctx, pvc.Name, types.MergePatchType, release, metav1.PatchOptions{})
			return ignoreNotFound(err)
		})
	}
	for _, pv := range is.volumes {
		tasks = append(tasks, func() error {
			if err := ignoreNotFound(volumes.Delete(s.ctx, pv.Name, metav1.DeleteOptions{})); err != nil {
				return err
			}
			_, err := volumes.Patch(s.ctx, pv.Name, types.MergePatchType, release, metav1.PatchOptions{})
			return ignoreNotFound(err)
		})
	}
	return abreast(tasks)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

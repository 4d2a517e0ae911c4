package prediction

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

const (
	poll    = 25 * time.Millisecond
	atOnce  = 16
	timeout = time.Minute
	// agreeTimeout is how long events may take to be stored.
	agreeTimeout = 15 * time.Second
	// laps is how often the controllers have to have gone through everything.
	laps = 3
)

// play plays a wave and returns the predictions that came true.
func (w *wave) play(t *testing.T, namespace string) map[*pair]prediction {
	t.Helper()
	s := stage{ctx: t.Context(), client: shared.client, namespace: namespace}
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %s: %v", namespace, what, err)
		}
	}
	defer func() { must("clean up", s.clear()) }()
	must("prepare", s.prepare(w))
	must("make what is there first", s.each(w.pairs, s.makeFirst))
	must("wait until that is at rest", s.awaitFirst(w.pairs))
	must("pause the controllers", shared.cp.PauseControllers())
	resume := func() { must("let the controllers go on", shared.cp.ResumeControllers()) }
	made := s.each(w.pairs, s.makeLast)
	if made == nil {
		made = s.makeClasses(w.setting.classes())
	}
	if made == nil && w.setting == several {
		made = s.markOlder("true")
	}
	seen, err := s.look()
	if made != nil || err != nil {
		resume()
		must("make the rest", made)
		must("look", err)
	}
	predictions := make(map[*pair]prediction, len(w.pairs))
	for _, p := range w.pairs {
		predictions[p] = p.predict(seen)
	}
	resume()
	for n := range laps {
		must("wait until the controllers have gone through everything", s.lap(n))
	}
	var wrong map[*pair][]string
	err = wait.PollUntilContextTimeout(s.ctx, poll, agreeTimeout, true, func(context.Context) (bool, error) {
		wrong, err = s.compare(predictions)
		return len(wrong) == 0, err
	})
	if len(wrong) == 0 {
		must("compare", err)
	}
	for p, differences := range wrong {
		t.Errorf("%s", p.report(seen, predictions[p], differences))
		delete(predictions, p)
	}
	return predictions
}

// prepare makes the namespace and the classes of the pairs. Nothing may be a
// default class in the eyes of the API server any more: it would fill it in.
func (s stage) prepare(w *wave) error {
	_, err := s.client.CoreV1().Namespaces().Create(s.ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create the namespace: %w", err)
	}
	var classes []*storagev1.StorageClass
	for _, p := range w.pairs {
		p.in(s.namespace)
		if p.class != nil {
			classes = append(classes, p.class)
		}
	}
	if err := s.makeClasses(classes); err != nil {
		return err
	}
	return s.await(func() (bool, error) {
		pvc := newPair("no-class").pvc
		pvc.Spec.StorageClassName = nil
		made, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Create(s.ctx, pvc, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err == nil && made.Spec.StorageClassName == nil, err
	})
}

// makeFirst makes what the controllers see before they are paused.
func (s stage) makeFirst(p *pair) error {
	switch p.order {
	case volumeFirst:
		return s.makeVolumes(p)
	case claimFirst:
		return s.makeClaim(p)
	default:
		return nil
	}
}

// awaitFirst waits until the controllers have dealt with that.
func (s stage) awaitFirst(pairs []*pair) error {
	return s.await(func() (bool, error) {
		seen, err := s.look()
		if err != nil {
			return false, err
		}
		events, err := s.events()
		if err != nil {
			return false, err
		}
		return !slices.ContainsFunc(pairs, func(p *pair) bool {
			if pvc := seen.claims[p.pvc.Name]; p.order == claimFirst {
				switch {
				case binding.BindCompleted(pvc):
					return pvc.Status.Phase != corev1.ClaimLost
				case pvc.Spec.VolumeName != "":
					return false // Nothing is told of a missing volume.
				default:
					return len(events[pvc.UID]) == 0
				}
			}
			return p.order == volumeFirst && slices.ContainsFunc(p.volumes(), func(pv *corev1.PersistentVolume) bool {
				return seen.volumes[pv.Name].Status.Phase == corev1.VolumePending && pv.Labels[frozen] == ""
			})
		}), nil
	})
}

// makeLast makes the rest, and sets phases by hand, while they are paused.
func (s stage) makeLast(p *pair) error {
	if p.order != claimFirst {
		if err := s.makeClaim(p); err != nil {
			return err
		}
	}
	if p.order != volumeFirst {
		if err := s.makeVolumes(p); err != nil {
			return err
		}
	}
	if p.phase == "" {
		return nil
	}
	pv, err := s.client.CoreV1().PersistentVolumes().Get(s.ctx, p.pv.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pv.Status.Phase = p.phase
	_, err = s.client.CoreV1().PersistentVolumes().UpdateStatus(s.ctx, pv, metav1.UpdateOptions{})
	return err
}

func (s stage) makeClaim(p *pair) error {
	made, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Create(s.ctx, p.pvc, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	p.own(made.UID)
	return nil
}

func (s stage) makeVolumes(p *pair) error {
	for _, pv := range p.volumes() {
		if _, err := s.client.CoreV1().PersistentVolumes().Create(s.ctx, pv, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if p.deleted {
		return s.client.CoreV1().PersistentVolumes().Delete(s.ctx, p.pv.Name, metav1.DeleteOptions{})
	}
	return nil
}

// markOlder marks the class that is always there as default, or as none.
func (s stage) markOlder(value string) error {
	mark := fmt.Sprintf(`{"metadata":{"annotations":{"storageclass.kubernetes.io/is-default-class":%q}}}`, value)
	_, err := s.client.StorageV1().StorageClasses().Patch(s.ctx, olderClass, types.MergePatchType, []byte(mark), metav1.PatchOptions{})
	return err
}

func (s stage) makeClasses(classes []*storagev1.StorageClass) error {
	for _, c := range classes {
		if _, err := s.client.StorageV1().StorageClasses().Create(s.ctx, c, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create the class: %w", err)
		}
	}
	return nil
}

// lap makes a claim, waits until the controllers have seen it, and makes the
// volume for it. A volume that comes does not make them look at the claims
// again: that it is bound shows that they have begun to go through everything
// once more. As they do that in order, two laps show that they have come to
// the end of it, and a third that the volumes had all been seen before.
func (s stage) lap(n int) error {
	p := newPair(fmt.Sprintf("lap-%s-%d", s.namespace, n))
	p.in(s.namespace)
	// The claim itself shows that it was seen, if there may be a provisioner.
	p.class.Provisioner = "nobody.example.com"
	if err := s.makeClasses([]*storagev1.StorageClass{p.class}); err != nil {
		return err
	}
	if err := s.makeClaim(p); err != nil {
		return err
	}
	err := s.awaitClaim(p, func(pvc *corev1.PersistentVolumeClaim) bool {
		return metav1.HasAnnotation(pvc.ObjectMeta, volume.AnnStorageProvisioner)
	})
	if err != nil {
		return err
	}
	if err := s.makeVolumes(p); err != nil {
		return err
	}
	return s.awaitClaim(p, func(pvc *corev1.PersistentVolumeClaim) bool { return pvc.Status.Phase == corev1.ClaimBound })
}

func (s stage) awaitClaim(p *pair, is func(*corev1.PersistentVolumeClaim) bool) error {
	return s.await(func() (bool, error) {
		pvc, err := s.client.CoreV1().PersistentVolumeClaims(s.namespace).Get(s.ctx, p.pvc.Name, metav1.GetOptions{})
		return err == nil && is(pvc), err
	})
}

// compare reports what is not as predicted, by pair.
func (s stage) compare(predictions map[*pair]prediction) (map[*pair][]string, error) {
	is, err := s.look()
	if err != nil {
		return nil, err
	}
	events, err := s.events()
	if err != nil {
		return nil, err
	}
	wrong := make(map[*pair][]string)
	for p, f := range predictions {
		pvc, pv := is.claims[p.pvc.Name], is.volumes[p.pv.Name]
		if d := f.differences(pvc, pv, holder(is, pvc), events[pvc.UID]); len(d) > 0 {
			wrong[p] = d
		}
	}
	return wrong, nil
}

// holder is the volume of a claim that both of them confirm.
func holder(is picture, pvc *corev1.PersistentVolumeClaim) string {
	pv := is.volumes[pvc.Spec.VolumeName]
	if pv == nil || pv.Spec.ClaimRef == nil || pv.Spec.ClaimRef.UID != pvc.UID || pv.Status.Phase != corev1.VolumeBound {
		return ""
	}
	return pv.Name
}

package controlplane

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

const (
	// AnnotationPhase on a pod tells the fake kubelet which phase to report
	// for it instead of Running: Succeeded, Failed or Pending.
	AnnotationPhase = "kubelet.claimref.test/phase"
	// AnnotationStuck on a pod keeps the fake kubelet from ever confirming its
	// end, as if its node went down: deleted, it stays Terminating.
	AnnotationStuck = "kubelet.claimref.test/stuck"
)

// kubeletWorkers is how many pods are reported on at once.
const kubeletWorkers = 4

// kubelet stands in for the kubelets of all nodes. It runs nothing; it only
// reports what a kubelet would, so that workloads come up and go away.
type kubelet struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	queue  workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// StartKubelet adds nodes and looks after their pods until Stop. Further calls
// are for further nodes: one kubelet looks after all of them.
func (cp *ControlPlane) StartKubelet(ctx context.Context, nodes ...string) error {
	for _, name := range nodes {
		if err := addNode(ctx, cp.admin, name); err != nil {
			return err
		}
	}
	cp.mu.Lock()
	running := cp.kubelet
	cp.kubelet = true
	cp.mu.Unlock()
	if running {
		return nil
	}
	client, err := kubernetes.NewForConfig(cp.Config(userKubelet))
	if err != nil {
		return fmt.Errorf("connect the fake kubelet: %w", err)
	}
	cp.work(ctx, func(ctx context.Context) { runKubelet(ctx, client) })
	return nil
}

// addNode makes a node that the scheduler accepts: it looks at allocatable and
// taints, not at conditions.
func addNode(ctx context.Context, client kubernetes.Interface, name string) error {
	node, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:   name,
		Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux"},
	}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("add node %s: %w", name, err)
	}
	node.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("1000"),
		corev1.ResourceMemory: resource.MustParse("4Ti"),
		corev1.ResourcePods:   resource.MustParse("100000"),
	}
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue,
		Reason: "FakeKubelet", Message: "No containers run here",
		LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
	}}
	if _, err := client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("report the status of node %s: %w", name, err)
	}
	return nil
}

func runKubelet(ctx context.Context, client kubernetes.Interface) {
	scheduled := informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermNotEqualSelector("spec.nodeName", "").String()
	})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, scheduled)
	pods := factory.Core().V1().Pods()
	k := &kubelet{
		client: client,
		pods:   pods.Lister(),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
	enqueue := func(obj any) {
		if pod, ok := obj.(*corev1.Pod); ok {
			k.queue.Add(cache.MetaObjectToName(pod))
		}
	}
	// It fails only on an informer that has ended, and this one is new.
	_, _ = pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, obj any) { enqueue(obj) },
	})
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)

	var group sync.WaitGroup
	for range kubeletWorkers {
		group.Go(func() {
			for k.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	k.queue.ShutDown()
	group.Wait()
	factory.Shutdown()
}

func (k *kubelet) next(ctx context.Context) bool {
	key, quit := k.queue.Get()
	if quit {
		return false
	}
	defer k.queue.Done(key)
	if err := k.sync(ctx, key); err != nil {
		k.queue.AddRateLimited(key)
		return true
	}
	k.queue.Forget(key)
	return true
}

func (k *kubelet) sync(ctx context.Context, key cache.ObjectName) error {
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up pod %s: %w", key, err)
	}
	switch {
	case pod.DeletionTimestamp != nil && pod.Annotations[AnnotationStuck] != "":
		return nil
	case pod.DeletionTimestamp != nil:
		return k.finish(ctx, pod)
	case pod.Status.Phase == wantedPhase(pod), ended(pod):
		return nil
	default:
		return k.report(ctx, pod.DeepCopy())
	}
}

// finish confirms that a deleted pod has ended: only then does it go away.
func (k *kubelet) finish(ctx context.Context, pod *corev1.Pod) error {
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)),
		// The next pod of a StatefulSet has the same name.
		Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("finish pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

func (k *kubelet) report(ctx context.Context, pod *corev1.Pod) error {
	setStatus(pod, wantedPhase(pod), metav1.Now())
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("report the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// ended reports whether a pod is in a phase that no pod leaves.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func wantedPhase(pod *corev1.Pod) corev1.PodPhase {
	switch phase := corev1.PodPhase(pod.Annotations[AnnotationPhase]); phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return phase
	default:
		return corev1.PodRunning
	}
}

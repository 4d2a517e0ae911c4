package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// statefulSets is pkg/controller/statefulset; file names in the comments here
// are of that package. Controller revisions are not stored: a revision is a
// name made from the pod template, so that a pod which is created half-way
// through a rollout always gets the new template.
type statefulSets struct{}

func (statefulSets) Name() string { return "statefulset" }

func (c statefulSets) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for set := range s.StatefulSets("") {
		y := setSync{
			agenda: &a, set: set, update: set.Name + "-" + templateHash(&set.Spec.Template),
			start: startOf(set), count: int(deref(set.Spec.Replicas, 1)),
			ordered: set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement,
		}
		y.current = cmp.Or(set.Status.CurrentRevision, y.update)
		y.sync()
	}
	return a.list
}

func startOf(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

// templateHash is a name for what a pod template says.
func templateHash(t *corev1.PodTemplateSpec) string {
	text, err := json.Marshal(t)
	if err != nil {
		return "" // It fails for no type of the API.
	}
	return digest(string(text))
}

func deref[T any](p *T, unset T) T {
	if p == nil {
		return unset
	}
	return *p
}

type setSync struct {
	*agenda
	set             *appsv1.StatefulSet
	current, update string
	start, count    int
	ordered         bool
}

func (y *setSync) sync() {
	pods, adopting := y.pods()
	if adopting {
		return
	}
	if y.set.DeletionTimestamp == nil {
		y.work(pods)
	}
	y.status(pods)
}

func ordinal(pod *corev1.Pod) (set string, n int) {
	i := strings.LastIndexByte(pod.Name, '-')
	if i < 0 {
		return "", -1
	}
	n, err := strconv.Atoi(pod.Name[i+1:])
	if err != nil || n < 0 {
		return "", -1
	}
	return pod.Name[:i], n
}

// pods are the set's, in the order of their ordinals. Orphans that fit by name
// and labels are adopted first, those that no longer do let go
// (stateful_set.go, getPodsForStatefulSet).
func (y *setSync) pods() (pods []*corev1.Pod, adopting bool) {
	for pod := range y.s.Pods(y.set.Namespace) {
		parent, n := ordinal(pod)
		if parent != y.set.Name || n < 0 {
			continue
		}
		mine, busy := claimMember(y.agenda, y.set, setKind(), y.set.Spec.Selector, pod)
		adopting = adopting || busy
		if mine {
			pods = append(pods, pod)
		}
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		_, i := ordinal(a)
		_, j := ordinal(b)
		return cmp.Compare(i, j)
	})
	return pods, adopting
}

func (y *setSync) inRange(n int) bool { return n >= y.start && n < y.start+y.count }

// work is updateStatefulSet of stateful_set_control.go: it goes as far as the
// first write, or the first thing to wait for.
func (y *setSync) work(pods []*corev1.Pod) {
	replicas := make([]*corev1.Pod, y.count)
	var condemned []*corev1.Pod
	for _, pod := range pods {
		if _, n := ordinal(pod); y.inRange(n) {
			replicas[n-y.start] = pod
		} else {
			condemned = append(condemned, pod)
		}
	}
	busy := false
	for i, pod := range replicas {
		busy = y.replica(y.start+i, pod) || busy
		if busy && y.ordered {
			return
		}
	}
	if busy {
		return
	}
	for _, pod := range slices.Backward(condemned) {
		busy = y.retain(pod) || busy
	}
	if busy {
		return
	}
	y.scaleDown(replicas, condemned)
	if len(condemned) == 0 || !y.ordered {
		y.rollOut(replicas)
	}
}

// replica is processReplica. It says whether there is something to do or to
// wait for before the next one.
func (y *setSync) replica(n int, pod *corev1.Pod) bool {
	if pod == nil {
		return y.createPod(n)
	}
	deleting := pod.DeletionTimestamp != nil
	if ended(pod) {
		if !deleting {
			y.deletePod(pod)
		}
		return true
	}
	if pod.Status.Phase == corev1.PodPending && (y.createClaims(n, pod.Name) || y.retain(pod)) {
		return true
	}
	if (deleting || !running(pod)) && y.ordered {
		return true
	}
	if pod.Labels[appsv1.StatefulSetPodNameLabel] != pod.Name {
		change(y.agenda, "name", pod, func(pod *corev1.Pod) { identify(pod, n) })
		return true
	}
	return running(pod) && y.retain(pod)
}

// identify is updateIdentity of stateful_set_utils.go.
func identify(pod *corev1.Pod, n int) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(n)
}

func (y *setSync) createPod(n int) bool {
	name := y.set.Name + "-" + strconv.Itoa(n)
	if y.stale(n, name) || y.createClaims(n, name) {
		return true
	}
	if y.s.Pod(y.set.Namespace, name) != nil {
		return true // Somebody else's; creating it fails each time.
	}
	y.create(Key{Pods, y.set.Namespace, name}, func(s *State) *State {
		pod := podOf(y.set, setKind(), &y.set.Spec.Template)
		pod.Name = name
		identify(pod, n)
		pod.Labels[appsv1.StatefulSetRevisionLabel] = y.update
		pod.Spec.Hostname, pod.Spec.Subdomain = name, y.set.Spec.ServiceName
		pod.Spec.Volumes = y.volumes(n, pod.Spec.Volumes)
		return y.event(admitted(s, pod), corev1.EventTypeNormal, "SuccessfulCreate",
			fmt.Sprintf("Create Pod %s in StatefulSet %s successful", name, y.set.Name))
	})
	return true
}

func (y *setSync) event(s *State, kind, reason, message string) *State {
	return y.note(kind, reason, message).tell(s)
}

func (y *setSync) note(kind, reason, message string) note {
	return note{"statefulset-controller", y.set, kind, reason, message}
}

func (y *setSync) deletePod(pod *corev1.Pod) {
	y.add("delete", pod, func(s *State) *State {
		return y.event(remove(s, pod), corev1.EventTypeNormal, "SuccessfulDelete",
			fmt.Sprintf("Delete Pod %s in StatefulSet %s successful", pod.Name, y.set.Name))
	})
}

// scaleDown is processCondemned, from the highest ordinal down.
func (y *setSync) scaleDown(replicas, condemned []*corev1.Pod) {
	var unhealthy *corev1.Pod
	for _, pod := range slices.Concat(replicas, condemned) {
		if unhealthy == nil && unavailable(pod) {
			unhealthy = pod
		}
	}
	for _, pod := range slices.Backward(condemned) {
		switch {
		case pod.DeletionTimestamp != nil && y.ordered:
			return
		case pod.DeletionTimestamp != nil:
		case y.ordered && !running(pod) && pod != unhealthy:
			return
		default:
			y.deletePod(pod)
			if y.ordered {
				return
			}
		}
	}
}

func unavailable(pod *corev1.Pod) bool { return !running(pod) || pod.DeletionTimestamp != nil }

// rollOut deletes pods of an older revision, from the highest ordinal down
// (updateStatefulSetAfterInvariantEstablished).
func (y *setSync) rollOut(replicas []*corev1.Pod) {
	strategy := y.set.Spec.UpdateStrategy
	if strategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return
	}
	partition, budget := 0, 1
	if r := strategy.RollingUpdate; r != nil {
		partition = int(deref(r.Partition, 0))
		if r.MaxUnavailable != nil {
			if n, err := intstr.GetScaledValueFromIntOrPercent(r.MaxUnavailable, y.count, false); err == nil {
				budget = max(n, 1)
			}
		}
	}
	for _, pod := range replicas {
		if unavailable(pod) {
			budget--
		}
	}
	for _, pod := range slices.Backward(replicas[min(partition, len(replicas)):]) {
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == y.update || pod.DeletionTimestamp != nil {
			continue
		}
		if broken := !running(pod) && !y.ordered; broken || budget > 0 {
			y.deletePod(pod)
			if !broken {
				budget--
			}
		}
	}
}

// status is what updateStatus and completeUpdate make of the pods.
func (y *setSync) status(pods []*corev1.Pod) {
	status := appsv1.StatefulSetStatus{
		ObservedGeneration: y.set.Generation,
		CurrentRevision:    y.current, UpdateRevision: y.update,
		CollisionCount: new(int32(0)), Conditions: y.set.Status.Conditions,
	}
	for _, pod := range pods {
		status.Replicas++
		if running(pod) {
			status.ReadyReplicas++
			status.AvailableReplicas++
		}
		if pod.DeletionTimestamp != nil {
			continue
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == y.current {
			status.CurrentReplicas++
		}
		if pod.Labels[appsv1.StatefulSetRevisionLabel] == y.update {
			status.UpdatedReplicas++
		}
	}
	count := int32(y.count)
	if status.UpdatedReplicas == count && status.ReadyReplicas == count && status.Replicas == count {
		status.CurrentReplicas, status.CurrentRevision = status.UpdatedReplicas, status.UpdateRevision
	}
	if !reflect.DeepEqual(status, y.set.Status) {
		change(y.agenda, "report the status of", y.set, func(set *appsv1.StatefulSet) { set.Status = status })
	}
}

// podOf is a pod from a controller's template (GetPodFromTemplate in
// pkg/controller/controller_utils.go).
func podOf(owner Object, kind schema.GroupVersionKind, t *corev1.PodTemplateSpec) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.GetNamespace(), Labels: maps.Clone(t.Labels), Annotations: maps.Clone(t.Annotations),
			Finalizers:      slices.Clone(t.Finalizers),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, kind)},
		},
		Spec: *t.Spec.DeepCopy(),
	}
}

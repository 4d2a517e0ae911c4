package sandbox

import (
	"reflect"
	"slices"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// daemonSets is pkg/controller/daemon: a pod for each node that the template
// may run on, which the scheduler then puts there.
type daemonSets struct{}

func (daemonSets) Name() string { return "daemonset" }

func (c daemonSets) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	kind := appsv1.SchemeGroupVersion.WithKind("DaemonSet")
	for set := range s.DaemonSets("") {
		pods, busy := members(&a, set, kind, set.Spec.Selector)
		if busy {
			continue
		}
		hash := templateHash(&set.Spec.Template)
		status := appsv1.DaemonSetStatus{
			ObservedGeneration: set.Generation, CollisionCount: set.Status.CollisionCount, Conditions: set.Status.Conditions,
		}
		outdated := []*corev1.Pod{}
		for node := range s.Nodes() {
			wanted := daemonFor(set, node)
			here := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return nodeOf(p) != node.Name })
			if wanted {
				status.DesiredNumberScheduled++
				if len(here) > 0 {
					count(&status, here[0], hash)
				}
			} else if len(here) > 0 {
				status.NumberMisscheduled++
			}
			switch {
			case set.DeletionTimestamp != nil:
			case wanted && len(here) == 0:
				key := Key{Pods, set.Namespace, set.Name + "-" + digest(set.Name, node.Name)}
				if s.Get(key) == nil {
					a.create(key, func(s *State) *State { return admitted(s, daemon(set, hash, key.Name, node.Name)) })
				}
			default:
				for i, pod := range here {
					switch {
					case pod.DeletionTimestamp != nil:
					case !wanted, i > 0, ended(pod) && pod.Status.Phase == corev1.PodFailed:
						a.add("delete", pod, func(s *State) *State { return remove(s, pod) })
					case pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] != hash:
						outdated = append(outdated, pod)
					}
				}
			}
		}
		// One at a time, as maxUnavailable is 1 unless somebody says otherwise.
		status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
		if len(outdated) > 0 && set.Spec.UpdateStrategy.Type != appsv1.OnDeleteDaemonSetStrategyType && status.NumberUnavailable == 0 {
			a.add("delete", outdated[0], func(s *State) *State { return remove(s, outdated[0]) })
		}
		if !reflect.DeepEqual(status, set.Status) {
			change(&a, "report the status of", set, func(set *appsv1.DaemonSet) { set.Status = status })
		}
	}
	return a.list
}

func count(status *appsv1.DaemonSetStatus, pod *corev1.Pod, hash string) {
	status.CurrentNumberScheduled++
	if running(pod) {
		status.NumberReady++
		status.NumberAvailable++
	}
	if pod.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == hash {
		status.UpdatedNumberScheduled++
	}
}

// daemon is a pod for one node (ReplaceDaemonSetPodNodeNameNodeAffinity and
// AddOrUpdateDaemonPodTolerations in util/daemonset_util.go).
func daemon(set *appsv1.DaemonSet, hash, name, node string) *corev1.Pod {
	pod := podOf(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"), &set.Spec.Template)
	pod.Name, pod.GenerateName = name, set.Name+"-"
	metav1.SetMetaDataLabel(&pod.ObjectMeta, appsv1.DefaultDaemonSetUniqueLabelKey, hash)
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			}},
		}}},
	}}
	return pod
}

// daemonFor says whether the set wants a pod on a node (NodeShouldRunDaemonPod).
func daemonFor(set *appsv1.DaemonSet, node *corev1.Node) bool {
	pod := &corev1.Pod{Spec: set.Spec.Template.Spec}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !ok {
		return false
	}
	_, tainted := schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, repels, false)
	return !tainted
}

// nodeOf is the node that a daemon's pod is on or meant for.
func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		return pod.Spec.NodeName
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return ""
	}
	for _, t := range required.NodeSelectorTerms {
		for _, f := range t.MatchFields {
			if f.Key == metav1.ObjectNameField && len(f.Values) == 1 {
				return f.Values[0]
			}
		}
	}
	return ""
}

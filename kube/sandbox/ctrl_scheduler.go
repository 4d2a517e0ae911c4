package sandbox

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/kube/binding"
)

// Why a node does not suit a pod, in the words of the plugins below
// pkg/scheduler/framework/plugins.
const (
	whyUnschedulable  = "node(s) were unschedulable"
	whyTaint          = "node(s) had untolerated taint(s)"
	whyAffinity       = "node(s) didn't match Pod's node affinity/selector"
	whyVolumeAffinity = "node(s) didn't match PersistentVolume's node affinity"
	whyNoVolume       = "node(s) didn't find available persistent volumes to bind"
	whyVolumeMissing  = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
	whySinglePod      = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)

// scheduler is pkg/scheduler, as far as volumes decide. Resources are not
// looked at.
type scheduler struct{}

func (scheduler) Name() string { return "scheduler" }

func (c scheduler) Enabled(s *State) []Transition {
	d := scheduling{agenda: agenda{name: c.Name(), s: s}, nodes: slices.Collect(s.Nodes())}
	for pod := range s.Pods("") {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || ended(pod) || len(pod.Spec.SchedulingGates) > 0 ||
			cmp.Or(pod.Spec.SchedulerName, corev1.DefaultSchedulerName) != corev1.DefaultSchedulerName {
			continue
		}
		d.schedule(pod)
	}
	return d.list
}

type scheduling struct {
	agenda
	nodes []*corev1.Node
	users map[types.NamespacedName][]*corev1.Pod
}

// need is what a pod's claims ask of a node (GetPodVolumeClaims of
// volumebinding/binder.go).
type need struct {
	bound, delayed []*corev1.PersistentVolumeClaim
	// holders are the pods that have a claim which is for a single pod.
	holders []*corev1.Pod
}

// fit is how a pod's claims would be served on a node.
type fit struct {
	node *corev1.Node
	// static are the volumes found, by the name of the claim; the claims in
	// provision have none and get one made.
	static    map[string]*corev1.PersistentVolume
	provision []*corev1.PersistentVolumeClaim
}

func (d *scheduling) schedule(pod *corev1.Pod) {
	n, why := d.needs(pod)
	if why != "" {
		d.refuse(pod, why, 0)
		return
	}
	var fits []fit
	reasons := map[string]int{}
	for _, node := range d.nodes {
		f, why := d.suits(node, pod, n)
		if why != "" {
			reasons[why]++
			continue
		}
		fits = append(fits, f)
	}
	if len(fits) == 0 {
		d.unschedulable(pod, n, reasons)
		return
	}
	// The scheduler scores and then throws dice. Any fixed choice will do that
	// spreads the pods and does not depend on what was scheduled before.
	h := fnv.New32a()
	_, _ = h.Write([]byte(nameOf(pod).String())) // Hash.Write never returns an error.
	d.place(pod, n, fits[int(h.Sum32()%uint32(len(fits)))])
}

func (d *scheduling) unschedulable(pod *corev1.Pod, n need, reasons map[string]int) {
	if reasons[whySinglePod] > 0 && preempts(pod, n.holders) {
		for _, holder := range n.holders {
			if holder.DeletionTimestamp == nil {
				d.add("preempt", holder, func(s *State) *State { return remove(s, holder) })
			}
		}
		return
	}
	var counted []string
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		counted = append(counted, fmt.Sprintf("%d %s", reasons[why], why))
	}
	d.refuse(pod, strings.Join(counted, ", "), reasons[whySinglePod])
}

// preempts says whether all the holders have to make way for the pod.
func preempts(pod *corev1.Pod, holders []*corev1.Pod) bool {
	return len(holders) > 0 && !slices.ContainsFunc(holders, func(h *corev1.Pod) bool {
		return schedulinghelpers.PodPriority(h) >= schedulinghelpers.PodPriority(pod)
	})
}

// refuse says on the pod why it is not scheduled (FitError.Error in
// pkg/scheduler/framework/types.go). Contested are the nodes on which
// preemption was tried.
func (d *scheduling) refuse(pod *corev1.Pod, why string, contested int) {
	message := "no nodes available to schedule pods"
	if n := len(d.nodes); n > 0 {
		var tried []string
		if contested > 0 {
			tried = append(tried, fmt.Sprintf("%d No preemption victims found for incoming pod", contested))
		}
		if n > contested {
			tried = append(tried, fmt.Sprintf("%d Preemption is not helpful for scheduling", n-contested))
		}
		slices.Sort(tried)
		message = fmt.Sprintf("0/%d nodes are available: %s. preemption: 0/%d nodes are available: %s.", n, why, n, strings.Join(tried, ", "))
	}
	condition := corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
	}
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == condition.Type && c.Status == condition.Status && c.Message == message
	}) {
		return
	}
	d.add("refuse", pod, func(s *State) *State {
		s = s.Update(edited(pod, func(p *corev1.Pod) { setCondition(p, condition, metav1.NewTime(s.Now())) }))
		return note{corev1.DefaultSchedulerName, pod, corev1.EventTypeWarning, "FailedScheduling", message}.tell(s)
	})
}

// needs sorts the pod's claims, or says why no node can help
// (volumebinding/volume_binding.go, podHasPVCs and PreFilter).
func (d *scheduling) needs(pod *corev1.Pod) (need, string) {
	var n need
	immediate := false
	for _, v := range pod.Spec.Volumes {
		name := claimName(pod, v)
		if name == "" {
			continue
		}
		pvc := d.s.Claim(pod.Namespace, name)
		switch {
		case pvc == nil && v.Ephemeral != nil:
			return n, fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name)
		case pvc == nil:
			return n, fmt.Sprintf("persistentvolumeclaim %q not found", name)
		case pvc.Status.Phase == corev1.ClaimLost:
			return n, fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, pvc.Spec.VolumeName)
		case pvc.DeletionTimestamp != nil:
			return n, fmt.Sprintf("persistentvolumeclaim %q is being deleted", name)
		case pvc.Spec.VolumeName != "" && binding.BindCompleted(pvc):
			n.bound = append(n.bound, pvc)
		case pvc.Spec.VolumeName == "" && binding.Delays(pvc, slices.Collect(d.s.Classes())):
			n.delayed = append(n.delayed, pvc)
		default:
			immediate = true
		}
		if v.PersistentVolumeClaim != nil && slices.Contains(pvc.Spec.AccessModes, corev1.ReadWriteOncePod) {
			n.holders = append(n.holders, d.holders(pvc)...)
		}
	}
	if immediate {
		return n, "pod has unbound immediate PersistentVolumeClaims"
	}
	return n, ""
}

// holders are the pods that a claim for a single pod is taken by: any that has
// a node and has not ended, on whichever node (volumerestrictions).
func (d *scheduling) holders(pvc *corev1.PersistentVolumeClaim) []*corev1.Pod {
	if d.users == nil {
		d.users = podsByClaim(d.s)
	}
	var holders []*corev1.Pod
	for _, p := range d.users[nameOf(pvc)] {
		if p.Spec.NodeName != "" && !ended(p) {
			holders = append(holders, p)
		}
	}
	return holders
}

// suits says how the pod's claims would be served on a node, or why they can't
// be.
func (d *scheduling) suits(node *corev1.Node, pod *corev1.Pod, n need) (fit, string) {
	f := fit{node: node, static: map[string]*corev1.PersistentVolume{}}
	if node.Spec.Unschedulable {
		return f, whyUnschedulable
	}
	if _, tainted := schedulinghelpers.FindMatchingUntoleratedTaint(logr.Discard(), node.Spec.Taints, pod.Spec.Tolerations, repels, false); tainted {
		return f, whyTaint
	}
	if ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !ok {
		return f, whyAffinity
	}
	if len(n.holders) > 0 {
		return f, whySinglePod
	}
	// FindPodVolumes of volumebinding/binder.go.
	for _, pvc := range n.bound {
		pv := d.s.Volume(pvc.Spec.VolumeName)
		if pv == nil {
			return f, whyVolumeMissing
		}
		if volume.CheckNodeAffinity(pv, node.Labels) != nil {
			return f, whyVolumeAffinity
		}
	}
	chosen := map[string]*corev1.PersistentVolume{}
	for _, pvc := range n.delayed {
		selected, ok := pvc.Annotations[volume.AnnSelectedNode]
		if ok && selected != node.Name {
			return f, whyNoVolume
		}
		if pv := d.match(pvc, node, chosen); !ok && pv != nil {
			chosen[pv.Name], f.static[pvc.Name] = pv, pv
			continue
		}
		class, _, _ := binding.ClaimClass(pvc)
		if !provides(d.s.Class(class), node) {
			return f, whyNoVolume
		}
		f.provision = append(f.provision, pvc)
	}
	return f, ""
}

func repels(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}

// match finds a volume for a claim that waited for its pod. The scheduler looks
// at the volumes of the claim's class only.
func (d *scheduling) match(pvc *corev1.PersistentVolumeClaim, node *corev1.Node, chosen map[string]*corev1.PersistentVolume) *corev1.PersistentVolume {
	class, _, _ := binding.ClaimClass(pvc)
	var volumes []*corev1.PersistentVolume
	for pv := range d.s.Volumes() {
		if binding.VolumeClass(pv) == class {
			volumes = append(volumes, pv)
		}
	}
	pv, err := volume.FindMatchingVolume(pvc, volumes, node, chosen, true, true)
	if err != nil {
		return nil // A selector that can't be parsed.
	}
	return pv
}

// provides says whether volumes of a class can be made for a node
// (checkVolumeProvisions of volumebinding/binder.go).
func provides(class *storagev1.StorageClass, node *corev1.Node) bool {
	if class == nil || class.Provisioner == "" || class.Provisioner == volume.NotSupportedProvisioner {
		return false
	}
	return len(class.AllowedTopologies) == 0 ||
		slices.ContainsFunc(class.AllowedTopologies, func(t corev1.TopologySelectorTerm) bool {
			return !slices.ContainsFunc(t.MatchLabelExpressions, func(e corev1.TopologySelectorLabelRequirement) bool {
				value, ok := node.Labels[e.Key]
				return !ok || !slices.Contains(e.Values, value)
			})
		})
}

// place makes the writes that bind the pod's claims (bindAPIUpdate of
// volumebinding/binder.go), each for itself; then the binder has its turn; and
// when all are bound the pod gets its node.
func (d *scheduling) place(pod *corev1.Pod, n need, f fit) {
	if len(n.delayed) == 0 {
		d.add("assign to node "+f.node.Name, pod, func(s *State) *State {
			s = s.Update(edited(pod, func(p *corev1.Pod) {
				p.Spec.NodeName = f.node.Name
				setCondition(p, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, metav1.NewTime(s.Now()))
			}))
			return note{
				corev1.DefaultSchedulerName, pod, corev1.EventTypeNormal, "Scheduled",
				fmt.Sprintf("Successfully assigned %s to %s", nameOf(pod), f.node.Name),
			}.tell(s)
		})
		return
	}
	for _, pvc := range n.delayed {
		pv := f.static[pvc.Name]
		if pv == nil || pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.UID == pvc.UID {
			continue
		}
		d.add("bind to claim "+nameOf(pvc).String()+" the volume", pv, func(s *State) *State {
			bound, _, err := volume.GetBindVolumeToClaim(pv, pvc)
			if err != nil {
				return s // It fails for kinds that the scheme does not know.
			}
			return s.Update(bound)
		})
	}
	for _, pvc := range f.provision {
		if pvc.Annotations[volume.AnnSelectedNode] != f.node.Name {
			change(&d.agenda, "select node "+f.node.Name+" for", pvc, func(c *corev1.PersistentVolumeClaim) {
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, volume.AnnSelectedNode, f.node.Name)
			})
		}
	}
}

package migration

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// beforeBinding are the steps after which nothing uses the claims any more.
func (m *machine) beforeBinding() []node {
	var nodes []node
	for _, w := range m.workloads() {
		switch w.Ref.Kind {
		case StatefulSetKind:
			nodes = append(nodes, m.keepClaims(w)...)
		case DeploymentKind:
			if w.Strategy != nil && m.dir == Forward {
				nodes = append(nodes, m.setRecreate(w))
			}
		case CronJobKind:
			nodes = append(nodes, m.suspend(w))
		default:
			// A ReplicaSet is scaled, and that is all.
		}
	}
	for _, w := range m.workloads() {
		if scales(w.Ref.Kind) {
			nodes = append(nodes, m.scaleDown(w))
		}
	}
	nodes = append(nodes, m.deleteCompleted()...)
	return append(nodes, m.awaitUnused())
}

func scales(k actions.Kind) bool {
	return k == StatefulSetKind || k == DeploymentKind || k == ReplicaSetKind
}

// keepClaims takes a StatefulSet's right to delete its claims, before it is
// scaled: it would use it (pkg/controller/statefulset, UpdatePodClaimForRetentionPolicy).
func (m *machine) keepClaims(w Workload) []node {
	if w.Retention == nil {
		return nil
	}
	set := m.set(w)
	patch := node{Step: Step{
		ID: "retention/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Have " + describe(w.Ref) + " retain its claims",
		Why:    "Its claims would be deleted as it is scaled down",
		Act:    Patch,
		Target: m.live(w, set),
		Patch:  retentionPatch(appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.RetainPersistentVolumeClaimRetentionPolicyType),
		Stop:   m.runs(),
	}}
	patch.done = m.bound || set == nil || retains(set)
	wait := node{
		Step: Step{
			ID: "disowned/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Wait until " + describe(w.Ref) + " no longer owns its claims",
			Why:    "What it owns would go with it",
			Act:    Await,
			Target: w.Ref,
			Stop:   m.runs(),
		},
		// Any change of the set has to be looked at by the controller. What the
		// change was is told by the steps that it has taken back.
		flips: true,
	}
	if !m.bound && set != nil {
		// Once it is scaled down, there is nothing left that it could delete.
		if scaled := set.Spec.Replicas != nil && *set.Spec.Replicas == 0; !scaled && set.Status.ObservedGeneration < set.Generation {
			wait.holds = append(wait.holds, "the controller has yet to look at "+describe(w.Ref))
		}
		wait.holds = append(wait.holds, m.owned()...)
	}
	wait.done = len(wait.holds) == 0
	return []node{patch, wait}
}

// owned lists claims that would go together with what owns them.
func (m *machine) owned() []string {
	var holds []string
	for _, v := range m.j.Volumes {
		s := m.side(v)
		if s.atOther == nil || s.otherGone() {
			continue
		}
		for _, ref := range s.atOther.OwnerReferences {
			if ref.Kind == string(StatefulSetKind) || ref.Kind == string(PodKind) {
				holds = append(holds, fmt.Sprintf("claim %s is owned by %s %s", claimKey(s.atOther), ref.Kind, ref.Name))
			}
		}
	}
	return holds
}

func retentionPatch(deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType) []byte {
	return encode(map[string]any{"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{
		"whenDeleted": deleted, "whenScaled": scaled,
	}}})
}

func retains(set *appsv1.StatefulSet) bool {
	p := set.Spec.PersistentVolumeClaimRetentionPolicy
	return p == nil || p.WhenDeleted == appsv1.RetainPersistentVolumeClaimRetentionPolicyType &&
		p.WhenScaled == appsv1.RetainPersistentVolumeClaimRetentionPolicyType
}

func (m *machine) setRecreate(w Workload) node {
	d := m.deployment(w)
	n := node{Step: Step{
		ID: "strategy/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Set the strategy of " + describe(w.Ref) + " to Recreate",
		Why:    "A rollout would start the new pod beside the old one, and wait forever for the volume",
		Act:    Patch,
		Target: m.live(w, d),
		Patch: encode(map[string]any{"spec": map[string]any{"strategy": map[string]any{
			"type": appsv1.RecreateDeploymentStrategyType, "rollingUpdate": nil,
		}}}),
		Stop: m.runs(),
	}}
	n.done = d == nil || d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType
	return n
}

func (m *machine) suspend(w Workload) node {
	c := m.cronJob(w)
	n := node{Step: Step{
		ID: "suspend/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Suspend " + describe(w.Ref),
		Why:    "Its hour may come at any time, and its pod would use the claim",
		Act:    Patch,
		Target: m.live(w, c),
		Patch:  encode(map[string]any{"spec": map[string]any{"suspend": true}}),
		Stop:   m.runs(),
	}}
	n.done = m.bound || c == nil || c.Spec.Suspend != nil && *c.Spec.Suspend
	return m.ifItUses(w, n)
}

func (m *machine) scaleDown(w Workload) node {
	live, replicas := m.scaled(w)
	n := node{Step: Step{
		ID: "stop/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: fmt.Sprintf("Scale %s from %d to 0", describe(w.Ref), replicas),
		Why:    "A claim is not deleted, and its volume not detached, as long as a pod uses it",
		Act:    Scale,
		Target: live,
		Patch:  encode(map[string]any{"spec": map[string]any{"replicas": 0}}),
		Then:   "Its pods are stopped until the end of this",
		Stop:   m.runs(),
	}}
	n.done = m.bound || live.UID == "" || replicas == 0
	if n = m.ifItUses(w, n); n.done || n.halt != "" {
		return n
	}
	switch path := m.edited(w); {
	case w.Replicas == 0:
		n.halt = fmt.Sprintf("%s has %s now, and had none when this was planned: at the end it would not be started again", describe(w.Ref), counted(replicas))
		n.remedy = "Undo this one, and begin anew; or scale it to 0 yourself and resume, and scale it back yourself in the end"
	case path != "":
		n.halt = fmt.Sprintf("%s was changed since this was planned (%s)%s: to make it anew from the journal would take that back",
			describe(w.Ref), path, by(managerOf(m.set(w), strings.Split(path, ".")...)))
		n.remedy = "Undo this one, and begin anew; nothing has been stopped"
	}
	return n
}

// edited names the part of a StatefulSet that is not as in the journal any more,
// where it is to be made anew from that.
func (m *machine) edited(w Workload) string {
	set := m.set(w)
	if m.dir == Back || w.To == nil || set == nil || sameTemplates(set, w.To) {
		return ""
	}
	return changedSince(set, w.From)
}

// ifItUses halts before a workload is stopped that has nothing to do with the
// claims: a journal is only as good as whoever wrote it.
func (m *machine) ifItUses(w Workload, n node) node {
	if !n.done && !m.uses(w) {
		n.halt = describe(w.Ref) + " uses none of the claims, so that the journal must be wrong about it, or its template was changed meanwhile"
		n.remedy = "Find out who wrote the journal on volume " + m.j.Lead() + " (see its managedFields), or who changed the workload; undo leaves it alone"
	}
	return n
}

// uses says whether a workload, by its template or its pods, uses one of the
// claims.
func (m *machine) uses(w Workload) bool {
	d := &draft{s: m.s}
	at := slices.IndexFunc(d.workloads(), func(l workload) bool { return sameObject(l.ref(), w.Ref) })
	if at < 0 {
		return false
	}
	load := d.workloads()[at]
	for _, v := range m.j.Volumes {
		for _, claim := range [...]*corev1.PersistentVolumeClaim{v.From, v.To} {
			if claim != nil && claim.Namespace == w.Ref.Namespace && load.names(claimKey(claim)) {
				return true
			}
		}
	}
	return slices.ContainsFunc(m.users(), func(pod *corev1.Pod) bool {
		return sameObject(d.top(pod, PodKind).ref, w.Ref)
	})
}

// deleteCompleted deletes pods that have run to their end: such a pod holds a
// claim as a running one does (pvcprotection, podUsesPVC).
func (m *machine) deleteCompleted() []node {
	if m.bound || !m.j.Request.DeleteCompleted {
		return nil
	}
	var nodes []node
	for _, pod := range m.users() {
		if !completed(pod) {
			continue
		}
		nodes = append(nodes, node{
			Step: Step{
				ID: "completed/" + pod.Namespace + "/" + pod.Name, Title: fmt.Sprintf("Delete pod %s/%s, which has %s", pod.Namespace, pod.Name, podState(pod)),
				Why:    "It has run to its end, and holds the claim all the same",
				Act:    Delete,
				Target: actions.Ref{Kind: PodKind, Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
				Stop:   m.pausable(),
			},
			done: pod.DeletionTimestamp != nil,
		})
	}
	return nodes
}

func completed(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// awaitUnused waits until no pod of any phase names the claims, and nothing is
// attached: what is mounted or attached carries the old modes along.
func (m *machine) awaitUnused() node {
	n := node{Step: Step{
		ID: "unused", Title: "Wait until no pod uses the claims and no volume is attached",
		Why:    "A deletion can't be taken back, and would wait for the pods",
		Act:    Await,
		Target: m.j.Volumes[0].Ref,
		Stop:   m.pausable(),
	}}
	if m.bound {
		n.done = true
		return n
	}
	for _, pod := range m.users() {
		hold := fmt.Sprintf("pod %s/%s (%s)%s", pod.Namespace, pod.Name, podState(pod), by(ownerText(pod)))
		if ownerText(pod) == "" && pod.DeletionTimestamp == nil {
			hold += ", which nothing controls: delete it by hand"
		}
		n.holds = append(n.holds, hold)
	}
	for _, v := range m.j.Volumes {
		if m.side(v).isBound() {
			continue
		}
		for _, a := range m.s.Attachments {
			if name := a.Spec.Source.PersistentVolumeName; name != nil && *name == v.Ref.Name {
				n.holds = append(n.holds, fmt.Sprintf("volume %s is attached to node %s (VolumeAttachment %s)", v.Ref.Name, a.Spec.NodeName, a.Name))
			}
		}
	}
	n.done = len(n.holds) == 0
	return n
}

// users are the pods, of every phase, that name a claim of the operation. Those
// that wait for a claim of another name to come are none.
func (m *machine) users() []*corev1.Pod {
	var pods []*corev1.Pod
	add := func(found []*corev1.Pod) {
		for _, pod := range found {
			if !slices.Contains(pods, pod) {
				pods = append(pods, pod)
			}
		}
	}
	for _, v := range m.j.Volumes {
		s := m.side(v)
		if s.other != nil && (s.atOther == nil || !s.otherGone() || s.goal != nil && claimKey(s.goal) == claimKey(s.other)) {
			add(m.podsOf(claimKey(s.other)))
		}
		if s.goal != nil && !s.reached() && (s.other == nil || claimKey(s.goal) != claimKey(s.other)) {
			add(slices.DeleteFunc(m.podsOf(claimKey(s.goal)), func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" }))
		}
	}
	return pods
}

func (m *machine) podsOf(key actions.ClaimKey) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, pod := range m.s.Pods {
		if pod.Namespace == key.Namespace && names(pod, key.Name) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// names says whether a pod names a claim: outright, or by an ephemeral volume,
// whose claim is called after the pod and the volume.
func names(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim ||
			v.Ephemeral != nil && pod.Name+"-"+v.Name == claim
	})
}

func podState(pod *corev1.Pod) string {
	switch {
	case pod.DeletionTimestamp != nil:
		return "Terminating"
	case pod.Status.Phase == "":
		return string(corev1.PodPending)
	}
	return string(pod.Status.Phase)
}

func ownerText(pod *corev1.Pod) string {
	for _, ref := range pod.OwnerReferences {
		if ref.Controller != nil && *ref.Controller {
			return ref.Kind + " " + ref.Name
		}
	}
	return ""
}

func describe(ref actions.Ref) string {
	return fmt.Sprintf("%s %s/%s", ref.Kind, ref.Namespace, ref.Name)
}

package sandbox

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	annRevision = "deployment.kubernetes.io/revision"
	annDesired  = "deployment.kubernetes.io/desired-replicas"
	annMaximum  = "deployment.kubernetes.io/max-replicas"
)

// deployments is pkg/controller/deployment, simplified to what decides how many
// pods of which template there are: no proportional scaling, no deadline, no
// history limit.
type deployments struct{}

func (deployments) Name() string { return "deployment" }

func deploymentKind() schema.GroupVersionKind {
	return appsv1.SchemeGroupVersion.WithKind("Deployment")
}

func (c deployments) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	for d := range s.Deployments("") {
		y := rollout{agenda: &a, d: d, want: deref(d.Spec.Replicas, 1)}
		busy := false
		for rs := range s.ReplicaSets(d.Namespace) {
			mine, wait := claimMember(&a, d, deploymentKind(), d.Spec.Selector, rs)
			busy = busy || wait
			switch {
			case !mine:
			case y.current == nil && sameTemplate(&rs.Spec.Template, &d.Spec.Template):
				y.current = rs
			default:
				y.old = append(y.old, rs)
			}
		}
		if busy {
			continue
		}
		if d.DeletionTimestamp == nil {
			y.work()
		}
		y.status()
	}
	return a.list
}

// sameTemplate is EqualIgnoreHash of util/deployment_util.go.
func sameTemplate(a, b *corev1.PodTemplateSpec) bool {
	bare := func(t *corev1.PodTemplateSpec) *corev1.PodTemplateSpec {
		t = t.DeepCopy()
		delete(t.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
		return t
	}
	return equality.Semantic.DeepEqual(bare(a), bare(b))
}

type rollout struct {
	*agenda
	d       *appsv1.Deployment
	want    int32
	current *appsv1.ReplicaSet
	old     []*appsv1.ReplicaSet
}

// work is rolloutRecreate or rolloutRolling.
func (y *rollout) work() {
	surge, unavailable := y.bounds()
	if y.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType && (y.scaleDown(nil) || y.oldPods()) {
		return
	}
	if y.current == nil {
		if !y.d.Spec.Paused {
			y.createSet(min(y.want, max(0, y.want+surge-y.total())))
		}
		return
	}
	has := deref(y.current.Spec.Replicas, 1)
	if y.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		y.scale(y.current, y.want)
		return
	}
	// NewRSNewReplicas.
	next := y.want
	if has < y.want {
		next = has + max(0, min(y.want-has, y.want+surge-y.total()))
	}
	if y.scale(y.current, next) {
		return
	}
	// reconcileOldReplicaSets: first what is broken, then what can be spared.
	spare := y.total() - (y.want - unavailable) - (has - y.current.Status.AvailableReplicas)
	y.scaleDown(&spare)
}

func (y *rollout) bounds() (surge, unavailable int32) {
	r := y.d.Spec.Strategy.RollingUpdate
	if y.d.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return 0, 0
	}
	part := func(v *intstr.IntOrString, up bool) int32 {
		n, err := intstr.GetScaledValueFromIntOrPercent(v, int(y.want), up)
		if err != nil {
			return 0
		}
		return int32(n)
	}
	quarter := intstr.FromString("25%")
	if r == nil {
		r = &appsv1.RollingUpdateDeployment{}
	}
	surge = part(cmp.Or(r.MaxSurge, &quarter), true)
	unavailable = part(cmp.Or(r.MaxUnavailable, &quarter), false)
	if surge == 0 && unavailable == 0 {
		unavailable = 1 // ResolveFenceposts.
	}
	return surge, min(unavailable, y.want)
}

// total is how many pods all sets are to have.
func (y *rollout) total() int32 {
	var n int32
	for _, rs := range y.sets() {
		n += deref(rs.Spec.Replicas, 1)
	}
	return n
}

func (y *rollout) sets() []*appsv1.ReplicaSet {
	if y.current == nil {
		return y.old
	}
	return append(slices.Clone(y.old), y.current)
}

// scaleDown takes pods from the old sets, as many as can be spared or all.
func (y *rollout) scaleDown(spare *int32) bool {
	busy := false
	for _, rs := range y.old {
		has := deref(rs.Spec.Replicas, 1)
		down := has
		if spare != nil {
			down = max(0, min(has, *spare))
			*spare -= down
		}
		busy = y.scale(rs, has-down) || busy
	}
	return busy
}

// oldPods says whether pods of other templates are still there (oldPodsRunning).
func (y *rollout) oldPods() bool {
	for pod := range y.s.Pods(y.d.Namespace) {
		ref := metav1.GetControllerOf(pod)
		if ref != nil && !ended(pod) && slices.ContainsFunc(y.old, func(rs *appsv1.ReplicaSet) bool { return rs.UID == ref.UID }) {
			return true
		}
	}
	return false
}

func (y *rollout) annotations() map[string]string {
	surge, _ := y.bounds()
	return map[string]string{annDesired: strconv.Itoa(int(y.want)), annMaximum: strconv.Itoa(int(y.want + surge))}
}

func (y *rollout) scale(rs *appsv1.ReplicaSet, n int32) bool {
	if deref(rs.Spec.Replicas, 1) == n {
		return false
	}
	change(y.agenda, "scale to "+strconv.Itoa(int(n)), rs, func(rs *appsv1.ReplicaSet) {
		rs.Spec.Replicas = &n
		if rs.Annotations == nil {
			rs.Annotations = map[string]string{}
		}
		maps.Copy(rs.Annotations, y.annotations())
	})
	return true
}

// createSet is getNewReplicaSet of sync.go.
func (y *rollout) createSet(replicas int32) {
	hash := templateHash(&y.d.Spec.Template)
	key := Key{ReplicaSets, y.d.Namespace, y.d.Name + "-" + hash}
	if y.s.Get(key) != nil {
		return // Somebody else's; the real one would try another hash.
	}
	y.create(key, func(s *State) *State {
		template := y.d.Spec.Template.DeepCopy()
		metav1.SetMetaDataLabel(&template.ObjectMeta, appsv1.DefaultDeploymentUniqueLabelKey, hash)
		annotations := maps.Clone(y.d.Annotations)
		delete(annotations, corev1.LastAppliedConfigAnnotation)
		if annotations == nil {
			annotations = map[string]string{}
		}
		maps.Copy(annotations, y.annotations())
		annotations[annRevision] = strconv.Itoa(y.revision() + 1)
		return admitted(s, &appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: key.Namespace, Name: key.Name, Labels: maps.Clone(template.Labels), Annotations: annotations,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(y.d, deploymentKind())},
			},
			Spec: appsv1.ReplicaSetSpec{
				Replicas: &replicas, Template: *template,
				Selector: metav1.CloneSelectorAndAddLabel(y.d.Spec.Selector, appsv1.DefaultDeploymentUniqueLabelKey, hash),
			},
		})
	})
}

func (y *rollout) revision() int {
	newest := 0
	for _, rs := range y.sets() {
		if n, err := strconv.Atoi(rs.Annotations[annRevision]); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

func (y *rollout) status() {
	status := *y.d.Status.DeepCopy()
	status.ObservedGeneration = y.d.Generation
	status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.UpdatedReplicas = 0, 0, 0, 0
	for _, rs := range y.sets() {
		status.Replicas += rs.Status.Replicas
		status.ReadyReplicas += rs.Status.ReadyReplicas
		status.AvailableReplicas += rs.Status.AvailableReplicas
	}
	if y.current != nil {
		status.UpdatedReplicas = y.current.Status.Replicas
	}
	status.UnavailableReplicas = max(0, y.total()-status.AvailableReplicas)
	revision := strconv.Itoa(y.revision())
	if reflect.DeepEqual(status, y.d.Status) && (y.current == nil || y.d.Annotations[annRevision] == revision) {
		return
	}
	change(y.agenda, "report the status of", y.d, func(d *appsv1.Deployment) {
		d.Status = status
		if y.current != nil {
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, annRevision, revision)
		}
	})
}

// replicaSets is pkg/controller/replicaset.
type replicaSets struct{}

func (replicaSets) Name() string { return "replicaset" }

func (c replicaSets) Enabled(s *State) []Transition {
	a := agenda{name: c.Name(), s: s}
	kind := appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	for rs := range s.ReplicaSets("") {
		pods, busy := members(&a, rs, kind, rs.Spec.Selector)
		if busy {
			continue
		}
		pods = slices.DeleteFunc(pods, func(p *corev1.Pod) bool { return !active(p) })
		missing := int(deref(rs.Spec.Replicas, 1)) - len(pods)
		switch {
		case rs.DeletionTimestamp != nil:
		case missing > 0:
			key := Key{Pods, rs.Namespace, freeName(s, rs)}
			a.create(key, func(s *State) *State {
				pod := podOf(rs, kind, &rs.Spec.Template)
				pod.Name = key.Name
				pod.GenerateName = rs.Name + "-"
				s = admitted(s, pod)
				return note{"replicaset-controller", rs, corev1.EventTypeNormal, "SuccessfulCreate", "Created pod: " + key.Name}.tell(s)
			})
		case missing < 0:
			victims := slices.SortedStableFunc(slices.Values(pods), spareable)
			for _, pod := range victims[:-missing] {
				a.add("delete", pod, func(s *State) *State {
					return note{"replicaset-controller", rs, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted pod: " + pod.Name}.tell(remove(s, pod))
				})
			}
		}
		replicaSetStatus(&a, rs, pods)
	}
	return a.list
}

// spareable puts first the pods that are missed least (ActivePodsWithRanks in
// pkg/controller/controller_utils.go).
func spareable(a, b *corev1.Pod) int {
	rank := func(p *corev1.Pod) int {
		switch {
		case p.Spec.NodeName == "":
			return 0
		case p.Status.Phase == corev1.PodPending:
			return 1
		case !running(p):
			return 2
		}
		return 3
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

func replicaSetStatus(a *agenda, rs *appsv1.ReplicaSet, pods []*corev1.Pod) {
	status := *rs.Status.DeepCopy()
	status.ObservedGeneration = rs.Generation
	status.Replicas, status.FullyLabeledReplicas = int32(len(pods)), int32(len(pods))
	status.ReadyReplicas = 0
	for _, pod := range pods {
		if running(pod) {
			status.ReadyReplicas++
		}
	}
	status.AvailableReplicas = status.ReadyReplicas
	if !reflect.DeepEqual(status, rs.Status) {
		change(a, "report the status of", rs, func(rs *appsv1.ReplicaSet) { rs.Status = status })
	}
}

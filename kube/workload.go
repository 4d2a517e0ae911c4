package kube

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/claimref/claimref/actions"
)

// workload makes the record of a workload; nil for anything else.
func (t trimmer) workload(obj any) *Workload {
	switch o := obj.(type) {
	case *appsv1.StatefulSet:
		return statefulSet(o)
	case *appsv1.Deployment:
		w := newWorkload("Deployment", &o.ObjectMeta, &o.Spec.Template, o.Spec.Replicas)
		w.Surges = deploymentSurges(&o.Spec.Strategy)
		return w
	case *appsv1.ReplicaSet:
		return newWorkload("ReplicaSet", &o.ObjectMeta, &o.Spec.Template, o.Spec.Replicas)
	case *appsv1.DaemonSet:
		w := newWorkload("DaemonSet", &o.ObjectMeta, &o.Spec.Template, nil)
		w.Surges = daemonSetSurges(&o.Spec.UpdateStrategy)
		return w
	case *batchv1.Job:
		w := newWorkload("Job", &o.ObjectMeta, &o.Spec.Template, nil)
		w.Suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
		w.Finished = slices.ContainsFunc(o.Status.Conditions, func(c batchv1.JobCondition) bool {
			return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
		})
		return w
	case *batchv1.CronJob:
		w := newWorkload("CronJob", &o.ObjectMeta, &o.Spec.JobTemplate.Spec.Template, nil)
		w.Suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
		return w
	}
	return nil
}

func newWorkload(kind string, m *metav1.ObjectMeta, template *corev1.PodTemplateSpec, replicas *int32) *Workload {
	w := &Workload{
		Kind:      kind,
		Namespace: text(m.Namespace),
		Name:      m.Name,
		UID:       m.UID,
		Owner:     controllerOf(m.OwnerReferences),
		Claims:    podClaims("", template.Spec.Volumes),
		Source:    text(actions.Source(m.Labels, m.Annotations)),
	}
	if replicas != nil {
		// A pointer into the object would keep all of it.
		n := *replicas
		w.Replicas = &n
	}
	return w
}

func statefulSet(o *appsv1.StatefulSet) *Workload {
	w := newWorkload("StatefulSet", &o.ObjectMeta, &o.Spec.Template, o.Spec.Replicas)
	for i := range o.Spec.VolumeClaimTemplates {
		template := &o.Spec.VolumeClaimTemplates[i]
		w.Templates = append(w.Templates, template.Name)
		w.Single = w.Single || slices.Contains(template.Spec.AccessModes, corev1.ReadWriteOncePod)
	}
	slices.Sort(w.Templates)
	w.Templates = slices.Clip(w.Templates)
	// Without a policy, or on a server that knows of none, claims are kept.
	retain := string(appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	w.WhenScaled, w.WhenDeleted = retain, retain
	if policy := o.Spec.PersistentVolumeClaimRetentionPolicy; policy != nil {
		w.WhenScaled = cmp.Or(text(string(policy.WhenScaled)), retain)
		w.WhenDeleted = cmp.Or(text(string(policy.WhenDeleted)), retain)
	}
	return w
}

// deploymentSurges goes by the defaults of pkg/apis/apps/v1/defaults.go: a
// rolling update, of a quarter more pods than there are to be.
func deploymentSurges(strategy *appsv1.DeploymentStrategy) bool {
	if strategy.Type == appsv1.RecreateDeploymentStrategyType {
		return false
	}
	return strategy.RollingUpdate == nil || surges(strategy.RollingUpdate.MaxSurge, true)
}

// daemonSetSurges: by default a node's old pod goes first.
func daemonSetSurges(strategy *appsv1.DaemonSetUpdateStrategy) bool {
	return strategy.Type != appsv1.OnDeleteDaemonSetStrategyType &&
		strategy.RollingUpdate != nil && surges(strategy.RollingUpdate.MaxSurge, false)
}

// surges tells whether a maxSurge is more than nothing. Percentages round up
// (ResolveFenceposts in pkg/controller/deployment/util), so that one pod tells
// as much as many: a workload that is scaled to none now still surges when it
// is scaled up again.
func surges(most *intstr.IntOrString, byDefault bool) bool {
	if most == nil {
		return byDefault
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(most, 1, true)
	return err == nil && n > 0
}

func controllerOf(refs []metav1.OwnerReference) Owner {
	for i := range refs {
		if c := refs[i].Controller; c != nil && *c {
			return Owner{
				APIVersion: text(refs[i].APIVersion), Kind: text(refs[i].Kind), Name: text(refs[i].Name),
				UID: types.UID(text(string(refs[i].UID))),
			}
		}
	}
	return Owner{}
}

func (w *Workload) same(v *Workload) bool {
	return w.Kind == v.Kind && w.Namespace == v.Namespace && w.Name == v.Name && w.UID == v.UID && w.Owner == v.Owner &&
		slices.Equal(w.Claims, v.Claims) && slices.Equal(w.Templates, v.Templates) && equalPointers(w.Replicas, v.Replicas) &&
		w.Surges == v.Surges && w.Suspended == v.Suspended && w.Finished == v.Finished &&
		w.WhenScaled == v.WhenScaled && w.WhenDeleted == v.WhenDeleted && w.Source == v.Source && w.Single == v.Single
}

// loadKey names a workload.
type loadKey struct{ kind, namespace, name string }

func (w *Workload) key() loadKey { return loadKey{w.Kind, w.Namespace, w.Name} }

// shownLoad is the record of a workload in the last snapshot.
func (j *join) shownLoad(key loadKey) *Workload {
	return lookup(j.loadList, workloadOrder(key.kind, key.namespace, key.name))
}

// touchLoad marks a workload that has come, changed or, with nil, gone.
func (j *join) touchLoad(key loadKey, w *Workload) { j.dirtyLoads[key] = w }

// touchOwners marks the workload of a uid and those above it: what is below
// them decides on whether they are shown.
func (j *join) touchOwners(uid types.UID) {
	for range maxChain + 1 {
		w := j.loadsByUID[string(uid)]
		if uid == "" || w == nil {
			return
		}
		j.touchLoad(w.key(), w)
		uid = w.Owner.UID
	}
}

// usesClaims tells whether a workload's pods use claims: by its templates, by
// the pods that it has now, or by those of the workloads it controls.
func (j *join) usesClaims(w *Workload, depth int) bool {
	if len(w.Claims) > 0 || len(w.Templates) > 0 || len(j.podsByOwner[string(w.UID)]) > 0 {
		return true
	}
	return depth > 0 && slices.ContainsFunc(j.loadsByOwner[string(w.UID)], func(owned *Workload) bool {
		return j.usesClaims(owned, depth-1)
	})
}

func (j *join) rebuildLoads() []change[Workload] {
	var changes []change[Workload]
	for key, after := range j.dirtyLoads {
		if after != nil && !j.usesClaims(after, maxChain) {
			after = nil
		}
		if before := j.shownLoad(key); before != after {
			changes = append(changes, change[Workload]{before, after})
		}
	}
	clear(j.dirtyLoads)
	return changes
}

package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const mergePatch = types.MergePatchType

// picture is what of a world has to be the same when an operation has come to
// the same end by another way: all but uids, versions, times and generated
// names, and the marks by which the controllers remember how things came about.
func (w *world) picture(ctx context.Context) string {
	p := &picture{w: w, uids: make(map[types.UID]string)}
	if err := p.take(ctx); err != nil {
		return err.Error()
	}
	lines := strings.Split(w.neutral(strings.Join(p.lines, "\n")), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// neutral takes out of a text what differs from one world to another.
func (w *world) neutral(text string) string {
	for i, pv := range w.volumes {
		text = strings.ReplaceAll(text, pv.Name, fmt.Sprintf("VOLUME-%d", i))
	}
	// The class is called as the namespace is.
	return strings.NewReplacer(w.ns, "HERE", w.elsewhere, "ELSEWHERE").Replace(text)
}

type picture struct {
	w     *world
	lines []string
	// uids are the objects that there are, by what a reference to them says.
	uids map[types.UID]string
}

func (p *picture) line(format string, args ...any) {
	p.lines = append(p.lines, fmt.Sprintf(format, args...))
}

func (p *picture) take(ctx context.Context) error {
	for _, ns := range []string{p.w.ns, p.w.elsewhere} {
		if err := p.workloads(ctx, ns); err != nil {
			return err
		}
		if err := p.claims(ctx, ns); err != nil {
			return err
		}
	}
	return p.volumes(ctx)
}

func (p *picture) workloads(ctx context.Context, ns string) error {
	apps := shared.api.AppsV1()
	sets, err := apps.StatefulSets(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range sets.Items {
		p.uids[o.UID] = "StatefulSet " + o.Name
		p.line("set %s: %s %v, ready %d, revision %s of %s%s", o.Name, as(o.Spec), o.Labels,
			o.Status.ReadyReplicas, o.Status.CurrentRevision, o.Status.UpdateRevision, going(&o))
	}
	deployments, err := apps.Deployments(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range deployments.Items {
		p.uids[o.UID] = "Deployment " + o.Name
		p.line("deployment %s: %s, ready %d%s", o.Name, as(o.Spec), o.Status.ReadyReplicas, going(&o))
	}
	replicaSets, err := apps.ReplicaSets(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range replicaSets.Items {
		p.uids[o.UID] = "ReplicaSet " + o.Name
		p.line("replica set %s of %v", o.Name, p.owners(&o))
	}
	revisions, err := apps.ControllerRevisions(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range revisions.Items {
		p.line("revision %s of %v", o.Name, p.owners(&o))
	}
	jobs, err := shared.api.BatchV1().CronJobs(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range jobs.Items {
		o.Spec.Suspend = new(o.Spec.Suspend != nil && *o.Spec.Suspend)
		p.line("cron job %s: %s", o.Name, as(o.Spec))
	}
	pods, err := shared.api.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range pods.Items {
		p.uids[o.UID] = "Pod " + o.Name
		p.line("pod of %v: %s%s", p.owners(&o), o.Status.Phase, going(&o))
	}
	return nil
}

func (p *picture) claims(ctx context.Context, ns string) error {
	claims, err := shared.api.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range claims.Items {
		p.uids[o.UID] = ns + "/" + o.Name
		maps.DeleteFunc(o.Annotations, func(name, _ string) bool { return strings.Contains(name, "kubernetes.io/") })
		p.line("claim %s/%s of %v: %s %v %s, %s %v %v%s", ns, o.Name, p.owners(&o), o.Status.Phase, o.Status.AccessModes,
			o.Status.Capacity.Storage(), as(o.Spec), o.Labels, o.Annotations, going(&o))
	}
	return nil
}

func (p *picture) volumes(ctx context.Context) error {
	for _, was := range p.w.volumes {
		o, err := shared.api.CoreV1().PersistentVolumes().Get(ctx, was.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		ref := "nobody"
		if r := o.Spec.ClaimRef; r != nil {
			ref = fmt.Sprintf("%s/%s, by uid %q", r.Namespace, r.Name, p.uids[r.UID])
		}
		var ours []string
		for key := range o.Annotations {
			if strings.HasPrefix(key, "claimref.io/") {
				ours = append(ours, key)
			}
		}
		p.line("volume %s: the same %t, data %t, %s %v %s class %s, for %s %v%s", o.Name, o.UID == was.UID,
			shared.data.SentinelExists(was.Spec.CSI.VolumeHandle), o.Status.Phase, o.Spec.AccessModes,
			o.Spec.PersistentVolumeReclaimPolicy, o.Spec.StorageClassName, ref, ours, going(o))
	}
	return nil
}

// owners names the owners of an object, and those that are not there.
func (p *picture) owners(o metav1.Object) []string {
	var owners []string
	for _, ref := range o.GetOwnerReferences() {
		name, there := p.uids[ref.UID]
		if !there {
			name = ref.Kind + " " + ref.Name + ", which is gone"
		}
		owners = append(owners, name)
	}
	return owners
}

func going(o metav1.Object) string {
	if o.GetDeletionTimestamp() != nil {
		return ", being deleted"
	}
	return ""
}

func as(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// becomes waits until the world looks as a picture.
func (w *world) becomes(want string) {
	w.t.Helper()
	eventually(w.t, "the end", func(ctx context.Context) string {
		got := w.picture(ctx)
		return unless(got == want, "%s", difference(got, want))
	})
}

// difference are the lines that only one of two pictures has.
func difference(got, want string) string {
	var text strings.Builder
	is, shall := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, line := range is {
		if !slices.Contains(shall, line) {
			text.WriteString("\nis:    " + line)
		}
	}
	for _, line := range shall {
		if !slices.Contains(is, line) {
			text.WriteString("\nshall: " + line)
		}
	}
	return text.String() + fmt.Sprintf("\n(%d lines, shall be %d)", len(is), len(shall))
}

// bound says whether a volume and a claim are bound to each other by uid.
func bound(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) bool {
	return pv.Status.Phase == corev1.VolumeBound && pvc.Status.Phase == corev1.ClaimBound &&
		pv.Spec.ClaimRef != nil && pv.Spec.ClaimRef.UID == pvc.UID && pvc.Spec.VolumeName == pv.Name
}

package cases

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube"
)

// View is what the volumes, claims and pods of a story look like, without what
// no two clusters have in common: uids, times, and names that are made up.
type View map[string]string

func (p *player) look(ctx context.Context) (View, error) {
	objects, err := p.objects(ctx)
	if err != nil {
		return nil, err
	}
	view := View{}
	uids := map[types.UID]bool{}
	for _, c := range objects.Claims {
		uids[c.UID] = true
	}
	for _, pv := range objects.Volumes {
		tie := "open"
		if ref := pv.Spec.ClaimRef; ref != nil {
			tie = "without uid"
			if ref.UID != "" {
				tie = map[bool]string{true: "with uid", false: "with a stale uid"}[uids[ref.UID]]
			}
			tie = "for " + ref.Namespace + "/" + ref.Name + " " + tie
		}
		state := fmt.Sprintf("%s, %s%s", pv.Status.Phase, tie, going(pv))
		if strings.HasPrefix(pv.Name, "pvc-") {
			// There may be several of a claim.
			view["made volume: "+state] += "x"
			continue
		}
		view["volume "+pv.Name] = state
	}
	for _, c := range objects.Claims {
		volume := c.Spec.VolumeName
		if strings.HasPrefix(volume, "pvc-") {
			volume = "made for it"
		}
		view["claim "+c.Namespace+"/"+c.Name] = fmt.Sprintf("%s, volume %q, modes %v%s", c.Status.Phase, volume, c.Status.AccessModes, going(c))
	}
	for _, pod := range objects.Pods {
		owner := pod.Name
		if c := metav1.GetControllerOf(pod); c != nil {
			owner = "of a " + c.Kind
		}
		state := fmt.Sprintf("pod %s/%s: %s, placed %t%s", pod.Namespace, owner, pod.Status.Phase, pod.Spec.NodeName != "", going(pod))
		view[state] += "x"
	}
	return view, nil
}

func going(o metav1.Object) string {
	if o.GetDeletionTimestamp() != nil {
		return ", Terminating"
	}
	return ""
}

// objects reads the cluster, as far as it is the story's.
func (p *player) objects(ctx context.Context) (kube.Objects, error) {
	core, apps, batch, storage := p.api.CoreV1(), p.api.AppsV1(), p.api.BatchV1(), p.api.StorageV1()
	r, o := &reader{own: p.story.Own}, metav1.ListOptions{}
	volumes := map[string]bool{}
	objects := kube.Objects{
		Namespaces:   gather[*corev1.Namespace](r)(core.Namespaces().List(ctx, o)),
		Claims:       gather[*corev1.PersistentVolumeClaim](r)(core.PersistentVolumeClaims("").List(ctx, o)),
		Pods:         gather[*corev1.Pod](r)(core.Pods("").List(ctx, o)),
		Classes:      gather[*storagev1.StorageClass](r)(storage.StorageClasses().List(ctx, o)),
		StatefulSets: gather[*appsv1.StatefulSet](r)(apps.StatefulSets("").List(ctx, o)),
		Deployments:  gather[*appsv1.Deployment](r)(apps.Deployments("").List(ctx, o)),
		ReplicaSets:  gather[*appsv1.ReplicaSet](r)(apps.ReplicaSets("").List(ctx, o)),
		DaemonSets:   gather[*appsv1.DaemonSet](r)(apps.DaemonSets("").List(ctx, o)),
		Jobs:         gather[*batchv1.Job](r)(batch.Jobs("").List(ctx, o)),
		CronJobs:     gather[*batchv1.CronJob](r)(batch.CronJobs("").List(ctx, o)),
	}
	// All others know to whom they belong by their names.
	r.own = func(string) bool { return true }
	objects.Nodes = gather[*corev1.Node](r)(core.Nodes().List(ctx, o))
	for _, pv := range gather[*corev1.PersistentVolume](r)(core.PersistentVolumes().List(ctx, o)) {
		if ref := pv.Spec.ClaimRef; p.story.Own(pv.Name) || ref != nil && p.story.Own(ref.Namespace) {
			objects.Volumes = append(objects.Volumes, pv)
			volumes[pv.Name] = true
		}
	}
	for _, a := range gather[*storagev1.VolumeAttachment](r)(storage.VolumeAttachments().List(ctx, o)) {
		if name := a.Spec.Source.PersistentVolumeName; name != nil && volumes[*name] {
			objects.Attachments = append(objects.Attachments, a)
		}
	}
	return objects, r.err
}

// reader gathers lists, and keeps the first error.
type reader struct {
	own func(string) bool
	err error
}

// gather makes a slice of a list. What is in a namespace belongs to whom that
// belongs to.
func gather[T metav1.Object](r *reader) func(runtime.Object, error) []T {
	return func(list runtime.Object, err error) []T {
		var found []T
		if err == nil {
			err = meta.EachListItem(list, func(item runtime.Object) error {
				if o, ok := item.(T); ok && r.own(cmp.Or(o.GetNamespace(), o.GetName())) {
					found = append(found, o)
				}
				return nil
			})
		}
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("look at the cluster: %w", err)
		}
		return found
	}
}

// snapshot is what the one who looks sees of the story's objects.
func (p *player) snapshot(ctx context.Context) (*kube.Snapshot, error) {
	if len(p.story.Head.Unread) > 0 {
		return p.narrow(ctx)
	}
	objects, err := p.objects(ctx)
	if err != nil {
		return nil, err
	}
	snap := kube.NewSnapshot(objects)
	version, err := p.api.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("ask for the server's version: %w", err)
	}
	snap.Link.Version = version.GitVersion
	return snap, nil
}

// narrow is the snapshot of somebody who may not read everything.
func (p *player) narrow(ctx context.Context) (*kube.Snapshot, error) {
	client, err := kube.Connect(kube.Config{ClientConfig: direct(p.story.forbidding(p.world.Config())), AllNamespaces: true})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, feedTimeout)
	defer cancel()
	feed := client.Watch(ctx)
	defer feed.Wait()
	defer cancel()
	for {
		snap, err := feed.Next(ctx)
		if err != nil {
			return nil, fmt.Errorf("wait for the feed: %w", err)
		}
		if !slices.ContainsFunc(watched(), func(r kube.Resource) bool {
			phase := snap.Resources[r].Phase
			return phase != kube.Synced && phase != kube.Forbidden
		}) {
			return snap, nil
		}
	}
}

// watched is all that a feed reads.
func watched() []kube.Resource {
	return []kube.Resource{
		kube.PersistentVolumes, kube.PersistentVolumeClaims, kube.StorageClasses, kube.Nodes, kube.Namespaces, kube.VolumeAttachments,
		kube.Pods, kube.StatefulSets, kube.Deployments, kube.ReplicaSets, kube.DaemonSets, kube.Jobs, kube.CronJobs,
	}
}

// feedTimeout is far more than a feed takes to read a small cluster.
const feedTimeout = time.Minute

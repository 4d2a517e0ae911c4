package migration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

const daemonSetManifest = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

// clumsy is a user who may do all that an operation needs but to delete claims.
const clumsy = "clumsy"

// TestRefusals begins operations that must not be carried out: a check says
// why, and nothing is written.
func TestRefusals(t *testing.T) {
	t.Parallel()
	claim := []string{claimManifest}
	deployment := append(slices.Clone(claim), deploymentManifest)
	for _, tc := range []struct {
		name      string
		manifests []string
		user      string
		// prepare makes the world one in which the operation must not begin.
		prepare func(w *world)
		request func(w *world, v actions.Ref) migration.Request
		// check is the one that blocks, and says what its text says.
		check, says string
	}{
		{
			name: "two pods on one claim", manifests: deployment, request: singlePod,
			prepare: (*world).addSecondPod, check: "several-pods", says: "2 pods use claim",
		},
		{
			name: "two replicas", manifests: deployment, request: singlePod,
			prepare: (*world).twoReplicas, check: "replicas", says: "2 replicas",
		},
		{
			name: "DaemonSet", manifests: append(slices.Clone(claim), daemonSetManifest), request: singlePod,
			prepare: (*world).waitDaemons, check: "daemonset", says: "DaemonSet",
		},
		{
			name: "Deployment of an operator", manifests: deployment, request: singlePod,
			prepare: (*world).giveToOperator, check: "operator", says: "ConfigMap",
		},
		{
			name: "volume being deleted", manifests: claim, request: singlePod,
			prepare: (*world).deleteVolume, check: "volume-terminating", says: "is being deleted",
		},
		{
			name: "ReadWriteMany", manifests: []string{strings.ReplaceAll(claimManifest, "ReadWriteOnce", "ReadWriteMany")},
			request: singlePod, check: "modes-unsupported", says: "ReadWriteMany",
		},
		{
			name: "no right to delete claims", manifests: claim, request: singlePod, user: clumsy,
			prepare: (*world).grantAllButDelete, check: "right", says: "delete persistentvolumeclaims",
		},
		{
			name: "no room in the quota", manifests: claim, request: move,
			prepare: (*world).addQuota, check: "quota", says: "no room",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			k := kind{name: tc.name, policy: corev1.PersistentVolumeReclaimDelete, manifests: tc.manifests, claims: []string{"data"}, request: tc.request}
			if len(tc.manifests) > 1 && tc.manifests[1] == deploymentManifest {
				k.scaled, k.pods = migration.DeploymentKind, 1
			}
			w := newWorld(t, k)
			if tc.prepare != nil {
				tc.prepare(w)
			}
			w.isRefused(tc.user, tc.check, tc.says)
		})
	}
}

// isRefused begins the operation, and checks that nobody has written anything
// meanwhile. Where a controller has, it is done again.
func (w *world) isRefused(user, check, says string) {
	w.t.Helper()
	e := w.begin()
	if user != "" {
		var err error
		if e.Kubeconfig, err = shared.cp.Kubeconfig(user); err != nil {
			w.t.Fatal(err)
		}
	}
	eventually(w.t, "a refusal while nobody else writes", func(context.Context) string {
		before, line := w.versions(), &wire{}
		r, err := w.carryOut(e, line)
		if err != nil || r.Outcome != refused || line.writes() > 0 {
			w.t.Fatalf("%d writes: %+v: %v", line.writes(), r, err)
		}
		if !slices.ContainsFunc(strings.Split(r.Reason, "\n"), func(line string) bool {
			return strings.HasPrefix(line, check+": ") && strings.Contains(line, says)
		}) {
			w.t.Fatalf("no check %q says %q:\n%s", check, says, r.Reason)
		}
		return unless(w.versions() == before, "somebody has written meanwhile")
	})
	w.t.Logf("refused by %q", check)
}

// versions are those of all that the operation could have written to.
func (w *world) versions() string {
	w.t.Helper()
	var all []string
	note := func(o metav1.Object) { all = append(all, fmt.Sprintf("%s %s", o.GetUID(), o.GetResourceVersion())) }
	ctx := w.t.Context()
	for _, pv := range w.volumes {
		o, err := shared.api.CoreV1().PersistentVolumes().Get(ctx, pv.Name, metav1.GetOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		note(o)
	}
	for _, ns := range []string{w.ns, w.elsewhere} {
		claims, err := shared.api.CoreV1().PersistentVolumeClaims(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range claims.Items {
			note(&o)
		}
		deployments, err := shared.api.AppsV1().Deployments(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range deployments.Items {
			note(&o)
		}
		pods, err := shared.api.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, o := range pods.Items {
			note(&o)
		}
	}
	return strings.Join(all, "\n")
}

// addSecondPod makes another pod that uses the claim.
func (w *world) addSecondPod() {
	pods := shared.api.CoreV1().Pods(w.ns)
	_, err := pods.Create(w.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "second"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "example.test/none"}},
			Volumes: []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the second pod", func(ctx context.Context) string {
		pod, err := pods.Get(ctx, "second", metav1.GetOptions{})
		return unless(err == nil && pod.Status.Phase == corev1.PodRunning, "not running: %v", err)
	})
}

func (w *world) twoReplicas() {
	_, err := shared.api.AppsV1().Deployments(w.ns).Patch(w.t.Context(), deploymentName, mergePatch, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) waitDaemons() {
	eventually(w.t, "the DaemonSet", func(ctx context.Context) string {
		set, err := shared.api.AppsV1().DaemonSets(w.ns).Get(ctx, "agent", metav1.GetOptions{})
		return unless(err == nil && set.Status.NumberReady == 2, "not ready on both nodes: %v", err)
	})
}

// giveToOperator gives the Deployment an owner, which lives and is none of
// those that Kubernetes has. What kind that is does not matter to the garbage
// collector.
func (w *world) giveToOperator() {
	owner, err := shared.api.CoreV1().ConfigMaps(w.ns).Create(w.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "operator"}}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the owner", func(ctx context.Context) string {
		d, err := shared.api.AppsV1().Deployments(w.ns).Get(ctx, deploymentName, metav1.GetOptions{})
		if err == nil {
			d.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true)}}
			_, err = shared.api.AppsV1().Deployments(w.ns).Update(ctx, d, metav1.UpdateOptions{})
		}
		return unless(err == nil, "not written: %v", err)
	})
}

// deleteVolume deletes a volume that is bound, and stays until it is not.
func (w *world) deleteVolume() {
	if err := shared.api.CoreV1().PersistentVolumes().Delete(w.t.Context(), w.volumes[0].Name, metav1.DeleteOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// addQuota allows no claim where this one is to go. No controller looks after
// quotas here; what it would write is written by hand.
func (w *world) addQuota() {
	quotas := shared.api.CoreV1().ResourceQuotas(w.elsewhere)
	none := corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: resource.MustParse("0")}
	q, err := quotas.Create(w.t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	q.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if _, err := quotas.UpdateStatus(w.t.Context(), q, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// grantAllButDelete gives rights, and waits until they count.
func (w *world) grantAllButDelete() {
	read := []string{"get", "list", "watch"}
	revoke, err := shared.cp.Grant(w.t.Context(), clumsy, "",
		rbacv1.PolicyRule{APIGroups: []string{"", appsv1.GroupName, "batch", "storage.k8s.io", "autoscaling"}, Resources: []string{"*"}, Verbs: read},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"persistentvolumes"}, Verbs: []string{"patch"}},
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, Verbs: []string{"create"}},
	)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = revoke(context.WithoutCancel(w.t.Context())) })
	api, err := kubernetes.NewForConfig(shared.cp.Config(clumsy))
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the rights", func(ctx context.Context) string {
		review, err := api.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: w.ns, Verb: "create", Resource: "persistentvolumeclaims",
			}},
		}, metav1.CreateOptions{})
		return unless(err == nil && review.Status.Allowed, "they do not count: %v", err)
	})
}

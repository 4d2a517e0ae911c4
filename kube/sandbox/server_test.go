package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

func TestCreateDropsStatusAndAdmits(t *testing.T) {
	_, client := serve(t, ServerOptions{},
		aClass("old", 3*time.Hour, "storageclass.kubernetes.io/is-default-class"),
		aClass("new", time.Hour, "storageclass.beta.kubernetes.io/is-default-class"),
		aClass("other", 0, ""))
	ctx := t.Context()
	volume, err := client.CoreV1().PersistentVolumes().Create(ctx, aVolume("v", func(o *corev1.PersistentVolume) {
		o.Status.Phase, o.UID = corev1.VolumeBound, "mine"
	}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if volume.Status.Phase != corev1.VolumePending || volume.Status.LastPhaseTransitionTime == nil || volume.UID == "mine" || volume.UID == "" ||
		volume.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimRetain || fmt.Sprint(volume.Finalizers) != "[kubernetes.io/pv-protection]" {
		t.Errorf("volume: %+v", volume)
	}
	dry, err := client.CoreV1().PersistentVolumeClaims("db").Create(ctx, aClaim("c"), metav1.CreateOptions{DryRun: []string{"All"}})
	if err != nil {
		t.Fatal(err)
	}
	if dry.ResourceVersion != "" || dry.UID == "" || *dry.Spec.StorageClassName != "new" || fmt.Sprint(dry.Finalizers) != "[kubernetes.io/pvc-protection]" {
		t.Errorf("dry run: %+v", dry)
	}
	made, err := client.CoreV1().PersistentVolumeClaims("db").Create(ctx, aClaim("", func(o *corev1.PersistentVolumeClaim) {
		o.GenerateName = "data-"
		o.Spec.StorageClassName = new("")
	}), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(made.Name, "data-") || len(made.Name) != len("data-")+5 || *made.Spec.StorageClassName != "" || made.ResourceVersion == "" {
		t.Errorf("claim: %+v", made)
	}
	list, err := client.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d claims, %v: a dry run was stored", len(list.Items), err)
	}
}

func TestStatusSubresource(t *testing.T) {
	server, client := serve(t, ServerOptions{})
	ctx := t.Context()
	volume, err := client.CoreV1().PersistentVolumes().Create(ctx, aVolume("v"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	server.Apply(func(s *State) *State { return s.WithNow(start().Add(time.Hour)) })
	volume.Status.Phase = corev1.VolumeAvailable
	volume.Spec.StorageClassName = "ignored"
	volume, err = client.CoreV1().PersistentVolumes().UpdateStatus(ctx, volume, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if volume.Spec.StorageClassName != "" || volume.Status.Phase != corev1.VolumeAvailable ||
		!volume.Status.LastPhaseTransitionTime.Time.Equal(start().Add(time.Hour)) {
		t.Errorf("after a status update: %+v", volume)
	}
	volume.Status.Phase = corev1.VolumeFailed
	volume.Labels = map[string]string{"a": "b"}
	volume, err = client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{})
	if err != nil || volume.Status.Phase != corev1.VolumeAvailable || volume.Labels["a"] != "b" {
		t.Errorf("after an update: %+v, %v", volume, err)
	}
	again, err := client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{})
	if err != nil || again.ResourceVersion != volume.ResourceVersion {
		t.Errorf("an update that changes nothing: version %s, was %s, %v", again.ResourceVersion, volume.ResourceVersion, err)
	}
}

func TestDelete(t *testing.T) {
	held := aVolume("held", func(o *corev1.PersistentVolume) { o.Finalizers = []string{"kubernetes.io/pv-protection"} })
	server, client := serve(t, ServerOptions{}, held, aVolume("free"), aSet("db"), aPod("p"))
	ctx := t.Context()
	volumes, pods := client.CoreV1().PersistentVolumes(), client.CoreV1().Pods("db")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(volumes.Delete(ctx, "free", metav1.DeleteOptions{DryRun: []string{"All"}}))
	if server.State().Volume("free") == nil {
		t.Fatal("a dry run deleted it")
	}
	must(volumes.Delete(ctx, "free", metav1.DeleteOptions{}))
	if server.State().Volume("free") != nil {
		t.Error("still there")
	}
	must(volumes.Delete(ctx, "held", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(server.State().Volume("held").UID))}))
	if v := server.State().Volume("held"); v == nil || v.DeletionTimestamp == nil {
		t.Fatalf("not held: %+v", v)
	}
	must(volumes.Delete(ctx, "held", metav1.DeleteOptions{}))
	_, err := volumes.Patch(ctx, "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	must(err)
	if server.State().Volume("held") != nil {
		t.Error("outlived its last finalizer")
	}

	must(pods.Delete(ctx, "p", metav1.DeleteOptions{}))
	if p := server.State().Pod("db", "p"); p == nil || *p.DeletionGracePeriodSeconds != 30 || !p.DeletionTimestamp.Time.Equal(start().Add(30*time.Second)) {
		t.Fatalf("not graceful: %+v", p)
	}
	must(pods.Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: new(int64(5))}))
	if p := server.State().Pod("db", "p"); *p.DeletionGracePeriodSeconds != 5 {
		t.Errorf("not hurried: %+v", p)
	}
	must(pods.Delete(ctx, "p", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	if server.State().Pod("db", "p") != nil {
		t.Error("the pod is still there")
	}

	for policy, finalizer := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationOrphan: "orphan", metav1.DeletePropagationForeground: "foregroundDeletion",
	} {
		must(client.AppsV1().StatefulSets("db").Delete(ctx, "db", metav1.DeleteOptions{PropagationPolicy: &policy}))
		o := server.State().StatefulSet("db", "db")
		if o == nil || o.DeletionTimestamp == nil || fmt.Sprint(o.Finalizers) != "["+finalizer+"]" || o.Generation != 2 {
			t.Fatalf("%s: %+v", policy, o)
		}
		server.Apply(func(s *State) *State { return s.Remove(KeyOf(o)).Load(aSet("db")) })
	}
	must(client.AppsV1().StatefulSets("db").Delete(ctx, "db", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}))
	if server.State().StatefulSet("db", "db") != nil {
		t.Error("the set is still there")
	}
	must(client.CoreV1().Namespaces().Delete(ctx, "db", metav1.DeleteOptions{}))
	if ns := server.State().Namespace("db"); ns == nil || ns.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("the namespace: %+v", ns)
	}
}

func TestScale(t *testing.T) {
	server, client := serve(t, ServerOptions{}, aSet("db"))
	ctx := t.Context()
	sets := client.AppsV1().StatefulSets("db")
	scale, err := sets.GetScale(ctx, "db", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 2 || scale.Status.Selector != "app=db" {
		t.Fatalf("%+v, %v", scale, err)
	}
	scale.Spec.Replicas = 0
	dry, err := sets.UpdateScale(ctx, "db", scale, metav1.UpdateOptions{DryRun: []string{"All"}})
	if err != nil || dry.Spec.Replicas != 0 || dry.ResourceVersion != scale.ResourceVersion || *server.State().StatefulSet("db", "db").Spec.Replicas != 2 {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	if _, err := sets.UpdateScale(ctx, "db", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if o := server.State().StatefulSet("db", "db"); *o.Spec.Replicas != 0 || o.Generation != 2 {
		t.Errorf("%+v", o)
	}
	_, err = sets.UpdateScale(ctx, "db", scale, metav1.UpdateOptions{})
	refusal{409, metav1.StatusReasonConflict, staleText}.check(t, err)
	answer := client.AppsV1().RESTClient().Patch(types.MergePatchType).Resource("statefulsets").Namespace("db").Name("db").SubResource("scale").
		Body([]byte(`{"spec":{"replicas":3}}`)).Do(ctx)
	if err := answer.Error(); err != nil || *server.State().StatefulSet("db", "db").Spec.Replicas != 3 {
		t.Errorf("patch: %v", err)
	}
}

func TestListSelectsAndPages(t *testing.T) {
	objects := []Object{}
	for i := range 7 {
		objects = append(objects, aVolume(fmt.Sprintf("v%d", i), func(o *corev1.PersistentVolume) { o.Labels = map[string]string{"odd": fmt.Sprint(i % 2)} }))
	}
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "e", Namespace: "db"},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: "p", Namespace: "db", UID: "u"},
	}
	_, client := serve(t, ServerOptions{}, append(objects, event, aPod("p"), aPod("q"))...)
	ctx := t.Context()
	var names []string
	options := metav1.ListOptions{Limit: 3}
	for {
		page, err := client.CoreV1().PersistentVolumes().List(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Items {
			names = append(names, page.Items[i].Name)
		}
		if options.Continue = page.Continue; page.Continue == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "v0 v1 v2 v3 v4 v5 v6" {
		t.Errorf("pages: %s", got)
	}
	odd, err := client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{LabelSelector: "odd=1"})
	if err != nil || len(odd.Items) != 3 {
		t.Errorf("odd: %d, %v", len(odd.Items), err)
	}
	for selector, want := range map[string]int{"spec.nodeName=n1": 2, "spec.nodeName=n2": 0, "metadata.name=p": 1, "metadata.namespace!=db": 0} {
		if pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: selector}); err != nil || len(pods.Items) != want {
			t.Errorf("%s: %d, %v", selector, len(pods.Items), err)
		}
	}
	for selector, want := range map[string]int{"involvedObject.kind=Pod,involvedObject.name=p,involvedObject.uid=u": 1, "involvedObject.name=q": 0} {
		if events, err := client.CoreV1().Events("db").List(ctx, metav1.ListOptions{FieldSelector: selector}); err != nil || len(events.Items) != want {
			t.Errorf("%s: %d, %v", selector, len(events.Items), err)
		}
	}
}

func TestQuota(t *testing.T) {
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q", Namespace: "db"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.storage": resource.MustParse("2Gi"), "persistentvolumeclaims": resource.MustParse("5")}},
	}
	_, client := serve(t, ServerOptions{}, quota, aClaim("one"))
	create := func(name, size string) error {
		_, err := client.CoreV1().PersistentVolumeClaims("db").Create(t.Context(), aClaim(name, func(o *corev1.PersistentVolumeClaim) {
			o.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
		}), metav1.CreateOptions{})
		return err
	}
	refusal{403, metav1.StatusReasonForbidden, `persistentvolumeclaims "two" is forbidden: exceeded quota: q, requested: requests.storage=2Gi, used: requests.storage=1Gi, limited: requests.storage=2Gi`}.check(t, create("two", "2Gi"))
	if err := create("two", "1Gi"); err != nil {
		t.Error(err)
	}
}

func TestLimitRange(t *testing.T) {
	bounds := func(size string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	}
	limits := &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Name: "sizes", Namespace: "db"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Min: bounds("1Ti")},
			{Type: corev1.LimitTypePersistentVolumeClaim, Min: bounds("2Gi"), Max: bounds("4Gi")},
		}},
	}
	// The claims were there before it.
	held := func(o *corev1.PersistentVolumeClaim) { o.DeletionTimestamp = new(metav1.Now()) }
	_, client := serve(t, ServerOptions{}, limits, aClaim("old"), aClaim("going", held))
	claims := client.CoreV1().PersistentVolumeClaims("db")
	create := func(size string) error {
		_, err := claims.Create(t.Context(), aClaim("new", func(o *corev1.PersistentVolumeClaim) { o.Spec.Resources.Requests = bounds(size) }), metav1.CreateOptions{})
		return err
	}
	label := func(name string) error {
		_, err := claims.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		return err
	}
	refused := func(err error, name, text string) {
		t.Helper()
		refusal{403, metav1.StatusReasonForbidden, `persistentvolumeclaims "` + name + `" is forbidden: ` + text}.check(t, err)
	}
	refused(create("2047Mi"), "new", "minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 2047Mi")
	refused(create("4097Mi"), "new", "maximum storage usage per PersistentVolumeClaim is 4Gi, but request is 4097Mi")
	refused(label("old"), "old", "minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi")
	if err := label("going"); err != nil {
		t.Error(err)
	}
	if err := create("2Gi"); err != nil {
		t.Error(err)
	}
}

func TestAccess(t *testing.T) {
	rule := func(namespace, group, resource string, verbs ...string) Rule {
		return Rule{namespace, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs}}
	}
	server, _ := serve(t, ServerOptions{Access: map[string][]Rule{
		"dev": {rule("db", "", "persistentvolumeclaims", "get", "list"), rule("db", "apps", "statefulsets/scale", "*")},
	}}, aSet("db"), aClaim("c"))
	ctx := t.Context()
	dev := clientFor(t, server.RESTConfig("dev"))
	if _, err := dev.CoreV1().PersistentVolumeClaims("db").List(ctx, metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := dev.AppsV1().StatefulSets("db").GetScale(ctx, "db", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	forbidden := func(text string) refusal { return refusal{403, metav1.StatusReasonForbidden, text} }
	_, err := dev.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	forbidden(`persistentvolumes is forbidden: User "dev" cannot list resource "persistentvolumes" in API group "" at the cluster scope`).check(t, err)
	_, err = dev.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	forbidden(`persistentvolumeclaims is forbidden: User "dev" cannot list resource "persistentvolumeclaims" in API group "" at the cluster scope`).check(t, err)
	err = dev.CoreV1().PersistentVolumeClaims("db").Delete(ctx, "c", metav1.DeleteOptions{DryRun: []string{"All"}})
	forbidden(`persistentvolumeclaims "c" is forbidden: User "dev" cannot delete resource "persistentvolumeclaims" in API group "" in the namespace "db"`).check(t, err)
	_, err = dev.CoreV1().PersistentVolumes().Watch(ctx, metav1.ListOptions{})
	forbidden(`cannot watch resource "persistentvolumes"`).check(t, err)
	_, err = clientFor(t, server.RESTConfig("stranger")).CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	refusal{401, metav1.StatusReasonUnauthorized, "Unauthorized"}.check(t, err)

	for _, q := range []struct {
		attributes authorizationv1.ResourceAttributes
		want       bool
	}{
		{authorizationv1.ResourceAttributes{Verb: "list", Resource: "persistentvolumeclaims", Namespace: "db"}, true},
		{authorizationv1.ResourceAttributes{Verb: "list", Resource: "persistentvolumeclaims"}, false},
		{authorizationv1.ResourceAttributes{Verb: "patch", Group: "apps", Resource: "statefulsets", Subresource: "scale", Namespace: "db"}, true},
		{authorizationv1.ResourceAttributes{Verb: "patch", Group: "apps", Resource: "statefulsets", Namespace: "db"}, false},
	} {
		review, err := dev.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &q.attributes},
		}, metav1.CreateOptions{})
		if err != nil || review.Status.Allowed != q.want {
			t.Errorf("%+v: %+v, %v", q.attributes, review, err)
		}
	}
}

func TestDiscoveryAndHealth(t *testing.T) {
	server, client := serve(t, ServerOptions{})
	version, err := client.Discovery().ServerVersion()
	if err != nil || version.GitVersion != modelled {
		t.Errorf("%v, %v", version, err)
	}
	_, lists, err := client.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, list := range lists {
		for _, r := range list.APIResources {
			found[list.GroupVersion+" "+r.Name] = true
		}
	}
	for _, want := range []string{"v1 persistentvolumes/status", "apps/v1 statefulsets/scale", "storage.k8s.io/v1 storageclasses", "autoscaling/v2 horizontalpodautoscalers"} {
		if !found[want] {
			t.Errorf("%s was not discovered", want)
		}
	}
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		body, err := client.Discovery().RESTClient().Get().AbsPath(path).DoRaw(t.Context())
		if err != nil || string(body) != "ok" {
			t.Errorf("%s: %s, %v", path, body, err)
		}
	}
	answer, err := (&http.Client{Transport: transport{server}}).Do(mustRequest(t, "http://sandbox/openapi/v3"))
	if err != nil || answer.StatusCode != http.StatusNotFound {
		t.Fatalf("%v, %v", answer, err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestConcurrentWriters: with optimistic concurrency no update is lost.
func TestConcurrentWriters(t *testing.T) {
	server, client := serve(t, ServerOptions{}, aVolume("v"))
	const writers, each = 8, 10
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				err := retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
					for {
						o, err := client.CoreV1().PersistentVolumes().Get(t.Context(), "v", metav1.GetOptions{})
						if err != nil {
							return err
						}
						if o.Annotations == nil {
							o.Annotations = map[string]string{}
						}
						o.Annotations[fmt.Sprintf("w%d-%d", w, i)] = "done"
						if _, err = client.CoreV1().PersistentVolumes().Update(t.Context(), o, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
							return err
						}
					}
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := len(server.State().Volume("v").Annotations); n != writers*each {
		t.Errorf("%d of %d writes are there", n, writers*each)
	}
}

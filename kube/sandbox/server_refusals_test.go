package sandbox

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// refusal is what an error has to say.
type refusal struct {
	code   int32
	reason metav1.StatusReason
	text   string
}

func (r refusal) check(t *testing.T, err error) {
	t.Helper()
	status := apierrors.APIStatus(nil)
	if err == nil {
		t.Fatalf("accepted, want %d %s", r.code, r.reason)
	}
	if !asStatus(err, &status) {
		t.Fatalf("no status: %v", err)
	}
	got := status.Status()
	if got.Code != r.code || got.Reason != r.reason || !strings.Contains(got.Message, r.text) {
		t.Errorf("got %d %s %q, want %d %s %q", got.Code, got.Reason, got.Message, r.code, r.reason, r.text)
	}
}

func asStatus(err error, into *apierrors.APIStatus) bool {
	return errors.As(err, into)
}

// refused is an act, and what it is refused with.
type refused struct {
	act  func(context.Context, kubernetes.Interface) error
	want refusal
}

// refusals are acts on a server that holds refusalObjects.
func refusals() map[string]refused {
	set := func(mode ...corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode { return mode }
	merge := func(name, patch string) func(context.Context, kubernetes.Interface) error {
		return func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		}
	}
	mergeClaim := func(name, patch string) func(context.Context, kubernetes.Interface) error {
		return func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumeClaims("db").Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		}
	}
	mergeSet := func(patch string) func(context.Context, kubernetes.Interface) error {
		return func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.AppsV1().StatefulSets("db").Patch(ctx, "db", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			return err
		}
	}
	createVolume := func(change func(*corev1.PersistentVolume)) func(context.Context, kubernetes.Interface) error {
		return func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Create(ctx, aVolume("new", change), metav1.CreateOptions{})
			return err
		}
	}
	createClaim := func(change func(*corev1.PersistentVolumeClaim)) func(context.Context, kubernetes.Interface) error {
		return func(ctx context.Context, c kubernetes.Interface) error {
			o := aClaim("new", change)
			_, err := c.CoreV1().PersistentVolumeClaims(o.Namespace).Create(ctx, o, metav1.CreateOptions{})
			return err
		}
	}
	invalid, conflict := metav1.StatusReasonInvalid, metav1.StatusReasonConflict
	return map[string]refused{
		"get nothing": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Get(ctx, "none", metav1.GetOptions{})
			return err
		}, refusal{404, metav1.StatusReasonNotFound, `persistentvolumes "none" not found`}},
		"name is taken": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Create(ctx, aVolume("vol"), metav1.CreateOptions{DryRun: []string{"All"}})
			return err
		}, refusal{409, metav1.StatusReasonAlreadyExists, `persistentvolumes "vol" already exists`}},
		"name is being deleted": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Create(ctx, aVolume("going"), metav1.CreateOptions{})
			return err
		}, refusal{409, metav1.StatusReasonAlreadyExists, `object is being deleted: persistentvolumes "going" already exists`}},
		"stale version":    {merge("vol", `{"metadata":{"resourceVersion":"1"},"spec":{"claimRef":null}}`), refusal{409, conflict, staleText}},
		"other uid":        {merge("vol", `{"metadata":{"uid":"other"}}`), refusal{422, invalid, `metadata.uid: Invalid value: "other": field is immutable`}},
		"unknown policy":   {merge("vol", `{"spec":{"persistentVolumeReclaimPolicy":"Keep"}}`), refusal{422, invalid, `Unsupported value: "Keep"`}},
		"not JSON":         {merge("vol", `{"spec":`), refusal{400, metav1.StatusReasonBadRequest, ""}},
		"wrong type":       {merge("vol", `{"spec":{"accessModes":7}}`), refusal{422, invalid, "patch: Invalid value"}},
		"source":           {merge("vol", `{"spec":{"csi":{"volumeHandle":"x"}}}`), refusal{422, invalid, "spec.persistentvolumesource is immutable after creation"}},
		"volume mode":      {merge("vol", `{"spec":{"volumeMode":"Block"}}`), refusal{422, invalid, "field is immutable"}},
		"no access modes":  {merge("vol", `{"spec":{"accessModes":[]}}`), refusal{422, invalid, "spec.accessModes: Required value"}},
		"RWOP with others": {merge("vol", `{"spec":{"accessModes":["ReadWriteOncePod","ReadWriteOnce"]}}`), refusal{422, invalid, "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"}},
		"new finalizer on a dying object": {
			merge("going", `{"metadata":{"finalizers":["kubernetes.io/pv-protection","a.b/c"]}}`),
			refusal{422, invalid, "no new finalizers can be added if the object is being deleted"},
		},
		"volume without capacity": {createVolume(func(o *corev1.PersistentVolume) { o.Spec.Capacity = nil }), refusal{422, invalid, "spec.capacity: Required value"}},
		"volume without source": {
			createVolume(func(o *corev1.PersistentVolume) { o.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{} }),
			refusal{422, invalid, "must specify a volume type"},
		},
		"volume with a bad name": {createVolume(func(o *corev1.PersistentVolume) { o.Name = "Bad_Name" }), refusal{422, invalid, "metadata.name: Invalid value"}},
		"claim without modes":    {createClaim(func(o *corev1.PersistentVolumeClaim) { o.Spec.AccessModes = nil }), refusal{422, invalid, "at least 1 access mode is required"}},
		"claim RWOP with others": {
			createClaim(func(o *corev1.PersistentVolumeClaim) {
				o.Spec.AccessModes = set(corev1.ReadWriteOncePod, corev1.ReadWriteOnce)
			}), refusal{422, invalid, "may not use ReadWriteOncePod with other access modes"},
		},
		"claim of nothing": {
			createClaim(func(o *corev1.PersistentVolumeClaim) {
				o.Spec.Resources.Requests[corev1.ResourceStorage] = resource.Quantity{}
			}),
			refusal{422, invalid, "must be greater than zero"},
		},
		"claim in no namespace": {createClaim(func(o *corev1.PersistentVolumeClaim) { o.Namespace = "none" }), refusal{404, metav1.StatusReasonNotFound, `namespaces "none" not found`}},
		"claim in a dying namespace": {
			createClaim(func(o *corev1.PersistentVolumeClaim) { o.Namespace = "dying" }),
			refusal{403, metav1.StatusReasonForbidden, `persistentvolumeclaims "new" is forbidden: unable to create new content in namespace dying because it is being terminated`},
		},
		"claim modes":           {mergeClaim("claim", `{"spec":{"accessModes":["ReadWriteOncePod"]}}`), refusal{422, invalid, "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"}},
		"claim volume again":    {mergeClaim("claim", `{"spec":{"volumeName":"other"}}`), refusal{422, invalid, "spec is immutable after creation"}},
		"claim volume taken":    {mergeClaim("claim", `{"spec":{"volumeName":null}}`), refusal{422, invalid, "spec is immutable after creation"}},
		"grow a pending claim":  {mergeClaim("pending", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`), refusal{422, invalid, "spec is immutable after creation"}},
		"shrink":                {mergeClaim("claim", `{"spec":{"resources":{"requests":{"storage":"1Mi"}}}}`), refusal{422, invalid, "field can not be less than status.capacity"}},
		"grow without a class":  {mergeClaim("claim", `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`), refusal{403, metav1.StatusReasonForbidden, "only dynamically provisioned pvc can be resized"}},
		"change the class":      {mergeClaim("classed", `{"spec":{"storageClassName":"other"}}`), refusal{422, invalid, "spec is immutable after creation"}},
		"set templates":         {mergeSet(`{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"x"},"spec":{"accessModes":["ReadWriteOncePod"],"resources":{"requests":{"storage":"1Gi"}}}}]}}`), refusal{422, invalid, "spec.volumeClaimTemplates: Invalid value"}},
		"set service":           {mergeSet(`{"spec":{"serviceName":"other"}}`), refusal{422, invalid, "spec.serviceName: Invalid value: \"other\": field is immutable"}},
		"set policy":            {mergeSet(`{"spec":{"podManagementPolicy":"Parallel"}}`), refusal{422, invalid, "field is immutable"}},
		"set selector":          {mergeSet(`{"spec":{"selector":{"matchLabels":{"a":"b"}}}}`), refusal{422, invalid, "`selector` does not match template `labels`"}},
		"set replicas negative": {mergeSet(`{"spec":{"replicas":-1}}`), refusal{422, invalid, "must be greater than or equal to 0"}},
		"JSON test": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Patch(ctx, "vol", types.JSONPatchType,
				[]byte(`[{"op":"test","path":"/status/phase","value":"Bound"}]`), metav1.PatchOptions{})
			return err
		}, refusal{422, invalid, "the server rejected our request due to an error in our request"}},
		"JSON remove of nothing": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Patch(ctx, "vol", types.JSONPatchType,
				[]byte(`[{"op":"remove","path":"/spec/claimRef"}]`), metav1.PatchOptions{})
			return err
		}, refusal{422, invalid, "the server rejected our request due to an error in our request"}},
		"JSON stale version": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Patch(ctx, "vol", types.JSONPatchType,
				[]byte(`[{"op":"replace","path":"/metadata/resourceVersion","value":"1"}]`), metav1.PatchOptions{})
			return err
		}, refusal{409, conflict, staleText}},
		"server-side apply": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Patch(ctx, "vol", types.ApplyPatchType, []byte(`{}`), metav1.PatchOptions{FieldManager: "x"})
			return err
		}, refusal{415, metav1.StatusReasonUnsupportedMediaType, ""}},
		"strict patch": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Patch(ctx, "vol", types.MergePatchType, []byte(`{"spec":{"colour":"red"}}`),
				metav1.PatchOptions{FieldValidation: "Strict"})
			return err
		}, refusal{422, invalid, `strict decoding error: unknown field "spec.colour"`}},
		"put stale": {func(ctx context.Context, c kubernetes.Interface) error {
			o := aVolume("vol")
			o.ResourceVersion = "1"
			_, err := c.CoreV1().PersistentVolumes().Update(ctx, o, metav1.UpdateOptions{})
			return err
		}, refusal{409, conflict, `Operation cannot be fulfilled on persistentvolumes "vol": the object has been modified`}},
		"put other uid": {func(ctx context.Context, c kubernetes.Interface) error {
			o := aVolume("vol")
			o.UID = "other"
			_, err := c.CoreV1().PersistentVolumes().Update(ctx, o, metav1.UpdateOptions{})
			return err
		}, refusal{409, conflict, "Precondition failed: UID in precondition: other"}},
		"put nothing": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Update(ctx, aVolume("none"), metav1.UpdateOptions{})
			return err
		}, refusal{404, metav1.StatusReasonNotFound, `persistentvolumes "none" not found`}},
		"delete other uid": {func(ctx context.Context, c kubernetes.Interface) error {
			return c.CoreV1().PersistentVolumes().Delete(ctx, "vol", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")})
		}, refusal{409, conflict, `the UID in the precondition (other) does not match`}},
		"delete stale": {func(ctx context.Context, c kubernetes.Interface) error {
			return c.CoreV1().PersistentVolumes().Delete(ctx, "vol", metav1.DeleteOptions{
				Preconditions: &metav1.Preconditions{ResourceVersion: new("1")}, DryRun: []string{"All"},
			})
		}, refusal{409, conflict, `the ResourceVersion in the precondition (1) does not match`}},
		"delete with a bad policy": {func(ctx context.Context, c kubernetes.Interface) error {
			return c.CoreV1().PersistentVolumes().Delete(ctx, "vol", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletionPropagation("Never"))})
		}, refusal{422, invalid, "propagationPolicy"}},
		"delete the default namespace": {func(ctx context.Context, c kubernetes.Interface) error {
			return c.CoreV1().Namespaces().Delete(ctx, "default", metav1.DeleteOptions{})
		}, refusal{403, metav1.StatusReasonForbidden, "this namespace may not be deleted"}},
		"dry run of something": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().Create(ctx, aVolume("x"), metav1.CreateOptions{DryRun: []string{"Some"}})
			return err
		}, refusal{422, invalid, "dryRun"}},
		"scale below zero": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.AppsV1().StatefulSets("db").Patch(ctx, "db", types.MergePatchType, []byte(`{"spec":{"replicas":-1}}`), metav1.PatchOptions{}, "scale")
			return err
		}, refusal{422, invalid, `Scale.autoscaling "db" is invalid: spec.replicas`}},
		"scale stale": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.AppsV1().StatefulSets("db").Patch(ctx, "db", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1"},"spec":{"replicas":0}}`), metav1.PatchOptions{}, "scale")
			return err
		}, refusal{409, conflict, staleText}},
		"scale other uid": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.AppsV1().StatefulSets("db").Patch(ctx, "db", types.MergePatchType, []byte(`{"metadata":{"uid":"other"},"spec":{"replicas":0}}`), metav1.PatchOptions{}, "scale")
			return err
		}, refusal{409, conflict, "Precondition failed"}},
		"pod spec": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().Pods("db").Patch(ctx, "p", types.StrategicMergePatchType, []byte(`{"spec":{"nodeName":"n2"}}`), metav1.PatchOptions{})
			return err
		}, refusal{422, invalid, "pod updates may not change fields other than"}},
		"class provisioner": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.StorageV1().StorageClasses().Patch(ctx, "slow", types.MergePatchType, []byte(`{"provisioner":"x"}`), metav1.PatchOptions{})
			return err
		}, refusal{422, invalid, "provisioner: Invalid value"}},
		"no such resource": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().Secrets("db").List(ctx, metav1.ListOptions{})
			return err
		}, refusal{404, metav1.StatusReasonNotFound, "the server could not find the requested resource"}},
		"delete many": {func(ctx context.Context, c kubernetes.Interface) error {
			return c.CoreV1().PersistentVolumes().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		}, refusal{405, metav1.StatusReasonMethodNotAllowed, ""}},
		"list by an unknown field": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{FieldSelector: "spec.colour=red"})
			return err
		}, refusal{400, metav1.StatusReasonBadRequest, `"spec.colour" is not a known field selector: only "metadata.name", "metadata.namespace"`}},
		"list in the future": {func(ctx context.Context, c kubernetes.Interface) error {
			_, err := c.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{ResourceVersion: "99999"})
			return err
		}, refusal{504, metav1.StatusReasonTimeout, "Too large resource version"}},
	}
}

// refusalObjects are what the refusals are about.
func refusalObjects() []Object {
	dying := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "dying"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}
	bound := aClaim("claim", func(o *corev1.PersistentVolumeClaim) {
		o.Spec.VolumeName, o.Status.Phase = "vol", corev1.ClaimBound
		o.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	})
	classed := aClaim("classed", func(o *corev1.PersistentVolumeClaim) { o.Spec.StorageClassName = new("slow") })
	objects := []Object{dying, aVolume("vol"), bound, aClaim("pending"), classed, aSet("db"), aPod("p"), aClass("slow", 0, "")}
	for _, o := range objects {
		setDefaults(o)
	}
	going := aVolume("going", func(o *corev1.PersistentVolume) {
		o.Finalizers = []string{"kubernetes.io/pv-protection"}
		o.DeletionTimestamp, o.DeletionGracePeriodSeconds = new(metav1.NewTime(start())), new(int64(0))
	})
	return append(objects, going)
}

func TestRefusals(t *testing.T) {
	for name, test := range refusals() {
		t.Run(name, func(t *testing.T) {
			server, client := serve(t, ServerOptions{}, refusalObjects()...)
			before := server.State()
			test.want.check(t, test.act(t.Context(), client))
			if server.State() != before {
				t.Error("something was written")
			}
		})
	}
}

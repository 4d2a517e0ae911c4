package sandbox

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// drawPatch is a patch of a volume as a client might send it, which need not
// be sound.
func drawPatch(t *rapid.T) (types.PatchType, []byte) {
	var body any
	kind := rapid.SampledFrom([]types.PatchType{types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType}).Draw(t, "kind")
	if kind == types.JSONPatchType {
		body = rapid.SliceOfN(rapid.SampledFrom([]map[string]any{
			{"op": "test", "path": "/status/phase", "value": "Released"},
			{"op": "test", "path": "/status/phase", "value": "Bound"},
			{"op": "remove", "path": "/spec/claimRef"},
			{"op": "remove", "path": "/spec/claimRef/uid"},
			{"op": "replace", "path": "/spec/accessModes", "value": []string{"ReadWriteOncePod"}},
			{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"},
			{"op": "add", "path": "/metadata/labels", "value": map[string]string{"a": "b"}},
			{"op": "replace", "path": "/spec/persistentVolumeReclaimPolicy", "value": "Retain"},
		}), 1, 4).Draw(t, "operations")
	} else {
		spec, meta := map[string]any{}, map[string]any{}
		for _, part := range rapid.SliceOf(rapid.SampledFrom([]map[string]any{
			{"claimRef": nil},
			{"claimRef": map[string]any{"uid": nil, "resourceVersion": nil}},
			{"claimRef": map[string]any{"name": "other", "namespace": "db", "uid": nil}},
			{"accessModes": []string{"ReadWriteOncePod"}},
			{"accessModes": []string{"ReadWriteOncePod", "ReadWriteMany"}},
			{"persistentVolumeReclaimPolicy": "Retain"},
			{"storageClassName": "slow"},
			{"volumeMode": "Block"},
			{"capacity": map[string]any{"storage": "0"}},
		})).Draw(t, "spec") {
			maps.Copy(spec, part)
		}
		for _, part := range rapid.SliceOf(rapid.SampledFrom([]map[string]any{
			{"annotations": map[string]any{"pv.kubernetes.io/bound-by-controller": nil}},
			{"labels": map[string]any{"x": "y"}},
			{"finalizers": nil},
			{"uid": "other"},
			{"resourceVersion": "1"},
		})).Draw(t, "metadata") {
			maps.Copy(meta, part)
		}
		body = map[string]any{"spec": spec, "metadata": meta}
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return kind, data
}

// TestDryRunIsTheRealThing: whatever is patched, a dry run gives the object, or
// the refusal, that the same request gives afterwards, and stores nothing.
func TestDryRunIsTheRealThing(t *testing.T) {
	old := aVolume("v", func(o *corev1.PersistentVolume) {
		o.Annotations = map[string]string{"pv.kubernetes.io/bound-by-controller": "yes"}
		o.Finalizers = []string{"kubernetes.io/pv-protection"}
		o.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "db", Name: "c", UID: "u", ResourceVersion: "7"}
		o.Status.Phase = corev1.VolumeReleased
	})
	server, client := serve(t, ServerOptions{})
	volumes := client.CoreV1().PersistentVolumes()
	rapid.Check(t, func(rt *rapid.T) {
		server.Apply(func(s *State) *State { return s.Remove(KeyOf(old)).Create(old) })
		kind, data := drawPatch(rt)
		before := server.State()
		was := before.Volume("v").ResourceVersion
		dry, dryErr := volumes.Patch(t.Context(), "v", kind, data, metav1.PatchOptions{DryRun: []string{"All"}, FieldValidation: "Strict"})
		if server.State() != before {
			rt.Fatalf("%s: a dry run was stored", data)
		}
		after, err := volumes.Patch(t.Context(), "v", kind, data, metav1.PatchOptions{FieldValidation: "Strict"})
		if (err == nil) != (dryErr == nil) || (err != nil && err.Error() != dryErr.Error()) {
			rt.Fatalf("%s: dry run %v, real %v", data, dryErr, err)
		}
		if err != nil {
			return
		}
		if dry.ResourceVersion != was {
			rt.Fatalf("the dry run moved the version from %s to %s", was, dry.ResourceVersion)
		}
		dry.ResourceVersion = after.ResourceVersion
		if diff := cmp.Diff(dry, after); diff != "" {
			rt.Fatalf("%s: dry run and real differ:\n%s", data, diff)
		}
		stored, err := volumes.Get(t.Context(), "v", metav1.GetOptions{})
		if err != nil || cmp.Diff(stored, after) != "" {
			rt.Fatalf("%s: what is stored is not what was answered: %v", data, err)
		}
	})
}

package sandbox

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The tests of this file are for rules that were first seen on a real control
// plane: the differential tests compare them on each run.

func TestCreateWithAVersion(t *testing.T) {
	_, client := serve(t, ServerOptions{}, aClaim("taken"))
	claims := client.CoreV1().PersistentVolumeClaims("db")
	saved := func(name string) *corev1.PersistentVolumeClaim {
		return aClaim(name, func(o *corev1.PersistentVolumeClaim) { o.ResourceVersion = "5" })
	}
	refused := refusal{http.StatusInternalServerError, "", "resourceVersion should not be set on objects to be created"}
	for _, name := range []string{"new", "taken"} {
		_, err := claims.Create(t.Context(), saved(name), metav1.CreateOptions{})
		refused.check(t, err)
	}
	dry, err := claims.Create(t.Context(), saved("new"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || dry.ResourceVersion != "5" {
		t.Errorf("dry run: %q, %v", dry.ResourceVersion, err)
	}
	_, err = claims.Create(t.Context(), saved("taken"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	refusal{http.StatusConflict, metav1.StatusReasonAlreadyExists, "taken"}.check(t, err)
}

func TestCreateKeepsAGenerationThatNobodyCounts(t *testing.T) {
	_, client := serve(t, ServerOptions{})
	claim, err := client.CoreV1().PersistentVolumeClaims("db").Create(t.Context(), aClaim("saved", func(o *corev1.PersistentVolumeClaim) {
		o.Generation = 7
		o.SetSelfLink("/old")
	}), metav1.CreateOptions{})
	if err != nil || claim.Generation != 7 || claim.GetSelfLink() != "" {
		t.Errorf("generation %d, selfLink %q, %v", claim.Generation, claim.GetSelfLink(), err)
	}
}

func TestHostPathsThatAreNotTaken(t *testing.T) {
	_, client := serve(t, ServerOptions{})
	for path, wanted := range map[string]string{
		"":        "spec.hostPath.path: Required value",
		"/a/../b": "must not contain '..'",
		"//":      "may not be 'recycle' for a hostPath mount of '/'",
	} {
		_, err := client.CoreV1().PersistentVolumes().Create(t.Context(), aVolume("v", func(o *corev1.PersistentVolume) {
			o.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRecycle
			o.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}
		}), metav1.CreateOptions{})
		refusal{http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, wanted}.check(t, err)
	}
}

func TestPatchIsParsedFirst(t *testing.T) {
	_, client := serve(t, ServerOptions{})
	_, err := client.CoreV1().PersistentVolumes().Patch(t.Context(), "none", types.MergePatchType, []byte("{"), metav1.PatchOptions{})
	refusal{http.StatusBadRequest, metav1.StatusReasonBadRequest, "invalid JSON patch"}.check(t, err)
}

func TestDeletedPodIsMarkedBeforeItGoes(t *testing.T) {
	ended := aPod("ended")
	ended.Status.Phase = corev1.PodSucceeded
	s := NewState(start()).Create(ended)
	gone := s.Delete(KeyOf(ended), metav1.DeleteOptions{})
	changes := gone.Since(s.Version())
	if len(changes) != 2 || changes[0].After == nil || changes[0].After.GetDeletionTimestamp() == nil || changes[1].After != nil {
		t.Fatalf("changes: %+v", changes)
	}
	if g := changes[1].Before.GetDeletionGracePeriodSeconds(); g == nil || *g != 0 {
		t.Errorf("it went with a grace period of %v", g)
	}
}

func TestGenerationOfABoundPod(t *testing.T) {
	pod := aPod("p")
	pod.Spec.NodeName = ""
	s := NewState(start()).Create(pod)
	before := s.Pod("db", "p").Generation
	bound := edited(s.Pod("db", "p"), func(p *corev1.Pod) { p.Spec.NodeName = "n1" })
	s = s.Update(bound)
	if now := s.Pod("db", "p").Generation; now != before {
		t.Errorf("a node made generation %d of %d", now, before)
	}
	s = s.Update(edited(s.Pod("db", "p"), func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = new(int64(1)) }))
	if now := s.Pod("db", "p").Generation; now != before+1 {
		t.Errorf("a change made generation %d of %d", now, before)
	}
}

func TestNamespacesKnowNoGrace(t *testing.T) {
	s := NewState(start()).Create(&corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec:       corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
	})
	ns := s.Delete(Key{Namespaces, "", "db"}, metav1.DeleteOptions{}).Namespace("db")
	if ns.DeletionTimestamp == nil || ns.DeletionGracePeriodSeconds != nil || ns.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("deleted: %+v", ns)
	}
}

package kube

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// heavyMeta is as much metadata as a real object drags along.
func heavyMeta(namespace, name string, annotations map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(fmt.Sprintf("%-36s", name)), ResourceVersion: nextVersion(),
		CreationTimestamp: metav1.NewTime(time.Unix(1_700_000_000, 0)),
		Annotations:       annotations,
		Finalizers:        []string{"kubernetes.io/pv-protection", "external-attacher/csi-example-com"},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "csi-provisioner", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(strings.Repeat("x", 900))},
			{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(strings.Repeat("x", 300))},
		},
	}
}

// decoded is an object as it comes off the wire, sharing nothing.
func decoded[T any, P interface {
	*T
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}](tb testing.TB, o P) P {
	data, err := o.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	fresh := P(new(T))
	if err := fresh.Unmarshal(data); err != nil {
		tb.Fatal(err)
	}
	return fresh
}

func heavyPair(tb testing.TB, i int) (*corev1.PersistentVolume, *corev1.PersistentVolumeClaim) {
	namespace, claim, volume := fmt.Sprintf("team-%d", i%200), fmt.Sprintf("data-db%d-%d", i/3, i%3), fmt.Sprintf("pvc-%032d", i)
	pv := newVolume(volume, claimedBy(namespace, claim, types.UID(fmt.Sprintf("%-36s", claim))))
	pv.ObjectMeta = heavyMeta("", volume, map[string]string{"pv.kubernetes.io/provisioned-by": "csi.example.com"})
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(int64(1+i%20)<<30, resource.BinarySI)}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{
		Driver: "csi.example.com", VolumeHandle: fmt.Sprintf("vol-%017d", i), FSType: "ext4",
		VolumeAttributes: map[string]string{"storage.kubernetes.io/csiProvisionerIdentity": "1700000000000-8081-csi.example.com"},
	}
	pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "topology.kubernetes.io/zone", Operator: "In", Values: []string{fmt.Sprint("zone-", i%3)}}},
	}}}}
	pvc := newClaim(namespace, claim, boundTo(volume))
	pvc.ObjectMeta = heavyMeta(namespace, claim, map[string]string{
		"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes",
		"volume.kubernetes.io/storage-provisioner": "csi.example.com", "volume.kubernetes.io/selected-node": fmt.Sprint("node-", i%100),
	})
	pvc.Labels = map[string]string{"app": fmt.Sprint("db", i/3)}
	pvc.Spec.Resources.Requests = pv.Spec.Capacity
	pvc.Status.Capacity, pvc.Status.AccessModes = pv.Spec.Capacity, pv.Spec.AccessModes
	return decoded(tb, pv), decoded(tb, pvc)
}

// fill puts the smaller of the two loads of the design into a join.
func fill(tb testing.TB, j *join) {
	const volumes, claims, pods = 20_000, 18_000, 10_000
	trim := newTrimmer()
	pvs := delivery{replaced: true, state: ResourceState{Phase: Synced}, changes: make(map[string]any)}
	pvcs, running := pvs, pvs
	pvcs.changes, running.changes = make(map[string]any), make(map[string]any)
	for i := range volumes {
		pv, pvc := heavyPair(tb, i)
		pvs.changes[pv.Name] = trim.trim(pv)
		if i < claims {
			pvcs.changes[objectKey(pvc.Namespace, pvc.Name)] = trim.trim(pvc)
		}
		if i < pods {
			pod := newPod(pvc.Namespace, fmt.Sprintf("db%d-%d", i/3, i%3), controlledBy("StatefulSet", fmt.Sprint("db", i/3)), pvc.Name)
			running.changes[objectKey(pod.Namespace, pod.Name)] = trim.trim(decoded(tb, pod))
		}
	}
	j.apply(PersistentVolumes, pvs)
	j.apply(PersistentVolumeClaims, pvcs)
	j.apply(Pods, running)
	j.rebuild()
}

// TestMemory holds the join to a part of the memory budget: what is left is
// for the runtime, the client and the screen.
func TestMemory(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	j := newJoin()
	fill(t, j)
	used := (heap() - before) >> 20
	t.Logf("%d MB for %d volumes, %d claims, %d pods", used, len(j.volumeList), len(j.claimList), len(j.pods))
	if used > 70 {
		t.Errorf("the join holds %d MB", used)
	}
	runtime.KeepAlive(j)
}

// BenchmarkOneChange is what one event costs in a big cluster.
func BenchmarkOneChange(b *testing.B) {
	j := newJoin()
	fill(b, j)
	trim := newTrimmer()
	for b.Loop() {
		b.StopTimer()
		pv, _ := heavyPair(b, 5000)
		d := delivery{changes: map[string]any{pv.Name: trim.trim(pv)}, state: ResourceState{Phase: Synced}}
		b.StartTimer()
		j.apply(PersistentVolumes, d)
		j.rebuild()
		j.snapshot()
	}
}

// BenchmarkTrim is what each object costs on its way in.
func BenchmarkTrim(b *testing.B) {
	trim := newTrimmer()
	for b.Loop() {
		b.StopTimer()
		pv, pvc := heavyPair(b, 5000)
		b.StartTimer()
		trim.trim(pv)
		trim.trim(pvc)
	}
}

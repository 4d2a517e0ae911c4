package kube

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
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

// heavyNode is as much as a node says of itself.
func heavyNode(tb testing.TB, i int) *corev1.Node {
	name := fmt.Sprintf("node-%d", i)
	node := newNode(name)
	node.ObjectMeta = heavyMeta("", name, map[string]string{"csi.volume.kubernetes.io/nodeid": `{"csi.example.com":"` + name + `"}`})
	node.Labels = map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprint("zone-", i%3), "example.com/serial": fmt.Sprintf("%032d", i)}
	for label := range 12 {
		node.Labels[fmt.Sprint("example.com/feature-", label)] = "true"
	}
	for image := range 50 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprintf("registry.example.com/%0100d", image)}, SizeBytes: 1 << 30})
	}
	return decoded(tb, node)
}

func heavyAttachment(tb testing.TB, i int) *storagev1.VolumeAttachment {
	name := fmt.Sprintf("csi-%064d", i)
	a := newAttachment(name, fmt.Sprintf("pvc-%032d", i), fmt.Sprint("node-", i%1000))
	a.ObjectMeta = heavyMeta("", name, map[string]string{"csi.alpha.kubernetes.io/node-id": fmt.Sprint("node-", i%1000)})
	return decoded(tb, a)
}

// fill puts the smaller of the two loads of the design into a join.
func fill(tb testing.TB, j *join) {
	const volumes, claims, pods, nodes = 20_000, 18_000, 10_000, 1_000
	trim := newTrimmer()
	pvs := delivery{replaced: true, state: ResourceState{Phase: Synced}, changes: make(map[string]any)}
	pvcs, running, attached, machines := pvs, pvs, pvs, pvs
	pvcs.changes, running.changes = make(map[string]any), make(map[string]any)
	attached.changes, machines.changes = make(map[string]any), make(map[string]any)
	for i := range volumes {
		pv, pvc := heavyPair(tb, i)
		pvs.changes[pv.Name] = trim.trim(pv)
		if i < claims {
			pvcs.changes[objectKey(pvc.Namespace, pvc.Name)] = trim.trim(pvc)
		}
		if i < pods {
			pod := newPod(pvc.Namespace, fmt.Sprintf("db%d-%d", i/3, i%3), controlledBy("StatefulSet", fmt.Sprint("db", i/3)), pvc.Name)
			running.changes[objectKey(pod.Namespace, pod.Name)] = trim.trim(decoded(tb, pod))
			a := heavyAttachment(tb, i)
			attached.changes[a.Name] = trim.trim(a)
		}
		if i < nodes {
			node := heavyNode(tb, i)
			machines.changes[node.Name] = trim.trim(node)
		}
	}
	j.apply(PersistentVolumes, pvs)
	j.apply(PersistentVolumeClaims, pvcs)
	j.apply(Pods, running)
	j.apply(VolumeAttachments, attached)
	j.apply(Nodes, machines)
	j.rebuild()
}

// TestMemory holds the join to a part of the memory budget: what is left is
// for the runtime, the client and the screen.
func TestMemory(t *testing.T) {
	before := heap()
	j := newJoin()
	fill(t, j)
	used := (heap() - before) >> 20
	t.Logf("%d MB for %d volumes, %d claims, %d pods, %d nodes, %d attachments",
		used, len(j.volumeList), len(j.claimList), len(j.pods), len(j.nodes.list), len(j.attachments))
	if used > 70 {
		t.Errorf("the join holds %d MB", used)
	}
	runtime.KeepAlive(j)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestNeighboursAreSmall holds a node and an attachment to a small part of
// what they weigh on the wire, which is several kilobytes.
func TestNeighboursAreSmall(t *testing.T) {
	const many = 2000
	for name, tt := range map[string]struct {
		resource Resource
		object   func(i int) apiObject
		most     uint64
	}{
		"node":       {Nodes, func(i int) apiObject { return heavyNode(t, i) }, 2500},
		"attachment": {VolumeAttachments, func(i int) apiObject { return heavyAttachment(t, i) }, 1000},
	} {
		trim, j := newTrimmer(), newJoin()
		before := heap()
		d := delivery{replaced: true, state: ResourceState{Phase: Synced}, changes: make(map[string]any)}
		for i := range many {
			o := tt.object(i)
			d.changes[strings.Clone(o.GetName())] = trim.trim(o)
		}
		j.apply(tt.resource, d)
		j.rebuild()
		d.changes = nil
		each := (heap() - before) / many
		t.Logf("%d bytes for each %s", each, name)
		if each > tt.most {
			t.Errorf("each %s takes %d bytes", name, each)
		}
		runtime.KeepAlive(j)
	}
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

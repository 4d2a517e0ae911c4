package kube

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// model is a small cluster whose objects come and go at random. A handful of
// names makes them meet.
type model struct {
	trim    trimmer
	join    *join
	objects map[Resource]map[string]apiObject
}

func newModel() *model {
	m := &model{trim: newTrimmer(), join: newJoin(), objects: make(map[Resource]map[string]apiObject)}
	for _, s := range []Resource{PersistentVolumes, PersistentVolumeClaims, StorageClasses, Nodes, Namespaces, VolumeAttachments, Pods, StatefulSets, Deployments, ReplicaSets, DaemonSets, Jobs, CronJobs} {
		m.objects[s] = make(map[string]apiObject)
		m.join.apply(s, delivery{replaced: true, state: ResourceState{Phase: Synced}})
	}
	return m
}

func pick(t *rapid.T, label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }

func drawUID(t *rapid.T, name string) types.UID {
	return types.UID(name + pick(t, "generation", "-1", "-2"))
}

// draw makes a random object of a resource.
func draw(t *rapid.T, resourceName Resource) apiObject {
	ns := pick(t, "namespace", "a", "b")
	switch resourceName {
	case PersistentVolumes:
		pv := newVolume(pick(t, "volume", "pv-1", "pv-2", "pv-3"))
		pv.UID = drawUID(t, pv.Name)
		pv.Spec.StorageClassName = pick(t, "class", "slow", "fast", "")
		pv.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse(pick(t, "size", "1Gi", "2Gi"))
		pv.Status.Phase = corev1.PersistentVolumePhase(pick(t, "phase", "Available", "Bound", "Released"))
		if rapid.Bool().Draw(t, "claimed") {
			name := drawClaimName(t)
			uid := types.UID("")
			if rapid.Bool().Draw(t, "with uid") {
				uid = drawUID(t, name)
			}
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: ns, Name: name, UID: uid}
		}
		return pv
	case PersistentVolumeClaims:
		pvc := newClaim(ns, drawClaimName(t))
		pvc.UID = drawUID(t, pvc.Name)
		pvc.Spec.VolumeName = pick(t, "volume name", "", "pv-1", "pv-2", "pv-3")
		pvc.Status.Phase = corev1.PersistentVolumeClaimPhase(pick(t, "phase", "Pending", "Bound", "Lost"))
		return pvc
	case StorageClasses:
		return newClass(pick(t, "class", "slow", "fast"), rapid.Bool().Draw(t, "default"))
	case Nodes:
		node := newNode(pick(t, "node", "n-1", "n-2"))
		node.UID = drawUID(t, node.Name)
		node.Labels[corev1.LabelTopologyZone] = pick(t, "zone", "zone-1", "zone-2")
		node.Status.Conditions[0].Status = corev1.ConditionStatus(pick(t, "ready", "True", "False", "Unknown"))
		return node
	case Namespaces:
		namespace := newNamespace(ns)
		namespace.Status.Phase = corev1.NamespacePhase(pick(t, "namespace phase", "Active", "Terminating"))
		return namespace
	case VolumeAttachments:
		a := newAttachment(pick(t, "attachment", "csi-1", "csi-2", "csi-3"), pick(t, "volume", "pv-1", "pv-2", "pv-3"), pick(t, "node", "n-1", "n-2"))
		a.Status.Attached = rapid.Bool().Draw(t, "attached")
		if rapid.Bool().Draw(t, "inline") {
			a.Spec.Source = storagev1.VolumeAttachmentSource{InlineVolumeSpec: &corev1.PersistentVolumeSpec{}}
		}
		return a
	case Pods:
		var owner *metav1.OwnerReference
		switch pick(t, "owner", "none", "ReplicaSet", "StatefulSet", "Cluster") {
		case "ReplicaSet":
			owner = controlledBy("ReplicaSet", pick(t, "set", "web-1", "web-2"))
		case "StatefulSet":
			owner = controlledBy("StatefulSet", "db")
		case "Cluster":
			owner = controlledBy("Cluster", "pg")
		}
		if owner != nil {
			owner.UID = uidIn(ns, owner.Name)
		}
		claims := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"data-db-0", "data-db-1", "web"}), 0, 2, rapid.ID).Draw(t, "claims")
		pod := newPod(ns, pick(t, "pod", "p-1", "p-2", "p-3"), owner, claims...)
		pod.Status.Phase = corev1.PodPhase(pick(t, "pod phase", "Running", "Pending"))
		return pod
	case ReplicaSets:
		rs := &appsv1.ReplicaSet{ObjectMeta: named(ns, pick(t, "set", "web-1", "web-2")), Spec: appsv1.ReplicaSetSpec{Template: template(drawTemplate(t)...)}}
		rs.UID = uidIn(ns, rs.Name)
		if rapid.Bool().Draw(t, "owned") {
			rs.OwnerReferences = []metav1.OwnerReference{*controlledBy("Deployment", "web")}
			rs.OwnerReferences[0].UID = uidIn(ns, "web")
		}
		return rs
	case Deployments:
		replicas := rapid.Int32Range(0, 2).Draw(t, "replicas")
		d := &appsv1.Deployment{ObjectMeta: named(ns, "web"), Spec: appsv1.DeploymentSpec{Replicas: &replicas, Template: template(drawTemplate(t)...)}}
		d.UID = uidIn(ns, d.Name)
		return d
	default:
		set := &appsv1.StatefulSet{ObjectMeta: named(ns, "db")}
		if name := pick(t, "template", "data", "log", "none"); name != "none" {
			set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: name}}}
		}
		set.UID = uidIn(ns, set.Name)
		return set
	}
}

// uidIn is the uid of the one workload of a name in a namespace.
func uidIn(namespace, name string) types.UID { return types.UID("uid-" + namespace + "-" + name) }

func drawClaimName(t *rapid.T) string { return pick(t, "claim", "data-db-0", "data-db-1", "web") }

// drawTemplate draws the claims of a pod template, of which there may be none.
func drawTemplate(t *rapid.T) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"web", "other"}), 0, 1, rapid.ID).Draw(t, "template's claims")
}

// change makes one random change, to the join and to the objects.
func (m *model) change(t *rapid.T) {
	resourceName := rapid.SampledFrom([]Resource{
		PersistentVolumes, PersistentVolumes, PersistentVolumeClaims, PersistentVolumeClaims, Pods, Pods,
		StorageClasses, ReplicaSets, Deployments, StatefulSets, VolumeAttachments, VolumeAttachments, Nodes, Namespaces,
	}).Draw(t, "resource")
	have := m.objects[resourceName]
	switch pick(t, "change", "put", "put", "put", "delete", "replace", "again") {
	case "put":
		o := draw(t, resourceName)
		key := objectKey(o.GetNamespace(), o.GetName())
		have[key] = o
		m.deliver(resourceName, map[string]any{key: m.trim.trim(o.DeepCopyObject())}, false)
	case "delete":
		keys := sortedKeys(have)
		if len(keys) == 0 {
			return
		}
		key := rapid.SampledFrom(keys).Draw(t, "key")
		delete(have, key)
		m.deliver(resourceName, map[string]any{key: nil}, false)
	case "replace":
		clear(have)
		all := make(map[string]any)
		for range rapid.IntRange(0, 3).Draw(t, "number") {
			o := draw(t, resourceName)
			key := objectKey(o.GetNamespace(), o.GetName())
			have[key] = o
			all[key] = m.trim.trim(o.DeepCopyObject())
		}
		m.deliver(resourceName, all, true)
	case "again":
		// A list after an outage repeats what is known already.
		all := make(map[string]any)
		for key, o := range have {
			all[key] = m.trim.trim(o.DeepCopyObject())
		}
		m.deliver(resourceName, all, true)
	}
}

func (m *model) deliver(r Resource, changes map[string]any, replaced bool) {
	m.join.apply(r, delivery{changes: changes, replaced: replaced, state: ResourceState{Phase: Synced}})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func typed[T apiObject](objects map[string]apiObject) []T {
	var all []T
	for _, key := range sortedKeys(objects) {
		all = append(all, objects[key].(T))
	}
	return all
}

func (m *model) fromScratch() *Snapshot {
	return NewSnapshot(Objects{
		Volumes:      typed[*corev1.PersistentVolume](m.objects[PersistentVolumes]),
		Claims:       typed[*corev1.PersistentVolumeClaim](m.objects[PersistentVolumeClaims]),
		Classes:      typed[*storagev1.StorageClass](m.objects[StorageClasses]),
		Nodes:        typed[*corev1.Node](m.objects[Nodes]),
		Namespaces:   typed[*corev1.Namespace](m.objects[Namespaces]),
		Attachments:  typed[*storagev1.VolumeAttachment](m.objects[VolumeAttachments]),
		Pods:         typed[*corev1.Pod](m.objects[Pods]),
		StatefulSets: typed[*appsv1.StatefulSet](m.objects[StatefulSets]),
		Deployments:  typed[*appsv1.Deployment](m.objects[Deployments]),
		ReplicaSets:  typed[*appsv1.ReplicaSet](m.objects[ReplicaSets]),
	})
}

// TestIncrementalEqualsFromScratch: whatever happens in whatever order, the
// records are those that a fresh join of the same objects makes; those that
// did not change are the same pointers, and old snapshots stay as they were.
func TestIncrementalEqualsFromScratch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel()
		m.join.rebuild()
		before := m.join.snapshot()
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			frozen := fmt.Sprintf("%+v", dump(before))
			for range rapid.IntRange(1, 4).Draw(t, "changes") {
				m.change(t)
			}
			changed := m.join.rebuild()
			after := m.join.snapshot()
			want := m.fromScratch()
			if diff := cmp.Diff(dump(want), dump(after)); diff != "" {
				t.Fatalf("incremental differs from scratch (-scratch +incremental):\n%s", diff)
			}
			if again := fmt.Sprintf("%+v", dump(before)); again != frozen {
				t.Fatalf("an older snapshot has changed\nfrom %s\nto   %s", frozen, again)
			}
			if !changed && cmp.Diff(dump(before), dump(after)) != "" {
				t.Fatal("something changed, but rebuild says that nothing did")
			}
			samePointers(t, before, after)
			usersPointToWorkloads(t, after)
			before = after
		}
	})
}

// dumped is a snapshot without pointers.
type dumped struct {
	Volumes []Volume
	Claims  []Claim
	Classes []Class

	Nodes      []Node
	Namespaces []Namespace
	Workloads  []Workload
}

func dump(s *Snapshot) dumped {
	var d dumped
	for _, v := range s.Volumes {
		d.Volumes = append(d.Volumes, *v)
	}
	for _, c := range s.Claims {
		d.Claims = append(d.Claims, *c)
	}
	for _, c := range s.Classes {
		d.Classes = append(d.Classes, *c)
	}
	for _, n := range s.Nodes {
		d.Nodes = append(d.Nodes, *n)
	}
	for _, n := range s.Namespaces {
		d.Namespaces = append(d.Namespaces, *n)
	}
	for _, w := range s.Workloads {
		d.Workloads = append(d.Workloads, *w)
	}
	return d
}

// samePointers fails when a record was made anew although nothing in it has
// changed.
func samePointers(t *rapid.T, before, after *Snapshot) {
	for _, v := range after.Volumes {
		if old := before.Volume(v.Object.Name); old != nil && old != v && cmp.Equal(old, v) {
			t.Fatalf("volume %s was made anew for nothing", v.Object.Name)
		}
	}
	for _, c := range after.Claims {
		if old := before.Claim(c.Object.Namespace, c.Object.Name); old != nil && old != c && cmp.Equal(old, c) {
			t.Fatalf("claim %s was made anew for nothing", c.Object.Name)
		}
	}
	for _, c := range after.Classes {
		if old := before.Class(c.Object.Name); old != nil && old != c && cmp.Equal(old, c) {
			t.Fatalf("class %s was made anew for nothing", c.Object.Name)
		}
	}
	for _, n := range after.Nodes {
		if old := before.Node(n.Name); old != nil && old != n && cmp.Equal(old, n) {
			t.Fatalf("node %s was made anew for nothing", n.Name)
		}
	}
	for _, n := range after.Namespaces {
		if old := before.Namespace(n.Name); old != nil && old != n && cmp.Equal(old, n) {
			t.Fatalf("namespace %s was made anew for nothing", n.Name)
		}
	}
	for _, w := range after.Workloads {
		if old := before.Workload(w.Kind, w.Namespace, w.Name); old != nil && old != w && cmp.Equal(old, w) {
			t.Fatalf("%s %s was made anew for nothing", w.Kind, w.Name)
		}
	}
}

// usersPointToWorkloads fails when a user's workload is not the very record
// that the snapshot lists.
func usersPointToWorkloads(t *rapid.T, s *Snapshot) {
	for _, c := range s.Claims {
		for _, u := range c.Users {
			if u.Workload != nil && u.Workload != s.Workload(u.Kind, u.Namespace, u.Name) {
				t.Fatalf("%s %s, which uses claim %s, is not the listed one", u.Kind, u.Name, c.Object.Name)
			}
		}
	}
}

// An unrelated change leaves all other records alone, and slices of which
// nothing changed are the same slices.
func TestUntouchedRecordsKeepTheirPointers(t *testing.T) {
	m := newModel()
	for i := range 3 {
		name := fmt.Sprint("c", i)
		pv := newVolume(fmt.Sprint("pv", i), claimedBy("a", name, types.UID("uid-"+name)))
		m.deliver(PersistentVolumes, map[string]any{pv.Name: pv}, false)
		m.deliver(PersistentVolumeClaims, map[string]any{"a/" + name: newClaim("a", name, boundTo(pv.Name))}, false)
	}
	m.join.rebuild()
	before := m.join.snapshot()
	m.deliver(Pods, map[string]any{"a/p": m.trim.trim(newPod("a", "p", nil, "c1"))}, false)
	m.join.rebuild()
	after := m.join.snapshot()
	for i := range 3 {
		same := before.Volumes[i] == after.Volumes[i] && before.Claims[i] == after.Claims[i]
		if same != (i != 1) {
			t.Errorf("pair %d: same = %v", i, same)
		}
	}
	if len(before.Volumes[1].Users) != 0 || len(after.Volumes[1].Users) != 1 {
		t.Error("the pod did not arrive in the new snapshot only")
	}
	m.deliver(StorageClasses, map[string]any{"slow": newClass("slow", false)}, false)
	m.join.rebuild()
	if last := m.join.snapshot(); &last.Volumes[0] != &after.Volumes[0] || &last.Claims[0] != &after.Claims[0] {
		t.Error("slices were copied although nothing in them changed")
	}
	if m.join.rebuild() {
		t.Error("rebuild claims a change where there was none")
	}
}

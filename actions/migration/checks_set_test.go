package migration

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

func shopClaim(name string) actions.ClaimKey { return actions.ClaimKey{Namespace: "shop", Name: name} }

func setCases() []draftCase {
	ordinals := func(list ...int) spoil { return func(st *stage) { st.req.Ordinals = append([]int{}, list...) } }
	db := func(change func(*appsv1.StatefulSet)) spoil { return func(st *stage) { change(st.db()) } }
	keep := func(st *stage) { st.req.KeepTemplates = true }
	sibling := func(change func(*corev1.PersistentVolumeClaim)) spoil {
		return func(st *stage) { change(st.s.Claims[shopClaim("data-db-2")]) }
	}
	rwop := modes(corev1.ReadWriteOncePod)
	migrated := func(st *stage) {
		st.s.Claims[shopClaim("data-db-2")].Spec.AccessModes, st.s.Volumes["disk-2"].Spec.AccessModes = rwop, rwop
	}
	templateDone := db(func(s *appsv1.StatefulSet) { s.Spec.VolumeClaimTemplates[1].Spec.AccessModes = rwop })
	retention := func(deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType) spoil {
		return db(func(s *appsv1.StatefulSet) {
			s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: deleted, WhenScaled: scaled}
		})
	}
	const retain, remove = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	overlapping := func(change func(*stage)) spoil { return change }
	return []draftCase{
		{"not among them", set, []spoil{ordinals(0, 2)}, "ordinals", actions.Block, "ordinal 1"},
		{"none", set, []spoil{ordinals()}, "ordinals", actions.Block, "ordinal 1"},
		{"missing", set, []spoil{ordinals(1, 7)}, "ordinals", actions.Block, "data-db-7"},
		{"no set", bare, []spoil{ordinals(0)}, "ordinals", actions.Block, "no StatefulSet's"},
		{"two", set, []spoil{ordinals(2, 1, 1)}, "ordinals", none, ""},
		{"", set, []spoil{ordinals(2, 1)}, "ordinals-left", actions.Warn, "data-db-0, data-db-3"},
		{"done", set, []spoil{ordinals(0, 1, 3), migrated}, "ordinals-left", none, ""},
		{"", set, []spoil{sibling(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "" })}, "sibling-unbound", actions.Block, "data-db-2"},
		{"not chosen", set, []spoil{sibling(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "" }), ordinals(1)}, "sibling-unbound", none, ""},
		{"", set, []spoil{func(st *stage) { st.s.Volumes["disk-2"] = nil }}, "sibling-lost", actions.Block, "disk-2"},
		{"", set, []spoil{migrated}, "sibling-done", actions.Pass, "data-db-2"},
		{"half", set, []spoil{func(st *stage) { st.s.Volumes["disk-2"].Spec.AccessModes = rwop }}, "sibling-done", none, ""},
		{"other half", set, []spoil{sibling(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = rwop })}, "sibling-done", none, ""},
		{"none", set, nil, "sibling-done", none, ""},
		{"the chosen one is done", set, []spoil{func(st *stage) { st.pvc().Spec.AccessModes, st.pv().Spec.AccessModes = rwop, rwop }}, "already", actions.Block, "data-db-1"},

		{"", set, []spoil{retention(retain, remove)}, "retention", actions.Pass, "set to Retain first"},
		{"deleted", set, []spoil{retention(remove, retain)}, "retention", actions.Pass, ""},
		{"kept templates", set, []spoil{retention(remove, remove), keep}, "retention", actions.Pass, ""},
		{"kept", set, nil, "retention", none, ""},
		{"unset", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Spec.PersistentVolumeClaimRetentionPolicy = nil })}, "retention", none, ""},

		{"", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement })}, "ordered", actions.Pass, "3 pods"},
		{"by default", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Spec.PodManagementPolicy = "" })}, "ordered", actions.Pass, ""},
		{"parallel", set, nil, "ordered", none, ""},
		{"one", set, []spoil{db(func(s *appsv1.StatefulSet) { *s.Spec.Replicas, s.Spec.PodManagementPolicy = 1, "" })}, "ordered", none, ""},

		{"", set, []spoil{keep}, "templates-kept", actions.Warn, "volumeClaimTemplate data"},
		{"", set, []spoil{templateDone}, "template-done", actions.Pass, "already"},
		{"", set, nil, "set-recreated", actions.Pass, "made anew"},
		{"kept", set, []spoil{keep}, "set-recreated", none, ""},

		{"half done", set, []spoil{db(func(s *appsv1.StatefulSet) {
			s.Status.UpdateRevision, s.Spec.UpdateStrategy.RollingUpdate = "db-2", nil
		})}, "rollout", actions.Block, "half done"},
		{"partitioned", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "db-2" })}, "rollout", actions.Block, "partition 2"},
		{"not looked at", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Generation++ })}, "rollout", actions.Block, "not yet looked"},
		{"kept", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Status.UpdateRevision = "db-2" }), keep}, "rollout", none, ""},

		{"StatefulSet", set, []spoil{overlapping(func(st *stage) { st.s.StatefulSets[0].Spec.Selector = selector("db") })}, "selector-overlap", actions.Block, "StatefulSet shop/cache"},
		{"Deployment", set, []spoil{overlapping(func(st *stage) { st.s.Deployments[0].Spec.Selector = selector("db") })}, "selector-overlap", actions.Block, "Deployment shop/other"},
		{"ReplicaSet", set, []spoil{overlapping(func(st *stage) {
			st.s.ReplicaSets = append(st.s.ReplicaSets, replicaSet("db", "data-2", 1))
			st.s.ReplicaSets[0].UID = "uid-rs"
		})}, "selector-overlap", actions.Block, "ReplicaSet shop/db"},
		{"DaemonSet", set, []spoil{overlapping(func(st *stage) {
			st.s.DaemonSets = append(st.s.DaemonSets, &appsv1.DaemonSet{ObjectMeta: in("shop", "agent"), Spec: appsv1.DaemonSetSpec{Selector: selector("db")}})
		})}, "selector-overlap", actions.Block, "DaemonSet shop/agent"},
		{"unreadable", set, []spoil{overlapping(func(st *stage) {
			st.s.Deployments[0].Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "near"}}}
		})}, "selector-overlap", none, ""},
		{"elsewhere", set, []spoil{overlapping(func(st *stage) {
			st.s.Deployments[0].Spec.Selector, st.s.Deployments[0].Namespace = selector("db"), "lab"
		})}, "selector-overlap", none, ""},

		{"", set, []spoil{rename("db.prod")}, "set-name", actions.Block, "StatefulSet shop/db.prod"},
		{"kept", set, []spoil{rename("db.prod"), keep}, "set-name", none, ""},
		{"", set, []spoil{db(func(s *appsv1.StatefulSet) { s.Finalizers = []string{"hold.example.test/x"} })}, "set-finalizer", actions.Warn, "hold.example.test/x"},
	}
}

// rename gives the set, and the claims that it makes, another name.
func rename(name string) spoil {
	return func(st *stage) {
		set := st.db()
		for _, i := range []string{"0", "1", "2", "3"} {
			claim := st.s.Claims[shopClaim("data-db-"+i)]
			delete(st.s.Claims, claimKey(claim))
			claim.Name = "data-" + name + "-" + i
			st.s.Claims[claimKey(claim)] = claim
			st.s.Volumes["disk-"+i].Spec.ClaimRef.Name = claim.Name
		}
		set.Name = name
	}
}

package migration

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

func limitCases() []draftCase {
	quotas := func(q ...*corev1.ResourceQuota) spoil { return func(st *stage) { st.s.Quotas = q } }
	scoped := quota("lab", "requests.storage", "5Gi", "0")
	scoped.Spec.ScopeSelector = &corev1.ScopeSelector{}
	scopes := quota("lab", "requests.storage", "5Gi", "0")
	scopes.Spec.Scopes = []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeVolumeAttributesClass}
	roomy := quota("lab", "requests.storage", "50Gi", "0")
	roomy.Spec.ScopeSelector = &corev1.ScopeSelector{}
	unseen := quota("lab", "requests.storage", "0", "0")
	unseen.Spec.Hard, unseen.Status.Hard = corev1.ResourceList{corev1.ResourceRequestsStorage: size("5Gi")[corev1.ResourceStorage]}, nil
	ranges := func(l *corev1.LimitRange) spoil {
		return func(st *stage) { st.s.LimitRanges = []*corev1.LimitRange{l} }
	}
	open := limitRange("1Gi", "5Gi")
	open.Spec.Limits[1].Max = nil
	elsewhere := limitRange("1Gi", "5Gi")
	elsewhere.Namespace = "lab"
	trial := func(t Trial) spoil {
		return func(st *stage) {
			t.Target = actions.Ref{Kind: actions.ClaimKind, Namespace: "shop", Name: "data"}
			st.s.Trials = []Trial{t}
		}
	}
	namespace := func(name string, ns *corev1.Namespace) spoil {
		return func(st *stage) { st.s.Namespaces[name] = ns }
	}
	deleting := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}
	return []draftCase{
		{"lowered since", bare, []spoil{quotas(quota("shop", "requests.storage", "5Gi", "10Gi"))}, "quota", actions.Block, "10Gi of 5Gi"},
		{"full", bare, []spoil{quotas(quota("shop", "requests.storage", "10Gi", "10Gi"))}, "quota", none, ""},
		{"full", bare, []spoil{quotas(quota("shop", "requests.storage", "10Gi", "10Gi"))}, "quota-tight", actions.Warn, "no longer counted"},
		{"room for one of four", set, []spoil{quotas(quota("shop", "requests.storage", "50Gi", "40Gi"))}, "quota-tight", none, ""},
		{"room for none of four", set, []spoil{quotas(quota("shop", "requests.storage", "45Gi", "40Gi"))}, "quota-tight", actions.Warn, ""},
		{"the largest of four", set, []spoil{quotas(quota("shop", "requests.storage", "65Gi", "50Gi")), func(st *stage) {
			c := st.s.Claims[shopClaim("data-db-0")]
			st.s.Volumes["disk-0"].Spec.Capacity, c.Status.Capacity, c.Spec.Resources.Requests = size("20Gi"), size("20Gi"), size("20Gi")
		}}, "quota-tight", actions.Warn, ""},
		{"overdrawn by others", bare, []spoil{quotas(quota("shop", "pods", "1", "2"))}, "quota", none, ""},
		{"number", bare, []spoil{quotas(quota("shop", "persistentvolumeclaims", "2", "3"))}, "quota", actions.Block, "3 of 2"},
		{"objects", moving, []spoil{quotas(quota("lab", "count/persistentvolumeclaims", "2", "2"))}, "quota", actions.Block, "3 of 2"},
		{"class", moving, []spoil{quotas(quota("lab", "fast.storageclass.storage.k8s.io/requests.storage", "15Gi", "10Gi"))}, "quota", actions.Block, "20Gi of 15Gi"},
		{"number of class", moving, []spoil{quotas(quota("lab", "fast.storageclass.storage.k8s.io/persistentvolumeclaims", "0", "0"))}, "quota", actions.Block, "1 of 0"},
		{"other class", moving, []spoil{quotas(quota("lab", "slow.storageclass.storage.k8s.io/requests.storage", "0", "0"))}, "quota", none, ""},
		{"of where it leaves", moving, []spoil{quotas(quota("shop", "requests.storage", "0", "10Gi"))}, "quota", none, ""},
		{"of where it goes", moving, []spoil{quotas(quota("lab", "requests.storage", "15Gi", "10Gi"))}, "quota", actions.Block, "20Gi of 15Gi"},
		{"not yet counted", moving, []spoil{quotas(unseen)}, "quota", actions.Block, "10Gi of 5Gi"},
		{"recreated", missing, []spoil{quotas(quota("shop", "requests.storage", "15Gi", "10Gi"))}, "quota", actions.Block, "20Gi of 15Gi"},
		{"scoped", moving, []spoil{quotas(scoped)}, "quota", none, ""},
		{"old scopes", moving, []spoil{quotas(scopes)}, "quota-scoped", actions.Warn, ""},
		{"roomy", moving, []spoil{quotas(roomy)}, "quota-scoped", none, ""},
		{"", moving, []spoil{quotas(scoped)}, "quota-scoped", actions.Warn, "depends on its scopes"},

		{"too large", bare, []spoil{ranges(limitRange("1Gi", "5Gi"))}, "limit-range", actions.Block, "at most 5Gi"},
		{"too small", bare, []spoil{ranges(limitRange("20Gi", "50Gi"))}, "limit-range", actions.Block, "at least 20Gi"},
		{"no most", bare, []spoil{ranges(open)}, "limit-range", none, ""},
		{"elsewhere", bare, []spoil{ranges(elsewhere)}, "limit-range", none, ""},
		{"where it goes", moving, []spoil{ranges(elsewhere)}, "limit-range", actions.Block, ""},

		{"", bare, nil, "trial", actions.Pass, "would accept"},
		{"", bare, []spoil{trial(Trial{Problem: "denied by policy"})}, "trial-refused", actions.Block, "denied by policy"},
		{"untried", bare, []spoil{trial(Trial{Problem: "no dry run", Untried: true})}, "trial-refused", none, ""},
		{"", bare, []spoil{trial(Trial{Problem: "no dry run", Untried: true})}, "trial-untried", actions.Warn, "no dry run"},
		{"", bare, []spoil{trial(Trial{Changed: []string{"spec.storageClassName"}})}, "trial-changed", actions.Warn, "spec.storageClassName"},
		{"", bare, []spoil{func(st *stage) { st.s.Unknown = []string{"StatefulSet exam/db: spec.novelty"} }}, "unknown-field", actions.Block, "spec.novelty"},

		{"", bare, []spoil{func(st *stage) { st.s.Denied = []string{"delete persistentvolumeclaims in namespace shop"} }}, "right", actions.Block, "delete persistentvolumeclaims"},
		{"", bare, []spoil{namespace("shop", nil)}, "namespace-missing", actions.Block, "shop"},
		{"target", moving, []spoil{namespace("lab", nil)}, "namespace-missing", actions.Block, "lab"},
		{"recreate", missing, []spoil{namespace("shop", nil)}, "namespace-missing", actions.Block, "shop"},
		{"not looked for", bare, []spoil{func(st *stage) { st.s.Namespaces = nil }}, "namespace-missing", none, ""},
		{"not concerned", bare, []spoil{namespace("lab", nil)}, "namespace-missing", none, ""},
		{"", bare, []spoil{namespace("shop", deleting)}, "namespace-deleting", actions.Block, "shop"},
		{"origin", moving, []spoil{namespace("shop", deleting)}, "namespace-deleting", actions.Block, "shop"},
		{"target", moving, []spoil{namespace("lab", deleting)}, "namespace-deleting", actions.Block, "lab"},
	}
}

func unreadCases() []draftCase {
	var cases []draftCase
	for _, r := range unreadRules() {
		cases = append(
			cases,
			draftCase{r.resource, running, []spoil{unreadable(r.resource)}, r.id, r.severity, "forbidden"},
			draftCase{"other than " + r.resource, running, []spoil{unreadable("events")}, r.id, none, ""},
		)
	}
	return cases
}

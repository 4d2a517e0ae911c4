package migration

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// movingOfSet moves the claim of ordinal 3, which the set does not want.
func movingOfSet() *stage {
	st := set()
	st.req = Request{Verb: MoveClaim, Volume: actions.Ref{Kind: actions.VolumeKind, Name: "disk-3", UID: "uid-disk-3"}, To: shopClaim("archive")}
	st.s.Claims[st.req.To] = nil
	return st
}

func to(namespace, name string) spoil {
	return func(st *stage) {
		st.req.To = actions.ClaimKey{Namespace: namespace, Name: name}
		if st.s.Claims[st.req.To] == nil {
			st.s.Claims[st.req.To] = nil
		}
	}
}

func moveCases() []draftCase {
	used := adds(pod("shop", "lone", "data", corev1.PodPending))
	named := func(st *stage) { st.s.Deployments = append(st.s.Deployments, deployment("web", "data")) }
	idleSet := func(st *stage) { *st = *movingOfSet() }
	wanting := func(st *stage) { *st.db().Spec.Replicas = 4 }
	shifted := func(st *stage) { st.db().Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 1} }
	there := func(change func(*corev1.PersistentVolumeClaim)) spoil {
		return func(st *stage) {
			c := backup()
			c.Namespace, c.Name = st.req.To.Namespace, st.req.To.Name
			change(c)
			st.s.Claims[st.req.To] = c
		}
	}
	secret := onVolume(func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "vault", Name: "key"}
	})
	return []draftCase{
		{"", moving, []spoil{used}, "claim-in-use", actions.Block, "lone"},
		{"ended", moving, []spoil{adds(pod("shop", "lone", "data", corev1.PodFailed))}, "claim-in-use", none, ""},
		{"a pod", moving, []spoil{used}, "template-names", none, ""},
		{"pods of others", moving, []spoil{adds(pod("shop", "old-x", "data", corev1.PodRunning, controlledBy("v1", "ReplicationController", "old")))}, "template-names", none, ""},
		{"shared by a set", moving, []spoil{func(st *stage) { st.s.StatefulSets[0].Spec.Template = template("data") }}, "template-names", actions.Warn, "StatefulSet shop/cache"},
		{"", moving, []spoil{named}, "template-names", actions.Warn, "Deployment shop/web"},
		{"wanted by the size", movingOfSet, []spoil{wanting}, "claim-of-set", actions.Block, "by itself"},
		{"wanted by the start", movingOfSet, []spoil{shifted}, "claim-of-set", actions.Block, ""},
		{"not wanted", movingOfSet, nil, "claim-of-set", none, ""},
		{"before the start", movingOfSet, []spoil{func(st *stage) { st.db().Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5} }}, "claim-of-set", none, ""},
		{"", moving, []spoil{idleSet}, "claim-of-set-idle", actions.Warn, "ordinal 3"},
		{"wanted", movingOfSet, []spoil{wanting}, "claim-of-set-idle", none, ""},

		{"", moving, []spoil{to("shop", "data")}, "move-same", actions.Block, "already"},
		{"same name elsewhere", moving, []spoil{to("lab", "data")}, "move-same", none, ""},
		{"name", moving, []spoil{to("lab", "My Data")}, "claim-name", actions.Block, "My Data"},
		{"no name", moving, []spoil{to("lab", "")}, "claim-name", actions.Block, ""},
		{"namespace", moving, []spoil{to("lab.one", "data")}, "claim-name", actions.Block, "cannot be a namespace"},
		{"no namespace", moving, []spoil{to("", "data")}, "claim-name", actions.Block, ""},
		{"dots", moving, []spoil{to("lab", "data.v2")}, "claim-name", none, ""},
		{"", moving, []spoil{there(func(*corev1.PersistentVolumeClaim) {})}, "target-exists", actions.Block, "already"},
		{"leaving", moving, []spoil{there(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })}, "target-exists", actions.Block, "being deleted"},
		{"though others are unread", moving, []spoil{there(func(*corev1.PersistentVolumeClaim) {}), unreadable("persistentvolumeclaims")}, "target-exists", actions.Block, "already"},
		{"not looked for", moving, []spoil{func(st *stage) { delete(st.s.Claims, st.req.To) }}, "target-unread", actions.Block, "lab/exhibit"},
		{"unread", moving, []spoil{unreadable("persistentvolumeclaims")}, "target-unread", actions.Block, "lab/exhibit"},
		{"", movingOfSet, []spoil{to("shop", "data-cache-0")}, "target-set", actions.Warn, "StatefulSet shop/cache"},
		{"later", movingOfSet, []spoil{to("shop", "data-cache-4")}, "target-set", actions.Pass, "scaled up that far"},
		{"", moving, []spoil{secret}, "secrets", actions.Warn, "vault/key"},
		{"same namespace", moving, []spoil{secret, to("shop", "exhibit")}, "secrets", none, ""},
		{"no CSI", moving, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.CSI = nil })}, "secrets", none, ""},
	}
}

func recreateCases() []draftCase {
	manifest := func(change func(*corev1.PersistentVolumeClaim)) spoil {
		return func(st *stage) {
			c := backup()
			change(c)
			st.req.Manifest = c
			if st.s.Claims[claimKey(c)] == nil {
				st.s.Claims[claimKey(c)] = nil
			}
		}
	}
	asItWas := manifest(func(*corev1.PersistentVolumeClaim) {})
	open := onVolume(func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef, pv.Status.Phase = nil, corev1.VolumeAvailable
	})
	phase := func(p corev1.PersistentVolumePhase) spoil {
		return onVolume(func(pv *corev1.PersistentVolume) { pv.Status.Phase = p })
	}
	deletes := onVolume(func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	})
	counting := func(change func(*corev1.PersistentVolumeClaim)) spoil {
		return func(st *stage) {
			c := backup()
			c.Name = "counting"
			change(c)
			st.s.RelatedClaims = append(st.s.RelatedClaims, c)
		}
	}
	living := func(uid string) spoil {
		return func(st *stage) {
			c := backup()
			c.UID = "uid-data"
			if uid != "" {
				c.UID = "uid-new"
			}
			st.s.Claims[shopClaim("data")] = c
		}
	}
	return []draftCase{
		{"", missing, []spoil{open}, "no-claim-known", actions.Block, "names no claim"},
		{"manifest", missing, []spoil{open, asItWas}, "no-claim-known", none, ""},
		{"", missing, []spoil{open, asItWas}, "open-now", actions.Warn, "until it is reserved"},
		{"open", missing, []spoil{open, asItWas}, "never-open", none, ""},
		{"", missing, nil, "never-open", actions.Pass, "kept for claim shop/data"},
		{"", moving, nil, "never-open", actions.Pass, "kept for claim lab/exhibit"},
		{"", bare, nil, "never-open", actions.Pass, "kept for the claim to come"},
		{"", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Name = "data-2" })}, "manifest-other", actions.Warn, "shop/data-2"},
		{"same", missing, []spoil{asItWas}, "manifest-other", none, ""},
		{"", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "disk-2" })}, "manifest-volume", actions.Warn, "disk-2"},
		{"none", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "" })}, "manifest-volume", none, ""},
		{"same", missing, []spoil{asItWas}, "manifest-volume", none, ""},
		{"no owner", missing, []spoil{asItWas}, "manifest-owner", none, ""},
		{"", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) {
			c.OwnerReferences = []metav1.OwnerReference{controlledBy("shops.example.test/v1", "Shop", "main")}
		})}, "manifest-owner", actions.Pass, "belongs to nobody"},
		{"no namespace", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Namespace = "" })}, "claim-name", actions.Block, ""},
		{"manifest", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSource = &corev1.TypedLocalObjectReference{Name: "x"}
		})}, "data-source", actions.Warn, ""},
		{"manifest too large", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = size("11Gi") })}, "misfit", actions.Block, "too small"},
		{"manifest of other modes", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = modes(corev1.ReadWriteOncePod) })}, "misfit", actions.Block, "access modes"},
		{"manifest of other attributes", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = new("gold") })}, "misfit", actions.Block, "attributes class"},
		{"manifest of other class", missing, []spoil{manifest(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("slow") })}, "class-differs", actions.Warn, "slow"},

		{"", missing, []spoil{phase(corev1.VolumeBound)}, "volume-bound", actions.Block, "Bound"},
		{"about to be", missing, []spoil{living("")}, "volume-bound", actions.Block, "carries the uid"},
		{"re-created", missing, []spoil{living("new")}, "volume-bound", none, ""},
		{"re-created", missing, []spoil{living("new")}, "target-exists", actions.Block, "shop/data"},
		{"available", missing, []spoil{phase(corev1.VolumeAvailable), onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "" })}, "volume-bound", none, ""},
		{"", missing, []spoil{counting(func(*corev1.PersistentVolumeClaim) {})}, "claim-counts", actions.Block, "shop/counting"},
		{"the claim itself", missing, []spoil{counting(func(c *corev1.PersistentVolumeClaim) { c.Name = "data" })}, "claim-counts", none, ""},
		{"of another volume", missing, []spoil{counting(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "disk-2" })}, "claim-counts", none, ""},
		{"", missing, []spoil{counting(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })}, "claim-lost", actions.Warn, "shop/counting"},
		{"lost", missing, []spoil{counting(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })}, "claim-counts", none, ""},

		{"", missing, []spoil{deletes}, "deletion-under-way", actions.Warn, "Released"},
		{"failed", missing, []spoil{deletes, phase(corev1.VolumeFailed)}, "deletion-under-way", actions.Warn, "Failed"},
		{"reserved", missing, []spoil{deletes, phase(corev1.VolumeAvailable)}, "deletion-under-way", none, ""},
	}
}

package migration

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

func onClaim(change func(*corev1.PersistentVolumeClaim)) spoil {
	return func(st *stage) { change(st.pvc()) }
}

func condition(kind corev1.PersistentVolumeClaimConditionType) spoil {
	return onClaim(func(c *corev1.PersistentVolumeClaim) {
		c.Status.Conditions = append(c.Status.Conditions, corev1.PersistentVolumeClaimCondition{Type: kind, Status: corev1.ConditionTrue})
	})
}

func claimCases() []draftCase {
	gone := func(st *stage) { st.s.Claims[refKey(st.pv().Spec.ClaimRef)] = nil }
	unseen := func(st *stage) { delete(st.s.Claims, refKey(st.pv().Spec.ClaimRef)) }
	both := func(pv, pvc []corev1.PersistentVolumeAccessMode) spoil {
		return func(st *stage) { st.pvc().Spec.AccessModes, st.pv().Spec.AccessModes = pvc, pv }
	}
	rwo, rwop := modes(corev1.ReadWriteOnce), modes(corev1.ReadWriteOncePod)
	finalizer := func(name string) spoil {
		return onClaim(func(c *corev1.PersistentVolumeClaim) { c.Finalizers = append(c.Finalizers, name) })
	}
	attributes := func(spec, current, volume *string) spoil {
		return func(st *stage) {
			st.pvc().Spec.VolumeAttributesClassName, st.pvc().Status.CurrentVolumeAttributesClassName = spec, current
			st.pv().Spec.VolumeAttributesClassName = volume
		}
	}
	gold, silver := new("gold"), new("silver")
	return []draftCase{
		{"", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = nil })}, "claim-none", actions.Block, "no claim"},
		{"", bare, []spoil{gone}, "claim-gone", actions.Block, "shop/data"},
		{"unread", bare, []spoil{gone, unreadable("persistentvolumeclaims")}, "claim-gone", none, ""},
		{"", bare, []spoil{gone, unreadable("persistentvolumeclaims")}, "claim-unread", actions.Block, "shop/data"},
		{"not looked for", bare, []spoil{unseen}, "claim-unread", actions.Block, "shop/data"},

		{"another uid", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.UID = "uid-new" })}, "claim-misbound", actions.Block, "does not carry the claim's uid"},
		{"names another", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "other" })}, "claim-misbound", actions.Block, "does not name the volume"},
		{"sibling", set, []spoil{func(st *stage) { st.s.Volumes["disk-2"].Spec.ClaimRef.UID = "" }}, "claim-misbound", actions.Block, "data-db-2"},
		{"sibling without claimRef", set, []spoil{func(st *stage) { st.s.Volumes["disk-2"].Spec.ClaimRef = nil }}, "claim-misbound", actions.Block, "data-db-2"},
		{"sibling of another name", set, []spoil{func(st *stage) { st.s.Volumes["disk-2"].Spec.ClaimRef.Name = "other" }}, "claim-misbound", actions.Block, "data-db-2"},
		{"volume", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeReleased })}, "not-bound", actions.Block, "Volume disk is Released"},
		{"claim", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })}, "not-bound", actions.Block, "Claim shop/data is Lost"},

		{"", bare, []spoil{both(rwop, rwop)}, "already", actions.Block, "already"},
		{"half", bare, []spoil{both(rwop, rwo)}, "already", none, ""},
		{"", bare, []spoil{both(rwo, rwop)}, "modes-mixed", actions.Block, "volume disk is ReadWriteOnce"},
		{"", bare, []spoil{both(rwop, rwo)}, "modes-half", actions.Pass, "only the claim"},
		{"volume with more", bare, []spoil{both(modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany), rwo)}, "modes-unsupported", actions.Block, "ReadWriteOnce and ReadOnlyMany"},
		{"claim with more", bare, []spoil{both(rwo, modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany))}, "modes-unsupported", actions.Block, ""},
		{"many", bare, []spoil{both(modes(corev1.ReadWriteMany), modes(corev1.ReadWriteMany))}, "modes-unsupported", actions.Block, "ReadWriteMany"},
		{"volume done, claim with more", bare, []spoil{both(rwop, modes(corev1.ReadWriteMany))}, "modes-unsupported", actions.Block, ""},
		{"none", bare, []spoil{both(nil, rwo)}, "modes-unsupported", actions.Block, "no access mode"},
		{"moved", moving, []spoil{both(modes(corev1.ReadWriteMany), modes(corev1.ReadWriteMany))}, "modes-unsupported", none, ""},

		{"", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })}, "claim-terminating", actions.Block, "can't be taken back"},
		{"move", moving, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{} })}, "claim-terminating", actions.Block, ""},
		{"", bare, []spoil{finalizer("hold.example.test/x")}, "claim-finalizer", actions.Warn, "hold.example.test/x"},
		{"snapshot", bare, []spoil{finalizer("snapshot.storage.kubernetes.io/pvc-as-source-protection")}, "claim-source", actions.Block, "snapshot"},
		{"clone", bare, []spoil{finalizer("provisioner.storage.kubernetes.io/cloning-protection")}, "claim-source", actions.Block, ""},
		{"other", bare, []spoil{finalizer("hold.example.test/x")}, "claim-source", none, ""},

		{"under way", bare, []spoil{condition(corev1.PersistentVolumeClaimResizing)}, "resizing", actions.Block, "Resizing"},
		{"file system", bare, []spoil{condition(corev1.PersistentVolumeClaimFileSystemResizePending)}, "resizing", actions.Block, ""},
		{"controller failed", bare, []spoil{condition(corev1.PersistentVolumeClaimControllerResizeError)}, "resizing", actions.Block, ""},
		{"node failed", bare, []spoil{condition(corev1.PersistentVolumeClaimNodeResizeError)}, "resizing", actions.Block, ""},
		{"allocated", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) {
			c.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible}
		})}, "resizing", actions.Block, "Infeasible"},
		{"smaller than asked", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Status.Capacity = size("5Gi") })}, "resizing", actions.Block, "5Gi"},
		{"not told", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Status.Capacity = nil })}, "resizing", none, ""},
		{"larger than asked", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Status.Capacity = size("15Gi") })}, "resizing", none, ""},
		{"other condition", bare, []spoil{condition("Other")}, "resizing", none, ""},

		{"condition", bare, []spoil{condition(corev1.PersistentVolumeClaimVolumeModifyingVolume)}, "modifying", actions.Block, "ModifyingVolume"},
		{"failed", bare, []spoil{condition(corev1.PersistentVolumeClaimVolumeModifyVolumeError)}, "modifying", actions.Block, ""},
		{"status", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) {
			c.Status.ModifyVolumeStatus = &corev1.ModifyVolumeStatus{Status: corev1.PersistentVolumeClaimModifyVolumePending}
		})}, "modifying", actions.Block, "Pending"},
		{"volume differs", bare, []spoil{attributes(gold, gold, silver)}, "modifying", actions.Block, `"silver"`},
		{"status differs", bare, []spoil{attributes(gold, silver, gold)}, "modifying", actions.Block, `"silver"`},
		{"all alike", bare, []spoil{attributes(gold, gold, gold)}, "modifying", none, ""},
		{"empty is none", bare, []spoil{attributes(new(""), nil, nil)}, "modifying", none, ""},

		{"", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "snap"}
		})}, "data-source", actions.Warn, "dataSource"},
		{"ref", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) {
			c.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "snap"}
		})}, "data-source", actions.Warn, ""},
		{"", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.Selector = selector("none") })}, "selector", actions.Pass, "not looked at"},
		{"none", bare, nil, "selector", none, ""},
		{"is no misfit", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.Selector = selector("none") })}, "misfit", none, ""},

		{"", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) {
			c.Annotations[corev1.BetaStorageClassAnnotation], c.Spec.StorageClassName = "fast", nil
		})}, "class-beta", actions.Pass, "fast"},
		{"", bare, []spoil{onClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil })}, "class-explicit", actions.Pass, `"fast"`},
		{"named", bare, nil, "class-explicit", none, ""},
		{"", bare, []spoil{func(st *stage) { st.s.Classes = nil }}, "class-gone", actions.Warn, "fast"},
		{"among others", bare, []spoil{func(st *stage) { st.s.Classes[0].Name = "slow" }}, "class-gone", actions.Warn, "fast"},
		{"unread", bare, []spoil{func(st *stage) { st.s.Classes = nil }, unreadable("storageclasses")}, "class-gone", none, ""},
		{"without class", bare, []spoil{func(st *stage) {
			st.s.Classes, st.pv().Spec.StorageClassName, st.pvc().Spec.StorageClassName = nil, "", new("")
		}}, "class-gone", none, ""},
		{"", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = "slow" })}, "class-differs", actions.Warn, "slow"},
		{"too small", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.Capacity = size("5Gi") })}, "misfit", actions.Block, "too small"},
		{"volume mode", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.VolumeMode = new(corev1.PersistentVolumeBlock) })}, "misfit", actions.Block, "volume mode"},
		{"file system is the default", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.VolumeMode = new(corev1.PersistentVolumeFilesystem) })}, "misfit", none, ""},
		{"half done", bare, []spoil{both(rwop, rwo)}, "misfit", none, ""},
	}
}

func ownerCases() []draftCase {
	owned := func(refs ...metav1.OwnerReference) spoil {
		return onClaim(func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = refs })
	}
	loosely := func(ref metav1.OwnerReference) metav1.OwnerReference {
		ref.Controller = nil
		return ref
	}
	postgres := controlledBy("postgres.example.test/v1", "Postgres", "main")
	acknowledged := func(st *stage) { st.req.Operators = []string{"Postgres shop/main"} }
	ephemeral := func(st *stage) {
		p := pod("shop", "tmp", "none", corev1.PodRunning)
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}})
		st.pods(p)
		pvc := st.pvc()
		delete(st.s.Claims, claimKey(pvc))
		pvc.Name, st.pv().Spec.ClaimRef.Name = "tmp-scratch", "tmp-scratch"
		st.s.Claims[claimKey(pvc)] = pvc
	}
	return []draftCase{
		{"", bare, []spoil{ephemeral}, "claim-ephemeral", actions.Block, "pod tmp"},
		{"dead set", bare, []spoil{owned(controlledBy("apps/v1", "StatefulSet", "dead"))}, "owner-dropped", actions.Pass, "gone"},
		{"living set", set, nil, "owner-dropped", actions.Pass, "makes itself the owner again"},
		{"dead deployment", bare, []spoil{owned(controlledBy("apps/v1", "Deployment", "dead"))}, "owner-operator", none, ""},
		{"deployments unread", bare, []spoil{owned(controlledBy("apps/v1", "Deployment", "dead")), unreadable("deployments")}, "owner-operator", actions.Block, "Deployment shop/dead"},
		{"dead cronjob", bare, []spoil{owned(controlledBy("batch/v1", "CronJob", "dead"))}, "owner-operator", none, ""},
		{"namesake of a cronjob", bare, []spoil{owned(controlledBy("jobs.example.test/v1", "CronJob", "dead"))}, "owner-operator", actions.Block, ""},
		{"namesake of a pod", bare, []spoil{owned(controlledBy("pods.example.test/v1", "Pod", "dead"))}, "owner-operator", actions.Block, ""},
		{"no version", bare, []spoil{owned(controlledBy("a/b/c", "Pod", "dead"))}, "owner-operator", actions.Block, ""},
		{"living pod", bare, []spoil{owned(controlledBy("v1", "Pod", "data-db"))}, "owner-dropped", actions.Pass, "makes itself"},
		{"living deployment", bare, []spoil{owned(controlledBy("apps/v1", "Deployment", "other"))}, "owner-operator", actions.Block, "Deployment shop/other"},
		{"not the controller", bare, []spoil{owned(metav1.OwnerReference{APIVersion: "x.test/v1", Kind: "X", Name: "x", Controller: new(false)})}, "owner-operator", none, ""},
		{"dead pod", bare, []spoil{owned(controlledBy("v1", "Pod", "dead"))}, "owner-operator", none, ""},
		{"pods unread", bare, []spoil{owned(controlledBy("v1", "Pod", "dead")), unreadable("pods")}, "owner-dropped", actions.Pass, "makes itself"},
		{"", bare, []spoil{owned(postgres)}, "owner-operator", actions.Block, "Postgres shop/main"},
		{"namesake of a set", bare, []spoil{owned(controlledBy("apps.example.test/v1", "StatefulSet", "main"))}, "owner-operator", actions.Block, "StatefulSet shop/main"},
		{"acknowledged", bare, []spoil{owned(postgres), acknowledged}, "owner-operator", none, ""},
		{"acknowledged", bare, []spoil{owned(postgres), acknowledged}, "owner-kept", actions.Warn, "Postgres shop/main"},
		{"no controller", bare, []spoil{owned(loosely(postgres))}, "owner-kept", actions.Warn, "so will the new one"},
		{"elsewhere", moving, []spoil{owned(loosely(postgres))}, "owner-left", actions.Warn, "namespace lab"},
		{"beside", moving, []spoil{owned(loosely(postgres)), func(st *stage) {
			st.req.To.Namespace = "shop"
			st.s.Claims[st.req.To] = nil
		}}, "owner-left", none, ""},
		{"of the set", set, []spoil{func(st *stage) {
			st.db().OwnerReferences = []metav1.OwnerReference{loosely(controlledBy("apps/v1", "Deployment", "dead"))}
		}}, "set-owner-dropped", actions.Pass, "Deployment dead, which is gone"},
		{"of the set, living", set, []spoil{func(st *stage) { st.db().OwnerReferences = []metav1.OwnerReference{loosely(postgres)} }}, "set-owner-dropped", none, ""},
	}
}

func withAutoscaler(kind, target string, change ...func(*autoscalingv2.HorizontalPodAutoscaler)) spoil {
	return func(st *stage) {
		st.s.Autoscalers = append(st.s.Autoscalers, autoscaler("hpa", kind, target, change...))
	}
}

package migration

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/claimref/claimref/actions"
)

func onVolume(change func(*corev1.PersistentVolume)) spoil {
	return func(st *stage) { change(st.pv()) }
}

func unreadable(resources ...string) spoil {
	return func(st *stage) {
		st.s.Unread = map[string]string{}
		for _, r := range resources {
			st.s.Unread[r] = "forbidden"
		}
	}
}

// elsewhere puts a volume with the Journal of another operation beside.
func beside(change func(*Journal)) spoil {
	return func(st *stage) {
		other := running()
		j, _ := Draft(other.req, other.s)
		j.ID = "other"
		j.Volumes[0].Ref.Name = "disk-9"
		j.Volumes[0].From.Spec.VolumeName, j.Volumes[0].To.Spec.VolumeName = "disk-9", "disk-9"
		change(&j)
		text, err := j.Encode()
		if err != nil {
			panic(err)
		}
		pv := &corev1.PersistentVolume{ObjectMeta: in("", "disk-9")}
		pv.Annotations = map[string]string{AnnotationJournal: text}
		st.s.RelatedVolumes = append(st.s.RelatedVolumes, pv)
	}
}

func volumeCases() []draftCase {
	version := func(v string) spoil { return func(st *stage) { st.s.Version = v } }
	annotated := func(name, text string) spoil {
		return onVolume(func(pv *corev1.PersistentVolume) { pv.Annotations[name] = text })
	}
	nothing := func(*Journal) {}
	otherClaim := func(j *Journal) { j.Volumes[0].From.Name, j.Volumes[0].To.Name = "another", "another" }
	otherWork := func(j *Journal) { j.Workloads[0].Ref.Name = "another" }
	return []draftCase{
		{"", bare, []spoil{func(st *stage) { st.req.Verb = "dance" }}, "verb", actions.Block, "dance"},
		{"", bare, []spoil{func(st *stage) { st.s.Volumes["disk"] = nil }}, "volume-gone", actions.Block, "is gone"},
		{"unread", bare, []spoil{func(st *stage) { delete(st.s.Volumes, "disk") }, unreadable("persistentvolumes")}, "volume-gone", none, ""},
		{"", bare, []spoil{func(st *stage) { delete(st.s.Volumes, "disk") }, unreadable("persistentvolumes")}, "volume-unread", actions.Block, "forbidden"},
		{"", bare, []spoil{func(st *stage) { st.req.Volume.UID = "uid-before" }}, "volume-replaced", actions.Block, "another of the same name"},
		{"seen all the same", bare, []spoil{unreadable("persistentvolumes")}, "volume-unread", none, ""},
		{"any uid", bare, []spoil{func(st *stage) { st.req.Volume.UID = "" }}, "volume-replaced", none, ""},

		{"1.26", bare, []spoil{version("v1.26.9")}, "version-old", actions.Block, "1.27"},
		{"1.27", bare, []spoil{version("v1.27.0")}, "version-old", none, ""},
		{"1.27 EKS", bare, []spoil{version("v1.27.16-eks-a1b2")}, "version-unknown", none, ""},
		{"move on 1.20", moving, []spoil{version("v1.20.0")}, "version-old", none, ""},
		{"empty", bare, []spoil{version("")}, "version-unknown", actions.Warn, "1.27"},
		{"words", bare, []spoil{version("unknown")}, "version-unknown", actions.Warn, "unknown"},

		{"", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })}, "volume-terminating", actions.Block, "can't be taken back"},
		{"move", moving, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })}, "volume-terminating", actions.Block, ""},
		{"recreate", missing, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })}, "volume-terminating", actions.Block, ""},
		{"sibling", set, []spoil{func(st *stage) { st.s.Volumes["disk-3"].DeletionTimestamp = &metav1.Time{} }}, "volume-terminating", actions.Block, "disk-3"},

		{"Recycle", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) {
			pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRecycle
		})}, "policy-unsupported", actions.Block, "Recycle"},
		{"none yet", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.PersistentVolumeReclaimPolicy = "" })}, "policy-unsupported", actions.Block, ""},
		{"Retain", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) {
			pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		})}, "policy", actions.Pass, "is Retain"},
		{"Delete", bare, nil, "policy", actions.Pass, "Delete again"},

		{"", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Finalizers = append(pv.Finalizers, "backup.example.test/hold") })}, "volume-finalizer", actions.Warn, "backup.example.test/hold"},
		{"", bare, []spoil{annotated(AnnotationPlan, "op lead")}, "plan-under-way", actions.Block, "op, recorded on volume lead"},
		{"claimless", bare, []spoil{annotated(AnnotationPlan, "op lead"), func(st *stage) { st.s.Claims[refKey(st.pv().Spec.ClaimRef)] = nil }}, "plan-under-way", actions.Block, "op"},
		{"move", moving, []spoil{annotated(AnnotationPlan, "op lead"), func(st *stage) { st.s.Claims[refKey(st.pv().Spec.ClaimRef)] = nil }}, "plan-under-way", actions.Block, "op"},
		{"recreate", missing, []spoil{annotated(AnnotationPlan, "op lead"), onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = nil })}, "plan-under-way", actions.Block, "op"},
		{"sibling", set, []spoil{func(st *stage) { st.s.Volumes["disk-2"].Annotations[AnnotationPlan] = "op lead" }}, "plan-under-way", actions.Block, "disk-2"},
		{"", bare, []spoil{annotated(AnnotationJournal, "{")}, "plan-unreadable", actions.Block, "not which"},
		{"", running, []spoil{beside(otherClaim)}, "workload-busy", actions.Block, "Deployment shop/web"},
		{"of another", running, []spoil{beside(otherWork)}, "workload-busy", none, ""},
		{"of another kind", running, []spoil{beside(func(j *Journal) { j.Workloads[0].Ref.Kind = StatefulSetKind })}, "workload-busy", none, ""},
		{"of another namespace", running, []spoil{beside(func(j *Journal) { j.Workloads[0].Ref.Namespace = "lab" })}, "workload-busy", none, ""},
		{"no journal", running, []spoil{beside(nothing), func(st *stage) {
			st.s.RelatedVolumes[len(st.s.RelatedVolumes)-1].Annotations = map[string]string{AnnotationPlan: "other lead"}
			st.s.RelatedVolumes = append(st.s.RelatedVolumes, &corev1.PersistentVolume{ObjectMeta: in("", "disk-8")})
		}}, "workload-busy", none, ""},
		{"itself", running, []spoil{beside(nothing), func(st *stage) {
			st.pv().Annotations[AnnotationJournal] = strings.ReplaceAll(st.s.RelatedVolumes[len(st.s.RelatedVolumes)-1].Annotations[AnnotationJournal], "disk-9", "disk")
			st.s.RelatedVolumes = st.s.RelatedVolumes[:1]
		}}, "claim-busy", none, ""},
		{"", bare, []spoil{beside(nothing)}, "claim-busy", actions.Block, "shop/data"},
		{"of another", bare, []spoil{beside(otherClaim)}, "claim-busy", none, ""},
		{"unreadable elsewhere", running, []spoil{beside(nothing), func(st *stage) {
			st.s.RelatedVolumes[len(st.s.RelatedVolumes)-1].Annotations[AnnotationJournal] = "{"
		}}, "claim-busy", none, ""},

		{"", bare, []spoil{onVolume(func(pv *corev1.PersistentVolume) {
			pv.Spec.CSI, pv.Spec.NFS = nil, &corev1.NFSVolumeSource{}
		})}, "driver-not-csi", actions.Warn, "CSI volumes only"},
		{"move", moving, []spoil{onVolume(func(pv *corev1.PersistentVolume) { pv.Spec.CSI = nil })}, "driver-not-csi", none, ""},
		{"", bare, []spoil{func(st *stage) { st.s.Drivers["disks.example.test"] = nil }}, "driver-unseen", actions.Warn, "not registered"},
		{"not looked for", bare, []spoil{func(st *stage) { st.s.Drivers = nil }}, "driver-unseen", actions.Warn, "could not be looked up"},
		{"", bare, nil, "driver", actions.Pass, "can't be seen"},

		{"", bare, []spoil{func(st *stage) { st.s.Attachments = []*storagev1.VolumeAttachment{attachment("disk")} }}, "attached", actions.Warn, "n1"},
		{"while a pod runs", running, nil, "attached", none, ""},

		{"", running, []spoil{func(st *stage) {
			st.s.Deployments[1].Annotations = map[string]string{"note": strings.Repeat("x", MaxJournal)}
		}}, "journal-large", none, ""},
		{"claim", bare, []spoil{func(st *stage) { st.pvc().Annotations["note"] = strings.Repeat("x", MaxJournal) }}, "journal-large", actions.Block, "claim shop/data"},
		{"set", set, []spoil{func(st *stage) { st.db().Annotations["note"] = strings.Repeat("x", MaxJournal) }}, "journal-large", actions.Block, "StatefulSet shop/db"},
		{"set that stays", set, []spoil{func(st *stage) {
			st.db().Annotations["note"], st.req.KeepTemplates = strings.Repeat("x", MaxJournal), true
		}}, "journal-large", none, ""},
		{"", set, []spoil{func(st *stage) {
			port := intstr.IntOrString{Type: 9} // Such a port can't be written.
			st.db().Spec.Template.Spec.Containers = []corev1.Container{{LivenessProbe: &corev1.Probe{
				ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: port}},
			}}}
		}}, "journal", actions.Block, "can't be written"},
		{"just fits", bare, []spoil{func(st *stage) { st.pvc().Annotations["note"] = strings.Repeat("x", MaxJournal/2-4000) }}, "journal-large", none, ""},

		{"set", set, []spoil{func(st *stage) {
			st.db().Labels = map[string]string{"argocd.argoproj.io/instance": "shop"}
		}}, "source", actions.Warn, "Argo CD application shop seems to keep StatefulSet shop/db"},
		{"claim", bare, []spoil{func(st *stage) { st.pvc().Annotations["meta.helm.sh/release-name"] = "shop" }}, "source", actions.Warn, "Helm release shop"},
		{"volume", moving, []spoil{func(st *stage) {
			st.pv().Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "disks"}
		}}, "source", actions.Warn, "volume disk"},
		{"of another workload", running, []spoil{func(st *stage) {
			st.s.Deployments[0].Labels = map[string]string{"argocd.argoproj.io/instance": "shop"}
		}}, "source", none, ""},
		{"generated", running, []spoil{func(st *stage) {
			st.s.Deployments[1].Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
			st.s.Deployments[1].Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		}}, "source", actions.Warn, "A Helm release seems"},
	}
}

package migration

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/claimref/claimref/actions"
)

// stage is a scene with a request, in which nothing is amiss. Cases spoil it.
type stage struct {
	req Request
	s   Scene
}

type spoil func(*stage)

func (st *stage) spoilt(spoils ...spoil) *stage {
	for _, s := range spoils {
		s(st)
	}
	return st
}

func (st *stage) pv() *corev1.PersistentVolume { return st.s.Volumes[st.req.Volume.Name] }

func (st *stage) pvc() *corev1.PersistentVolumeClaim {
	return st.s.Claims[refKey(st.pv().Spec.ClaimRef)]
}

func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}
}

func size(text string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(text)}
}

func modes(m ...corev1.PersistentVolumeAccessMode) []corev1.PersistentVolumeAccessMode { return m }

// bind adds a volume and a claim that are Bound to each other.
func (st *stage) bind(volume, claim string) {
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: in("shop", claim),
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes(corev1.ReadWriteOnce), VolumeName: volume, StorageClassName: new("fast"),
			Resources: corev1.VolumeResourceRequirements{Requests: size("10Gi")},
		},
		Status: corev1.PersistentVolumeClaimStatus{
			Phase: corev1.ClaimBound, AccessModes: modes(corev1.ReadWriteOnce), Capacity: size("10Gi"),
			Conditions: []corev1.PersistentVolumeClaimCondition{
				{Type: corev1.PersistentVolumeClaimUnused, Status: corev1.ConditionTrue},
				{Type: corev1.PersistentVolumeClaimResizing, Status: corev1.ConditionFalse},
				{Type: corev1.PersistentVolumeClaimVolumeModifyingVolume, Status: corev1.ConditionFalse},
			},
		},
	}
	pvc.Finalizers = []string{"kubernetes.io/pvc-protection"}
	pvc.Annotations = map[string]string{
		"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes",
		"volume.kubernetes.io/selected-node": "n1", "volume.kubernetes.io/storage-provisioner": "disks.example.test",
		"volume.beta.kubernetes.io/storage-provisioner": "disks.example.test", "volume.kubernetes.io/storage-resizer": "disks.example.test",
		"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "shop",
	}
	pvc.Labels = map[string]string{"app": "web"}
	pvc.ResourceVersion, pvc.Generation = "17", 2
	pvc.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
	pv := &corev1.PersistentVolume{
		ObjectMeta: in("", volume),
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size("10Gi"), AccessModes: modes(corev1.ReadWriteOnce), StorageClassName: "fast",
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "disks.example.test", VolumeHandle: volume},
			},
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: claim, UID: pvc.UID, ResourceVersion: "12",
			},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	pv.Finalizers = []string{
		"kubernetes.io/pv-protection", "external-provisioner.volume.kubernetes.io/finalizer",
		"external-attacher/disks-example-test", "kubernetes.io/pv-controller",
	}
	pv.Annotations = map[string]string{"pv.kubernetes.io/bound-by-controller": "yes", "pv.kubernetes.io/provisioned-by": "disks.example.test"}
	st.s.Volumes[volume], st.s.Claims[claimKey(pvc)] = pv, pvc
	st.s.RelatedVolumes = append(st.s.RelatedVolumes, pv)
	st.s.RelatedClaims = append(st.s.RelatedClaims, pvc)
}

func podSpec(claim string) corev1.PodSpec {
	return corev1.PodSpec{Volumes: []corev1.Volume{
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}},
	}}
}

func pod(namespace, name, claim string, phase corev1.PodPhase, owners ...metav1.OwnerReference) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: in(namespace, name), Spec: podSpec(claim), Status: corev1.PodStatus{Phase: phase}}
	p.Spec.NodeName, p.OwnerReferences = "n1", owners
	return p
}

func (st *stage) pods(pods ...*corev1.Pod) { st.s.Pods = append(st.s.Pods, pods...) }

func controlledBy(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: new(true)}
}

func template(claim string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}, Spec: podSpec(claim)}
}

func selector(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func deployment(name, claim string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: in("shop", name), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(1)), Selector: selector(name), Template: template(claim),
		Strategy: appsv1.DeploymentStrategy{
			Type:          appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(0)), MaxUnavailable: new(intstr.FromInt32(1))},
		},
	}, Status: appsv1.DeploymentStatus{ReadyReplicas: 1}}
}

func replicaSet(name, claim string, replicas int32, owners ...metav1.OwnerReference) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: in("shop", name), Spec: appsv1.ReplicaSetSpec{
		Replicas: &replicas, Selector: selector(name), Template: template(claim),
	}, Status: appsv1.ReplicaSetStatus{ReadyReplicas: replicas}}
	rs.OwnerReferences = owners
	return rs
}

func job(name, claim string, owners ...metav1.OwnerReference) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: in("shop", name), Spec: batchv1.JobSpec{Template: template(claim)}}
	j.OwnerReferences = owners
	return j
}

func finished(j *batchv1.Job) *batchv1.Job {
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	return j
}

func cronJob(name, claim string) *batchv1.CronJob {
	return &batchv1.CronJob{ObjectMeta: in("shop", name), Spec: batchv1.CronJobSpec{
		JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template(claim)}},
	}}
}

func autoscaler(name, kind, target string, change ...func(*autoscalingv2.HorizontalPodAutoscaler)) *autoscalingv2.HorizontalPodAutoscaler {
	a := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: in("shop", name), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: kind, Name: target}, MaxReplicas: 3,
	}}
	for _, c := range change {
		c(a)
	}
	return a
}

func quota(namespace, name, hard, used string) *corev1.ResourceQuota {
	list := func(v string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(v)}
	}
	return &corev1.ResourceQuota{ObjectMeta: in(namespace, "q"), Status: corev1.ResourceQuotaStatus{Hard: list(hard), Used: list(used)}}
}

func limitRange(least, most string) *corev1.LimitRange {
	return &corev1.LimitRange{ObjectMeta: in("shop", "limits"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Max: size("1Ki")},
		{Type: corev1.LimitTypePersistentVolumeClaim, Min: size(least), Max: size(most)},
	}}}
}

func attachment(volume string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: in("", "att-"+volume), Spec: storagev1.VolumeAttachmentSpec{
		NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
	}}
}

// bare is a volume that nothing uses, among things that look as if they did:
// of another namespace, of another claim, finished, or never begun.
func bare() *stage {
	st := &stage{s: Scene{
		Volumes:    map[string]*corev1.PersistentVolume{},
		Claims:     map[actions.ClaimKey]*corev1.PersistentVolumeClaim{},
		Version:    "v1.37.2-gke.100",
		Classes:    []*storagev1.StorageClass{{ObjectMeta: in("", "fast")}},
		Drivers:    map[string]*storagev1.CSIDriver{"disks.example.test": {ObjectMeta: in("", "disks.example.test")}},
		Namespaces: map[string]*corev1.Namespace{"shop": {ObjectMeta: in("", "shop")}, "lab": {ObjectMeta: in("", "lab")}},
	}}
	st.bind("disk", "data")
	st.req = Request{Verb: SinglePod, Volume: actions.Ref{Kind: actions.VolumeKind, Name: "disk", UID: "uid-disk"}}
	unscheduled := pod("shop", "never-ran", "data", corev1.PodFailed)
	unscheduled.Spec.NodeName = ""
	scratch := pod("shop", "data-db", "data-2", corev1.PodRunning)
	scratch.Spec.Volumes = append(
		scratch.Spec.Volumes, corev1.Volume{Name: "tmp", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}, corev1.Volume{Name: "1"},
	)
	leaving := pod("shop", "ran-and-goes", "data", corev1.PodSucceeded)
	leaving.DeletionTimestamp = &metav1.Time{}
	st.pods(
		pod("lab", "elsewhere", "data", corev1.PodRunning), pod("lab", "elsewhere-done", "data", corev1.PodSucceeded),
		pod("shop", "other", "data-2", corev1.PodRunning), unscheduled, leaving, scratch,
	)
	otherSet := &appsv1.StatefulSet{ObjectMeta: in("shop", "cache"), Spec: appsv1.StatefulSetSpec{
		Template: template("data-2"), Selector: selector("cache"),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}},
	}}
	st.s.StatefulSets = []*appsv1.StatefulSet{otherSet}
	st.s.Deployments = []*appsv1.Deployment{deployment("other", "data-2")}
	st.s.DaemonSets = []*appsv1.DaemonSet{{ObjectMeta: in("lab", "agent"), Spec: appsv1.DaemonSetSpec{Template: template("data"), Selector: selector("db")}}}
	st.s.Jobs = []*batchv1.Job{finished(job("done", "data")), job("other-job", "data-2")}
	st.s.CronJobs = []*batchv1.CronJob{cronJob("other-cron", "data-2")}
	st.s.Autoscalers = []*autoscalingv2.HorizontalPodAutoscaler{
		autoscaler("other", "Deployment", "other"), autoscaler("namesake", "StatefulSet", "web"), autoscaler("other-db", "Deployment", "db"),
	}
	st.s.Quotas = []*corev1.ResourceQuota{
		quota("shop", "requests.storage", "40Gi", "10Gi"), quota("shop", "pods", "1", "1"), quota("lab", "requests.storage", "10Gi", "0"),
		quota("shop", "slow.storageclass.storage.k8s.io/requests.storage", "0", "0"),
	}
	st.s.LimitRanges = []*corev1.LimitRange{limitRange("1Gi", "10Gi")}
	st.s.Attachments = []*storagev1.VolumeAttachment{attachment("another")}
	st.s.Trials = []Trial{{Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "shop", Name: "data"}}}
	return st
}

// running is a Deployment whose one pod uses the volume.
func running() *stage {
	st := bare()
	st.s.Deployments = append(st.s.Deployments, deployment("web", "data"))
	owner := controlledBy("apps/v1", "Deployment", "web")
	st.s.ReplicaSets = []*appsv1.ReplicaSet{
		replicaSet("web-new", "data", 1, owner), replicaSet("web-old", "data", 0, owner),
		replicaSet("other-old", "data", 0, controlledBy("apps/v1", "Deployment", "other")),
	}
	st.pods(pod("shop", "web-new-x", "data", corev1.PodRunning, controlledBy("apps/v1", "ReplicaSet", "web-new")))
	st.s.Attachments = append(st.s.Attachments, attachment("disk"))
	return st
}

// set is a StatefulSet of three, ordinals 0 to 2, with a claim that a larger
// size has left.
func set() *stage {
	st := bare()
	delete(st.s.Volumes, "disk")
	delete(st.s.Claims, actions.ClaimKey{Namespace: "shop", Name: "data"})
	st.s.RelatedVolumes, st.s.RelatedClaims = nil, nil
	db := &appsv1.StatefulSet{ObjectMeta: in("shop", "db"), Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(3)), Selector: selector("db"), ServiceName: "db",
		PodManagementPolicy: appsv1.ParallelPodManagement,
		Template:            corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "db"}}},
		UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
			RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))},
		},
		PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
			WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType, WhenScaled: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{
			{ObjectMeta: metav1.ObjectMeta{Name: "logs"}, Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes(corev1.ReadWriteOnce)}},
			{
				ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{AccessModes: modes(corev1.ReadWriteOnce)},
				Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
			},
		},
	}}
	db.Generation, db.Status.ObservedGeneration = 4, 4
	db.Status.CurrentRevision, db.Status.UpdateRevision = "db-1", "db-1"
	db.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "shop"}
	st.s.StatefulSets = append(st.s.StatefulSets, db)
	owner := controlledBy("apps/v1", "StatefulSet", "db")
	for i := range 4 {
		claim := "data-db-" + strconv.Itoa(i)
		st.bind("disk-"+strconv.Itoa(i), claim)
		st.s.Claims[actions.ClaimKey{Namespace: "shop", Name: claim}].OwnerReferences = []metav1.OwnerReference{owner}
		if i < 3 {
			st.pods(pod("shop", "db-"+strconv.Itoa(i), claim, corev1.PodRunning, owner))
		}
	}
	// It goes as the set is scaled down.
	st.s.Pods[len(st.s.Pods)-1].Status.Phase = corev1.PodFailed
	st.bind("logs-0", "logs-db-0")
	st.req.Volume = actions.Ref{Kind: actions.VolumeKind, Name: "disk-1", UID: "uid-disk-1"}
	return st
}

func (st *stage) db() *appsv1.StatefulSet { return st.s.StatefulSets[1] }

// moving gives the volume to a claim elsewhere.
func moving() *stage {
	st := bare()
	st.req.Verb, st.req.To = MoveClaim, actions.ClaimKey{Namespace: "lab", Name: "exhibit"}
	st.s.Claims[st.req.To] = nil
	return st
}

// missing is a volume whose claim is gone.
func missing() *stage {
	st := bare()
	st.req.Verb = RecreateClaim
	st.s.Claims[actions.ClaimKey{Namespace: "shop", Name: "data"}] = nil
	st.s.RelatedClaims = nil
	st.pv().Status.Phase = corev1.VolumeReleased
	st.pv().Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	return st
}

// backup is the manifest of a claim, as a backup has it.
func backup() *corev1.PersistentVolumeClaim {
	st := bare()
	return st.pvc()
}

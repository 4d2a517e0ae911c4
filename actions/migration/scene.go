package migration

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/actions"
)

// Scene is a fresh look at all that an operation is about, as complete
// objects. They are read only. The maps say nil for what was looked for and is
// not there; what was not looked for is absent.
type Scene struct {
	// Volumes are those of the operation, by name.
	Volumes map[string]*corev1.PersistentVolume
	// Claims are those of the operation: the ones that are to go and the ones
	// that are to come.
	Claims map[actions.ClaimKey]*corev1.PersistentVolumeClaim

	// What follows is all of it in the namespaces of those claims.
	Pods         []*corev1.Pod
	StatefulSets []*appsv1.StatefulSet
	Deployments  []*appsv1.Deployment
	ReplicaSets  []*appsv1.ReplicaSet
	DaemonSets   []*appsv1.DaemonSet
	Jobs         []*batchv1.Job
	CronJobs     []*batchv1.CronJob
	Autoscalers  []*autoscalingv2.HorizontalPodAutoscaler
	Quotas       []*corev1.ResourceQuota
	LimitRanges  []*corev1.LimitRange

	// Attachments are those of the volumes of the operation.
	Attachments []*storagev1.VolumeAttachment
	Classes     []*storagev1.StorageClass
	// Drivers are the CSI drivers of the volumes, by name; nil for one that
	// has no CSIDriver object.
	Drivers map[string]*storagev1.CSIDriver
	// Namespaces are those of the claims, by name; nil for one that is not
	// there.
	Namespaces map[string]*corev1.Namespace
	// Related are all other volumes and claims that may matter: from the
	// cache, to find rivals and other operations.
	RelatedVolumes []*corev1.PersistentVolume
	RelatedClaims  []*corev1.PersistentVolumeClaim
	// OthersFresh: RelatedVolumes has all volumes with a note on them, as they
	// were after those of the operation were read, and Claims what OthersWanted
	// named.
	OthersFresh bool

	// Unread says for each resource that could not be read why not, by its
	// plural name. What it lacks proves nothing.
	Unread map[string]string
	// Denied are the requests of the steps that the server says are not
	// allowed, such as "delete persistentvolumeclaims in namespace exam".
	Denied []string
	// Trials are creations tried out under a temporary name.
	Trials []Trial
	// Unknown are fields of the originals that this program does not know, and
	// would leave out of what it makes anew, such as "StatefulSet exam/db:
	// spec.template.spec.novelty".
	Unknown []string
	// Version is the server's, such as "v1.37.2".
	Version string
}

// Trial is a creation that was tried by a dry run under a temporary name,
// while the name it is meant for was still taken.
type Trial struct {
	Target actions.Ref
	// Problem is the server's refusal in one sentence; empty if it would be
	// accepted.
	Problem string
	// Untried: the server could not take part (a webhook without dry run), or
	// was not asked for want of rights. Problem says why.
	Untried bool
	// Webhook changes are told by the difference between what was sent and
	// what the server would store: the paths that differ, such as
	// "spec.storageClassName".
	Changed []string
}

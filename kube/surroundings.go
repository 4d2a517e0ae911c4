package kube

import "k8s.io/apimachinery/pkg/types"

// The resources that are watched for what they say about volumes and claims.
const (
	Nodes             Resource = "nodes"
	Namespaces        Resource = "namespaces"
	VolumeAttachments Resource = "volumeattachments"
)

// Node is what is kept of a node: whether a volume can be used there.
type Node struct {
	Name   string
	UID    types.UID
	Labels map[string]string
	Ready  bool
	// Terminating: it is being deleted.
	Terminating bool
}

// Namespace is what is kept of a namespace.
type Namespace struct {
	Name        string
	UID         types.UID
	Terminating bool
}

// Attachment is what is kept of a VolumeAttachment of a PersistentVolume.
type Attachment struct {
	Name   string
	UID    types.UID
	Volume string
	Node   string
	// Attacher is the driver that attaches and detaches.
	Attacher string
	Attached bool
	// Problem is the last failure to attach or detach, if there is one.
	Problem     string
	Terminating bool
}

// Workload is what is kept of a StatefulSet, Deployment, ReplicaSet,
// DaemonSet, Job or CronJob whose pods use claims.
type Workload struct {
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	// Owner is what controls it, zero for nothing. It may be of a kind that
	// is not watched, such as a custom resource.
	Owner Owner
	// Claims are the names of the claims in its pod template, Templates those
	// of its volumeClaimTemplates, both sorted.
	Claims    []string
	Templates []string
	// Replicas is how many pods it is to have; nil for a kind without.
	Replicas *int32
	// Surges: a rollout starts a new pod before the old one has gone.
	Surges bool
	// Suspended: a Job or CronJob that starts nothing for now.
	Suspended bool
	// Finished: a Job that will start no more pods.
	Finished bool
	// WhenScaled and WhenDeleted are a StatefulSet's policy for its claims.
	WhenScaled  string
	WhenDeleted string
	// Source says what put it there and will put it back, such as "Argo CD
	// application shop" or "Helm release shop"; empty when nothing says so.
	Source string
	// Single: one of its volumeClaimTemplates asks for ReadWriteOncePod.
	Single bool
}

// Owner is a controller reference.
type Owner struct {
	APIVersion string
	Kind       string
	Name       string
	UID        types.UID
}

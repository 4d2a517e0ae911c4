package kube

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube/binding"
)

// Snapshot is the cluster's storage at one moment. It and all it points to
// are immutable: a reader may keep it for as long as it likes.
type Snapshot struct {
	// Revision grows with every change of anything in the snapshot.
	Revision uint64
	// Volumes are ordered by name, Claims by namespace and name, Classes by
	// name.
	Volumes []*Volume
	Claims  []*Claim
	Classes []*Class
	// Nodes and Namespaces are ordered by name. Workloads are those whose pods
	// use claims, ordered by namespace, kind and name.
	Nodes      []*Node
	Namespaces []*Namespace
	Workloads  []*Workload
	// Link is the state of the connection.
	Link Link
	// Resources says for each watched resource whether it could be read.
	Resources map[Resource]ResourceState
	// Rights says what the user may do, as far as it is known.
	Rights Rights
	// Scope is the one namespace that claims and pods are read from, or empty
	// when all namespaces are. It stays when that namespace is forbidden.
	Scope string
}

// Volume finds a volume by name; nil when the snapshot has none.
func (s *Snapshot) Volume(name string) *Volume {
	return lookup(s.Volumes, volumeOrder(name))
}

// Claim finds a claim; nil when the snapshot has none.
func (s *Snapshot) Claim(namespace, name string) *Claim {
	return lookup(s.Claims, claimOrder(namespace, name))
}

// Class finds a class by name; nil when the snapshot has none.
func (s *Snapshot) Class(name string) *Class {
	return lookup(s.Classes, classOrder(name))
}

// Node finds a node by name; nil when the snapshot has none.
func (s *Snapshot) Node(name string) *Node { return lookup(s.Nodes, nodeOrder(name)) }

// Namespace finds a namespace by name; nil when the snapshot has none.
func (s *Snapshot) Namespace(name string) *Namespace {
	return lookup(s.Namespaces, namespaceOrder(name))
}

// Workload finds a workload whose pods use claims; nil when the snapshot has
// none.
func (s *Snapshot) Workload(kind, namespace, name string) *Workload {
	return lookup(s.Workloads, workloadOrder(kind, namespace, name))
}

// Known tells whether the absence of an object of a resource in a namespace
// (none for a cluster-wide one) proves that it does not exist.
func (s *Snapshot) Known(resource Resource, namespace string) bool {
	return s.Resources[resource].covers(namespace)
}

// vouches tells whether what a snapshot lacks of a resource does not exist:
// all of it has been read, and the server tells of every change. A resource
// that is only listed from time to time is behind all the time.
func (s *Snapshot) vouches(resource Resource) bool {
	state := s.Resources[resource]
	return s.Link.Phase == Live && state.covers("") && state.Err == "" && state.Missing == ""
}

// OwnersKnown tells whether the workloads have been read wherever claims are:
// their templates name claims that no pod uses now. Without them, a claim or
// volume without users may still be somebody's.
func (s *Snapshot) OwnersKnown() bool {
	for _, resource := range []Resource{StatefulSets, Deployments, ReplicaSets, DaemonSets, Jobs, CronJobs} {
		if !s.Known(resource, s.Scope) {
			return false
		}
	}
	return true
}

// covers tells whether a namespace has been read completely.
func (s ResourceState) covers(namespace string) bool {
	return s.Phase == Synced && (s.Namespace == "" || s.Namespace == namespace)
}

// Volume is a PersistentVolume with what was joined to it.
type Volume struct {
	// Object is trimmed to what screens and rules use.
	Object *corev1.PersistentVolume
	State  binding.State
	// Class is the effective class: the beta annotation wins over the field.
	Class string
	// Capacity in bytes.
	Capacity int64
	// Tie says what stands behind spec.claimRef.
	Tie Tie
	// Traits are what the binding rules ask of it.
	Traits Traits
	// Users are the workloads that use it through its claim.
	Users []User
	// UsersKnown: its claim and all pods that could use it have been read.
	// Without it, an empty Users proves nothing.
	UsersKnown bool
	// Attachments are by what and where it is attached, by name.
	Attachments []*Attachment
}

// Tie says what stands behind a volume's claimRef, or behind a claim's
// volumeName.
type Tie uint8

// The ties.
const (
	// TieNone: no reference.
	TieNone Tie = iota
	// TieHeld: both sides name each other, by uid.
	TieHeld
	// TieAbsent: the other side does not exist.
	TieAbsent
	// TieOther: the other side exists but is another one, by uid, or points
	// elsewhere.
	TieOther
	// TieOpen: the other side exists and nothing contradicts a binding, which
	// has not happened yet.
	TieOpen
	// TieUnknown: the other side may not be read.
	TieUnknown
)

// Claim is a PersistentVolumeClaim with what was joined to it.
type Claim struct {
	Object *corev1.PersistentVolumeClaim
	State  binding.State
	Class  ClaimClass
	// Request and Capacity in bytes.
	Request  int64
	Capacity int64
	// Tie says what stands behind spec.volumeName.
	Tie Tie
	// Traits are what the binding rules ask of it.
	Traits Traits
	// ModesDiffer: spec.accessModes and status.accessModes are both set and
	// not the same: the volume's modes were edited under the claim.
	ModesDiffer bool
	Users       []User
	// UsersKnown: all pods of its namespace have been read. Without it, an
	// empty Users proves nothing.
	UsersKnown bool
}

// ClaimClass is the class a claim asks for. A class that is not set is filled
// in by the default class; one set to "" never is.
type ClaimClass struct {
	Name string
	Set  bool
	// Beta: the deprecated annotation says so and overrules the field.
	Beta bool
}

// Class is a StorageClass with the volumes that name it.
type Class struct {
	Object *storagev1.StorageClass
	// Default: marked as a default class, by either annotation.
	Default bool
	// Effective: the default that the admission plugin would choose.
	Effective bool
	// Volumes counts its volumes by phase, and adds up their capacity.
	Volumes map[binding.Phase]Tally
}

// Tally is a number of volumes and their capacity in bytes.
type Tally struct {
	Count int
	Bytes int64
}

// User is a workload that uses a claim, or a pod that nothing owns.
type User struct {
	// Kind is the workload's kind: StatefulSet, Deployment, ReplicaSet,
	// DaemonSet, Job, CronJob, Pod, or the kind of a custom resource.
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	// Pods of it that name the claim, of every phase, by name. Empty for a
	// workload whose template names the claim but which has no such pod now.
	Pods []Pod
	// Replicas is how many pods the workload is to have; nil for one that has
	// no such number, or that could not be read.
	Replicas *int32
	// Workload is what else is known of it; nil for a pod, for a custom
	// resource, and for what could not be read.
	Workload *Workload
}

// Pod is what is kept of a pod that uses claims.
type Pod struct {
	Name        string
	UID         types.UID
	Phase       corev1.PodPhase
	Node        string
	Terminating bool
}

// Resource names a watched resource.
type Resource string

// The watched resources, by their plural names in the API.
const (
	PersistentVolumes      Resource = "persistentvolumes"
	PersistentVolumeClaims Resource = "persistentvolumeclaims"
	StorageClasses         Resource = "storageclasses"
	Pods                   Resource = "pods"
	StatefulSets           Resource = "statefulsets"
	Deployments            Resource = "deployments"
	ReplicaSets            Resource = "replicasets"
	DaemonSets             Resource = "daemonsets"
	Jobs                   Resource = "jobs"
	CronJobs               Resource = "cronjobs"
)

// ResourceState says how far a resource has been read.
type ResourceState struct {
	// Phase of reading.
	Phase ReadPhase
	// Missing is the right that is missing, such as `list persistentvolumes`
	// or `watch pods in namespace exam`. With the phase Forbidden, nothing is
	// read for want of it. With another one, less is: only one namespace,
	// where the right to list all of them is missing, or, where that to watch
	// is, lists that are some time apart. Where both are, it names both, with
	// a comma between.
	Missing string
	// Err is the last failure in one sentence; empty when reading goes well.
	// What was read before it failed stays, and may be old.
	Err string
	// Namespace is the only namespace it is read from, or would be if it were
	// not Forbidden; empty when it is read from all of them, or has none.
	Namespace string
}

// ReadPhase says how far a resource has been read.
type ReadPhase int

// The phases of reading.
const (
	// Loading: nothing, or only a first page, has come yet.
	Loading ReadPhase = iota
	// Synced: everything has come once and changes follow.
	Synced
	// Forbidden: the user may not list or watch it.
	Forbidden
)

// LinkPhase is the state of the connection to the API server.
type LinkPhase int

// The states of the connection.
const (
	Connecting LinkPhase = iota
	Live
	// Stale: the server answers, but the watches have been silent for too
	// long to be believed.
	Stale
	Unreachable
)

// Link is the connection, for the header and the banner.
type Link struct {
	Phase LinkPhase
	// Since is when the phase began; for Stale and Unreachable, the last
	// moment at which what is shown was known to be true.
	Since time.Time
	// Err is the last failure in one sentence, and Kind its kind. Err is empty
	// while the phase is Live.
	Err  string
	Kind Kind
	// Version is the server's version, such as v1.37.2; empty until known.
	Version string
}

// Rights says what the user may do. A right that has not been asked about is
// absent.
type Rights map[Right]bool

// Right is a verb on a resource of the core group.
type Right struct {
	Verb     string
	Resource Resource
}

// Identity is who and where the user is, from the kubeconfig.
type Identity struct {
	Context   string
	Cluster   string
	User      string
	Server    string
	Namespace string
}

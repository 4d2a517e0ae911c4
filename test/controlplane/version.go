package controlplane

// Version is the Kubernetes version of the control plane. It must be the one
// that binaries/go.mod requires; a test compares them.
const Version = "v1.37.2"

// Names of the binaries, as they are called in the cache folder.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kubectl           = "kubectl"
)

// cacheEnv overrides the root of the cache in which binaries are kept.
const cacheEnv = "CLAIMREF_CACHE"

// binary is a program of the control plane and the package it is built from.
type binary struct {
	name string
	pkg  string
}

// binaries lists what is built, quickest first, so that a broken tool chain
// shows before the long builds.
func binaries() []binary {
	return []binary{
		{Etcd, "go.etcd.io/etcd/server/v3"},
		{APIServer, "k8s.io/kubernetes/cmd/kube-apiserver"},
		{ControllerManager, "k8s.io/kubernetes/cmd/kube-controller-manager"},
		{Scheduler, "k8s.io/kubernetes/cmd/kube-scheduler"},
		{Kubectl, "k8s.io/kubernetes/cmd/kubectl"},
	}
}

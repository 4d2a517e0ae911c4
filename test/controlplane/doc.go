// Package controlplane runs a real Kubernetes control plane for tests: etcd,
// kube-apiserver, kube-controller-manager and kube-scheduler as processes on
// loopback ports, with everything they write under one temporary folder.
//
// It owns the building of those binaries (see the nested module in binaries/),
// their start and stop order, the users and their rights, and the two parts
// that a bare control plane lacks: a volume provisioner whose volumes are
// folders with a sentinel file in them, and a small fake kubelet.
//
// It must not import the product: what it shows about the product has to come
// from outside. It needs a Unix system; on Linux the processes also die with
// the process that started them.
package controlplane

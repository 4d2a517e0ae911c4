package controlplane

import (
	"strconv"
	"strings"
	"time"
)

// controllers lists the controllers to run: those that have a hand in volumes,
// claims and the pods that use them. The attach-detach controller is left out,
// because nothing here would ever finish an attachment.
func controllers() []string {
	return []string{
		"persistentvolume-binder-controller",
		"persistentvolume-protection-controller",
		"persistentvolumeclaim-protection-controller",
		"ephemeral-volume-controller",
		"statefulset-controller",
		"replicaset-controller",
		"deployment-controller",
		"daemonset-controller",
		"job-controller",
		"cronjob-controller",
		"disruption-controller",
		"garbage-collector-controller",
		"namespace-controller",
		"serviceaccount-controller",
	}
}

func etcdArguments(dataDir string, p ports) []string {
	client, peer := address("http", p.etcd), address("http", p.etcdPeer)
	return []string{
		"--name=test",
		"--data-dir=" + dataDir,
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=test=" + peer,
		// The data need not survive the machine, only the process.
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func apiServerArguments(f *folder, p ports) []string {
	return []string{
		"--etcd-servers=" + address("http", p.etcd),
		"--bind-address=" + loopback,
		// Without it the server asks for the default route, which a machine
		// without a network does not have.
		"--advertise-address=" + loopback,
		"--secure-port=" + strconv.Itoa(p.apiServer),
		"--cert-dir=" + f.certs(),
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + f.serviceKey(),
		"--service-account-signing-key-file=" + f.serviceKey(),
		"--authorization-mode=RBAC",
		"--token-auth-file=" + f.tokens(),
		// Pods come without service account tokens, and nodes are ready as
		// soon as they exist: no kubelet reports on them.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
	}
}

func controllerManagerArguments(kubeconfig string, binderSync time.Duration) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--use-service-account-credentials=false",
		"--enable-hostpath-provisioner=true",
		"--pvclaimbinder-sync-period=" + binderSync.String(),
		"--controllers=" + strings.Join(controllers(), ","),
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

func schedulerArguments(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// demoProvisioner is the one provisioner that runs in the demo: claims of
	// classes that name another one wait, as they would.
	demoProvisioner = "folders.claimref.test"
	// demoContext is how the demo calls itself in a kubeconfig.
	demoContext = "demo"
	// demoAge is how old the cluster of the demo is: its oldest objects were
	// made then.
	demoAge = 40 * 24 * time.Hour
	// demoLife is how often something happens that nobody asked for.
	demoLife = 20 * time.Second
	// headerTimeout bounds how long a client may take to say what it wants.
	headerTimeout = 10 * time.Second
)

// Demo is a small cluster with a life of its own.
type Demo struct {
	// Server answers for it.
	Server *Server
	driver *Driver
}

// NewDemo makes a cluster out of manifests, in their order. They come about
// one after the other, over the weeks before now.
func NewDemo(manifests [][]byte, now time.Time) (*Demo, error) {
	controllers := Controllers(demoProvisioner)
	s := NewState(now.Add(-demoAge))
	for _, name := range []string{"n1", "n2", "n3"} {
		s = s.Create(demoNode(name))
	}
	for _, name := range []string{corev1.NamespaceDefault, "kube-system", "exam"} {
		s = admitted(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for i, manifest := range manifests {
		// The later a manifest, the closer to now: ages differ as in a
		// cluster that has grown.
		left := demoAge >> i
		s = s.WithNow(now.Add(-left))
		var err error
		if s, err = LoadManifest(s, controllers, manifest); err != nil {
			return nil, err
		}
	}
	server := NewServer(attached(s).WithNow(now).Forget(), ServerOptions{})
	return &Demo{
		Server: server,
		driver: NewDriver(server, controllers, Options{Seed: 1, Life: demoLife}),
	}, nil
}

// attached says of all attachments that they have been made: no driver runs
// in the demo that would.
func attached(s *State) *State {
	for _, o := range s.List(Attachments) {
		if a, ok := o.DeepCopyObject().(*storagev1.VolumeAttachment); ok {
			a.Status.Attached = true
			s = s.Update(a)
		}
	}
	return s
}

func demoNode(name string) *corev1.Node {
	room := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("8"),
		corev1.ResourceMemory: resource.MustParse("32Gi"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status: corev1.NodeStatus{
			Allocatable: room, Capacity: room,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
}

// Run lets things happen until the context ends.
func (d *Demo) Run(ctx context.Context) { d.driver.Run(ctx) }

// ClientConfig is what a kubeconfig would say of the demo, for a client in the
// same process.
func (d *Demo) ClientConfig() clientcmd.ClientConfig {
	return inProcess{
		described: clientcmd.NewDefaultClientConfig(*kubeconfig("http://" + demoContext), nil),
		config:    d.Server.RESTConfig(Admin),
	}
}

// inProcess is a kubeconfig whose server is reached without a network.
type inProcess struct {
	described
	config *rest.Config
}

// described is what a kubeconfig says besides.
type described = clientcmd.ClientConfig

// ClientConfig implements clientcmd.ClientConfig.
func (c inProcess) ClientConfig() (*rest.Config, error) { return rest.CopyConfig(c.config), nil }

// Listen serves the demo on a loopback address until the context ends, and
// returns a kubeconfig for it. Nothing but loopback is served: whoever can
// reach the demo may do everything in it.
func (d *Demo) Listen(ctx context.Context, address string) ([]byte, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen on %s: the demo is served on loopback only, such as 127.0.0.1:8001", address)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	server := &http.Server{Handler: d.Server, ReadHeaderTimeout: headerTimeout}
	go func() { _ = server.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = server.Close() })
	text, err := clientcmd.Write(*kubeconfig("http://" + listener.Addr().String()))
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig: %w", err)
	}
	return text, nil
}

// kubeconfig describes the demo at an address.
func kubeconfig(server string) *clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	c.Clusters[demoContext] = &clientcmdapi.Cluster{Server: server}
	c.AuthInfos[Admin] = &clientcmdapi.AuthInfo{Token: Admin}
	c.Contexts[demoContext] = &clientcmdapi.Context{Cluster: demoContext, AuthInfo: Admin}
	c.CurrentContext = demoContext
	return c
}

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// DefaultBinderSyncPeriod is how often the volume binder looks at all
	// volumes and claims again, as a cluster has it that sets nothing.
	DefaultBinderSyncPeriod = 15 * time.Second

	// portAttempts is how often a start is tried when another process takes
	// one of the chosen ports first.
	portAttempts = 3

	// apiServerGrace is short because the server lingers on SIGTERM for as
	// long as anybody watches.
	apiServerGrace = time.Second
	stopGrace      = 5 * time.Second
)

// Options of a control plane. The zero value is good.
type Options struct {
	// BinderSyncPeriod replaces DefaultBinderSyncPeriod.
	BinderSyncPeriod time.Duration
	// LogDir keeps the logs of the programs; without it they are in the
	// temporary folder and gone after Stop.
	LogDir string
	// DataDir is a folder for etcd's data that outlives Stop, for loads that
	// take long to make.
	DataDir string
	// Progress is told what is built when the cache lacks a binary; nil means
	// standard error.
	Progress io.Writer
}

// ControlPlane is a running control plane. Its methods may be called from
// several goroutines, except Stop.
type ControlPlane struct {
	options  Options
	binaries string
	folder   *folder
	users    map[string]user
	ports    ports
	admin    kubernetes.Interface

	mu                sync.Mutex // guards all below
	etcd              *process
	apiServer         *process
	controllerManager *process
	scheduler         *process
	provisioner       *process
	workers           []func()
	stopped           bool
	kubelet           bool
}

// Start starts a control plane and returns when it serves its users. The
// context bounds the start only: the control plane runs until Stop.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	if options.BinderSyncPeriod == 0 {
		options.BinderSyncPeriod = DefaultBinderSyncPeriod
	}
	if options.Progress == nil {
		options.Progress = os.Stderr
	}
	binaries, err := EnsureBinaries(ctx, options.Progress)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		cp, err := start(ctx, options, binaries)
		if err == nil {
			return cp, nil
		}
		if attempt == portAttempts || !errors.Is(err, errPortTaken) {
			return nil, fmt.Errorf("start the control plane: %w", err)
		}
	}
}

func start(ctx context.Context, options Options, binaries string) (_ *ControlPlane, err error) {
	cp := &ControlPlane{options: options, binaries: binaries, users: newUsers()}
	if cp.folder, err = newFolder(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cp.Stop())
		}
	}()
	if err := writeTokens(cp.folder.tokens(), cp.users); err != nil {
		return nil, err
	}
	if err := writeServiceKey(cp.folder.serviceKey()); err != nil {
		return nil, err
	}
	if cp.ports, err = freePorts(); err != nil {
		return nil, err
	}
	if err := cp.startEtcd(ctx); err != nil {
		return nil, err
	}
	if err := cp.StartAPIServer(ctx); err != nil {
		return nil, err
	}
	if cp.admin, err = kubernetes.NewForConfig(cp.Config(Admin)); err != nil {
		return nil, fmt.Errorf("connect as %s: %w", Admin, err)
	}
	if err := cp.grantAll(ctx); err != nil {
		return nil, err
	}
	if err := cp.startControllers(ctx); err != nil {
		return nil, err
	}
	return cp, nil
}

// launch starts a program, its log beside those of the others.
func (cp *ControlPlane) launch(program string, args []string) (*process, error) {
	logs := cp.folder.logs()
	if cp.options.LogDir != "" {
		logs = cp.options.LogDir
		if err := os.MkdirAll(logs, 0o755); err != nil {
			return nil, fmt.Errorf("create the folder of logs: %w", err)
		}
	}
	return startProcess(program, logs, args)
}

func (cp *ControlPlane) startEtcd(ctx context.Context) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	dataDir := cp.folder.etcd()
	if cp.options.DataDir != "" {
		dataDir = cp.options.DataDir
	}
	var err error
	if cp.etcd, err = cp.launch(cp.program(Etcd), etcdArguments(dataDir, cp.ports)); err != nil {
		return err
	}
	return cp.etcd.waitReady(ctx, func(ctx context.Context) bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address("http", cp.ports.etcd)+"/readyz", nil)
		if err != nil {
			return false
		}
		// A connection must not outlive the question: nobody would close it.
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// startControllers starts controller manager and scheduler, and waits for the
// first sign that controllers work: the service account that they add to every
// namespace.
func (cp *ControlPlane) startControllers(ctx context.Context) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	kubeconfig, err := cp.Kubeconfig(userScheduler)
	if err != nil {
		return err
	}
	if cp.scheduler, err = cp.launch(cp.program(Scheduler), schedulerArguments(kubeconfig)); err != nil {
		return err
	}
	if kubeconfig, err = cp.Kubeconfig(userControllerManager); err != nil {
		return err
	}
	args := controllerManagerArguments(kubeconfig, cp.options.BinderSyncPeriod)
	if cp.controllerManager, err = cp.launch(cp.program(ControllerManager), args); err != nil {
		return err
	}
	return cp.controllerManager.waitReady(ctx, func(ctx context.Context) bool {
		_, err := cp.admin.CoreV1().ServiceAccounts(Namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
}

// StartAPIServer starts the API server, on the port and with the certificate
// that it had before, so that clients find it again. It does nothing if the
// server runs.
func (cp *ControlPlane) StartAPIServer(ctx context.Context) error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if cp.apiServer != nil {
		return nil
	}
	server, err := cp.launch(cp.program(APIServer), apiServerArguments(cp.folder, cp.ports))
	if err != nil {
		return err
	}
	cp.apiServer = server
	return server.waitReady(ctx, cp.answers)
}

// answers reports whether the API server says that it is ready.
func (cp *ControlPlane) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	client, err := kubernetes.NewForConfig(cp.Config(Admin))
	if err != nil {
		return false
	}
	return client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error() == nil
}

// StopAPIServer ends the API server; everything else keeps running.
func (cp *ControlPlane) StopAPIServer() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	err := cp.apiServer.stop(apiServerGrace)
	cp.apiServer = nil
	return err
}

// PauseControllers freezes the controller manager, as if it lagged or had lost
// its lease.
func (cp *ControlPlane) PauseControllers() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.controllerManager.signal(syscall.SIGSTOP)
}

// ResumeControllers lets a paused controller manager go on.
func (cp *ControlPlane) ResumeControllers() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	return cp.controllerManager.signal(syscall.SIGCONT)
}

// KubectlPath is the kubectl of the same version, for cross-checks.
func (cp *ControlPlane) KubectlPath() string {
	return cp.program(Kubectl)
}

func (cp *ControlPlane) program(name string) string {
	return filepath.Join(cp.binaries, name)
}

// Admin is a client that may do everything.
func (cp *ControlPlane) Admin() kubernetes.Interface { return cp.admin }

// Dir is the folder under which the control plane keeps everything.
func (cp *ControlPlane) Dir() string { return cp.folder.path }

// Stop ends everything in the order that leaves no part waiting for another,
// and removes the temporary folder. Stopping twice is fine.
func (cp *ControlPlane) Stop() error {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	if cp.stopped {
		return nil
	}
	cp.stopped = true
	for _, stop := range cp.workers {
		stop()
	}
	err := errors.Join(
		cp.removeHostPaths(),
		cp.provisioner.stop(stopGrace),
		cp.controllerManager.stop(stopGrace),
		cp.scheduler.stop(stopGrace),
		cp.apiServer.stop(apiServerGrace),
		cp.etcd.stop(stopGrace),
		cp.folder.remove(),
	)
	if err != nil {
		return fmt.Errorf("stop the control plane: %w", err)
	}
	return nil
}

// work runs a function until Stop, with the values but not the end of ctx.
func (cp *ControlPlane) work(ctx context.Context, run func(context.Context)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { run(ctx) })
	cp.mu.Lock()
	defer cp.mu.Unlock()
	cp.workers = append(cp.workers, func() {
		cancel()
		group.Wait()
	})
}

package differential

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/claimref/claimref/test/controlplane"
)

const (
	poll           = 100 * time.Millisecond
	requestTimeout = 30 * time.Second
	settleTimeout  = 90 * time.Second
	// still is how long nothing may have happened to count as settled: longer
	// than a period of the binder.
	still = 1500 * time.Millisecond
	// lagging is the same while the controller manager does not run.
	lagging = 4 * time.Second
)

// realWorld is a control plane that all histories share.
type realWorld struct {
	cp     *controlplane.ControlPlane
	data   *controlplane.Provisioner
	stores []cache.Store
	pulse  *pulse
	lags   atomic.Bool
	crowd  crowd
}

func startRealWorld(ctx context.Context) (*realWorld, error) {
	cp, err := controlplane.Start(ctx, controlplane.Options{BinderSyncPeriod: time.Second})
	if err != nil {
		return nil, err
	}
	w := &realWorld{cp: cp}
	if err := cp.StartKubelet(ctx, nodes()...); err != nil {
		return w, err
	}
	if w.data, err = cp.StartProvisioner(ctx); err != nil {
		return w, err
	}
	return w, nil
}

// watch begins to watch all that is compared: to list it again and again would
// take more of the machine than what is to be seen.
func (w *realWorld) watch(ctx context.Context) error {
	config := w.cp.Config(controlplane.Admin)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, i := range []cache.SharedIndexInformer{
		factory.Core().V1().Namespaces().Informer(),
		factory.Core().V1().PersistentVolumeClaims().Informer(),
		factory.Core().V1().PersistentVolumes().Informer(),
		factory.Core().V1().Pods().Informer(),
		factory.Apps().V1().StatefulSets().Informer(),
		factory.Apps().V1().Deployments().Informer(),
		factory.Apps().V1().ReplicaSets().Informer(),
		factory.Apps().V1().DaemonSets().Informer(),
		factory.Batch().V1().Jobs().Informer(),
	} {
		w.stores = append(w.stores, i.GetStore())
	}
	factory.StartWithContext(ctx)
	factory.WaitForCacheSyncWithContext(ctx)
	w.pulse, err = startPulse(ctx, client)
	return err
}

func (w *realWorld) name() string { return "real" }

func (w *realWorld) client() kubernetes.Interface { return w.cp.Admin() }

func (w *realWorld) as(user string) (kubernetes.Interface, error) {
	if user == "" {
		return w.cp.Admin(), nil
	}
	return kubernetes.NewForConfig(w.cp.Config(user))
}

func (w *realWorld) objects(context.Context) ([]object, error) {
	var all []object
	for _, s := range w.stores {
		for _, item := range s.List() {
			if o, ok := item.(object); ok {
				all = append(all, o)
			}
		}
	}
	return all, nil
}

// settle waits until the controllers have done what they do with an object that
// was made later, and nothing has changed for a while.
func (w *realWorld) settle(ctx context.Context, look func(context.Context) (view, error)) (view, error) {
	quiet, beaten := still, w.pulse.beat()
	if w.lags.Load() {
		quiet, beaten = lagging, func() (bool, error) { return true, nil }
	}
	return w.await(ctx, look, settleTimeout, quiet, func(view) (bool, error) { return beaten() })
}

// await waits until a view is good and has not changed for a while. If that is
// not within the time, it returns the last view nevertheless.
func (w *realWorld) await(ctx context.Context, look func(context.Context) (view, error), limit, quiet time.Duration, good func(view) (bool, error)) (view, error) {
	last, err := look(ctx)
	if err != nil {
		return nil, err
	}
	since := time.Now()
	err = wait.PollUntilContextTimeout(ctx, poll, limit, false, func(ctx context.Context) (bool, error) {
		now, err := look(ctx)
		if err != nil {
			return false, err
		}
		if !reflect.DeepEqual(now, last) {
			last, since = now, time.Now()
		}
		ok, err := good(last)
		return ok && time.Since(since) >= quiet, err
	})
	return last, err
}

func (w *realWorld) addData(handle string) error {
	if strings.HasPrefix(handle, "/") {
		if err := os.MkdirAll(handle, 0o700); err != nil {
			return fmt.Errorf("make the folder: %w", err)
		}
		return nil
	}
	return w.data.AddFolder(handle)
}

func (w *realWorld) hasData(handle string) bool {
	if strings.HasPrefix(handle, "/") {
		_, err := os.Stat(handle)
		return err == nil
	}
	return w.data.SentinelExists(handle)
}

// lag waits until all histories that are being played want the same.
func (w *realWorld) lag(on bool) error {
	return w.crowd.meet(func() error {
		w.lags.Store(on)
		if on {
			// The pulse would only wait.
			w.pulse.hold()
			return w.cp.PauseControllers()
		}
		defer w.pulse.release()
		return w.cp.ResumeControllers()
	})
}

// crowd lets several histories take the same step together.
type crowd struct {
	mu      sync.Mutex
	members int
	arrived int
	// went is closed when all have arrived, and err is what came of it then.
	went chan struct{}
	step func() error
	err  error
}

// meet waits for all members, of whom one takes the step.
func (c *crowd) meet(step func() error) error {
	c.mu.Lock()
	if c.arrived == 0 {
		c.went = make(chan struct{})
	}
	c.arrived++
	c.step = step
	went := c.went
	c.advance()
	c.mu.Unlock()
	<-went
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// leave is for a member whose history is over.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members--
	c.advance()
}

func (c *crowd) advance() {
	if c.arrived > 0 && c.arrived == c.members {
		c.err, c.arrived = c.step(), 0
		close(c.went)
	}
}

// pulse is a volume, a claim and a pod that come and go all the time. They pass
// through the same queues as everything else: when a round is over that began
// after an act, the controllers have seen that, too.
type pulse struct {
	mu    sync.Mutex
	began int
	ended int
	gate  sync.Mutex // held to stop the pulse between two rounds
	err   error
}

func (p *pulse) hold()    { p.gate.Lock() }
func (p *pulse) release() { p.gate.Unlock() }

// beat returns a function that says whether a round has ended that began after
// beat was called.
func (p *pulse) beat() func() (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := p.began + 1
	return func() (bool, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.ended >= next, p.err
	}
}

func startPulse(ctx context.Context, client kubernetes.Interface) (*pulse, error) {
	p := &pulse{}
	r := rounds{client}
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	go func() {
		for n := 1; ctx.Err() == nil; n++ {
			p.gate.Lock()
			p.mu.Lock()
			p.began = n
			p.mu.Unlock()
			err := r.run(ctx, n)
			p.gate.Unlock()
			p.mu.Lock()
			p.ended, p.err = n, err
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return p, nil
}

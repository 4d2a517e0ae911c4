package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// pageSize is the number of objects asked for ahead of the complete list:
// more than a screen holds, and still a matter of milliseconds.
const pageSize = 200

// soundAttempt is how long reading must have gone well before a failure is
// the first one again.
const soundAttempt = 30 * time.Second

// reader keeps one resource's mailbox filled for as long as it runs. It runs
// a reflector, but keeps the retrying to itself: the reflector waits up to
// 30 s without being interruptible and without telling anybody that a server
// refuses the connection.
type reader struct {
	source   source
	client   kubernetes.Interface
	box      *mailbox
	timing   Timing
	fallback string

	// kick ends a pause.
	kick chan struct{}

	mu sync.Mutex
	// stop ends the current attempt.
	stop context.CancelFunc
}

func newReader(s source, client kubernetes.Interface, box *mailbox, timing Timing, fallback string) *reader {
	return &reader{source: s, client: client, box: box, timing: timing, fallback: fallback, kick: make(chan struct{}, 1)}
}

// readError remembers which verb failed.
type readError struct {
	verb verb
	err  error
}

func (e *readError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *readError) Unwrap() error { return e.err }

// retrySoon ends a pause: the server is back.
func (r *reader) retrySoon() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// restart ends the current attempt too: its watch has gone silent.
func (r *reader) restart() {
	r.mu.Lock()
	stop := r.stop
	r.mu.Unlock()
	if stop != nil {
		stop()
	}
	r.retrySoon()
}

// run reads from a namespace, or from all of them when it is empty, until the
// context ends.
func (r *reader) run(ctx context.Context, namespace string) {
	scope := namespace
	r.box.begin(scope, "")
	pause := r.timing.Retry
	for ctx.Err() == nil {
		began := time.Now()
		err := r.attempt(ctx, scope)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > soundAttempt {
			pause = r.timing.Retry
		}
		switch {
		case err == nil:
			r.rest(ctx, r.timing.Retry)
		case KindOf(err) == KindForbidden && scope == "" && r.source.namespaced && r.fallback != "" && !r.pollable(err):
			// Not all namespaces, then: the user's own may still be open.
			scope = r.fallback
			r.box.begin(scope, r.right(err, ""))
		case KindOf(err) == KindForbidden:
			listed := r.pollable(err)
			r.refused(err, scope)
			r.rest(ctx, r.timing.SlowRetry)
			if !listed {
				scope = namespace
				r.box.aim(scope, "")
			}
		default:
			r.failed(failedVerb(err), err)
			r.rest(ctx, pause)
			pause = min(2*pause, r.timing.RetryMax)
		}
	}
}

// pollable: the list came, only the watch was refused.
func (r *reader) pollable(err error) bool {
	failed, ok := errors.AsType[*readError](err)
	return ok && failed.verb == watching && r.box.pulse().synced
}

// failed tells the mailbox what went wrong, without the names that client-go
// has for things.
func (r *reader) failed(what verb, err error) {
	if failed, ok := errors.AsType[*readError](err); ok {
		err = failed.err
	}
	r.box.fail(what, KindOf(err), fmt.Sprintf("can't %s %s: %s", what, r.source.resource, Explain(err)))
}

// failedVerb is list where nothing else is known: that comes first.
func failedVerb(err error) verb {
	if failed, ok := errors.AsType[*readError](err); ok {
		return failed.verb
	}
	return listing
}

// right is the one that an error says is missing.
func (r *reader) right(err error, namespace string) string {
	right := fmt.Sprintf("%s %s", failedVerb(err), r.source.resource)
	if namespace != "" && r.source.namespaced {
		right += " in namespace " + namespace
	}
	return right
}

func (r *reader) refused(err error, namespace string) {
	missing := r.right(err, namespace)
	if r.pollable(err) {
		r.box.poll(missing, fmt.Sprintf("may not %s: read again every %s", missing, r.timing.SlowRetry))
		return
	}
	r.box.forbid(namespace, missing, Explain(err))
}

// rest pauses until the time is up or somebody knows that the server is back.
func (r *reader) rest(ctx context.Context, pause time.Duration) {
	pauseFor(ctx, pause, r.kick)
}

// pauseFor waits until the time is up, the context ends, or a signal comes.
func pauseFor(ctx context.Context, pause time.Duration, signals <-chan struct{}) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-signals:
	}
}

// attempt lists and watches until something ends it.
func (r *reader) attempt(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, klog.Logger{}))
	defer cancel()
	r.mu.Lock()
	r.stop = cancel
	r.mu.Unlock()

	lw := r.source.open(namespace)
	if r.source.firstPage && r.box.empty() {
		var page sync.WaitGroup
		page.Go(func() { r.firstPage(ctx, lw) })
		defer func() {
			cancel()
			page.Wait()
		}()
	}
	quiet := klog.Logger{}
	reflector := cache.NewReflectorWithOptions(
		cache.ToListWatcherWithWatchListSemantics(r.wrap(lw), r.client), r.source.example, r.box,
		cache.ReflectorOptions{Name: string(r.source.resource), Logger: &quiet})
	return reflector.ListAndWatchWithContext(ctx)
}

// firstPage has something to show while the complete list is under way. Its
// failure is of no interest: the list will meet the same.
func (r *reader) firstPage(ctx context.Context, lw *cache.ListWatch) {
	list, err := lw.ListWithContextFunc(ctx, metav1.ListOptions{Limit: pageSize})
	if err != nil {
		return
	}
	items, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		return
	}
	objects := make([]any, 0, len(items))
	for _, item := range items {
		objects = append(objects, item)
	}
	r.box.page(objects)
}

// wrap adds what the reflector does not tell: which verb failed, how a watch
// fares, and that the server refuses connections.
func (r *reader) wrap(lw *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list, err := lw.ListWithContextFunc(ctx, opts)
			if err != nil {
				return nil, &readError{verb: listing, err: err}
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			pause := r.timing.Retry
			for {
				w, err := lw.WatchFuncWithContext(ctx, opts)
				if err == nil {
					r.box.connected()
					return r.observe(ctx, w, opts.SendInitialEvents != nil && *opts.SendInitialEvents), nil
				}
				// A server that is away or busy comes back, and the watch can
				// go on where it was: no need to list everything again.
				if kind := KindOf(err); ctx.Err() != nil || kind != KindUnreachable && statusCode(err) != http.StatusTooManyRequests {
					return nil, &readError{verb: watching, err: err}
				}
				r.failed(watching, err)
				r.rest(ctx, pause)
				pause = min(2*pause, r.timing.RetryMax)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
		},
	}
}

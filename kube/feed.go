package kube

import (
	"context"
	"maps"
	"sync"
	"time"
)

// Feed is a running watch of the cluster's storage, seen as snapshots.
type Feed struct {
	client  *Client
	readers []*reader
	boxes   map[Resource]*mailbox

	// dirty tells that there is something to build a snapshot from.
	dirty chan struct{}
	// out holds the newest snapshot that has not been fetched.
	out chan *Snapshot
	// scope holds the newest wish for a namespace.
	scope chan string

	wg   sync.WaitGroup
	done chan struct{}

	mu     sync.Mutex
	link   Link
	rights Rights
}

// Watch starts to watch. All of it ends with the context.
func (c *Client) Watch(ctx context.Context) *Feed {
	f := &Feed{
		client: c,
		boxes:  make(map[Resource]*mailbox),
		dirty:  make(chan struct{}, 1),
		out:    make(chan *Snapshot, 1),
		scope:  make(chan string, 1),
		done:   make(chan struct{}),
		link:   Link{Phase: Connecting, Since: time.Now()},
	}
	fallback := ""
	if c.fallback {
		fallback = c.namespace
	}
	trim := newTrimmer()
	for _, s := range sources(c.streams) {
		box := newMailbox(trim.trim, f.dirty)
		f.boxes[s.resource] = box
		f.readers = append(f.readers, newReader(s, c.streams, box, c.timing, fallback))
	}
	for _, r := range f.readers {
		if !r.source.namespaced {
			f.wg.Go(func() { r.run(ctx, "") })
		}
	}
	f.wg.Go(func() { f.readNamespaces(ctx) })
	f.wg.Go(func() { f.watchLink(ctx) })
	f.wg.Go(func() { f.watchRights(ctx) })
	f.wg.Go(func() { f.build(ctx) })
	go func() {
		f.wg.Wait()
		close(f.done)
	}()
	return f
}

// Wait blocks until everything that Watch started has ended.
func (f *Feed) Wait() { <-f.done }

// Next blocks until there is a snapshot newer than the one it returned last.
// After the feed has ended it returns ErrClosed.
func (f *Feed) Next(ctx context.Context) (*Snapshot, error) {
	select {
	case s := <-f.out:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.done:
		return nil, ErrClosed
	}
}

// SetScope reads claims, pods and workloads from one namespace, or from all
// of them when it is empty. It is for those who may not list all of them.
func (f *Feed) SetScope(namespace string) { replace(f.scope, namespace) }

// replace puts a value into a channel of one, in the place of one that nobody
// has taken.
func replace[T any](ch chan T, value T) {
	for {
		select {
		case ch <- value:
			return
		default:
		}
		select {
		case <-ch:
		default:
		}
	}
}

// readNamespaces runs the readers of all resources that have a namespace, and
// starts them anew when another one is wanted.
func (f *Feed) readNamespaces(ctx context.Context) {
	wanted := ""
	for ctx.Err() == nil {
		scope := wanted
		scoped, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		for _, r := range f.readers {
			if r.source.namespaced {
				wg.Go(func() { r.run(scoped, scope) })
			}
		}
		select {
		case <-ctx.Done():
		case wanted = <-f.scope:
		}
		cancel()
		wg.Wait()
	}
}

// build makes snapshots: the first change is shown at once, those that follow
// closely are gathered.
func (f *Feed) build(ctx context.Context) {
	j := newJoin()
	var last *Snapshot
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		// The pause after a snapshot, then whatever came during it.
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-f.dirty:
		}
		if s := f.next(j, last); s != nil {
			last = s
			replace(f.out, s)
		}
		pause := f.client.timing.Coalesce
		if !hasRows(last) {
			// The link and the rights come first and must not hold up what
			// the user waits for.
			pause /= 10
		}
		timer.Reset(pause)
	}
}

// hasRows tells whether there is anything to look at yet, or will not be.
func hasRows(s *Snapshot) bool {
	return s != nil && (len(s.Volumes) > 0 || len(s.Claims) > 0 || s.Resources[PersistentVolumes].Phase != Loading)
}

// next makes a snapshot of what has come in; nil when nothing that is shown
// has changed.
func (f *Feed) next(j *join, last *Snapshot) *Snapshot {
	for _, r := range f.readers {
		j.apply(r.source.resource, r.box.collect())
	}
	changed := j.rebuild()
	f.mu.Lock()
	link, rights := f.link, f.rights
	f.mu.Unlock()
	if last != nil && !changed && link == last.Link && maps.Equal(rights, last.Rights) {
		return nil
	}
	s := j.snapshot()
	s.Link, s.Rights = link, rights
	s.Revision = 1
	if last != nil {
		s.Revision = last.Revision + 1
	}
	return s
}

func (f *Feed) signal() {
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

func (f *Feed) setLink(l Link) {
	f.mu.Lock()
	changed := f.link != l
	f.link = l
	f.mu.Unlock()
	if changed {
		f.signal()
	}
}

func (f *Feed) pulses() []pulse {
	pulses := make([]pulse, 0, len(f.readers))
	for _, r := range f.readers {
		pulses = append(pulses, r.box.pulse())
	}
	return pulses
}

// retrySoon ends all pauses between attempts.
func (f *Feed) retrySoon() {
	for _, r := range f.readers {
		r.retrySoon()
	}
}

// restartSilent begins the watches anew that have been silent for too long.
func (f *Feed) restartSilent(now time.Time) {
	for _, r := range f.readers {
		if p := r.box.pulse(); p.synced && p.bookmarks && now.Sub(p.heard) > f.client.timing.Silence {
			r.restart()
		}
	}
}

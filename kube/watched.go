package kube

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// soundWatch is how long a watch must have lived before it counts as working.
// One that fails is often accepted first.
const soundWatch = time.Second

// errShortWatch: what stands between here and the API server does so when it
// can't pass on an answer that has no end.
var errShortWatch = errors.New("the server ends the watch as soon as it has begun")

// watched is a watch of which the mailbox is told how it fares. The reflector
// lists everything again after a failure and tells nobody, however often that
// happens.
type watched struct {
	reader *reader
	inner  watch.Interface
	events chan watch.Event
	done   chan struct{}
	once   sync.Once
}

// observe passes a watch on. streamed: it sends what there is ahead of what
// changes, in the place of a list.
func (r *reader) observe(ctx context.Context, inner watch.Interface, streamed bool) watch.Interface {
	w := &watched{reader: r, inner: inner, events: make(chan watch.Event), done: make(chan struct{})}
	what := watching
	if streamed {
		what = listing
	}
	go w.pass(ctx, what)
	return w
}

// ResultChan returns the events.
func (w *watched) ResultChan() <-chan watch.Event { return w.events }

// Stop ends the watch.
func (w *watched) Stop() {
	w.once.Do(func() {
		close(w.done)
		w.inner.Stop()
	})
}

func (w *watched) pass(ctx context.Context, what verb) {
	defer close(w.events)
	sound := time.NewTimer(soundWatch)
	defer sound.Stop()
	began, silent := time.Now(), true
	for {
		select {
		case <-w.done:
			return
		case <-sound.C:
			if what == watching {
				w.reader.box.settled()
			}
		case event, open := <-w.inner.ResultChan():
			// What happens once it has been given up is no failure.
			ended := ctx.Err() != nil || w.stopped()
			switch {
			case !open:
				if silent && !ended && time.Since(began) < soundWatch {
					w.reader.failed(what, errShortWatch)
				}
				return
			case event.Type == watch.Error && !ended:
				// The versions that a server remembers run out, as they should.
				if err := apierrors.FromObject(event.Object); !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
					w.reader.failed(what, err)
				}
			case event.Type == watch.Bookmark && what == listing && endsList(event):
				what = watching
				sound.Reset(soundWatch)
			}
			silent = false
			select {
			case w.events <- event:
			case <-w.done:
				return
			}
		}
	}
}

func (w *watched) stopped() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// endsList tells whether a bookmark says that all there is has been sent.
func endsList(event watch.Event) bool {
	object, err := meta.Accessor(event.Object)
	return err == nil && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

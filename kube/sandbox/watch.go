package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// longestWatch ends a watch that does not say when to end. Real servers choose
// half an hour to an hour.
const longestWatch = 30 * time.Minute

// watcher is one watch that goes on. It reads the server's history by itself,
// so that a slow one holds up nobody; one that is too slow finds the history
// compacted.
type watcher struct {
	call      call
	match     matcher
	bookmarks bool
	epoch     int
	// at is the version up to which everything was sent.
	at int64
	// initial is what is sent ahead of the changes, and synced says that its
	// end is to be marked.
	initial []Object
	synced  bool

	codec codec
	info  runtime.SerializerInfo
	out   io.Writer
	flush func()
}

// serveWatch is ListResource's watching half in endpoints/handlers/get.go and
// watch.go of k8s.io/apiserver.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request, c call) {
	watcher, timeout, err := s.newWatcher(r, c)
	if err != nil {
		s.codec.fail(w, r, err)
		return
	}
	flusher, ok := w.(http.Flusher)
	if !ok {
		s.codec.fail(w, r, apierrors.NewInternalError(fmt.Errorf("unable to start watch - can't get http.Flusher: %T", w)))
		return
	}
	media := watcher.info.MediaType
	if media != runtime.ContentTypeJSON {
		media += ";stream=watch"
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(http.StatusOK)
	flusher.Flush()
	watcher.out, watcher.flush = watcher.info.StreamSerializer.NewFrameWriter(w), flusher.Flush
	end := time.NewTimer(timeout)
	defer end.Stop()
	// The connection is gone, or what could be said about the error was.
	_ = watcher.run(s, r.Context().Done(), end.C)
}

func (s *Server) newWatcher(r *http.Request, c call) (*watcher, time.Duration, error) {
	o, match, err := c.listOptions()
	if err != nil {
		return nil, 0, err
	}
	if errs := checkInitialEvents(o); len(errs) > 0 {
		return nil, 0, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", errs)
	}
	info := s.codec.accepted(r)
	if info.StreamSerializer == nil {
		info = s.codec.json
	}
	state, epoch := s.now()
	watcher := &watcher{
		call: c, match: match, bookmarks: o.AllowWatchBookmarks, epoch: epoch, at: state.version,
		codec: s.codec, info: info,
	}
	initial := o.SendInitialEvents != nil && *o.SendInitialEvents
	switch version := o.ResourceVersion; {
	case initial, version == "" && o.SendInitialEvents == nil, version == "0" && o.SendInitialEvents == nil:
		if err := tooNew(version, state); err != nil {
			return nil, 0, err
		}
		watcher.initial, watcher.synced = state.scope(c), initial
	case version == "", version == "0":
	default:
		if watcher.at, err = strconv.ParseInt(version, 10, 64); err != nil {
			return nil, 0, apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: Invalid value: %q: %v", version, err))
		}
	}
	timeout := longestWatch
	if o.TimeoutSeconds != nil && *o.TimeoutSeconds > 0 {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	return watcher, timeout, nil
}

// checkInitialEvents is ValidateListOptions in
// apimachinery/pkg/apis/meta/internalversion/validation, for a watch.
func checkInitialEvents(o metav1.ListOptions) field.ErrorList {
	path := field.NewPath("resourceVersionMatch")
	switch {
	case o.SendInitialEvents == nil && o.ResourceVersionMatch != "":
		return field.ErrorList{field.Forbidden(path, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")}
	case o.SendInitialEvents != nil && o.ResourceVersionMatch != metav1.ResourceVersionMatchNotOlderThan:
		return field.ErrorList{field.Forbidden(path, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")}
	}
	return nil
}

func (w *watcher) run(s *Server, gone <-chan struct{}, end <-chan time.Time) error {
	for _, o := range w.initial {
		if !w.match.matches(o) {
			continue
		}
		if err := w.send(watch.Added, o, ""); err != nil {
			return err
		}
	}
	w.initial = nil
	if w.synced && w.bookmarks {
		if err := w.bookmark(map[string]string{metav1.InitialEventsAnnotationKey: "true"}); err != nil {
			return err
		}
	}
	tick := time.NewTicker(s.options.BookmarkEvery)
	defer tick.Stop()
	for {
		changes, current, changed, ok := s.history(w.epoch, w.at)
		if !ok {
			return w.expired(current)
		}
		for _, c := range changes {
			if err := w.tell(c); err != nil {
				return err
			}
		}
		w.at = max(w.at, current)
		select {
		case <-gone:
			return nil
		case <-end:
			return nil
		case <-changed:
		case <-tick.C:
			if w.bookmarks {
				if err := w.bookmark(nil); err != nil {
					return err
				}
			}
		}
	}
}

// tell sends a change as the watcher's selectors see it: an object that comes
// to match is added, one that no longer does is deleted (convertToWatchEvent in
// storage/cacher/cache_watcher.go).
func (w *watcher) tell(c Change) error {
	if c.Key.Resource != w.call.kind.resource || (w.call.namespace != "" && c.Key.Namespace != w.call.namespace) {
		return nil
	}
	was := c.Before != nil && w.match.matches(c.Before)
	is := c.After != nil && w.match.matches(c.After)
	switch {
	case was && is:
		return w.send(watch.Modified, c.After, "")
	case is:
		return w.send(watch.Added, c.After, "")
	case was:
		// The object as it was, at the version in which it went.
		return w.send(watch.Deleted, c.Before, strconv.FormatInt(c.Version, 10))
	}
	return nil
}

func (w *watcher) bookmark(annotations map[string]string) error {
	o := w.call.kind.make()
	o.SetAnnotations(annotations)
	return w.send(watch.Bookmark, o, strconv.FormatInt(w.at, 10))
}

// expired ends a watch that can't go on from where it is.
func (w *watcher) expired(current int64) error {
	refusal := apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", w.at, current))
	return w.write(watch.Error, &refusal.ErrStatus, schema.GroupVersion{Version: firstVersion})
}

func (w *watcher) send(kind watch.EventType, o Object, version string) error {
	if version != "" {
		stamped, ok := o.DeepCopyObject().(Object)
		if !ok {
			return fmt.Errorf("a %T is no object", o)
		}
		stamped.SetResourceVersion(version)
		o = stamped
	}
	return w.write(kind, o, w.call.kind.gvk.GroupVersion())
}

func (w *watcher) write(kind watch.EventType, o runtime.Object, gv schema.GroupVersion) error {
	data, err := w.codec.bytes(w.info, o, gv)
	if err != nil {
		return err
	}
	event := &metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: data}}
	if err := w.info.StreamSerializer.Encode(event, w.out); err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	w.flush()
	return nil
}

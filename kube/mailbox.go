package kube

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// mailbox is what a reflector writes into: the changes of one resource since
// they were last collected. It never blocks and never grows beyond one entry
// for each object. There is no cache behind it: the join keeps the only copy.
//
// It takes the place of an informer, whose queue, cache and listeners would
// each hold everything once more while the first list comes in.
type mailbox struct {
	trim  func(any) any
	dirty chan<- struct{}

	mu sync.Mutex
	// changes maps keys to trimmed objects, or to nil for deleted ones.
	changes map[string]any
	// replaced: changes is all there is, and what it lacks is gone.
	replaced bool
	state    ResourceState
	// namespace is what is being read: one namespace, or all of them when it
	// is empty. lacking is the right for want of which it is not all of them,
	// unwatched the one for want of which changes do not come by themselves.
	namespace string
	lacking   string
	unwatched string
	// heard is when the server last said anything about this resource.
	heard time.Time
	// bookmarks: this watch has sent one, so its silence means something.
	bookmarks bool
	// failing is since when reading has failed; zero when it goes well. failed
	// is what fails, and kind in which way.
	failing time.Time
	failed  verb
	kind    Kind
}

// verb is one of the two ways in which a resource is read.
type verb string

const (
	listing  verb = "list"
	watching verb = "watch"
)

// The reflector looks for the optional interfaces by itself; this keeps them
// from getting lost.
var (
	_ cache.ReflectorStore         = (*mailbox)(nil)
	_ cache.ReflectorBookmarkStore = (*mailbox)(nil)
	_ cache.TransformingStore      = (*mailbox)(nil)
)

func newMailbox(trim func(any) any, dirty chan<- struct{}) *mailbox {
	return &mailbox{trim: trim, dirty: dirty}
}

// delivery is what collect hands out.
type delivery struct {
	changes  map[string]any
	replaced bool
	state    ResourceState
}

// collect takes everything out of the box.
func (m *mailbox) collect() delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := delivery{changes: m.changes, replaced: m.replaced, state: m.state}
	m.changes, m.replaced = nil, false
	return d
}

// signal tells the collector, which needs to be told only once.
func (m *mailbox) signal() {
	select {
	case m.dirty <- struct{}{}:
	default:
	}
}

// Transformer lets the reflector trim while the first list streams in, rather
// than when all of it has been gathered in memory.
func (m *mailbox) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { return m.trim(obj), nil }
}

// Add records a new object.
func (m *mailbox) Add(obj any) error { return m.put(obj) }

// Update records a changed object.
func (m *mailbox) Update(obj any) error { return m.put(obj) }

// Delete records that an object is gone. A tombstone names it as well as the
// object itself does.
func (m *mailbox) Delete(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return fmt.Errorf("key of a deleted object: %w", err)
	}
	m.set(key, nil)
	return nil
}

func (m *mailbox) put(obj any) error {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return fmt.Errorf("key of an object: %w", err)
	}
	m.set(key, m.trim(obj))
	return nil
}

func (m *mailbox) set(key string, obj any) {
	m.mu.Lock()
	if m.changes == nil {
		m.changes = make(map[string]any)
	}
	m.changes[key] = obj
	m.hear()
	m.mu.Unlock()
	m.signal()
}

// Replace records a complete list.
func (m *mailbox) Replace(list []any, _ string) error {
	changes := make(map[string]any, len(list))
	for _, obj := range list {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return fmt.Errorf("key of a listed object: %w", err)
		}
		changes[key] = m.trim(obj)
	}
	m.mu.Lock()
	m.changes, m.replaced = changes, true
	m.state.Phase, m.state.Namespace, m.state.Missing = Synced, m.namespace, m.missing()
	m.heard = time.Now()
	// A list says nothing about the watch, which may fail after each of them.
	if m.failed != watching {
		m.recover()
	}
	m.mu.Unlock()
	m.signal()
	return nil
}

// missing names the rights for want of which less is read. The lock is held.
func (m *mailbox) missing() string {
	if m.lacking != "" && m.unwatched != "" {
		return m.lacking + ", " + m.unwatched
	}
	return m.lacking + m.unwatched
}

// Resync has no meaning without a cache.
func (m *mailbox) Resync() error { return nil }

// Bookmark records a sign of life.
func (m *mailbox) Bookmark(string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bookmarks = true
	m.hear()
	return nil
}

// hear notes that a watch said something. The lock is held.
func (m *mailbox) hear() {
	m.heard = time.Now()
	m.recover()
}

// recover notes that reading goes well. The lock is held.
func (m *mailbox) recover() {
	m.failing, m.failed, m.kind = time.Time{}, "", KindOther
	m.state.Err = ""
}

// page offers the first few objects, to have something to show. They count
// only as long as the complete list has not come.
func (m *mailbox) page(list []any) {
	trimmed := make(map[string]any, len(list))
	for _, obj := range list {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			trimmed[key] = m.trim(obj)
		}
	}
	m.mu.Lock()
	if m.state.Phase != Loading {
		m.mu.Unlock()
		return
	}
	if m.changes == nil {
		m.changes = make(map[string]any, len(trimmed))
	}
	for key, obj := range trimmed {
		if _, newer := m.changes[key]; !newer {
			m.changes[key] = obj
		}
	}
	m.mu.Unlock()
	m.signal()
}

// connected notes that a watch has been accepted. Whether it works remains to
// be seen.
func (m *mailbox) connected() {
	m.mu.Lock()
	changed := m.unwatched != ""
	if changed {
		m.unwatched = ""
		m.state.Missing = m.missing()
		m.recover()
	}
	m.bookmarks = false
	m.heard = time.Now()
	m.mu.Unlock()
	if changed {
		m.signal()
	}
}

// settled notes that a watch works, although it may have had nothing to say.
func (m *mailbox) settled() {
	m.mu.Lock()
	changed := m.state.Err != ""
	m.recover()
	m.mu.Unlock()
	if changed {
		m.signal()
	}
}

// fail notes that reading failed and will be tried again.
func (m *mailbox) fail(what verb, kind Kind, reason string) {
	m.mu.Lock()
	if m.failing.IsZero() {
		m.failing = time.Now()
	}
	changed := m.state.Err != reason
	m.failed, m.kind = what, kind
	m.state.Err = reason
	m.mu.Unlock()
	if changed {
		m.signal()
	}
}

// forbid notes that the user lacks a right. What was read before goes: nobody
// can say any more whether it is true. The namespace stays, as it is still
// the one that the user wants to see.
func (m *mailbox) forbid(namespace, missing, reason string) {
	m.reset(ResourceState{Phase: Forbidden, Namespace: namespace, Missing: missing, Err: reason})
}

// poll notes that the resource can be listed but not watched.
func (m *mailbox) poll(missing, reason string) {
	m.mu.Lock()
	m.unwatched = missing
	missing = m.missing()
	changed := m.state.Missing != missing || m.state.Err != reason
	m.state.Missing, m.state.Err = missing, reason
	m.failing, m.failed, m.kind = time.Time{}, watching, KindForbidden
	m.bookmarks = false
	m.mu.Unlock()
	if changed {
		m.signal()
	}
}

// aim says what is read from now on: a namespace, or all of them. lacking is
// the right for want of which it is not all of them.
func (m *mailbox) aim(namespace, lacking string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.namespace, m.lacking = namespace, lacking
}

// begin aims, and empties the box. Where the same has been refused before,
// the refusal stands until there is other news.
func (m *mailbox) begin(namespace, lacking string) {
	m.aim(namespace, lacking)
	m.mu.Lock()
	refused := m.state.Phase == Forbidden && m.state.Namespace == namespace
	m.mu.Unlock()
	if !refused {
		m.reset(ResourceState{Phase: Loading, Namespace: namespace, Missing: lacking})
	}
}

func (m *mailbox) reset(state ResourceState) {
	m.mu.Lock()
	changed := m.state != state
	if changed {
		m.changes, m.replaced = nil, true
		m.state = state
	}
	m.unwatched, m.bookmarks = "", false
	m.failing, m.failed, m.kind = time.Time{}, "", KindOther
	m.mu.Unlock()
	if changed {
		m.signal()
	}
}

// pulse is what the link needs to know about one resource.
type pulse struct {
	synced    bool
	heard     time.Time
	bookmarks bool
	failing   time.Time
	kind      Kind
	err       string
}

func (m *mailbox) pulse() pulse {
	m.mu.Lock()
	defer m.mu.Unlock()
	return pulse{
		synced:    m.state.Phase == Synced,
		heard:     m.heard,
		bookmarks: m.bookmarks,
		failing:   m.failing,
		kind:      m.kind,
		err:       m.state.Err,
	}
}

// empty tells that nothing has been read yet.
func (m *mailbox) empty() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.Phase == Loading && m.heard.IsZero()
}

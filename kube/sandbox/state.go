package sandbox

import (
	"maps"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// Object is an API object in a State. It must not be changed once it is
// stored: whoever changes one makes a deep copy first.
type Object interface {
	runtime.Object
	metav1.Object
}

// Resource names a kind of object by its plural name, such as
// "persistentvolumes". The table of resources is in resources.go.
type Resource string

// Key names an object. Namespace is empty outside of namespaces.
type Key struct {
	Resource  Resource
	Namespace string
	Name      string
}

// KeyOf is the name of an object. Its Resource is "" for a kind that is not
// modelled.
func KeyOf(o Object) Key {
	return Key{Resource: resourceOf(o), Namespace: o.GetNamespace(), Name: o.GetName()}
}

// Change is one thing that happened to a State, in the order of versions. It
// is what watches are fed from.
type Change struct {
	Version int64
	Key     Key
	// Before is nil for a creation, After for a removal.
	Before, After Object
}

// State is everything that is stored. It is an immutable value: the methods
// that change something return a new State, and copying a State is copying a
// pointer. The zero value is not ready; NewState makes one.
type State struct {
	version int64
	uids    int64
	now     time.Time
	shelves map[Resource]shelf
	// owners finds objects by uid. States that hold the same set of objects
	// share it.
	owners *uidIndex
	// last is what the newest version changed, and behind it what came before.
	last *entry
}

// entry is a Change and the ones before it, back to where they were forgotten.
type entry struct {
	change Change
	before *entry
}

// NewState is a State with nothing in it.
func NewState(now time.Time) *State {
	return &State{now: now.UTC().Truncate(time.Second), shelves: map[Resource]shelf{}, owners: &uidIndex{}}
}

// Version is the resourceVersion of the newest change.
func (s *State) Version() int64 { return s.version }

// Now is the model's clock. It has the precision of metav1.Time, one second.
func (s *State) Now() time.Time { return s.now }

// WithNow is the State with its clock moved. Nothing else moves it.
func (s *State) WithNow(t time.Time) *State {
	next := *s
	next.now = t.UTC().Truncate(time.Second)
	return &next
}

// Get is an object, nil when there is none of the name. It is shared: copy it
// before changing it.
func (s *State) Get(k Key) Object {
	shelf := s.shelves[k.Resource]
	if i, ok := shelf.find(k.Namespace, k.Name); ok {
		return shelf[i].object
	}
	return nil
}

// List is all objects of a resource in the order of namespace and name.
func (s *State) List(r Resource) []Object {
	return s.shelves[r].objects()
}

// Create stores a copy with a uid, a resourceVersion and a creationTimestamp of
// its own, and with defaults for what it lacks, as the API server does. Where the name is taken, or the kind is not
// modelled, nothing happens: ask Get first.
func (s *State) Create(o Object) *State {
	stored, ok := o.DeepCopyObject().(Object)
	if !ok {
		return s
	}
	setDefaults(stored)
	stored.SetUID(s.NextUID())
	stored.SetCreationTimestamp(metav1.NewTime(s.now))
	stored.SetDeletionTimestamp(nil)
	stored.SetDeletionGracePeriodSeconds(nil)
	if specOf(stored) != nil {
		// The strategies of the other kinds leave it as it came.
		stored.SetGeneration(firstGeneration(stored))
	}
	next := s.insert(stored)
	if next != s {
		next.uids = s.uids + 1
	}
	return next
}

// Load stores copies of objects as they are, with the uids and the times they
// carry; only what they lack is made up. It is how a manifest or a copy of a
// cluster comes in. What is there already is replaced.
func (s *State) Load(objects ...Object) *State {
	next := s
	for _, o := range objects {
		stored, ok := o.DeepCopyObject().(Object)
		if !ok {
			continue
		}
		next = next.Remove(KeyOf(stored))
		setDefaults(stored)
		issued := next.uids
		if stored.GetUID() == "" {
			stored.SetUID(next.NextUID())
			issued++
		}
		if t := stored.GetCreationTimestamp(); t.IsZero() {
			stored.SetCreationTimestamp(metav1.NewTime(s.now))
		}
		if stored.GetGeneration() == 0 {
			stored.SetGeneration(firstGeneration(stored))
		}
		issued = max(issued, issueOf(stored.GetUID()))
		if after := next.insert(stored); after != next {
			after.uids = issued
			next = after
		}
	}
	return next
}

// Update stores a copy with a new resourceVersion. It is a no-op where nothing
// but that differs, or where the object is not there. The uid, the times of
// creation and deletion and the generation are kept as the storage keeps them.
//
// An object that is being deleted goes with its last finalizer, whoever takes
// that off (ShouldDeleteDuringUpdate in registry/generic/registry/store.go).
func (s *State) Update(o Object) *State {
	k := KeyOf(o)
	shelf := s.shelves[k.Resource]
	i, ok := shelf.find(k.Namespace, k.Name)
	if !ok {
		return s
	}
	before := shelf[i].object
	stored, ok := o.DeepCopyObject().(Object)
	if !ok {
		return s
	}
	stored.SetUID(before.GetUID())
	stored.SetResourceVersion(before.GetResourceVersion())
	stored.SetCreationTimestamp(before.GetCreationTimestamp())
	stored.SetDeletionTimestamp(before.GetDeletionTimestamp())
	stored.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	setDefaults(stored)
	stored.SetGeneration(nextGeneration(before, stored))
	if equality.Semantic.DeepEqual(before, stored) {
		return s
	}
	return s.replace(k, i, stored)
}

// replace stores an object, already a copy, in the place of another; or takes
// that one out if the new one has nothing left to wait for.
func (s *State) replace(k Key, i int, stored Object) *State {
	if goesNow(stored) {
		return s.Remove(k)
	}
	before := s.shelves[k.Resource][i].object
	next := s.change(Change{Key: k, Before: before, After: stored}, s.shelves[k.Resource].replaced(i, stored))
	return next
}

// Remove takes an object out at once, without asking its finalizers. Delete is
// what a client's delete does.
func (s *State) Remove(k Key) *State {
	shelf := s.shelves[k.Resource]
	i, ok := shelf.find(k.Namespace, k.Name)
	if !ok {
		return s
	}
	next := s.change(Change{Key: k, Before: shelf[i].object}, shelf.removed(i))
	next.owners = &uidIndex{}
	return next
}

func (s *State) insert(stored Object) *State {
	k := KeyOf(stored)
	if k.Resource == "" {
		return s
	}
	shelf := s.shelves[k.Resource]
	i, taken := shelf.find(k.Namespace, k.Name)
	if taken {
		return s
	}
	next := s.change(Change{Key: k, After: stored}, shelf.inserted(i, stored))
	next.owners = &uidIndex{}
	return next
}

// change makes the next version. The object is stamped with it here, before
// anybody else can see it.
func (s *State) change(c Change, shelf shelf) *State {
	next := *s
	next.version++
	c.Version = next.version
	if c.After != nil {
		c.After.SetResourceVersion(strconv.FormatInt(next.version, 10))
	}
	next.shelves = maps.Clone(s.shelves)
	next.shelves[c.Key.Resource] = shelf
	next.last = &entry{change: c, before: s.last}
	return &next
}

// Last is what the newest version changed; nothing for a State that forgot.
func (s *State) Last() []Change {
	if s.last == nil {
		return nil
	}
	return []Change{s.last.change}
}

// Since is what changed after a version, oldest first, as far as it is
// remembered.
func (s *State) Since(version int64) []Change {
	n := 0
	for e := s.last; e != nil && e.change.Version > version; e = e.before {
		n++
	}
	changes := make([]Change, n)
	for e := s.last; n > 0; e = e.before {
		n--
		changes[n] = e.change
	}
	return changes
}

// Forget is the State without the memory of how it came to be, which would
// otherwise keep every object there ever was.
func (s *State) Forget() *State {
	if s.last == nil {
		return s
	}
	next := *s
	next.last = nil
	return &next
}

// ByUID is the object of a uid, nil when there is none.
func (s *State) ByUID(uid types.UID) Object {
	if uid == "" {
		return nil
	}
	k, ok := s.owners.of(s)[uid]
	if !ok {
		return nil
	}
	return s.Get(k)
}

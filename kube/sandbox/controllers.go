package sandbox

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/reference"
)

// ErrUnsettled says that the controllers still had something to do after as
// many transitions as they were given.
var ErrUnsettled = errors.New("the controllers do not come to rest")

// Controllers are all that are modelled, in the order in which Enabled asks
// them. The external provisioners that run may be named; without names there is
// one for whatever provisioner or driver an object names.
func Controllers(provisioners ...string) []Controller {
	return []Controller{
		binder{},
		claimProtection{},
		volumeProtection{},
		provisioner{names: slices.Clone(provisioners)},
		statefulSets{},
		deployments{},
		replicaSets{},
		daemonSets{},
		jobs{},
		cronJobs{},
		autoscalers{},
		garbageCollector{},
		namespaces{},
		scheduler{},
		kubelet{},
	}
}

// Enabled is what any of the controllers could do now, in a fixed order.
func Enabled(s *State, cs []Controller) []Transition {
	lists := make([][]Transition, len(cs))
	for i, c := range cs {
		lists[i] = c.Enabled(s)
	}
	return slices.Concat(lists...)
}

// Settle lets the first enabled transition happen until none is enabled.
func Settle(s *State, cs []Controller, limit int) (*State, error) {
	for range limit {
		next, ok := first(s, cs)
		if !ok {
			return s, nil
		}
		s = next.Fire(s)
	}
	next, ok := first(s, cs)
	if !ok {
		return s, nil
	}
	return s, fmt.Errorf("settle: %s would %s %s next, after %d transitions: %w",
		next.Controller, next.Act, next.Key, limit, ErrUnsettled)
}

func first(s *State, cs []Controller) (Transition, bool) {
	for _, c := range cs {
		if enabled := c.Enabled(s); len(enabled) > 0 {
			return enabled[0], true
		}
	}
	return Transition{}, false
}

// String is the key as kubectl would name the object.
func (k Key) String() string {
	if k.Namespace == "" {
		return string(k.Resource) + "/" + k.Name
	}
	return string(k.Resource) + "/" + k.Namespace + "/" + k.Name
}

// agenda collects what one controller could do in a State.
type agenda struct {
	name string
	s    *State
	list []Transition
}

// add puts a transition on the agenda, unless it is on it: two ways of a real
// controller may lead to the same write.
func (a *agenda) add(act string, about Object, fire func(*State) *State) {
	a.addKey(act, KeyOf(about), fire)
}

func (a *agenda) addKey(act string, key Key, fire func(*State) *State) {
	for i := range a.list {
		if a.list[i].Key == key && a.list[i].Act == act {
			return
		}
	}
	a.list = append(a.list, Transition{Controller: a.name, Act: act, Key: key, Fire: fire})
}

// create is add for something new. Nothing is created in a namespace that is
// being deleted (the admission plugin NamespaceLifecycle).
func (a *agenda) create(key Key, fire func(*State) *State) {
	if !ending(a.s, key.Namespace) {
		a.addKey("create", key, fire)
	}
}

func ending(s *State, namespace string) bool {
	ns := s.Namespace(namespace)
	return ns != nil && ns.DeletionTimestamp != nil
}

// tell puts an event on the agenda that is not yet there. Controllers say the
// same at each sync; that it is said again would be no change to anybody.
func (a *agenda) tell(n note) {
	if !n.said(a.s) && !ending(a.s, n.key().Namespace) {
		a.add("tell "+n.reason, n.about, n.tell)
	}
}

// change puts an update of one object on the agenda.
func change[T Object](a *agenda, act string, o T, mutate func(T)) {
	a.add(act, o, func(s *State) *State { return s.Update(edited(o, mutate)) })
}

// edited is a changed copy of an object.
func edited[T Object](o T, mutate func(T)) T {
	c, ok := o.DeepCopyObject().(T)
	if !ok {
		return o
	}
	mutate(c)
	return c
}

// note is an event as a controller's recorder is told it.
type note struct {
	source string
	about  Object
	// kind is Normal or Warning.
	kind, reason, message string
}

// key is the event's. There is one event for each object and reason, where
// Kubernetes has one for each message too: what was said last is what counts.
func (n note) key() Key {
	namespace := n.about.GetNamespace()
	if namespace == "" {
		// As recordEvent of client-go's tools/events has it.
		namespace = metav1.NamespaceDefault
	}
	sum := digest(string(KeyOf(n.about).Resource), n.reason)
	return Key{Events, namespace, n.about.GetName() + "." + sum}
}

func (n note) said(s *State) bool {
	e := read[*corev1.Event](s, n.key())
	return e != nil && e.InvolvedObject.UID == n.about.GetUID() && e.Message == n.message
}

// tell stores the event, or counts it up.
func (n note) tell(s *State) *State {
	key, now := n.key(), metav1.NewTime(s.Now())
	if e := read[*corev1.Event](s, key); e != nil && e.InvolvedObject.UID == n.about.GetUID() {
		return s.Update(edited(e, func(e *corev1.Event) {
			e.Count++
			e.LastTimestamp, e.Message = now, n.message
		}))
	}
	about, err := reference.GetReference(scheme.Scheme, n.about)
	if err != nil || ending(s, key.Namespace) {
		// It fails for kinds that the scheme does not know; all here are known.
		return s
	}
	return s.Remove(key).Create(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		InvolvedObject: *about,
		Type:           n.kind, Reason: n.reason, Message: n.message,
		Source:              corev1.EventSource{Component: n.source},
		ReportingController: n.source,
		FirstTimestamp:      now, LastTimestamp: now, Count: 1,
	})
}

// admitted stores an object that a controller creates as the API server would:
// with its defaults, the status of a new object, and what admission puts on it.
func admitted(s *State, o Object) *State {
	setDefaults(o)
	prepareCreate(o, s.Now())
	switch o := o.(type) {
	case *corev1.PersistentVolume:
		protect(o, volumeProtectionFinalizer)
	case *corev1.PersistentVolumeClaim:
		admitClass(s, o)
		protect(o, claimProtectionFinalizer)
	case *batchv1.Job:
		o.UID = s.NextUID()
		selectJob(o)
	}
	return s.Create(o)
}

func dropFinalizer(o Object, finalizer string) {
	o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer }))
}

// remove is a deletion without options.
func remove(s *State, o Object) *State {
	return s.Delete(KeyOf(o), metav1.DeleteOptions{})
}

// digest is a short name for some words, as Kubernetes makes them for pods.
func digest(words ...string) string {
	h := fnv.New32a()
	// Hash.Write never returns an error.
	_, _ = h.Write([]byte(strings.Join(words, "\x00")))
	return rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
}

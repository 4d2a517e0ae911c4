package migration

import (
	"encoding/json"

	"github.com/claimref/claimref/actions"
)

// The kinds of objects that steps are about, besides those of package actions.
const (
	PodKind         actions.Kind = "Pod"
	StatefulSetKind actions.Kind = "StatefulSet"
	DeploymentKind  actions.Kind = "Deployment"
	ReplicaSetKind  actions.Kind = "ReplicaSet"
	CronJobKind     actions.Kind = "CronJob"
)

// Act is what a step does.
type Act string

// The acts.
const (
	// Patch sends a JSON merge patch.
	Patch Act = "patch"
	// Scale sends a JSON merge patch to the scale subresource.
	Scale  Act = "scale"
	Create Act = "create"
	Delete Act = "delete"
	// Await writes nothing: it waits for what others do.
	Await Act = "await"
)

// Step is one request to the API server, or a wait between two.
type Step struct {
	// ID is stable: the same step of the same operation has the same one, such
	// as "delete/exam/data-0".
	ID    string `json:"id"`
	Title string `json:"title"`
	// Why says what the step is for, in a sentence.
	Why string `json:"why"`
	Act Act    `json:"act"`
	// Target is the object. Its UID is that of the object that was looked at;
	// empty for one to be created.
	Target actions.Ref `json:"target"`
	// Patch is a JSON merge patch without metadata.resourceVersion and uid,
	// which the executor adds (Patch and Scale).
	Patch json.RawMessage `json:"patch,omitempty"`
	// Object is the manifest to create, complete (Create).
	Object json.RawMessage `json:"object,omitempty"`
	// Orphan leaves what the object owns (Delete).
	Orphan bool `json:"orphan,omitempty"`
	// Then says what will happen next, in a sentence.
	Then string `json:"then,omitempty"`
	// Stop says in a sentence what it means to stop here.
	Stop string `json:"stop,omitempty"`
	// Confirm is the word that has to be typed before this step is sent, since
	// what it sends can't be vouched for here. Such a step is never sent among
	// others without that.
	Confirm string `json:"confirm,omitempty"`
}

// State is how far a step has come.
type State int

// The states.
const (
	// Later: other steps come first.
	Later State = iota
	// Now: it is this step's turn.
	Now
	// Done: it has taken effect.
	Done
)

// Item is a step in the outline of an operation.
type Item struct {
	Step
	State State
	// Holds says what an Await is waiting for, one thing a line: the pod's
	// name, the finalizer, the attachment.
	Holds []string
	// Met: what the step is for is so already, although its turn has not come.
	// Of a creation or a deletion this stays so, whatever comes before it.
	Met bool
}

// MoveKind says what Next found.
type MoveKind int

// The moves.
const (
	// ActNow: Step is to be carried out.
	ActNow MoveKind = iota
	// WaitNow: others have to act first; Holds says who.
	WaitNow
	// Halt: the world is not as the operation needs it. Reason says how, and
	// Step is the one that cannot be taken.
	Halt
	// Finished: everything has been seen to be as it should.
	Finished
)

// Move is what to do next.
type Move struct {
	Kind MoveKind
	Step Step
	// Reason is a sentence without a trailing period, Remedy another.
	Reason string
	Remedy string
	Holds  []string
}

// Run is what a running program knows of the operation that it carries out.
type Run struct {
	// Holder is this program, as it signs the journal.
	Holder Holder
	// Started: the journal has been seen on the lead volume, with this
	// Direction the last time.
	Started   bool
	Direction Direction
	// Without is what the lead volume said of workloads to do without, the last
	// time that it said anything.
	Without []string
	// Alone: when its note was on the lead volume already, no other operation
	// was seen that has to do with the same workloads, claims or volumes. From
	// then on, others halt for this one.
	Alone bool
	// Foreign: the journal was found on the volume, and nothing on this machine
	// says that it is the one with which the operation began.
	Foreign bool
	// Known are the StatefulSets, as "namespace/name", that this run has seen to
	// be as the journal says.
	Known map[string]bool
	// Seen are the IDs of the steps that this run has seen done. One of them
	// that is no longer done was taken back by somebody, which is a reason to
	// halt and not one to do it again.
	Seen map[string]bool
}

// Did takes in that a step of Next was carried out and has taken effect. By the
// time of the next look, somebody may have changed it back: without this they
// and the operation would take turns for ever.
func (r *Run) Did(step Step) {
	if r.Seen == nil {
		r.Seen = make(map[string]bool)
	}
	r.Seen[step.ID] = true
}

// Remember takes in what a look has shown, for Next to compare later looks
// with. It is called after each one.
func (r *Run) Remember(j Journal, s Scene) {
	m := newMachine(j, *r, s)
	if m.leadNoted() {
		r.Started, r.Direction, r.Without = true, m.dir, m.found.Without
	}
	switch {
	case !m.leadNoted():
		r.Alone = false
	case m.alone():
		r.Alone = true
	}
	if r.Seen == nil {
		r.Seen = make(map[string]bool)
	}
	for _, w := range j.Workloads {
		if w.From != nil && m.asInJournal(w) {
			if r.Known == nil {
				r.Known = make(map[string]bool)
			}
			r.Known[w.Ref.Namespace+"/"+w.Ref.Name] = true
		}
	}
	for _, item := range Outline(j, *r, s) {
		if item.State == Done {
			r.Seen[item.ID] = true
		}
	}
}

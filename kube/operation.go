package kube

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// Operation carries one operation out, step by step. What to do next it asks
// the pure planner, with a fresh look at the cluster each time; what it adds is
// the memory of what this run has seen, the backup, and the history. It is safe
// for concurrent use, but only one step at a time can be sensible.
type Operation struct {
	client  *Client
	backups *Backups
	journal migration.Journal

	mu  sync.Mutex
	run migration.Run
	// folder is that of its backup; empty until it is on the disk.
	folder string
	// own are the steps that the user asked for and Next would not give: to
	// take over, and to turn.
	own []migration.Step
}

// Standing is how far an operation has come, as of one look.
type Standing struct {
	Scene   migration.Scene
	Outline []migration.Item
	Move    migration.Move
	// Direction and Holder are what the lead volume says.
	Direction migration.Direction
	Holder    migration.Holder
	// Leavable are the workloads that are gone, and that the operation can go on
	// without (see Operation.Leave).
	Leavable []actions.Ref
}

// NewOperation starts with a Journal that Draft has made and nothing has been
// written of.
func (c *Client) NewOperation(b *Backups, j migration.Journal, who string) *Operation {
	return &Operation{
		client: c, backups: b, journal: j,
		run: migration.Run{
			Holder: migration.Holder{Who: who, Token: randomHex(tokenBytes), Since: time.Now().UTC().Truncate(time.Second)},
			Seen:   make(map[string]bool),
		},
	}
}

// ResumeOperation goes on with an operation that was found on a volume, or in a
// backup. Found has to have the Journal.
func (c *Client) ResumeOperation(b *Backups, found migration.Found, who string) (*Operation, error) {
	if found.Journal == nil {
		return nil, fmt.Errorf("operation %s has its journal on volume %s: resume it from there", clean(found.ID), clean(found.Lead))
	}
	o := c.NewOperation(b, *found.Journal, who)
	o.run.Foreign = !b.vouches(*found.Journal)
	return o, nil
}

// tokenBytes tell one running program from all others, idBytes one operation
// from all that anybody will see beside it.
const (
	tokenBytes = 8
	idBytes    = 4
)

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // It never fails.
	return hex.EncodeToString(b)
}

// Journal is what the operation is.
func (o *Operation) Journal() migration.Journal { return o.journal }

// Folder is that of the backup; empty until it is on the disk.
func (o *Operation) Folder() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.folder
}

// Look sees how far the operation has come.
func (o *Operation) Look(ctx context.Context, snap *Snapshot) (Standing, error) {
	scene, err := o.client.Survey(ctx, Subject{Journal: &o.journal, Brief: true}, snap)
	if err != nil {
		return Standing{}, err
	}
	if migration.WantsOthers(o.journal, o.Part(), scene) {
		if err := o.client.seeOthers(ctx, o.journal, &scene); err != nil {
			return Standing{}, err
		}
	}
	return o.stand(scene), nil
}

// stand judges a Scene, and remembers what has been seen.
func (o *Operation) stand(scene migration.Scene) Standing {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := Standing{Scene: scene}
	s.Direction, s.Holder = migration.Heading(o.journal, scene)
	if o.carriesJournal(scene) && s.Direction != o.run.Direction {
		// What was done towards the other end may be undone now.
		o.run.Direction, o.run.Seen = s.Direction, make(map[string]bool)
	}
	s.Outline = migration.Outline(o.journal, o.run, scene)
	s.Move = migration.Next(o.journal, o.run, scene)
	s.Leavable = migration.Leavable(o.journal, o.run, scene)
	gone := slices.ContainsFunc(s.Leavable, func(ref actions.Ref) bool { return sameTarget(ref, s.Move.Step.Target) })
	if s.Move.Kind == migration.Halt && gone && o.folder != "" {
		s.Move.Remedy += ". The command is: " + createAgain(o.folder, s.Move.Step.Target)
	}
	o.run.Remember(o.journal, scene)
	return s
}

// carriesJournal tells whether the lead volume says that this operation is
// under way.
func (o *Operation) carriesJournal(scene migration.Scene) bool {
	lead := scene.Volumes[o.journal.Lead()]
	if lead == nil {
		return false
	}
	found, err := migration.Find(lead)
	return err == nil && found != nil && found.Journal != nil && found.ID == o.journal.ID
}

// Preview carries a step out as a dry run.
func (o *Operation) Preview(ctx context.Context, step migration.Step) (StepPreview, error) {
	return o.client.PreviewStep(ctx, nil, step)
}

// Rehearse previews all steps that are left.
func (o *Operation) Rehearse(ctx context.Context, s Standing) ([]StepPreview, error) {
	return o.client.Rehearse(ctx, s.Outline)
}

// TakeOver is the step that makes this run the one at work.
func (o *Operation) TakeOver(s Standing) migration.Step {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ask(migration.TakeOver(o.journal, o.run, s.Scene))
}

// Turn is the step after which the operation walks towards the other end.
func (o *Operation) Turn(s Standing, d migration.Direction) migration.Step {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ask(migration.TurnTo(o.journal, o.run, s.Scene, d))
}

// Leave is the step after which the operation goes on without a workload that
// is gone; false if it is there. To choose it is for a person who knows that it
// was deleted on purpose.
func (o *Operation) Leave(s Standing, ref actions.Ref) (migration.Step, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	step, ok := migration.Leave(o.journal, o.run, s.Scene, ref)
	if !ok {
		return migration.Step{}, false
	}
	return o.ask(step), true
}

// Resume forgets what this run has seen done, after the user has seen why the
// operation halted: what was changed back meanwhile is done once more. Without
// it, a halt over that is never left, as nobody may fight with others unasked.
func (o *Operation) Resume() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run.Seen = make(map[string]bool)
}

// ask remembers a step that the user asked for. The lock is held.
func (o *Operation) ask(step migration.Step) migration.Step {
	o.own = append(o.own, step)
	return step
}

// Do carries a previewed step out: one that Next gives, or one of TakeOver and
// Turn. Nothing is written before the backup is on the disk.
func (o *Operation) Do(ctx context.Context, snap *Snapshot, p StepPreview) (Performed, error) {
	if err := o.client.performable(p); err != nil {
		return Performed{}, fmt.Errorf("carry out %s: %w", p.Step.ID, err)
	}
	folder, err := o.backUp(ctx, snap)
	if err != nil {
		return Performed{}, fmt.Errorf("nothing was written: %w", err)
	}
	look := func(ctx context.Context) error { return o.stillNext(ctx, snap, p.Step) }
	done, err := o.client.performThen(ctx, p, look, func(done *Performed, err error) error {
		failed := o.record(folder, p, outcome(*done, err))
		if failed != nil {
			done.Unrecorded = Explain(failed)
		}
		return failed
	})
	if err == nil {
		own := o.asked(p.Step)
		o.mu.Lock()
		if own {
			// What somebody else did in between, they did knowingly.
			o.run.Seen = make(map[string]bool)
		}
		o.own = nil
		o.run.Did(p.Step)
		o.mu.Unlock()
	}
	return done, err
}

// sameRequest compares all of two steps but what is only said of them, which may
// change with what else there is to see.
func sameRequest(a, b migration.Step) bool {
	a.Title, a.Why, a.Then, a.Stop = b.Title, b.Why, b.Then, b.Stop
	return reflect.DeepEqual(a, b)
}

// stillNext looks once more, and makes sure that the step is still the one to
// take.
func (o *Operation) stillNext(ctx context.Context, snap *Snapshot, step migration.Step) error {
	s, err := o.Look(ctx, snap)
	if err != nil {
		return err
	}
	if o.asked(step) {
		if !o.carriesJournal(s.Scene) {
			return &GuardError{Reason: "volume " + clean(o.journal.Lead()) + " does not carry this operation any more"}
		}
		return o.mayAsk(s, step)
	}
	switch {
	case s.Move.Kind == migration.ActNow && sameRequest(s.Move.Step, step):
		return nil
	case s.Move.Reason != "":
		return &GuardError{Reason: clean(s.Move.Reason)}
	case s.Move.Kind == migration.WaitNow:
		return &GuardError{Reason: clean("others have to act first: " + strings.Join(s.Move.Holds, ", "))}
	case s.Move.Kind == migration.Finished:
		return &GuardError{Reason: "everything has been done already"}
	}
	return &GuardError{Reason: clean(fmt.Sprintf("things have changed since the preview: %q comes next now", s.Move.Step.Title))}
}

// mayAsk refuses to turn around what somebody else is at work on: the step
// would take it over without saying so.
func (o *Operation) mayAsk(s Standing, step migration.Step) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	held := s.Holder.Token != "" && s.Holder.Token != o.run.Holder.Token
	if held && !reflect.DeepEqual(step, migration.TakeOver(o.journal, o.run, s.Scene)) {
		return &GuardError{Reason: clean(s.Holder.Who) + " is at work on it; take it over first"}
	}
	if what, _, _ := strings.Cut(step.ID, "/"); what != leaveID {
		return nil
	}
	for _, ref := range s.Leavable {
		if again, ok := migration.Leave(o.journal, o.run, s.Scene, ref); ok && reflect.DeepEqual(step, again) {
			return nil
		}
	}
	return &GuardError{Reason: "what it goes on without is there again, or is left out already"}
}

// leaveID begins the ID of the step of Leave, as package migration calls it.
const leaveID = "leave"

// asked tells whether a step is one that the user asked for.
func (o *Operation) asked(step migration.Step) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, own := range o.own {
		if reflect.DeepEqual(own, step) {
			return true
		}
	}
	return false
}

// backUp sees to it that the backup is on the disk, and returns its folder.
func (o *Operation) backUp(ctx context.Context, snap *Snapshot) (string, error) {
	if folder := o.Folder(); folder != "" {
		return folder, nil
	}
	if o.backups == nil {
		return "", errors.New("there is no folder for backups; name one with --backup-dir")
	}
	scene, err := o.client.Survey(ctx, Subject{Journal: &o.journal, Brief: true}, snap)
	if err != nil {
		return "", err
	}
	originals, err := originalsOf(o.journal, scene)
	if err != nil {
		return "", err
	}
	o.mu.Lock()
	foreign := o.run.Foreign
	o.mu.Unlock()
	folder, err := o.backups.save(o.journal, originals, foreign)
	if err != nil {
		return "", err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.folder = folder
	return folder, nil
}

// record adds a line to the history.
func (o *Operation) record(folder string, p StepPreview, outcome string) error {
	return o.backups.Record(folder, Record{
		Time: time.Now().UTC(), Step: p.Step.ID, Title: p.Step.Title, Target: nameOf(p.Step.Target),
		Outcome: outcome, Changes: p.Changes(),
	})
}

// outcome says in a few words what became of a step.
func outcome(done Performed, err error) string {
	switch {
	case err != nil:
		return Explain(err)
	case done.Recovered:
		return "applied; the answer was lost, and the effect was seen afterwards"
	case done.Unexpected != "":
		return "applied; " + done.Unexpected
	}
	return "applied"
}

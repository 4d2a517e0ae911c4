package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Ask is how an explanation is wanted.
type Ask struct {
	// Now is the present, for how long something has lasted.
	Now time.Time
	// Events are what the cluster's components said about the object; nil when
	// they were not read.
	Events []kube.Event
	// Brief leaves out what needs a look at every other object: candidates and
	// takers. What is left costs next to nothing, whatever the cluster's size.
	Brief bool
	// Top is how many candidates and takers are told one by one; 0 for 50.
	Top int
}

const defaultTop = 50

func (a Ask) top() int {
	if a.Top <= 0 {
		return defaultTop
	}
	return a.Top
}

// Level says how much a sentence should stand out.
type Level int

// The levels.
const (
	Plain Level = iota
	// Notice: good to know before something is done.
	Notice
	// Warn: something is not as it should be.
	Warn
	// Bad: something is broken, or data can be lost.
	Bad
)

// Sentence is one sentence, with its period.
type Sentence struct {
	Text  string
	Level Level
	// Cure is the operation that does something about it; empty for none.
	Cure actions.Verb
}

// Sentences are first the fact, then the cause, then what it means.
type Sentences []Sentence

// String joins the sentences into a line.
func (s Sentences) String() string {
	texts := make([]string, len(s))
	for i := range s {
		texts[i] = s[i].Text
	}
	return strings.Join(texts, " ")
}

// Fact is one piece of evidence.
type Fact struct {
	// Label says in a word or two what it is about, such as "Class".
	Label string
	// Text is a sentence without a period.
	Text  string
	Level Level
	// Object is what it is about, if that is another object.
	Object actions.Ref
}

// Verdict names the situation of an object. It is stable, for tests and for
// those who decide by it; the sentences are not.
type Verdict string

// The verdicts about volumes.
const (
	VolumeNew         Verdict = "volume-new"
	VolumeOpen        Verdict = "volume-open"
	VolumeBinding     Verdict = "volume-binding"
	VolumeReserved    Verdict = "volume-reserved"
	VolumeBound       Verdict = "volume-bound"
	VolumeReleased    Verdict = "volume-released"
	VolumeFailed      Verdict = "volume-failed"
	VolumeTerminating Verdict = "volume-terminating"
	VolumeUnknown     Verdict = "volume-unknown"
)

// The verdicts about claims.
const (
	ClaimBound       Verdict = "claim-bound"
	ClaimTerminating Verdict = "claim-terminating"
	// Pending, with a volumeName.
	ClaimNamesMissing  Verdict = "claim-names-missing"
	ClaimNamesTaken    Verdict = "claim-names-taken"
	ClaimNamesUnfit    Verdict = "claim-names-unfit"
	ClaimNamesUnknown  Verdict = "claim-names-unknown"
	ClaimAboutToBind   Verdict = "claim-about-to-bind"
	ClaimAboutToBeLost Verdict = "claim-about-to-be-lost"
	// Pending, without one.
	ClaimNoClass       Verdict = "claim-no-class"
	ClaimClassUnknown  Verdict = "claim-class-unknown"
	ClaimClassGone     Verdict = "claim-class-gone"
	ClaimWaitsForPod   Verdict = "claim-waits-for-pod"
	ClaimWaitsByHand   Verdict = "claim-waits-by-hand"
	ClaimProvisioning  Verdict = "claim-provisioning"
	ClaimDefaultToCome Verdict = "claim-default-to-come"
	// Lost, by its cause.
	ClaimLostNoName   Verdict = "claim-lost-no-name"
	ClaimLostMissing  Verdict = "claim-lost-missing"
	ClaimLostMisbound Verdict = "claim-lost-misbound"
	ClaimLostUnknown  Verdict = "claim-lost-unknown"
	ClaimUnknown      Verdict = "claim-unknown"
)

// The verdicts about classes.
const (
	ClassDefault    Verdict = "class-default"
	ClassOverruled  Verdict = "class-overruled"
	ClassProvisions Verdict = "class-provisions"
	ClassMadeByHand Verdict = "class-made-by-hand"
)

// Remedy is something that can be done.
type Remedy struct {
	// Text is a sentence without a period.
	Text string
	// Request is the operation that does it, ready to be planned; nil for
	// something that is done elsewhere.
	Request *actions.Request
}

// Explanation says what is going on with one object.
type Explanation struct {
	Object  actions.Ref
	Verdict Verdict
	// Summary is the verdict in one or two sentences, and what it means for
	// the data.
	Summary Sentences
	// Evidence is what the verdict was found by, the weightiest first.
	Evidence []Fact
	// Candidates are the volumes compared with a claim that is not bound; nil
	// for anything else, and in brief.
	Candidates *Candidates
	// Takers are the claims that would take a volume; nil for one that is
	// bound or going, for anything else, and in brief.
	Takers *Takers
	// Holders are what uses the object, holds it, or will put it back.
	Holders []Holder
	// Remedies are what can be done, the safest first.
	Remedies []Remedy
}

// telling is an explanation in the making.
type telling struct {
	Explanation
	snap *kube.Snapshot
	ask  Ask
}

func (t *telling) say(text string) { t.stress(Plain, text) }

func (t *telling) stress(level Level, text string) {
	t.Summary = append(t.Summary, Sentence{Text: clean(text), Level: level})
}

// cure hangs an operation on the last sentence.
func (t *telling) cure(verb actions.Verb) { t.Summary[len(t.Summary)-1].Cure = verb }

func (t *telling) fact(label, text string) {
	t.factOf(Plain, label, text, actions.Ref{})
}

func (t *telling) factOf(level Level, label, text string, object actions.Ref) {
	t.Evidence = append(t.Evidence, Fact{Label: label, Text: clean(text), Level: level, Object: object})
}

func (t *telling) advise(text string, request *actions.Request) {
	t.Remedies = append(t.Remedies, Remedy{Text: clean(text), Request: request})
}

// inOperation takes back what can't be done to a volume on which an operation
// is unfinished, and says so instead.
func (t *telling) inOperation() {
	var busy string
	check := func(name string) bool {
		v := t.snap.Volume(name)
		if v == nil || !actions.InOperation(v.Object) {
			return false
		}
		busy = name
		return true
	}
	t.Remedies = slices.DeleteFunc(t.Remedies, func(r Remedy) bool {
		return r.Request != nil && r.Request.Verb != actions.SetPolicy && check(r.Request.Volume.Name)
	})
	if t.Object.Kind == actions.VolumeKind {
		check(t.Object.Name)
	}
	if busy == "" {
		return
	}
	for i := range t.Summary {
		if t.Summary[i].Cure != actions.SetPolicy {
			t.Summary[i].Cure = ""
		}
	}
	t.factOf(Notice, "Operation", "An operation on volume "+busy+" is unfinished", actions.Ref{Kind: actions.VolumeKind, Name: busy})
	t.advise("Open the operation and carry it on, or take it back, before anything else", nil)
}

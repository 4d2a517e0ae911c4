package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/explain"
)

// Expect is what is expected to be said. What is left out is not looked at.
type Expect struct {
	Kind string `json:"kind"`
	// Of names the object that is asked about: a volume, a claim or a class.
	Of string `json:"of"`
	// State is the phase that is shown, Stored the one that the server has;
	// "gone" says that there is no such object.
	State  string `json:"state,omitempty"`
	Stored string `json:"stored,omitempty"`

	// Verdict, Says and Never are of the explanation: the last two are phrases
	// of any of its sentences. Remedies are the operations that it offers, in
	// their order, such as "reserve shop/data" or "set-policy Retain".
	Verdict  string   `json:"verdict,omitempty"`
	Says     []string `json:"says,omitempty"`
	Never    []string `json:"never,omitempty"`
	Remedies []string `json:"remedies,omitempty"`
	// Takers are the claims that would take the volume at once, in whatever
	// order; Later those that might take it later.
	Takers []string `json:"takers,omitempty"`
	Later  []string `json:"later,omitempty"`
	// Chosen is the volume that the claim is about to get.
	Chosen string `json:"chosen,omitempty"`

	// Risks are those of the object, with a phrase of their text; NoRisks are
	// some that it has not.
	Risks   map[string]string `json:"risks,omitempty"`
	NoRisks []string          `json:"noRisks,omitempty"`
	// Protected are patterns of claims whose data must outlive them.
	Protected []string `json:"protected,omitempty"`

	// Offers are entries of the volume's menu, such as "unreserve" or
	// "set-policy Delete", with a phrase of the reason why they can't be taken;
	// an empty one says that they can.
	Offers map[string]string `json:"offers,omitempty"`

	// Plan is a verb of package actions, Operation one of migration. For and
	// Policy are what they need besides; Checks are what the plan says, by ID,
	// with the severity; NoChecks are some that it does not say.
	Plan      string            `json:"plan,omitempty"`
	Operation string            `json:"operation,omitempty"`
	For       string            `json:"for,omitempty"`
	Policy    string            `json:"policy,omitempty"`
	Operators []string          `json:"operators,omitempty"`
	Options   map[string]bool   `json:"options,omitempty"`
	Checks    map[string]string `json:"checks,omitempty"`
	NoChecks  []string          `json:"noChecks,omitempty"`
	// Blocked: nothing can be done until what blocks is out of the way. Ready:
	// nothing blocks. Writes are paths that the first steps write, as phrases
	// of their patches or objects; NeverWrites are phrases that none has.
	Blocked     bool     `json:"blocked,omitempty"`
	Ready       bool     `json:"ready,omitempty"`
	Writes      []string `json:"writes,omitempty"`
	NeverWrites []string `json:"neverWrites,omitempty"`
}

// judge compares what is said with what is expected.
type judge struct {
	*Expect
	ctx   context.Context
	snap  *kube.Snapshot
	p     *player
	wrong []string
	// subject
	kind, namespace, name string
	volume                *kube.Volume
	claim                 *kube.Claim
	class                 *kube.Class
}

func (j *judge) fail(format string, args ...any) {
	j.wrong = append(j.wrong, j.Of+": "+fmt.Sprintf(format, args...))
}

func (p *player) expect(ctx context.Context, e *Expect) ([]string, error) {
	snap, err := p.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	j := &judge{Expect: e, ctx: ctx, snap: snap, p: p}
	if j.kind, j.namespace, j.name, err = p.find(ctx, e.Of); err != nil {
		return nil, err
	}
	if !j.subject() {
		return j.wrong, nil
	}
	if err := j.explanation(); err != nil {
		return nil, err
	}
	if err := j.risks(); err != nil {
		return nil, err
	}
	if j.volume != nil {
		j.offers()
		j.plan()
		err = j.operation()
	}
	return j.wrong, err
}

// subject finds the object, and looks at its state.
func (j *judge) subject() bool {
	var state kube.State
	switch j.kind {
	case kindVolume:
		if j.volume = j.snap.Volume(j.name); j.volume != nil {
			state = j.volume.State
		}
	case "PersistentVolumeClaim":
		if j.claim = j.snap.Claim(j.namespace, j.name); j.claim != nil {
			state = j.claim.State
		}
	case "StorageClass":
		j.class = j.snap.Class(j.name)
	default:
		j.fail("nothing is said of a %s", j.kind)
		return false
	}
	if gone := j.volume == nil && j.claim == nil && j.class == nil; gone || j.State == goneState {
		if gone != (j.State == goneState) {
			j.fail("it is there: %t", !gone)
		}
		return false
	}
	if j.State != "" && string(state.Phase) != j.State {
		j.fail("it is %s, want %s", state.Phase, j.State)
	}
	if j.Stored != "" && string(state.Stored) != j.Stored {
		j.fail("its stored phase is %s, want %s", state.Stored, j.Stored)
	}
	return true
}

const goneState = "gone"

// request writes an operation as expectations do.
func request(r actions.Request) string {
	words := []string{string(r.Verb)}
	if r.Claim != (actions.ClaimKey{}) {
		words = append(words, r.Claim.String())
	}
	if r.Policy != "" {
		words = append(words, string(r.Policy))
	}
	return strings.Join(words, " ")
}

func key(text string) actions.ClaimKey {
	namespace, name, _ := strings.Cut(text, "/")
	return actions.ClaimKey{Namespace: namespace, Name: name}
}

func (j *judge) offers() {
	found := map[string]string{}
	for _, o := range actions.Offers(j.volume.Object, j.snap.World(j.name)) {
		found[request(o.Request)] = o.Disabled
		j.safe("offer", o.Title, o.Note, o.Disabled)
	}
	for want, reason := range j.Offers {
		got, there := found[want]
		switch {
		case !there:
			j.fail("%q is not on offer; there is %s", want, strings.Join(slices.Sorted(maps.Keys(found)), ", "))
		case reason == "" && got != "":
			j.fail("%q can't be taken: %s", want, got)
		case reason != "" && got == "":
			j.fail("%q can be taken", want)
		case !strings.Contains(got, reason):
			j.fail("%q can't be taken, but not because %q: %s", want, reason, got)
		}
	}
}

// plan makes a plan as the program does, from fresh copies.
func (j *judge) plan() {
	if j.Plan == "" {
		return
	}
	req := actions.Request{
		Verb: actions.Verb(j.Plan), Volume: actions.Ref{Kind: actions.VolumeKind, Name: j.name, UID: j.volume.Object.UID},
		Claim: key(j.For), Policy: corev1.PersistentVolumeReclaimPolicy(j.Policy),
	}
	plan, _, err := j.p.client.Plan(j.ctx, req, j.snap)
	if err != nil {
		j.fail("%v", err)
		return
	}
	var written []string
	for _, s := range plan.Steps {
		written = append(written, string(s.Patch))
		j.safe("step", s.Title, s.Why, s.Then)
	}
	j.checks(plan.Checks)
	j.written(len(plan.Steps), written)
}

func (j *judge) operation() error {
	if j.Operation == "" {
		return nil
	}
	req := migration.Request{
		Verb: migration.Verb(j.Operation), Volume: actions.Ref{Kind: actions.VolumeKind, Name: j.name, UID: j.volume.Object.UID},
		Operators: j.Operators, KeepTemplates: j.Options["keepTemplates"], Recreate: j.Options["recreate"], DeleteCompleted: j.Options["deleteCompleted"],
	}
	if j.For != "" {
		req.To = key(j.For)
	}
	plan, err := j.p.client.PlanOperation(j.ctx, req, j.snap, "ann on laptop")
	if err != nil {
		return fmt.Errorf("plan the operation: %w", err)
	}
	var written []string
	for _, item := range plan.Outline {
		written = append(written, string(item.Patch)+string(item.Object))
		j.safe("step", item.Title, item.Why, item.Then, item.Stop)
	}
	j.checks(plan.Checks)
	j.written(len(plan.Outline), written)
	return nil
}

func (j *judge) checks(checks []actions.Check) {
	severities := map[actions.Severity]string{actions.Pass: "pass", actions.Warn: "warn", actions.Block: "block"}
	found, all := map[string]string{}, make([]string, 0, len(checks))
	blocked := false
	for _, c := range checks {
		severity := severities[c.Severity]
		found[c.ID] += severity + " " + c.Text + ". " + c.Remedy + "\n"
		all = append(all, c.ID+" ("+severity+"): "+c.Text)
		blocked = blocked || c.Severity == actions.Block
		j.safe("check "+c.ID, c.Text, c.Remedy)
	}
	for id, want := range j.Checks {
		severity, phrase, _ := strings.Cut(want, ": ")
		if got := found[id]; !strings.Contains("\n"+got, "\n"+severity+" ") || !strings.Contains(got, phrase) {
			j.fail("check %s is not %q; all are\n\t\t%s", id, want, strings.Join(all, "\n\t\t"))
		}
	}
	for _, id := range j.NoChecks {
		if got := found[id]; got != "" {
			j.fail("check %s is there: %s", id, got)
		}
	}
	if j.Blocked && !blocked || j.Ready && blocked {
		j.fail("blocked: %t; all checks are\n\t\t%s", blocked, strings.Join(all, "\n\t\t"))
	}
}

func (j *judge) written(steps int, texts []string) {
	if j.Blocked && steps > 0 {
		j.fail("%d steps, though it is blocked", steps)
	}
	all := compact(strings.Join(texts, "\n"))
	for _, phrase := range j.Writes {
		if !strings.Contains(all, compact(phrase)) {
			j.fail("no step writes %s: %s", phrase, all)
		}
	}
	for _, phrase := range j.NeverWrites {
		if strings.Contains(all, compact(phrase)) {
			j.fail("a step writes %s", phrase)
		}
	}
}

// compact takes the spaces out of JSON, so that it can be compared.
func compact(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		var raw any
		if json.Unmarshal([]byte(line), &raw) == nil {
			if short, err := json.Marshal(raw); err == nil {
				b.Write(short)
				continue
			}
		}
		b.WriteString(strings.ReplaceAll(line, " ", ""))
	}
	return b.String()
}

// said is every sentence of an explanation.
func said(e explain.Explanation) []string {
	all := []string{e.Summary.String()}
	for _, f := range e.Evidence {
		all = append(all, f.Label+": "+f.Text)
	}
	for _, h := range e.Holders {
		all = append(all, h.Text)
	}
	for _, r := range e.Remedies {
		all = append(all, r.Text)
	}
	if e.Takers != nil {
		all = append(all, e.Takers.Text())
		for _, t := range e.Takers.List {
			all = append(all, t.Claim.Namespace+"/"+t.Claim.Name+": "+t.Text)
		}
	}
	if e.Candidates != nil {
		for _, c := range e.Candidates.List {
			all = append(all, c.Volume.Name+": "+c.Text())
			for _, note := range c.Notes {
				all = append(all, c.Volume.Name+" in spite of: "+note.Text)
			}
		}
	}
	return all
}

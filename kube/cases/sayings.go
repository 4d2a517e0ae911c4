package cases

import (
	"slices"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/explain"
)

// explanation compares what is said of the object.
func (j *judge) explanation() error {
	ask := explain.Ask{Now: time.Now()}
	ref := actions.Ref{Kind: actions.Kind(j.kind), Namespace: j.namespace, Name: j.name}
	switch {
	case j.volume != nil:
		ref.UID = j.volume.Object.UID
	case j.claim != nil:
		ref.UID = j.claim.Object.UID
	default:
		ref.UID = j.class.Object.UID
	}
	var err error
	if ask.Events, err = j.p.client.Events(j.ctx, ref); err != nil {
		return err
	}
	var e explain.Explanation
	switch {
	case j.volume != nil:
		e = explain.Volume(j.snap, j.volume, ask)
	case j.claim != nil:
		e = explain.Claim(j.snap, j.claim, ask)
	default:
		e = explain.Class(j.snap, j.class, ask)
	}
	all := said(e)
	j.safe("explanation", all...)
	j.sentences(e)
	j.remediesHold(e)
	j.curesHold(e)
	text := strings.Join(all, "\n\t\t")
	if j.Verdict != "" && string(e.Verdict) != j.Verdict {
		j.fail("the verdict is %s, want %s", e.Verdict, j.Verdict)
	}
	for _, phrase := range j.Says {
		if !strings.Contains(text, phrase) {
			j.fail("it does not say %q:\n\t\t%s", phrase, text)
		}
	}
	for _, phrase := range j.Never {
		if strings.Contains(text, phrase) {
			j.fail("it says %q:\n\t\t%s", phrase, text)
		}
	}
	j.remedies(e)
	j.takers(e)
	if j.Chosen != "" && (e.Candidates == nil || len(e.Candidates.List) == 0 || !e.Candidates.List[0].Chosen || e.Candidates.List[0].Volume.Name != j.Chosen) {
		j.fail("volume %s is not chosen: %+v", j.Chosen, e.Candidates)
	}
	return nil
}

func (j *judge) remedies(e explain.Explanation) {
	if j.Remedies == nil {
		return
	}
	var got []string
	for _, r := range e.Remedies {
		if r.Request != nil {
			got = append(got, request(*r.Request))
		}
	}
	if !slices.Equal(got, j.Remedies) {
		j.fail("the remedies are %q, want %q", got, j.Remedies)
	}
}

func (j *judge) takers(e explain.Explanation) {
	if j.Takers == nil && j.Later == nil {
		return
	}
	if e.Takers == nil {
		j.fail("it has no takers")
		return
	}
	var now, later []string
	for _, t := range e.Takers.List {
		name := t.Claim.Namespace + "/" + t.Claim.Name
		if t.AtOnce {
			now = append(now, name)
		} else {
			later = append(later, name)
		}
	}
	same := func(what string, got, want []string) {
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			j.fail("%s: %q, want %q", what, got, want)
		}
	}
	same("takers", now, j.Takers)
	same("later takers", later, j.Later)
}

// sentences: a summary's have a period, all others have none.
func (j *judge) sentences(e explain.Explanation) {
	for _, s := range e.Summary {
		if !strings.HasSuffix(s.Text, ".") || strings.HasSuffix(s.Text, "..") {
			j.fail("no sentence: %q", s.Text)
		}
	}
	for _, f := range e.Evidence {
		if strings.HasSuffix(f.Text, ".") {
			j.fail("a fact with a period: %q", f.Text)
		}
	}
	for _, r := range e.Remedies {
		if strings.HasSuffix(r.Text, ".") {
			j.fail("a remedy with a period: %q", r.Text)
		}
	}
}

// remediesHold: what is advised can be done, whatever the trouble is.
func (j *judge) remediesHold(e explain.Explanation) {
	for _, r := range e.Remedies {
		if r.Request != nil {
			j.canBeDone("remedy "+r.Text, *r.Request)
		}
	}
}

// curesHold: so does what is hung on a sentence.
func (j *judge) curesHold(e explain.Explanation) {
	for _, s := range e.Summary {
		j.cure("the cure of "+s.Text, s.Cure)
	}
}

func (j *judge) canBeDone(what string, req actions.Request) {
	w := j.snap.World(req.Volume.Name)
	if w.Volume == nil {
		j.fail("%s: volume %s is not there", what, req.Volume.Name)
		return
	}
	if req.Verb == actions.Reserve && req.Claim == (actions.ClaimKey{}) {
		for _, o := range actions.Offers(w.Volume, w) {
			if o.NeedsClaim && o.Disabled != "" {
				j.fail("%s can't be done: %s", what, o.Disabled)
			}
		}
		return
	}
	if blocked := actions.Make(req, w).Blocked(); blocked != "" {
		j.fail("%s can't be done: %s", what, blocked)
	}
}

// risks compares the risks of the object.
func (j *judge) risks() error {
	tracker, err := explain.NewTracker(explain.RiskOptions{Protected: j.Protected})
	if err != nil {
		return err
	}
	found := map[string]string{}
	for _, r := range tracker.Update(j.snap).Of(actions.Ref{Kind: actions.Kind(j.kind), Namespace: j.namespace, Name: j.name}) {
		found[string(r.ID)] = r.Severity.String() + " " + r.Text + " " + r.Remedy
		j.safe("risk", r.Text, r.Remedy)
		j.cure("the cure of risk "+string(r.ID), r.Cure)
	}
	for id, phrase := range j.Risks {
		if text, there := found[id]; !there || !strings.Contains(text, phrase) {
			j.fail("no risk %s that says %q: %q", id, phrase, found)
		}
	}
	for _, id := range j.NoRisks {
		if text, there := found[id]; there {
			j.fail("risk %s: %s", id, text)
		}
	}
	return nil
}

// cure: the operation that is to cure something can be done.
func (j *judge) cure(what string, verb actions.Verb) {
	volume := j.volume
	if j.claim != nil {
		volume = j.snap.Volume(j.claim.Object.Spec.VolumeName)
	}
	if verb == "" || volume == nil {
		return
	}
	req := actions.Request{Verb: verb, Volume: actions.Ref{Kind: actions.VolumeKind, Name: volume.Object.Name, UID: volume.Object.UID}}
	switch verb {
	case actions.SetPolicy:
		req.Policy = corev1.PersistentVolumeReclaimRetain
	case actions.Repair:
		req.Claim = actions.ClaimKey{Namespace: j.namespace, Name: j.name}
		if ref := volume.Object.Spec.ClaimRef; j.claim == nil && ref != nil {
			req.Claim = actions.ClaimKey{Namespace: ref.Namespace, Name: ref.Name}
		}
	default:
		// The claim is for the user to choose.
	}
	j.canBeDone(what, req)
}

// safe: nothing that is said drives a terminal.
func (j *judge) safe(what string, texts ...string) {
	for _, text := range texts {
		if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }) {
			j.fail("%s is not safe to show: %q", what, text)
		}
	}
}

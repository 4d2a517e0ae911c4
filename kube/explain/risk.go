package explain

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/claimref/claimref/actions"
)

// Severity orders risks.
type Severity int

// The severities.
const (
	// Info: worth knowing, nothing to fear.
	Info Severity = iota
	// Low: not as it should be.
	Low
	// High: a slip, or one of the cluster's own acts, costs data or leaves
	// something not working.
	High
	// Critical: data may be lost at any moment, without anybody's act.
	Critical
)

// String is the severity in a word.
func (s Severity) String() string {
	switch s {
	case Low:
		return "low"
	case High:
		return "high"
	case Critical:
		return "critical"
	default:
		return "info"
	}
}

// RiskID names a rule. It is stable, for tests, filters and exports.
type RiskID string

// The risks of volumes.
const (
	RiskDeleteStatefulSet RiskID = "delete-statefulset"
	RiskReleasedDelete    RiskID = "released-delete"
	RiskPolicyDiffers     RiskID = "policy-differs"
	RiskRecycle           RiskID = "recycle"
	RiskFailed            RiskID = "failed"
	RiskNodeGone          RiskID = "node-gone"
	RiskReservedElsewhere RiskID = "reserved-elsewhere"
	RiskReservedNamespace RiskID = "reserved-namespace"
	RiskOpenWithData      RiskID = "open-with-data"
	RiskForeignFinalizer  RiskID = "foreign-finalizer"
	RiskSinglePodDriver   RiskID = "rwop-driver"
)

// The risks of claims.
const (
	RiskDeleteProtected   RiskID = "delete-protected"
	RiskTerminatingDelete RiskID = "terminating-delete"
	RiskRetentionDelete   RiskID = "retention-delete"
	RiskSharedOnce        RiskID = "rwo-shared"
	RiskSharedOncePod     RiskID = "rwop-shared"
	RiskSurge             RiskID = "rwop-surge"
	RiskModesDiffer       RiskID = "modes-differ"
	RiskNamedTwice        RiskID = "named-twice"
	RiskLost              RiskID = "lost"
	RiskUnused            RiskID = "unused"
)

// The risks of classes, and of what names them.
const (
	RiskClassGone       RiskID = "class-gone"
	RiskSeveralDefaults RiskID = "several-defaults"
)

// Risk is one thing that is not safe, or not as it should be.
type Risk struct {
	ID       RiskID
	Severity Severity
	Object   actions.Ref
	// claimIn is what Namespace answers.
	claimIn string
	// Text is a sentence without a period: the fact, then what may come of it.
	Text string
	// Remedy says what to do, in the same form.
	Remedy string
	// Cure is the operation that does it, where there is one.
	Cure actions.Verb
	// Since is when it began; zero where nobody says.
	Since time.Time
}

// Namespace is that of the claim it is about, or of the claim that the volume
// names; empty for none. It is as the cluster says it: to compare, not to show.
func (r *Risk) Namespace() string { return r.claimIn }

// compare orders the worst first, then by object, then by rule. No two risks
// of one cluster are equal in it.
func (r *Risk) compare(s *Risk) int {
	return cmp.Or(
		cmp.Compare(s.Severity, r.Severity),
		strings.Compare(string(r.Object.Kind), string(s.Object.Kind)),
		strings.Compare(r.Object.Namespace, s.Object.Namespace),
		strings.Compare(r.Object.Name, s.Object.Name),
		strings.Compare(string(r.ID), string(s.ID)),
	)
}

// Mark is an object's risks in short, for a column.
type Mark struct {
	// Count is how many there are; the rest is empty when there are none.
	Count int
	// Worst is the highest severity, Text that of the first risk that has it.
	Worst Severity
	Text  string
}

// RiskOptions are what the user decides about risks.
type RiskOptions struct {
	// Protected are the claims whose data must outlive them, as patterns in
	// the manner of a shell: "prod-*/*" for namespace and name, "*-pg-*" for
	// names alone.
	Protected []string
}

// check says which pattern can't be read.
func (o RiskOptions) check() error {
	for _, pattern := range o.Protected {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("read the pattern %q of protected claims: %w; write one such as \"prod-*/*\" or \"*-data\"", pattern, err)
		}
	}
	return nil
}

// protects says whether a claim is one of those whose data must outlive it.
func (o RiskOptions) protects(namespace, name string) bool {
	return slices.ContainsFunc(o.Protected, func(pattern string) bool {
		whole := name
		if strings.Contains(pattern, "/") {
			whole = namespace + "/" + name
		}
		ok, err := path.Match(pattern, whole)
		return err == nil && ok
	})
}

// finding collects the risks of one object.
type finding struct {
	object    actions.Ref
	namespace string
	risks     []*Risk
}

func (f *finding) add(id RiskID, severity Severity, text, remedy string) *Risk {
	r := &Risk{ID: id, Severity: severity, Object: f.object, claimIn: f.namespace, Text: clean(text), Remedy: clean(remedy)}
	f.risks = append(f.risks, r)
	return r
}

// sorted gives the risks to be kept, the worst first.
func (f *finding) sorted() *verdicts {
	if len(f.risks) == 0 {
		return noVerdicts
	}
	slices.SortFunc(f.risks, (*Risk).compare)
	return &verdicts{f.risks}
}

// verdicts are the risks of one object. They are never changed.
type verdicts struct {
	risks []*Risk
}

func (v *verdicts) mark() Mark {
	if v == nil || len(v.risks) == 0 {
		return Mark{}
	}
	return Mark{Count: len(v.risks), Worst: v.risks[0].Severity, Text: v.risks[0].Text}
}

func (v *verdicts) has(id RiskID) bool {
	return slices.ContainsFunc(v.risks, func(r *Risk) bool { return r.ID == id })
}

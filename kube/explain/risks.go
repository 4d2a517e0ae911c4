package explain

import (
	"slices"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// Risks are the risks of all objects of one snapshot. They are immutable, and
// so is all that they hand out.
type Risks struct {
	// Revision is that of the snapshot.
	Revision uint64

	snap *kube.Snapshot
	// volumes and claims are in the order of the snapshot.
	volumes []*verdicts
	claims  []*verdicts
	classes []*Risk
	list    []*Risk
}

// List is all risks, the worst first, then by kind, namespace and name of
// their objects.
func (r *Risks) List() []*Risk { return r.list }

// Count is how many risks have a severity.
func (r *Risks) Count(severity Severity) int {
	at := func(s Severity) int {
		i, _ := slices.BinarySearchFunc(r.list, s, func(risk *Risk, s Severity) int { return int(s) - int(risk.Severity) })
		return i
	}
	return at(severity-1) - at(severity)
}

// Of is the risks of one object, the worst first. It goes by the name.
func (r *Risks) Of(ref actions.Ref) []*Risk {
	if r.snap == nil {
		return nil
	}
	switch ref.Kind {
	case actions.VolumeKind:
		i, found := slices.BinarySearchFunc(r.snap.Volumes, ref.Name, func(v *kube.Volume, name string) int {
			return compareKeys("", v.Object.Name, "", name)
		})
		if found {
			return r.volumes[i].risks
		}
	case actions.ClaimKind:
		i, found := slices.BinarySearchFunc(r.snap.Claims, ref, func(c *kube.Claim, ref actions.Ref) int {
			return compareKeys(c.Object.Namespace, c.Object.Name, ref.Namespace, ref.Name)
		})
		if found {
			return r.claims[i].risks
		}
	case actions.ClassKind:
		var found []*Risk
		for _, risk := range r.classes {
			if risk.Object.Name == ref.Name {
				found = append(found, risk)
			}
		}
		return found
	}
	return nil
}

// Volume marks a volume, Claim a claim, Class a class: each for a row or two.
// For all of them see VolumeMarks and ClaimMarks.
func (r *Risks) Volume(name string) Mark {
	return (&verdicts{r.Of(actions.Ref{Kind: actions.VolumeKind, Name: name})}).mark()
}

// Claim marks a claim.
func (r *Risks) Claim(namespace, name string) Mark {
	return (&verdicts{r.Of(actions.Ref{Kind: actions.ClaimKind, Namespace: namespace, Name: name})}).mark()
}

// Class marks a class.
func (r *Risks) Class(name string) Mark {
	return (&verdicts{r.Of(actions.Ref{Kind: actions.ClassKind, Name: name})}).mark()
}

// VolumeMarks marks all volumes that have a risk, for those who go through all
// of them, to sort or to filter. It is made anew for each call.
func (r *Risks) VolumeMarks() map[*kube.Volume]Mark {
	marks := make(map[*kube.Volume]Mark)
	for i, v := range r.volumes {
		if len(v.risks) > 0 {
			marks[r.snap.Volumes[i]] = v.mark()
		}
	}
	return marks
}

// ClaimMarks does the same for the claims.
func (r *Risks) ClaimMarks() map[*kube.Claim]Mark {
	marks := make(map[*kube.Claim]Mark)
	for i, c := range r.claims {
		if len(c.risks) > 0 {
			marks[r.snap.Claims[i]] = c.mark()
		}
	}
	return marks
}

// EachVolume hands over the risks of volumes, by their index, the worst first.
// They are in the order of a snapshot, which need not be that of the risks: a
// walk along both is far quicker than to look for one after the other. None are
// handed over while there are none, that is by nil.
func (r *Risks) EachVolume(list []*kube.Volume, each func(i int, found []*Risk)) {
	if r != nil && r.snap != nil {
		walk(list, r.snap.Volumes, r.volumes, compareVolumes, each)
	}
}

// EachClaim does the same for claims.
func (r *Risks) EachClaim(list []*kube.Claim, each func(i int, found []*Risk)) {
	if r != nil && r.snap != nil {
		walk(list, r.snap.Claims, r.claims, compareClaims, each)
	}
}

func walk[T any](list, known []*T, verdicts []*verdicts, compare func(a, b *T) int, each func(int, []*Risk)) {
	j := 0
	for i, record := range list {
		order := -1
		for ; j < len(known); j++ {
			if order = 0; known[j] != record {
				order = compare(known[j], record)
			}
			if order >= 0 {
				break
			}
		}
		if order == 0 && j < len(known) {
			each(i, verdicts[j].risks)
			j++
		}
	}
}

// classRisks are few, and found anew for each snapshot.
func classRisks(snap *kube.Snapshot) []*Risk {
	winner := defaultClass(snap)
	var found []*Risk
	for _, c := range snap.Classes {
		if !c.Default || c.Effective || winner == nil {
			continue
		}
		f := &finding{object: classRef(c.Object)}
		f.add(RiskSeveralDefaults, Low, "Marked as default, and so is class "+winner.Object.Name+", which wins: claims without a class do not get this one",
			"Take the mark off all classes but one")
		found = append(found, f.risks...)
	}
	return found
}

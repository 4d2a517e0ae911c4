package migration

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/claimref/claimref/actions"
)

// check refuses what no draft would have made. Whoever may write to a volume
// can write a journal, and somebody with more rights will carry it out: so what
// is to come may differ from what there was in nothing but what the operation
// is about, and what there was is compared with the objects themselves before
// any of them goes.
func (j Journal) check() error {
	if j.ID == "" || len(j.Volumes) == 0 {
		return errors.New("the journal names no operation or no volume")
	}
	switch j.Request.Verb {
	case SinglePod, MoveClaim, RecreateClaim:
	default:
		return fmt.Errorf("the journal is of an operation %q, which this program does not know", j.Request.Verb)
	}
	names, claims := map[string]bool{}, map[actions.ClaimKey]bool{}
	for _, v := range j.Volumes {
		if err := v.check(j.Request); err != nil {
			return err
		}
		if names[v.Ref.Name] || claims[claimKey(v.To)] {
			return fmt.Errorf("the journal names volume %q or its claim twice", v.Ref.Name)
		}
		names[v.Ref.Name], claims[claimKey(v.To)] = true, true
	}
	seen := map[actions.Ref]bool{}
	for _, w := range j.Workloads {
		if err := w.check(); err != nil {
			return err
		}
		named := actions.Ref{Kind: w.Ref.Kind, Namespace: w.Ref.Namespace, Name: w.Ref.Name}
		if seen[named] {
			return fmt.Errorf("the journal names %s twice", describe(w.Ref))
		}
		seen[named] = true
	}
	return nil
}

func (v Volume) check(req Request) error {
	switch {
	case v.Ref.Kind != actions.VolumeKind || v.Ref.Name == "" || v.Ref.UID == "" || len(v.Modes) == 0:
		return fmt.Errorf("the journal does not say what volume %q was like", v.Ref.Name)
	case v.Policy != corev1.PersistentVolumeReclaimRetain && v.Policy != corev1.PersistentVolumeReclaimDelete:
		return fmt.Errorf("the journal says that volume %q had the policy %q, which is never brought back", v.Ref.Name, v.Policy)
	case v.To == nil || v.To.Name == "" || v.To.Namespace == "" || v.To.Spec.VolumeName != v.Ref.Name:
		return fmt.Errorf("the journal does not say which claim volume %s is for", v.Ref.Name)
	case v.From != nil && (v.From.Name == "" || v.From.Namespace == "" || v.FromUID == "" || v.From.Spec.VolumeName != v.Ref.Name):
		return fmt.Errorf("the journal does not say which claim volume %s had", v.Ref.Name)
	case (v.From == nil) != (req.Verb == RecreateClaim):
		return fmt.Errorf("the journal's claim for volume %s does not go with the operation %q", v.Ref.Name, req.Verb)
	}
	to := claimKey(v.To)
	switch req.Verb {
	case SinglePod:
		if to != claimKey(v.From) || !sameModes(v.To.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{toMode}) {
			return fmt.Errorf("the journal's claim %s is not claim %s made ReadWriteOncePod", to, claimKey(v.From))
		}
	case MoveClaim:
		if to != req.To || to == claimKey(v.From) || !sameModes(v.To.Spec.AccessModes, v.From.Spec.AccessModes) {
			return fmt.Errorf("the journal's claim %s is not claim %s moved to %s", to, claimKey(v.From), req.To)
		}
	case RecreateClaim:
		return nil
	}
	was, is := v.From.Spec, v.To.Spec
	is.AccessModes = was.AccessModes
	if !apiequality.Semantic.DeepEqual(was, is) {
		return fmt.Errorf("the journal's claim %s asks for something else than claim %s did", to, claimKey(v.From))
	}
	return nil
}

func (w Workload) check() error {
	switch {
	case w.Ref.Name == "" || w.Ref.Namespace == "" || w.Ref.UID == "" || w.Replicas < 0:
		return fmt.Errorf("the journal does not say what %s was like", describe(w.Ref))
	case !scales(w.Ref.Kind) && w.Ref.Kind != CronJobKind:
		return fmt.Errorf("the journal names %s, which no step stops", describe(w.Ref))
	case w.From == nil && w.To == nil:
		return nil
	case w.From == nil || w.To == nil || w.Ref.Kind != StatefulSetKind,
		w.From.Namespace != w.Ref.Namespace || w.From.Name != w.Ref.Name:
		return fmt.Errorf("the journal does not say what %s was like, and will be like", describe(w.Ref))
	}
	// Nothing but the modes of its templates may be new: this is what is made
	// with the rights of whoever resumes.
	was, is := w.From.DeepCopy(), w.To.DeepCopy()
	for _, set := range []*appsv1.StatefulSet{was, is} {
		for i := range set.Spec.VolumeClaimTemplates {
			set.Spec.VolumeClaimTemplates[i].Spec.AccessModes = nil
		}
	}
	if !apiequality.Semantic.DeepEqual(was, is) {
		return fmt.Errorf("the journal's new %s differs from the old one in more than the access modes of its templates", describe(w.Ref))
	}
	return nil
}

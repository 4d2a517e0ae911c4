package actions

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube/binding"
)

// Bulk is one wish about many volumes. Each volume has a plan of its own, as if
// it were alone; Judge adds what speaks against it in company.
type Bulk struct {
	Requests []Request `json:"requests"`
}

// Protect wants the policy Retain for volumes.
func Protect(volumes []*corev1.PersistentVolume) Bulk {
	return bulk(volumes, func(*corev1.PersistentVolume) Request {
		return Request{Verb: SetPolicy, Policy: corev1.PersistentVolumeReclaimRetain}
	})
}

// ReserveFormer wants volumes reserved for the claims that they name. One that
// names none is left out.
func ReserveFormer(volumes []*corev1.PersistentVolume) Bulk {
	named := slices.DeleteFunc(slices.Clone(volumes), func(pv *corev1.PersistentVolume) bool { return pv.Spec.ClaimRef == nil })
	return bulk(named, func(pv *corev1.PersistentVolume) Request {
		return Request{Verb: Reserve, Claim: keyOf(pv.Spec.ClaimRef)}
	})
}

// UnreserveAll wants volumes open to any claim.
func UnreserveAll(volumes []*corev1.PersistentVolume) Bulk {
	return bulk(volumes, func(*corev1.PersistentVolume) Request { return Request{Verb: Unreserve} })
}

func bulk(volumes []*corev1.PersistentVolume, wish func(*corev1.PersistentVolume) Request) Bulk {
	b := Bulk{}
	for _, pv := range volumes {
		req := wish(pv)
		req.Volume = Ref{Kind: VolumeKind, Name: pv.Name, UID: pv.UID}
		b.Requests = append(b.Requests, req)
	}
	return b
}

// Judge looks at the plan of one of the requests beside the others. In bulk
// each volume is changed by one request, and nothing is left to chance: which
// claim gets which volume must be certain.
func (b Bulk) Judge(p Plan, w World) Plan {
	if p.Blocked() != "" || w.Volume == nil {
		return p
	}
	d := &draft{req: p.Request, w: w, pv: w.Volume, plan: p}
	d.plan.Checks = slices.Clone(p.Checks)
	if n := len(p.Steps); n > 1 {
		d.block("bulk-steps", fmt.Sprintf("This takes %d steps, of which the first is: %s", n, p.Steps[0].Title),
			"Protect the volume first, or do this for it alone")
	}
	switch p.Request.Verb {
	case Reserve:
		b.oneEach(d)
	case Unreserve:
		b.assign(d)
	default:
		// A policy has nothing to do with the other volumes.
	}
	if d.blocked() {
		d.plan.Steps, d.plan.Undo, d.plan.UndoNote = nil, nil, ""
	}
	return d.plan
}

// oneEach: of two volumes that were the same claim's, somebody has to choose.
func (b Bulk) oneEach(d *draft) {
	for _, r := range b.Requests {
		if r.Claim == d.req.Claim && r.Volume != d.req.Volume {
			d.block("bulk-same-claim",
				fmt.Sprintf("Volume %s would be reserved for claim %s too, and which of them it takes could not be said", r.Volume.Name, r.Claim),
				"Look at the data, and reserve the one that the claim should have")
		}
	}
}

// assign foretells who takes the volume when it is opened together with the
// others, by the controller's own rules, and refuses what is left to chance.
func (b Bulk) assign(d *draft) {
	if d.unread("persistentvolumeclaims") || d.unread("storageclasses") || d.unread("persistentvolumes") {
		d.block("bulk-unclear", "Who would take the volume is not known: not all claims, volumes and classes could be read",
			"Open volumes one by one, or look as somebody who may read all of them")
		return
	}
	const remedy = "Reserve each volume for the claim that should have it"
	opened := b.opened(d.w)
	takers := binding.Takers(d.pv, opened, d.w.Claims, d.w.Classes)
	switch {
	case len(takers) > 1:
		keys := make([]string, len(takers))
		for i, t := range takers {
			keys[i] = claimKey(t.Claim).String()
		}
		d.block("bulk-unclear", fmt.Sprintf("%d claims compete for this volume: %s", len(takers), nameList(keys)), remedy)
	case len(takers) == 0:
		d.pass("bulk-assigned", "Opened together with the others, it goes to no claim now")
	default:
		d.assignTo(takers[0], opened, remedy)
	}
}

func (d *draft) assignTo(t binding.Taker, opened []*corev1.PersistentVolume, remedy string) {
	key := claimKey(t.Claim)
	other := t.Instead
	if t.Path == binding.Ordinary || t.Path == binding.ByClaimRef {
		for _, v := range binding.Choices(t.Claim, opened, d.w.Classes) {
			if v.Name != d.pv.Name {
				other = v.Name
			}
		}
	}
	switch {
	case other != "":
		d.block("bulk-unclear", fmt.Sprintf("Claim %s would take this volume or volume %s, whichever comes first", key, other), remedy)
	case t.Delayed:
		d.warn("bulk-assigned", fmt.Sprintf("Opened together with the others, it may go to claim %s, once a first pod of it is placed", key), remedy)
	default:
		d.warn("bulk-assigned", fmt.Sprintf("Opened together with the others, it goes to claim %s: it %s", key, t.Reason), remedy)
	}
}

// opened are all volumes as they would be with those of the bulk open. Those
// that are not there, or that a claim has taken meanwhile, stay as they are.
func (b Bulk) opened(w World) []*corev1.PersistentVolume {
	mine := make(map[string]bool, len(b.Requests))
	for _, r := range b.Requests {
		mine[r.Volume.Name] = true
	}
	all := slices.Clone(w.volumes(w.Volume))
	for i, pv := range all {
		// One whose own plan is blocked is not opened.
		if mine[pv.Name] && storedPhase(pv) != corev1.VolumeBound && pv.DeletionTimestamp == nil {
			all[i] = binding.Opened(pv)
		}
	}
	return all
}

// Already says that nothing had to be done: the volume is as it was wished.
func (p Plan) Already() bool {
	return slices.ContainsFunc(p.Checks, func(c Check) bool {
		return slices.Contains([]string{"policy-same", "already-reserved", "not-reserved", "already-single-pod"}, c.ID)
	})
}

package actions

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/kube/binding"
)

// Offers are the entries of the actions menu for a volume, always in the same
// order. One that cannot be taken now is listed with its reason.
func Offers(volume *corev1.PersistentVolume, w World) []Offer {
	if volume == nil {
		return nil
	}
	w.Volume = volume
	ref := Ref{Kind: VolumeKind, Name: volume.Name, UID: volume.UID}
	offers := repairOffers(w, ref)
	if former := volume.Spec.ClaimRef; former != nil {
		key := keyOf(former)
		req := Request{Verb: Reserve, Volume: ref, Claim: key}
		offers = append(offers, Offer{
			Request: req, Title: "Reserve for claim " + key.String(),
			Note:     formerNote(volume, w),
			Disabled: Make(req, w).Blocked(),
		})
	}
	offers = append(offers, Offer{
		Request: Request{Verb: Reserve, Volume: ref}, NeedsClaim: true,
		Title:    "Reserve for another claim…",
		Note:     "only that claim can then take it",
		Disabled: reservableFor(w, ref).Blocked(),
	})
	req := Request{Verb: Unreserve, Volume: ref}
	offer := Offer{Request: req, Title: "Unreserve", Disabled: Make(req, w).Blocked()}
	if offer.Disabled == "" {
		offer.Note = takersNote(volume, w)
	}
	offers = append(offers, offer)
	for _, policy := range [...]corev1.PersistentVolumeReclaimPolicy{
		corev1.PersistentVolumeReclaimRetain, corev1.PersistentVolumeReclaimDelete,
	} {
		req := Request{Verb: SetPolicy, Volume: ref, Policy: policy}
		offer := Offer{
			Request: req, Title: "Set reclaim policy " + string(policy),
			Note: "the data are kept when the claim goes", Disabled: Make(req, w).Blocked(),
		}
		if policy == corev1.PersistentVolumeReclaimDelete {
			offer.Title += "…"
			offer.Note = "the data go with the claim"
		}
		offers = append(offers, offer)
	}
	return offers
}

// reservableFor is a plan that lacks its claim: only what is wrong with the
// volume itself is known.
func reservableFor(w World, ref Ref) Plan {
	d := &draft{req: Request{Verb: Reserve, Volume: ref}, w: w, pv: w.Volume}
	if d.present() {
		d.reservable()
	}
	return d.plan
}

func formerNote(pv *corev1.PersistentVolume, w World) string {
	ref := pv.Spec.ClaimRef
	switch claim := w.claim(keyOf(ref)); {
	case ref.UID == "":
		return "the claim it waits for"
	case claim == nil && w.unread("persistentvolumeclaims"):
		return "its former claim; whether it exists is not known"
	case claim == nil:
		return "its former claim, now gone: the volume waits for it"
	case claim.UID != ref.UID:
		return "its former claim was re-created: uid differs"
	default:
		return "the claim that holds it"
	}
}

func takersNote(pv *corev1.PersistentVolume, w World) string {
	if w.unread("persistentvolumeclaims") {
		return "who would take it is not known: claims could not be read"
	}
	var now []string
	for _, t := range binding.Takers(pv, w.volumes(pv), w.Claims, w.Classes) {
		if t.AtOnce() {
			now = append(now, claimKey(t.Claim).String())
		}
	}
	if len(now) == 0 {
		return "no claim would take it at once"
	}
	return fmt.Sprintf("%s would take it at once: %s", counted(len(now), "claim"), nameList(now))
}

// repairOffers is an offer for each Lost claim that had the volume.
func repairOffers(w World, ref Ref) []Offer {
	var offers []Offer
	for _, c := range w.marked(w.Volume) {
		if !isLost(c) {
			continue
		}
		req := Request{Verb: Repair, Volume: ref, Claim: claimKey(c)}
		offers = append(offers, Offer{
			Request: req, Title: "Give back to claim " + req.Claim.String(),
			Note:     "the claim is Lost: with its uid in the claimRef both are Bound again",
			Disabled: Make(req, w).Blocked(),
		})
	}
	return offers
}

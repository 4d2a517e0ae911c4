package prediction

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/kube/binding"
)

// differences between a prediction and what has come to be.
func (f prediction) differences(pvc *corev1.PersistentVolumeClaim, pv *corev1.PersistentVolume, holder string, events []told) []string {
	var all []string
	differs := func(what string, predicted, is any) {
		all = append(all, fmt.Sprintf("%s: predicted %v, is %v", what, predicted, is))
	}
	if pvc.Status.Phase != f.claim {
		differs("phase of the claim", f.claim, pvc.Status.Phase)
	}
	// Of several that it may get, the claim leaves all but one.
	phase := f.volume
	if len(f.volumes) > 1 && holder != pv.Name && slices.Contains(f.volumes, pv.Name) {
		phase = corev1.VolumeAvailable
	}
	if pv.Status.Phase != phase {
		differs("phase of the volume", phase, pv.Status.Phase)
	}
	if len(f.volumes) == 0 && holder != "" || len(f.volumes) > 0 && (!slices.Contains(f.volumes, holder) || holder != pvc.Spec.VolumeName) {
		differs("volume of the claim", fmt.Sprintf("%q", f.volumes), fmt.Sprintf("%q, which it names %q", holder, pvc.Spec.VolumeName))
	}
	if f.unequal {
		differs("choices", f.volumes, "one of them is better")
	}
	// The verdict is on this volume alone; a rival may have been preferred.
	if got := holder == pv.Name; got != f.verdict.Binds && (got || !f.rivals) {
		differs("verdict", fmt.Sprintf("binds: %t", f.verdict.Binds), got)
	}
	if class, _, _ := binding.ClaimClass(pvc); class != f.class {
		differs("class of the claim", f.class, class)
	}
	for _, e := range f.told {
		if !f.lax && !slices.Contains(events, e) {
			differs("event", e, events)
		}
	}
	for _, e := range events {
		if e.apart() && !f.lax && !slices.Contains(f.told, e) && !f.expectedAlso(pvc, e) {
			differs("no such event", f.told, e)
		}
	}
	return all
}

// expectedAlso: a claim that is lost or was lost once is told so, and that the
// volume is of another mode is told of each claim whose uid it carries.
func (f prediction) expectedAlso(pvc *corev1.PersistentVolumeClaim, e told) bool {
	if binding.BindCompleted(pvc) && f.claim != corev1.ClaimPending {
		return e.reason == "ClaimLost" && f.claim == corev1.ClaimBound ||
			strings.HasSuffix(e.message, "due to incompatible volumeMode.")
	}
	return false
}

// report shows a pair whose prediction was wrong.
func (p *pair) report(seen picture, f prediction, differences []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p)
	for _, d := range differences {
		fmt.Fprintf(&b, "    %s\n", d)
	}
	fmt.Fprintf(&b, "  predicted from path %q, binds %t, delayed %t, lost %t, blocking %v, ignored %v\n",
		f.verdict.Path, f.verdict.Binds, f.verdict.Delayed, f.verdict.Lost, f.verdict.Blocking, f.verdict.Ignored)
	for _, o := range []any{seen.volumes[p.pv.Name], seen.claims[p.pvc.Name]} {
		text, err := yaml.Marshal(o)
		if err != nil {
			text = []byte(err.Error())
		}
		fmt.Fprintf(&b, "%s\n", text)
	}
	return b.String()
}

package explain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// doable: what is advised can be done, at least once a claim is chosen.
func doable(t *testing.T, snap *kube.Snapshot, e Explanation) {
	t.Helper()
	for _, r := range e.Remedies {
		if r.Request == nil {
			continue
		}
		w := snap.World(r.Request.Volume.Name)
		if r.Request.Verb == actions.Reserve && r.Request.Claim == (actions.ClaimKey{}) {
			for _, o := range actions.Offers(w.Volume, w) {
				if o.NeedsClaim && o.Disabled != "" {
					t.Errorf("%q is advised and can't be done: %s", r.Text, o.Disabled)
				}
			}
			continue
		}
		if why := actions.Make(*r.Request, w).Blocked(); why != "" {
			t.Errorf("%q is advised and can't be done: %s", r.Text, why)
		}
	}
}

// cures are the operations that hang on a summary's sentences.
func cures(e Explanation) string {
	var all []string
	for _, s := range e.Summary {
		if s.Cure != "" {
			all = append(all, string(s.Cure))
		}
	}
	return strings.Join(all, " ")
}

func remedies(e Explanation) string {
	var all []string
	for _, r := range e.Remedies {
		all = append(all, r.Text)
	}
	return strings.Join(all, "\n")
}

func operated(pv *corev1.PersistentVolume) {
	metav1.SetMetaDataAnnotation(&pv.ObjectMeta, "claimref.io/plan", "7f3a v")
}

// TestFormer: what is advised for a volume without its claim depends on what
// has become of that.
func TestFormer(t *testing.T) {
	failed := func(pv *corev1.PersistentVolume) {
		released(pv)
		pv.Status.Phase = corev1.VolumeFailed
	}
	for name, tc := range map[string]struct {
		volume   pvOption
		claim    *corev1.PersistentVolumeClaim
		requests string
		// failed are those of a volume that is Failed, if they differ.
		failed string
		text   string
		// cures are those of a volume that is Released.
		cures string
	}{
		"none":                    {requests: "reserve reserve", failed: "reserve", cures: "reserve"},
		"waits":                   {claim: newPVC("data"), requests: "reserve reserve", failed: "reserve"},
		"names it":                {claim: newPVC("data", names("v")), requests: "reserve reserve", failed: "reserve"},
		"on another":              {claim: newPVC("data", boundTo("w")), requests: "reserve", text: "is on another volume now"},
		"names another":           {claim: newPVC("data", names("w")), requests: "reserve", text: "is on another volume now"},
		"going":                   {claim: newPVC("data", goingPVC), requests: "reserve", text: "which is being deleted, is gone"},
		"Lost over it":            {claim: newPVC("data", lostOver("v")), requests: "repair reserve", failed: "repair", text: "which is Lost over it"},
		"Lost over another":       {claim: newPVC("data", lostOver("w")), requests: "reserve", text: "is on another volume now"},
		"operated":                {volume: operated, text: "carry it on"},
		"operated, the claim too": {volume: operated, claim: newPVC("data"), text: "carry it on"},
		"recycled":                {volume: policy(recycle), requests: "set-policy", failed: "set-policy", text: "Then look for a pod", cures: "set-policy"},
		"deleted":                 {volume: policy(remove), requests: "set-policy reserve reserve", failed: "set-policy reserve", cures: "set-policy reserve"},
		"marked as bound before":  {claim: newPVC("data", names("v"), marked), text: "make it anew without that annotation first"},
		"deleted, operated": {
			volume:   func(pv *corev1.PersistentVolume) { policy(remove)(pv); operated(pv) },
			requests: "set-policy", failed: "set-policy", text: "carry it on", cures: "set-policy",
		},
	} {
		for phase, in := range map[string]pvOption{"released": released, "failed": failed} {
			t.Run(phase+", "+name, func(t *testing.T) {
				options, claims := []pvOption{in}, []*corev1.PersistentVolumeClaim{}
				if tc.volume != nil {
					options = append(options, tc.volume)
				}
				if tc.claim != nil {
					claims = append(claims, tc.claim)
				}
				snap := kube.NewSnapshot(world(pvs(newPV("v", options...)), claims...))
				e := Volume(snap, snap.Volume("v"), ask())
				if got := cures(e); phase == "released" && tc.cures != "" && got != tc.cures {
					t.Errorf("cures %q, want %q", got, tc.cures)
				}
				want := tc.requests
				if phase == "failed" {
					want = tc.failed
				}
				if got := requests(e); got != want {
					t.Errorf("remedies %q, want %q", got, want)
				}
				has(t, remedies(e), tc.text)
				doable(t, snap, e)
				wellFormed(t, e)
			})
		}
	}
}

// TestNamedVolumePastHaving: a claim waits for a volume that it can't be given.
func TestNamedVolumePastHaving(t *testing.T) {
	for name, tc := range map[string]struct {
		volume   []pvOption
		requests string
		text     string
	}{
		"of the past": {requests: "reserve"},
		"going":       {volume: []pvOption{goingPV}, text: "no claim can get it any more"},
		"going, under Delete": {
			volume: []pvOption{goingPV, policy(remove)}, requests: "set-policy", text: "no claim can get it any more",
		},
		"recycled": {volume: []pvOption{policy(recycle)}, requests: "set-policy", text: "may be being erased"},
		"operated": {volume: []pvOption{operated}, text: "An operation on volume v is unfinished"},
	} {
		t.Run(name, func(t *testing.T) {
			snap := kube.NewSnapshot(world(pvs(newPV("v", append([]pvOption{released}, tc.volume...)...)), newPVC("data", names("v"))))
			e := Claim(snap, snap.Claims[0], ask())
			if got := requests(e); e.Verdict != ClaimNamesTaken || got != tc.requests {
				t.Errorf("%s, remedies %q, want %q", e.Verdict, got, tc.requests)
			}
			has(t, evidence(e), tc.text)
			doable(t, snap, e)
			wellFormed(t, e)
		})
	}
}

package explain

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/sandbox"
)

func TestLost(t *testing.T) {
	lost := newPVC("data", lostOver("v"))
	nameless := newPVC("data", lostOver(""))
	other := func(o pvOption) pvOption {
		return func(pv *corev1.PersistentVolume) { o(pv); pv.Spec.ClaimRef.Name = "x" }
	}
	for name, tc := range map[string]struct {
		claim    *corev1.PersistentVolumeClaim
		volumes  []*corev1.PersistentVolume
		others   []*corev1.PersistentVolumeClaim
		unread   bool
		verdict  Verdict
		summary  string
		evidence string
		not      string
		requests string
	}{
		"no name": {claim: nameless, verdict: ClaimLostNoName, summary: "Lost: it names no volume any more."},
		"no name, but a volume carries its uid": {
			claim: nameless, volumes: pvs(newPV("v", tied("data", "uid-data"))), verdict: ClaimLostNoName,
			evidence: "Volume v still carries this claim's uid: it is likely its volume",
		},
		"volume gone": {claim: lost, verdict: ClaimLostMissing, summary: "Lost: its volume v does not exist.", evidence: "if the volume's policy was Retain"},
		"volumes unread": {
			claim: lost, unread: true, verdict: ClaimLostUnknown, summary: "gone or holds another claim", not: "v does not exist",
		},
		"the uid is missing": {
			claim: lost, volumes: pvs(newPV("v", tied("data", ""))), verdict: ClaimLostMisbound,
			summary: "reserved for a claim of this name, but the uid is missing", requests: "repair unreserve",
		},
		"the uid of an earlier claim": {
			claim: lost, volumes: pvs(newPV("v", released)), verdict: ClaimLostMisbound, summary: "the uid of an earlier claim of this name", requests: "repair",
		},
		"open": {
			claim: lost, volumes: pvs(newPV("v")), verdict: ClaimLostMisbound, summary: "binds them again by itself, unless another claim is faster", requests: "repair",
		},
		"reserved for another": {
			claim: lost, volumes: pvs(newPV("v", other(tied("x", "")))), verdict: ClaimLostMisbound, summary: "It is reserved for claim shop/x.", requests: "repair",
		},
		"held by another": {
			claim: lost, volumes: pvs(newPV("v", other(tied("x", "uid-x")))), others: []*corev1.PersistentVolumeClaim{newPVC("x", boundTo("v"))},
			verdict: ClaimLostMisbound, summary: "Claim shop/x has it now.", requests: "",
		},
		"another one had it since": {
			claim: lost, volumes: pvs(newPV("v", other(released))), verdict: ClaimLostMisbound, summary: "Claim shop/x, which is gone, had it since.", requests: "repair",
		},
		"volume going": {
			claim: lost, volumes: pvs(newPV("v", tied("data", ""), goingPV, policy(remove))), verdict: ClaimLostMisbound,
			evidence: "is being deleted, so that the claim can't be repaired", requests: "set-policy",
		},
		"by now it is right": {
			claim: lost, volumes: pvs(newPV("v", tied("data", "uid-data"))), verdict: ClaimLostMisbound, summary: "By now it does", requests: "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			snap := kube.NewSnapshot(world(tc.volumes, append(tc.others, tc.claim)...))
			c := *snap.Claim("shop", "data")
			if tc.unread {
				unread(snap, kube.PersistentVolumes)
				c.Tie = kube.TieUnknown
			}
			e := Claim(snap, &c, ask())
			if e.Verdict != tc.verdict {
				t.Errorf("verdict %q, want %q", e.Verdict, tc.verdict)
			}
			has(t, e.Summary.String(), "Lost", tc.summary)
			has(t, evidence(e), tc.evidence)
			if tc.not != "" {
				hasNot(t, e.Summary.String()+evidence(e), tc.not)
			}
			if got := requests(e); got != tc.requests {
				t.Errorf("remedies %q, want %q", got, tc.requests)
			}
			for _, r := range e.Remedies {
				if r.Request != nil && r.Request.Verb == actions.Repair && (r.Request.Volume.Name != "v" || r.Request.Claim != actions.ClaimKey{Namespace: "shop", Name: "data"}) {
					t.Errorf("it would repair %+v", *r.Request)
				}
			}
			wellFormed(t, e)
			if !tc.unread {
				doable(t, snap, e)
			}
		})
	}
}

// merged sends a merge patch to a volume of the sandbox.
func merged(t *testing.T, s *sandbox.State, step actions.Step) *sandbox.State {
	t.Helper()
	before, err := json.Marshal(s.Volume(step.Target.Name))
	if err != nil {
		t.Fatal(err)
	}
	after, err := jsonpatch.MergePatch(before, step.Patch)
	if err != nil {
		t.Fatal(err)
	}
	pv := &corev1.PersistentVolume{}
	if err := json.Unmarshal(after, pv); err != nil {
		t.Fatal(err)
	}
	return s.Update(pv)
}

// TestRepair goes the whole way with the controllers of the sandbox: a binding
// is broken as field operators broke theirs, explained, repaired by the plan
// that the explanation offers, and whole again.
func TestRepair(t *testing.T) {
	for name, tc := range map[string]struct {
		policy corev1.PersistentVolumeReclaimPolicy
		breaks func(*corev1.PersistentVolume)
	}{
		"the uid taken off": {keep, func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "" }},
		// Under Delete a foreign uid would be the end of the data at once.
		"the uid taken off, under Delete": {remove, func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "" }},
		"an older uid put back":           {keep, func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = types.UID("uid-older") }},
		"given to another claim":          {keep, func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.Name, pv.Spec.ClaimRef.UID = "x", "" }},
	} {
		t.Run(name, func(t *testing.T) {
			cs := sandbox.Controllers()
			settle := func(s *sandbox.State) *sandbox.State {
				t.Helper()
				next, err := sandbox.Settle(s, cs, 500)
				if err != nil {
					t.Fatal(err)
				}
				return next
			}
			s := sandbox.NewState(noon()).Load(newSC("fast", byHand), newNamespace("shop"), newNode("n1"), newPV("v", policy(tc.policy)), newPVC("data"))
			s = settle(s)
			if s.Claim("shop", "data").Status.Phase != corev1.ClaimBound {
				t.Fatalf("the claim is %s to begin with", s.Claim("shop", "data").Status.Phase)
			}
			pv := s.Volume("v").DeepCopy()
			tc.breaks(pv)
			s = settle(s.Update(pv))
			if s.Claim("shop", "data").Status.Phase != corev1.ClaimLost {
				t.Fatalf("the claim is %s, want it Lost", s.Claim("shop", "data").Status.Phase)
			}

			objects := world(pvs(s.Volume("v")), s.Claim("shop", "data"))
			snap := kube.NewSnapshot(objects)
			e := Claim(snap, snap.Claims[0], ask())
			var request *actions.Request
			for _, r := range e.Remedies {
				if r.Request != nil && r.Request.Verb == actions.Repair {
					request = r.Request
				}
			}
			if request == nil {
				t.Fatalf("no repair is offered: %s", e.Summary)
			}
			plan := actions.Make(*request, snap.World("v"))
			if reason := plan.Blocked(); reason != "" {
				t.Fatalf("the plan is blocked: %s", reason)
			}
			for i, step := range plan.Steps {
				w := snap.World("v")
				w.Volume = s.Volume("v")
				if m := actions.Next(plan, plan.Steps, w); m.Kind != actions.Act || m.Step != i {
					t.Fatalf("before step %d: %+v", i, m)
				}
				s = settle(merged(t, s, step))
			}
			pv, pvc := s.Volume("v"), s.Claim("shop", "data")
			if pvc.Status.Phase != corev1.ClaimBound || pv.Status.Phase != corev1.VolumeBound || pv.Spec.ClaimRef.UID != pvc.UID {
				t.Errorf("the claim is %s, the volume %s for %s", pvc.Status.Phase, pv.Status.Phase, pv.Spec.ClaimRef.UID)
			}
			if pv.Spec.PersistentVolumeReclaimPolicy != keep {
				t.Error("a repair ends under Retain")
			}
		})
	}
}

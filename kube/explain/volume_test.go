package explain

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// requests are the verbs of the remedies that can be planned, in order.
func requests(e Explanation) string {
	var verbs []string
	for _, r := range e.Remedies {
		if r.Request != nil {
			verbs = append(verbs, string(r.Request.Verb))
		}
	}
	return strings.Join(verbs, " ")
}

func TestVolume(t *testing.T) {
	message := func(text string) pvOption {
		return func(pv *corev1.PersistentVolume) { pv.Status.Message = text }
	}
	const provisioner = "external-provisioner.volume.kubernetes.io/finalizer"
	for name, tc := range map[string]struct {
		volume  *corev1.PersistentVolume
		others  []*corev1.PersistentVolume
		claims  []*corev1.PersistentVolumeClaim
		edit    func(*kube.Objects)
		unread  []kube.Resource
		verdict Verdict
		// summary and evidence hold what must be said, not what must not be
		// said anywhere.
		summary  []string
		evidence []string
		not      []string
		requests string
	}{
		"new": {volume: newPV("v", inPhase("")), verdict: VolumeNew, summary: []string{"has not looked at it yet"}},
		"a phase of the future": {
			volume: newPV("v", inPhase("Folded\x1b[2J")), verdict: VolumeUnknown, summary: []string{"Folded[2J is not known here"}, not: []string{"\x1b"},
		},
		"open": {
			volume: newPV("v"), verdict: VolumeOpen,
			summary:  []string{"Open to any claim that fits", "class fast", "for 24h"},
			evidence: []string{"No claim that is known takes it at once"},
			not:      []string{"likely holds"}, requests: "reserve",
		},
		"open, and held data": {
			volume: newPV("v", provisionedBy("csi.test")), verdict: VolumeOpen, summary: []string{"likely holds that claim's data"}, requests: "reserve",
		},
		"open, and a stranger takes it": {
			volume: newPV("v"), claims: []*corev1.PersistentVolumeClaim{newPVC("events", wants("5Gi"))}, verdict: VolumeOpen,
			evidence: []string{"Claim shop/events takes it at once: it fits"}, requests: "reserve",
		},
		"being bound": {
			volume: newPV("v", tied("data", "uid-data"), inPhase(corev1.VolumeAvailable)), claims: []*corev1.PersistentVolumeClaim{newPVC("data")},
			verdict: VolumeBinding, summary: []string{"Being bound to claim shop/data"},
		},

		"released, kept": {
			volume: newPV("v", released), verdict: VolumeReleased,
			summary: []string{"Released 24h ago: claim shop/data, to which it was bound, is gone.", "Data kept (Retain).", "No claim of that name exists now."},
			not:     []string{"Delete"}, requests: "reserve reserve",
		},
		"released, about to go": {
			volume: newPV("v", released, policy(remove)), verdict: VolumeReleased,
			summary: []string{"may be removed at any moment"}, not: []string{"Data kept"}, requests: "set-policy reserve reserve",
		},
		"released, recycled": {
			volume: newPV("v", released, policy(recycle)), verdict: VolumeReleased, summary: []string{"Recycle wipes its data"}, requests: "set-policy",
		},
		"released, claim made again and waiting": {
			volume: newPV("v", released), claims: []*corev1.PersistentVolumeClaim{newPVC("data")}, verdict: VolumeReleased,
			summary:  []string{"A claim of that name exists again, but it is another one, which is not bound."},
			evidence: []string{"with uid uid-old; the claim of that name has uid uid-data: it was made anew", "shop/data would take it at once if it were open"},
			not:      []string{"No claim of that name"}, requests: "reserve reserve",
		},
		"released, claim made again on a new, empty volume": {
			volume: newPV("v", released), others: pvs(newPV("w", tied("data", "uid-data"))),
			claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("w"))}, verdict: VolumeReleased,
			summary: []string{"another one, on volume w."}, requests: "reserve",
		},
		"released, claims unread": {
			volume: newPV("v", released), unread: []kube.Resource{kube.PersistentVolumeClaims}, verdict: VolumeReleased,
			summary:  []string{"Whether a claim of that name exists can't be seen: you may not list persistentvolumeclaims."},
			evidence: []string{"there may be others"}, not: []string{"No claim of that name exists", "does not exist"}, requests: "reserve reserve",
		},

		"reserved for nobody yet": {
			volume: newPV("v", tied("data", "")), verdict: VolumeReserved,
			summary: []string{"Reserved for claim shop/data: no other claim can take it.", "does not exist; when it is created it binds here, if it fits."},
			not:     []string{"amespace"}, requests: "unreserve",
		},
		"reserved, namespace gone": {
			volume: newPV("v", tied("data", "")), edit: func(o *kube.Objects) { o.Namespaces = nil }, verdict: VolumeReserved,
			evidence: []string{"Namespace shop does not exist"}, requests: "unreserve",
		},
		"reserved, namespace going": {
			volume: newPV("v", tied("data", "")), edit: func(o *kube.Objects) { o.Namespaces[0].Status.Phase = corev1.NamespaceTerminating }, verdict: VolumeReserved,
			evidence: []string{"Namespace shop is being deleted"}, requests: "unreserve",
		},
		"reserved, namespaces unread": {
			volume: newPV("v", tied("data", "")), edit: func(o *kube.Objects) { o.Namespaces = nil }, unread: []kube.Resource{kube.Namespaces}, verdict: VolumeReserved,
			not: []string{"Namespace"}, requests: "unreserve",
		},
		"reserved, the claim fits": {
			volume: newPV("v", tied("data", "")), claims: []*corev1.PersistentVolumeClaim{newPVC("data")}, verdict: VolumeReserved,
			summary: []string{"That claim exists and is not bound yet."}, not: []string{"will not take it"}, requests: "unreserve",
		},
		"reserved, the claim is too big": {
			volume: newPV("v", tied("data", "")), claims: []*corev1.PersistentVolumeClaim{newPVC("data", wants("50Gi"))}, verdict: VolumeReserved,
			summary: []string{"will not take it: the volume is too small: 10Gi, asked for 50Gi."}, requests: "unreserve",
		},
		// The path of a claimRef does not look at the class: it binds.
		"reserved, the class differs": {
			volume: newPV("v", tied("data", ""), ofClass("")), claims: []*corev1.PersistentVolumeClaim{newPVC("data")}, verdict: VolumeReserved,
			summary: []string{"exists and is not bound yet"}, evidence: []string{`the volume has "", asked for fast; this is not compared for a reserved volume`},
			not: []string{"will not take it"}, requests: "unreserve",
		},
		"reserved, but another volume has fewer modes": {
			volume:  newPV("v", tied("data", ""), offers(corev1.ReadWriteOnce, corev1.ReadOnlyMany)),
			others:  pvs(newPV("w")),
			claims:  []*corev1.PersistentVolumeClaim{newPVC("data")},
			verdict: VolumeReserved, evidence: []string{"Claim shop/data takes volume w rather than this one"}, requests: "unreserve",
		},
		"reserved in vain": {
			volume: newPV("v", tied("data", "")), claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("w"))}, verdict: VolumeReserved,
			summary: []string{"bound to another volume, so that this one waits for nothing"}, evidence: []string{"which is on volume w"}, requests: "reserve unreserve",
		},
		"reserved, and its claim Lost": {
			volume: newPV("v", tied("data", "")), claims: []*corev1.PersistentVolumeClaim{newPVC("data", lostOver("v"))}, verdict: VolumeReserved,
			summary: []string{"is Lost, as the volume does not carry its uid"}, requests: "repair unreserve",
		},
		"reserved, under Delete": {
			volume: newPV("v", tied("data", ""), policy(remove)), verdict: VolumeReserved, summary: []string{"once that claim has it, the volume and its data go with the claim"}, requests: "set-policy unreserve",
		},

		"bound, dies with its claim": {
			volume: newPV("v", tied("data", "uid-data"), policy(remove)), claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("v"))}, verdict: VolumeBound,
			summary: []string{"Bound to claim shop/data for 24h, used by nobody.", "deleting the claim destroys this volume and its data"}, requests: "set-policy",
		},
		"bound, safe": {
			volume: newPV("v", tied("data", "uid-data")), claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("v"))}, verdict: VolumeBound, not: []string{"destroys", "Takers"},
		},
		"bound, the claim looks elsewhere": {
			volume: newPV("v", tied("data", "uid-data")), claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("w"))}, verdict: VolumeBound,
			summary: []string{"does not name this volume back"},
		},
		"bound, pods unread": {
			volume: newPV("v", tied("data", "uid-data")), claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("v"))}, verdict: VolumeBound,
			edit: func(*kube.Objects) {}, unread: []kube.Resource{kube.StatefulSets}, summary: []string{"used by no pod"}, not: []string{"used by nobody"},
		},

		"failed, under Retain": {
			volume: newPV("v", released, inPhase(corev1.VolumeFailed), message("in\nuse.")), verdict: VolumeFailed,
			summary: []string{"Failed 24h ago: in use.", "under Retain it does not try again"}, not: []string{"in use.."}, requests: "reserve",
		},
		"failed, made by hand, under Delete": {
			volume: newPV("v", released, inPhase(corev1.VolumeFailed), policy(remove)), verdict: VolumeFailed,
			summary: []string{"and tries again"}, evidence: []string{"made by hand and is no CSI volume"}, requests: "set-policy reserve",
		},
		"failed, still attached": {
			volume: newPV("v", released, inPhase(corev1.VolumeFailed), policy(remove), provisionedBy("csi.test")), verdict: VolumeFailed,
			edit: func(o *kube.Objects) {
				v := "v"
				o.Attachments = []*storagev1.VolumeAttachment{{ObjectMeta: meta("", "a"), Spec: storagev1.VolumeAttachmentSpec{
					Attacher: "csi.test", NodeName: "n1", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &v},
				}, Status: storagev1.VolumeAttachmentStatus{Attached: true}}}
			},
			evidence: []string{"still attached to node n1"}, not: []string{"made by hand"}, requests: "set-policy reserve",
		},

		"terminating, held by its claim": {
			volume: newPV("v", tied("data", "uid-data"), goingPV, finalized("kubernetes.io/pv-protection")),
			claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("v"))}, verdict: VolumeTerminating,
			summary:  []string{"Being deleted for 5m", "can't be taken back", "for as long as claim shop/data is bound", "Its data stay with the storage (Retain)"},
			evidence: []string{"pv-protection: the controller manager removes it when the volume is no longer Bound"},
		},
		"terminating, data go": {
			volume: newPV("v", released, goingPV, policy(remove), finalized(provisioner)), verdict: VolumeTerminating,
			summary:  []string{"Held by " + provisioner, "Policy Delete: its data may be being deleted now"},
			evidence: []string{"after it has deleted the storage", "not known here"}, requests: "set-policy",
		},
		"terminating, the provisioner should have let go": {
			volume: newPV("v", released, goingPV, finalized(provisioner)), verdict: VolumeTerminating,
			evidence: []string{"removes it by itself, as the policy is not Delete; if it stays, the provisioner is not running or lacks a right"},
		},
		"terminating, a finalizer of somebody": {
			volume: newPV("v", released, goingPV, finalized("example.com/keep")), verdict: VolumeTerminating, evidence: []string{"whoever put it there has to"},
		},

		"class gone": {
			volume: newPV("v", ofClass("old")), verdict: VolumeOpen, evidence: []string{"Class old does not exist any more"}, requests: "reserve",
		},
		"classes unread": {
			volume: newPV("v", ofClass("old")), unread: []kube.Resource{kube.StorageClasses}, verdict: VolumeOpen, not: []string{"does not exist"}, requests: "reserve",
		},
		"class says Retain": {
			volume: newPV("v", tied("data", "uid-data"), policy(remove)), claims: []*corev1.PersistentVolumeClaim{newPVC("data", boundTo("v"))},
			edit: func(o *kube.Objects) { o.Classes = []*storagev1.StorageClass{newSC("fast", retains)} }, verdict: VolumeBound,
			evidence: []string{"Class fast says Retain, but the volume says Delete"}, requests: "set-policy",
		},
		"node gone": {
			volume: newPV("v", onNode("n9")), verdict: VolumeOpen, evidence: []string{"No node fits its node affinity (n9)"}, requests: "reserve",
		},
		"node there":   {volume: newPV("v", onNode("n1")), verdict: VolumeOpen, not: []string{"node affinity"}, requests: "reserve"},
		"nodes unread": {volume: newPV("v", onNode("n9")), unread: []kube.Resource{kube.Nodes}, verdict: VolumeOpen, not: []string{"node affinity"}, requests: "reserve"},
	} {
		t.Run(name, func(t *testing.T) {
			objects := world(append(tc.others, tc.volume), tc.claims...)
			if tc.edit != nil {
				tc.edit(&objects)
			}
			snap := kube.NewSnapshot(objects)
			v := *snap.Volume("v")
			if len(tc.unread) > 0 {
				unread(snap, tc.unread...)
				for _, r := range tc.unread {
					if r == kube.PersistentVolumeClaims {
						v.Tie = kube.TieUnknown
					}
				}
			}
			e := Volume(snap, &v, ask())
			if e.Verdict != tc.verdict {
				t.Errorf("verdict %q, want %q", e.Verdict, tc.verdict)
			}
			has(t, e.Summary.String(), tc.summary...)
			has(t, evidence(e), tc.evidence...)
			hasNot(t, e.Summary.String()+"\n"+evidence(e), tc.not...)
			if got := requests(e); got != tc.requests {
				t.Errorf("remedies %q, want %q", got, tc.requests)
			}
			wellFormed(t, e)
			doable(t, snap, e)
			brief := Volume(snap, &v, Ask{Now: noon(), Brief: true})
			if brief.Verdict != e.Verdict || brief.Takers != nil || !strings.HasPrefix(e.Summary.String(), brief.Summary.String()) {
				t.Errorf("in brief it says: %s", brief.Summary)
			}
		})
	}
}

// wellFormed holds all texts to their form.
func wellFormed(t *testing.T, e Explanation) {
	t.Helper()
	if len(e.Summary) == 0 {
		t.Error("there is no summary")
	}
	for _, s := range e.Summary {
		if !strings.HasSuffix(s.Text, ".") || strings.HasSuffix(s.Text, "..") || strings.Contains(s.Text, "  ") {
			t.Errorf("no sentence: %q", s.Text)
		}
	}
	for _, f := range e.Evidence {
		if f.Label == "" || f.Text == "" || strings.HasSuffix(f.Text, ".") {
			t.Errorf("no evidence: %+v", f)
		}
	}
	for _, h := range e.Holders {
		if h.How == "" || h.Text == "" || strings.HasSuffix(h.Text, ".") {
			t.Errorf("no holder: %+v", h)
		}
	}
	for _, r := range e.Remedies {
		if r.Text == "" || strings.HasSuffix(r.Text, ".") {
			t.Errorf("no remedy: %+v", r)
		}
		if r.Request != nil && (r.Request.Verb == "" || r.Request.Volume.UID == "") {
			t.Errorf("nothing that could be planned: %+v", *r.Request)
		}
	}
	for _, s := range e.Summary {
		if s.Cure == actions.SetPolicy && s.Level == Plain {
			t.Errorf("a cure for nothing: %q", s.Text)
		}
	}
}

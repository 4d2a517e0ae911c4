package cases

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claimref/claimref/kube/explain"
)

const tale = `
kind: Story
about: A released volume
names: [books, ledger, atlas, scarce]
---
apiVersion: v1
kind: Namespace
metadata: {name: books}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: scarce}
provisioner: kubernetes.io/no-provisioner
reclaimPolicy: Retain
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: ledger-disk}
spec:
  storageClassName: scarce
  capacity: {storage: 5Gi}
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Delete
  claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, namespace: books, name: ledger, uid: 00000000-0000-4000-8000-000000000001}
  csi: {driver: static.claimref.test, volumeHandle: ledger-disk}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: atlas, namespace: books}
spec: {storageClassName: scarce, accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}
---
`

// told is the tale with an end.
func told(t *testing.T, end string) *Story {
	t.Helper()
	s, err := parse("tale", []byte(tale+end))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestExpectations: what does not hold is told, field by field. An expectation
// that nothing can break would prove nothing.
func TestExpectations(t *testing.T) {
	const volume = "kind: Expect\nof: PersistentVolume ledger-disk\n"
	for holds, fails := range map[string]string{
		"state: Released":                                                      "state: Bound",
		"stored: Released":                                                     "stored: Failed",
		"verdict: volume-released":                                             "verdict: volume-bound",
		"says: [is gone]":                                                      "says: [is not gone]",
		"never: [is not gone]":                                                 "never: [is gone]",
		"takers: [books/atlas]":                                                "takers: []",
		"takers: [books/atlas]\nlater: []":                                     "takers: [books/atlas]\nlater: [books/ledger]",
		"risks: {released-delete: critical}":                                   "risks: {recycle: ''}",
		"risks: {released-delete: ''}":                                         "risks: {released-delete: harmless}",
		"noRisks: [recycle]":                                                   "noRisks: [released-delete]",
		"offers: {unreserve: ''}":                                              "offers: {unreserve: not today}",
		"offers: {set-policy Delete: Delete}":                                  "offers: {set-policy Delete: ''}",
		"offers: {set-policy Retain: ''}":                                      "offers: {set-policy Recycle: ''}",
		"offers: {reserve books/ledger: ''}":                                   "offers: {reserve books/atlas: ''}",
		"remedies: [set-policy Retain, reserve books/ledger, reserve]":         "remedies: [reserve]",
		"plan: reserve\nfor: books/ledger\nready: true":                        "plan: reserve\nfor: books/ledger\nblocked: true",
		"plan: reserve\nfor: books/ledger\nchecks: {deletion-under-way: warn}": "plan: reserve\nfor: books/ledger\nchecks: {deletion-under-way: pass}",
		"plan: reserve\nfor: books/ledger\nchecks: {former-gone: 'pass: books/ledger'}":       "plan: reserve\nfor: books/ledger\nchecks: {former-gone: 'pass: books/atlas'}",
		"plan: reserve\nfor: books/ledger\nnoChecks: [recycle]":                               "plan: reserve\nfor: books/ledger\nnoChecks: [former-gone]",
		"plan: reserve\nfor: books/ledger\nwrites: ['\"uid\":null']":                          "plan: reserve\nfor: books/ledger\nwrites: ['\"uid\":1']",
		"plan: reserve\nfor: books/ledger\nneverWrites: ['\"claimRef\":null']":                "plan: reserve\nfor: books/ledger\nneverWrites: ['\"uid\":null']",
		"operation: recreate\nready: true":                                                    "operation: recreate\nblocked: true",
		"operation: single-pod\nblocked: true":                                                "operation: single-pod\nready: true",
		"operation: recreate\nwrites: ['\"volumeName\":\"ledger-disk\"']":                     "operation: recreate\nwrites: ['\"volumeName\":\"atlas-disk\"']",
		"plan: set-policy\npolicy: Delete\nchecks: {policy-same: block}":                      "plan: set-policy\npolicy: Retain\nchecks: {policy-same: block}",
		"operation: move\nfor: books/other\nchecks: {claim-gone: 'block: Re-create'}":         "operation: move\nfor: books/other\nchecks: {claim-gone: warn}",
		"operation: single-pod\noptions: {recreate: true}\nchecks: {claim-gone: block}":       "operation: single-pod\noptions: {recreate: true}\nchecks: {claim-none: block}",
		"operation: recreate\nneverWrites: ['\"claimRef\":null']\nchecks: {never-open: pass}": "operation: recreate\nstate: gone",
	} {
		for end, bad := range map[string]bool{holds: false, fails: true} {
			wrong, views, err := Play(t.Context(), told(t, volume+end), NewSandbox(time.Now(), "folders.claimref.test"))
			if err != nil {
				t.Fatalf("%s: %v", end, err)
			}
			if len(wrong) > 0 != bad {
				t.Errorf("%q: wrong is %v", end, wrong)
			}
			if len(views) != 1 || views[0]["volume ledger-disk"] != "Released, for books/ledger with a stale uid" {
				t.Errorf("it looks like %v", views)
			}
		}
	}
}

// TestActs: what the server refuses is expected, or stops the story.
func TestActs(t *testing.T) {
	for end, want := range map[string]string{
		"kind: Act\npatch: PersistentVolume ledger-disk\nwith: {spec: {volumeMode: Block}}":                           "immutable",
		"kind: Act\npatch: PersistentVolume ledger-disk\nwith: {spec: {volumeMode: Block}}\nrefused: immutable":       "",
		"kind: Act\npatch: PersistentVolume ledger-disk\nwith: {spec: {volumeMode: Block}}\nrefused: too late":        `was to say "too late"`,
		"kind: Act\npatch: PersistentVolume ledger-disk\nwith: {metadata: {labels: {a: b}}}\nrefused: everything":     "was to refuse",
		"kind: Act\ndelete: PersistentVolumeClaim books/none":                                                         "not found",
		"kind: Act\ndelete: PersistentVolume of books/none":                                                           "there is no",
		"kind: Act\ndelete: Secret books/none":                                                                        "not known here",
		"kind: Act\ndelete: PersistentVolume formerly of books/ledger":                                                "",
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: books}":                                                    "already exists",
		"kind: Act\npatch: PersistentVolumeClaim books/atlas\nstatus: true\nwith: {status: {phase: Pending}}":         "",
		"kind: Act\ndelete: PersistentVolumeClaim books/atlas\n---\nkind: Expect\nof: StorageClass scarce\nsays: [a]": "",
	} {
		_, _, err := Play(t.Context(), told(t, end), NewSandbox(time.Now(), "folders.claimref.test"))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", end, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"kind: Namespace\napiVersion: v1\nmetadata: {name: a}": "does not begin with",
		"kind: Story": "what it is about",
		"kind: Story\nabout: x\n---\nkind: Expect\nof: x\nsay: [y]":            `unknown field "say"`,
		"kind: Story\nabout: x\n---\nkind: Act\nremove: y":                     `unknown field "remove"`,
		"kind: Story\nabout: x\nname: [y]":                                     `unknown field "name"`,
		"kind: Story\nabout: x\n---\nkind: Pod\nmetadata: {name: a}":           "needs an apiVersion",
		"kind: Story\nabout: x\n---\n{{":                                       "document 1",
		"kind: Story\nabout: x\n---\n# Nothing but a comment.\n---\nkind: Act": "",
	} {
		_, err := parse("x", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestVary: the same seed tells the same, another one shares no name, and what
// is made into one name stays one.
func TestVary(t *testing.T) {
	s := told(t, "kind: Expect\nof: PersistentVolume ledger-disk\nsays: [claim books/ledger, a subledger of 5Gi]")
	var tellings []*Story
	for _, seed := range []uint64{1, 1, 2} {
		varied, err := s.Vary(seed)
		if err != nil {
			t.Fatal(err)
		}
		tellings = append(tellings, varied)
		for _, p := range varied.Parts {
			if o := p.Object; o != nil && !varied.Own(o.GetName()) {
				t.Errorf("%s %s is not of this telling", o.GetKind(), o.GetName())
			}
		}
		books, ledger := varied.Head.Names[0], varied.Head.Names[1]
		e := varied.Parts[len(varied.Parts)-1].Expect
		if e.Of != "PersistentVolume "+ledger+"-disk" || e.Says[0] != "claim "+books+"/"+ledger || !strings.HasPrefix(e.Says[1], "a subledger of ") {
			t.Errorf("it expects %+v", e)
		}
		if first := varied.Parts[0].Object.GetKind() + varied.Parts[1].Object.GetKind(); first != "NamespaceStorageClass" {
			t.Errorf("it begins with %s", first)
		}
	}
	if string(tellings[0].text) != string(tellings[1].text) || string(tellings[0].text) == string(tellings[2].text) {
		t.Error("the seeds do not tell")
	}
	for _, name := range tellings[0].Head.Names {
		if tellings[2].Own(name) || s.Own(name) {
			t.Errorf("%s is in another telling, too", name)
		}
	}
}

// TestOrder: objects come in any order, unless the story says otherwise, but
// never a claim before a volume, nor either before what it is put into.
func TestOrder(t *testing.T) {
	const more = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: ledger-disk-2}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: atlas-2, namespace: books}
---
apiVersion: v1
kind: Namespace
metadata: {name: ledger}
---
`
	for written, want := range map[string][]string{
		"ordered: true\nabout: ": {
			"Namespace StorageClass PersistentVolume PersistentVolumeClaim PersistentVolume-2 PersistentVolumeClaim-2 Namespace",
		},
		"about: ": {
			"Namespace StorageClass Namespace PersistentVolume PersistentVolume-2 PersistentVolumeClaim PersistentVolumeClaim-2",
			"Namespace StorageClass Namespace PersistentVolume PersistentVolume-2 PersistentVolumeClaim-2 PersistentVolumeClaim",
			"Namespace StorageClass Namespace PersistentVolume-2 PersistentVolume PersistentVolumeClaim PersistentVolumeClaim-2",
			"Namespace StorageClass Namespace PersistentVolume-2 PersistentVolume PersistentVolumeClaim-2 PersistentVolumeClaim",
		},
	} {
		s, err := parse("tale", []byte(strings.Replace(tale, "about: ", written, 1)+more+"kind: Act"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for seed := range uint64(40) {
			varied, err := s.Vary(seed)
			if err != nil {
				t.Fatal(err)
			}
			var order []string
			for _, p := range varied.Parts[:len(varied.Parts)-1] {
				kind := p.Object.GetKind()
				if strings.HasSuffix(p.Object.GetName(), "-2") {
					kind += "-2"
				}
				order = append(order, kind)
			}
			seen[strings.Join(order, " ")] = true
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
			t.Errorf("with %q they come as\n%s", written, strings.Join(got, "\n"))
		}
	}
}

// TestNames: every object that is in no namespace has one of the story's names,
// or two tellings would meet in one cluster.
func TestNames(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, p := range s.Parts {
			if o := p.Object; o != nil && o.GetNamespace() == "" && o.GetKind() != "CSIDriver" && !s.Own(o.GetName()) {
				t.Errorf("%s: %s %s has none of its names", s.Name, o.GetKind(), o.GetName())
			}
		}
	}
}

// TestEveryRisk: there is a story of every kind of trouble that risks know.
func TestEveryRisk(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, s := range all {
		for _, p := range s.Parts {
			if p.Expect != nil {
				for id := range p.Expect.Risks {
					told = append(told, id)
				}
			}
		}
	}
	for _, id := range []explain.RiskID{
		explain.RiskDeleteStatefulSet, explain.RiskReleasedDelete, explain.RiskPolicyDiffers, explain.RiskRecycle, explain.RiskFailed,
		explain.RiskNodeGone, explain.RiskReservedElsewhere, explain.RiskReservedNamespace, explain.RiskOpenWithData,
		explain.RiskForeignFinalizer, explain.RiskSinglePodDriver, explain.RiskDeleteProtected, explain.RiskTerminatingDelete,
		explain.RiskRetentionDelete, explain.RiskSharedOnce, explain.RiskSharedOncePod, explain.RiskSurge, explain.RiskModesDiffer,
		explain.RiskNamedTwice, explain.RiskLost, explain.RiskUnused, explain.RiskClassGone, explain.RiskSeveralDefaults,
	} {
		if !slices.Contains(told, string(id)) {
			t.Errorf("no story has risk %s", id)
		}
	}
}

package migration

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
)

func commands(steps ...Step) string {
	items := make([]Item, len(steps))
	for i, s := range steps {
		items[i] = Item{Step: s}
	}
	return Kubectl("A title", items, "--context=prod tokyo")
}

func TestKubectl(t *testing.T) {
	text := commands(
		Step{
			ID: "note/v", Title: "Note it", Why: "So that it is known", Act: Patch, Then: "It is known",
			Target: actions.Ref{Kind: actions.VolumeKind, Name: "v", UID: "u"}, Patch: json.RawMessage(`{"spec":{"x":"it's"}}`),
		},
		Step{ID: "stop/a/db", Title: "Stop", Act: Scale, Target: actions.Ref{Kind: StatefulSetKind, Namespace: "a", Name: "db", UID: "u"}, Patch: json.RawMessage(`{"spec":{"replicas":0}}`)},
		Step{ID: "unused", Title: "Wait", Act: Await, Target: actions.Ref{Kind: actions.VolumeKind, Name: "v"}},
		Step{ID: "delete/v", Title: "Delete", Act: Delete, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "a", Name: "data", UID: "claim-uid"}},
		Step{ID: "released/v", Title: "Wait", Act: Await, Target: actions.Ref{Kind: actions.VolumeKind, Name: "v"}},
		Step{ID: "create/v", Title: "Create", Act: Create, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "a", Name: "data"}, Object: json.RawMessage(`{"kind":"PersistentVolumeClaim","metadata":{"name":"data"}}`)},
		Step{ID: "bound/v", Title: "Wait", Act: Await, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "a", Name: "data"}},
		Step{ID: "remove/a/db", Title: "Remove", Act: Delete, Orphan: true, Target: actions.Ref{Kind: StatefulSetKind, Namespace: "a", Name: "db", UID: "set-uid"}},
		Step{ID: "delete/w", Title: "Delete later", Act: Delete, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "a", Name: "new"}},
		Step{ID: "started/a/db", Title: "Wait", Act: Await, Target: actions.Ref{Kind: StatefulSetKind, Namespace: "a", Name: "db"}},
	)
	for _, want := range []string{
		"# A title\n", "# Step 1 of 10: Note it\n", "# Why: So that it is known\n", "# Then: It is known\n",
		`kubectl '--context=prod tokyo' patch pv/v --type=merge -p '{"spec":{"x":"it'\''s"}}'`,
		"kubectl '--context=prod tokyo' scale statefulset/db --namespace=a --replicas=0\n",
		"delete --raw /api/v1/namespaces/a/persistentvolumeclaims/data -f - <<'END'\n",
		`"uid": "claim-uid"`,
		"wait '--for=jsonpath={.status.phase}=Released' --timeout=10m pv/v\n",
		"create -f - <<'END'\n",
		"wait '--for=jsonpath={.status.phase}=Bound' --timeout=10m pvc/data --namespace=a\n",
		"delete --raw /apis/apps/v1/namespaces/a/statefulsets/db -f - <<'END'\n",
		`"propagationPolicy": "Orphan"`,
		"# kubectl '--context=prod tokyo' delete pvc/new --namespace=a --wait=false\n",
		"rollout status statefulset/db --namespace=a\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among the commands:\n%s", want, text)
		}
	}
	if strings.Contains(text, "\nkubectl '--context=prod tokyo' delete pvc/") {
		t.Error("a claim is deleted without its uid")
	}
}

// TestKubectlIsSafeToPaste: whatever objects are called, a shell runs kubectl
// and nothing else, with the words that were meant.
func TestKubectlIsSafeToPaste(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	evil := "x'; touch /tmp/owned; echo '\n$(touch /tmp/owned)`touch /tmp/owned`\nEND\n\x1b]0;owned\x07\u202e\u009b"
	object, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": evil}})
	if err != nil {
		t.Fatal(err)
	}
	text := commands(
		Step{ID: "note/v", Title: evil, Why: evil, Then: evil, Act: Patch, Target: actions.Ref{Kind: actions.VolumeKind, Name: evil, UID: "u"}, Patch: object},
		Step{ID: "create/v", Title: evil, Act: Create, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: evil, Name: evil}, Object: object},
		Step{ID: "delete/v", Title: evil, Act: Delete, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: evil, Name: evil, UID: "u"}},
		Step{ID: "unused", Title: evil, Act: Await, Target: actions.Ref{Kind: actions.VolumeKind, Name: evil}},
	)
	for _, r := range text {
		if r != '\n' && (r < 0x20 || r == 0x7f || r == 0x9b || r == 0x202e) {
			t.Fatalf("%q is in the commands:\n%q", r, text)
		}
	}
	// The shell only looks at the commands, and kubectl is a function that
	// says what it got.
	script := "kubectl() { echo ran; cat >/dev/null; }\ntouch() { echo OWNED; }\n" + text
	cmd := exec.CommandContext(t.Context(), shell, "-c", script)
	cmd.Stdin = strings.NewReader("")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	if got := strings.Count(string(out), "ran\n"); got != 5 || strings.Contains(string(out), "OWNED") {
		t.Errorf("the shell ran %d commands and said %q\n%s", got, out, text)
	}
}

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/claimref/claimref/test/controlplane"
)

// answer runs the program without a screen.
func answer(t testing.TB, user string, args ...string) (out, said string, code int) {
	t.Helper()
	kubeconfig, err := shared.cp.Kubeconfig(user)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), settleTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, shared.binary, args...)
	cmd.Env = append(environment(), "KUBECONFIG="+kubeconfig)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// leftToDriver marks a volume as made by a driver that nobody runs: the
// controller then leaves its deletion to that driver.
func leftToDriver(v *corev1.PersistentVolume) {
	metav1.SetMetaDataAnnotation(&v.ObjectMeta, "pv.kubernetes.io/provisioned-by", "nobody.example.com")
	deletePolicy(v)
}

// riskList is what a pipeline reads.
type riskList struct {
	Counts map[string]int
	Risks  []foundRisk
	Unread []struct{ Resource, Missing string }
}

type foundRisk struct {
	ID, Severity string
	Object       struct{ Kind, Namespace, Name string }
}

// TestRisks lists a volume that may be removed at any moment, and fails for it
// as a pipeline wants.
func TestRisks(t *testing.T) {
	c := inspect(t)
	class := c.class("risks")
	c.released("risks", "risks-ns", "former", class, leftToDriver)
	c.namespace("risks-none")

	out, said, code := answer(t, controlplane.Viewer, "risks", "-n", "risks-ns", "--fail-on=high", "-o", "json")
	var list riskList
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v: %s%s", err, out, said)
	}
	found := slices.ContainsFunc(list.Risks, func(r foundRisk) bool {
		return r.ID == "released-delete" && r.Severity == "critical" && r.Object.Kind == "PersistentVolume" && r.Object.Name == "risks"
	})
	if code != 3 || !found || list.Counts["critical"] != 1 || len(list.Unread) != 0 || !strings.Contains(said, "high or worse") {
		t.Errorf("code %d: %s%s", code, out, said)
	}
	out, said, code = answer(t, controlplane.Viewer, "risks", "--fail-on=critical")
	if code != 3 || !strings.Contains(out, "pv/risks ") || strings.Contains(out, "\x1b") {
		t.Errorf("code %d: %s%s", code, out, said)
	}
	if out, said, code = answer(t, controlplane.Viewer, "risks", "-n", "risks-none", "--fail-on=low"); code != 0 || said != "" {
		t.Errorf("code %d without a risk: %s%s", code, out, said)
	}
	// Who sees one namespace's claims and pods only is not told that all is well.
	out, said, code = answer(t, controlplane.AppDev, "risks", "-n", controlplane.Namespace, "--fail-on=critical", "-o", "json")
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	if code != 4 || !strings.Contains(said, "you may not list persistentvolumes") || len(list.Unread) == 0 ||
		slices.ContainsFunc(list.Unread, func(u struct{ Resource, Missing string }) bool { return u.Resource == "pods" }) {
		t.Errorf("code %d: %s%s", code, out, said)
	}
	if out, said, code = answer(t, controlplane.Nobody, "risks"); code != 1 || out != "" || strings.Count(said, "\n") != 1 {
		t.Errorf("code %d for nobody: %s%s", code, out, said)
	}
}

// TestExplainClaim asks why a claim is Pending, and hears what the controller
// says itself.
func TestExplainClaim(t *testing.T) {
	c := inspect(t)
	class := c.class("explains")
	c.namespace("explains-ns")
	c.volume("explains", class)
	c.claim("explains-ns", "first", class)
	c.waitBound("explains-ns", "first", "explains")
	c.claim("explains-ns", "second", class, func(p *corev1.PersistentVolumeClaim) { p.Spec.VolumeName = "explains" })
	reason := strings.TrimSuffix(c.waitEvent("explains-ns", "second", "FailedBinding"), ".")

	out, said, code := answer(t, controlplane.Viewer, "explain", "pvc", "second", "-n", "explains-ns", "-o", "json", "--timeline")
	var told struct {
		Verdict            string
		Evidence, Timeline []struct{ Label, Text, Who string }
	}
	if err := json.Unmarshal([]byte(out), &told); err != nil || code != 0 || said != "" {
		t.Fatalf("code %d, %v: %s%s", code, err, out, said)
	}
	says := func(list []struct{ Label, Text, Who string }, what string) bool {
		return slices.ContainsFunc(list, func(f struct{ Label, Text, Who string }) bool { return strings.Contains(f.Text, what) })
	}
	if told.Verdict != "claim-names-taken" || !says(told.Evidence, reason) || !says(told.Timeline, reason) || !says(told.Timeline, "Created") {
		t.Errorf("the controller says %q, the program:\n%s", reason, out)
	}
	out, said, code = answer(t, controlplane.Viewer, "explain", "pvc/explains-ns/second")
	for _, want := range []string{reason, "explains-ns/first holds"} {
		if code != 0 || said != "" || !strings.Contains(out, want) {
			t.Errorf("code %d, without %q: %s%s", code, want, out, said)
		}
	}
	out, said, code = answer(t, controlplane.Viewer, "explain", "pvc", "secnd", "-n", "explains-ns")
	if code != 1 || out != "" || !strings.Contains(said, "did you mean second?") {
		t.Errorf("code %d: %s%s", code, out, said)
	}
	// The first claim's volume remembers who bound it.
	if out, _, _ = answer(t, controlplane.Viewer, "explain", "pv", "explains", "--timeline"); !strings.Contains(out, "spec.claimRef (kube-controller-manager)") {
		t.Errorf("the timeline lacks the binding: %s", out)
	}
}

// waitEvent waits for an event about a claim, and returns its message.
func (c cluster) waitEvent(ns, claim, reason string) string {
	c.t.Helper()
	message := ""
	err := wait.PollUntilContextTimeout(c.ctx(), poll, settleTimeout, true, func(ctx context.Context) (bool, error) {
		list, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + claim + ",reason=" + reason})
		if err != nil || len(list.Items) == 0 {
			return false, err
		}
		message = list.Items[0].Message
		return true, nil
	})
	if err != nil {
		c.t.Fatalf("no event %s about claim %s/%s: %v", reason, ns, claim, err)
	}
	return message
}

// BenchmarkRisks measures the command from its start to its end, on the loaded
// cluster and on the demo.
func BenchmarkRisks(b *testing.B) {
	load(b, shared.cp.Admin())
	for name, args := range map[string][]string{"cluster": {"risks"}, "demo": {"risks", "--demo"}} {
		b.Run(name, func(b *testing.B) {
			var took time.Duration
			for b.Loop() {
				began := time.Now()
				if out, said, code := answer(b, controlplane.Viewer, args...); code != 0 {
					b.Fatalf("code %d: %s%s", code, out, said)
				}
				took += time.Since(began)
			}
			b.ReportMetric(took.Seconds()/float64(b.N), "s-to-the-answer")
		})
	}
}

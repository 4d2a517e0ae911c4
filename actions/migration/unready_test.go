package migration

import (
	"strings"
	"testing"

	"github.com/claimref/claimref/actions"
)

// TestNotReadyBefore: what was not ready before is not waited for in the end,
// neither on the way there nor on the way back.
func TestNotReadyBefore(t *testing.T) {
	t.Parallel()
	sick := strings.Replace(deploymentManifest, "metadata: {labels: {app: web}}",
		`metadata: {labels: {app: web}, annotations: {kubelet.claimref.test/phase: Pending}}`, 1)
	k := kind{
		name: "sick", manifests: []string{replaced(claimManifest, "CLASS", "folders"), sick},
		claim:   actions.ClaimKey{Namespace: "exam", Name: "data"},
		request: func(v actions.Ref) Request { return Request{Verb: SinglePod, Volume: v, Recreate: true} },
	}
	start := k.start(t)
	for _, d := range []Direction{Forward, Back} {
		m, j := start.drafted(t)
		if got := m.state().Deployment("exam", "web").Status.ReadyReplicas; got != 0 {
			t.Fatalf("%d pods are ready", got)
		}
		w := m.walk(j, "a")
		w.after = func(Step) bool { return len(w.wrote) == 4 }
		w.toTheEnd()
		heir := m.takeOver(j, "b", d)
		if move := heir.toTheEnd(); move.Kind != WaitNow || !strings.Contains(move.Step.ID, "started/") {
			t.Fatalf("%q: does not wait for pods that were ready before: %v", d, move)
		}

		m, j = start.drafted(t)
		j.Workloads[0].Unready = 1
		w = m.walk(j, "a")
		w.after = func(Step) bool { return len(w.wrote) == 4 }
		w.toTheEnd()
		heir = m.takeOver(j, "b", d)
		if move := heir.toTheEnd(); move.Kind != Finished {
			t.Errorf("%q: waits for what was not ready before: %v", d, move)
		}
	}
}

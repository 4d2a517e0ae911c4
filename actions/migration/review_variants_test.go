package migration

import (
	"fmt"
	"testing"

	"github.com/claimref/claimref/actions"
)

const bareReplicaSetManifest = `
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: exam}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

// TestVariants undoes operations of less common kinds at each write, and
// finishes them.
func TestVariants(t *testing.T) {
	t.Parallel()
	data, db := actions.ClaimKey{Namespace: "exam", Name: "data"}, actions.ClaimKey{Namespace: "exam", Name: "data-db-1"}
	single := func(v actions.Ref) Request { return Request{Verb: SinglePod, Volume: v} }
	claim := func(class string) string { return replaced(claimManifest, "CLASS", class) }
	set := func(class string, more ...string) string {
		return replaced(replaced(setManifest, more...), "CLASS", class, "RETENTION", "Delete")
	}
	some := func(j *Journal) { j.Request.Ordinals, j.Volumes = []int{1}, j.Volumes[1:2] }
	for _, tt := range []struct {
		kind
		change func(j *Journal)
	}{
		{kind{"one ordinal", []string{set("folders")}, db, single}, some},
		{kind{"one ordinal, templates kept", []string{set("keeps")}, db, func(v actions.Ref) Request {
			return Request{Verb: SinglePod, Volume: v, KeepTemplates: true}
		}}, some},
		{kind{"parallel", []string{set("folders", "OrderedReady", "Parallel")}, db, single}, some},
		{kind{"deployment at 0", []string{claim("folders"), replaced(deploymentManifest, "replicas: 1", "replicas: 0")}, data, single}, nil},
		{kind{"suspended", []string{claim("folders"), deploymentManifest, replaced(cronManifest, "schedule:", "suspend: true\n  schedule:")}, data, single}, func(j *Journal) {
			j.Workloads[len(j.Workloads)-1].Suspended = true
		}},
		{kind{"recreate already", []string{claim("keeps"), replaced(deploymentManifest, "replicas: 1", "replicas: 1\n  strategy: {type: Recreate}")}, data, single}, nil},
		{kind{"replica set", []string{claim("folders"), bareReplicaSetManifest}, data, single}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := tt.start(t)
			drafted := func() (*model, Journal) {
				m, j := k.drafted(t)
				if rs := m.state().ReplicaSet("exam", "web"); rs != nil {
					j.Workloads = append(j.Workloads, Workload{Ref: actions.Ref{Kind: ReplicaSetKind, Namespace: "exam", Name: "web", UID: rs.UID}, Replicas: 1})
				}
				if tt.change != nil {
					tt.change(&j)
				}
				return m, j
			}
			m, j := drafted()
			before := m.picture()
			w := m.walk(j, "a")
			if move := w.toTheEnd(); move.Kind != Finished {
				t.Fatalf("%v\nafter %v", move, w.wrote)
			}
			m.settle()
			after, writes := m.picture(), len(w.wrote)
			for at := 1; at < writes; at++ {
				for _, d := range []Direction{Forward, Back} {
					m, j := drafted()
					w := m.walk(j, "a")
					w.before = func(Step) bool { return len(w.wrote) == at }
					w.toTheEnd()
					want := after
					if d == Back {
						want = before
					}
					heir := m.takeOver(j, "b", d)
					if move := heir.toTheEnd(); move.Kind != Finished {
						t.Errorf("%d writes, %q: %v\nafter %v, then %v", at, d, move, w.wrote, heir.wrote)
						continue
					}
					m.settle()
					m.compare(t, fmt.Sprintf("%d writes, %q", at, d), j, want)
				}
			}
		})
	}
}

package kube

import (
	"encoding/json"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/claimref/claimref/actions/migration"
)

// TestFieldsOfANewerServer: what this program would leave out of a StatefulSet
// that it makes anew is told before anything is written.
func TestFieldsOfANewerServer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spec string
		want []string
	}{
		"known": {`{"replicas":2,"ordinals":{"start":0},"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]}},
			"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","creationTimestamp":null},"spec":{"accessModes":["ReadWriteOnce"]},"status":{"phase":"Pending"}}]}`, nil},
		"of the pods": {`{"template":{"spec":{"novelty":{"a":1},"containers":[{"name":"c","novel":true}]}}}`, []string{"spec.template.spec.containers[0].novel", "spec.template.spec.novelty.a"}},
		"of the set":  {`{"novelty":"x"}`, []string{"spec.novelty"}},
	} {
		live := &object{}
		text := []byte(`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":` + tt.spec + `}`)
		if err := utiljson.Unmarshal(text, &live.Object); err != nil {
			t.Fatal(err)
		}
		known := &appsv1.StatefulSet{}
		if err := json.Unmarshal(text, known); err != nil {
			t.Fatal(err)
		}
		if got, err := leftOut(live, known); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestKnownFields: of ordinary objects, nothing is unknown.
func TestKnownFields(t *testing.T) {
	for _, manifest := range []string{labDeployment, labSet} {
		l := newLab(t, with(manifest))
		claim := "data"
		if manifest == labSet {
			claim = "data-db-0"
		}
		req := migration.Request{Verb: migration.SinglePod, Volume: l.retain().Target}
		pv := l.volume(claim)
		req.Volume.Name, req.Volume.UID = pv.Name, pv.UID
		plan, err := l.client.PlanOperation(t.Context(), req, nil, "ann")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range plan.Checks {
			if c.ID == "unknown-field" {
				t.Error(c)
			}
		}
		if len(plan.Outline) == 0 {
			t.Errorf("%v", plan.Checks)
		}
	}
}

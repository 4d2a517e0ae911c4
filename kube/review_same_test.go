package kube

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// TestSameMindsOwners: a claim goes with its owner, so that one that comes with
// it is another claim.
func TestSameMindsOwners(t *testing.T) {
	claim := func(owned bool) *object {
		meta := map[string]any{"name": "data", "namespace": "shop"}
		if owned {
			meta["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "u"}}
		}
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": map[string]any{"volumeName": "v"}}}
	}
	p := func(owned bool) StepPreview {
		return StepPreview{
			Step:  migration.Step{ID: "create/v", Act: migration.Create, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "shop", Name: "data"}},
			After: claim(owned), Taken: time.Now(), DryRun: DryRunResult{Supported: true},
		}
	}
	if !Same(p(false), p(false)) || !Same(p(true), p(true)) {
		t.Error("the same is another")
	}
	if Same(p(false), p(true)) {
		t.Error("an owner, with which the claim would go, was not rehearsed")
	}
}

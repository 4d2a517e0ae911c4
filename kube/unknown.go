package kube

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// unknown lists the fields of the originals of an operation that their
// manifests in the journal lack. Objects are read into Go types, which drop
// what a newer server has added; a StatefulSet made anew without it would have
// other pods.
func (c *Client) unknown(ctx context.Context, j migration.Journal) ([]string, error) {
	var found []string
	look := func(ref actions.Ref, manifest any) error {
		bounded, cancel := context.WithTimeout(ctx, c.timing.Request)
		defer cancel()
		live, err := c.get(bounded, ref)
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return fmt.Errorf("get %s: %w", nameOf(ref), err)
		}
		lost, err := leftOut(live, manifest)
		for _, path := range lost {
			found = append(found, fmt.Sprintf("%s %s: %s", ref.Kind, objectKey(ref.Namespace, ref.Name), path))
		}
		return err
	}
	for _, v := range j.Volumes {
		if v.From != nil {
			if err := look(actions.Ref{Kind: actions.ClaimKind, Namespace: v.From.Namespace, Name: v.From.Name}, v.From); err != nil {
				return nil, err
			}
		}
	}
	for _, w := range j.Workloads {
		if w.From != nil {
			if err := look(w.Ref, w.From); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// leftOut lists the paths in the spec of an object that its manifest lacks, but
// for those that are left out on purpose.
func leftOut(live *object, manifest any) ([]string, error) {
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("write a manifest: %w", err)
	}
	made := &object{}
	if err := utiljson.Unmarshal(text, &made.Object); err != nil {
		return nil, fmt.Errorf("read a manifest: %w", err)
	}
	live = live.DeepCopy()
	for _, field := range []string{"dataSource", "dataSourceRef"} {
		unstructured.RemoveNestedField(live.Object, "spec", field)
	}
	for _, o := range append(templatesOf(live), templatesOf(made)...) {
		delete(o.Object, "status")
	}
	return lacking("spec", live.Object["spec"], made.Object["spec"]), nil
}

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
)

const (
	// annotationThen says what is done with an object once all is settled,
	// for states that only come about by a deletion.
	annotationThen = "scenarios.claimref.test/then"
	thenDelete     = "delete"
	// manifestLimit bounds the transitions after one object was created.
	manifestLimit = 10_000
	// readAhead is how much of a manifest is looked at to tell YAML from JSON.
	readAhead = 4 << 10
)

// LoadManifest creates the objects of a manifest one after the other, lets the
// controllers settle after each, and then does what annotations ask for. What
// is there already is left as it is.
func LoadManifest(s *State, cs []Controller, manifest []byte) (*State, error) {
	objects, err := decodeManifest(manifest)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if s.Get(KeyOf(o)) != nil {
			continue
		}
		if s, err = Settle(admitted(s, o), cs, manifestLimit); err != nil {
			return nil, fmt.Errorf("load %s: %w", KeyOf(o), err)
		}
	}
	for _, o := range objects {
		switch then := o.GetAnnotations()[annotationThen]; then {
		case "":
			continue
		case thenDelete:
			s = s.Delete(KeyOf(o), metav1.DeleteOptions{})
		default:
			return nil, fmt.Errorf("load %s: annotation %s has the unknown value %q", KeyOf(o), annotationThen, then)
		}
		if s, err = Settle(s, cs, manifestLimit); err != nil {
			return nil, fmt.Errorf("delete %s: %w", KeyOf(o), err)
		}
	}
	return s, nil
}

// decodeManifest reads YAML of several documents into typed objects, in
// namespace default where they don't say and need one.
func decodeManifest(manifest []byte) ([]Object, error) {
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), readAhead)
	table := kinds()
	var objects []Object
	for {
		var raw runtime.RawExtension
		err := documents.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read document %d: %w", len(objects)+1, err)
		}
		if len(bytes.TrimSpace(raw.Raw)) == 0 || bytes.Equal(raw.Raw, []byte("null")) {
			continue // Nothing but a comment.
		}
		decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw.Raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("read document %d: %w", len(objects)+1, err)
		}
		o, ok := decoded.(Object)
		if !ok {
			return nil, fmt.Errorf("document %d is a %T, which has no name", len(objects)+1, decoded)
		}
		i := slices.IndexFunc(table, func(k kind) bool { return k.resource == KeyOf(o).Resource })
		if i < 0 {
			return nil, fmt.Errorf("document %d is a %T, which is not modelled", len(objects)+1, decoded)
		}
		if table[i].namespaced && o.GetNamespace() == "" {
			o.SetNamespace(corev1.NamespaceDefault)
		}
		objects = append(objects, o)
	}
}

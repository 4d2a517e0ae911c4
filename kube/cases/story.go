package cases

import (
	"bufio"
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

//go:embed testdata/*.yaml
var files embed.FS

// The kinds of documents that are no objects of a cluster.
const (
	kindStory  = "Story"
	kindAct    = "Act"
	kindExpect = "Expect"
)

// kindVolume is the kind that claims depend on.
const kindVolume = "PersistentVolume"

// Story is one file.
type Story struct {
	// Name is the file's, without its ending.
	Name string
	Head Head
	// Parts are its other documents, in their order.
	Parts []Part

	text []byte
}

// Head is the first document.
type Head struct {
	Kind string `json:"kind"`
	// About says what the trouble is, in a sentence.
	About string `json:"about"`
	// Names are the words that another telling replaces. Every namespace,
	// volume and class has one of them in its name.
	Names []string `json:"names"`
	// Ordered: it matters which object is made first.
	Ordered bool `json:"ordered,omitempty"`
	// Alone: it is about default classes or about volumes without a class, and
	// so about all claims of a cluster. Nothing else may go on beside it.
	Alone bool `json:"alone,omitempty"`
	// Unread are the resources that the one who looks may not read.
	Unread []string `json:"unread,omitempty"`
	// Webhook refuses to take part in the dry run of a creation.
	Webhook string `json:"webhook,omitempty"`
	// Unplayable is why a real control plane can't play it; empty if it can.
	Unplayable string `json:"unplayable,omitempty"`
}

// Part is one document: one of its fields is set.
type Part struct {
	Object *unstructured.Unstructured
	Act    *Act
	Expect *Expect
}

// Act is something that happens. An empty one lets everything come to rest.
type Act struct {
	Kind string `json:"kind"`
	// Delete and Patch name an object, such as "PersistentVolume disk" or
	// "PersistentVolumeClaim shop/data".
	Delete string `json:"delete,omitempty"`
	Patch  string `json:"patch,omitempty"`
	// With is the merge patch; Status says that it is one of the status.
	With   map[string]any `json:"with,omitempty"`
	Status bool           `json:"status,omitempty"`
	// Refused: the server does not do it, and says this.
	Refused string `json:"refused,omitempty"`
}

// All are all stories, by name.
func All() ([]*Story, error) {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil, fmt.Errorf("list the stories: %w", err)
	}
	var all []*Story
	for _, e := range entries {
		text, err := files.ReadFile(path.Join("testdata", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read story %s: %w", e.Name(), err)
		}
		s, err := parse(strings.TrimSuffix(e.Name(), ".yaml"), text)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func parse(name string, text []byte) (*Story, error) {
	s := &Story{Name: name, text: text}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = s.add(document)
		}
		if err != nil {
			return nil, fmt.Errorf("story %s, document %d: %w", name, len(s.Parts)+1, err)
		}
	}
	if s.Head.Kind != kindStory || s.Head.About == "" {
		return nil, fmt.Errorf("story %s: it does not begin with a %s that says what it is about", name, kindStory)
	}
	return s, nil
}

// add reads one document. What is misspelt in one of our own kinds would be an
// expectation that nothing meets or breaks.
func (s *Story) add(document []byte) error {
	var raw map[string]any
	if err := sigsyaml.Unmarshal(document, &raw); err != nil || len(raw) == 0 {
		return err
	}
	switch raw["kind"] {
	case kindStory:
		return sigsyaml.UnmarshalStrict(document, &s.Head)
	case kindAct:
		act := &Act{}
		s.Parts = append(s.Parts, Part{Act: act})
		return sigsyaml.UnmarshalStrict(document, act)
	case kindExpect:
		expect := &Expect{}
		s.Parts = append(s.Parts, Part{Expect: expect})
		return sigsyaml.UnmarshalStrict(document, expect)
	}
	o := &unstructured.Unstructured{Object: raw}
	if o.GetName() == "" || o.GetAPIVersion() == "" {
		return errors.New("an object needs an apiVersion and a name")
	}
	s.Parts = append(s.Parts, Part{Object: o})
	return nil
}

// Expects says how many expectations it has.
func (s *Story) Expects() int {
	n := 0
	for _, p := range s.Parts {
		if p.Expect != nil {
			n++
		}
	}
	return n
}

// Own says whether a name is one of this telling: a cluster may have others'
// objects, too.
func (s *Story) Own(name string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return slices.Contains(s.Head.Names, w) })
}

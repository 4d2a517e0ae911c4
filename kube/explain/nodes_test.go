package explain

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"pgregory.net/rapid"

	"github.com/claimref/claimref/kube"
)

// TestNowhere holds the index of nodes to Kubernetes' own matching.
func TestNowhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var nodes []*corev1.Node
		for i := range rapid.IntRange(0, 3).Draw(t, "nodes") {
			n := newNode(fmt.Sprint("n", i))
			n.Labels["zone"] = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone")
			if rapid.Bool().Draw(t, "rack") {
				n.Labels["rack"] = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "number")
			}
			nodes = append(nodes, n)
		}
		selector := &corev1.NodeSelector{}
		for range rapid.IntRange(1, 2).Draw(t, "terms") {
			var term corev1.NodeSelectorTerm
			for range rapid.IntRange(0, 3).Draw(t, "requirements") {
				r := corev1.NodeSelectorRequirement{
					Key:      rapid.SampledFrom([]string{"zone", "rack", corev1.LabelHostname}).Draw(t, "key"),
					Operator: rapid.SampledFrom([]corev1.NodeSelectorOperator{"In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Odd"}).Draw(t, "operator"),
				}
				switch r.Operator {
				case "In", "NotIn":
					r.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "1", "n0", "n1"}), 1, 2).Draw(t, "values")
				case "Gt":
					r.Values = []string{"1"}
				default:
					// They have no values.
				}
				term.MatchExpressions = append(term.MatchExpressions, r)
			}
			if rapid.IntRange(0, 4).Draw(t, "field") == 0 {
				term.MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{"n1"}}}
			}
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
		}
		pv := newPV("v", func(pv *corev1.PersistentVolume) {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: selector}
		})
		want := true
		for _, n := range nodes {
			// A term that can't be read fits nothing, and leaves the others be.
			if ok, _ := nodeaffinity.NewLazyErrorNodeSelector(selector).Match(n); ok {
				want = false
			}
		}
		objects := kube.Objects{Nodes: nodes}
		snap := kube.NewSnapshot(objects)
		if got := newHome(snap).nowhere(pv); got != want {
			t.Fatalf("nowhere is %v, want %v", got, want)
		}
		if newHome(unread(snap, kube.Nodes)).nowhere(pv) {
			t.Fatal("nodes that are not known are not absent")
		}
	})
}

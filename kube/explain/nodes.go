package explain

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/claimref/claimref/kube"
)

// home answers whether there is a node for a volume. It indexes the nodes by
// the labels that volumes ask for, as a cluster of local volumes has as many
// affinities as volumes.
type home struct {
	// known: the nodes have been read. Without it, nothing is nowhere.
	known bool
	nodes []*kube.Node
	// byLabel: label key to value to the nodes that have it, for those keys
	// that were asked for.
	byLabel map[string]map[string][]*kube.Node
	// answers by affinity: the feed keeps one of those that are equal.
	answers map[*corev1.VolumeNodeAffinity]bool
}

func newHome(snap *kube.Snapshot) *home {
	return &home{
		known: snap.Known(kube.Nodes, ""), nodes: snap.Nodes,
		byLabel: map[string]map[string][]*kube.Node{}, answers: map[*corev1.VolumeNodeAffinity]bool{},
	}
}

// nowhere says that no node that is known fits a volume's node affinity.
func (h *home) nowhere(pv *corev1.PersistentVolume) bool {
	if !h.known || pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return false
	}
	terms := pv.Spec.NodeAffinity.Required.NodeSelectorTerms
	if one, simple := h.one(terms); simple {
		return !one
	}
	nowhere, asked := h.answers[pv.Spec.NodeAffinity]
	if !asked {
		nowhere = !slices.ContainsFunc(terms, h.fits)
		h.answers[pv.Spec.NodeAffinity] = nowhere
	}
	return nowhere
}

// one answers for what nearly all volumes have: a single term, about the value
// of one label. It is found as fast as an answer that was kept.
func (h *home) one(terms []corev1.NodeSelectorTerm) (fits, simple bool) {
	if len(terms) != 1 || len(terms[0].MatchFields) > 0 || len(terms[0].MatchExpressions) != 1 {
		return false, false
	}
	r := &terms[0].MatchExpressions[0]
	if r.Operator != corev1.NodeSelectorOpIn {
		return false, false
	}
	labelled := h.labelled(r.Key)
	return slices.ContainsFunc(r.Values, func(value string) bool { return len(labelled[value]) > 0 }), true
}

// fits says whether a node fits a term. Only those nodes are looked at that
// have a label which the term asks for by value, if it does.
func (h *home) fits(term corev1.NodeSelectorTerm) bool {
	if len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0 {
		return false // An empty term matches no node (nodeaffinity.go).
	}
	simple := len(term.MatchFields) == 0 && !slices.ContainsFunc(term.MatchExpressions, func(r corev1.NodeSelectorRequirement) bool {
		return r.Operator != corev1.NodeSelectorOpIn
	})
	match := func(n *kube.Node) bool {
		for i := range term.MatchExpressions {
			r := &term.MatchExpressions[i]
			value, labelled := n.Labels[r.Key]
			if !labelled || !slices.Contains(r.Values, value) {
				return false
			}
		}
		return true
	}
	if !simple {
		selector := nodeaffinity.NewLazyErrorNodeSelector(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}})
		match = func(n *kube.Node) bool {
			// A selector that can't be read fits nothing.
			ok, err := selector.Match(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
			return err == nil && ok
		}
	}
	for i := range term.MatchExpressions {
		if r := &term.MatchExpressions[i]; r.Operator == corev1.NodeSelectorOpIn {
			labelled := h.labelled(r.Key)
			return slices.ContainsFunc(r.Values, func(value string) bool { return slices.ContainsFunc(labelled[value], match) })
		}
	}
	return slices.ContainsFunc(h.nodes, match)
}

func (h *home) labelled(key string) map[string][]*kube.Node {
	if found := h.byLabel[key]; found != nil {
		return found
	}
	found := make(map[string][]*kube.Node, len(h.nodes))
	for _, n := range h.nodes {
		if value, ok := n.Labels[key]; ok {
			found[value] = append(found[value], n)
		}
	}
	h.byLabel[key] = found
	return found
}

// affinityText writes the nodes that a volume is tied to. Terms are
// alternatives, expressions within a term must all hold.
func affinityText(pv *corev1.PersistentVolume) string {
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return ""
	}
	var alternatives []string
	for _, term := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		var all []string
		for _, r := range slices.Concat(term.MatchExpressions, term.MatchFields) {
			values := few(r.Values)
			switch {
			case r.Operator == corev1.NodeSelectorOpIn && r.Key == corev1.LabelHostname:
				all = append(all, values)
			case r.Operator == corev1.NodeSelectorOpIn:
				all = append(all, r.Key+"="+values)
			default:
				all = append(all, strings.TrimSpace(r.Key+" "+string(r.Operator)+" "+values))
			}
		}
		alternatives = append(alternatives, strings.Join(all, " and "))
	}
	return clean(strings.Join(alternatives, " or "))
}

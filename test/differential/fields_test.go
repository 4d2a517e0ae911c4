package differential

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Beside the fields that histories speak of, objects are compared as a whole,
// but for what follows.
var notCompared = []*regexp.Regexp{
	// Not even the same from run to run.
	regexp.MustCompile(`^\.metadata\.(resourceVersion|managedFields)`),
	regexp.MustCompile(`^\.spec\.claimRef\.resourceVersion$`),
	regexp.MustCompile(`^\.spec\.hostPath\.path$`),
	// It holds the pod's uid, and of several pods alike it is chance which one
	// is seen first.
	regexp.MustCompile(`^\.status\.containerStatuses\[\d+\]\.containerID$`),
	// The folders of the provisioner that the control plane has.
	regexp.MustCompile(`^\.spec\.csi\.volumeAttributes\.folder$`),
	// Hashes of templates are of another make, and the names that they are in.
	regexp.MustCompile(`(pod-template-hash|controller-revision-hash|Revision)$`),
	regexp.MustCompile(`^\.metadata\.(name|generateName|ownerReferences\[\d+\]\.name)$`),
	// Admission that has nothing to do with storage: which taints a pod
	// tolerates for a while, and what priority it has.
	regexp.MustCompile(`^\.spec\.(tolerations|priority|preemptionPolicy)`),
	// Why a pod is not scheduled is said when it is tried, and that is not with
	// each change of the reason.
	regexp.MustCompile(`^\.status\.conditions\[PodScheduled\]\.(message|observedGeneration)`),
	// How far a Deployment is, and why a namespace still has content, is told
	// for people.
	regexp.MustCompile(`^\.status\.conditions\[(Progressing|Available|Namespace\w+)\]`),
	regexp.MustCompile(`^\.status\.(terminatingReplicas|terminating)$`),
	regexp.MustCompile(`^\.status\.conditions\[(Complete|SuccessCriteriaMet)\]\.(reason|message)$`),
	// What DaemonSets still carry for clients of old, and which of their pods is
	// for which node.
	regexp.MustCompile(`(pod-template-generation|daemonset\.template\.generation)$`),
	regexp.MustCompile(`^\.spec\.affinity\.`),
}

var anyTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)

// all adds every field that is set, by its path.
func (p *play) all(f fields, o object, live map[types.UID]string) {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // API objects can be encoded.
	}
	var whole map[string]any
	if err := json.Unmarshal(data, &whole); err != nil {
		panic(err) // It was encoded just now.
	}
	// A list leaves the type of its items out, a single answer does not.
	delete(whole, "kind")
	delete(whole, "apiVersion")
	p.walk(f, "", whole, live)
}

func (p *play) walk(f fields, at string, v any, live map[types.UID]string) {
	for _, not := range notCompared {
		if not.MatchString(at) {
			return
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			p.walk(f, at+"."+k, item, live)
		}
	case []any:
		for i, item := range v {
			name := fmt.Sprint(i)
			if m, ok := item.(map[string]any); ok && m["type"] != nil {
				// Conditions come in any order.
				name = fmt.Sprint(m["type"])
			}
			p.walk(f, at+"["+name+"]", item, live)
		}
	case string:
		f[at] = p.text(at, v, live)
	default:
		f[at] = fmt.Sprint(v)
	}
}

func (p *play) text(at, v string, live map[types.UID]string) string {
	switch {
	case anyTime.MatchString(v):
		return "a time"
	case strings.HasSuffix(at, ".uid"):
		return symbolOf(types.UID(v), live)
	case strings.HasSuffix(at, ".nodeName"), strings.HasSuffix(at, "/selected-node"):
		return "a node"
	default:
		return p.symbolic(v)
	}
}

package explain

import (
	"fmt"
	"strings"

	"k8s.io/component-helpers/storage/volume"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// defaultFacts says what the default class has to do with a claim.
func (t *telling) defaultFacts(c *kube.Claim) {
	if c.Class.Beta {
		t.factOf(Notice, "Class", "The deprecated annotation volume.beta.kubernetes.io/storage-class says "+quoted(clean(c.Class.Name))+", and overrules storageClassName", actions.Ref{})
	}
	winner := defaultClass(t.snap)
	switch {
	case c.Class.Set && c.Class.Name == "":
		t.fact("Class", `Class "" is never filled in with the default class`)
	case c.Class.Set:
	case winner == nil && t.snap.Known(kube.StorageClasses, ""):
		t.fact("Class", "Once a class is marked as default, the controller fills it in")
	case winner != nil:
		var others []string
		for _, class := range t.snap.Classes {
			if class.Default && !class.Effective {
				others = append(others, class.Object.Name)
			}
		}
		if len(others) > 0 {
			t.factOf(Notice, "Class", fmt.Sprintf("Several classes are marked as default: %s wins over %s, being the newest, or the first by name of those as old", winner.Object.Name, few(others)), classRef(winner.Object))
		} else {
			t.factOf(Plain, "Class", "It asks for none and gets the default class "+winner.Object.Name, classRef(winner.Object))
		}
	}
}

// provisionerFacts says whether somebody is expected to make a volume.
func (t *telling) provisionerFacts(c *kube.Claim) {
	pvc := c.Object
	if node := pvc.Annotations[volume.AnnSelectedNode]; node != "" {
		t.fact("Node", "The scheduler chose node "+clean(node)+" for its first pod: the volume is to be made there")
		if t.snap.Known(kube.Nodes, "") && t.snap.Node(node) == nil {
			t.factOf(Warn, "Node", "Node "+clean(node)+" does not exist any more", actions.Ref{Kind: nodeKind, Name: node})
		}
	}
	asked := pvc.Annotations[volume.AnnStorageProvisioner]
	if asked == "" {
		asked = pvc.Annotations[volume.AnnBetaStorageProvisioner]
	}
	class := t.snap.Class(c.Class.Name)
	if !c.Class.Set {
		class = defaultClass(t.snap)
	}
	switch {
	case asked != "":
		t.fact("Provisioner", clean(asked)+" has been asked to make a volume")
	case class == nil:
	case class.Object.Provisioner == noProvisioner:
		t.factOf(Plain, "Provisioner", "Class "+class.Object.Name+" has no provisioner: a volume has to be made by hand", classRef(class.Object))
	default:
		t.factOf(Plain, "Provisioner", clean(class.Object.Provisioner)+" has not been asked to make a volume yet", classRef(class.Object))
	}
	if pvc.Spec.Selector != nil && asked+provisioned(class) != "" {
		t.factOf(Notice, "Selector", "It has a selector: most provisioners make no volume for such a claim", actions.Ref{})
	}
	if class != nil && !t.ask.Brief {
		if text := t.provisionerUnseen(class.Object); text != "" {
			t.factOf(Notice, "Provisioner", text, classRef(class.Object))
		}
	}
	for _, e := range t.ask.Events {
		if strings.Contains(e.Message, "exceeded quota") {
			t.factOf(Warn, "Quota", "A quota stands in the way: "+message(e.Message, ""), actions.Ref{})
			return
		}
	}
}

func provisioned(class *kube.Class) string {
	if class == nil || class.Object.Provisioner == noProvisioner {
		return ""
	}
	return class.Object.Provisioner
}

// podFacts names the pods that wait for the claim.
func (t *telling) podFacts(c *kube.Claim) {
	for _, u := range c.Users {
		for _, p := range u.Pods {
			if alive(p) && p.Node == "" {
				t.factOf(Plain, "Pod", "Pod "+p.Name+" uses it and is not scheduled", actions.Ref{Kind: podKind, Namespace: u.Namespace, Name: p.Name, UID: p.UID})
			}
		}
	}
	if len(c.Users) == 0 && !c.UsersKnown {
		t.fact("Pod", "Pods that use it can't be seen: "+unseen(t.snap, kube.Pods))
	}
}

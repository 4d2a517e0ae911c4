package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// drawn writes a tree down, the selected object with a star.
func drawn(nodes []*Node) string {
	var b strings.Builder
	var walk func(n *Node, depth int)
	walk = func(n *Node, depth int) {
		b.WriteString(strings.Repeat(" ", depth) + string(n.Object.Kind) + "/" + n.Object.Name)
		if n.Phase != "" {
			b.WriteString(" " + n.Phase)
		}
		for mark, on := range map[string]bool{" *": n.Selected, " missing": n.Missing, " unknown": n.Unknown} {
			if on {
				b.WriteString(mark)
			}
		}
		if n.More > 0 {
			fmt.Fprintf(&b, " +%d", n.More)
		}
		b.WriteString("\n")
		for _, c := range n.Children {
			walk(c, depth+1)
		}
	}
	for _, n := range nodes {
		walk(n, 0)
	}
	return b.String()
}

func attachment(volume, node string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{ObjectMeta: meta("", "va-"+volume), Spec: storagev1.VolumeAttachmentSpec{
		Attacher: "csi.test", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
	}, Status: storagev1.VolumeAttachmentStatus{Attached: true}}
}

// shop is a StatefulSet that a custom resource controls, with one claim.
func shop() kube.Objects {
	yes := true
	return objects(pvs(newPV("v", tied("data-web-0", "uid-data-web-0"))), claimsOf(newPVC("data-web-0", boundTo("v"))),
		withSet(newSet("web", 1, func(s *appsv1.StatefulSet) {
			s.OwnerReferences = []metav1.OwnerReference{{APIVersion: "kafka.test/v1", Kind: "Kafka", Name: "events", UID: "uid-events", Controller: &yes}}
			s.Labels = map[string]string{"argocd.argoproj.io/instance": "shop"}
		})),
		withPods(newPod("web-0", "data-web-0", ownedBy("StatefulSet", "web"))),
		func(o *kube.Objects) { o.Attachments = append(o.Attachments, attachment("v", "n1")) },
	)
}

func TestTree(t *testing.T) {
	whole := []string{
		"StorageClass/fast", " PersistentVolume/v Bound", "  VolumeAttachment/va-v", "   Node/n1 Ready",
		"  PersistentVolumeClaim/data-web-0 Bound", "   StatefulSet/web", "    Pod/web-0 Running", "    Kafka/events",
	}
	at := func(i int) string {
		lines := slices.Clone(whole)
		lines[i] += " *"
		return strings.Join(lines, "\n") + "\n"
	}
	full := kube.NewSnapshot(shop())
	lonely := kube.NewSnapshot(objects(
		pvs(newPV("gone", released), newPV("waits", ofClass("old"), tied("c", ""))),
		claimsOf(newPVC("c", names("nowhere")), newPVC("d", asksClass("old")), newPVC("e", names("gone")))))
	many := kube.NewSnapshot(world(pvs(newPV("a"), newPV("b"), newPV("c")), newPVC("d")))
	forbidden := unread(kube.NewSnapshot(objects(pvs(newPV("v", tied("x", "")), newPV("w", ofClass("old"))), nil)), kube.StorageClasses, kube.PersistentVolumeClaims)
	ref := func(kind actions.Kind, namespace, name string) actions.Ref {
		return actions.Ref{Kind: kind, Namespace: namespace, Name: name}
	}
	for name, tc := range map[string]struct {
		snap  *kube.Snapshot
		ref   actions.Ref
		width int
		want  string
	}{
		"from the class":      {full, ref(actions.ClassKind, "", "fast"), 0, at(0)},
		"from the volume":     {full, ref(actions.VolumeKind, "", "v"), 0, at(1)},
		"from the attachment": {full, ref(attachmentKind, "", "va-v"), 0, at(2)},
		"from the node":       {full, ref(nodeKind, "", "n1"), 0, at(3)},
		"from the claim":      {full, ref(actions.ClaimKind, "shop", "data-web-0"), 0, at(4)},
		"from the workload":   {full, ref("StatefulSet", "shop", "web"), 0, at(5)},
		"from the pod":        {full, ref(podKind, "shop", "web-0"), 0, at(6)},
		"from the owner":      {full, ref("Kafka", "shop", "events"), 0, at(7)},
		"elsewhere":           {full, ref(podKind, "lab", "web-0"), 0, ""},
		"nothing":             {full, ref(actions.VolumeKind, "", "no such"), 0, ""},
		"a claim that is gone": {
			lonely, ref(actions.VolumeKind, "", "gone"), 0,
			"StorageClass/fast\n PersistentVolume/gone Released *\n  PersistentVolumeClaim/data missing\n  PersistentVolumeClaim/e Pending\n",
		},
		"a volume and a class that are gone": {
			lonely, ref(actions.ClaimKind, "shop", "c"), 0, "StorageClass/fast\n PersistentVolume/nowhere missing\n  PersistentVolumeClaim/c Pending *\n",
		},
		"no volume": {lonely, ref(actions.ClaimKind, "shop", "d"), 0, "StorageClass/old missing\n PersistentVolumeClaim/d Pending *\n"},
		"too many":  {many, ref(actions.ClassKind, "", "fast"), 2, "StorageClass/fast * +2\n PersistentVolume/a Available\n PersistentVolume/b Available\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := drawn(Tree(tc.snap, tc.ref, tc.width)); got != tc.want {
				t.Errorf("got\n%s, want\n%s", got, tc.want)
			}
		})
	}
	if got := drawn(Tree(forbidden, ref(actions.VolumeKind, "", "w"), 0)); !strings.Contains(got, "StorageClass/old unknown") {
		t.Errorf("what is not known is not missing:\n%s", got)
	}
}

// TestTreeOfANamesake: another object of the name is not the one asked for.
func TestTreeOfANamesake(t *testing.T) {
	snap := kube.NewSnapshot(world(pvs(newPV("v"))))
	for _, n := range Tree(snap, actions.Ref{Kind: actions.VolumeKind, Name: "v", UID: "uid-former"}, 0)[0].Children {
		if n.Selected {
			t.Error("it is marked as the one that was asked about")
		}
	}
}

func TestHolders(t *testing.T) {
	holders := func(list []Holder) string {
		var all []string
		for _, h := range list {
			text := string(h.How) + ": " + h.Text
			if h.Blocks {
				text += " [blocks]"
			}
			all = append(all, text)
		}
		return strings.Join(all, "\n")
	}
	o := shop()
	o.Pods = append(o.Pods,
		newPod("job-1", "data-web-0", podPhase(corev1.PodSucceeded)),
		newPod("new", "data-web-0", podOn(""), podPhase(corev1.PodPending)))
	withDeployment("idle", 0, appsv1.DeploymentStrategy{}, "data-web-0")(&o)
	o.Attachments[0].Status.AttachError = &storagev1.VolumeError{Message: "no\x1b[2J path"}
	o.Claims[0].Finalizers = []string{"kubernetes.io/pvc-protection", "example.com/keep"}
	o.Claims[0].OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "web", UID: "uid-web"}}
	o.Claims[0].Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "apps"}
	snap := kube.NewSnapshot(o)
	got := holders(Claim(snap, snap.Claims[0], ask()).Holders)
	has(t, got,
		"pod: Pod web-0 is Running on node n1 [blocks]",
		"pod: Pod job-1 is Succeeded on node n1; a completed pod holds the claim, too [blocks]",
		"pod: Pod new is Pending, and not scheduled\n",
		"template: The template of Deployment idle names the claim; no pod now, as it is scaled to 0",
		"owner: StatefulSet web is controlled by Kafka events",
		"origin: StatefulSet web comes from Argo CD application shop",
		"attachment: Attached to node n1 by csi.test; the last attempt failed: no[2J path",
		"finalizer: Finalizer kubernetes.io/pvc-protection",
		"whoever put it there has to [blocks]",
		"owner: It is owned by StatefulSet web, and is deleted with it",
		"origin: It comes from Flux Kustomization apps",
	)
	got = holders(Volume(snap, snap.Volumes[0], ask()).Holders)
	has(t, got, "claim: Claim shop/data-web-0 is bound to it [blocks]", "pod: Pod web-0 is Running on node n1\n")
	hasNot(t, got, "\x1b")
}

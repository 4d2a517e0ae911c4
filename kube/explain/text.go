package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

func volumeRef(pv *corev1.PersistentVolume) actions.Ref {
	return actions.Ref{Kind: actions.VolumeKind, Name: pv.Name, UID: pv.UID}
}

func claimRef(pvc *corev1.PersistentVolumeClaim) actions.Ref {
	return actions.Ref{Kind: actions.ClaimKind, Namespace: pvc.Namespace, Name: pvc.Name, UID: pvc.UID}
}

func claimName(pvc *corev1.PersistentVolumeClaim) string { return pvc.Namespace + "/" + pvc.Name }

// claimOf names the claim that a volume's claimRef names, or "".
func claimOf(pv *corev1.PersistentVolume) string {
	if pv.Spec.ClaimRef == nil {
		return ""
	}
	return pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name
}

func claimRefOf(pv *corev1.PersistentVolume) actions.Ref {
	ref := pv.Spec.ClaimRef
	if ref == nil {
		return actions.Ref{}
	}
	return actions.Ref{Kind: actions.ClaimKind, Namespace: ref.Namespace, Name: ref.Name, UID: ref.UID}
}

func userRef(u kube.User) actions.Ref {
	return actions.Ref{Kind: actions.Kind(u.Kind), Namespace: u.Namespace, Name: u.Name, UID: u.UID}
}

// quoted shows an empty class as one would write it in YAML: it means "no
// class", which is not the same as not set.
func quoted(class string) string {
	if class == "" {
		return `""`
	}
	return class
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// age is the time since t in kubectl's short form.
func (t *telling) age(since time.Time) string {
	if since.IsZero() {
		return "an unknown time"
	}
	return duration.HumanDuration(max(t.ask.Now.Sub(since), 0))
}

// ago says when a volume's phase last changed (" 12d ago"), lasting for how
// long it has been so (" for 12d"). Both are empty where the server does not
// say.
func (t *telling) ago(pv *corev1.PersistentVolume) string {
	if at := pv.Status.LastPhaseTransitionTime; at != nil {
		return " " + t.age(at.Time) + " ago"
	}
	return ""
}

func (t *telling) lasting(pv *corev1.PersistentVolume) string {
	if at := pv.Status.LastPhaseTransitionTime; at != nil {
		return " for " + t.age(at.Time)
	}
	return ""
}

// unseen says why the absence of a resource's objects proves nothing.
func unseen(snap *kube.Snapshot, r kube.Resource) string {
	switch state := snap.Resources[r]; {
	case state.Phase == kube.Forbidden && state.Missing != "":
		return "you may not " + state.Missing
	case state.Phase == kube.Loading:
		return "they are still being read"
	case state.Namespace != "":
		return "only namespace " + state.Namespace + " is read"
	default:
		return "they can't be read"
	}
}

// modes abbreviates access modes as kubectl does.
func modes(list []corev1.PersistentVolumeAccessMode) string {
	short := make([]string, 0, len(list))
	for _, m := range list {
		switch m {
		case corev1.ReadWriteOnce:
			short = append(short, "RWO")
		case corev1.ReadOnlyMany:
			short = append(short, "ROX")
		case corev1.ReadWriteMany:
			short = append(short, "RWX")
		case corev1.ReadWriteOncePod:
			short = append(short, "RWOP")
		default:
			short = append(short, clean(string(m)))
		}
	}
	return strings.Join(short, ",")
}

// mostNamed is how many names are told.
const mostNamed = 4

// few lists names, the first ones by name.
func few(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// clean makes one line of printable text. All texts go through it on their way
// out: names, too, are what the cluster says.
func clean(s string) string {
	if harmless(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// harmless tells of nearly all texts, at no cost, that they are clean.
func harmless(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

// message is what the cluster says as the end of a sentence.
func message(s, otherwise string) string {
	return strings.TrimSuffix(cmp.Or(clean(s), otherwise), ".")
}

// livePods are the pods that have not ended: a Succeeded or Failed one does
// not write any more, though it still holds its claim.
func livePods(users []kube.User) []kube.Pod {
	var live []kube.Pod
	for _, u := range users {
		for _, p := range u.Pods {
			if alive(p) {
				live = append(live, p)
			}
		}
	}
	return live
}

func alive(p kube.Pod) bool { return p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed }

// holding are the pods that keep a claim from going: those that were placed on
// a node, whatever became of them since (pvc_protection_controller.go,
// podUsesPVC).
func holding(users []kube.User) []string {
	var names []string
	for _, u := range users {
		for _, p := range u.Pods {
			if p.Node != "" {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// usersText says in words who uses a claim.
func (t *telling) usersText(users []kube.User, known bool) string {
	switch {
	case len(users) > 0:
	case !known:
		return "used by pods that can't be seen (" + unseen(t.snap, kube.Pods) + ")"
	case !t.snap.OwnersKnown():
		return "used by no pod"
	default:
		return "used by nobody"
	}
	pods := 0
	for _, u := range users {
		pods += len(u.Pods)
	}
	text := "used by " + userText(users[0])
	if more := len(users) - 1; more > 0 {
		text += " and " + count(more, "other")
	}
	if pods == 0 {
		return text + " (no pod now)"
	}
	return text + " (" + count(pods, "pod") + ")"
}

func userText(u kube.User) string { return shortKind(u.Kind) + "/" + u.Name }

// shortKind is kubectl's short name of a workload kind.
func shortKind(kind string) string {
	switch kind {
	case "StatefulSet":
		return "sts"
	case "Deployment":
		return "deploy"
	case "ReplicaSet":
		return "rs"
	case "DaemonSet":
		return "ds"
	default:
		return strings.ToLower(kind)
	}
}

func hasMode(list []corev1.PersistentVolumeAccessMode, mode corev1.PersistentVolumeAccessMode) bool {
	return slices.Contains(list, mode)
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

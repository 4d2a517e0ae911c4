package views

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

// none stands for "nothing", hidden for "you may not see this".
const (
	none   = "–"
	hidden = "?"
)

// plain makes a cell of one plain text, and dims the absence of one.
func plain(text string) ui.Cell {
	if text == "" || text == none {
		return ui.Cell{{Text: none, Role: ui.Dim}}
	}
	return ui.Cell{{Text: text}}
}

// dim makes a cell of secondary text.
func dim(text string) ui.Cell {
	return ui.Cell{{Text: cmp.Or(text, none), Role: ui.Dim}}
}

// quoted shows an empty class as the two quotes one would write in YAML: it
// means "no class", which is not the same as not set.
func quoted(class string) string {
	if class == "" {
		return `""`
	}
	return class
}

// age is the time since t in kubectl's short form.
func age(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return none
	}
	return duration.HumanDuration(max(now.Sub(t.Time), 0))
}

// modes abbreviates access modes as kubectl does.
func modes(list []corev1.PersistentVolumeAccessMode) string {
	out := make([]string, 0, len(list))
	for _, m := range list {
		switch m {
		case corev1.ReadWriteOnce:
			out = append(out, "RWO")
		case corev1.ReadOnlyMany:
			out = append(out, "ROX")
		case corev1.ReadWriteMany:
			out = append(out, "RWX")
		case corev1.ReadWriteOncePod:
			out = append(out, "RWOP")
		default:
			out = append(out, string(m))
		}
	}
	return strings.Join(out, ",")
}

// bytes writes a size with a binary unit and at most one decimal.
func bytes(n int64) string {
	units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	f, u := float64(n), 0
	for f >= 1024 && u < len(units)-1 {
		f, u = f/1024, u+1
	}
	text := strconv.FormatFloat(f, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + units[u]
}

// storage is the storage quantity as it is written in the object.
func storage(list corev1.ResourceList) string {
	q, ok := list[corev1.ResourceStorage]
	if !ok {
		return none
	}
	return q.String()
}

// policyCell draws a reclaim policy. Delete on a volume is what an operator
// must see; Recycle is deprecated and wipes data.
func policyCell(p corev1.PersistentVolumeReclaimPolicy) ui.Cell {
	switch p {
	case corev1.PersistentVolumeReclaimDelete:
		return ui.Cell{{Text: string(p), Role: ui.Notice}}
	case corev1.PersistentVolumeReclaimRecycle:
		return ui.Cell{{Text: string(p), Role: ui.Warn}}
	default:
		return plain(string(p))
	}
}

// claimOf names the claim that a volume's claimRef names, or "".
func claimOf(pv *corev1.PersistentVolume) string {
	if pv.Spec.ClaimRef == nil {
		return ""
	}
	return pv.Spec.ClaimRef.Namespace + "/" + pv.Spec.ClaimRef.Name
}

// kindShort is kubectl's short name of a workload kind.
func kindShort(kind string) string {
	switch kind {
	case "StatefulSet":
		return "sts"
	case "Deployment":
		return "deploy"
	case "ReplicaSet":
		return "rs"
	case "DaemonSet":
		return "ds"
	case "CronJob":
		return "cronjob"
	default:
		return strings.ToLower(kind)
	}
}

// usedBy draws the users in short: the first one, and how many more. A user
// without a pod is dimmed: it would use the claim, but nothing runs.
func usedBy(users []kube.User, known bool) ui.Cell {
	if len(users) == 0 {
		if !known {
			return ui.Cell{{Text: hidden, Role: ui.Dim}}
		}
		return plain(none)
	}
	first := users[0]
	role := ui.Plain
	if len(first.Pods) == 0 {
		role = ui.Dim
	}
	cell := ui.Cell{{Text: kindShort(first.Kind) + "/" + first.Name, Role: role}}
	if more := len(users) - 1; more > 0 {
		cell = append(cell, ui.Span{Text: " +" + strconv.Itoa(more), Role: ui.Notice})
	} else if pods := len(first.Pods); pods > 1 {
		cell = append(cell, ui.Span{Text: " ×" + strconv.Itoa(pods), Role: ui.Notice})
	}
	return cell
}

// count writes "1 pod", "2 pods".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// verb is the verb of what was counted: "1 check forbids", "2 checks forbid".
func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

package differential

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

type object interface {
	runtime.Object
	metav1.Object
}

// kind is a kind of objects that histories are about.
type kind struct {
	short, resource string
	namespaced      bool
	client          func(kubernetes.Interface) rest.Interface
	empty           func() object
}

func core(c kubernetes.Interface) rest.Interface    { return c.CoreV1().RESTClient() }
func apps(c kubernetes.Interface) rest.Interface    { return c.AppsV1().RESTClient() }
func batch(c kubernetes.Interface) rest.Interface   { return c.BatchV1().RESTClient() }
func storage(c kubernetes.Interface) rest.Interface { return c.StorageV1().RESTClient() }

// kinds are in the order in which they must become known: the names of volumes
// are made of the uids of claims.
func kinds() []kind {
	return []kind{
		{"ns", "namespaces", false, core, func() object { return &corev1.Namespace{} }},
		{"pvc", "persistentvolumeclaims", true, core, func() object { return &corev1.PersistentVolumeClaim{} }},
		{"pv", "persistentvolumes", false, core, func() object { return &corev1.PersistentVolume{} }},
		{"sts", "statefulsets", true, apps, func() object { return &appsv1.StatefulSet{} }},
		{"deploy", "deployments", true, apps, func() object { return &appsv1.Deployment{} }},
		{"rs", "replicasets", true, apps, func() object { return &appsv1.ReplicaSet{} }},
		{"ds", "daemonsets", true, apps, func() object { return &appsv1.DaemonSet{} }},
		{"job", "jobs", true, batch, func() object { return &batchv1.Job{} }},
		{"pod", "pods", true, core, func() object { return &corev1.Pod{} }},
		{"sc", "storageclasses", false, storage, func() object { return &storagev1.StorageClass{} }},
		{"limits", "limitranges", true, core, func() object { return &corev1.LimitRange{} }},
		{"quota", "resourcequotas", true, core, func() object { return &corev1.ResourceQuota{} }},
	}
}

func kindOf(o object) kind {
	for _, k := range kinds() {
		if fmt.Sprintf("%T", k.empty()) == fmt.Sprintf("%T", o) {
			return k
		}
	}
	panic(fmt.Sprintf("no kind for a %T", o))
}

// ref is the symbolic name of an object: its kind's short name and its own, such
// as "pv/vol" or "pvc/data"; in another namespace than "$", "pvc/$-other/data".
type ref string

// uidMark begins the name of a volume that was made for a claim, in the place of
// its "pvc-". The uid follows, or a template for it.
const uidMark = "="

// parse is the kind, and the namespace and name with their "$".
func (r ref) parse() (k kind, namespace, name string) {
	if uid, ok := strings.CutPrefix(string(r), "pv/"+uidMark); ok {
		return kinds()[2], "", "pvc-" + uid
	}
	parts := strings.Split(string(r), "/")
	for _, k = range kinds() {
		if k.short != parts[0] {
			continue
		}
		switch {
		case k.short == "ns" && parts[1] == "":
			return k, "", "$"
		case !k.namespaced:
			return k, "", "$-" + parts[1]
		case len(parts) == 3:
			return k, parts[1], parts[2]
		default:
			return k, "$", parts[1]
		}
	}
	panic("no kind for " + string(r))
}

// symbol is the symbolic name of an object that exists.
func (p *play) symbol(o object) string {
	k, name := kindOf(o), p.symbolic(nameOf(o))
	if !k.namespaced {
		return k.short + "/" + strings.TrimPrefix(strings.TrimPrefix(name, "$"), "-")
	}
	if ns := p.symbolic(o.GetNamespace()); ns != "$" {
		name = ns + "/" + name
	}
	return k.short + "/" + name
}

// nameOf is a name without what was thrown by dice.
func nameOf(o object) string {
	name := o.GetName()
	// The pods of a StatefulSet carry a base, too, but are named by it.
	_, numbered := o.GetLabels()[appsv1.StatefulSetPodNameLabel]
	if base := o.GetGenerateName(); base != "" && strings.HasPrefix(name, base) && !numbered {
		name = base + "*"
	}
	if hash := o.GetLabels()[appsv1.DefaultDeploymentUniqueLabelKey]; hash != "" {
		name = strings.ReplaceAll(name, hash, "{hash}")
	}
	return name
}

// mine says whether an object belongs to the history.
func (p *play) mine(o object) bool {
	own := func(s string) bool { return s == p.id || strings.HasPrefix(s, p.id+"-") }
	if o.GetNamespace() != "" {
		return own(o.GetNamespace())
	}
	if own(o.GetName()) {
		return true
	}
	pv, ok := o.(*corev1.PersistentVolume)
	return ok && (own(pv.Spec.StorageClassName) || (pv.Spec.ClaimRef != nil && own(pv.Spec.ClaimRef.Namespace)))
}

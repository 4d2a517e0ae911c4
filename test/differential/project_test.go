package differential

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	helpers "k8s.io/component-helpers/storage/volume"
)

var anyUID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// absent is a field that an object does not have, as opposed to an empty one.
const absent = "<nil>"

// look is the state of the history's objects as it is now.
func (p *play) look(ctx context.Context) (view, error) {
	all, err := p.world.objects(ctx)
	if err != nil {
		return nil, err
	}
	order := map[string]int{}
	for i, k := range kinds() {
		order[k.short] = i
	}
	own := slices.DeleteFunc(all, func(o object) bool { return !p.mine(o) })
	stamp := p.stamp(own)
	if stamp == p.stamped {
		return p.last, nil
	}
	slices.SortStableFunc(own, func(a, b object) int { return order[kindOf(a).short] - order[kindOf(b).short] })

	live := map[types.UID]string{}
	clear(p.versions)
	for _, o := range own {
		p.meet(o)
		live[o.GetUID()] = p.symbol(o)
		p.versions[o.GetUID()] = o.GetResourceVersion()
	}
	now := view{}
	for _, o := range own {
		f := p.project(o, live)
		f["exists"] = "yes"
		f["since"] = "act " + strconv.Itoa(p.seen[o.GetUID()].since)
		symbol := live[o.GetUID()]
		for n := 2; now[symbol] != nil; n++ {
			symbol = live[o.GetUID()] + "#" + strconv.Itoa(n)
		}
		now[symbol] = f
	}
	for volume, handle := range p.handles {
		now["data/"+volume] = fields{"exists": yes(p.world.hasData(handle))}
	}
	p.live, p.last, p.stamped = live, now, p.stamp(own)
	return now, nil
}

// stamp tells one state from another without looking at everything.
func (p *play) stamp(own []object) string {
	parts := make([]string, 0, len(own)+len(p.handles))
	for _, o := range own {
		parts = append(parts, string(o.GetUID())+"@"+o.GetResourceVersion())
	}
	for volume, handle := range p.handles {
		parts = append(parts, volume+"="+yes(p.world.hasData(handle)))
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// meet remembers what a uid is of.
func (p *play) meet(o object) {
	symbol := p.symbol(o)
	if _, known := p.seen[o.GetUID()]; !known {
		name := symbol
		for n := 2; slices.ContainsFunc(slices.Collect(maps.Values(p.seen)), func(i identity) bool { return i.symbol == name }); n++ {
			name = symbol + "#" + strconv.Itoa(n)
		}
		p.seen[o.GetUID()] = identity{name, p.step}
	}
	if pv, ok := o.(*corev1.PersistentVolume); ok && handle(pv) != "" {
		name := strings.TrimPrefix(symbol, "pv/")
		// A volume may be seen before the claim that it was made for.
		if _, known := p.handles[name]; !known && !strings.Contains(name, "{?}") {
			p.handles[name] = handle(pv)
		}
	}
}

// handle is what the data of a volume goes by in its storage.
func handle(pv *corev1.PersistentVolume) string {
	switch s := pv.Spec.PersistentVolumeSource; {
	case s.CSI != nil:
		return s.CSI.VolumeHandle
	case s.HostPath != nil:
		return s.HostPath.Path
	default:
		return ""
	}
}

// project is the part of an object that is compared.
func (p *play) project(o object, live map[types.UID]string) fields {
	f := fields{
		"deleting":   yes(o.GetDeletionTimestamp() != nil),
		"finalizers": sorted(o.GetFinalizers()),
		"owners":     p.owners(o, live),
	}
	for _, a := range []string{
		helpers.AnnBindCompleted, helpers.AnnBoundByController, helpers.AnnDynamicallyProvisioned,
		helpers.AnnStorageProvisioner, helpers.AnnBetaStorageProvisioner, corev1.BetaStorageClassAnnotation,
	} {
		if v, ok := o.GetAnnotations()[a]; ok {
			f[a] = p.symbolic(v)
		}
	}
	if _, ok := o.GetAnnotations()[helpers.AnnSelectedNode]; ok {
		f[helpers.AnnSelectedNode] = "set"
	}
	switch o := o.(type) {
	case *corev1.Namespace:
		f["phase"] = string(o.Status.Phase)
	case *corev1.PersistentVolume:
		p.volume(f, o, live)
	case *corev1.PersistentVolumeClaim:
		p.claim(f, o)
	case *corev1.Pod:
		f["phase"], f["node"] = string(o.Status.Phase), yes(o.Spec.NodeName != "")
	default:
		workload(f, o)
	}
	p.all(f, o, live)
	return f
}

func (p *play) volume(f fields, pv *corev1.PersistentVolume, live map[types.UID]string) {
	f["phase"] = string(pv.Status.Phase)
	f["claimRef"] = absent
	if r := pv.Spec.ClaimRef; r != nil {
		f["claimRef"] = p.symbolic(r.Namespace + "/" + r.Name)
		f["claimRef.kind"] = r.APIVersion + " " + r.Kind
		f["claimRef.uid"] = symbolOf(r.UID, live)
	}
	f["policy"] = string(pv.Spec.PersistentVolumeReclaimPolicy)
	f["modes"] = modes(pv.Spec.AccessModes)
	f["volumeMode"] = pointed(pv.Spec.VolumeMode)
	f["capacity"] = capacity(pv.Spec.Capacity)
	f["class"] = p.symbolic(pv.Spec.StorageClassName)
	f["attributes class"] = pointed(pv.Spec.VolumeAttributesClassName)
}

func (p *play) claim(f fields, pvc *corev1.PersistentVolumeClaim) {
	f["phase"] = string(pvc.Status.Phase)
	f["volumeName"] = p.symbolic(pvc.Spec.VolumeName)
	f["modes"], f["status.modes"] = modes(pvc.Spec.AccessModes), modes(pvc.Status.AccessModes)
	f["request"], f["status.capacity"] = capacity(pvc.Spec.Resources.Requests), capacity(pvc.Status.Capacity)
	f["volumeMode"] = pointed(pvc.Spec.VolumeMode)
	f["class"] = p.symbolic(pointed(pvc.Spec.StorageClassName))
	f["attributes class"] = pointed(pvc.Spec.VolumeAttributesClassName)
	f["status.attributes class"] = pointed(pvc.Status.CurrentVolumeAttributesClassName)
}

func workload(f fields, o object) {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		f["replicas"] = number(o.Spec.Replicas)
		f["status.replicas"] = strconv.Itoa(int(o.Status.Replicas))
		f["status.ready"] = strconv.Itoa(int(o.Status.ReadyReplicas))
		if r := o.Spec.PersistentVolumeClaimRetentionPolicy; r != nil {
			f["retention"] = fmt.Sprintf("whenScaled %s, whenDeleted %s", r.WhenScaled, r.WhenDeleted)
		}
		for _, c := range o.Spec.VolumeClaimTemplates {
			f["template "+c.Name] = modes(c.Spec.AccessModes) + " " + capacity(c.Spec.Resources.Requests)
		}
	case *appsv1.Deployment:
		f["replicas"] = number(o.Spec.Replicas)
		f["status.replicas"] = strconv.Itoa(int(o.Status.Replicas))
		f["status.ready"] = strconv.Itoa(int(o.Status.ReadyReplicas))
	case *appsv1.ReplicaSet:
		f["replicas"] = number(o.Spec.Replicas)
		f["status.replicas"] = strconv.Itoa(int(o.Status.Replicas))
	}
}

func (p *play) owners(o object, live map[types.UID]string) string {
	owners := make([]string, 0, len(o.GetOwnerReferences()))
	for _, r := range o.GetOwnerReferences() {
		owners = append(owners, fmt.Sprintf("%s %s controller=%t blocks=%t",
			r.Kind, symbolOf(r.UID, live), pointed(r.Controller) == "true", pointed(r.BlockOwnerDeletion) == "true"))
	}
	return sorted(owners)
}

// symbolOf is the name of the object that has a uid.
func symbolOf(uid types.UID, live map[types.UID]string) string {
	if uid == "" {
		return ""
	}
	if symbol, ok := live[uid]; ok {
		return symbol
	}
	return "stale"
}

// answer is the part of a returned object that is compared.
func (p *play) answer(o object) fields {
	f := p.project(o, p.live)
	f["uid"] = "new"
	if symbol, ok := p.live[o.GetUID()]; ok {
		f["uid"] = symbol
	}
	switch was, known := p.versions[o.GetUID()]; {
	case o.GetResourceVersion() == "":
		f["resourceVersion"] = "none"
	case known && o.GetResourceVersion() == was:
		f["resourceVersion"] = "unchanged"
	default:
		f["resourceVersion"] = "new"
	}
	return f
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func pointed[T any](p *T) string {
	if p == nil {
		return absent
	}
	return fmt.Sprint(*p)
}

func number(n *int32) string { return pointed(n) }

func sorted(s []string) string {
	s = slices.Clone(s)
	slices.Sort(s)
	return strings.Join(s, ", ")
}

func modes(ms []corev1.PersistentVolumeAccessMode) string {
	s := make([]string, 0, len(ms))
	for _, m := range ms {
		s = append(s, string(m))
	}
	return strings.Join(s, ", ")
}

func capacity(l corev1.ResourceList) string {
	q, ok := l[corev1.ResourceStorage]
	if !ok {
		return absent
	}
	return q.String()
}

package migration

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// afterBinding are the steps after which everything runs again.
func (m *machine) afterBinding() []node {
	var nodes []node
	workloads := slices.DeleteFunc(m.workloads(), m.yields)
	for _, w := range workloads {
		if w.Ref.Kind == StatefulSetKind && w.To != nil {
			nodes = append(nodes, m.replaceSet(w)...)
		}
	}
	for _, w := range workloads {
		if scales(w.Ref.Kind) {
			nodes = append(nodes, m.scaleUp(w))
		}
	}
	for _, w := range workloads {
		switch w.Ref.Kind {
		case StatefulSetKind:
			if w.Retention != nil {
				nodes = append(nodes, m.retentionBack(w))
			}
		case DeploymentKind:
			if w.Strategy != nil && m.dir == Back {
				nodes = append(nodes, m.strategyBack(w))
			}
		case CronJobKind:
			nodes = append(nodes, m.resume(w))
		default:
			// A ReplicaSet is scaled, and that is all.
		}
	}
	for _, w := range workloads {
		if scales(w.Ref.Kind) {
			nodes = append(nodes, m.awaitReady(w))
		}
	}
	return nodes
}

// replaceSet re-creates a StatefulSet, whose volumeClaimTemplates can't be
// changed. It has no pods then, and its revision depends on the pod template
// alone, which stays.
func (m *machine) replaceSet(w Workload) []node {
	goal, other, likes := w.To, w.From, "the migrated ones"
	if m.dir == Back {
		goal, other, likes = w.From, w.To, "they were before"
	}
	set := m.set(w)
	remove := node{Step: Step{
		ID: "remove/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Delete " + describe(w.Ref) + ", and leave what it owns",
		Why:    "Its volumeClaimTemplates can't be changed, so that it is made anew",
		Act:    Delete,
		Target: m.live(w, set),
		Orphan: true,
		Then:   "Claims, pods and revisions stay, and the new one takes them over",
		Stop:   m.inPlace() + "; resume makes the set again, from any machine",
	}}
	// As long as the original claims are there, it is not this operation that
	// has made the set otherwise.
	remove.done = set == nil || set.DeletionTimestamp != nil || sameTemplates(set, goal) || m.original()
	if !remove.done {
		if path := changedSince(set, other); path != "" {
			remove.halt = fmt.Sprintf("%s was changed meanwhile (%s)%s: to make it anew from the journal would take that back", describe(w.Ref), path, by(managerOf(set, strings.Split(path, ".")...)))
			remove.remedy = "Bring it back to what it was, or delete it yourself with --cascade=orphan and create it with the new templates; then resume"
		}
	}
	create := node{Step: Step{
		ID: "recreate/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: fmt.Sprintf("Create %s again, for %s", describe(w.Ref), counted(w.Replicas)),
		Why:    "With the same pod template its pods keep their revision; claims that it makes later are like " + likes,
		Act:    Create,
		Target: w.Ref,
		Object: encode(goal),
		Then:   "Its pods start",
		Stop:   m.inPlace() + "; resume makes the set again, from any machine",
	}}
	create.Target.UID = ""
	m.vouch(&create.Step, w)
	create.done = set != nil && set.DeletionTimestamp == nil && (sameTemplates(set, goal) || m.original())
	remove.starts, create.starts = true, true
	if !create.done && set != nil && set.DeletionTimestamp != nil {
		create.holds = []string{"the controller has yet to let go of " + describe(w.Ref)}
	}
	if !create.done {
		create.holds = append(create.holds, m.awayHolds(w)...)
		m.inTheDark(&create.Step, w)
	}
	return []node{remove, create}
}

// vouch has the name typed of what is made from a journal that somebody may have
// written who has fewer rights than whoever resumes: by then there is nothing to
// compare it with.
func (m *machine) vouch(create *Step, w Workload) {
	if !m.run.Foreign || m.run.Known[w.Ref.Namespace+"/"+w.Ref.Name] {
		return
	}
	writer := "whose writer is not known"
	if lead := m.s.Volumes[m.j.Lead()]; lead != nil {
		if who := managerOf(lead, "metadata", "annotations", AnnotationJournal); who != "" {
			writer = "written by " + who + ", as its managedFields say"
		}
	}
	create.Confirm = w.Ref.Name
	create.Why += fmt.Sprintf(". What it is made of comes from the journal on volume %s, %s: nobody here has seen the set itself. Whoever may change volumes can have written that, so read its pod template first", m.j.Lead(), writer)
}

// asInJournal says that a StatefulSet is there, and is the one that the journal
// says it was or will be.
func (m *machine) asInJournal(w Workload) bool {
	set := m.set(w)
	return set != nil && (changedSince(set, w.From) == "" || changedSince(set, w.To) == "")
}

func counted(replicas int32) string {
	if replicas == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", replicas)
}

// sameTemplates compares the volumeClaimTemplates that matter here, by their
// names and modes.
func sameTemplates(set, as *appsv1.StatefulSet) bool {
	a, b := set.Spec.VolumeClaimTemplates, as.Spec.VolumeClaimTemplates
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !sameModes(a[i].Spec.AccessModes, b[i].Spec.AccessModes) {
			return false
		}
	}
	return true
}

// changedSince names the part of a StatefulSet that is not as in the journal,
// but for what the operation itself changes.
func changedSince(set, was *appsv1.StatefulSet) string {
	a, b := *set.Spec.DeepCopy(), *was.Spec.DeepCopy()
	for _, spec := range [...]*appsv1.StatefulSetSpec{&a, &b} {
		spec.Replicas, spec.PersistentVolumeClaimRetentionPolicy = nil, nil
		for i := range spec.VolumeClaimTemplates {
			t := &spec.VolumeClaimTemplates[i]
			// What else there is of it is for form's sake.
			*t = corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: t.Name, Labels: t.Labels, Annotations: t.Annotations}, Spec: t.Spec}
		}
	}
	for _, part := range [...]struct {
		path     string
		one, two any
	}{
		{"spec.template", a.Template, b.Template},
		{"spec.selector", a.Selector, b.Selector},
		{"spec.serviceName", a.ServiceName, b.ServiceName},
		{"spec.updateStrategy", a.UpdateStrategy, b.UpdateStrategy},
		{"spec.podManagementPolicy", a.PodManagementPolicy, b.PodManagementPolicy},
		{"spec.minReadySeconds", a.MinReadySeconds, b.MinReadySeconds},
		{"spec.revisionHistoryLimit", a.RevisionHistoryLimit, b.RevisionHistoryLimit},
		{"spec.ordinals", a.Ordinals, b.Ordinals},
		{"spec.volumeClaimTemplates", a.VolumeClaimTemplates, b.VolumeClaimTemplates},
		{"spec", a, b},
	} {
		if !apiequality.Semantic.DeepEqual(part.one, part.two) {
			return part.path
		}
	}
	return ""
}

func (m *machine) scaleUp(w Workload) node {
	live, replicas := m.scaled(w)
	n := node{Step: Step{
		ID: "start/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: fmt.Sprintf("Scale %s back to %d", describe(w.Ref), w.Replicas),
		Why:    "That is what it was",
		Act:    Scale,
		Target: live,
		Patch:  encode(map[string]any{"spec": map[string]any{"replicas": w.Replicas}}),
		Then:   "Its pods start",
		Stop:   m.inPlace() + "; only the pods are still stopped",
	}}
	// More or fewer than there were is somebody's wish, which is respected.
	n.done = w.Replicas == 0 || replicas > 0
	n.starts = true
	if !n.done {
		n.holds = m.awayHolds(w)
		m.inTheDark(&n.Step, w)
	}
	if !n.done && live.UID == "" && len(n.holds) == 0 {
		n.halt = describe(w.Ref) + " is gone"
		n.remedy = "Create it again, by the manifest in the backup, and resume; or go on without it"
	}
	return n
}

func (m *machine) retentionBack(w Workload) node {
	set := m.set(w)
	n := node{Step: Step{
		ID: "retention-back/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Give " + describe(w.Ref) + " its policy for claims back",
		Why:    "That is what it was",
		Act:    Patch,
		Target: m.live(w, set),
		Patch:  retentionPatch(w.Retention.WhenDeleted, w.Retention.WhenScaled),
		Stop:   "All is done but this: the set retains its claims",
	}}
	n.done = set == nil || set.Spec.PersistentVolumeClaimRetentionPolicy != nil && *set.Spec.PersistentVolumeClaimRetentionPolicy == *w.Retention
	return n
}

func (m *machine) strategyBack(w Workload) node {
	d := m.deployment(w)
	var rolling any
	if w.Strategy.RollingUpdate != nil {
		rolling = w.Strategy.RollingUpdate
	}
	n := node{Step: Step{
		ID: "strategy-back/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Give " + describe(w.Ref) + " its strategy back",
		Why:    "That is what it was",
		Act:    Patch,
		Target: m.live(w, d),
		Patch: encode(map[string]any{"spec": map[string]any{"strategy": map[string]any{
			"type": w.Strategy.Type, "rollingUpdate": rolling,
		}}}),
		Stop: "All is done but this: the strategy stays Recreate",
	}}
	n.done = d == nil || apiequality.Semantic.DeepEqual(d.Spec.Strategy, *w.Strategy)
	return n
}

func (m *machine) resume(w Workload) node {
	c := m.cronJob(w)
	n := node{Step: Step{
		ID: "resume/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Resume " + describe(w.Ref),
		Why:    "It was not suspended before",
		Act:    Patch,
		Target: m.live(w, c),
		Patch:  encode(map[string]any{"spec": map[string]any{"suspend": false}}),
		Stop:   "All is done but this: it stays suspended",
	}}
	n.done = w.Suspended || c == nil || c.Spec.Suspend == nil || !*c.Spec.Suspend
	return n
}

func (m *machine) awaitReady(w Workload) node {
	n := node{
		Step: Step{
			ID: "started/" + w.Ref.Namespace + "/" + w.Ref.Name, Title: "Wait until the pods of " + describe(w.Ref) + " are ready",
			Why:    "They are what all this is for",
			Act:    Await,
			Target: w.Ref,
			Stop:   m.inPlace() + ", and the pods start; the note is still on the volume",
		},
		// Pods are ready, and then not, without anybody's doing.
		flips: true,
	}
	if w.Replicas > 0 {
		n.holds = m.unready(w)
	}
	n.done = len(n.holds) == 0
	return n
}

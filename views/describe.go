package views

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/ui"
)

func itoa[T int | int32 | int64](n T) string { return strconv.FormatInt(int64(n), 10) }

func (s *session) since0(t time.Time) string { return age(metav1.NewTime(t), s.now) }

// openVolume shows a volume's details, its YAML first if asked for.
func (s *session) openVolume(v *kube.Volume, yaml bool) tea.Cmd {
	name, uid := v.Object.Name, v.Object.UID
	find := func() *kube.Volume {
		if now := s.volumeNamed(name); now != nil && now.Object.UID == uid {
			return now
		}
		return nil
	}
	describe := func() (sections, bool) {
		if v := find(); v != nil {
			return s.describeVolume(v), true
		}
		return sections{}, false
	}
	keys := func(p *detailsPage) []ui.Binding {
		gone := func() string {
			if find() == nil {
				return "the volume is gone"
			}
			return ""
		}
		return []ui.Binding{
			{Keys: []string{"a"}, Title: "actions", Help: "guided actions on this volume", Group: "Actions", Hint: true, Disabled: gone, Do: func() tea.Cmd { return p.openActions(find()) }},
			{Keys: []string{"p"}, Title: "policy", Help: "set the reclaim policy", Group: "Actions", Disabled: gone, Do: func() tea.Cmd { return p.openPolicy(find()) }},
		}
	}
	return s.openDetails(actions.Ref{Kind: actions.VolumeKind, Name: name, UID: uid}, yaml, describe, keys)
}

func (s *session) describeVolume(v *kube.Volume) sections {
	pv := v.Object
	sec := sections{title: "PersistentVolume " + pv.Name, version: pv.ResourceVersion, state: v.State, story: s.volumeStory(v)}
	sec.facts = []fact{
		{label: "Capacity", value: storage(pv.Spec.Capacity)},
		{label: "Access modes", value: modes(pv.Spec.AccessModes)},
		{label: "Reclaim policy", value: string(pv.Spec.PersistentVolumeReclaimPolicy), role: policyCell(pv.Spec.PersistentVolumeReclaimPolicy)[0].Role},
		{label: "Class", value: quoted(v.Class) + missing(s.classMissing(v.Class))},
		{label: "Volume mode", value: volumeMode(pv.Spec.VolumeMode)},
		{label: "Attributes class", value: deref(pv.Spec.VolumeAttributesClassName)},
		{label: "Claim", value: s.claimFact(v)},
		{label: "Phase changed", value: strings.TrimPrefix(s.ago(pv), " ")},
		{label: "Reason", value: reason(pv), role: ui.Warn},
		{label: "Driver", value: driver(pv)},
		{label: "Handle", value: handle(pv)},
		{label: "Nodes", value: affinity(pv)},
		{label: "Attached", value: s.attachedFact(v)},
		{label: "Mount options", value: strings.Join(pv.Spec.MountOptions, ",")},
		{label: "Finalizers", value: strings.Join(pv.Finalizers, ", ")},
		{label: "Created", value: created(pv.CreationTimestamp, s.now)},
		{label: "UID", value: string(pv.UID), role: ui.Dim},
		{label: "Labels", value: pairs(pv.Labels)},
		{label: "Annotations", value: shownAnnotations(pv.Annotations)},
	}
	sec.lists = []factList{s.usersList(v.Users, v.UsersKnown)}
	return sec
}

// claimFact says what a volume's claimRef names, and what stands behind it.
func (s *session) claimFact(v *kube.Volume) string {
	name := claimOf(v.Object)
	if name == "" {
		return ""
	}
	switch v.Tie {
	case kube.TieHeld:
		return name + " (names this volume back)"
	case kube.TieAbsent:
		return name + " (does not exist)"
	case kube.TieOther:
		return name + " (exists, but is another one or bound elsewhere)"
	case kube.TieOpen:
		return name + " (exists, not bound yet)"
	case kube.TieUnknown:
		return name + " (can't be seen: " + s.unseen(kube.PersistentVolumeClaims) + ")"
	default:
		return name
	}
}

// attachedFact says to which nodes a volume is attached. Volumes that are not
// attached by a driver have no such objects.
func (s *session) attachedFact(v *kube.Volume) string {
	if !s.snap.Known(kube.VolumeAttachments, "") {
		if v.Object.Spec.CSI == nil {
			return ""
		}
		return "can't be told: attachments can't be seen, " + s.unseen(kube.VolumeAttachments)
	}
	nodes := make([]string, 0, len(v.Attachments))
	for _, a := range v.Attachments {
		text := "to " + a.Node
		switch {
		case a.Terminating:
			text += ", being detached"
		case !a.Attached:
			text += ", not yet"
		}
		if a.Problem != "" {
			text += " (last failure: " + a.Problem + ")"
		}
		nodes = append(nodes, text)
	}
	return strings.Join(nodes, "; ")
}

func missing(yes bool) string {
	if yes {
		return " (does not exist)"
	}
	return ""
}

func created(t metav1.Time, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339) + " (" + age(t, now) + " ago)"
}

func pairs(m map[string]string) string {
	out := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	return strings.Join(out, " ")
}

// shownAnnotations lists those that are kept of an object that is watched.
func shownAnnotations(m map[string]string) string {
	if len(m) == 0 {
		return ""
	}
	return pairs(m) + " (those about storage; y shows all)"
}

// usersList lists the workloads with their pods.
func (s *session) usersList(list []kube.User, known bool) factList {
	l := factList{title: "Used by", empty: "nobody"}
	switch {
	case !known:
		l.empty = "can't be told: pods can't be seen, " + s.unseen(kube.Pods)
	case !s.snap.OwnersKnown():
		l.empty = "no pod; workloads can't all be seen"
	}
	for _, u := range list {
		note := ""
		if len(u.Pods) == 0 {
			note = "  its template names the claim; no pod now"
		}
		l.lines = append(l.lines, ui.Line{{Text: "  " + u.Kind + " " + u.Namespace + "/" + u.Name}, {Text: note, Role: ui.Dim}})
		for _, p := range u.Pods {
			where := "not scheduled"
			if p.Node != "" {
				where = "on " + p.Node
			}
			if p.Terminating {
				where += ", terminating"
			}
			l.lines = append(l.lines, ui.Line{{Text: "    " + p.Name}, {Text: "  " + string(p.Phase) + " " + where, Role: ui.Dim}})
		}
	}
	return l
}

// openClaim shows a claim's details.
func (s *session) openClaim(c *kube.Claim, yaml bool) tea.Cmd {
	ns, name, uid := c.Object.Namespace, c.Object.Name, c.Object.UID
	find := func() *kube.Claim {
		if now := s.claimNamed(ns, name); now != nil && now.Object.UID == uid {
			return now
		}
		return nil
	}
	describe := func() (sections, bool) {
		if c := find(); c != nil {
			return s.describeClaim(c), true
		}
		return sections{}, false
	}
	keys := func(p *detailsPage) []ui.Binding {
		volume := func() *kube.Volume {
			if c := find(); c != nil {
				return s.volumeNamed(c.Object.Spec.VolumeName)
			}
			return nil
		}
		none := func() string {
			if volume() == nil {
				return "the claim has no volume that can be seen"
			}
			return ""
		}
		return []ui.Binding{
			{Keys: []string{"a"}, Title: "actions", Help: "guided actions on its volume", Group: "Actions", Hint: true, Disabled: none, Do: func() tea.Cmd { return p.openClaimActions(find()) }},
			{Keys: []string{"p"}, Title: "policy", Help: "set its volume's reclaim policy", Group: "Actions", Disabled: none, Do: func() tea.Cmd { return p.openClaimPolicy(find()) }},
		}
	}
	return s.openDetails(actions.Ref{Kind: actions.ClaimKind, Namespace: ns, Name: name, UID: uid}, yaml, describe, keys)
}

func (s *session) describeClaim(c *kube.Claim) sections {
	pvc := c.Object
	class := "<unset>"
	if c.Class.Set {
		class = quoted(c.Class.Name) + missing(s.classMissing(c.Class.Name))
	}
	if c.Class.Beta {
		class += " (by the deprecated annotation, which overrules the field)"
	}
	modesNote, modesRole := modes(pvc.Spec.AccessModes), ui.Plain
	if c.ModesDiffer {
		modesNote += " (its volume: " + modes(pvc.Status.AccessModes) + ")"
		modesRole = ui.Warn
	}
	sec := sections{title: "PersistentVolumeClaim " + pvc.Namespace + "/" + pvc.Name, version: pvc.ResourceVersion, state: c.State, story: s.claimStory(c)}
	selector := ""
	if pvc.Spec.Selector != nil {
		selector = metav1.FormatLabelSelector(pvc.Spec.Selector)
	}
	source := ""
	if ds := pvc.Spec.DataSourceRef; ds != nil {
		source = ds.Kind + " " + ds.Name
	}
	sec.facts = []fact{
		{label: "Volume", value: pvc.Spec.VolumeName},
		{label: "Request", value: storage(pvc.Spec.Resources.Requests)},
		{label: "Capacity", value: storage(pvc.Status.Capacity)},
		{label: "Access modes", value: modesNote, role: modesRole},
		{label: "Class", value: class},
		{label: "Volume mode", value: volumeMode(pvc.Spec.VolumeMode)},
		{label: "Attributes class", value: deref(pvc.Spec.VolumeAttributesClassName)},
		{label: "Selector", value: selector},
		{label: "Data source", value: source},
		{label: "Finalizers", value: strings.Join(pvc.Finalizers, ", ")},
		{label: "Created", value: created(pvc.CreationTimestamp, s.now)},
		{label: "UID", value: string(pvc.UID), role: ui.Dim},
		{label: "Labels", value: pairs(pvc.Labels)},
		{label: "Annotations", value: shownAnnotations(pvc.Annotations)},
	}
	conditions := factList{title: "Conditions", empty: "none"}
	for _, cond := range pvc.Status.Conditions {
		conditions.lines = append(conditions.lines, ui.Line{
			{Text: "  " + string(cond.Type) + "=" + string(cond.Status)},
			{Text: "  " + cond.Reason + " " + cond.Message + "  " + age(cond.LastTransitionTime, s.now), Role: ui.Dim},
		})
	}
	sec.lists = []factList{s.usersList(c.Users, c.UsersKnown), conditions}
	return sec
}

// openClass shows a class's details.
func (s *session) openClass(c *kube.Class, yaml bool) tea.Cmd {
	name, uid := c.Object.Name, c.Object.UID
	describe := func() (sections, bool) {
		if now := s.snap.Class(name); now != nil && now.Object.UID == uid {
			return s.describeClass(now), true
		}
		return sections{}, false
	}
	keys := func(*detailsPage) []ui.Binding { return nil }
	return s.openDetails(actions.Ref{Kind: actions.ClassKind, Name: name, UID: uid}, yaml, describe, keys)
}

func (s *session) describeClass(c *kube.Class) sections {
	sc := c.Object
	isDefault := "no"
	switch {
	case c.Effective:
		isDefault = "yes"
	case c.Default:
		isDefault = "marked, but " + s.defaultClass().Object.Name + " is newer"
	}
	sec := sections{title: "StorageClass " + sc.Name, version: sc.ResourceVersion, story: s.classStory(c)}
	sec.facts = []fact{
		{label: "Default", value: isDefault},
		{label: "Provisioner", value: sc.Provisioner},
		{label: "Reclaim policy", value: string(classPolicy(sc))},
		{label: "Binding", value: string(bindingMode(sc))},
		{label: "Expansion", value: expansion(sc)},
		{label: "Mount options", value: strings.Join(sc.MountOptions, ",")},
		{label: "Parameters", value: pairs(sc.Parameters)},
		{label: "Created", value: created(sc.CreationTimestamp, s.now)},
		{label: "UID", value: string(sc.UID), role: ui.Dim},
		{label: "Annotations", value: shownAnnotations(sc.Annotations)},
	}
	volumes := factList{title: "Volumes", empty: "none"}
	if !s.snap.Known(kube.PersistentVolumes, "") {
		volumes.empty = "can't be seen: " + s.unseen(kube.PersistentVolumes)
	}
	for _, ph := range phaseOrder() {
		if t := c.Volumes[ph]; t.Count > 0 {
			volumes.lines = append(volumes.lines, ui.Line{{Text: "  "}, s.phaseCount(ph, t.Count), {Text: "  " + bytes(t.Bytes), Role: ui.Dim}})
		}
	}
	sec.lists = []factList{volumes}
	return sec
}

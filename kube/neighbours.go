package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// node keeps its labels string by string: no two nodes have the same ones, so
// that the whole of them would only crowd out what repeats.
func (t trimmer) node(o *corev1.Node) *Node {
	n := &Node{Name: text(o.Name), UID: o.UID, Terminating: o.DeletionTimestamp != nil}
	if len(o.Labels) > 0 {
		n.Labels = make(map[string]string, len(o.Labels))
		for key, value := range o.Labels {
			n.Labels[text(key)] = text(value)
		}
	}
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type == corev1.NodeReady {
			n.Ready = c.Status == corev1.ConditionTrue
		}
	}
	return n
}

// same tells whether nothing that is kept has changed. A node reports itself
// every few minutes, with nothing new for storage.
func (n *Node) same(m *Node) bool {
	return n.Name == m.Name && n.UID == m.UID && n.Ready == m.Ready && n.Terminating == m.Terminating && maps.Equal(n.Labels, m.Labels)
}

func (t trimmer) namespace(o *corev1.Namespace) *Namespace {
	return &Namespace{
		Name: text(o.Name), UID: o.UID,
		Terminating: o.DeletionTimestamp != nil || o.Status.Phase == corev1.NamespaceTerminating,
	}
}

func (n *Namespace) same(m *Namespace) bool { return *n == *m }

// attachment is nil for one of a volume that a pod describes by itself: there
// is no PersistentVolume to it.
func (t trimmer) attachment(o *storagev1.VolumeAttachment) *Attachment {
	volume := o.Spec.Source.PersistentVolumeName
	if volume == nil || *volume == "" {
		return nil
	}
	return &Attachment{
		Name: o.Name, UID: o.UID, Volume: strings.Clone(*volume), Node: text(o.Spec.NodeName), Attacher: text(o.Spec.Attacher),
		Attached:    o.Status.Attached,
		Problem:     attachProblem(&o.Status),
		Terminating: o.DeletionTimestamp != nil,
	}
}

// attachProblem is the newer one of two: a failure stays until the same has
// succeeded.
func attachProblem(s *storagev1.VolumeAttachmentStatus) string {
	last := s.AttachError
	if d := s.DetachError; d != nil && (last == nil || !d.Time.Before(&last.Time)) {
		last = d
	}
	if last == nil {
		return ""
	}
	return text(cmp.Or(clean(last.Message), "no reason given"))
}

func (a *Attachment) same(b *Attachment) bool { return *a == *b }

// register holds the records of a resource that nothing is joined to.
type register[T any] struct {
	same    func(a, b *T) bool
	compare func(a, b *T) int

	all map[string]*T
	// shown holds, for each record that may have changed, the one in the last
	// snapshot, nil if there is none.
	shown map[string]*T
	list  []*T
}

func newRegister[T any](same func(a, b *T) bool, compare func(a, b *T) int) *register[T] {
	return &register[T]{same: same, compare: compare, all: make(map[string]*T), shown: make(map[string]*T)}
}

func (r *register[T]) put(key string, value *T) {
	before := r.all[key]
	if before == nil && value == nil || before != nil && value != nil && r.same(before, value) {
		return
	}
	if _, marked := r.shown[key]; !marked {
		r.shown[key] = before
	}
	if value != nil {
		r.all[key] = value
	} else {
		delete(r.all, key)
	}
}

// rebuild brings the list up to date and tells whether it has changed.
func (r *register[T]) rebuild() bool {
	var changes []change[T]
	for key, before := range r.shown {
		after := r.all[key]
		if before != after && (before == nil || after == nil || !r.same(before, after)) {
			changes = append(changes, change[T]{before, after})
		}
	}
	clear(r.shown)
	r.list = merge(r.list, changes, r.compare)
	return len(changes) > 0
}

func (j *join) setAttachment(name string, a *Attachment) {
	before := j.attachments[name]
	if before == nil && a == nil || before != nil && a != nil && before.same(a) {
		return
	}
	if before != nil {
		j.attachmentsByVolume.remove(before.Volume, before)
		j.dirtyVolumes.add(before.Volume)
	}
	if a == nil {
		delete(j.attachments, name)
		return
	}
	j.attachments[name] = a
	j.attachmentsByVolume.add(a.Volume, a)
	j.dirtyVolumes.add(a.Volume)
}

// attachmentsOf are those of a volume, in a slice that may be kept.
func (j *join) attachmentsOf(volume string) []*Attachment {
	attachments := slices.Clone(j.attachmentsByVolume[volume])
	slices.SortFunc(attachments, func(a, b *Attachment) int { return strings.Compare(a.Name, b.Name) })
	return attachments
}

func equalAttachments(a, b []*Attachment) bool { return slices.EqualFunc(a, b, (*Attachment).same) }

package explain

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// noProvisioner marks a class whose volumes are made by hand
// (storage.k8s.io docs: local volumes).
const noProvisioner = "kubernetes.io/no-provisioner"

func classRef(sc *storagev1.StorageClass) actions.Ref {
	return actions.Ref{Kind: actions.ClassKind, Name: sc.Name, UID: sc.UID}
}

// classes are all classes of a snapshot, as the rules ask for them.
func classes(snap *kube.Snapshot) []*storagev1.StorageClass {
	list := make([]*storagev1.StorageClass, len(snap.Classes))
	for i, c := range snap.Classes {
		list[i] = c.Object
	}
	return list
}

// classMissing says that a class is named but does not exist. As long as the
// classes have not all been read, nothing is missing.
func classMissing(snap *kube.Snapshot, name string) bool {
	return name != "" && snap.Known(kube.StorageClasses, "") && snap.Class(name) == nil
}

// classPolicy is what new volumes of a class get (storage/v1 defaults).
func classPolicy(sc *storagev1.StorageClass) corev1.PersistentVolumeReclaimPolicy {
	if sc.ReclaimPolicy == nil {
		return corev1.PersistentVolumeReclaimDelete
	}
	return *sc.ReclaimPolicy
}

func delays(sc *storagev1.StorageClass) bool {
	return sc.VolumeBindingMode != nil && *sc.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

func defaultClass(snap *kube.Snapshot) *kube.Class {
	for _, c := range snap.Classes {
		if c.Effective {
			return c
		}
	}
	return nil
}

// Class explains what a class means for new claims and volumes.
func Class(snap *kube.Snapshot, c *kube.Class, ask Ask) Explanation {
	t := &telling{snap: snap, ask: ask}
	t.Object = classRef(c.Object)
	byHand := c.Object.Provisioner == noProvisioner
	t.Verdict = ClassProvisions
	if byHand {
		t.Verdict = ClassMadeByHand
	}
	switch winner := defaultClass(snap); {
	case c.Effective:
		t.Verdict = ClassDefault
		t.say("The default class: a claim that names none gets it.")
	case c.Default && winner != nil:
		t.Verdict = ClassOverruled
		t.stress(Notice, "Marked as default too, but "+winner.Object.Name+" is newer and wins.")
		if winner.Object.CreationTimestamp.Equal(&c.Object.CreationTimestamp) {
			t.Summary[len(t.Summary)-1].Text = clean("Marked as default too, but of two as old, " + winner.Object.Name + " comes first by name and wins.")
		}
		t.advise("Take the mark off all default classes but one", nil)
	}
	if byHand {
		t.say("Nothing is provisioned for it: its volumes are made by hand.")
	} else {
		t.say("New volumes are made by " + clean(c.Object.Provisioner) + " with policy " + string(classPolicy(c.Object)) + ".")
	}
	if delays(c.Object) {
		t.say("Claims bind when a pod that uses them is scheduled.")
	}
	if classPolicy(c.Object) == corev1.PersistentVolumeReclaimDelete && !byHand {
		t.say("Changing a class does not change its volumes.")
	}
	t.classEvidence(c)
	t.events()
	return t.Explanation
}

func (t *telling) classEvidence(c *kube.Class) {
	if t.ask.Brief {
		return
	}
	waiting, deletes := 0, 0
	for _, claim := range t.snap.Claims {
		if claim.State.Stored == kube.Pending && claim.Class.Set && claim.Class.Name == c.Object.Name {
			waiting++
		}
	}
	for _, v := range t.snap.Volumes {
		if v.Class == c.Object.Name && v.Object.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			deletes++
		}
	}
	if waiting > 0 {
		t.fact("Claims", count(waiting, "claim")+" of this class not bound")
	}
	if deletes > 0 {
		level, text := Plain, count(deletes, "volume")+" of this class under policy Delete"
		if classPolicy(c.Object) == corev1.PersistentVolumeReclaimRetain {
			level, text = Warn, text+", although the class says Retain"
		}
		t.factOf(level, "Policy", text, actions.Ref{})
	}
	if text := t.provisionerUnseen(c.Object); text != "" && waiting > 0 {
		t.factOf(Notice, "Provisioner", text, actions.Ref{})
	}
}

// provisionerUnseen says that nothing shows that a provisioner is there: it
// made none of the volumes. That proves nothing in a cluster that is new.
func (t *telling) provisionerUnseen(sc *storagev1.StorageClass) string {
	if sc.Provisioner == noProvisioner || !t.snap.Known(kube.PersistentVolumes, "") {
		return ""
	}
	for _, v := range t.snap.Volumes {
		if madeBy(v.Object, sc.Provisioner) {
			return ""
		}
	}
	return "None of the volumes was made by " + clean(sc.Provisioner) + ": it may not be installed, or not running"
}

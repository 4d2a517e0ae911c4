package migration

import (
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
)

// The annotations on volumes while an operation is under way.
const (
	// AnnotationJournal on the lead volume holds the Journal as JSON.
	AnnotationJournal = "claimref.io/journal"
	// AnnotationPlan on every volume of the operation is its ID and the name
	// of the lead volume, as "ID lead".
	AnnotationPlan = "claimref.io/plan"
	// AnnotationHolder on the lead volume says who is at work, as JSON.
	AnnotationHolder = "claimref.io/holder"
	// AnnotationDirection on the lead volume is "back" while it is undone.
	AnnotationDirection = "claimref.io/direction"
	// AnnotationWithout on the lead volume names the workloads that the
	// operation goes on without, as a JSON list of "Kind namespace/name".
	AnnotationWithout = "claimref.io/without"
)

// MaxJournal is how large a Journal may be, in bytes. All annotations of an
// object together may have 256 KiB (apimachinery, validation/objectmeta.go,
// TotalAnnotationSizeLimitB); what is left is for everybody else's.
const MaxJournal = 200 << 10

// journalVersion is the only form of a Journal that this version reads.
const journalVersion = 1

// Journal is one operation, with the originals of all that it replaces.
type Journal struct {
	Version int       `json:"version"`
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	// By is who started it, as Holder.Who.
	By      string  `json:"by"`
	Request Request `json:"request"`
	// Volumes are those whose claims are replaced, at least one. The first is
	// the lead, which carries the Journal.
	Volumes []Volume `json:"volumes"`
	// Workloads are those that are stopped meanwhile.
	Workloads []Workload `json:"workloads,omitempty"`
}

// Volume is one volume of an operation.
type Volume struct {
	Ref actions.Ref `json:"ref"`
	// Policy, Modes and ClaimRef are the volume's own, as they were.
	Policy   corev1.PersistentVolumeReclaimPolicy `json:"policy"`
	Modes    []corev1.PersistentVolumeAccessMode  `json:"modes"`
	ClaimRef *corev1.ObjectReference              `json:"claimRef,omitempty"`
	// BoundByController: the volume carried that annotation.
	BoundByController bool `json:"boundByController,omitempty"`
	// From is the claim that there was, ready to be created again; nil if
	// there was none. FromUID tells it from another one of its name.
	From    *corev1.PersistentVolumeClaim `json:"from,omitempty"`
	FromUID types.UID                     `json:"fromUID,omitempty"`
	// To is the claim to come.
	To *corev1.PersistentVolumeClaim `json:"to"`
}

// Workload is a workload that must not run while claims are replaced.
type Workload struct {
	Ref actions.Ref `json:"ref"`
	// Replicas is how many pods it had, for a kind that is scaled.
	Replicas int32 `json:"replicas,omitempty"`
	// Unready is how many of its pods were not ready before: no more than the
	// others are waited for in the end.
	Unready int32 `json:"unready,omitempty"`
	// Suspended: a CronJob that was suspended already.
	Suspended bool `json:"suspended,omitempty"`
	// Strategy is a Deployment's original one where it is replaced by
	// Recreate.
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`
	// Retention is a StatefulSet's original policy for its claims, where it
	// is replaced by Retain.
	Retention *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"retention,omitempty"`
	// From and To are a StatefulSet that is re-created, ready to be created;
	// both nil where the set stays.
	From *appsv1.StatefulSet `json:"from,omitempty"`
	To   *appsv1.StatefulSet `json:"to,omitempty"`
}

// Holder is who works on an operation.
type Holder struct {
	// Who is a person's name for it, such as "ann on laptop-7".
	Who string `json:"who"`
	// Token tells one running program from another.
	Token string    `json:"token"`
	Since time.Time `json:"since"`
}

// noToken is nobody's.
const noToken = "unknown"

// Direction is which end an operation is walking towards.
type Direction string

// The directions.
const (
	Forward Direction = ""
	Back    Direction = "back"
)

// Lead is the name of the volume that carries the Journal.
func (j Journal) Lead() string { return j.Volumes[0].Ref.Name }

// Encode writes the Journal as it is kept on the lead volume.
func (j Journal) Encode() (string, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("write the journal of %s: %w", j.Lead(), err)
	}
	return string(text), nil
}

// Found is the Journal that a volume carries, or points to by name.
type Found struct {
	// Journal is nil when the volume only belongs to an operation whose lead
	// is another one.
	Journal   *Journal
	ID        string
	Lead      string
	Holder    Holder
	Direction Direction
	// Without are the workloads that the operation goes on without, as "Kind
	// namespace/name".
	Without []string
}

// Find reads what a volume's annotations say of an operation under way; nil
// when they say nothing. What they say is checked for what the steps rely on,
// since anybody who may write to the volume can have written it.
func Find(volume metav1.Object) (*Found, error) {
	annotations := volume.GetAnnotations()
	text, lead := annotations[AnnotationJournal]
	plan, member := annotations[AnnotationPlan]
	if !lead && !member {
		return nil, nil //nolint:nilnil // nothing is under way, which is no error
	}
	f := &Found{Direction: Direction(annotations[AnnotationDirection])}
	if _, err := fmt.Sscanf(plan, "%s %s", &f.ID, &f.Lead); member && err != nil {
		return nil, fmt.Errorf("read annotation %s of volume %s: %w", AnnotationPlan, volume.GetName(), err)
	}
	if !lead {
		return f, nil
	}
	j, err := Decode(text)
	if err != nil {
		return nil, fmt.Errorf("read annotation %s of volume %s: %w", AnnotationJournal, volume.GetName(), err)
	}
	if j.Lead() != volume.GetName() {
		return nil, fmt.Errorf("the journal on volume %s is that of volume %s", volume.GetName(), j.Lead())
	}
	f.Journal, f.ID, f.Lead = &j, j.ID, j.Lead()
	if text, some := annotations[AnnotationWithout]; some {
		if err := json.Unmarshal([]byte(text), &f.Without); err != nil {
			return nil, fmt.Errorf("read annotation %s of volume %s: %w", AnnotationWithout, volume.GetName(), err)
		}
	}
	if json.Unmarshal([]byte(annotations[AnnotationHolder]), &f.Holder) != nil || f.Holder.Token == "" {
		// Somebody may be at work all the same. It can be taken over, which
		// writes the annotation anew.
		f.Holder = Holder{Who: "somebody who can't be named (annotation " + AnnotationHolder + " does not say who)", Token: noToken}
	}
	return f, nil
}

// Decode reads a Journal and checks what the steps rely on.
func Decode(text string) (Journal, error) {
	var j Journal
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return Journal{}, fmt.Errorf("read the journal: %w", err)
	}
	if j.Version != journalVersion {
		return Journal{}, fmt.Errorf("the journal has version %d, and this program reads version %d", j.Version, journalVersion)
	}
	if err := j.check(); err != nil {
		return Journal{}, err
	}
	return j, nil
}

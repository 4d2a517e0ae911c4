package kube

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube/sandbox"
)

// The steps of an operation, on what is in a lab.

func (l *lab) claim(name string) *corev1.PersistentVolumeClaim { return l.state().Claim("exam", name) }

// volume is that of a claim.
func (l *lab) volume(claim string) *corev1.PersistentVolume {
	l.t.Helper()
	pvc := l.claim(claim)
	if pvc == nil || pvc.Spec.VolumeName == "" {
		l.t.Fatalf("claim %s is not bound", claim)
	}
	return l.state().Volume(pvc.Spec.VolumeName)
}

func refOf(kind actions.Kind, o sandbox.Object) actions.Ref {
	return actions.Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}
}

func raw(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (l *lab) retain() migration.Step {
	return migration.Step{
		ID: "retain", Act: migration.Patch, Target: refOf(actions.VolumeKind, l.volume("data")),
		Patch: json.RawMessage(`{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}`),
	}
}

func (l *lab) scaleTo(replicas string) migration.Step {
	return migration.Step{
		ID: "scale", Act: migration.Scale, Target: refOf(migration.DeploymentKind, l.state().Deployment("exam", "web")),
		Patch: json.RawMessage(`{"spec":{"replicas":` + replicas + `}}`),
	}
}

func (l *lab) deleteClaim(name string) migration.Step {
	return migration.Step{ID: "delete", Act: migration.Delete, Target: refOf(actions.ClaimKind, l.claim(name))}
}

// newClaimOf is the single-pod claim that takes the place of a claim.
func newClaimOf(pvc *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: pvc.Namespace, Name: pvc.Name, Labels: pvc.Labels},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, Resources: pvc.Spec.Resources,
			StorageClassName: pvc.Spec.StorageClassName, VolumeName: pvc.Spec.VolumeName,
		},
	}
}

func (l *lab) createClaim(name string) migration.Step {
	l.t.Helper()
	return migration.Step{
		ID: "create", Act: migration.Create, Target: actions.Ref{Kind: actions.ClaimKind, Namespace: "exam", Name: name},
		Object: raw(l.t, newClaimOf(l.claim(name))),
	}
}

func (l *lab) deleteSet(name string) migration.Step {
	return migration.Step{
		ID: "delete-set", Act: migration.Delete, Orphan: true,
		Target: refOf(migration.StatefulSetKind, l.state().StatefulSet("exam", name)),
	}
}

func newSetOf(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	made := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: set.Name, Labels: set.Labels},
		Spec:       *set.Spec.DeepCopy(),
	}
	made.Spec.VolumeClaimTemplates[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	return made
}

func (l *lab) createSet(name string) migration.Step {
	l.t.Helper()
	return migration.Step{
		ID: "create-set", Act: migration.Create, Target: actions.Ref{Kind: migration.StatefulSetKind, Namespace: "exam", Name: name},
		Object: raw(l.t, newSetOf(l.state().StatefulSet("exam", name))),
	}
}

// remove takes an object out as if it had never been.
func (l *lab) remove(o sandbox.Object) {
	l.server.Apply(func(s *sandbox.State) *sandbox.State { return s.Remove(sandbox.KeyOf(o)) })
}

// each is every act that steps are made of, ready to be carried out.
func (l *lab) each() map[string]migration.Step {
	set, web := l.state().StatefulSet("exam", "db"), l.state().Deployment("exam", "web")
	pod := l.aPod("web")
	fresh := l.createClaim("data")
	fresh.Target.Name = "fresh"
	fresh.Object = json.RawMessage(strings.Replace(string(fresh.Object), `"name":"data"`, `"name":"fresh"`, 1))
	again := l.createSet("db")
	again.Target.Name = "db2"
	again.Object = json.RawMessage(strings.Replace(string(again.Object), `"name":"db"`, `"name":"db2"`, 1))
	return map[string]migration.Step{
		"patch a volume": l.retain(),
		"patch a set": {
			ID: "retention", Act: migration.Patch, Target: refOf(migration.StatefulSetKind, set),
			Patch: json.RawMessage(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}}`),
		},
		"patch a deployment": {
			ID: "strategy", Act: migration.Patch, Target: refOf(migration.DeploymentKind, web),
			Patch: json.RawMessage(`{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}`),
		},
		"patch a cron job": {
			ID: "suspend", Act: migration.Patch, Target: refOf(migration.CronJobKind, l.state().CronJob("exam", "backup")),
			Patch: json.RawMessage(`{"spec":{"suspend":true}}`),
		},
		"scale a deployment": l.scaleTo("0"),
		"scale a set": {
			ID: "scale-set", Act: migration.Scale, Target: refOf(migration.StatefulSetKind, set), Patch: json.RawMessage(`{"spec":{"replicas":0}}`),
		},
		"create a claim": fresh,
		"create a set":   again,
		"delete a claim": l.deleteClaim("data"),
		"delete a pod":   {ID: "delete-pod", Act: migration.Delete, Target: refOf(migration.PodKind, pod)},
		"delete a set":   l.deleteSet("db"),
	}
}

func (l *lab) aPod(app string) *corev1.Pod {
	l.t.Helper()
	for pod := range l.state().Pods("exam") {
		if pod.Labels["app"] == app {
			return pod
		}
	}
	l.t.Fatalf("no pod of %s", app)
	return nil
}

// target is what a step is about as it is now, nil for nothing.
func (l *lab) target(ref actions.Ref) sandbox.Object {
	r, err := apiKindOf(ref.Kind)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.state().Get(sandbox.Key{Resource: sandbox.Resource(r.plural), Namespace: ref.Namespace, Name: ref.Name})
}

// fullLab has something for every step.
func fullLab(t *testing.T, options ...func(*labOptions)) *lab {
	t.Helper()
	return newLab(t, append([]func(*labOptions){with(labDeployment, labSet, labCron)}, options...)...)
}

const otherUID types.UID = "11111111-2222-3333-4444-555555555555"

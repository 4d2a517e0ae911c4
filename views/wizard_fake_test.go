package views

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// The tests here play an operation whose steps take effect when they are told
// to. Whether the steps are right is for package migration, and whether they
// are carried out safely for package kube.

const webVolume = "pvc-3f0c7a52-4c1d-4b7e-9d35-6a2f1e08c9d4"

func sameSelector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

// webScene is a claim that one Deployment uses.
func webScene() migration.Scene {
	one := int32(1)
	filesystem := corev1.PersistentVolumeFilesystem
	volume := pv(webVolume, corev1.VolumeBound, claimedBy("shop", "web-data", "pvc-shop-web-data"), withPolicy(corev1.PersistentVolumeReclaimDelete))
	volume.Spec.VolumeMode = &filesystem
	claim := pvc("shop", "web-data", corev1.ClaimBound, webVolume)
	claim.Spec.VolumeMode = &filesystem
	pod := podOf("shop", "web-6d9f", "web-data", "ReplicaSet", "web-5c")
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "Deployment-web", ResourceVersion: "1"}}
	d.Spec.Replicas, d.Spec.Selector = &one, sameSelector()
	d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	d.Spec.Template.Spec.Volumes = pod.Spec.Volumes
	d.Status.ReadyReplicas = 1
	yes := true
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-5c", UID: "ReplicaSet-web-5c", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: d.UID, Controller: &yes,
	}}}}
	rs.Spec.Replicas, rs.Spec.Selector = &one, sameSelector()
	rs.Spec.Template.Spec.Volumes = pod.Spec.Volumes
	pod.OwnerReferences[0].APIVersion = "apps/v1"
	return migration.Scene{
		Volumes:       map[string]*corev1.PersistentVolume{webVolume: volume},
		Claims:        map[actions.ClaimKey]*corev1.PersistentVolumeClaim{{Namespace: "shop", Name: "web-data"}: claim},
		Pods:          []*corev1.Pod{pod},
		Deployments:   []*appsv1.Deployment{d},
		ReplicaSets:   []*appsv1.ReplicaSet{rs},
		Classes:       []*storagev1.StorageClass{sc("gp3", "ebs.csi.aws.com", true, before(10*day))},
		Drivers:       map[string]*storagev1.CSIDriver{"ebs.csi.aws.com": {}},
		Namespaces:    map[string]*corev1.Namespace{"shop": {ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
		Version:       "v1.37.2",
		RelatedClaims: []*corev1.PersistentVolumeClaim{claim},
	}
}

func webRequest() migration.Request {
	return migration.Request{Verb: migration.SinglePod, Volume: actions.Ref{Kind: actions.VolumeKind, Name: webVolume, UID: "pv-" + webVolume}}
}

// webJournal is the operation on it.
func webJournal(t *testing.T) migration.Journal {
	t.Helper()
	j, checks := migration.Draft(webRequest(), webScene())
	for _, c := range checks {
		if c.Severity == actions.Block {
			t.Fatalf("the fixture can't be migrated: %s", c.Text)
		}
	}
	j.ID, j.Started, j.By = "op-1", noon().Add(-2*60e9), "ann on laptop-7"
	return j
}

// webShop is the shop with that claim in it; edit changes its volume.
func webShop(edit ...func(*corev1.PersistentVolume)) kube.Objects {
	objects, scene := shop(), webScene()
	for _, e := range edit {
		e(scene.Volumes[webVolume])
	}
	objects.Volumes = append(objects.Volumes, scene.Volumes[webVolume])
	objects.Claims = append(objects.Claims, scene.RelatedClaims...)
	objects.Pods = append(objects.Pods, scene.Pods...)
	objects.Deployments = append(objects.Deployments, scene.Deployments...)
	objects.ReplicaSets = append(objects.ReplicaSets, scene.ReplicaSets...)
	return objects
}

// noted is a volume that carries an operation's note, held by somebody.
func noted(t *testing.T, j migration.Journal, who, token string) func(*corev1.PersistentVolume) {
	t.Helper()
	text, err := j.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return func(v *corev1.PersistentVolume) {
		v.Annotations = map[string]string{
			migration.AnnotationPlan: j.ID + " " + j.Lead(), migration.AnnotationJournal: text,
			migration.AnnotationHolder: `{"who":"` + who + `","token":"` + token + `","since":"2026-03-01T11:58:00Z"}`,
		}
	}
}

// fakeOperation takes one step after the other.
type fakeOperation struct {
	// resumed counts how often what was seen was forgotten.
	resumed int
	journal migration.Journal
	run     migration.Run
	items   []migration.Item
	// done is how many of the steps have taken effect.
	done      int
	direction migration.Direction
	holder    migration.Holder
	// moves replace the move when a step's turn has come.
	moves map[string]migration.Move
	// waits counts the looks before an Await is over.
	waits map[string]int
	// previews changes what a step's dry run shows, rehearsals what all showed
	// before; do answers a request.
	previews   func(*kube.StepPreview) error
	rehearsals func(*kube.StepPreview) error
	answer     func(kube.StepPreview) (kube.Performed, error)
	// scene changes what is looked at; rehearsed counts the rehearsals.
	scene     func(*migration.Scene)
	rehearsed int
	looks     int
	lookErr   error
	sent      []migration.Step
	// leavable are the workloads that are gone.
	leavable []actions.Ref
}

func newFakeOperation(t *testing.T) *fakeOperation {
	t.Helper()
	j := webJournal(t)
	return &fakeOperation{
		journal: j, run: migration.Run{Holder: migration.Holder{Who: "bob on desk-1", Token: "mine", Since: noon()}},
		items: migration.Outline(j, migration.Run{}, webScene()),
		moves: map[string]migration.Move{}, waits: map[string]int{},
	}
}

func (f *fakeOperation) Look(context.Context, *kube.Snapshot) (kube.Standing, error) {
	f.looks++
	if f.lookErr != nil {
		return kube.Standing{}, f.lookErr
	}
	for f.done < len(f.items) && f.items[f.done].Act == migration.Await && f.moves[f.items[f.done].ID].Kind == 0 {
		if f.waits[f.items[f.done].ID] > 0 {
			f.waits[f.items[f.done].ID]--
			break
		}
		f.done++
	}
	st := kube.Standing{Scene: webScene(), Direction: f.direction, Holder: f.holder, Outline: slices.Clone(f.items), Leavable: f.leavable}
	if f.scene != nil {
		f.scene(&st.Scene)
	}
	for i := range st.Outline {
		switch {
		case i < f.done:
			st.Outline[i].State = migration.Done
		case i == f.done:
			st.Outline[i].State = migration.Now
		default:
			st.Outline[i].State = migration.Later
		}
	}
	if f.done == len(f.items) {
		st.Move = migration.Move{Kind: migration.Finished}
		return st, nil
	}
	step := f.items[f.done].Step
	switch move, ok := f.moves[step.ID]; {
	case f.holder.Token != "" && f.holder.Token != f.run.Holder.Token:
		st.Move = migration.Move{Kind: migration.Halt, Reason: f.holder.Who + " has been at work on this since 2026-03-01 11:58:00 UTC", Remedy: "Ask them, or take it over"}
	case ok:
		st.Move = move
		st.Move.Step = step
	case step.Act == migration.Await:
		st.Move = migration.Move{Kind: migration.WaitNow, Step: step, Holds: []string{"pod shop/web-6d9f (Terminating) by ReplicaSet web-5c", "volume " + webVolume + " is attached to node n1"}}
	default:
		st.Move = migration.Move{Kind: migration.ActNow, Step: step}
	}
	return st, nil
}

// preview is what a server would say.
func preview(step migration.Step) kube.StepPreview {
	p := kube.StepPreview{Step: step, Taken: noon(), DryRun: kube.DryRunResult{Supported: true}}
	switch step.Act {
	case migration.Await:
	case migration.Create:
		p.Diff = "--- now\n+++ then\n@@ -0,0 +1,5 @@\n+apiVersion: v1\n+kind: " + string(step.Target.Kind) + "\n+spec:\n+  accessModes:\n+  - ReadWriteOncePod\n"
	case migration.Delete:
		p.Diff = "--- now\n+++ then\n@@ -1,4 +0,0 @@\n-apiVersion: v1\n-kind: " + string(step.Target.Kind) + "\n-spec:\n-  volumeName: " + webVolume + "\n"
	default:
		p.Diff = "--- now\n+++ then\n@@ -1,4 +1,4 @@\n spec:\n   capacity:\n     storage: 10Gi\n-  was: " + step.ID + "\n+  is: changed\n"
	}
	return p
}

func (f *fakeOperation) Rehearse(_ context.Context, at kube.Standing) ([]kube.StepPreview, error) {
	f.rehearsed++
	var out []kube.StepPreview
	var errs []error
	for _, item := range at.Outline {
		if item.State == migration.Done {
			continue
		}
		p := preview(item.Step)
		if item.Act == migration.Create {
			p.Temporary = "claimref-trial-1"
		}
		if f.rehearsals != nil {
			if err := f.rehearsals(&p); err != nil {
				errs = append(errs, err)
				p = kube.StepPreview{Step: item.Step}
			}
		}
		out = append(out, p)
	}
	return out, errors.Join(errs...)
}

func (f *fakeOperation) Preview(_ context.Context, step migration.Step) (kube.StepPreview, error) {
	p := preview(step)
	if f.previews != nil {
		if err := f.previews(&p); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (f *fakeOperation) Do(_ context.Context, _ *kube.Snapshot, p kube.StepPreview) (kube.Performed, error) {
	f.sent = append(f.sent, p.Step)
	if f.answer != nil {
		if done, err := f.answer(p); err != nil {
			return done, err
		} else if done.Unexpected != "" {
			f.done++
			return done, nil
		}
	}
	if rest, ok := strings.CutPrefix(p.Step.ID, leaveID+"/"); ok {
		f.leavable = nil
		f.items = slices.DeleteFunc(slices.Clone(f.items), func(item migration.Item) bool { return strings.HasSuffix(item.ID, "/"+rest) })
		clear(f.moves)
		return kube.Performed{Step: p.Step}, nil
	}
	switch p.Step.ID {
	case "take-over":
		f.holder = f.run.Holder
	case "turn":
		f.direction, f.run.Direction = migration.Back, migration.Back
		f.items = outlineTo(f.journal, webScene(), migration.Back)
		f.done = 0
	default:
		f.holder = f.run.Holder
		f.done++
	}
	return kube.Performed{Step: p.Step}, nil
}

func (f *fakeOperation) TakeOver(at kube.Standing) migration.Step {
	return migration.TakeOver(f.journal, f.run, at.Scene)
}

func (f *fakeOperation) Turn(at kube.Standing, to migration.Direction) migration.Step {
	return migration.TurnTo(f.journal, f.run, at.Scene, to)
}

func (f *fakeOperation) Leave(_ kube.Standing, ref actions.Ref) (migration.Step, bool) {
	if !slices.Contains(f.leavable, ref) {
		return migration.Step{}, false
	}
	return migration.Step{
		ID: leaveID + "/" + ref.Namespace + "/" + ref.Name, Title: "Go on without " + string(ref.Kind) + " " + ref.Namespace + "/" + ref.Name,
		Why: "It is gone", Act: migration.Patch, Target: f.journal.Volumes[0].Ref, Then: "It stays away",
	}, true
}

func (f *fakeOperation) Part() migration.Run { return f.run }
func (f *fakeOperation) Resume()             { f.resumed++ }
func (f *fakeOperation) Folder() string      { return "/backups/20260301T115800Z-single-pod" }

// ids are those of the steps that were sent.
func (f *fakeOperation) ids() []string {
	out := make([]string, len(f.sent))
	for i, s := range f.sent {
		out[i] = s.ID
	}
	return out
}

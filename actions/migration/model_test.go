package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

// model is a cluster in memory in which an operation is carried out step by
// step, with everything that can go wrong at a place of the test's choice.
type model struct {
	t      *testing.T
	server *sandbox.Server
	api    kubernetes.Interface
	cs     []sandbox.Controller
}

// built is what the manifests lead to.
func built(t *testing.T, manifests ...string) *sandbox.State {
	t.Helper()
	cs := sandbox.Controllers()
	s := sandbox.NewState(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	for _, manifest := range append([]string{groundManifest}, manifests...) {
		var err error
		if s, err = sandbox.LoadManifest(s, cs, []byte(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sandbox.Settle(s, cs, 5000)
	if err != nil {
		t.Fatal(err)
	}
	return s.Forget()
}

func newModel(t *testing.T, s *sandbox.State) *model {
	t.Helper()
	m := &model{t: t, cs: sandbox.Controllers(), server: sandbox.NewServer(s, sandbox.ServerOptions{})}
	api, err := kubernetes.NewForConfig(m.server.RESTConfig(sandbox.Admin))
	if err != nil {
		t.Fatal(err)
	}
	m.api = api
	return m
}

// settle lets the controllers do all that they would.
func (m *model) settle() {
	m.t.Helper()
	m.server.Apply(func(s *sandbox.State) *sandbox.State {
		settled, err := sandbox.Settle(s, m.cs, 5000)
		if err != nil {
			m.t.Error(err)
			return s
		}
		return settled
	})
}

func (m *model) state() *sandbox.State { return m.server.State() }

// scene is what a Survey would find.
func (m *model) scene(w Wanted) Scene {
	s := m.state()
	scene := Scene{
		Volumes: map[string]*corev1.PersistentVolume{}, Claims: map[actions.ClaimKey]*corev1.PersistentVolumeClaim{},
		Version: "v1.37.2",
	}
	for _, name := range w.Volumes {
		scene.Volumes[name] = s.Volume(name)
	}
	for _, key := range w.Claims {
		scene.Claims[key] = s.Claim(key.Namespace, key.Name)
	}
	for _, ns := range w.Namespaces {
		scene.Pods = slices.AppendSeq(scene.Pods, s.Pods(ns))
		scene.StatefulSets = slices.AppendSeq(scene.StatefulSets, s.StatefulSets(ns))
		scene.Deployments = slices.AppendSeq(scene.Deployments, s.Deployments(ns))
		scene.ReplicaSets = slices.AppendSeq(scene.ReplicaSets, s.ReplicaSets(ns))
		scene.CronJobs = slices.AppendSeq(scene.CronJobs, s.CronJobs(ns))
		scene.Jobs = slices.AppendSeq(scene.Jobs, s.Jobs(ns))
	}
	scene.Attachments = slices.Collect(s.Attachments())
	return scene
}

// withOthers adds to a scene what a look for other operations would find.
func (m *model) withOthers(j Journal, scene Scene) Scene {
	s := m.state()
	for pv := range s.Volumes() {
		if _, own := scene.Volumes[pv.Name]; !own {
			scene.RelatedVolumes = append(scene.RelatedVolumes, pv)
		}
	}
	scene.OthersFresh = true
	for _, key := range OthersWanted(j, scene).Claims {
		scene.Claims[key] = s.Claim(key.Namespace, key.Name)
	}
	return scene
}

// perform sends a step's request as package kube does, with its preconditions.
func (m *model) perform(step Step) error { return m.performAt(step, m.version(step)) }

// version is that of a step's target.
func (m *model) version(step Step) string {
	if meta := m.meta(step.Target); meta != nil {
		return meta.GetResourceVersion()
	}
	return ""
}

func (m *model) performAt(step Step, version string) error {
	ctx := m.t.Context()
	meta := m.meta(step.Target)
	switch step.Act {
	case Patch, Scale:
		if meta == nil {
			return fmt.Errorf("%s: no target", step.ID)
		}
		var body map[string]any
		if err := json.Unmarshal(step.Patch, &body); err != nil {
			return err
		}
		inner, _ := body["metadata"].(map[string]any)
		if inner == nil {
			inner = map[string]any{}
		}
		inner["uid"], inner["resourceVersion"] = string(step.Target.UID), version
		body["metadata"] = inner
		data, err := json.Marshal(body)
		if err != nil {
			return err
		}
		return m.patch(ctx, step, data)
	case Create:
		return m.create(ctx, step)
	case Delete:
		o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &step.Target.UID, ResourceVersion: &version}}
		if step.Orphan {
			o.PropagationPolicy = new(metav1.DeletePropagationOrphan)
		}
		return m.remove(ctx, step.Target, o)
	default:
		return fmt.Errorf("%s: nothing to send", step.ID)
	}
}

func (m *model) meta(ref actions.Ref) metav1.Object {
	resources := map[actions.Kind]sandbox.Resource{
		actions.VolumeKind: sandbox.Volumes, actions.ClaimKind: sandbox.Claims, PodKind: sandbox.Pods,
		StatefulSetKind: sandbox.StatefulSets, DeploymentKind: sandbox.Deployments, ReplicaSetKind: sandbox.ReplicaSets, CronJobKind: sandbox.CronJobs,
	}
	o := m.state().Get(sandbox.Key{Resource: resources[ref.Kind], Namespace: ref.Namespace, Name: ref.Name})
	if o == nil {
		return nil
	}
	return o
}

func (m *model) patch(ctx context.Context, step Step, data []byte) (err error) {
	var sub []string
	if step.Act == Scale {
		sub = []string{"scale"}
	}
	ns, name, o := step.Target.Namespace, step.Target.Name, metav1.PatchOptions{FieldManager: "claimref"}
	switch step.Target.Kind {
	case actions.VolumeKind:
		_, err = m.api.CoreV1().PersistentVolumes().Patch(ctx, name, types.MergePatchType, data, o, sub...)
	case StatefulSetKind:
		_, err = m.api.AppsV1().StatefulSets(ns).Patch(ctx, name, types.MergePatchType, data, o, sub...)
	case DeploymentKind:
		_, err = m.api.AppsV1().Deployments(ns).Patch(ctx, name, types.MergePatchType, data, o, sub...)
	case ReplicaSetKind:
		_, err = m.api.AppsV1().ReplicaSets(ns).Patch(ctx, name, types.MergePatchType, data, o, sub...)
	case CronJobKind:
		_, err = m.api.BatchV1().CronJobs(ns).Patch(ctx, name, types.MergePatchType, data, o, sub...)
	default:
		err = fmt.Errorf("patch of %s", step.Target.Kind)
	}
	return err
}

func (m *model) create(ctx context.Context, step Step) error {
	if step.Target.Kind == StatefulSetKind {
		var set appsv1.StatefulSet
		if err := json.Unmarshal(step.Object, &set); err != nil {
			return err
		}
		_, err := m.api.AppsV1().StatefulSets(set.Namespace).Create(ctx, &set, metav1.CreateOptions{FieldManager: "claimref"})
		return err
	}
	var pvc corev1.PersistentVolumeClaim
	if err := json.Unmarshal(step.Object, &pvc); err != nil {
		return err
	}
	_, err := m.api.CoreV1().PersistentVolumeClaims(pvc.Namespace).Create(ctx, &pvc, metav1.CreateOptions{FieldManager: "claimref"})
	return err
}

func (m *model) remove(ctx context.Context, ref actions.Ref, o metav1.DeleteOptions) error {
	switch ref.Kind {
	case actions.ClaimKind:
		return m.api.CoreV1().PersistentVolumeClaims(ref.Namespace).Delete(ctx, ref.Name, o)
	case PodKind:
		return m.api.CoreV1().Pods(ref.Namespace).Delete(ctx, ref.Name, o)
	case StatefulSetKind:
		return m.api.AppsV1().StatefulSets(ref.Namespace).Delete(ctx, ref.Name, o)
	default:
		return fmt.Errorf("delete of %s", ref.Kind)
	}
}

// walker is one program that carries an operation out.
type walker struct {
	*model
	j   Journal
	run Run
	// wrote are the IDs of the steps written.
	wrote []string
	// before is asked ahead of each write, and may make the world another one
	// or end the walk.
	before func(step Step) (stop bool)
	// after comes right after each write, before any controller has acted.
	after func(step Step) (stop bool)
}

func (m *model) walk(j Journal, token string) *walker {
	return &walker{model: m, j: j, run: Run{Holder: Holder{Who: token, Token: token}, Seen: map[string]bool{}}}
}

// look takes in what has been done, as package kube does before each step.
func (w *walker) look() (Scene, Move) {
	scene := w.scene(w.j.Wanted())
	if WantsOthers(w.j, w.run, scene) {
		scene = w.withOthers(w.j, scene)
	}
	move := Next(w.j, w.run, scene)
	w.run.Remember(w.j, scene)
	return scene, move
}

// toTheEnd walks to the end, or to where it cannot go on.
func (w *walker) toTheEnd() Move {
	w.t.Helper()
	for range 200 {
		w.settle()
		_, move := w.look()
		if move.Kind != ActNow {
			return move
		}
		if w.before != nil && w.before(move.Step) {
			return move
		}
		// The world may be another one by now: the last look before a write.
		_, again := w.look()
		if again.Kind != ActNow || again.Step.ID != move.Step.ID {
			continue
		}
		if err := w.perform(again.Step); err != nil {
			w.t.Fatalf("%s: %v", again.Step.ID, err)
		}
		w.run.Did(again.Step)
		w.wrote = append(w.wrote, again.Step.ID)
		if w.after != nil && w.after(again.Step) {
			return again
		}
	}
	w.t.Fatalf("no end after %s", strings.Join(w.wrote, ", "))
	return Move{}
}

// String keeps the patches out of failures.
func (m Move) String() string {
	return fmt.Sprintf("move %d at %s: %s; %s; %v", m.Kind, m.Step.ID, m.Reason, m.Remedy, m.Holds)
}

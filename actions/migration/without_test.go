package migration

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestGoesOnWithoutAWorkload: somebody has deleted the workload on purpose. The
// operation can be brought to either end without it, from any machine, and does
// not make it again.
func TestGoesOnWithoutAWorkload(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"deployment", "set-deletes", "set-keeps-templates", "cronjob"} {
		ats := []string{"delete/", "create/", "start/", "policy/"}
		if kind == "set-deletes" {
			ats[2] = "recreate/"
		}
		for _, at := range ats {
			for _, d := range []Direction{Forward, Back} {
				t.Run(kind+" "+at+string(d), func(t *testing.T) {
					t.Parallel()
					m, w := halting(t, kind, at)
					for _, l := range w.j.Workloads {
						m.deleteWorkload(l)
					}
					m.settle()
					for _, l := range w.j.Workloads {
						scene := m.scene(w.j.Wanted())
						step, ok := Leave(w.j, w.run, scene, l.Ref)
						if !ok {
							t.Fatalf("%s is gone, and can't be left: %v", describe(l.Ref), Leavable(w.j, w.run, scene))
						}
						if err := m.perform(step); err != nil {
							t.Fatal(err)
						}
					}
					heir := m.takeOver(w.j, "b", d)
					if move := heir.toTheEnd(); move.Kind != Finished {
						t.Fatalf("%v\nafter %v", move, heir.wrote)
					}
					if slices.ContainsFunc(heir.wrote, func(id string) bool { return strings.HasPrefix(id, "recreate/") || strings.HasPrefix(id, "start/") }) {
						t.Errorf("made again: %v", heir.wrote)
					}
					mode := map[Direction]corev1.PersistentVolumeAccessMode{Forward: corev1.ReadWriteOncePod, Back: corev1.ReadWriteOnce}[d]
					for _, v := range w.j.Volumes {
						pv, c := m.state().Volume(v.Ref.Name), m.state().Claim("exam", v.From.Name)
						if c == nil || pv.Spec.ClaimRef.UID != c.UID || !only(c.Spec.AccessModes, mode) || pv.Spec.PersistentVolumeReclaimPolicy != v.Policy {
							t.Errorf("%+v\n%+v", pv, c)
						}
						for key := range pv.Annotations {
							if strings.HasPrefix(key, "claimref.io/") {
								t.Errorf("annotation %s is left", key)
							}
						}
					}
				})
			}
		}
	}
}

func (m *model) deleteWorkload(w Workload) {
	m.t.Helper()
	o := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
	var err error
	switch w.Ref.Kind {
	case StatefulSetKind:
		if m.state().StatefulSet("exam", w.Ref.Name) != nil {
			err = m.api.AppsV1().StatefulSets("exam").Delete(m.t.Context(), w.Ref.Name, o)
		}
	case DeploymentKind:
		err = m.api.AppsV1().Deployments("exam").Delete(m.t.Context(), w.Ref.Name, o)
	case CronJobKind:
		err = m.api.BatchV1().CronJobs("exam").Delete(m.t.Context(), w.Ref.Name, o)
	default:
		m.t.Fatalf("%s", w.Ref.Kind)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// TestLeavesOnlyWhatIsGone: a workload that is there, or can't be looked at, is
// not left.
func TestLeavesOnlyWhatIsGone(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "deployment", "delete/")
	scene := m.scene(w.j.Wanted())
	if _, ok := Leave(w.j, w.run, scene, w.j.Workloads[0].Ref); ok {
		t.Error("it is there")
	}
	scene.Deployments, scene.Unread = nil, map[string]string{"deployments": "forbidden"}
	if _, ok := Leave(w.j, w.run, scene, w.j.Workloads[0].Ref); ok {
		t.Error("it can't be seen")
	}
	scene.Unread = nil
	if _, ok := Leave(w.j, w.run, scene, w.j.Workloads[0].Ref); !ok {
		t.Error("it is gone")
	}
	other := w.j.Workloads[0].Ref
	other.Name = "other"
	if _, ok := Leave(w.j, w.run, scene, other); ok {
		t.Error("a workload that the operation has nothing to do with")
	}
	m.patchVolume(w.j.Lead(), `{"metadata":{"annotations":{"claimref.io/without":"{"}}}`, "somebody")
	if move := Next(w.j, w.run, m.scene(w.j.Wanted())); move.Kind != Halt || !strings.Contains(move.Reason, "claimref.io/without") {
		t.Errorf("spoilt: %v", move)
	}
}

// TestForeignSet: a StatefulSet that nobody here has seen is made from a journal
// that was found on the volume only when its name is typed.
func TestForeignSet(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "set", "recreate/")
	m.settle()
	heirs := func(foreign bool, known map[string]bool) Step {
		t.Helper()
		heir := m.takeOver(w.j, "b", Forward)
		heir.run.Foreign, heir.run.Known = foreign, known
		scene := m.scene(w.j.Wanted())
		lead := scene.Volumes[w.j.Lead()].DeepCopy()
		lead.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: "mallory", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:claimref.io/journal":{}}}}`),
		}}
		scene.Volumes[lead.Name] = lead
		move := Next(heir.j, heir.run, scene)
		if move.Kind != ActNow || !strings.HasPrefix(move.Step.ID, "recreate/") {
			t.Fatalf("%v", move)
		}
		return move.Step
	}
	step := heirs(true, nil)
	if step.Confirm != "db" || !strings.Contains(step.Why, "journal on volume "+w.j.Lead()) || !strings.Contains(step.Why, "written by mallory, as its managedFields say") {
		t.Errorf("%q: %s", step.Confirm, step.Why)
	}
	if step := heirs(false, nil); step.Confirm != "" {
		t.Error("it was begun here")
	}
	if step := heirs(true, map[string]bool{"exam/db": true}); step.Confirm != "" {
		t.Error("the set was seen here")
	}
}

// TestForeignSetSeen: whoever resumes while the set is there compares it with
// the journal.
func TestForeignSetSeen(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"stop/", "remove/"} {
		m, w := halting(t, "set", at)
		heir := m.takeOver(w.j, "b", Forward)
		heir.run.Foreign = true
		var made Step
		heir.before = func(step Step) bool {
			if strings.HasPrefix(step.ID, "recreate/") {
				made = step
			}
			return false
		}
		if move := heir.toTheEnd(); move.Kind != Finished || made.ID == "" || made.Confirm != "" {
			t.Errorf("%s: %v, made %q with %q", at, move, made.ID, made.Confirm)
		}
	}
}

// TestPlannedWithoutPods: a workload that had no pods and has some by now would
// stay stopped in the end.
func TestPlannedWithoutPods(t *testing.T) {
	t.Parallel()
	m, w := halting(t, "set", "stop/")
	w.j.Workloads[0].Replicas = 0
	text, err := w.j.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m.patchVolume(w.j.Lead(), `{"metadata":{"annotations":{"claimref.io/journal":`+as(text)+`}}}`, "claimref")
	_, move := w.look()
	if move.Kind != Halt || !strings.Contains(move.Reason, "would not be started again") || !strings.Contains(move.Remedy, "begin anew") {
		t.Errorf("%v", move)
	}
	m, w = halting(t, "set", "stop/")
	m.patchSet(`{"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`, "helm")
	_, move = w.look()
	if move.Kind != Halt || !strings.HasPrefix(move.Step.ID, "stop/") || !strings.Contains(move.Reason, "(spec.template)") {
		t.Errorf("%v", move)
	}
	heir := m.takeOver(w.j, "b", Back)
	if move := heir.toTheEnd(); move.Kind != Finished || slices.ContainsFunc(heir.wrote, func(id string) bool { return strings.Contains(id, "db") }) {
		t.Errorf("undo: %v\nafter %v", move, heir.wrote)
	}
}

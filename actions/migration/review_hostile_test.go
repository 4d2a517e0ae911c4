package migration

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
)

// strangerManifest is a claim that an operation on claim data has nothing to do
// with.
const strangerManifest = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: precious, namespace: other}
spec: {storageClassName: folders, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// TestForgedJournal has somebody who may write to volumes, but not delete
// claims, write a journal by which another's resume would delete a claim of
// another volume, whose policy is Delete.
func TestForgedJournal(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(v *Volume, victim *corev1.PersistentVolumeClaim){
		"as the former claim": func(v *Volume, victim *corev1.PersistentVolumeClaim) {
			v.From.Namespace, v.From.Name, v.FromUID = victim.Namespace, victim.Name, victim.UID
		},
		"and the volume says so": func(v *Volume, victim *corev1.PersistentVolumeClaim) {
			v.FromUID = victim.UID
			v.From.Namespace, v.From.Name = victim.Namespace, victim.Name
			v.To.Namespace, v.To.Name = victim.Namespace, victim.Name
		},
		"by its uid alone": func(v *Volume, victim *corev1.PersistentVolumeClaim) {
			v.FromUID = victim.UID
			v.From.Namespace, v.From.Name = victim.Namespace, victim.Name
			v.To.Namespace, v.To.Name = victim.Namespace, victim.Name
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, built(t, replaced(claimManifest, "CLASS", "folders"), strangerManifest))
			pvc, victim := m.state().Claim("exam", "data"), m.state().Claim("other", "precious")
			j := handJournal(m, Request{Verb: SinglePod}, pvc)
			forge(&j.Volumes[0], victim)
			if strings.Contains(name, "volume says so") {
				m.patchVolume(j.Lead(), `{"spec":{"claimRef":{"namespace":"other","name":"precious","uid":"`+string(victim.UID)+`"}}}`, "mallory")
			}
			w := m.walk(j, "a")
			move := w.toTheEnd()
			m.settle()
			if left := m.state().Claim("other", "precious"); left == nil || left.DeletionTimestamp != nil {
				t.Errorf("the claim of another volume was deleted: %v\nafter %v", move, w.wrote)
			}
			if pv := m.state().Volume(victim.Spec.VolumeName); pv == nil {
				t.Error("its data are gone")
			}
			if move.Kind != Halt || move.Reason == "" || move.Remedy == "" {
				t.Errorf("%v, and not a halt", move)
			}
		})
	}
}

// TestDecodeRefuses has journals that no draft would have made, by which a step
// would make or change what has nothing to do with the volumes.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(*Journal){
		"a set to make without the one there was": func(j *Journal) { j.Workloads[0].From = nil },
		"a set to go without the one to come":     func(j *Journal) { j.Workloads[0].To = nil },
		"another image in the set to come": func(j *Journal) {
			j.Workloads[0].To.Spec.Template.Spec.Containers[0].Image = "evil.test/miner"
		},
		"a privileged set to come": func(j *Journal) {
			j.Workloads[0].To.Spec.Template.Spec.HostNetwork = true
		},
		"a set of another name":       func(j *Journal) { j.Workloads[0].To.Name = "other" },
		"a set of another namespace":  func(j *Journal) { j.Workloads[0].From.Namespace = "kube-system" },
		"sets of a Deployment":        func(j *Journal) { j.Workloads[0].Ref.Kind = DeploymentKind },
		"a workload of another kind":  func(j *Journal) { j.Workloads[0].Ref.Kind = "Node" },
		"a workload without a name":   func(j *Journal) { j.Workloads[0].Ref.Name = "" },
		"a workload twice":            func(j *Journal) { j.Workloads = append(j.Workloads, j.Workloads[0]) },
		"fewer than no replicas":      func(j *Journal) { j.Workloads[0].Replicas = -1 },
		"a volume twice":              func(j *Journal) { j.Volumes = append(j.Volumes, j.Volumes[0]) },
		"a claim twice":               func(j *Journal) { j.Volumes[1].To.Name = j.Volumes[0].To.Name },
		"a volume that is a set":      func(j *Journal) { j.Volumes[1].Ref.Kind = StatefulSetKind },
		"a policy that erases":        func(j *Journal) { j.Volumes[0].Policy = corev1.PersistentVolumeReclaimRecycle },
		"a verb that is none":         func(j *Journal) { j.Request.Verb = "wipe" },
		"single-pod, to another name": func(j *Journal) { j.Volumes[1].To.Name = "mine" },
		"single-pod, without a claim": func(j *Journal) { j.Volumes[1].From, j.Volumes[1].FromUID = nil, "" },
		"single-pod, to other modes": func(j *Journal) {
			j.Volumes[1].To.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
		},
		"a move to where nobody asked": func(j *Journal) {
			j.Request.Verb = MoveClaim
			j.Request.To = actions.ClaimKey{Namespace: "exam", Name: "x"}
		},
		"a claim to make instead of one": func(j *Journal) { j.Request.Verb = RecreateClaim },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := forgeable(t)
			text, err := j.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(text); err != nil {
				t.Fatalf("before: %v", err)
			}
			forge(&j)
			if text, err = j.Encode(); err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(text); err == nil || !strings.Contains(err.Error(), "journal") {
				t.Errorf("accepted: %v", err)
			}
		})
	}
}

// forgeable is a Journal as a draft makes it.
func forgeable(t *testing.T) Journal {
	t.Helper()
	j, _ := Draft(set().req, set().s)
	j.ID = "0a0b0c0d"
	if len(j.Volumes) < 2 || len(j.Workloads) != 1 || j.Workloads[0].To == nil {
		t.Fatalf("%d volumes, %d workloads", len(j.Volumes), len(j.Workloads))
	}
	for _, s := range []*appsv1.StatefulSet{j.Workloads[0].From, j.Workloads[0].To} {
		s.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "example.test/none"}}
	}
	return j
}

// TestAnyJournal has the machine look at journals with parts left out: it says
// what is wrong, or goes on, and never falls over.
func TestAnyJournal(t *testing.T) {
	t.Parallel()
	all := kinds()
	for _, k := range all {
		m, j := k.start(t).drafted(t)
		text, err := j.Encode()
		if err != nil {
			t.Fatal(err)
		}
		scene := m.scene(j.Wanted())
		for _, maimed := range maim(t, text) {
			got, err := Decode(maimed)
			if err != nil {
				continue
			}
			for _, d := range []Direction{Forward, Back} {
				run := Run{Direction: d}
				Outline(got, run, scene)
				Next(got, run, scene)
				run.Remember(got, scene)
				got.Wanted()
			}
		}
	}
}

// maim leaves out each part of a JSON document in turn.
func maim(t *testing.T, text string) []string {
	t.Helper()
	var whole any
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatal(err)
	}
	var maimed []string
	var walk func(at any)
	walk = func(at any) {
		switch at := at.(type) {
		case map[string]any:
			for key, was := range at {
				delete(at, key)
				maimed = append(maimed, as(whole))
				at[key] = was
				walk(was)
			}
		case []any:
			for i, was := range at {
				at[i] = nil
				maimed = append(maimed, as(whole))
				at[i] = was
				walk(was)
			}
		}
	}
	walk(whole)
	return maimed
}

// TestForgedWorkload: a workload that has nothing to do with the claims is not
// stopped.
func TestForgedWorkload(t *testing.T) {
	t.Parallel()
	other := replaced(deploymentManifest, "{name: web,", "{name: dns,", "app: web", "app: dns", "claimName: data", "claimName: own")
	cron := replaced(cronManifest, "claimName: data", "claimName: own")
	own := replaced(claimManifest, "CLASS", "folders", "{name: data,", "{name: own,")
	for _, kind := range []actions.Kind{DeploymentKind, CronJobKind} {
		m := newModel(t, built(t, replaced(claimManifest, "CLASS", "folders"), own, other, cron))
		ref := actions.Ref{Kind: kind, Namespace: "exam", Name: "dns", UID: m.state().Deployment("exam", "dns").UID}
		if kind == CronJobKind {
			ref.Name, ref.UID = "backup", m.state().CronJob("exam", "backup").UID
		}
		j := handJournal(m, Request{Verb: SinglePod}, m.state().Claim("exam", "data"))
		j.Workloads = []Workload{{Ref: ref, Replicas: 1}}
		w := m.walk(j, "a")
		if move := w.toTheEnd(); move.Kind != Halt || !strings.Contains(move.Reason, "uses none of the claims") || move.Remedy == "" {
			t.Errorf("%v\nafter %v", move, w.wrote)
		}
		// Undo needs to stop nothing.
		if heir := m.takeOver(j, "b", Back); heir != nil {
			if move := heir.toTheEnd(); move.Kind != Finished {
				t.Errorf("undo: %v", move)
			}
		}
	}
}

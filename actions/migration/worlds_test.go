package migration

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube/sandbox"
)

// groundManifest is what every world has.
const groundManifest = `
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status: {allocatable: {cpu: "8", memory: 16Gi, pods: "110"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: exam}
---
apiVersion: v1
kind: Namespace
metadata: {name: other}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: folders}
provisioner: folders.claimref.test
reclaimPolicy: Delete
volumeBindingMode: Immediate
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: late}
provisioner: folders.claimref.test
reclaimPolicy: Delete
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: keeps}
provisioner: folders.claimref.test
reclaimPolicy: Retain
volumeBindingMode: Immediate
`

const claimManifest = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: exam, labels: {app: web}}
spec: {storageClassName: CLASS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const deploymentManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: exam}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

const cronManifest = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: exam}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: example.test/none}]
          volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

const setManifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: exam}
spec:
  replicas: 3
  serviceName: db
  podManagementPolicy: OrderedReady
  persistentVolumeClaimRetentionPolicy: {whenDeleted: RETENTION, whenScaled: RETENTION}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: data, mountPath: /d}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {storageClassName: CLASS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// kind is one sort of operation, with the world that it is carried out in.
type kind struct {
	name      string
	manifests []string
	// claim is the one whose volume the request is about.
	claim   actions.ClaimKey
	request func(volume actions.Ref) Request
}

func kinds() []kind {
	data := actions.ClaimKey{Namespace: "exam", Name: "data"}
	single := func(v actions.Ref) Request { return Request{Verb: SinglePod, Volume: v} }
	recreate := func(v actions.Ref) Request { return Request{Verb: SinglePod, Volume: v, Recreate: true} }
	set := func(class, retention string) []string {
		return []string{replaced(setManifest, "CLASS", class, "RETENTION", retention)}
	}
	claim := func(class string) string { return replaced(claimManifest, "CLASS", class) }
	first := actions.ClaimKey{Namespace: "exam", Name: "data-db-0"}
	return []kind{
		{"claim", []string{claim("folders")}, data, single},
		{"claim-retain", []string{claim("keeps")}, data, single},
		{"deployment", []string{claim("folders"), deploymentManifest}, data, recreate},
		{"deployment-late", []string{claim("late"), deploymentManifest}, data, recreate},
		{"cronjob", []string{claim("folders"), deploymentManifest, cronManifest}, data, recreate},
		{"set", set("folders", "Retain"), first, single},
		{"set-deletes", set("folders", "Delete"), first, single},
		{"set-keeps-templates", set("folders", "Delete"), first, func(v actions.Ref) Request {
			return Request{Verb: SinglePod, Volume: v, KeepTemplates: true}
		}},
		{"move", []string{claim("folders")}, data, func(v actions.Ref) Request {
			return Request{Verb: MoveClaim, Volume: v, To: actions.ClaimKey{Namespace: "other", Name: "moved"}}
		}},
	}
}

// start is a kind with its world, from which any number of walks may begin.
type start struct {
	kind
	state *sandbox.State
}

func (k kind) start(t *testing.T) start {
	t.Helper()
	return start{k, built(t, k.manifests...)}
}

// drafted is the world of a kind with the Journal for it.
func (k start) drafted(t *testing.T) (*model, Journal) {
	t.Helper()
	m := newModel(t, k.state)
	pvc := m.state().Claim(k.claim.Namespace, k.claim.Name)
	if pvc == nil || pvc.Spec.VolumeName == "" {
		t.Fatalf("claim %s is not bound", k.claim)
	}
	pv := m.state().Volume(pvc.Spec.VolumeName)
	req := k.request(actions.Ref{Kind: actions.VolumeKind, Name: pv.Name, UID: pv.UID})
	return m, handJournal(m, req, pvc)
}

// lost lists the volumes of a Journal whose data are gone.
func (m *model) lost(j Journal) []string {
	var lost []string
	for _, v := range j.Volumes {
		pv := m.state().Volume(v.Ref.Name)
		if pv == nil || !m.state().HasData(sandbox.Handle(pv)) {
			lost = append(lost, v.Ref.Name)
		}
	}
	return lost
}

// exposed lists the volumes that a stranger could take.
func (m *model) exposed(j Journal) []string {
	var open []string
	for _, v := range j.Volumes {
		if pv := m.state().Volume(v.Ref.Name); pv != nil && pv.Spec.ClaimRef == nil {
			open = append(open, v.Ref.Name)
		}
	}
	return open
}

func handJournal(m *model, req Request, pvc *corev1.PersistentVolumeClaim) Journal {
	s := m.state()
	j := Journal{Version: journalVersion, ID: "0a0b0c0d", Started: s.Now(), By: "test", Request: req}
	claims := []*corev1.PersistentVolumeClaim{pvc}
	if set := s.StatefulSet("exam", "db"); set != nil {
		claims = nil
		for _, name := range []string{"data-db-0", "data-db-1", "data-db-2"} {
			claims = append(claims, s.Claim("exam", name))
		}
		w := Workload{Ref: actions.Ref{Kind: StatefulSetKind, Namespace: "exam", Name: "db", UID: set.UID}, Replicas: *set.Spec.Replicas}
		if !retains(set) {
			w.Retention = set.Spec.PersistentVolumeClaimRetentionPolicy
		}
		if !req.KeepTemplates {
			w.From, w.To = bareSet(set), bareSet(set)
			w.To.Spec.VolumeClaimTemplates[0].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{toMode}
		}
		j.Workloads = append(j.Workloads, w)
	}
	if d := s.Deployment("exam", "web"); d != nil {
		w := Workload{Ref: actions.Ref{Kind: DeploymentKind, Namespace: "exam", Name: "web", UID: d.UID}, Replicas: *d.Spec.Replicas}
		if req.Recreate {
			w.Strategy = d.Spec.Strategy.DeepCopy()
		}
		j.Workloads = append(j.Workloads, w)
	}
	if c := s.CronJob("exam", "backup"); c != nil {
		j.Workloads = append(j.Workloads, Workload{Ref: actions.Ref{Kind: CronJobKind, Namespace: "exam", Name: "backup", UID: c.UID}})
	}
	for _, pvc := range claims {
		pv := s.Volume(pvc.Spec.VolumeName)
		from := &corev1.PersistentVolumeClaim{TypeMeta: pvc.TypeMeta, Spec: *pvc.Spec.DeepCopy()}
		from.APIVersion, from.Kind = "v1", "PersistentVolumeClaim"
		from.Namespace, from.Name, from.Labels = pvc.Namespace, pvc.Name, pvc.Labels
		to := from.DeepCopy()
		if req.Verb == SinglePod {
			to.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{toMode}
		} else {
			to.Namespace, to.Name = req.To.Namespace, req.To.Name
		}
		_, marked := pv.Annotations["pv.kubernetes.io/bound-by-controller"]
		j.Volumes = append(j.Volumes, Volume{
			Ref: actions.Ref{Kind: actions.VolumeKind, Name: pv.Name, UID: pv.UID}, Policy: pv.Spec.PersistentVolumeReclaimPolicy,
			Modes: pv.Spec.AccessModes, ClaimRef: pv.Spec.ClaimRef, BoundByController: marked, From: from, FromUID: pvc.UID, To: to,
		})
	}
	return j
}

func bareSet(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	bare := &appsv1.StatefulSet{Spec: *set.Spec.DeepCopy()}
	bare.APIVersion, bare.Kind = "apps/v1", "StatefulSet"
	bare.Namespace, bare.Name, bare.Labels = set.Namespace, set.Name, set.Labels
	return bare
}

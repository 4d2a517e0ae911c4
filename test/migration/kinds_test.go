package migration

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
)

// kind is one sort of operation, with the world that it is carried out in.
type kind struct {
	name   string
	policy corev1.PersistentVolumeReclaimPolicy
	// late: the class waits for the first pod.
	late      bool
	manifests []string
	// claims are those of the operation, all in the same namespace.
	claims []string
	// released: the claim is deleted before it begins.
	released bool
	request  func(w *world, volume actions.Ref) migration.Request
	// modes are those of volume and claim in the end.
	modes corev1.PersistentVolumeAccessMode
	// scaled is the workload that is scaled, and pods how many it has.
	scaled actions.Kind
	pods   int32
}

const (
	deploymentName = "web"
	setName        = "db"
	cronJobName    = "backup"
	movedName      = "moved"
)

const claimManifest = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  labels: {app: web}
  annotations: {example.com/owner: the storage team}
spec: {storageClassName: CLASS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

const deploymentManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
`

// cronManifest has a schedule that does not come in the time of a test.
const cronManifest = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup}
spec:
  schedule: "0 0 29 2 *"
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
metadata:
  name: db
  labels: {app: db}
spec:
  replicas: 3
  serviceName: db
  podManagementPolicy: OrderedReady
  persistentVolumeClaimRetentionPolicy: {whenDeleted: RETENTION, whenScaled: RETENTION}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: data, mountPath: /d}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {storageClassName: CLASS, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// kinds are all operations that are proved here.
func kinds() []kind {
	const once, single = corev1.ReadWriteOnce, corev1.ReadWriteOncePod
	const remove, retain = corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain
	one, three := []string{"data"}, []string{"data-db-0", "data-db-1", "data-db-2"}
	set := func(retention string) []string {
		return []string{strings.ReplaceAll(setManifest, "RETENTION", retention)}
	}
	return []kind{
		{name: "claim", policy: remove, manifests: []string{claimManifest}, claims: one, request: singlePod, modes: single},
		{name: "claim-retain", policy: retain, manifests: []string{claimManifest}, claims: one, request: singlePod, modes: single},
		{
			name: "deployment", policy: remove, manifests: []string{claimManifest, deploymentManifest}, claims: one,
			request: singlePodRecreate, modes: single, scaled: migration.DeploymentKind, pods: 1,
		},
		{
			name: "deployment-late", policy: remove, late: true, manifests: []string{claimManifest, deploymentManifest}, claims: one,
			request: singlePodRecreate, modes: single, scaled: migration.DeploymentKind, pods: 1,
		},
		{
			name: "cronjob", policy: remove, manifests: []string{claimManifest, deploymentManifest, cronManifest}, claims: one,
			request: singlePodRecreate, modes: single, scaled: migration.DeploymentKind, pods: 1,
		},
		{
			name: "set", policy: remove, manifests: set("Retain"), claims: three,
			request: singlePod, modes: single, scaled: migration.StatefulSetKind, pods: 3,
		},
		{
			name: "set-deletes", policy: remove, manifests: set("Delete"), claims: three,
			request: singlePod, modes: single, scaled: migration.StatefulSetKind, pods: 3,
		},
		{
			name: "set-keeps-templates", policy: remove, manifests: set("Delete"), claims: three,
			request: keepTemplates,
			modes:   single, scaled: migration.StatefulSetKind, pods: 3,
		},
		{
			name: "move", policy: remove, manifests: []string{claimManifest}, claims: one,
			request: move, modes: once,
		},
		{
			name: "recreate", policy: retain, manifests: []string{claimManifest}, claims: one, released: true,
			request: recreateClaim, modes: once,
		},
	}
}

// The requests of the kinds.

func singlePod(_ *world, v actions.Ref) migration.Request {
	return migration.Request{Verb: migration.SinglePod, Volume: v}
}

func singlePodRecreate(_ *world, v actions.Ref) migration.Request {
	return migration.Request{Verb: migration.SinglePod, Volume: v, Recreate: true}
}

func keepTemplates(_ *world, v actions.Ref) migration.Request {
	return migration.Request{Verb: migration.SinglePod, Volume: v, KeepTemplates: true}
}

func move(w *world, v actions.Ref) migration.Request {
	return migration.Request{Verb: migration.MoveClaim, Volume: v, To: actions.ClaimKey{Namespace: w.elsewhere, Name: movedName}}
}

func recreateClaim(_ *world, v actions.Ref) migration.Request {
	return migration.Request{Verb: migration.RecreateClaim, Volume: v}
}

package views

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
	"github.com/claimref/claimref/kube/sandbox"
)

// The tests here lead through operations on a cluster in memory, by keys, with
// the client of the program: what is on the screen was said by a server.

const labManifest = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: folders}
provisioner: folders.claimref.test
reclaimPolicy: Delete
volumeBindingMode: Immediate
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: web-data, namespace: shop}
spec: {storageClassName: folders, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: d, mountPath: /d}]}]
      volumes: [{name: d, persistentVolumeClaim: {claimName: web-data}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  replicas: 2
  serviceName: db
  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete, whenScaled: Delete}
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: example.test/none, volumeMounts: [{name: data, mountPath: /d}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {storageClassName: folders, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`

// labCluster is the program's way to a cluster in memory.
type labCluster struct {
	*kube.Client
	*kube.Feed
	backups *kube.Backups
	who     string
}

func (c labCluster) PlanOperation(ctx context.Context, req migration.Request, snap *kube.Snapshot) (kube.OperationPlan, error) {
	return c.Client.PlanOperation(ctx, req, snap, c.who)
}

func (c labCluster) NewOperation(j migration.Journal) Operation {
	return c.Client.NewOperation(c.backups, j, c.who)
}

func (c labCluster) ResumeOperation(found migration.Found) (Operation, error) {
	return c.Client.ResumeOperation(c.backups, found, c.who)
}

func (c labCluster) Backups(context.Context) ([]kube.Backup, error) { return c.backups.List() }

func (c labCluster) History(_ context.Context, ref actions.Ref) ([]kube.Record, error) {
	return c.backups.HistoryOf(ref)
}

func (c labCluster) SaveReport(_ context.Context, folder, text string) error {
	return c.backups.Report(folder, text)
}

// lab is a cluster in memory that several programs look at.
type lab struct {
	t    *testing.T
	demo *sandbox.Demo
}

func newLab(t *testing.T) *lab {
	t.Helper()
	demo, err := sandbox.NewDemo([][]byte{[]byte(labManifest)}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); demo.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return &lab{t: t, demo: demo}
}

// labRig drives one program by keys.
type labRig struct {
	*rig
	cluster labCluster
}

// open starts a program for somebody.
func (l *lab) open(who string) *labRig {
	l.t.Helper()
	client, err := kube.Connect(kube.Config{ClientConfig: l.demo.ClientConfig(), UserAgent: "test"})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := client.Check(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
	backups, err := kube.OpenBackups(l.t.TempDir())
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	feed := client.Watch(ctx)
	l.t.Cleanup(func() { cancel(); feed.Wait() })
	c := labCluster{client, feed, backups, who}
	r := &labRig{rig: newRig(l.t, kube.Objects{}), cluster: c}
	r.app.cluster = c
	// What the rig made up says that everything is read.
	r.app.snap = &kube.Snapshot{}
	r.patience = 30 * time.Second
	r.until("everything is read", func() bool {
		s := r.app.snap
		return s.Known(kube.PersistentVolumes, "") && s.Known(kube.PersistentVolumeClaims, "") && s.Known(kube.Pods, "") && s.OwnersKnown() && s.Link.Phase == kube.Live
	})
	return r
}

// until takes in what the cluster says until something is so. Besides, time
// passes: a wait is looked at with every second.
func (r *labRig) until(what string, is func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !is() {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within a minute: %s\n%s", what, r.screen())
		}
		ctx, cancel := context.WithTimeout(r.t.Context(), 100*time.Millisecond)
		snap, err := r.cluster.Next(ctx)
		cancel()
		if err == nil {
			// The answer asks for the next one, which is asked for here.
			r.app.snap = snap
			r.app.refresh()
		}
		r.send(tickMsg(time.Now()))
	}
}

func (r *labRig) atStage(stages ...walkStage) func() bool {
	return func() bool { return r.walk != nil && slices.Contains(stages, r.walk.stage) && !r.walk.busy }
}

// openMigration opens the review of a claim's migration.
func (r *labRig) openMigration(claim string) {
	r.t.Helper()
	r.press("/")
	r.typeText(claim)
	r.press("enter")
	r.until("the claim is seen", func() bool { _, ok := r.app.volumes.selected(); return ok })
	r.press("a", "m", "f")
	r.wantOn("Nothing stands against it")
	r.press("enter")
	r.wantOn("enter start")
}

func (r *labRig) claim(name string) *corev1.PersistentVolumeClaim {
	r.t.Helper()
	c := r.app.claimNamed("shop", name)
	if c == nil {
		r.t.Fatalf("claim %s is not there", name)
	}
	return c.Object
}

func single(c *corev1.PersistentVolumeClaim) bool {
	return slices.Equal(c.Spec.AccessModes, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod})
}

// TestLabRun: what was reviewed runs to its end without another question, and
// the cluster is as the report says.
func TestLabRun(t *testing.T) {
	for claim, word := range map[string]string{"web-data": "web-data", "data-db-1": "data-db-0"} {
		t.Run(claim, func(t *testing.T) {
			t.Parallel()
			r := newLab(t).open("ann on laptop-7")
			r.openMigration(claim)
			uid := r.claim(claim).UID
			r.runRest()
			r.typeText(word)
			r.press("enter")
			r.until("the end, or a stop", r.atStage(atEnd, atDiff, atHalt, atError))
			if r.walk.stage != atEnd {
				t.Fatalf("it stopped: %s\n%s\n%s", r.walk.changed, r.walk.problem, r.screen())
			}
			r.wantOn("Done, and seen to be done.", "This report is kept in")
			r.until("the end is seen", func() bool {
				c := r.app.claimNamed("shop", claim)
				return c != nil && c.Object.UID != uid && c.Object.Status.Phase == corev1.ClaimBound && len(r.app.unfinished()) == 0
			})
			c := r.claim(claim)
			v := r.app.volumeNamed(c.Spec.VolumeName).Object
			if !single(c) || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete || v.Annotations[migration.AnnotationPlan] != "" {
				t.Errorf("claim %v, volume policy %s, annotations %v", c.Spec.AccessModes, v.Spec.PersistentVolumeReclaimPolicy, v.Annotations)
			}
			if claim == "data-db-1" && !single(r.claim("data-db-0")) {
				t.Error("the other claim of the set is not migrated")
			}
		})
	}
}

// TestLabAnotherUndoes: one begins, another takes over and undoes it; the first
// is told, and writes nothing more.
func TestLabAnotherUndoes(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ann := l.open("ann on laptop-7")
	ann.openMigration("web-data")
	ann.press("enter")
	ann.typeText("web-data")
	ann.press("enter")
	for range 2 {
		ann.until("a diff", ann.atStage(atDiff))
		ann.approve("")
	}
	ann.until("the deletion is next", func() bool { return ann.atStage(atDiff)() && destroys(ann.walk.fresh.Step) })
	uid := ann.claim("web-data").UID

	bob := l.open("bob on desk-1")
	bob.until("the note is seen", func() bool { return len(bob.app.unfinished()) == 1 })
	bob.wantOn("R opens what is unfinished", "by ann on laptop-7")
	bob.press("R")
	bob.wantOn("ann on laptop-7 has been at work on this")
	bob.press("t")
	bob.approve("web-data")
	bob.wantOn("Under way, begun by ann on laptop-7.")
	bob.press("u")
	bob.press("tab")
	bob.approve("web-data")
	bob.wantOn("being undone", "enter go on")

	// Ann had the deletion on her screen.
	ann.approve("web-data")
	ann.until("ann is told", ann.atStage(atHalt))
	ann.wantOn("bob on desk-1 has been at work on this")

	bob.runRest()
	bob.typeText("web-data")
	bob.press("enter")
	bob.until("the end, or a stop", bob.atStage(atEnd, atDiff, atHalt, atError))
	bob.wantOn("Undone.")
	if !strings.Contains(bob.walk.report, "Undone: Migrate") {
		t.Errorf("the report says\n%s", bob.walk.report)
	}
	c := bob.claim("web-data")
	if c.UID != uid || single(c) {
		t.Errorf("the claim is another one: %s, %v", c.UID, c.Spec.AccessModes)
	}
}

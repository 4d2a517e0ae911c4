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

func (c labCluster) Report(_ context.Context, folder string) (string, error) {
	return c.backups.ReadReport(folder)
}

// lab is a cluster in memory that several programs look at.
type lab struct {
	t    *testing.T
	demo *sandbox.Demo
}

func newLab(t *testing.T, more ...string) *lab {
	t.Helper()
	demo, err := sandbox.NewDemo([][]byte{[]byte(labManifest + strings.Join(more, ""))}, time.Now())
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
	r.patience = labPatience
	r.until("everything is read", func() bool {
		s := r.app.snap
		return s.Known(kube.PersistentVolumes, "") && s.Known(kube.PersistentVolumeClaims, "") && s.Known(kube.Pods, "") && s.OwnersKnown() && s.Link.Phase == kube.Live
	})
	return r
}

// labPatience bounds every wait in these tests. It is longer than all bounds of
// the program itself, so that none of its answers is left behind, and long enough
// for a machine that has much else to do.
const labPatience = 4 * time.Minute

// until takes in what the cluster says until something is so. Besides, time
// passes: a wait is looked at with every second.
func (r *labRig) until(what string, is func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(labPatience)
	for !is() {
		if time.Now().After(deadline) {
			r.t.Fatalf("not within %s: %s\n%s", labPatience, what, r.screen())
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

// walkTo approves step after step until one comes whose ID begins with a word. A
// step that a controller was faster than is asked about again, and so it is
// approved again. It returns the IDs of all that were approved.
func (r *labRig) walkTo(prefix string) []string {
	r.t.Helper()
	var ids []string
	next := func() bool { return strings.HasPrefix(r.walk.fresh.Step.ID, prefix) }
	for range 100 {
		r.until("the diff of a step, on the way to "+prefix, r.atStage(atDiff, atError))
		word := ""
		switch {
		case r.walk.stage == atError:
			r.press("r")
			continue
		case next():
			return ids
		case destroys(r.walk.fresh.Step):
			word = r.walk.fresh.Step.Target.Name
		}
		ids = append(ids, r.walk.fresh.Step.ID)
		r.approve(word)
	}
	r.t.Fatalf("%s does not come\n%s", prefix, r.screen())
	return nil
}

// insist has a step out of turn taken, as often as somebody is faster.
func (r *labRig) insist(key, word string, done func() bool) {
	r.t.Helper()
	for range 20 {
		if done() {
			return
		}
		r.until("something to decide", r.atStage(atReview, atDiff, atWait, atHalt, atError))
		switch {
		case r.walk.stage == atError:
			r.press("r")
		case r.walk.aside == nil:
			r.press(key)
		default:
			if r.walk.narrow && !r.walk.detail {
				r.press("tab")
			}
			r.approve(word)
		}
	}
	r.t.Fatalf("%s is not done\n%s", key, r.screen())
}

// finish runs what is left to its end.
func (r *labRig) finish(word string) {
	r.t.Helper()
	r.runRest()
	r.typeText(word)
	r.press("enter")
	r.until("the end, or a stop", r.atStage(atEnd, atDiff, atHalt, atError))
	if r.walk.stage != atEnd {
		r.t.Fatalf("it stopped: %s\n%s\n%s", r.walk.changed, r.walk.problem, r.screen())
	}
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
			r.finish(word)
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
	ann.walkTo("delete/")
	uid := ann.claim("web-data").UID

	bob := l.open("bob on desk-1")
	bob.until("the note is seen", func() bool { return len(bob.app.unfinished()) == 1 })
	bob.wantOn("R opens what is unfinished", "by ann on laptop-7")
	bob.press("R")
	bob.wantOn("ann on laptop-7 has been at work on this")
	bob.insist("t", "web-data", func() bool { return !bob.walk.heldElsewhere() })
	bob.wantOn("Under way, begun by ann on laptop-7.")
	bob.insist("u", "web-data", func() bool { return bob.walk.run.Direction == migration.Back })
	bob.wantOn("being undone", "enter go on")

	// Ann had the deletion on her screen.
	ann.approve("web-data")
	ann.until("ann is told", ann.atStage(atHalt))
	ann.wantOn("bob on desk-1 has been at work on this")

	bob.finish("web-data")
	bob.wantOn("Undone.")
	if !strings.Contains(bob.walk.report, "Undone: Migrate") {
		t.Errorf("the report says\n%s", bob.walk.report)
	}
	c := bob.claim("web-data")
	if c.UID != uid || single(c) {
		t.Errorf("the claim is another one: %s, %v", c.UID, c.Spec.AccessModes)
	}
}

const labQuota = `
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: shop}
spec: {hard: {persistentvolumeclaims: "3"}}
`

// TestLabRunUnderQuota: a quota counts the old claim until it is gone. The run
// stops before the creation of the new one, as was said, and is gone on with.
func TestLabRunUnderQuota(t *testing.T) {
	t.Parallel()
	r := newLab(t, labQuota).open("ann on laptop-7")
	r.openMigration("web-data")
	r.runRest()
	r.wantOn("It stops before create claim web-data")
	r.typeText("web-data")
	r.press("enter")
	r.until("the end, or a stop", r.atStage(atEnd, atDiff, atHalt, atError))
	if r.walk.stage != atDiff || !strings.HasPrefix(r.walk.fresh.Step.ID, "create/") {
		t.Fatalf("it stands at %s: %s\n%s", r.walk.fresh.Step.ID, r.walk.problem, r.screen())
	}
	r.wantText("The server can dry-run this step only now, so that the run stopped before it.")
	r.finish("web-data")
	r.wantOn("Done, and seen to be done.")
}

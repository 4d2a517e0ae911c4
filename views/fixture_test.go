package views

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// noon is the moment at which all screens in the tests are looked at.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func before(d time.Duration) metav1.Time { return metav1.NewTime(noon().Add(-d)) }

const day = 24 * time.Hour

// pv makes a volume of class gp3, 10Gi, RWO, Retain; edit changes it.
func pv(name string, phase corev1.PersistentVolumePhase, edit ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	since := before(12 * day)
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("pv-" + name), ResourceVersion: "100", CreationTimestamp: before(30 * day)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              "gp3",
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-" + name}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: phase, LastPhaseTransitionTime: &since},
	}
	for _, e := range edit {
		e(v)
	}
	return v
}

// claimedBy names a claim, by uid when it has one.
func claimedBy(ns, name, uid string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: ns, Name: name, UID: types.UID(uid)}
	}
}

func withPolicy(p corev1.PersistentVolumeReclaimPolicy) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeReclaimPolicy = p }
}

func deleting(v *corev1.PersistentVolume) {
	at := before(5 * time.Minute)
	v.DeletionTimestamp = &at
	v.Finalizers = []string{"kubernetes.io/pv-protection"}
}

// pvc makes a claim of class gp3 for 10Gi, RWO; edit changes it.
func pvc(ns, name string, phase corev1.PersistentVolumeClaimPhase, volume string, edit ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	class := "gp3"
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("pvc-" + ns + "-" + name), ResourceVersion: "100", CreationTimestamp: before(3 * time.Hour)},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			VolumeName:       volume,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
	if phase == corev1.ClaimBound {
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		c.Status.AccessModes = c.Spec.AccessModes
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	}
	for _, e := range edit {
		e(c)
	}
	return c
}

func sc(name, provisioner string, isDefault bool, at metav1.Time) *storagev1.StorageClass {
	c := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("sc-" + name), CreationTimestamp: at}, Provisioner: provisioner}
	if isDefault {
		c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	}
	return c
}

func podOf(ns, name, claim, ownerKind, owner string) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: ns, Name: name, UID: types.UID("pod-" + ns + "-" + name),
			OwnerReferences: []metav1.OwnerReference{{Kind: ownerKind, Name: owner, UID: types.UID(ownerKind + "-" + owner), Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: "n1", Volumes: []corev1.Volume{{
			Name:         "data",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
}

// shop is the cluster of the golden screens: something of everything.
func shop() kube.Objects {
	return kube.Objects{
		Volumes: []*corev1.PersistentVolume{
			pv("pvc-5e28b8a0-13ff-11e7-a430-5254001ba551", corev1.VolumeReleased, claimedBy("shop", "data-orders-0", "old")),
			pv("example-pv", corev1.VolumeAvailable, claimedBy("exam", "example-pvc", ""), func(v *corev1.PersistentVolume) {
				v.Spec.StorageClassName = "example-sc"
				v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/localdisk"}}
			}),
			pv("pvc-11aa07c3-aaaa-4444-8888-0000000c0de1", corev1.VolumeBound, claimedBy("ml", "train-cache", "pvc-ml-train-cache"), withPolicy(corev1.PersistentVolumeReclaimDelete)),
			pv("nfs-archive", corev1.VolumeAvailable, func(v *corev1.PersistentVolume) {
				v.Spec.StorageClassName = ""
				v.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}
				v.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse("2Ti")
				v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "nas", Path: "/archive"}}
			}),
			pv("pvc-77b1c2d4-1111-2222-3333-44445590aaf0", corev1.VolumeBound, claimedBy("web", "cache-0", "pvc-web-cache-0"), withPolicy(corev1.PersistentVolumeReclaimDelete), deleting),
			pv("broken", corev1.VolumeFailed, claimedBy("web", "gone", "old"), func(v *corev1.PersistentVolume) {
				v.Status.Message = "no deletable volume plugin matched"
				v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
			}),
		},
		Claims: []*corev1.PersistentVolumeClaim{
			pvc("ml", "train-cache", corev1.ClaimBound, "pvc-11aa07c3-aaaa-4444-8888-0000000c0de1", func(c *corev1.PersistentVolumeClaim) {
				c.Status.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
			}),
			pvc("web", "cache-0", corev1.ClaimBound, "pvc-77b1c2d4-1111-2222-3333-44445590aaf0"),
			pvc("web", "a", corev1.ClaimPending, ""),
			pvc("web", "lost", corev1.ClaimLost, "nowhere"),
			pvc("web", "unset", corev1.ClaimPending, "", func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }),
			pvc("倉庫", "長い名前のクレーム", corev1.ClaimPending, "", func(c *corev1.PersistentVolumeClaim) { empty := ""; c.Spec.StorageClassName = &empty }),
		},
		Classes: []*storagev1.StorageClass{
			sc("gp3", "ebs.csi.aws.com", true, before(10*day)),
			sc("old-default", "ebs.csi.aws.com", true, before(90*day)),
			sc("example-sc", "kubernetes.io/no-provisioner", false, before(90*day)),
		},
		Pods: []*corev1.Pod{
			podOf("ml", "train-1", "train-cache", "Job", "train"),
			podOf("web", "cache-0", "cache-0", "StatefulSet", "cache"),
		},
		StatefulSets: []*appsv1.StatefulSet{{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: "cache", UID: "StatefulSet-cache"}}},
	}
}

// fakeCluster stands in for the cluster. It proves nothing about safety; the
// end-to-end tests do. It answers as it is told and keeps what it was asked.
type fakeCluster struct {
	mu       sync.Mutex
	preview  func(actions.Step) (kube.Preview, error)
	apply    func(kube.Preview) (kube.Applied, error)
	applied  []actions.Step
	dry      [][]actions.Step
	scope    string
	events   []kube.Event
	manifest string
	object   metav1.Object
	// op is the operation that is planned or found, plan changes how it is
	// planned.
	op      *fakeOperation
	plan    func(migration.Request) (migration.Journal, []actions.Check, []migration.Item, error)
	planned []migration.Request
	// history is what operations did, as far as it can be read.
	history    []kube.Record
	historyErr error
	// operators are those that every plan names.
	operators  []string
	resumed    []migration.Found
	backups    []kube.Backup
	backupsErr error
	reports    map[string]string
	report     string
}

// Next has no news: the rig brings them.
func (f *fakeCluster) Next(context.Context) (*kube.Snapshot, error) {
	return nil, context.Canceled
}

func (f *fakeCluster) SetScope(ns string) { f.scope = ns }

func (f *fakeCluster) Plan(_ context.Context, req actions.Request, snap *kube.Snapshot) (actions.Plan, actions.World, error) {
	v := snap.Volume(req.Volume.Name)
	if v == nil {
		return actions.Plan{}, actions.World{}, errors.New("no such volume")
	}
	world := snap.World(v.Object.Name)
	return actions.Make(req, world), world, nil
}

func (f *fakeCluster) Preview(_ context.Context, done []actions.Step, step actions.Step) (kube.Preview, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dry = append(f.dry, done)
	if f.preview != nil {
		return f.preview(step)
	}
	return kube.Preview{
		Step: step, ResourceVersion: "100", DryRun: kube.DryRunResult{Supported: true},
		Diff: "--- now\n+++ then\n@@ -1,5 +1,4 @@\n   spec:\n     claimRef:\n       name: data-orders-0\n-      uid: old\n",
	}, nil
}

func (f *fakeCluster) Apply(ctx context.Context, p kube.Preview, look func(context.Context) error) (kube.Applied, error) {
	if err := look(ctx); err != nil {
		return kube.Applied{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.applied = append(f.applied, p.Step)
	if f.apply != nil {
		return f.apply(p)
	}
	return kube.Applied{ResourceVersion: "101", Object: p.Before}, nil
}

func (f *fakeCluster) Events(context.Context, actions.Ref) ([]kube.Event, error) {
	return f.events, nil
}

func (f *fakeCluster) Manifest(context.Context, actions.Ref) (string, error) {
	return f.manifest, nil
}

func (f *fakeCluster) Object(context.Context, actions.Ref) (metav1.Object, error) {
	if f.object == nil {
		return nil, errors.New("no such object")
	}
	return f.object, nil
}

func (f *fakeCluster) PlanOperation(_ context.Context, req migration.Request, _ *kube.Snapshot) (kube.OperationPlan, error) {
	f.planned = append(f.planned, req)
	if f.plan != nil {
		j, checks, items, err := f.plan(req)
		return kube.OperationPlan{Journal: j, Checks: checks, Outline: items, Operators: f.operators}, err
	}
	_, checks := migration.Draft(webRequest(), webScene())
	return kube.OperationPlan{Journal: f.op.journal, Checks: checks, Outline: f.op.items}, nil
}

func (f *fakeCluster) NewOperation(migration.Journal) Operation { return f.op }

func (f *fakeCluster) ResumeOperation(found migration.Found) (Operation, error) {
	f.resumed = append(f.resumed, found)
	return f.op, nil
}

func (f *fakeCluster) Backups(context.Context) ([]kube.Backup, error) { return f.backups, f.backupsErr }

func (f *fakeCluster) History(context.Context, actions.Ref) ([]kube.Record, error) {
	return f.history, f.historyErr
}

func (f *fakeCluster) SaveReport(_ context.Context, _, text string) error {
	f.report = text
	return nil
}

func (f *fakeCluster) Report(_ context.Context, folder string) (string, error) {
	return f.reports[folder], nil
}

// rig drives the program's model without a program: messages in, commands run
// at once, the screen out.
type rig struct {
	t       *testing.T
	app     *App
	cluster *fakeCluster
	rev     uint64
	// patience is how long a command may take before it is left behind.
	patience time.Duration
	// steps are the step pages that have asked for a plan, walk is the page of
	// an operation that was last looked at.
	steps  []*stepPage
	walk   *walkPage
	checks *checksPage
	bulk   *bulkPage
}

func newRig(t *testing.T, objects kube.Objects, edit ...func(*Options)) *rig {
	t.Helper()
	opts := Options{
		Identity: kube.Identity{Context: "prod-tokyo", User: "storage-admin", Namespace: "default"},
		Dark:     true, Color: true,
	}
	for _, e := range edit {
		e(&opts)
	}
	r := &rig{t: t, cluster: &fakeCluster{}, patience: 30 * time.Second}
	r.app = New(t.Context(), r.cluster, opts, noon())
	r.app.after = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	r.resize(120, 40)
	r.see(objects)
	return r
}

func (r *rig) resize(w, h int) { r.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// see shows the app a new snapshot of these objects.
func (r *rig) see(objects kube.Objects, edit ...func(*kube.Snapshot)) {
	r.rev++
	snap := kube.NewSnapshot(objects)
	snap.Revision = r.rev
	snap.Link = kube.Link{Phase: kube.Live, Since: noon(), Version: "v1.37.2"}
	for _, e := range edit {
		e(snap)
	}
	r.send(snapshotMsg{snap: snap})
}

// send delivers a message and runs what comes of it until nothing more does.
// Time stands still: what waits for it never comes.
func (r *rig) send(msgs ...tea.Msg) {
	r.t.Helper()
	for len(msgs) > 0 {
		msg := msgs[0]
		msgs = msgs[1:]
		switch msg := msg.(type) {
		case nil:
			continue
		case tea.BatchMsg:
			for _, cmd := range msg {
				msgs = append(msgs, r.run(cmd))
			}
			continue
		}
		if m, ok := msg.(plannedMsg); ok {
			r.steps = append(r.steps, m.page)
		}
		switch m := msg.(type) {
		case lookedMsg:
			r.walk = m.page
		case draftedMsg:
			r.checks = m.page
		}
		if m, ok := msg.(bulkLookedMsg); ok {
			r.bulk = m.page
		}
		_, cmd := r.app.Update(msg)
		// The program draws after every message.
		_ = r.app.View()
		msgs = append(msgs, r.run(cmd))
	}
}

// run runs a command.
func (r *rig) run(cmd tea.Cmd) tea.Msg {
	if cmd == nil {
		return nil
	}
	got := make(chan tea.Msg, 1)
	go func() { got <- cmd() }()
	select {
	case msg := <-got:
		return msg
	case <-time.After(r.patience):
		return nil
	}
}

// press sends keys by their names, as ui.Binding writes them.
func (r *rig) press(keys ...string) {
	r.t.Helper()
	for _, k := range keys {
		r.send(keyMsg(k))
	}
}

func (r *rig) typeText(text string) {
	for _, c := range text {
		r.send(keyMsg(string(c)))
	}
}

// settle lets the diff on the topmost step page have been seen long enough.
func (r *rig) settle(p *stepPage) {
	r.send(settledMsg{page: p, turn: p.turn, wait: p.wait, shown: true})
}

// screen is what is seen, without colours.
func (r *rig) screen() string { return ansi.Strip(r.app.View().Content) }

func (r *rig) wantOn(texts ...string) {
	r.t.Helper()
	flat := strings.Join(strings.Fields(r.screen()), " ")
	for _, text := range texts {
		if !strings.Contains(flat, text) {
			r.t.Errorf("not on the screen: %q\n%s", text, r.screen())
		}
	}
}

func (r *rig) wantOff(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if strings.Contains(r.screen(), text) {
			r.t.Errorf("on the screen: %q\n%s", text, r.screen())
		}
	}
}

func keyMsg(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"backspace": tea.KeyBackspace, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"left": tea.KeyLeft, "right": tea.KeyRight,
	}
	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	}
	if name == "shift+tab" {
		return tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModCtrl}
	}
	runes := []rune(name)
	if len(runes) != 1 {
		panic(fmt.Sprintf("no key %q", name))
	}
	return tea.KeyPressMsg{Code: runes[0], Text: name}
}

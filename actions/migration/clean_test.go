package migration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/actions"
)

// drafted is the Journal of a stage in which nothing blocks.
func drafted(t *testing.T, st *stage) Journal {
	t.Helper()
	j, checks := Draft(st.req, st.s)
	for _, c := range checks {
		if c.Severity == actions.Block {
			t.Fatalf("blocked: %+v", c)
		}
	}
	return j
}

// dataClaim is what the claim of the stages is to be created as.
func dataClaim(change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{Kind: "PersistentVolumeClaim", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"team": "shop"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes(corev1.ReadWriteOnce), VolumeName: "disk", StorageClassName: new("fast"),
			Resources: corev1.VolumeResourceRequirements{Requests: size("10Gi")},
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func single(c *corev1.PersistentVolumeClaim) { c.Spec.AccessModes = modes(corev1.ReadWriteOncePod) }

func TestManifests(t *testing.T) {
	moved := func(c *corev1.PersistentVolumeClaim) { c.Namespace, c.Name = "lab", "exhibit" }
	stray := metav1.OwnerReference{APIVersion: "shops.example.test/v1", Kind: "Shop", Name: "main", UID: "uid-main"}
	owned := func(c *corev1.PersistentVolumeClaim) { c.OwnerReferences = []metav1.OwnerReference{stray} }
	owners := onClaim(func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{
			stray, controlledBy("apps/v1", "StatefulSet", "cache"), controlledBy("v1", "Pod", "other"),
			{APIVersion: "apps/v1", Kind: "Deployment", Name: "dead", UID: "uid-dead"},
		}
	})
	bareClaim := func(c *corev1.PersistentVolumeClaim) { c.Labels, c.Annotations = nil, nil }
	for _, tc := range []struct {
		name     string
		stage    func() *stage
		spoil    spoil
		from, to *corev1.PersistentVolumeClaim
	}{
		{"single pod", bare, func(*stage) {}, dataClaim(), dataClaim(single)},
		{"moved", moving, func(*stage) {}, dataClaim(), dataClaim(moved)},
		{
			"nothing but what is left out", bare,
			onClaim(func(c *corev1.PersistentVolumeClaim) {
				delete(c.Annotations, "team")
				c.Labels = map[string]string{}
			}),
			dataClaim(bareClaim), dataClaim(bareClaim, single),
		},
		{"owners", bare, owners, dataClaim(owned), dataClaim(single, owned)},
		{"owners elsewhere", moving, owners, dataClaim(owned), dataClaim(moved)},
		{"no class named", bare, onClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }), dataClaim(), dataClaim(single)},
		{"class by the old annotation", bare, onClaim(func(c *corev1.PersistentVolumeClaim) {
			c.Annotations[corev1.BetaStorageClassAnnotation], c.Spec.StorageClassName = "fast", nil
		}), dataClaim(), dataClaim(single)},
		{
			"no class at all", bare,
			func(st *stage) { st.pv().Spec.StorageClassName, st.pvc().Spec.StorageClassName = "", nil },
			dataClaim(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("") }),
			dataClaim(single, func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("") }),
		},
		{
			"source, selector and attributes", bare, onClaim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "snap"}
				c.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "VolumeSnapshot", Name: "snap"}
				c.Spec.Selector = selector("web")
				c.Spec.VolumeAttributesClassName = new("")
			}),
			dataClaim(func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Selector, c.Spec.VolumeAttributesClassName = selector("web"), new("")
			}),
			dataClaim(single, func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Selector, c.Spec.VolumeAttributesClassName = selector("web"), new("")
			}),
		},
		{"re-created", missing, func(*stage) {}, nil, dataClaim(bareClaim)},
		{"re-created in every respect", missing, func(st *stage) {
			spec := &st.pv().Spec
			spec.VolumeMode, spec.VolumeAttributesClassName = new(corev1.PersistentVolumeBlock), new("gold")
			spec.AccessModes = modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany)
		}, nil, dataClaim(bareClaim, func(c *corev1.PersistentVolumeClaim) {
			c.Spec.VolumeMode, c.Spec.VolumeAttributesClassName = new(corev1.PersistentVolumeBlock), new("gold")
			c.Spec.AccessModes = modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany)
		})},
		{"re-created from a backup", missing, func(st *stage) {
			st.req.Manifest = backup()
			st.req.Manifest.OwnerReferences = []metav1.OwnerReference{stray}
			st.req.Manifest.Spec.VolumeName = "lost"
		}, nil, dataClaim()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := tc.stage().spoilt(tc.spoil)
			j := drafted(t, st)
			if len(j.Volumes) != 1 {
				t.Fatalf("%d volumes", len(j.Volumes))
			}
			if diff := cmp.Diff(tc.from, j.Volumes[0].From); diff != "" {
				t.Errorf("from (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.to, j.Volumes[0].To); diff != "" {
				t.Errorf("to (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJournalOfVolume(t *testing.T) {
	st := bare()
	v := drafted(t, st).Volumes[0]
	want := Volume{
		Ref:    actions.Ref{Kind: actions.VolumeKind, Name: "disk", UID: "uid-disk"},
		Policy: corev1.PersistentVolumeReclaimDelete, Modes: modes(corev1.ReadWriteOnce), BoundByController: true, FromUID: "uid-data",
		ClaimRef: &corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data", UID: "uid-data", ResourceVersion: "12",
		},
		From: dataClaim(), To: dataClaim(single),
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What was light is not the original, and an undo goes back to it.
	st = bare()
	st.pv().Spec.AccessModes = modes(corev1.ReadWriteOncePod)
	delete(st.pv().Annotations, "pv.kubernetes.io/bound-by-controller")
	v = drafted(t, st).Volumes[0]
	if !only(v.Modes, corev1.ReadWriteOncePod) || !only(v.From.Spec.AccessModes, corev1.ReadWriteOnce) || v.BoundByController {
		t.Errorf("%+v", v)
	}
	if v = drafted(t, missing()).Volumes[0]; v.From != nil || v.FromUID != "" {
		t.Errorf("there was no claim: %+v", v)
	}
}

func TestJournalOfWorkloads(t *testing.T) {
	st := running()
	st.req.Recreate = true
	st.web().Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType}
	suspended := cronJob("report", "data")
	suspended.Spec.Suspend = new(true)
	st.s.CronJobs = append(st.s.CronJobs, cronJob("backup", "data"), suspended)
	want := []Workload{
		{
			Ref: actions.Ref{Kind: DeploymentKind, Namespace: "shop", Name: "web", UID: "uid-web"}, Replicas: 1,
			Strategy: &appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType},
		},
		{Ref: actions.Ref{Kind: CronJobKind, Namespace: "shop", Name: "backup", UID: "uid-backup"}},
		{Ref: actions.Ref{Kind: CronJobKind, Namespace: "shop", Name: "report", UID: "uid-report"}, Suspended: true},
	}
	if diff := cmp.Diff(want, drafted(t, st).Workloads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	st = bare()
	st.s.ReplicaSets = append(st.s.ReplicaSets, replicaSet("rs", "data", 1))
	want = []Workload{{Ref: actions.Ref{Kind: ReplicaSetKind, Namespace: "shop", Name: "rs", UID: "uid-rs"}, Replicas: 1}}
	if diff := cmp.Diff(want, drafted(t, st).Workloads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	*st.s.ReplicaSets[0].Spec.Replicas, want[0].Replicas = 0, 0
	if diff := cmp.Diff(want, drafted(t, st).Workloads); diff != "" {
		t.Errorf("one that is stopped already (-want +got):\n%s", diff)
	}
}

func TestJournalOfSet(t *testing.T) {
	st := set()
	loose := metav1.OwnerReference{APIVersion: "shops.example.test/v1", Kind: "Shop", Name: "main", UID: "uid-main"}
	st.db().OwnerReferences = []metav1.OwnerReference{loose, {APIVersion: "apps/v1", Kind: "Deployment", Name: "dead", UID: "uid-dead"}}
	st.db().ResourceVersion, st.db().Labels = "9", map[string]string{"app": "db"}
	st.db().Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	before := st.db().DeepCopy()
	j := drafted(t, st)
	if len(j.Workloads) != 1 {
		t.Fatalf("%d workloads", len(j.Workloads))
	}
	w := j.Workloads[0]
	spec := *before.Spec.DeepCopy()
	spec.VolumeClaimTemplates[1].Status = corev1.PersistentVolumeClaimStatus{}
	want := &appsv1.StatefulSet{
		TypeMeta: metav1.TypeMeta{Kind: "StatefulSet", APIVersion: "apps/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "db", Labels: map[string]string{"app": "db"}, Annotations: map[string]string{"team": "shop"},
			OwnerReferences: []metav1.OwnerReference{loose},
		},
		Spec: spec,
	}
	if diff := cmp.Diff(want, w.From); diff != "" {
		t.Errorf("from (-want +got):\n%s", diff)
	}
	want.Spec.VolumeClaimTemplates[1].Spec.AccessModes = modes(corev1.ReadWriteOncePod)
	if diff := cmp.Diff(want, w.To); diff != "" {
		t.Errorf("to (-want +got):\n%s", diff)
	}
	if w.Replicas != 3 || w.Retention == nil || *w.Retention != *before.Spec.PersistentVolumeClaimRetentionPolicy {
		t.Errorf("%+v", w)
	}
	if diff := cmp.Diff(before, st.db()); diff != "" {
		t.Errorf("the scene was written to:\n%s", diff)
	}

	st = set()
	st.req.KeepTemplates = true
	if w = drafted(t, st).Workloads[0]; w.From != nil || w.To != nil || w.Replicas != 3 || w.Retention != nil {
		t.Errorf("the set stays: %+v", w)
	}
	st = set()
	st.db().Spec.VolumeClaimTemplates[1].Spec.AccessModes = modes(corev1.ReadWriteOncePod)
	if w = drafted(t, st).Workloads[0]; w.From != nil || w.To != nil {
		t.Errorf("the template is right already: %+v", w)
	}
}

// TestMembers: which volumes are in the operation, and that the lead is the
// same whichever the user began with.
func TestMembers(t *testing.T) {
	rwop := modes(corev1.ReadWriteOncePod)
	for _, tc := range []struct {
		name     string
		volume   string
		ordinals []int
		done     bool
		want     []string
	}{
		{"all", "disk-1", nil, false, []string{"disk-0", "disk-1", "disk-2", "disk-3"}},
		{"all from another", "disk-3", nil, false, []string{"disk-0", "disk-1", "disk-2", "disk-3"}},
		{"some", "disk-3", []int{3, 1, 3}, false, []string{"disk-1", "disk-3"}},
		{"all but what is done", "disk-3", nil, true, []string{"disk-1", "disk-2", "disk-3"}},
		{"of another template", "logs-0", nil, false, []string{"logs-0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			st := set()
			st.req.Volume, st.req.Ordinals = actions.Ref{Kind: actions.VolumeKind, Name: tc.volume}, tc.ordinals
			if tc.done {
				st.s.Volumes["disk-0"].Spec.AccessModes, st.s.Claims[shopClaim("data-db-0")].Spec.AccessModes = rwop, rwop
			}
			j := drafted(t, st)
			var got []string
			for _, v := range j.Volumes {
				got = append(got, v.Ref.Name)
				if v.To.Spec.VolumeName != v.Ref.Name || !only(v.To.Spec.AccessModes, toMode) {
					t.Errorf("%+v", v.To)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOperatorsOf(t *testing.T) {
	st := running()
	if got := OperatorsOf(st.req, st.s); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	st.web().OwnerReferences = []metav1.OwnerReference{controlledBy("shops.example.test/v1", "Shop", "main")}
	st.pvc().OwnerReferences = []metav1.OwnerReference{controlledBy("disks.example.test/v1", "Disk", "one"), controlledBy("shops.example.test/v1", "Shop", "main")}
	want := []string{"Disk shop/one", "Shop shop/main"}
	if diff := cmp.Diff(want, OperatorsOf(st.req, st.s)); diff != "" {
		t.Error(diff)
	}
	st.req.Operators = want
	if diff := cmp.Diff(want, OperatorsOf(st.req, st.s)); diff != "" {
		t.Error(diff)
	}
}

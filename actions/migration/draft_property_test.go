package migration

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/claimref/claimref/actions"
)

// shuffled is a stage whose objects are any that the API server would accept.
func shuffled(t *rapid.T) *stage {
	name := rapid.SampledFrom(slices.Sorted(maps.Keys(stages()))).Draw(t, "stage")
	st := stages()[name]()
	for _, name := range slices.Sorted(maps.Keys(st.s.Volumes)) {
		shuffleVolume(t, st.s.Volumes[name])
	}
	for _, key := range slices.SortedFunc(maps.Keys(st.s.Claims), compareKeys) {
		if c := st.s.Claims[key]; c != nil {
			shuffleClaim(t, c)
		}
	}
	often := func(label string) bool { return rapid.IntRange(0, 3).Draw(t, label) < 3 }
	st.req.KeepTemplates, st.req.Recreate, st.req.DeleteCompleted = !often("keep"), often("recreate"), often("delete completed")
	if !often("ordinals") {
		st.req.Ordinals = rapid.SliceOfN(rapid.IntRange(0, 5), 0, 4).Draw(t, "chosen")
	}
	if name == "missing" && often("manifest") {
		st.req.Manifest = backup()
		shuffleClaim(t, st.req.Manifest)
	}
	if !often("operators") {
		st.req.Operators = []string{"Shop shop/main"}
	}
	shuffleWorkloads(t, st)
	shuffleGaps(t, st)
	return st
}

func shuffleVolume(t *rapid.T, pv *corev1.PersistentVolume) {
	pick := func(label string, of int) int { return max(0, rapid.IntRange(-6, of).Draw(t, label)) }
	pv.Spec.Capacity = size([]string{"10Gi", "10240Mi", "20Gi", "5Gi", "10.5Gi"}[pick("capacity", 4)])
	pv.Spec.StorageClassName = []string{"fast", "", "slow"}[pick("class", 2)]
	pv.Spec.PersistentVolumeReclaimPolicy = []corev1.PersistentVolumeReclaimPolicy{
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain, corev1.PersistentVolumeReclaimRecycle,
	}[pick("policy", 2)]
	pv.Spec.AccessModes = anyModes(t)
	pv.Spec.VolumeMode = []*corev1.PersistentVolumeMode{nil, new(corev1.PersistentVolumeFilesystem), new(corev1.PersistentVolumeBlock)}[pick("volume mode", 2)]
	if pick("unmarked", 1) > 0 {
		pv.Annotations = nil
	}
}

func anyModes(t *rapid.T) []corev1.PersistentVolumeAccessMode {
	return [][]corev1.PersistentVolumeAccessMode{
		modes(corev1.ReadWriteOnce), modes(corev1.ReadWriteOncePod), modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany), modes(corev1.ReadWriteMany),
	}[max(0, rapid.IntRange(-12, 3).Draw(t, "modes"))]
}

func shuffleClaim(t *rapid.T, c *corev1.PersistentVolumeClaim) {
	pick := func(label string, of int) int { return max(0, rapid.IntRange(-6, of).Draw(t, label)) }
	c.Spec.Resources.Requests = size([]string{"10Gi", "10737418240", "1Gi", "20Gi", "1500M"}[pick("request", 4)])
	c.Status.Capacity = c.Spec.Resources.Requests
	c.Spec.StorageClassName = []*string{new("fast"), nil, new(""), new("slow")}[pick("class", 3)]
	c.Spec.AccessModes = anyModes(t)
	c.Spec.VolumeMode = []*corev1.PersistentVolumeMode{nil, new(corev1.PersistentVolumeFilesystem), new(corev1.PersistentVolumeBlock)}[pick("volume mode", 2)]
	if pick("beta", 1) > 0 {
		c.Annotations[corev1.BetaStorageClassAnnotation] = "fast"
	}
	c.Annotations[rapid.StringMatching(`[a-z]{1,8}\.example\.test/[a-z]{1,8}`).Draw(t, "annotation")] = rapid.String().Draw(t, "text")
	c.Labels = []map[string]string{{"app": "web"}, {}, nil}[pick("labels", 2)]
	if pick("owned", 1) > 0 {
		c.OwnerReferences = []metav1.OwnerReference{
			controlledBy("shops.example.test/v1", "Shop", "main"), {APIVersion: "apps/v1", Kind: "Deployment", Name: "dead", UID: "uid-dead"},
		}
	}
	if pick("source", 1) > 0 {
		c.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "VolumeSnapshot", Name: "snap"}
	}
	if pick("selector", 1) > 0 {
		c.Spec.Selector = selector("web")
	}
}

func shuffleWorkloads(t *rapid.T, st *stage) {
	some := func(label string) bool { return rapid.IntRange(0, 5).Draw(t, label) == 5 }
	if some("cronjob") {
		st.s.CronJobs = append(st.s.CronJobs, cronJob("backup", "data"))
	}
	if some("deployment") {
		d := deployment("more", "data")
		d.Spec.Strategy = appsv1.DeploymentStrategy{}
		d.Spec.Replicas = new(rapid.Int32Range(0, 2).Draw(t, "replicas"))
		st.s.Deployments = append(st.s.Deployments, d)
	}
	if some("completed") {
		st.pods(pod("shop", "done", "data", corev1.PodSucceeded))
	}
	if some("bare pod") {
		st.pods(pod("shop", "lone", "data-db-1", corev1.PodRunning))
	}
	if some("operated") {
		for _, d := range st.s.Deployments {
			d.OwnerReferences = []metav1.OwnerReference{controlledBy("shops.example.test/v1", "Shop", "main")}
		}
	}
}

// shuffleGaps takes away what could not be read, or is not there.
func shuffleGaps(t *rapid.T, st *stage) {
	seldom := func(label string) bool { return rapid.IntRange(0, 19).Draw(t, label) == 19 }
	for _, key := range slices.SortedFunc(maps.Keys(st.s.Claims), compareKeys) {
		if seldom("claim gone") {
			st.s.Claims[key] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(st.s.Volumes)) {
		switch {
		case seldom("volume gone"):
			st.s.Volumes[name] = nil
		case seldom("no claimRef"):
			st.s.Volumes[name].Spec.ClaimRef = nil
		}
	}
	if seldom("unread") {
		unreadable(rapid.SampledFrom(unreadRules()).Draw(t, "rule").resource)(st)
		st.s.Namespaces, st.s.Drivers, st.s.Classes, st.s.Pods = nil, nil, nil, nil
	}
}

// TestDraftHolds: whatever the objects, a draft that does not block is one
// that the steps can rely on.
func TestDraftHolds(t *testing.T) {
	free := 0
	rapid.Check(t, func(t *rapid.T) {
		st := shuffled(t)
		before := written(t, st)
		j, checks := Draft(st.req, st.s)
		if again, checksAgain := Draft(st.req, st.s); !cmp.Equal(j, again) || !cmp.Equal(checks, checksAgain) {
			t.Fatal("the same scene gives another draft")
		}
		if after := written(t, st); after != before {
			t.Fatalf("the scene was written to:\n%s", cmp.Diff(before, after))
		}
		Want(st.req, st.s)
		if slices.ContainsFunc(checks, func(c actions.Check) bool { return c.Severity == actions.Block }) {
			return
		}
		free++
		holds(t, st, j)
	})
	if free == 0 {
		t.Error("every draft blocks, so nothing was looked at")
	}
	t.Logf("%d drafts do not block", free)
}

func written(t *rapid.T, st *stage) string {
	volumes, err := json.Marshal(st.s.Volumes)
	if err != nil {
		t.Fatal(err)
	}
	lists := []any{st.req, st.s.StatefulSets, st.s.Deployments, st.s.Pods}
	for _, key := range slices.SortedFunc(maps.Keys(st.s.Claims), compareKeys) {
		lists = append(lists, key, st.s.Claims[key])
	}
	rest, err := json.Marshal(lists)
	if err != nil {
		t.Fatal(err)
	}
	return string(volumes) + string(rest)
}

func holds(t *rapid.T, st *stage, j Journal) {
	if len(j.Volumes) == 0 {
		t.Fatal("nothing to do, and nothing said of it")
	}
	for _, v := range j.Volumes {
		pv := st.s.Volumes[v.Ref.Name]
		if pv == nil || pv.UID != v.Ref.UID || v.Policy != pv.Spec.PersistentVolumeReclaimPolicy || !cmp.Equal(v.Modes, pv.Spec.AccessModes) {
			t.Fatalf("not as the volume was: %+v", v)
		}
		holdsClaim(t, v.To, v, pv)
		if v.From != nil {
			holdsClaim(t, v.From, v, pv)
			was := st.s.Claims[claimKey(v.From)]
			if was == nil || was.UID != v.FromUID || !cmp.Equal(was.Spec.AccessModes, v.From.Spec.AccessModes) {
				t.Fatalf("not as the claim was: %+v", v.From)
			}
		}
		switch {
		case j.Request.Verb == SinglePod && !only(v.To.Spec.AccessModes, corev1.ReadWriteOncePod):
			t.Fatalf("modes %v", v.To.Spec.AccessModes)
		case j.Request.Verb == MoveClaim && claimKey(v.To) != j.Request.To:
			t.Fatalf("to %v", claimKey(v.To))
		case j.Request.Verb == RecreateClaim && v.From != nil:
			t.Fatal("there was no claim")
		}
	}
	j.ID = "op"
	text, err := j.Encode()
	if err != nil || len(text) > MaxJournal {
		t.Fatalf("%d bytes: %v", len(text), err)
	}
	back, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := back.Encode()
	if err != nil || again != text {
		t.Fatalf("written again it differs (%v):\n%s", err, cmp.Diff(text, again))
	}
	if diff := cmp.Diff(j, back, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("read again it differs:\n%s", diff)
	}
}

func holdsClaim(t *rapid.T, c *corev1.PersistentVolumeClaim, v Volume, pv *corev1.PersistentVolume) {
	asked, have := c.Spec.Resources.Requests[corev1.ResourceStorage], pv.Spec.Capacity[corev1.ResourceStorage]
	switch {
	case c.Kind != "PersistentVolumeClaim" || c.APIVersion != "v1" || c.Name == "" || c.Namespace == "":
		t.Fatalf("not a manifest: %+v", c)
	case c.Spec.VolumeName != v.Ref.Name:
		t.Fatalf("names volume %q", c.Spec.VolumeName)
	case c.Spec.StorageClassName == nil:
		t.Fatal("the default class would be filled in")
	case asked.Cmp(have) > 0:
		t.Fatalf("asks for %s of %s", asked.String(), have.String())
	case c.UID != "" || c.ResourceVersion != "" || len(c.Finalizers) > 0 || c.Status.Phase != "" || !c.CreationTimestamp.IsZero():
		t.Fatalf("not cleaned: %+v", c)
	case c.Spec.DataSource != nil || c.Spec.DataSourceRef != nil:
		t.Fatal("it would be filled again")
	}
	for name := range c.Annotations {
		if strings.HasPrefix(name, "pv.kubernetes.io/") || name == corev1.BetaStorageClassAnnotation {
			t.Fatalf("annotation %s", name)
		}
	}
	for _, ref := range c.OwnerReferences {
		if ref.Name == "dead" {
			t.Fatal("it would be collected as garbage")
		}
	}
}

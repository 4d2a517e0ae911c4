package explain

import (
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/claimref/claimref/actions"
	"github.com/claimref/claimref/kube"
)

// risksOf finds the risks of a snapshot from scratch.
func risksOf(t testing.TB, snap *kube.Snapshot, protected ...string) *Risks {
	t.Helper()
	tracker, err := NewTracker(RiskOptions{Protected: protected})
	if err != nil {
		t.Fatal(err)
	}
	return tracker.Update(snap)
}

// aRisk is a risk that must be found, or must not.
type riskCase struct {
	objects kube.Objects
	unread  []kube.Resource
	protect []string
	id      RiskID
	// severity is what it must have; absent for a risk that must not be there.
	severity Severity
	object   string
	text     string
	// cure is looked at where a claim is Lost.
	cure actions.Verb
}

const absent Severity = -1

func runRisks(t *testing.T, cases map[string]riskCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(string(tc.id)+"/"+name, func(t *testing.T) {
			snap := kube.NewSnapshot(tc.objects)
			unread(snap, tc.unread...)
			risks := risksOf(t, snap, tc.protect...)
			var found []*Risk
			for _, r := range risks.List() {
				if r.ID == tc.id {
					found = append(found, r)
				}
				if r.Text == "" || strings.HasSuffix(r.Text, ".") || strings.HasSuffix(r.Remedy, ".") || strings.Contains(r.Text, "\x1b") {
					t.Errorf("not in form: %+v", *r)
				}
				if r.Remedy == "" && r.Severity > Info {
					t.Errorf("nothing to do about it: %+v", *r)
				}
			}
			if tc.severity == absent {
				if len(found) > 0 {
					t.Errorf("unexpected: %+v", *found[0])
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("found %d times among %d", len(found), len(risks.List()))
			}
			r := found[0]
			if tc.id == RiskLost && r.Cure != tc.cure {
				t.Errorf("its cure is %q, want %q", r.Cure, tc.cure)
			}
			if r.Severity != tc.severity || r.Object.Name != tc.object || !strings.Contains(r.Text, tc.text) {
				t.Errorf("got %+v", *r)
			}
			if of := risks.Of(r.Object); !slices.Contains(of, r) {
				t.Errorf("it is not among those of its object: %+v", of)
			}
		})
	}
}

// objects is a world with more in it.
func objects(volumes []*corev1.PersistentVolume, claims []*corev1.PersistentVolumeClaim, edits ...func(*kube.Objects)) kube.Objects {
	o := world(volumes, claims...)
	for _, e := range edits {
		e(&o)
	}
	return o
}

func claimsOf(list ...*corev1.PersistentVolumeClaim) []*corev1.PersistentVolumeClaim { return list }

func withPods(pods ...*corev1.Pod) func(*kube.Objects) {
	return func(o *kube.Objects) { o.Pods = append(o.Pods, pods...) }
}

func withSet(set *appsv1.StatefulSet) func(*kube.Objects) {
	return func(o *kube.Objects) { o.StatefulSets = append(o.StatefulSets, set) }
}

func withClasses(list ...*storagev1.StorageClass) func(*kube.Objects) {
	return func(o *kube.Objects) { o.Classes = list }
}

func withDeployment(name string, replicas int32, strategy appsv1.DeploymentStrategy, claims ...string) func(*kube.Objects) {
	return func(o *kube.Objects) {
		o.Deployments = append(o.Deployments, &appsv1.Deployment{ObjectMeta: meta("shop", name), Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Strategy: strategy, Template: template(claims...),
		}})
	}
}

func TestVolumeRisks(t *testing.T) {
	held := func(o ...pvOption) []*corev1.PersistentVolume {
		return pvs(newPV("v", append([]pvOption{tied("data-web-0", "uid-data-web-0"), policy(remove)}, o...)...))
	}
	claim := claimsOf(newPVC("data-web-0", boundTo("v")))
	noFinalizer := finalized("kubernetes.io/pv-protection", "external-provisioner.volume.kubernetes.io/finalizer", "external-attacher/csi-test")
	runRisks(t, map[string]riskCase{
		"under Delete":       {objects: objects(held(), claim, withSet(newSet("web", 1))), id: RiskDeleteStatefulSet, severity: High, object: "v", text: "StatefulSet shop/web"},
		"under Retain":       {objects: objects(held(policy(keep)), claim, withSet(newSet("web", 1))), id: RiskDeleteStatefulSet, severity: absent},
		"of a Deployment":    {objects: objects(held(), claim, withDeployment("web", 1, appsv1.DeploymentStrategy{}, "data-web-0")), id: RiskDeleteStatefulSet, severity: absent},
		"by the pod's owner": {objects: objects(held(), claim, withPods(newPod("web-0", "data-web-0", ownedBy("StatefulSet", "web")))), id: RiskDeleteStatefulSet, severity: High, object: "v", text: "shop/web"},

		"released":               {objects: objects(pvs(newPV("v", released, policy(remove))), nil), id: RiskReleasedDelete, severity: Critical, object: "v", text: "at any moment"},
		"failed":                 {objects: objects(pvs(newPV("v", released, inPhase(corev1.VolumeFailed), policy(remove))), nil), id: RiskReleasedDelete, severity: Critical, object: "v", text: "tried again"},
		"released, kept":         {objects: objects(pvs(newPV("v", released)), nil), id: RiskReleasedDelete, severity: absent},
		"bound":                  {objects: objects(held(), claim), id: RiskReleasedDelete, severity: absent},
		"failed, kept":           {objects: objects(pvs(newPV("v", released, inPhase(corev1.VolumeFailed))), nil), id: RiskFailed, severity: Low, object: "v", text: "gave no message"},
		"failed, told elsewhere": {objects: objects(pvs(newPV("v", released, inPhase(corev1.VolumeFailed), policy(remove))), nil), id: RiskFailed, severity: absent},

		"class Retain":          {objects: objects(held(), claim, withClasses(newSC("fast", retains))), id: RiskPolicyDiffers, severity: High, object: "v", text: "fast says Retain"},
		"class Delete":          {objects: objects(held(), claim), id: RiskPolicyDiffers, severity: absent},
		"class and volume keep": {objects: objects(held(policy(keep)), claim, withClasses(newSC("fast", retains))), id: RiskPolicyDiffers, severity: absent},

		"recycled":         {objects: objects(pvs(newPV("v", policy(recycle))), nil), id: RiskRecycle, severity: High, object: "v", text: "deprecated"},
		"being recycled":   {objects: objects(pvs(newPV("v", released, policy(recycle))), nil), id: RiskRecycle, severity: Critical, object: "v", text: "right now"},
		"recycling failed": {objects: objects(pvs(newPV("v", released, inPhase(corev1.VolumeFailed), policy(recycle))), nil), id: RiskRecycle, severity: Critical, object: "v", text: "right now"},
		"not recycled":     {objects: objects(pvs(newPV("v", policy(remove))), nil), id: RiskRecycle, severity: absent},

		"local, gone": {objects: objects(pvs(newPV("v", onNode("n9"))), nil), id: RiskNodeGone, severity: High, object: "v", text: "node that is gone, or has lost its label (n9)"},
		"zone, gone": {
			objects: objects(pvs(newPV("v", affine(corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"z"}}))), nil),
			id:      RiskNodeGone, severity: Low, object: "v", text: "zone=z",
		},
		"there":            {objects: objects(pvs(newPV("v", onNode("n1"))), nil), id: RiskNodeGone, severity: absent},
		"nodes unread":     {objects: objects(pvs(newPV("v", onNode("n9"))), nil), unread: []kube.Resource{kube.Nodes}, id: RiskNodeGone, severity: absent},
		"without affinity": {objects: objects(pvs(newPV("v")), nil), id: RiskNodeGone, severity: absent},

		"bound elsewhere": {objects: objects(pvs(newPV("v", tied("c", ""))), claimsOf(newPVC("c", boundTo("w")))), id: RiskReservedElsewhere, severity: Low, object: "v", text: "waits for nothing"},
		"not bound":       {objects: objects(pvs(newPV("v", tied("c", ""))), claimsOf(newPVC("c"))), id: RiskReservedElsewhere, severity: absent},
		"namespace gone":  {objects: objects(pvs(newPV("v", tied("c", ""))), nil, func(o *kube.Objects) { o.Namespaces = nil }), id: RiskReservedNamespace, severity: Low, object: "v", text: "does not exist"},
		"namespace going": {
			objects: objects(pvs(newPV("v", tied("c", ""))), nil, func(o *kube.Objects) { o.Namespaces[0].Status.Phase = corev1.NamespaceTerminating }),
			id:      RiskReservedNamespace, severity: Low, object: "v", text: "is being deleted",
		},
		"namespace going, claim there": {
			objects: objects(pvs(newPV("v", tied("c", ""))), claimsOf(newPVC("c")), func(o *kube.Objects) { o.Namespaces[0].Status.Phase = corev1.NamespaceTerminating }),
			id:      RiskReservedNamespace, severity: Low, object: "v", text: "is being deleted",
		},
		"namespace not seen yet, claim there": {objects: objects(pvs(newPV("v", tied("c", ""))), claimsOf(newPVC("c")), func(o *kube.Objects) { o.Namespaces = nil }), id: RiskReservedNamespace, severity: absent},
		"namespace there":                     {objects: objects(pvs(newPV("v", tied("c", ""))), nil), id: RiskReservedNamespace, severity: absent},
		"namespaces unread":                   {objects: objects(pvs(newPV("v", tied("c", ""))), nil, func(o *kube.Objects) { o.Namespaces = nil }), unread: []kube.Resource{kube.Namespaces}, id: RiskReservedNamespace, severity: absent},

		"provisioned":          {objects: objects(pvs(newPV("v", provisionedBy("csi.test"))), nil), id: RiskOpenWithData, severity: High, object: "v", text: "likely"},
		"single pod, no CSI":   {objects: objects(pvs(newPV("v", offers(corev1.ReadWriteOncePod))), nil), id: RiskSinglePodDriver, severity: Low, object: "v", text: "CSI volumes only"},
		"single pod, CSI":      {objects: objects(pvs(newPV("v", offers(corev1.ReadWriteOncePod), ofDriver)), nil), id: RiskSinglePodDriver, severity: absent},
		"single node, no CSI":  {objects: objects(pvs(newPV("v")), nil), id: RiskSinglePodDriver, severity: absent},
		"made by hand":         {objects: objects(pvs(newPV("v")), nil), id: RiskOpenWithData, severity: absent},
		"provisioned, tied":    {objects: objects(pvs(newPV("v", provisionedBy("csi.test"), tied("c", ""))), nil), id: RiskOpenWithData, severity: absent},
		"known finalizers":     {objects: objects(pvs(newPV("v", noFinalizer)), nil), id: RiskForeignFinalizer, severity: absent},
		"a foreign one":        {objects: objects(pvs(newPV("v", finalized("kubernetes.io/pv-protection", "example.com/keep"))), nil), id: RiskForeignFinalizer, severity: Info, object: "v", text: "example.com/keep"},
		"a foreign one, going": {objects: objects(pvs(newPV("v", goingPV, finalized("example.com/keep"))), nil), id: RiskForeignFinalizer, severity: High, object: "v", text: "Its deletion waits"},
		"volume's class gone":  {objects: objects(pvs(newPV("v", ofClass("old"))), nil), id: RiskClassGone, severity: Low, object: "v", text: "class old"},
		"volume without class": {objects: objects(pvs(newPV("v", ofClass(""))), nil), id: RiskClassGone, severity: absent},
		"classes unread":       {objects: objects(pvs(newPV("v", ofClass("old"))), nil), unread: []kube.Resource{kube.StorageClasses}, id: RiskClassGone, severity: absent},
		"one default":          {objects: objects(nil, nil, withClasses(newSC("a", isDefault), newSC("b"))), id: RiskSeveralDefaults, severity: absent},
		"two defaults":         {objects: objects(nil, nil, withClasses(newSC("a", isDefault), newSC("b", isDefault))), id: RiskSeveralDefaults, severity: Low, object: "b", text: "class a, which wins"},
	})
}

func TestClaimRisks(t *testing.T) {
	const pod = corev1.ReadWriteOncePod
	data := func(o ...pvOption) []*corev1.PersistentVolume {
		return pvs(newPV("v", append([]pvOption{tied("data-web-0", "uid-data-web-0"), policy(remove)}, o...)...))
	}
	bound := func(o ...pvcOption) []*corev1.PersistentVolumeClaim {
		return claimsOf(newPVC("data-web-0", append(o, boundTo("v"))...))
	}
	single := bound(asks(pod))
	retention := func(scaled, deleted appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSet) {
		return func(s *appsv1.StatefulSet) {
			s.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenScaled: scaled, WhenDeleted: deleted}
		}
	}
	const gone, stays = appsv1.DeletePersistentVolumeClaimRetentionPolicyType, appsv1.RetainPersistentVolumeClaimRetentionPolicyType
	cron := func(suspended bool) func(*kube.Objects) {
		return func(o *kube.Objects) {
			o.CronJobs = append(o.CronJobs, &batchv1.CronJob{ObjectMeta: meta("shop", "backup"), Spec: batchv1.CronJobSpec{
				Suspend:     &suspended,
				JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template("data-web-0")}},
			}})
		}
	}
	rolling := func(surge int) appsv1.DeploymentStrategy {
		n := intstr.FromInt(surge)
		return appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &n}}
	}
	recreate := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	edited := func(modes ...corev1.PersistentVolumeAccessMode) []*corev1.PersistentVolumeClaim {
		c := newPVC("data-web-0", boundTo("v"))
		c.Status.AccessModes = modes
		return claimsOf(c)
	}
	unused := func(status corev1.ConditionStatus) []*corev1.PersistentVolumeClaim {
		c := newPVC("data-web-0", boundTo("v"))
		c.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimUnused, Status: status, LastTransitionTime: before(48 * time.Hour)}}
		return claimsOf(c)
	}
	p := func(name string, o ...func(*corev1.Pod)) *corev1.Pod { return newPod(name, "data-web-0", o...) }
	runRisks(t, map[string]riskCase{
		"by name":             {objects: objects(data(), bound()), protect: []string{"*-web-*"}, id: RiskDeleteProtected, severity: Critical, object: "data-web-0", text: "policy is Delete"},
		"by namespace":        {objects: objects(data(), bound()), protect: []string{"sh*/*"}, id: RiskDeleteProtected, severity: Critical, object: "data-web-0"},
		"recycled":            {objects: objects(data(policy(recycle)), bound()), protect: []string{"*"}, id: RiskDeleteProtected, severity: Critical, object: "data-web-0", text: "Recycle"},
		"kept":                {objects: objects(data(policy(keep)), bound()), protect: []string{"*"}, id: RiskDeleteProtected, severity: absent},
		"not its volume":      {objects: objects(data(tied("x", "uid-x")), bound()), protect: []string{"*"}, id: RiskDeleteProtected, severity: absent},
		"another one":         {objects: objects(data(), bound()), protect: []string{"web", "lab/*"}, id: RiskDeleteProtected, severity: absent},
		"not asked for":       {objects: objects(data(), bound()), id: RiskDeleteProtected, severity: absent},
		"going, under Delete": {objects: objects(data(), bound(goingPVC)), id: RiskTerminatingDelete, severity: Critical, object: "data-web-0", text: "as soon as nothing holds"},
		"going, under Retain": {objects: objects(data(policy(keep)), bound(goingPVC)), id: RiskTerminatingDelete, severity: absent},
		"staying":             {objects: objects(data(), bound()), id: RiskTerminatingDelete, severity: absent},
		"scaled":              {objects: objects(data(), bound(), withSet(newSet("web", 1, retention(gone, stays)))), id: RiskRetentionDelete, severity: High, object: "data-web-0", text: "is scaled down, it deletes"},
		"deleted":             {objects: objects(data(), bound(), withSet(newSet("web", 1, retention(stays, gone)))), id: RiskRetentionDelete, severity: High, object: "data-web-0", text: "is deleted, it deletes"},
		"both":                {objects: objects(data(), bound(), withSet(newSet("web", 1, retention(gone, gone)))), id: RiskRetentionDelete, severity: High, object: "data-web-0", text: "is scaled down or deleted"},
		"neither":             {objects: objects(data(), bound(), withSet(newSet("web", 1, retention(stays, stays)))), id: RiskRetentionDelete, severity: absent},
		"both, volume kept":   {objects: objects(data(policy(keep)), bound(), withSet(newSet("web", 1, retention(gone, gone)))), id: RiskRetentionDelete, severity: absent},
		"not of its templates": {
			objects: objects(data(), bound(), withSet(newSet("web", 1, retention(gone, gone), func(s *appsv1.StatefulSet) { s.Spec.Template = template("data-web-0") }))),
			id:      RiskRetentionDelete, severity: absent,
		},

		"one pod":               {objects: objects(data(), bound(), withPods(p("a"))), id: RiskSharedOnce, severity: absent},
		"two on one node":       {objects: objects(data(), bound(), withPods(p("a"), p("b"))), id: RiskSharedOnce, severity: Low, object: "data-web-0", text: "2 pods use it at the same time"},
		"two on two nodes":      {objects: objects(data(), bound(), withPods(p("a"), p("b", podOn("n2")))), id: RiskSharedOnce, severity: High, object: "data-web-0", text: "on 2"},
		"one has ended":         {objects: objects(data(), bound(), withPods(p("a"), p("b", podOn("n2"), podPhase(corev1.PodSucceeded)))), id: RiskSharedOnce, severity: absent},
		"several to come":       {objects: objects(data(), bound(), withDeployment("d", 3, recreate, "data-web-0")), id: RiskSharedOnce, severity: Low, object: "data-web-0", text: "More than one pod is to use it"},
		"a set of three":        {objects: objects(data(), bound(), withSet(newSet("web", 3))), id: RiskSharedOnce, severity: absent},
		"for many":              {objects: objects(data(), bound(asks(corev1.ReadWriteOnce, corev1.ReadWriteMany)), withPods(p("a"), p("b", podOn("n2")))), id: RiskSharedOnce, severity: absent},
		"two, single":           {objects: objects(data(), single, withPods(p("a"), p("b"))), id: RiskSharedOncePod, severity: High, object: "data-web-0", text: "but 2 pods would"},
		"two, single, not once": {objects: objects(data(), single, withPods(p("a"), p("b"))), id: RiskSharedOnce, severity: absent},
		"one, single":           {objects: objects(data(), single, withPods(p("a"))), id: RiskSharedOncePod, severity: absent},
		"a backup to come":      {objects: objects(data(), single, withPods(p("a")), cron(false)), id: RiskSharedOncePod, severity: High, object: "data-web-0", text: "2 pods"},
		"a backup suspended":    {objects: objects(data(), single, withPods(p("a")), cron(true)), id: RiskSharedOncePod, severity: absent},
		"three replicas":        {objects: objects(data(), single, withDeployment("d", 3, recreate, "data-web-0")), id: RiskSharedOncePod, severity: High, object: "data-web-0", text: "3 pods"},
		"no replicas":           {objects: objects(data(), single, withDeployment("d", 0, recreate, "data-web-0")), id: RiskSharedOncePod, severity: absent},
		"a daemon": {
			objects: objects(data(), single, func(o *kube.Objects) {
				o.DaemonSets = append(o.DaemonSets, &appsv1.DaemonSet{ObjectMeta: meta("shop", "d"), Spec: appsv1.DaemonSetSpec{Template: template("data-web-0")}})
			}), id: RiskSharedOncePod, severity: High, object: "data-web-0", text: "a pod on every node",
		},
		"surges":            {objects: objects(data(), single, withDeployment("d", 1, rolling(1), "data-web-0")), id: RiskSurge, severity: High, object: "data-web-0", text: "Deployment shop/d"},
		"does not surge":    {objects: objects(data(), single, withDeployment("d", 1, rolling(0), "data-web-0")), id: RiskSurge, severity: absent},
		"recreates":         {objects: objects(data(), single, withDeployment("d", 1, recreate, "data-web-0")), id: RiskSurge, severity: absent},
		"surges, but once":  {objects: objects(data(), bound(), withDeployment("d", 1, rolling(1), "data-web-0")), id: RiskSurge, severity: absent},
		"half a single":     {objects: objects(data(offers(pod)), edited(pod)), id: RiskModesDiffer, severity: High, object: "data-web-0", text: "spec says RWO, its volume RWOP"},
		"more than asked":   {objects: objects(data(), edited(corev1.ReadWriteOnce, corev1.ReadOnlyMany)), id: RiskModesDiffer, severity: Low, object: "data-web-0"},
		"the same":          {objects: objects(data(), bound()), id: RiskModesDiffer, severity: absent},
		"unused, told":      {objects: objects(data(), unused(corev1.ConditionTrue)), id: RiskUnused, severity: Info, object: "data-web-0", text: "no pod uses it"},
		"used, told":        {objects: objects(data(), unused(corev1.ConditionFalse), withPods(p("a"))), id: RiskUnused, severity: absent},
		"unused, seen":      {objects: objects(data(), bound()), id: RiskUnused, severity: Info, object: "data-web-0", text: "no pod uses it"},
		"told, but seen":    {objects: objects(data(), unused(corev1.ConditionTrue), withPods(p("a"))), id: RiskUnused, severity: absent},
		"told, template":    {objects: objects(data(), unused(corev1.ConditionTrue), withSet(newSet("web", 0))), id: RiskUnused, severity: Info, object: "data-web-0", text: "StatefulSet web would"},
		"template":          {objects: objects(data(), bound(), withSet(newSet("web", 0))), id: RiskUnused, severity: absent},
		"workloads unread":  {objects: objects(data(), bound()), unread: []kube.Resource{kube.CronJobs}, id: RiskUnused, severity: absent},
		"not bound":         {objects: objects(nil, claimsOf(newPVC("c"))), id: RiskUnused, severity: absent},
		"pending, no class": {objects: objects(nil, claimsOf(newPVC("c", asksClass("old")))), id: RiskClassGone, severity: High, object: "c", text: "nothing is provisioned"},
		"bound, no class":   {objects: objects(data(ofClass("fast")), bound(asksClass("old"))), id: RiskClassGone, severity: Low, object: "data-web-0", text: "can't grow"},
		"pending by name":   {objects: objects(nil, claimsOf(newPVC("c", asksClass("old"), names("v")))), id: RiskClassGone, severity: Low, object: "c"},
		"class there":       {objects: objects(nil, claimsOf(newPVC("c"))), id: RiskClassGone, severity: absent},
		"Lost":              {objects: objects(nil, claimsOf(newPVC("c", lostOver("v")))), id: RiskLost, severity: High, object: "c", text: "v does not exist"},
		"not Lost":          {objects: objects(data(), bound()), id: RiskLost, severity: absent},

		"Lost, repairable": {
			objects: objects(pvs(newPV("v", tied("c", ""))), claimsOf(newPVC("c", lostOver("v")))), id: RiskLost, severity: High, object: "c", cure: actions.Repair,
		},
		"Lost, volume going": {
			objects: objects(pvs(newPV("v", tied("c", ""), goingPV)), claimsOf(newPVC("c", lostOver("v")))), id: RiskLost, severity: High, object: "c",
		},
		"Lost, volume operated": {
			objects: objects(pvs(newPV("v", tied("c", ""), operated)), claimsOf(newPVC("c", lostOver("v")))), id: RiskLost, severity: High, object: "c",
		},
		"Lost to another": {
			objects: objects(pvs(newPV("v", tied("d", "uid-d"))), claimsOf(newPVC("c", lostOver("v")), newPVC("d", boundTo("v")))), id: RiskLost, severity: High, object: "c",
		},
		"another holds it":    {objects: objects(data(), append(bound(), newPVC("c", names("v")))), id: RiskNamedTwice, severity: High, object: "c", text: "so does claim shop/data-web-0"},
		"nobody else":         {objects: objects(nil, claimsOf(newPVC("c", names("v")))), id: RiskNamedTwice, severity: absent},
		"both count as bound": {objects: objects(data(), append(bound(), newPVC("c", boundTo("v")))), id: RiskNamedTwice, severity: Critical, object: "c", text: "which claim shop/data-web-0 has, too"},
	})
}

// TestNamedTwice: where nobody has the volume yet, both claims are told.
func TestNamedTwice(t *testing.T) {
	snap := kube.NewSnapshot(world(nil, newPVC("a", names("v")), newPVC("b", names("v")), newPVC("c", names("w"))))
	risks := risksOf(t, snap)
	for name, want := range map[string]string{"a": "claim shop/b", "b": "claim shop/a", "c": ""} {
		if got := risks.Claim("shop", name).Text; (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRiskOrder(t *testing.T) {
	snap := kube.NewSnapshot(world(pvs(
		newPV("b", released, policy(remove)), newPV("a", released, policy(remove)), newPV("c", finalized("x.y/z")), newPV("d", ofClass("old"), finalized("x.y/z")), newPV("e"),
	)))
	risks := risksOf(t, snap)
	var got []string
	for _, r := range risks.List() {
		got = append(got, r.Severity.String()+" "+r.Object.Name)
	}
	if want := "critical a, critical b, low d, info c, info d"; strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if risks.Count(Critical) != 2 || risks.Count(High) != 0 || risks.Count(Low) != 1 || risks.Count(Info) != 2 {
		t.Error("they are not counted")
	}
	if m := risks.Volume("d"); m.Count != 2 || m.Worst != Low || !strings.Contains(m.Text, "old") {
		t.Errorf("got %+v", m)
	}
	if m := risks.Volume("e"); m != (Mark{}) {
		t.Errorf("got %+v", m)
	}
	if m := risks.Volume("no such"); m != (Mark{}) {
		t.Errorf("got %+v", m)
	}
	marks := risks.VolumeMarks()
	if len(marks) != 4 || marks[snap.Volume("d")] != risks.Volume("d") {
		t.Errorf("got %+v", marks)
	}
	if len((&Risks{}).Of(actions.Ref{Kind: actions.VolumeKind, Name: "a"})) != 0 {
		t.Error("no risks yet")
	}
}

func TestBadPattern(t *testing.T) {
	if _, err := NewTracker(RiskOptions{Protected: []string{"ok", "[a"}}); err == nil || !strings.Contains(err.Error(), `"[a"`) {
		t.Errorf("got %v", err)
	}
}

// TestCureOfAnOperated: as long as an operation is on a volume, it is what goes
// on. Only Retain can be set.
func TestCureOfAnOperated(t *testing.T) {
	snap := kube.NewSnapshot(world(pvs(
		newPV("open", provisionedBy("csi.test")), newPV("busy", provisionedBy("csi.test"), operated), newPV("going", released, policy(remove), operated),
	)))
	risks := risksOf(t, snap)
	for name, want := range map[string]actions.Verb{"open": actions.Reserve, "busy": "", "going": actions.SetPolicy} {
		if of := risks.Of(actions.Ref{Kind: actions.VolumeKind, Name: name}); len(of) != 1 || of[0].Cure != want {
			t.Errorf("%s: %+v, want the cure %q", name, of, want)
		}
	}
}

package binding

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"pgregory.net/rapid"
)

func describe(takers []Taker) string {
	var out []string
	for _, t := range takers {
		s := t.Claim.Name + ":" + string(t.Path)
		if t.Delayed {
			s += ":delayed"
		}
		if t.Instead != "" {
			s += ":after-" + t.Instead
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestTakers(t *testing.T) {
	released := testPV("it", tied("gone", "uid-old"), phase(corev1.VolumeReleased))
	pvcs := func(list ...*corev1.PersistentVolumeClaim) []*corev1.PersistentVolumeClaim { return list }
	pvs := func(list ...*corev1.PersistentVolume) []*corev1.PersistentVolume { return list }
	for _, tt := range []struct {
		what    string
		pv      *corev1.PersistentVolume
		others  []*corev1.PersistentVolume
		claims  []*corev1.PersistentVolumeClaim
		classes []*storagev1.StorageClass
		want    string
	}{
		{what: "nobody waits", pv: released, want: ""},
		{
			what: "a stranger of the same class is faster than the claim to come", pv: released,
			claims: pvcs(testPVC("events", wants("5Gi"))), want: "events:ordinary",
		},
		{
			what: "what does not fit does not take", pv: released,
			claims: pvcs(testPVC("big", wants("50Gi")), testPVC("many", asks("RWX")), testPVC("class", pvcClass("x"))), want: "",
		},
		{
			what: "a claim that has a smaller volume to take", pv: released,
			others: pvs(testPV("small", size("6Gi"))), claims: pvcs(testPVC("c", wants("5Gi"))), want: "",
		},
		{
			what: "a claim that could take a larger one", pv: released,
			others: pvs(testPV("large", size("60Gi"))), claims: pvcs(testPVC("c")), want: "c:ordinary",
		},
		{
			what: "a larger volume with fewer modes is looked at first", pv: testPV("it", offers("RWO,ROX")),
			others: pvs(testPV("large", size("60Gi"))), claims: pvcs(testPVC("c")), want: "",
		},
		{
			what: "a claim that another volume waits for", pv: released,
			others: pvs(testPV("own", tied("c", ""), size("60Gi"))), claims: pvcs(testPVC("c")), want: "",
		},
		{
			what: "an equally good volume leaves it open", pv: released,
			others: pvs(testPV("twin")), claims: pvcs(testPVC("c")), want: "c:ordinary",
		},
		{
			what: "a claim that asks for the other volume by name drives the first one here", pv: released,
			others: pvs(testPV("small", size("6Gi"))),
			claims: pvcs(testPVC("named", wants("5Gi"), names("small")), testPVC("c", wants("5Gi"))), want: "c:ordinary:after-small",
		},
		{
			what: "so does one to which this volume would be of no use", pv: testPV("it", size("20Gi"), offers("RWO")),
			others: pvs(testPV("small", size("6Gi"), offers("RWO,ROX"))),
			claims: pvcs(testPVC("both", wants("5Gi"), asks("RWO,ROX")), testPVC("c", wants("5Gi"), asks("ROX"))), want: "",
		},
		{
			what: "two claims for one other volume: one comes here", pv: released,
			others: pvs(testPV("small", size("6Gi"))),
			claims: pvcs(testPVC("b", wants("5Gi")), testPVC("a", wants("5Gi"))),
			want:   "a:ordinary:after-small b:ordinary:after-small",
		},
		{
			what: "by name, with the checks of that path", pv: released,
			claims: pvcs(
				testPVC("named", names("it"), func(c *corev1.PersistentVolumeClaim) {
					c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"no": "such"}}
				}),
				testPVC("big", names("it"), wants("50Gi")), testPVC("other", names("else"))),
			want: "named:volumeName",
		},
		{
			what: "a claim that was bound to it before", pv: released,
			claims: pvcs(testPVC("lost", names("it"), bindCompleted, wants("50Gi")), testPVC("happy", names("else"), bindCompleted)),
			want:   "lost:rebind",
		},
		{
			what: "those that wait for a pod come last", pv: released,
			claims:  pvcs(testPVC("a", pvcClass("slow")), testPVC("b")),
			classes: []*storagev1.StorageClass{testClass("slow", waits)},
			want:    "b:ordinary",
		},
		{
			what: "waiting for a pod", pv: testPV("it", pvClass("slow")),
			claims:  pvcs(testPVC("a", pvcClass("slow")), testPVC("b", pvcClass("slow"), names("it"))),
			classes: []*storagev1.StorageClass{testClass("slow", waits)},
			want:    "b:volumeName a:ordinary:delayed",
		},
		{
			what: "waiting for a pod, but another volume is reserved for it", pv: testPV("it", pvClass("slow")),
			others:  pvs(testPV("own", tied("a", ""))),
			claims:  pvcs(testPVC("a", pvcClass("slow"))),
			classes: []*storagev1.StorageClass{testClass("slow", waits)},
			want:    "",
		},
		{
			what: "the default class is filled in", pv: released,
			claims:  pvcs(testPVC("c", noClass), testPVC("d", pvcClass(""))),
			classes: []*storagev1.StorageClass{testClass("fast", isDefault(annDefaultClass, 0))},
			want:    "c:ordinary",
		},
		{
			what:   "a volume that is being deleted is never taken",
			pv:     testPV("it", func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} }),
			claims: pvcs(testPVC("c"), testPVC("d", names("it"))), want: "",
		},
		{
			what: "a selector that does not match", pv: released,
			claims: pvcs(testPVC("c", func(c *corev1.PersistentVolumeClaim) {
				c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "a"}}
			})), want: "",
		},
	} {
		before := tt.pv.DeepCopy()
		// The list holds the volume as it is now, too.
		got := Takers(tt.pv, append(tt.others, tt.pv), tt.claims, tt.classes)
		if describe(got) != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, describe(got), tt.want)
		}
		for _, taker := range got {
			if taker.Reason == "" {
				t.Errorf("%s: %s has no reason", tt.what, taker.Claim.Name)
			}
		}
		if tt.pv.Spec.ClaimRef != before.Spec.ClaimRef && *tt.pv.Spec.ClaimRef != *before.Spec.ClaimRef {
			t.Errorf("%s: the volume was changed", tt.what)
		}
	}
}

// A claim is named as one that takes the volume at once exactly when the
// controller's search finds the opened volume in some order.
// A claim that is being deleted takes a volume like any other, and this is said.
func TestTakersBeingDeleted(t *testing.T) {
	dying := testPVC("dying", func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = new(metav1.Now()) })
	for _, claims := range [][]*corev1.PersistentVolumeClaim{{dying}, {testPVC("alive"), dying}} {
		takers := Takers(testPV("it"), nil, claims, nil)
		if len(takers) != len(claims) {
			t.Fatalf("%d takers of %d claims", len(takers), len(claims))
		}
		for _, taker := range takers {
			if !taker.AtOnce() || strings.Contains(taker.Reason, "being deleted") != (taker.Claim == dying) {
				t.Errorf("%s: it %s", taker.Claim.Name, taker.Reason)
			}
		}
	}
}

func TestTakersAgainstController(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pv, volumes, classes := drawPV(t, "it"), drawVolumes(t), drawClasses(t)
		pvc := drawPVC(t, "c")
		takers := Takers(pv, volumes, []*corev1.PersistentVolumeClaim{pvc}, classes)
		atOnce := len(takers) == 1 && takers[0].AtOnce()
		open := Opened(pv)
		found := oracle(t, pvc, append(slices.Clone(volumes), open), classes)
		if found == open && !atOnce {
			t.Fatalf("the controller takes it, the takers are %q", describe(takers))
		}
		if atOnce && found == nil {
			t.Fatalf("the controller takes nothing, the takers are %q", describe(takers))
		}
		if atOnce && found != open && !slices.Contains(Choices(pvc, append(slices.Clone(volumes), open), classes), found) {
			t.Fatalf("the controller takes %s", found.Name)
		}
	})
}

func TestOpenedAndReserved(t *testing.T) {
	pv := testPV("it", tied("c", "uid-old"), phase(corev1.VolumeReleased))
	pv.Annotations = map[string]string{volume.AnnBoundByController: "yes", "keep": "me"}
	r := ReservedFor(pv, types.NamespacedName{Namespace: "a", Name: "b"})
	if ref := r.Spec.ClaimRef; ref == nil || ref.Namespace != "a" || ref.Name != "b" || ref.UID != "" || VolumeState(r).Phase != Reserved {
		t.Errorf("got %+v", r)
	}
	o := Opened(pv)
	if o.Spec.ClaimRef != nil || VolumeState(o).Phase != Available || len(o.Annotations) != 1 {
		t.Errorf("got %+v", o)
	}
	if len(pv.Annotations) != 2 || pv.Spec.ClaimRef.UID != "uid-old" || pv.Status.Phase != corev1.VolumeReleased {
		t.Errorf("the argument was changed: %+v", pv)
	}
}

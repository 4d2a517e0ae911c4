package actions

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/storage/volume"
)

const (
	keep    = corev1.PersistentVolumeReclaimRetain
	remove  = corev1.PersistentVolumeReclaimDelete
	recycle = corev1.PersistentVolumeReclaimRecycle
)

type checkCase struct {
	what string
	s    *setup
	// id is the check looked for, severity what it must say; none means that
	// it must not be there at all.
	id       string
	severity Severity
	text     string
}

const none Severity = -1

func runChecks(t *testing.T, cases []checkCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.id+"/"+tt.what, func(t *testing.T) {
			p := tt.s.plan()
			c := find(p, tt.id)
			if tt.severity == none {
				if c != nil {
					t.Fatalf("unexpected: %+v", *c)
				}
				return
			}
			if c == nil {
				t.Fatalf("not checked; got %+v", p.Checks)
			}
			if c.Severity != tt.severity || !strings.Contains(c.Text, tt.text) {
				t.Errorf("got %+v", *c)
			}
			if strings.HasSuffix(c.Text, ".") || c.Text == "" || strings.HasSuffix(c.Remedy, ".") {
				t.Errorf("a check is a sentence without a period: %+v", *c)
			}
			if (c.Severity == Block) && (len(p.Steps) != 0 || p.Blocked() == "" || p.Worst() != Block) {
				t.Errorf("a blocked plan has no steps: %+v", p)
			}
		})
	}
}

func TestCommonChecks(t *testing.T) {
	gone := func(s *setup) { s.w.Volume = nil }
	replaced := func(s *setup) { s.req.Volume.UID = "uid-before" }
	denied := func(s *setup) { s.w.Denied = []string{"patch persistentvolumes"} }
	other := func(s *setup) { s.w.Denied = []string{"delete persistentvolumeclaims"} }
	var cases []checkCase
	operated := vol(func(pv *corev1.PersistentVolume) { pv.Annotations["claimref.io/plan"] = "x" })
	for _, verb := range []Verb{Reserve, Unreserve, Repair, SinglePodLight} {
		cases = append(cases, checkCase{string(verb), world(verb, operated), "in-operation", Block, "is unfinished"})
	}
	cases = append(
		cases,
		checkCase{"Delete", world(SetPolicy, toPolicy(remove), bound, operated), "delete-unbound", Block, "an operation on the volume is unfinished"},
		checkCase{"Retain is right at any time", world(SetPolicy, toPolicy(keep), bound, policy(remove), operated), "keeps-data", Pass, ""},
	)
	for _, verb := range []Verb{Reserve, Unreserve, SetPolicy, SinglePodLight} {
		cases = append(
			cases,
			checkCase{string(verb), world(verb, gone), "volume-gone", Block, "is gone"},
			checkCase{string(verb) + " there", world(verb), "volume-gone", none, ""},
			checkCase{string(verb), world(verb, replaced), "volume-replaced", Block, "another of the same name"},
			checkCase{string(verb) + " same", world(verb), "volume-replaced", none, ""},
			checkCase{string(verb), world(verb, denied), "right-patch", Block, "may not change volumes"},
			checkCase{string(verb) + " by itself", world(verb), "in-operation", none, ""},
			checkCase{string(verb) + " other right", world(verb, other), "right-patch", none, ""},
		)
	}
	for _, verb := range []Verb{Reserve, Unreserve} {
		v := string(verb) + " "
		cases = append(
			cases,
			checkCase{v, world(verb, terminating), "volume-terminating", Block, "being deleted"},
			checkCase{v + "alive", world(verb), "volume-terminating", none, ""},
			checkCase{v + "Released", world(verb, policy(recycle)), "recycle", Block, "erased"},
			checkCase{v + "Failed", world(verb, policy(recycle), phase(corev1.VolumeFailed)), "recycle", Block, "erased"},
			checkCase{v + "reserved", world(verb, policy(recycle), tied("data", ""), phase(corev1.VolumeAvailable)), "recycle", none, ""},
			checkCase{v + "Released", world(verb, policy(remove)), "deletion-under-way", Warn, "may already be under way"},
			checkCase{v + "Failed", world(verb, policy(remove), phase(corev1.VolumeFailed)), "deletion-under-way", Warn, "may have been tried"},
			checkCase{v + "Retain", world(verb), "deletion-under-way", none, ""},
			checkCase{v + "reserved", world(verb, policy(remove), tied("x", ""), phase(corev1.VolumeAvailable)), "deletion-under-way", none, ""},
			checkCase{v + "Bound", world(verb, bound), "volume-bound", Block, "is Bound to claim shop/data"},
			checkCase{v + "half way", world(verb, tied("data", "uid-data"), withClaim("data", "uid-data")), "volume-bound", Block, "is being bound"},
			checkCase{v + "claims unread", world(verb, phase(corev1.VolumeBound), unread("persistentvolumeclaims")), "volume-bound", Block, "claims could not be read"},
			checkCase{v + "claim just gone", world(verb, phase(corev1.VolumeBound)), "volume-bound", Block, "shop/data is gone"},
			checkCase{v + "not looked at yet", world(verb, phase(corev1.VolumeBound), tied("data", ""), withClaim("data", "uid-data")), "volume-bound", Block, "carries no claim's uid"},
			checkCase{v + "claim elsewhere, not looked at", world(verb, tied("data", "uid-data"), phase(corev1.VolumeBound), withClaim("data", "uid-data", boundTo("else"))), "volume-bound", Block, "uses volume else"},
			checkCase{v + "Released", world(verb), "volume-bound", none, ""},
			checkCase{v + "re-created", world(verb, withClaim("data", "uid-new")), "volume-bound", none, ""},
			checkCase{v + "T11", world(verb, tied("data", "uid-data"), phase(corev1.VolumeAvailable), withClaim("data", "uid-data", boundTo("else"))), "claim-elsewhere", Warn, "about to let go"},
			checkCase{v + "T11 provisioned", world(verb, tied("data", "uid-data"), policy(remove), vol(func(pv *corev1.PersistentVolume) {
				pv.Annotations[volume.AnnDynamicallyProvisioned] = "x"
			}), withClaim("data", "uid-data", boundTo("else"))), "claim-elsewhere", Warn, "deletes such a volume"},
			checkCase{v + "T10", world(verb, withClaim("data", "uid-new", boundTo("else"))), "claim-elsewhere", none, ""},
			checkCase{v, world(verb, unread("persistentvolumeclaims")), "claims-unread", Warn, "could not be read"},
			checkCase{v + "read", world(verb), "claims-unread", none, ""},
			checkCase{v + "Retain", world(verb), "policy", Pass, "Retain"},
			checkCase{v + "Delete", world(verb, policy(remove)), "policy", none, ""},
		)
	}
	cases = append(cases, checkCase{"", world("dance"), "verb", Block, "dance"})
	runChecks(t, cases)
}

func TestReserveChecks(t *testing.T) {
	affinity := vol(func(pv *corev1.PersistentVolume) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
	})
	slow := func(s *setup) {
		s.w.Classes = append(s.w.Classes, class("slow", storagev1.VolumeBindingWaitForFirstConsumer))
	}
	modes := func(m ...corev1.PersistentVolumeAccessMode) func(*corev1.PersistentVolume) {
		return func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = m }
	}
	provisioner := func(key string) func(*corev1.PersistentVolumeClaim) {
		return func(c *corev1.PersistentVolumeClaim) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, key, "csi.example") }
	}
	block := func(c *corev1.PersistentVolumeClaim) {
		m := corev1.PersistentVolumeBlock
		c.Spec.VolumeMode = &m
	}
	gold := vol(func(pv *corev1.PersistentVolume) {
		v := "gold"
		pv.Spec.VolumeAttributesClassName = &v
	})
	selector := func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": "a"}}
	}
	runChecks(t, []checkCase{
		{"a namespace with a dot", world(Reserve, forClaim("a.b", "data")), "claim-name", Block, "namespace"},
		{"no name", world(Reserve, forClaim("shop", "")), "claim-name", Block, "name of a claim"},
		{"a name in capitals", world(Reserve, forClaim("shop", "Data")), "claim-name", Block, "name of a claim"},
		{"a name with a dot", world(Reserve, forClaim("shop", "data.0")), "claim-name", none, ""},

		{"done", world(Reserve, tied("data", ""), unmarked, phase(corev1.VolumeAvailable)), "already-reserved", Block, "already reserved"},
		{"done, not yet seen", world(Reserve, tied("data", ""), unmarked), "already-reserved", Block, "has yet to mark it"},
		{"for another", world(Reserve, tied("x", ""), unmarked), "already-reserved", none, ""},
		{"under Delete", world(Reserve, tied("data", ""), unmarked, policy(remove)), "already-reserved", none, ""},
		{"with the mark", world(Reserve, tied("data", "")), "already-reserved", none, ""},

		{"T7 target", world(Reserve, withClaim("data", "uid-new", boundTo("disk"))), "claim-marked", Block, "bind-completed"},
		{"T7 target Lost", world(Reserve, withClaim("data", "uid-new", boundTo("disk"), lost)), "claim-marked", Block, "would be Lost"},
		{"unmarked", world(Reserve, withClaim("data", "uid-new", named("disk"))), "claim-marked", none, ""},
		{"T7 another", world(Reserve, forClaim("shop", "x"), withClaim("data", "uid-new", boundTo("disk"))), "volume-bound", Block, "would be Lost"},
		{"T3 untied", world(Reserve, untied, phase(corev1.VolumeAvailable), forClaim("shop", "x"), withClaim("data", "uid-data", boundTo("disk"))), "volume-bound", Block, "would be Lost"},
		{"another, Lost already", world(Reserve, forClaim("shop", "x"), withClaim("data", "uid-new", boundTo("disk"), lost)), "claim-lost", Warn, "stays so"},
		{"another, Lost already", world(Reserve, forClaim("shop", "x"), withClaim("data", "uid-new", boundTo("disk"), lost)), "volume-bound", none, ""},

		{"", world(Reserve, withClaim("data", "uid-new", deletingPVC)), "claim-terminating", Block, "being deleted"},
		{"alive", world(Reserve, withClaim("data", "uid-new")), "claim-terminating", none, ""},
		{"T8", world(Reserve, withClaim("data", "uid-new", boundTo("else"))), "claim-bound", Block, "bound to volume else"},
		{"Pending", world(Reserve, withClaim("data", "uid-new")), "claim-bound", none, ""},
		{"of a lost volume", world(Reserve, withClaim("data", "uid-new", boundTo("else"), lost)), "claim-lost", Block, "Lost"},
		{"to nothing", world(Reserve, withClaim("data", "uid-new", boundTo(""), lost)), "claim-lost", Block, "Lost"},
		{"without the mark", world(Reserve, withClaim("data", "uid-new", named("disk"), lost)), "claim-lost", Block, "Lost"},
		{"Pending", world(Reserve, withClaim("data", "uid-new", named("disk"))), "claim-lost", none, ""},
		{"", world(Reserve, withClaim("data", "uid-new", named("else"))), "claim-names-other", Block, "asks for volume else"},
		{"this one", world(Reserve, withClaim("data", "uid-new", named("disk"))), "claim-names-other", none, ""},

		{"", world(Reserve), "claim-absent", Pass, "does not exist yet"},
		{"there", world(Reserve, withClaim("data", "uid-new")), "claim-absent", none, ""},
		{"claims unread", world(Reserve, unread("persistentvolumeclaims")), "claim-absent", none, ""},
		{"", world(Reserve), "claim-rules", Pass, "class and selector are not compared"},
		{"", world(Reserve, withClaim("data", "uid-new")), "recreated", Pass, "uid differs"},
		{"for another", world(Reserve, forClaim("shop", "x"), withClaim("data", "uid-new")), "recreated", Warn, "does not get the volume"},
		{"gone", world(Reserve), "recreated", none, ""},
		{"", world(Reserve), "former-gone", Pass, "is gone"},
		{"unread", world(Reserve, unread("persistentvolumeclaims")), "former-gone", none, ""},
		{"", world(Reserve, tied("x", "")), "reserved-for-other", Warn, "loses this reservation"},
		{"for the same", world(Reserve, tied("data", "")), "reserved-for-other", none, ""},
		{"Released", world(Reserve, forClaim("shop", "x")), "reserved-for-other", none, ""},

		{"T5", world(Reserve, withClaim("data", "uid-new")), "binds", Pass, "fits"},
		{"T5 too small", world(Reserve, withClaim("data", "uid-new", wants("99Gi"))), "will-not-bind", Warn, "too small: 10Gi, asked for 99Gi"},
		{"T5 Block", world(Reserve, withClaim("data", "uid-new", block)), "will-not-bind", Warn, "volume mode"},
		{"T5 attributes", world(Reserve, gold, withClaim("data", "uid-new")), "will-not-bind", Warn, "attributes class"},
		{"T5 class", world(Reserve, withClaim("data", "uid-new", ofClass("x"))), "will-not-bind", none, ""},
		{"T5 class", world(Reserve, withClaim("data", "uid-new", ofClass("x"))), "binds-despite", Warn, "class: the volume has fast, asked for x"},
		{"T5 selector", world(Reserve, withClaim("data", "uid-new", selector)), "binds-despite", Warn, "selector"},
		{"T5 fits", world(Reserve, withClaim("data", "uid-new")), "binds-despite", none, ""},
		{"T6", world(Reserve, withClaim("data", "uid-new", named("disk"))), "binds", Pass, "names this volume and fits"},
		{"T6 too small", world(Reserve, withClaim("data", "uid-new", named("disk"), wants("99Gi"))), "binds-unchecked", Warn, "without any check"},
		{"T6 Block", world(Reserve, withClaim("data", "uid-new", named("disk"), block)), "binds-unchecked", Warn, "volume mode"},
		{"T6 attributes", world(Reserve, gold, withClaim("data", "uid-new", named("disk"))), "binds-unchecked", Warn, "attributes class"},
		{"T6 fits", world(Reserve, withClaim("data", "uid-new", named("disk"))), "binds-unchecked", none, ""},

		{"fewer modes", world(Reserve, vol(modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany)), withClaim("data", "uid-new"), withVolume("lean", modes(corev1.ReadWriteOnce))), "other-volume-first", Warn, "takes volume lean"},
		{"as many modes", world(Reserve, vol(modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany)), withClaim("data", "uid-new"), withVolume("rwx", modes(corev1.ReadWriteOnce, corev1.ReadWriteMany))), "other-volume-first", Warn, "may take volume rwx"},
		{"same modes", world(Reserve, withClaim("data", "uid-new"), withVolume("twin")), "other-volume-first", none, ""},
		{"named", world(Reserve, vol(modes(corev1.ReadWriteOnce, corev1.ReadOnlyMany)), withClaim("data", "uid-new", named("disk")), withVolume("lean", modes(corev1.ReadWriteOnce))), "other-volume-first", none, ""},

		{"", world(Reserve, withClaim("data", "uid-new", provisioner(volume.AnnStorageProvisioner))), "provisioner-asked", Warn, "csi.example"},
		{"beta", world(Reserve, withClaim("data", "uid-new", provisioner(volume.AnnBetaStorageProvisioner))), "provisioner-asked", Warn, "csi.example"},
		{"nobody", world(Reserve, withClaim("data", "uid-new")), "provisioner-asked", none, ""},

		{"", world(Reserve, forClaim("moon", "data")), "namespace-missing", Warn, "moon does not exist"},
		{"there", world(Reserve), "namespace-missing", none, ""},
		{"unread", world(Reserve, forClaim("moon", "data"), func(s *setup) { s.w.Namespaces = nil }), "namespace-missing", none, ""},
		{"", world(Reserve, func(s *setup) { s.w.Namespaces["shop"] = true }), "namespace-deleting", Warn, "being deleted"},
		{"alive", world(Reserve), "namespace-deleting", none, ""},

		{"", world(Reserve, withVolume("second", reserveFor("data", ""))), "other-reservation", Warn, "second is reserved for claim shop/data too"},
		{"for another", world(Reserve, withVolume("second", reserveFor("x", ""))), "other-reservation", none, ""},
		{"of an earlier claim", world(Reserve, withVolume("second", reserveFor("data", "uid-older"))), "other-reservation", none, ""},
		{"by name", world(Reserve, withClaim("data", "uid-new", named("disk")), withVolume("second", reserveFor("data", ""))), "other-reservation", none, ""},
		{"", world(Reserve, withClaim("data", "uid-new"), withVolume("second", reserveFor("data", "uid-new"))), "other-binding", Warn, "already being bound"},
		{"not", world(Reserve, withClaim("data", "uid-new"), withVolume("second", reserveFor("data", "uid-x"))), "other-binding", none, ""},

		{"WFFC", world(Reserve, affinity, slow, withClaim("data", "uid-new", ofClass("slow"))), "binds-before-pod", Warn, "before its pod is placed"},
		{"any node", world(Reserve, slow, withClaim("data", "uid-new", ofClass("slow"))), "binds-before-pod", none, ""},
		{"Immediate", world(Reserve, affinity, withClaim("data", "uid-new")), "binds-before-pod", none, ""},
		{"does not bind", world(Reserve, affinity, slow, withClaim("data", "uid-new", ofClass("slow"), wants("99Gi"))), "binds-before-pod", none, ""},
		{"Immediate", world(Reserve, affinity, withClaim("data", "uid-new")), "node-affinity", Pass, "only on nodes"},
		{"no claim", world(Reserve, affinity), "node-affinity", Pass, "only on nodes"},
		{"any node", world(Reserve), "node-affinity", none, ""},
	})
}

// reserveFor ties another volume to shop/name.
func reserveFor(name, uid string) func(*corev1.PersistentVolume) {
	return func(pv *corev1.PersistentVolume) {
		s := &setup{w: World{Volume: pv}}
		tied(name, uid)(s)
	}
}

func TestUnreserveChecks(t *testing.T) {
	slow := func(s *setup) {
		s.w.Volume.Spec.StorageClassName = "slow"
		s.w.Classes = append(s.w.Classes, class("slow", storagev1.VolumeBindingWaitForFirstConsumer))
	}
	small := func(pv *corev1.PersistentVolume) { pv.Spec.Capacity = nil }
	runChecks(t, []checkCase{
		{"", world(Unreserve, untied), "not-reserved", Block, "no claimRef"},
		{"tied", world(Unreserve), "not-reserved", none, ""},
		{"T1 one", world(Unreserve, withClaim("thief", "uid-t")), "takers", Warn, "Claim shop/thief would take the volume at once: it fits"},
		{"T1 two", world(Unreserve, withClaim("b", "uid-b"), withClaim("a", "uid-a")), "takers", Warn, "2 claims would take the volume at once, whichever comes first: shop/a, shop/b"},
		{"T2", world(Unreserve, withClaim("data", "uid-new", named("disk"))), "takers", Warn, "asks for this volume by name"},
		{"T3", world(Unreserve, withClaim("data", "uid-new", boundTo("disk"), lost)), "takers", Warn, "without any check"},
		{"too big", world(Unreserve, withClaim("big", "uid-b", wants("99Gi"))), "takers", none, ""},
		{"too big", world(Unreserve, withClaim("big", "uid-b", wants("99Gi"))), "no-takers", Pass, "No claim"},
		{"unread", world(Unreserve, unread("persistentvolumeclaims")), "no-takers", none, ""},
		{"six", world(Unreserve, withClaim("a", "1"), withClaim("b", "2"), withClaim("c", "3"), withClaim("d", "4"), withClaim("e", "5"), withClaim("f", "6")), "takers", Warn, "shop/e and 1 more"},
		{"waits for a pod", world(Unreserve, slow, withClaim("w", "uid-w", ofClass("slow"))), "possible-takers", Warn, "1 claim might take the volume"},
		{"takes another", world(Unreserve, withVolume("small", small), withClaim("c", "uid-c", func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = nil })), "takers", none, ""},
		{"at once", world(Unreserve, withClaim("c", "uid-c")), "possible-takers", none, ""},
		{"", world(Unreserve, unread("storageclasses")), "classes-unread", Warn, "could not be read"},
		{"read", world(Unreserve), "classes-unread", none, ""},
	})
}

func TestPolicyChecks(t *testing.T) {
	csi := vol(func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example"}
	})
	annotated := func(key string) option {
		return vol(func(pv *corev1.PersistentVolume) { pv.Annotations[key] = "csi.example" })
	}
	del, ret := toPolicy(remove), toPolicy(keep)
	claimNow := func(change func(*corev1.PersistentVolumeClaim)) option {
		return func(s *setup) { change(s.w.Claims[0]) }
	}
	runChecks(t, []checkCase{
		{"", world(SetPolicy, toPolicy(recycle)), "policy-recycle", Block, "deprecated"},
		{"", world(SetPolicy, toPolicy("Keep")), "policy-unknown", Block, `"Keep"`},
		{"", world(SetPolicy, ret), "policy-same", Block, "Retain already"},
		{"other", world(SetPolicy, ret, policy(remove)), "policy-same", none, ""},

		{"Released", world(SetPolicy, del), "delete-unbound", Block, "is Released, not Bound"},
		{"reserved", world(SetPolicy, del, tied("data", ""), phase(corev1.VolumeAvailable)), "delete-unbound", Block, "is Reserved, not Bound"},
		{"Available", world(SetPolicy, del, untied, phase(corev1.VolumeAvailable)), "delete-unbound", Block, "is Available, not Bound"},
		{"half way", world(SetPolicy, del, bound, phase(corev1.VolumeReleased)), "delete-unbound", Block, "is Released, not Bound"},
		{"no uid", world(SetPolicy, del, bound, tied("data", "")), "delete-unbound", Block, "no claim's uid"},
		{"untied", world(SetPolicy, del, bound, untied), "delete-unbound", Block, "no claim's uid"},
		{"claim gone", world(SetPolicy, del, phase(corev1.VolumeBound)), "delete-unbound", Block, "is gone"},
		{"claim re-created", world(SetPolicy, del, bound, tied("data", "uid-old")), "delete-unbound", Block, "is gone"},
		{"claims unread", world(SetPolicy, del, phase(corev1.VolumeBound), unread("persistentvolumeclaims")), "delete-unbound", Block, "not certain"},
		{"claim going", world(SetPolicy, del, bound, claimNow(deletingPVC)), "delete-unbound", Block, "is being deleted"},
		{"claim elsewhere", world(SetPolicy, del, bound, claimNow(named("else"))), "delete-unbound", Block, "from its side"},
		{"claim Lost", world(SetPolicy, del, bound, claimNow(lost)), "delete-unbound", Block, "from its side"},
		{"terminating", world(SetPolicy, del, bound, terminating), "delete-unbound", Block, "being deleted"},
		{"Recycle, Released", world(SetPolicy, del, policy(recycle)), "delete-unbound", Block, "Released"},
		{"Bound", world(SetPolicy, del, bound), "delete-unbound", none, ""},
		{"Bound", world(SetPolicy, del, bound), "dies-with-claim", Warn, "when claim shop/data goes"},
		{"by hand", world(SetPolicy, del, bound), "not-provisioned", Warn, "leave it Failed"},
		{"by hand, CSI", world(SetPolicy, del, bound, csi), "not-provisioned", Warn, "delete it all the same"},
		{"provisioned", world(SetPolicy, del, bound, annotated(volume.AnnDynamicallyProvisioned)), "not-provisioned", none, ""},
		{"provisioned", world(SetPolicy, del, bound, annotated(volume.AnnDynamicallyProvisioned)), "provisioner", Pass, "csi.example"},
		{"migrated", world(SetPolicy, del, bound, annotated(volume.AnnMigratedTo)), "not-provisioned", none, ""},

		{"Bound", world(SetPolicy, ret, bound, policy(remove)), "keeps-data", Pass, "kept"},
		{"going", world(SetPolicy, ret, terminating, policy(remove)), "volume-terminating", Warn, "goes all the same"},
		{"alive", world(SetPolicy, ret, policy(remove)), "volume-terminating", none, ""},
		{"Released", world(SetPolicy, ret, policy(remove)), "deletion-under-way", Warn, "Released"},
		{"Bound", world(SetPolicy, ret, bound, policy(remove)), "deletion-under-way", none, ""},
		{"Released", world(SetPolicy, ret, policy(recycle)), "recycle", Warn, "erased"},
		{"Bound", world(SetPolicy, ret, bound, policy(recycle)), "recycle", none, ""},
	})
}

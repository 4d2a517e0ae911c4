package explain

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube"
)

// large is a cluster of 100,000 volumes and claims and 50,000 pods: StatefulSets
// under Delete, some volumes Released, reserved, open and Failed, and some
// claims that are not bound.
func large(open bool) kube.Objects {
	const volumes, claims, pods = 100_000, 100_000, 50_000
	o := world(nil)
	o.Classes = []*storagev1.StorageClass{newSC("fast"), newSC("slow", waits), newSC("hand", byHand)}
	for i := range 200 {
		o.Nodes = append(o.Nodes, newNode(fmt.Sprint("node-", i)))
	}
	for i := range volumes {
		ns, claim, name := fmt.Sprint("team-", i%200), fmt.Sprintf("data-db%d-%d", i/3, i%3), fmt.Sprintf("pvc-%06d", i)
		pv := newPV(name, provisionedBy("csi.test"), policy(remove), onNode(fmt.Sprint("node-", i%200)))
		pvc := newPVC(claim, inNamespace(ns))
		if i < volumes*9/10 && !open {
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: ns, Name: claim, UID: types.UID("uid-" + claim)}
			pv.Status.Phase = corev1.VolumeBound
			boundTo(name)(pvc)
		} else if !open {
			switch i % 4 {
			case 0:
				released(pv)
				policy(keep)(pv)
			case 1:
				pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: ns, Name: claim}
			case 2:
				sized("1Gi")(pv)
			default:
				released(pv)
				inPhase(corev1.VolumeFailed)(pv)
			}
			wants("20Gi")(pvc)
		}
		o.Volumes = append(o.Volumes, pv)
		if i < claims {
			o.Claims = append(o.Claims, pvc)
		}
		if i < pods {
			pod := newPod(fmt.Sprintf("db%d-%d", i/3, i%3), claim, ownedBy("StatefulSet", fmt.Sprint("db", i/3)), podOn(fmt.Sprint("node-", i%200)))
			pod.Namespace = ns
			o.Pods = append(o.Pods, pod)
		}
	}
	return o
}

func BenchmarkExplain(b *testing.B) {
	snap := kube.NewSnapshot(large(false))
	volume := func(f func(*kube.Volume) bool) func(Ask) {
		v := snap.Volumes[slices.IndexFunc(snap.Volumes, f)]
		return func(a Ask) { Volume(snap, v, a) }
	}
	claim := func(f func(*kube.Claim) bool) func(Ask) {
		c := snap.Claims[slices.IndexFunc(snap.Claims, f)]
		return func(a Ask) { Claim(snap, c, a) }
	}
	inState := func(p kube.Phase) func(*kube.Volume) bool {
		return func(v *kube.Volume) bool { return v.State.Phase == p }
	}
	for name, run := range map[string]func(Ask){
		"volume/Bound":     volume(inState(kube.Bound)),
		"volume/Released":  volume(inState(kube.Released)),
		"volume/Reserved":  volume(inState(kube.Reserved)),
		"volume/Available": volume(inState(kube.Available)),
		"volume/Failed":    volume(inState(kube.Failed)),
		"claim/Bound":      claim(func(c *kube.Claim) bool { return c.State.Phase == kube.Bound }),
		"claim/Pending":    claim(func(c *kube.Claim) bool { return c.State.Phase == kube.Pending }),
		"class":            func(a Ask) { Class(snap, snap.Classes[0], a) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run(ask())
			}
		})
		b.Run("brief/"+name, func(b *testing.B) {
			for b.Loop() {
				run(Ask{Now: noon(), Brief: true})
			}
		})
	}
}

// BenchmarkExplainOpen is the worst that there is: every volume fits every
// claim, and none is bound.
func BenchmarkExplainOpen(b *testing.B) {
	snap := kube.NewSnapshot(large(true))
	b.Run("volume", func(b *testing.B) {
		for b.Loop() {
			Volume(snap, snap.Volumes[50_000], ask())
		}
	})
	b.Run("claim", func(b *testing.B) {
		for b.Loop() {
			Claim(snap, snap.Claims[50_000], ask())
		}
	})
}

// hardWorld is a cluster of open volumes and of claims that are not bound, as
// hard to compare as can be: labels and selectors, sizes that fall with the
// name, as many affinities as a large cluster has nodes, claims without a class,
// and a class whose provisioner made nothing.
func hardWorld(volumes, claims int) kube.Objects {
	o := world(nil)
	o.Classes = []*storagev1.StorageClass{
		newSC("fast", isDefault), newSC("slow", waits),
		newSC("other", func(sc *storagev1.StorageClass) { sc.Provisioner = "nobody.test" }),
	}
	for i := range 200 {
		o.Nodes = append(o.Nodes, newNode(fmt.Sprint("node-", i)))
	}
	disk := map[string]string{"disk": "ssd", "rack": "r1", "vendor": "acme"}
	for i := range volumes {
		pv := newPV(fmt.Sprintf("pv-%06d", i), sized(fmt.Sprint(volumes+10_000-i, "Mi")), provisionedBy("csi.test"),
			affine(corev1.NodeSelectorRequirement{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn,
				Values: []string{fmt.Sprint("node-", i%200), fmt.Sprint("gone-", i%5000)},
			}))
		pv.Labels = disk
		o.Volumes = append(o.Volumes, pv)
	}
	for i := range claims {
		pvc := newPVC(fmt.Sprintf("c-%06d", i), wants("1Gi"))
		switch i % 4 {
		case 0:
			noClass(pvc)
		case 1:
			asksClass("slow")(pvc)
		case 2:
			pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: disk}
		}
		o.Claims = append(o.Claims, pvc)
	}
	return o
}

// BenchmarkExplainHard explains what is hardest to explain.
func BenchmarkExplainHard(b *testing.B) {
	snap := kube.NewSnapshot(hardWorld(100_000, 100_000))
	for i, name := range []string{"no class", "waits", "selector", "plain"} {
		b.Run("claim/"+name, func(b *testing.B) {
			for b.Loop() {
				Claim(snap, snap.Claims[50_000+i], ask())
			}
		})
	}
	b.Run("volume", func(b *testing.B) {
		for b.Loop() {
			Volume(snap, snap.Volumes[50_000], ask())
		}
	})
	for _, c := range snap.Classes {
		b.Run("class/"+c.Object.Name, func(b *testing.B) {
			for b.Loop() {
				Class(snap, c, ask())
			}
		})
	}
}

// BenchmarkExplainTakers goes along the bound up to which each claim is compared
// with each volume.
func BenchmarkExplainTakers(b *testing.B) {
	for _, n := range []struct{ claims, volumes int }{{9_990, 1}, {5_000, 19}, {440, 430}, {10, 19_900}, {1, 100_000}} {
		snap := kube.NewSnapshot(hardWorld(n.volumes, n.claims))
		b.Run(fmt.Sprintf("%d claims, %d volumes", n.claims, n.volumes), func(b *testing.B) {
			for b.Loop() {
				Volume(snap, snap.Volumes[0], ask())
			}
		})
	}
}

// touched is the snapshot with some of its records replaced.
func touched(snap *kube.Snapshot, change func(*kube.Snapshot)) *kube.Snapshot {
	s := *snap
	s.Revision++
	s.Volumes, s.Claims = slices.Clone(snap.Volumes), slices.Clone(snap.Claims)
	change(&s)
	return &s
}

func BenchmarkRisks(b *testing.B) {
	snap := kube.NewSnapshot(large(false))
	tracker := func() *Tracker {
		t, err := NewTracker(RiskOptions{Protected: []string{"team-1*/*", "*-db7*"}})
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	b.Run("scratch", func(b *testing.B) {
		for b.Loop() {
			tracker().Update(snap)
		}
	})
	t := tracker()
	b.Logf("%d risks", len(t.Update(snap).List()))
	for name, change := range map[string]func(*kube.Snapshot){
		"volume": func(s *kube.Snapshot) {
			v := *s.Volumes[50_000]
			pv := v.Object.DeepCopy()
			policy(keep)(pv)
			v.Object = pv
			s.Volumes[50_000] = &v
		},
		"claim": func(s *kube.Snapshot) {
			c := *s.Claims[50_000]
			s.Claims[50_000] = &c
		},
		"claim gone": func(s *kube.Snapshot) { s.Claims = slices.Delete(s.Claims, 10, 11) },
		"node": func(s *kube.Snapshot) {
			s.Nodes = append(slices.Clone(s.Nodes), &kube.Node{Name: "zzz"})
		},
	} {
		next := touched(snap, change)
		b.Run("one "+name, func(b *testing.B) {
			now := false
			for b.Loop() {
				now = !now
				if now {
					t.Update(next)
				} else {
					t.Update(snap)
				}
			}
		})
	}
	r := t.Update(snap)
	b.Run("one mark", func(b *testing.B) {
		for b.Loop() {
			r.Volume("pvc-050000")
		}
	})
	b.Run("all marks", func(b *testing.B) {
		for b.Loop() {
			r.VolumeMarks()
		}
	})
}

func BenchmarkTree(b *testing.B) {
	snap := kube.NewSnapshot(large(false))
	c := snap.Claims[50_000]
	for name, run := range map[string]func(){
		"claim": func() { Tree(snap, claimRef(c.Object), 0) },
		"class": func() { Tree(snap, classRef(snap.Classes[0].Object), 0) },
		"pod":   func() { Tree(snap, userRef(kube.User{Kind: "Pod", Namespace: "team-1", Name: "db0-1"}), 0) },
	} {
		b.Run(strings.TrimSpace(name), func(b *testing.B) {
			for b.Loop() {
				run()
			}
		})
	}
}

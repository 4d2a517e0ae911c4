package explain

import (
	"reflect"
	"testing"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/claimref/claimref/kube"
)

// noControls goes through all that is exported, except the names of objects,
// by which they are found again.
func noControls(t *testing.T, where string, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		for _, r := range v.String() {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Errorf("%s has a control character: %q", where, v.String())
				return
			}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			noControls(t, where, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			noControls(t, where, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; name {
			case "Object", "Volume", "Claim", "Request", "When", "Since", "Instead", "claimIn":
			default:
				noControls(t, where+"."+name, v.Field(i))
			}
		}
	default:
	}
}

// TestHostile: whatever things are called, no text carries what a terminal
// would obey.
func TestHostile(t *testing.T) {
	const evil = "x\x1b[2J\n\u202e\u009bx"
	phases := []corev1.PersistentVolumePhase{"Available", "Bound", "Released", "Failed", "Pending", evil}
	var o kube.Objects
	for i, p := range phases {
		for j, ref := range []string{"", "c0", "c1", "nobody"} {
			for _, going := range []bool{false, true} {
				name := evil + string(p) + ref + map[bool]string{true: "going"}[going]
				pv := newPV(name, ofClass(evil), inPhase(p), policy([]corev1.PersistentVolumeReclaimPolicy{keep, remove, recycle}[(i+j)%3]), finalized(evil), onNode(evil))
				if ref != "" {
					pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: evil, Name: evil + ref}
					if going || p == corev1.VolumeBound || p == corev1.VolumeReleased {
						pv.Spec.ClaimRef.UID = types.UID("uid-" + evil + ref)
					}
				}
				pv.Status.Message = evil
				if going {
					goingPV(pv)
				}
				o.Volumes = append(o.Volumes, pv)
			}
		}
	}
	for i, option := range []pvcOption{func(*corev1.PersistentVolumeClaim) {}, boundTo(evil + "Boundc1"), lostOver(evil + "Availablec1"), names(evil + "Failed"), names("nowhere" + evil), lostOver(evil + "no")} {
		pvc := newPVC(evil+"c"+string(rune('0'+i)), inNamespace(evil), asksClass([]string{evil, "gone" + evil}[i%2]), option)
		pvc.Finalizers = []string{evil}
		o.Claims = append(o.Claims, pvc)
		pod := newPod(evil+"p", pvc.Name, podOn(evil), ownedBy(evil, evil))
		pod.Namespace = evil
		o.Pods = append(o.Pods, pod)
	}
	sc := newSC(evil, isDefault, waits)
	sc.Provisioner = evil
	o.Classes = append(o.Classes, sc, newSC("other"+evil, isDefault))
	o.Nodes = append(o.Nodes, newNode("n1"))
	o.Namespaces = append(o.Namespaces, newNamespace("n"+evil))
	o.Attachments = append(o.Attachments, attachment(o.Volumes[3].Name, evil))
	snap := kube.NewSnapshot(o)
	events := []kube.Event{{Type: "Warning", Reason: evil, Message: evil, Source: evil, Time: noon()}}
	for _, brief := range []bool{false, true} {
		a := Ask{Now: noon(), Events: events, Brief: brief}
		for _, v := range snap.Volumes {
			noControls(t, "volume", reflect.ValueOf(Volume(snap, v, a)))
		}
		for _, c := range snap.Claims {
			e := Claim(snap, c, a)
			noControls(t, "claim", reflect.ValueOf(e))
			if e.Candidates != nil {
				noControls(t, "candidates", reflect.ValueOf(e.Candidates))
				for _, candidate := range e.Candidates.List {
					noControls(t, "candidate", reflect.ValueOf(candidate.Text()))
				}
			}
		}
		for _, c := range snap.Classes {
			noControls(t, "class", reflect.ValueOf(Class(snap, c, a)))
		}
	}
	risks := risksOf(t, snap, "*")
	if len(risks.List()) < 20 {
		t.Fatalf("only %d risks", len(risks.List()))
	}
	for _, v := range snap.Volumes {
		noControls(t, "takers", reflect.ValueOf(TakersOf(snap, v, 9).Text()))
	}
	noControls(t, "risks", reflect.ValueOf(risks.List()))
	for _, v := range snap.Volumes {
		noControls(t, "tree", reflect.ValueOf(Tree(snap, volumeRef(v.Object), 0)))
	}
	noControls(t, "timeline", reflect.ValueOf(VolumeTimeline(o.Volumes[0], events)))
}

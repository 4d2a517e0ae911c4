package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/scenarios"
)

// TestStates loads everything and checks that the volumes, claims and pods get
// into the states that the manifests are about.
func TestStates(t *testing.T) {
	cp, err := controlplane.Start(t.Context(), controlplane.Options{BinderSyncPeriod: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := cp.StartKubelet(t.Context(), "n1", "n2"); err != nil {
		t.Fatal(err)
	}
	if _, err := cp.StartProvisioner(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.All()
	if err != nil {
		t.Fatal(err)
	}
	if err := scenarios.Load(t.Context(), cp.Config(controlplane.Admin), all...); err != nil {
		t.Fatal(err)
	}
	var wrong []string
	err = wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		got, err := states(ctx, cp)
		if err != nil {
			return false, err
		}
		wrong = compare(got, wanted())
		return len(wrong) == 0, nil
	})
	if err != nil {
		t.Errorf("%v:\n%s", err, strings.Join(wrong, "\n"))
	}
}

// wanted lists states by the beginnings of names. What is not listed is not
// looked at.
func wanted() map[string]string {
	const terminating = " Terminating"
	bound, released, available := string(corev1.VolumeBound), string(corev1.VolumeReleased), string(corev1.VolumeAvailable)
	pending, lost, running := string(corev1.ClaimPending), string(corev1.ClaimLost), string(corev1.PodRunning)
	return map[string]string{
		"pv/example-pv":     released,
		"pv/available-":     available,
		"pv/reserved-":      available,
		"pv/released-":      released,
		"pv/rival-":         released,
		"pv/failed-":        string(corev1.VolumeFailed),
		"pv/half-migrated":  bound,
		"pv/lost-":          bound,
		"pv/nodes-":         bound,
		"pv/picky-":         available,
		"pv/terminating-ge": bound + terminating,
		"pv/terminating-te": bound + terminating,
		"pv/terminating-in": bound,

		"pvc/default/nginx-pvc01":        bound,
		"pvc/shop/":                      bound,
		"pvc/apps/":                      bound,
		"pvc/media/":                     pending,
		"pvc/waiting/":                   pending,
		"pvc/plant/":                     bound,
		"pvc/rival/scratch":              pending,
		"pvc/billing/ledger":             pending,
		"pvc/legacy/gone-volume":         lost,
		"pvc/legacy/misbound":            lost,
		"pvc/legacy/owner":               bound,
		"pvc/research/genomes":           bound,
		"pvc/research/in-use":            bound + terminating,
		"pvc/research/held-by-completed": bound + terminating,

		"pod/default/nginx-pod":      running,
		"pod/shop/":                  running,
		"pod/apps/":                  running,
		"pod/research/completed":     string(corev1.PodSucceeded),
		"pod/research/stuck":         running + terminating,
		"pod/waiting/unschedulable":  string(corev1.PodPending),
		"pod/plant/kiln-0":           string(corev1.PodPending),
		"pod/shop/db-2":              running,
		"pod/shop/queue-1":           running,
		"pod/apps/search-2":          running,
		"pvc/waiting/volume-taken":   pending,
		"pvc/waiting/volume-missing": pending,
	}
}

func compare(got, want map[string]string) []string {
	var wrong []string
	for prefix, state := range want {
		found := false
		for name, is := range got {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			found = true
			if is != state {
				wrong = append(wrong, fmt.Sprintf("%s is %s, want %s", name, is, state))
			}
		}
		if !found {
			wrong = append(wrong, prefix+" is missing")
		}
	}
	slices.Sort(wrong)
	return wrong
}

func states(ctx context.Context, cp *controlplane.ControlPlane) (map[string]string, error) {
	client := cp.Admin().CoreV1()
	volumes, err := client.PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	claims, err := client.PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := client.Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, v := range volumes.Items {
		out["pv/"+v.Name] = state(v.ObjectMeta, string(v.Status.Phase))
	}
	for _, c := range claims.Items {
		out["pvc/"+c.Namespace+"/"+c.Name] = state(c.ObjectMeta, string(c.Status.Phase))
	}
	for _, p := range pods.Items {
		out["pod/"+p.Namespace+"/"+p.Name] = state(p.ObjectMeta, string(p.Status.Phase))
	}
	return out, nil
}

func state(meta metav1.ObjectMeta, phase string) string {
	if meta.DeletionTimestamp != nil {
		return phase + " Terminating"
	}
	return phase
}

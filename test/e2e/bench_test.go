package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/terminal"
)

// benchVolumes is the load: a cluster of a good size.
const benchVolumes = 2000

// BenchmarkFirstRows measures from the start of the program to the first rows
// on its screen, and sets it beside a bare LIST of the same volumes.
func BenchmarkFirstRows(b *testing.B) {
	config := shared.cp.Config(controlplane.Admin)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	load(b, client)
	kubeconfig, err := shared.cp.Kubeconfig(controlplane.StorageAdmin)
	if err != nil {
		b.Fatal(err)
	}
	var rows, all, list time.Duration
	for b.Loop() {
		started := time.Now()
		found, err := client.CoreV1().PersistentVolumes().List(b.Context(), metav1.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		list += time.Since(started)
		if len(found.Items) < benchVolumes {
			b.Fatalf("%d volumes, want %d", len(found.Items), benchVolumes)
		}

		cmd := exec.Command(shared.binary)
		cmd.Env = append(environment(), "KUBECONFIG="+kubeconfig)
		started = time.Now()
		term := terminal.Start(b, cmd, 120, 40)
		term.WaitFor("bench-0000", screenTimeout)
		rows += time.Since(started)
		term.WaitUntil("all volumes", screenTimeout, func(screen string) bool {
			return strings.Contains(screen, fmt.Sprintf("Volumes %d ", len(found.Items)))
		})
		all += time.Since(started)
		term.Press("q")
		term.WaitExit(screenTimeout)
	}
	n := float64(b.N)
	b.ReportMetric(rows.Seconds()/n, "s-to-first-rows")
	b.ReportMetric(all.Seconds()/n, "s-to-all-rows")
	b.ReportMetric(all.Seconds()/list.Seconds(), "x-of-a-bare-list")
}

// load makes the volumes, once.
func load(b *testing.B, client kubernetes.Interface) {
	b.Helper()
	const workers = 16
	names := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range names {
				if err := makeVolume(b.Context(), client, i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range benchVolumes {
		names <- i
	}
	close(names)
	wait.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

func makeVolume(ctx context.Context, client kubernetes.Interface, i int) error {
	name := fmt.Sprintf("bench-%04d", i)
	if _, err := client.CoreV1().PersistentVolumes().Get(ctx, name, metav1.GetOptions{}); err == nil {
		return nil
	}
	_, err := client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:                   []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			StorageClassName:              "bench",
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "nobody.example.com", VolumeHandle: name},
			},
		},
	}, metav1.CreateOptions{})
	return err
}

// BenchmarkDemoFirstRows measures from the start of the demo to the first rows
// on its screen.
func BenchmarkDemoFirstRows(b *testing.B) {
	var rows time.Duration
	for b.Loop() {
		cmd := exec.Command(shared.binary, "--demo")
		cmd.Env = environment()
		started := time.Now()
		term := terminal.Start(b, cmd, 120, 40)
		term.WaitFor("available-plain-1", screenTimeout)
		rows += time.Since(started)
		term.Press("q")
		term.WaitExit(screenTimeout)
	}
	b.ReportMetric(rows.Seconds()/float64(b.N), "s-to-first-rows")
}

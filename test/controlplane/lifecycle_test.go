package controlplane_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/controlplane/folders"
)

// TestServerOutage runs alone: it takes the API server from everyone.
func TestServerOutage(t *testing.T) {
	client := shared.cp.Admin().CoreV1()
	if err := shared.cp.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := client.Nodes().List(ctx, metav1.ListOptions{}); err == nil {
		t.Error("the API server still answers")
	}
	if err := shared.cp.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Nodes().List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the same client does not reach the new server: %v", err)
	}
	// Controllers, provisioner and server still work together.
	ns, class := namespace(t), addClass(t, folders.Name, corev1.PersistentVolumeReclaimDelete)
	addClaim(t, ns, "data", class)
	waitClaim(t, ns, "data", corev1.ClaimBound)
}

// TestPause runs alone: it takes the binder from everyone.
func TestPause(t *testing.T) {
	class := addClass(t, "kubernetes.io/no-provisioner", corev1.PersistentVolumeReclaimRetain)
	if err := shared.cp.PauseControllers(); err != nil {
		t.Fatal(err)
	}
	volume, err := shared.cp.Admin().CoreV1().PersistentVolumes().Create(t.Context(), localVolume(class), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteVolume(t, volume.Name) })
	// That nothing happens can only be shown by waiting; with the binder running
	// it takes milliseconds to become Available.
	<-time.After(2 * time.Second)
	waitVolume(t, volume.Name, corev1.VolumePending)
	if err := shared.cp.ResumeControllers(); err != nil {
		t.Fatal(err)
	}
	waitVolume(t, volume.Name, corev1.VolumeAvailable)
}

// TestNothingLeft starts a control plane of its own, with the default timing,
// and looks for what it leaves.
func TestNothingLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	logs := t.TempDir()
	cp, err := controlplane.Start(t.Context(), controlplane.Options{LogDir: logs})
	if err != nil {
		t.Fatal(err)
	}
	dir, server := cp.Dir(), cp.Config(controlplane.Admin).Host
	if err := cp.StartKubelet(t.Context(), "n1"); err != nil {
		t.Error(err)
	}
	if _, err := cp.StartProvisioner(t.Context()); err != nil {
		t.Error(err)
	}
	checkKubectl(t, cp)
	if err := cp.Stop(); err != nil {
		t.Error(err)
	}
	if err := cp.Stop(); err != nil {
		t.Errorf("stop again: %v", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", dir, err)
	}
	if left := processesOf(t, dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := net.DialTimeout("tcp", u.Host, time.Second); err == nil {
		_ = conn.Close()
		t.Errorf("somebody still listens on %s", u.Host)
	}
	if _, err := os.Stat(filepath.Join(logs, controlplane.APIServer+".log")); err != nil {
		t.Errorf("the logs are gone: %v", err)
	}
	goleak.VerifyNone(t, before)
}

func checkKubectl(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	kubeconfig, err := cp.Kubeconfig(controlplane.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), cp.KubectlPath(), "--kubeconfig", kubeconfig, "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Server Version: "+controlplane.Version) {
		t.Errorf("kubectl version: %v\n%s", err, out)
	}
}

// processesOf finds processes by the folder in their arguments.
func processesOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), dir) {
			found = append(found, fmt.Sprintf("%q", line))
		}
	}
	return found
}

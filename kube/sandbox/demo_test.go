package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// scenario reads one of the manifests that the program embeds.
func scenario(tb testing.TB, name string) []byte {
	tb.Helper()
	manifest, err := os.ReadFile(filepath.Join("..", "..", "assets", "scenarios", name+".yaml"))
	if err != nil {
		tb.Fatal(err)
	}
	return manifest
}

func TestNewDemo(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d, err := NewDemo([][]byte{scenario(t, "reuse"), scenario(t, "dynamic"), scenario(t, "single-pod")}, now)
	if err != nil {
		t.Fatal(err)
	}
	s := d.Server.State()
	if left := Enabled(s, Controllers(demoProvisioner)); len(left) > 0 {
		t.Errorf("the demo begins unsettled: %s %s %s", left[0].Controller, left[0].Act, left[0].Key)
	}
	pv := s.Volume("example-pv")
	if pv == nil || pv.Status.Phase != corev1.VolumeReleased || pv.Spec.ClaimRef.UID == "" {
		t.Fatalf("example-pv is %+v, want Released with the uid of its former claim", pv)
	}
	if age := now.Sub(pv.CreationTimestamp.Time); age != demoAge {
		t.Errorf("the oldest volume is %v old, want %v", age, demoAge)
	}
	for c := range s.Claims("shop") {
		if c.Status.Phase != corev1.ClaimBound || !c.CreationTimestamp.Time.Before(now) {
			t.Errorf("claim %s is %s since %v", c.Name, c.Status.Phase, c.CreationTimestamp)
		}
	}
}

func TestLoadManifestRefuses(t *testing.T) {
	for manifest, want := range map[string]string{
		"kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}": "not modelled",
		"kind: Nonsense\napiVersion: v1\nmetadata: {name: a}":  "read document 1",
		"{{": "read document 1",
		"kind: Namespace\napiVersion: v1\nmetadata: {name: a, annotations: {scenarios.claimref.test/then: explode}}": "unknown value",
	} {
		if _, err := LoadManifest(NewState(time.Unix(0, 0)), Controllers(), []byte(manifest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", manifest, err, want)
		}
	}
}

// TestLoadManifestTwice: what is there stays as it is.
func TestLoadManifestTwice(t *testing.T) {
	cs := Controllers(demoProvisioner)
	once, err := LoadManifest(NewState(time.Unix(0, 0)), cs, scenario(t, "available"))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := LoadManifest(once, cs, scenario(t, "available"))
	if err != nil {
		t.Fatal(err)
	}
	if once.Version() != twice.Version() {
		t.Error("loading a manifest again changed something")
	}
}

// TestListen serves the demo on loopback and nowhere else.
func TestListen(t *testing.T) {
	d, err := NewDemo(nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "example.com:0", "nonsense", "10.0.0.1:0"} {
		if _, err := d.Listen(t.Context(), address); err == nil {
			t.Errorf("it is served on %s", address)
		}
	}
	text, err := d.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(text)
	if err != nil || !strings.HasPrefix(config.Host, "http://127.0.0.1:") {
		t.Errorf("the kubeconfig leads to %+v, %v", config, err)
	}
}

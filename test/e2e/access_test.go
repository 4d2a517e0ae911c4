package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/claimref/claimref/test/controlplane"
)

// TestFewerRights opens the program as users who may see or do less: each page
// shows what it can, and says which right is missing.
func TestFewerRights(t *testing.T) {
	c := inspect(t)
	class := c.class("rights")
	c.released("rights", controlplane.Namespace, "former", class)
	c.namespace("elsewhere")
	c.claim(controlplane.Namespace, "rights-mine", class)
	c.claim("elsewhere", "rights-theirs", class)

	t.Run("may not patch", func(t *testing.T) {
		a := open(t, controlplane.Viewer)
		a.find("rights")
		a.waitRow("Released")
		a.choose("r")
		a.waitSentence("patch persistentvolumes")
		a.Press("esc")
		a.WaitGone("Actions on", screenTimeout)
		a.quit()
	})
	t.Run("claims of one namespace, no volumes", func(t *testing.T) {
		a := open(t, controlplane.AppDev)
		a.waitSentence("list persistentvolumes")
		a.Press("2")
		a.WaitFor("rights-mine", screenTimeout)
		screen := a.WaitFor("namespace "+controlplane.Namespace+" only", screenTimeout)
		if strings.Contains(screen, "rights-theirs") {
			t.Errorf("a claim of another namespace is shown:\n%s", screen)
		}
		a.Press("3")
		a.waitSentence("list storageclasses")
		a.quit()
	})
	t.Run("claims only", func(t *testing.T) {
		a := open(t, controlplane.ClaimsOnly)
		a.Press("2")
		a.find("rights-mine")
		// Who uses it can't be known without pods, which is not "nobody".
		screen := a.waitRow("Pending", "?")
		a.want(screen, "?")
		a.quit()
	})
	t.Run("no rights at all", func(t *testing.T) {
		a := open(t, controlplane.Nobody)
		a.waitSentence("Missing right: list persistentvolumes")
		a.Press("2")
		a.waitSentence("Missing right: list persistentvolumeclaims")
		a.quit()
	})
	if pv := c.pvNow("rights"); pv.Status.Phase != corev1.VolumeReleased {
		t.Errorf("the volume is %s, want Released", pv.Status.Phase)
	}
}

// TestServerGoesAndComes stops the API server under an open table, and starts
// it again: the screen says so, and then shows what happened meanwhile.
func TestServerGoesAndComes(t *testing.T) {
	cp := own(t, controlplane.Options{})
	c := cluster{t, cp.Admin()}
	class := c.class("comes")
	c.volume("stays", class)
	c.waitVolume("stays", "available", isPhase(corev1.VolumeAvailable))

	a := openOn(t, cp, controlplane.StorageAdmin)
	a.find("stays")
	a.waitRow("Available")
	a.WaitFor("live", screenTimeout)
	if err := cp.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	screen := a.WaitFor("unreachable", settleTimeout)
	a.want(screen, "The API server does not answer")
	if !strings.Contains(screen, "stays") {
		t.Errorf("the table is gone with the server:\n%s", screen)
	}
	step(t, "unreachable", screen)
	if err := cp.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.WaitFor("live", settleTimeout)
	c.claim("default", "takes", class)
	c.waitBound("default", "takes", "stays")
	a.waitRow("Bound", "default/takes")
	a.quit()
}

// TestStartFails starts the program without a cluster to talk to: one clear
// sentence, an exit code, and neither a hang nor a stack.
func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	kubeconfig, err := shared.cp.Kubeconfig(controlplane.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := func(server, user string) string {
		return `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "` + server + `", insecure-skip-tls-verify: true}}]
users: [{name: u, user: ` + user + `}]
`
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "https://" + listener.Addr().String()
	_ = listener.Close()
	server := shared.cp.Config(controlplane.Viewer).Host

	for _, tc := range []struct {
		name, kubeconfig string
		args             []string
		said             []string
	}{
		{"nobody listens", write("refused", config(nobody, "{token: x}")), nil, []string{strings.TrimPrefix(nobody, "https://"), "refused"}},
		{"not a kubeconfig", write("broken", "this: is: not: yaml"), nil, []string{"broken"}},
		{"no such file", filepath.Join(dir, "missing"), []string{"--kubeconfig", filepath.Join(dir, "missing")}, []string{"missing"}},
		{"unknown context", write("good", string(good)), []string{"--context", "nowhere"}, []string{"nowhere"}},
		{"rejected token", write("token", config(server, "{token: wrong}")), nil, []string{"does not accept the credentials"}},
		{
			"expired exec credential",
			write("exec", config(server, `{exec: {apiVersion: client.authentication.k8s.io/v1, command: "false", interactiveMode: Never}}`)),
			nil,
			[]string{"false"},
		},
		{"unknown flag", write("flag", string(good)), []string{"--nonsense"}, []string{"--nonsense"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), shared.binary, tc.args...)
			cmd.Env = append(environment(), "KUBECONFIG="+tc.kubeconfig)
			out, err := cmd.CombinedOutput()
			text := strings.TrimSpace(string(out))
			if cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("exit code %d (%v), want 1", cmd.ProcessState.ExitCode(), err)
			}
			if strings.Count(text, "\n") > 0 || strings.Contains(text, "goroutine") || text == "" {
				t.Errorf("not one sentence:\n%s", text)
			}
			for _, want := range tc.said {
				if !strings.Contains(text, want) {
					t.Errorf("it does not say %q: %s", want, text)
				}
			}
			t.Log(text)
		})
	}
}

// TestPlugin runs it as kubectl does.
func TestPlugin(t *testing.T) {
	kubeconfig, err := shared.cp.Kubeconfig(controlplane.Viewer)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), shared.cp.KubectlPath(), "claimref", "version")
	cmd.Env = append(environment(), "KUBECONFIG="+kubeconfig, "PATH="+filepath.Dir(shared.binary)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "claimref ") {
		t.Fatalf("kubectl claimref version: %v\n%s", err, out)
	}
}

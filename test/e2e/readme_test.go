package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claimref/claimref/test/controlplane"
	"github.com/claimref/claimref/test/terminal"
)

// TestReadmeCommands: each command that the README gives is run by the CI
// script, or by a test here.
func TestReadmeCommands(t *testing.T) {
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	readme := read(t, filepath.Join(root, "README.md"))
	ci := read(t, filepath.Join(root, ".ci", "run"))
	here := []string{"make run", "make demo", "make playground"}
	// These are for people who change the code; the help target lists them.
	develop := []string{"make bench", "make golden"}
	var commands []string
	for _, m := range regexp.MustCompile("(?m)(?:^|`)(make [a-z0-9-]+)").FindAllStringSubmatch(readme, -1) {
		commands = append(commands, m[1])
	}
	if len(commands) < 5 {
		t.Fatalf("the README gives only %v", commands)
	}
	makefile := read(t, filepath.Join(root, "Makefile"))
	for _, c := range commands {
		run := regexp.MustCompile(`(?m)^` + c + `$`).MatchString(ci)
		if !run && !slices.Contains(here, c) && !slices.Contains(develop, c) {
			t.Errorf("nothing runs %q", c)
		}
		if !strings.Contains(makefile, "\n"+strings.TrimPrefix(c, "make ")+":") {
			t.Errorf("the Makefile has no target for %q", c)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMakeRun opens the program as the README says.
func TestMakeRun(t *testing.T) {
	kubeconfig, err := shared.cp.Kubeconfig(controlplane.StorageAdmin)
	if err != nil {
		t.Fatal(err)
	}
	a := makeTarget(t, "KUBECONFIG="+kubeconfig, "run")
	a.WaitFor("live", 3*time.Minute)
	a.Press("q")
	if code := a.WaitExit(screenTimeout); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestMakeDemo opens the demo, and re-uses a volume in it.
func TestMakeDemo(t *testing.T) {
	a := makeTarget(t, "", "demo")
	a.WaitFor("demo: nothing here is real", 3*time.Minute)
	a.find("example-pv")
	a.waitRow("Released")
	a.choose("r")
	a.waitDiff()
	a.Press("enter")
	a.finish()
	a.leave()
	a.waitRow("Reserved")
	step(t, "demo", a.Screen())
	a.Press("q")
	if code := a.WaitExit(screenTimeout); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestDemoWithKubectl: what is done in the demo is seen by kubectl.
func TestDemoWithKubectl(t *testing.T) {
	const address = "127.0.0.1:0"
	a := start(t, "", "--demo", "--demo-listen", address)
	a.find("example-pv")
	kubeconfig := regexp.MustCompile(`export KUBECONFIG=(\S+)`).FindStringSubmatch(a.Screen())
	if kubeconfig == nil {
		t.Fatalf("no kubeconfig is named:\n%s", a.Screen())
	}
	kubectl := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), shared.cp.KubectlPath(), args...)
		cmd.Env = append(environment(), "KUBECONFIG="+kubeconfig[1], "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if got := kubectl("get", "pv", "example-pv", "-o", "jsonpath={.status.phase}"); got != "Released" {
		t.Errorf("the phase is %s, want Released", got)
	}
	kubectl("patch", "pv", "example-pv", "--type=merge", "-p", `{"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`)
	a.waitRow("Reserved")
	a.quit()
	if _, err := os.Stat(kubeconfig[1]); !os.IsNotExist(err) {
		t.Errorf("the kubeconfig outlives the demo: %v", err)
	}
}

// TestMakePlayground opens the playground and looks at all of its phases.
func TestMakePlayground(t *testing.T) {
	a := makeTarget(t, "", "playground")
	a.WaitFor("live", 5*time.Minute)
	a.WaitUntil("volumes in every phase", settleTimeout, func(screen string) bool {
		return strings.Contains(screen, "Available") && strings.Contains(screen, "Released")
	})
	step(t, "playground", a.Screen())
	a.Press("q")
	if code := a.WaitExit(2 * time.Minute); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func makeTarget(t *testing.T, env, target string) *app {
	t.Helper()
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", target)
	cmd.Dir = root
	cmd.Env = environment()
	if env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	return &app{Terminal: terminal.Start(t, cmd, 120, 40), t: t}
}

package actions

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	corev1 "k8s.io/api/core/v1"
)

func TestKubectlGolden(t *testing.T) {
	for name, s := range map[string]*setup{
		"reserve":       world(Reserve),
		"reserve-other": world(Reserve, policy(remove), forClaim("lab", "copy")),
		"unreserve":     world(Unreserve, withClaim("thief", "uid-t")),
		"delete":        world(SetPolicy, toPolicy(remove), bound),
		"retain":        world(SetPolicy, toPolicy(keep), bound, policy(remove)),
		"blocked":       world(Unreserve, bound),
	} {
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, s.plan().Kubectl()) })
	}
}

// Names are data: run through a real shell, the script calls kubectl with the
// very words and does nothing else.
func TestKubectlIsShellSafe(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal("no shell here: make needs one, too")
	}
	for _, name := range []string{"disk", "it's", "a; echo OWNED", "$(echo OWNED)", "`echo OWNED`", "a\necho OWNED", "-n", "", "a b", "ä"} {
		s := world(Reserve, vol(func(pv *corev1.PersistentVolume) { pv.Name = name }))
		s.req.Volume.Name = name
		out, err := exec.CommandContext(t.Context(), sh, "-c",
			"kubectl() { printf '<%s>' \"$@\"; }\n"+s.plan().Kubectl()).CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", name, err, out)
		}
		want := "<patch><pv><" + name + "><--type=merge><-p><" + string(s.plan().Steps[0].Patch) + ">"
		if name == "-n" {
			want = strings.Replace(want, "<pv><-n>", "<pv/-n>", 1)
		}
		if string(out) != want {
			t.Errorf("%q: the shell ran %q, want %q", name, out, want)
		}
	}
}

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/claimref/claimref/kube"
)

func TestExitCode(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		code int
		says string
	}{
		"well":                     {nil, 0, ""},
		"interrupted":              {errInterrupted, 130, ""},
		"failed":                   {errors.New("no"), 1, "claimref: no\n"},
		"interrupted in the write": {errors.Join(errInterrupted, kube.ErrOutcomeUnknown), 1, "claimref: interrupted; "},
	} {
		var out strings.Builder
		if code := exitCode(tc.err, &out); code != tc.code || !strings.HasPrefix(out.String(), tc.says) || tc.says == "" && out.Len() > 0 {
			t.Errorf("%s: code %d and %q, want %d and %q", name, code, out.String(), tc.code, tc.says)
		}
		if strings.Count(out.String(), "\n") > 1 {
			t.Errorf("%s: more than one line: %q", name, out.String())
		}
	}
}

// TestKubectlFlags: the commands to copy reach the same cluster, and carry no
// secret.
func TestKubectlFlags(t *testing.T) {
	var out strings.Builder
	cmd := newCommand(&out)
	args := []string{"--kubeconfig", "/a b", "--as", "me", "--as-group", "x", "--as-group", "y", "--token", "secret", "-n", "shop", "--request-timeout", "5s"}
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	want := []string{"--kubeconfig=/a b", "--as=me", "--as-group=x", "--as-group=y"}
	if got := kubectlFlags(cmd.Flags()); !slices.Equal(got, want) {
		t.Errorf("flags are %q, want %q", got, want)
	}
}

func TestVersion(t *testing.T) {
	var out strings.Builder
	cmd := newCommand(&out)
	cmd.SetArgs([]string{"version"})
	if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.HasPrefix(out.String(), "claimref "+version) {
		t.Errorf("version prints %q, %v", out.String(), err)
	}
}

// TestProtectIsRead: a pattern that can't be read is said before anything else
// is done.
func TestProtectIsRead(t *testing.T) {
	cmd := newCommand(&strings.Builder{})
	cmd.SetArgs([]string{"--protect", "prod-*/*", "--protect", "[a-"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "--protect") || !strings.Contains(err.Error(), "[a-") {
		t.Errorf("error %v does not name the flag and the pattern", err)
	}
}

func TestUnknownTheme(t *testing.T) {
	cmd := newCommand(&strings.Builder{})
	cmd.SetArgs([]string{"--theme", "pink"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "pink") {
		t.Errorf("an unknown theme gives %v", err)
	}
}

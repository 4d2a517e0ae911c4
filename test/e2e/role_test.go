package e2e

import (
	"path/filepath"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/claimref/claimref/test/controlplane"
)

// TestClusterRole gives a user exactly the role that the README points to:
// nothing is hidden from them, and an action can be carried out.
func TestClusterRole(t *testing.T) {
	root, err := controlplane.RepositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(read(t, filepath.Join(root, "assets", "clusterrole.yaml"))), &role); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.cp.Grant(t.Context(), "role-user", "", role.Rules...); err != nil {
		t.Fatal(err)
	}
	c := inspect(t)
	class := c.class("role")
	c.released("role", "role-ns", "former", class)

	a := open(t, "role-user")
	a.find("role")
	a.waitRow("Released")
	a.loaded()
	for _, tab := range []string{"2", "3", "1"} {
		a.Press(tab)
		screen := a.waitSentence("live")
		for _, missing := range []string{"You may not", "Missing right"} {
			if contains(screen, missing) {
				t.Errorf("with the role something is missing:\n%s", screen)
			}
		}
	}
	a.Press("enter")
	a.WaitFor("PersistentVolume role", screenTimeout)
	// The events, which have a right of their own, are the last of it.
	a.Press("end")
	a.waitSentence("none kept")
	a.Press("esc")
	a.WaitFor("1 Volumes", screenTimeout)
	a.choose("r")
	a.waitDiff()
	a.Press("enter")
	a.finish()
	a.leave()
	a.waitRow("Reserved")
	a.quit()
}

// TestResize changes the size of the terminal under the program, below the
// minimum, too.
func TestResize(t *testing.T) {
	a := open(t, controlplane.StorageAdmin)
	a.loaded()
	for _, size := range []struct{ w, h int }{{80, 24}, {160, 45}, {40, 10}, {60, 15}, {120, 40}} {
		a.Resize(size.w, size.h)
		want := "? help"
		if size.w < 60 || size.h < 15 {
			want = "needs at least"
		}
		a.WaitFor(want, screenTimeout)
	}
	a.Press("ctrl+c")
	if code := a.WaitExit(screenTimeout); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

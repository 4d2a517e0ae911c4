package migration

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/claimref/claimref/actions/migration"
	"github.com/claimref/claimref/kube"
)

// ends are the pictures of a kind before and after it was carried out without
// a hitch, with the writes that it took.
type ends struct {
	before, after string
	steps         []string
}

// TestMigration proves each kind of operation: first without a hitch, which
// shows how it ends, and then with one.
func TestMigration(t *testing.T) {
	all := kinds()
	shared.tally.add(all)
	for i, k := range all {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			var e ends
			k.run(t, "uninterrupted", plain, func(w *world) { e = uninterrupted(w) })
			if t.Failed() {
				return // There is nothing to compare the others with.
			}
			random := rand.New(rand.NewPCG(shared.seed, uint64(i))) //nolint:gosec // a seed that can be given again
			crashes(t, k, e, random)
			loseAnswers(t, k, e, random)
			scaleBack(t, k, e, random)
			if shared.full || k.name == "claim" {
				k.parallel(t, "rivals", rivals, func(w *world) { meetRivals(w, e, len(e.steps)) })
				at := 1 + random.IntN(len(e.steps)-1)
				k.parallel(t, fmt.Sprintf("rivals, and undone after write %d", at), rivals, func(w *world) { meetRivals(w, e, at) })
			}
		})
	}
}

// run is one run of a kind, in a world of its own, as a subtest that is
// counted.
func (k kind) run(t *testing.T, name string, s sort, do func(w *world)) {
	t.Run(name, func(t *testing.T) { k.counted(t, s, do) })
}

// parallel is a run that goes on beside others.
func (k kind) parallel(t *testing.T, name string, s sort, do func(w *world)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		k.counted(t, s, do)
	})
}

func (k kind) counted(t *testing.T, s sort, do func(w *world)) {
	var w *world
	defer func() {
		var lost []string
		if w != nil {
			lost = w.lost()
		}
		if len(lost) > 0 {
			t.Errorf("the data of %v are lost", lost)
		}
		shared.tally.ended(t, k.name, s, len(lost))
	}()
	w = newWorld(t, k)
	do(w)
}

// sample draws some of all moments, without order; all of them in the full run.
func sample(random *rand.Rand, all, some int) []int {
	moments := random.Perm(all)
	if shared.full {
		return moments
	}
	return moments[:min(some, all)]
}

// begin is the errand that begins the operation of a world.
func (w *world) begin() errand {
	return errand{Kubeconfig: shared.kubeconfig, Who: "ann", Volume: w.volumes[0].Name, Request: w.request()}
}

// heir is the errand of another program, which goes on in a direction.
func (w *world) heir(d migration.Direction) errand {
	return errand{Kubeconfig: shared.kubeconfig, Who: "bob", Volume: w.volumes[0].Name, Direction: d}
}

// carryOut does an errand in this process.
func (w *world) carryOut(e errand, line *wire) (report, error) {
	return w.carryOutUntil(w.t.Context(), e, line)
}

// carryOutUntil does an errand in this process, until the context ends.
func (w *world) carryOutUntil(ctx context.Context, e errand, line *wire) (report, error) {
	dir := w.t.TempDir()
	return e.run(ctx, line, func(name string) string {
		if name == "XDG_STATE_HOME" || name == "HOME" {
			return dir
		}
		return ""
	})
}

// process does an errand in a process of its own, with a home of its own, and
// returns that. It may be killed.
func (w *world) process(e errand) (r report, home string, killed bool) {
	w.t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		w.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	home = w.t.TempDir()
	ctx, cancel := context.WithTimeout(w.t.Context(), runTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), errandEnv+"="+string(text), "HOME="+home, "XDG_STATE_HOME="+home)
	cmd.Stderr = logWriter{w.t}
	out, err := cmd.Output()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL && ctx.Err() == nil {
		return report{}, home, true
	}
	if err != nil {
		w.t.Fatalf("%s: %v", e.Who, err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		w.t.Fatalf("%s: %v: %s", e.Who, err, out)
	}
	return r, home, false
}

type logWriter struct{ t *testing.T }

func (l logWriter) Write(text []byte) (int, error) {
	l.t.Logf("%s", text)
	return len(text), nil
}

// backedUp looks whether a home has the backup of an operation.
func (w *world) backedUp(home string) error {
	dir, err := kube.BackupDir(func(string) string { return home }, os.UserHomeDir)
	if err != nil {
		return err
	}
	backups, err := kube.OpenBackups(dir)
	if err != nil {
		return err
	}
	all, err := backups.List()
	if err != nil || len(all) != 1 || all[0].Err != nil {
		return fmt.Errorf("there is no backup: %v, %w", all, err)
	}
	if lead := all[0].Journal.Lead(); lead != w.volumes[0].Name {
		return fmt.Errorf("the backup is that of volume %s", lead)
	}
	return nil
}

package differential

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

const (
	startTimeout = 35 * time.Minute // a cold build of the control plane is in it
	// agreeTimeout is how much longer the control plane may take to come to
	// where the sandbox is: some of its queues back off for several seconds.
	agreeTimeout = 20 * time.Second
	// atOnce is how many histories are played at the same time. They wait most
	// of the time.
	atOnce = 24
)

var (
	shared *realWorld
	// hostDir is where the volumes of the built-in plugin lie; it deletes only
	// below /tmp.
	hostDir string
)

// TestMain starts the control plane once.
func TestMain(m *testing.M) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	// By default as many tests run at once as there are processors.
	if err := flag.Set("test.parallel", strconv.Itoa(atOnce)); err != nil {
		return 1, fmt.Errorf("set how many tests run at once: %w", err)
	}
	if hostDir, err = os.MkdirTemp("/tmp", "claimref-differential-"); err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(hostDir) }()
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // TestMain has no test to take one from
	defer cancel()
	starting, started := context.WithTimeout(ctx, startTimeout)
	shared, err = startRealWorld(starting)
	started()
	if shared != nil {
		defer func() { _ = shared.cp.Stop() }()
	}
	if err != nil {
		return 1, err
	}
	defer cancel() // The watches end before what they watch.
	if err := shared.watch(ctx); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// full says whether everything is played, or what the short form has.
func full() bool { return os.Getenv("CLAIMREF_E2E") == "full" }

// TestHistories plays each history in both worlds.
func TestHistories(t *testing.T) {
	all := histories()
	var lagging []int
	var alone sync.Mutex
	acts := 0
	t.Run("together", func(t *testing.T) {
		for i, h := range all {
			if h.long && !full() {
				continue
			}
			acts += len(h.acts)
			if h.lags {
				lagging = append(lagging, i)
				continue
			}
			t.Run(h.name, func(t *testing.T) {
				t.Parallel()
				if h.alone {
					alone.Lock()
					defer alone.Unlock()
				}
				h.play(t, historyID(i))
			})
		}
	})
	shared.crowd.members = len(lagging)
	t.Run("lagging", func(t *testing.T) {
		for _, i := range lagging {
			t.Run(all[i].name, func(t *testing.T) {
				t.Parallel()
				defer shared.crowd.leave()
				all[i].play(t, historyID(i))
			})
		}
	})
	t.Logf("%d histories in all, %d acts played", len(all), acts)
}

func historyID(i int) string { return fmt.Sprintf("diff-%03d", i) }

// play plays a history in both worlds, act by act, until they differ.
func (h history) play(t *testing.T, id string) {
	t.Helper()
	model, err := newSandboxWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inSandbox, inReal := newPlay(t.Context(), model, id), newPlay(t.Context(), shared, id)
	for i, a := range append([]act{stage()}, h.acts...) {
		said, seen := inSandbox.run(t, a)
		really, is := inReal.run(t, a)
		if !a.unsettled && len(differences(is, seen)) > 0 {
			// Not to report a difference that is one of time only.
			is, err = shared.await(t.Context(), inReal.look, agreeTimeout, still, func(v view) (bool, error) {
				return len(differences(v, seen)) == 0, nil
			})
			if err == nil {
				t.Logf("act %d, %s: the control plane took its time", i, a.what)
			}
		}
		var lines []string
		for _, wrong := range a.check(really, is) {
			lines = append(lines, "real "+wrong)
		}
		for _, wrong := range a.check(said, seen) {
			lines = append(lines, "sandbox "+wrong)
		}
		for _, d := range differences(really, said) {
			lines = append(lines, "outcome "+d)
		}
		apart := differences(is, seen)
		if lines = append(lines, apart...); len(lines) > 0 {
			t.Errorf("%q, act %d, %s:\n\t%s", h.name, i, a.what, strings.Join(lines, "\n\t"))
		}
		if len(apart) > 0 {
			return // What follows would only differ for the same reason.
		}
	}
}

// each calls a function for the objects of a list.
func each(list runtime.Object, f func(object)) error {
	return meta.EachListItem(list, func(item runtime.Object) error {
		if o, ok := item.(object); ok {
			f(o)
		}
		return nil
	})
}

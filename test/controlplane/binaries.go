package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// errNoRepository means that no parent of the working directory is the
// repository.
var errNoRepository = errors.New("not inside the claimref repository")

// EnsureBinaries builds the control plane's programs that the cache does not
// hold yet, and returns the folder they are in. It says on progress what it is
// building, because a cold build takes a quarter of an hour. Several processes
// may call it at once: one builds, the others wait for it.
func EnsureBinaries(ctx context.Context, progress io.Writer) (string, error) {
	dir, err := binariesDir()
	if err != nil {
		return "", err
	}
	if len(missing(dir)) == 0 {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("create the cache of binaries: %w", err)
	}
	lock, err := lockFile(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return "", err
	}
	// Closing the file releases the lock.
	defer func() { _ = lock.Close() }()

	for _, b := range missing(dir) {
		fmt.Fprintf(progress, "building %s %s\n", b.name, Version)
		if err := build(ctx, b, dir); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// RepositoryRoot finds the root of the repository from the working directory.
func RepositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, modulePath())); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errNoRepository
		}
		dir = parent
	}
}

// modulePath is where the module of the binaries is, from the root of the
// repository. No other folder looks like that, so it also marks the root.
func modulePath() string {
	return filepath.Join("test", "controlplane", "binaries", "go.mod")
}

// CacheDir is the folder for what is costly to make and safe to lose.
func CacheDir() (string, error) {
	if dir := os.Getenv(cacheEnv); dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", cacheEnv, err)
		}
		return abs, nil
	}
	root, err := RepositoryRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, ".cache"), nil
}

func binariesDir() (string, error) {
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "controlplane", Version), nil
}

func missing(dir string) []binary {
	var out []binary
	for _, b := range binaries() {
		if _, err := os.Stat(filepath.Join(dir, b.name)); err != nil {
			out = append(out, b)
		}
	}
	return out
}

// build writes to a temporary name first: a build that was interrupted must
// not look like a program.
func build(ctx context.Context, b binary, dir string) error {
	root, err := RepositoryRoot()
	if err != nil {
		return fmt.Errorf("build %s: %w", b.name, err)
	}
	temporary := filepath.Join(dir, "."+b.name+".tmp")
	module := filepath.Dir(filepath.Join(root, modulePath()))
	if err := goBuild(ctx, module, temporary, b.pkg, "-ldflags", linkFlags()); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(dir, b.name)); err != nil {
		return fmt.Errorf("build %s: %w", b.name, err)
	}
	return nil
}

// goBuild builds a package of a module.
func goBuild(ctx context.Context, module, output, pkg string, flags ...string) error {
	args := slices.Concat([]string{"build", "-trimpath", "-o", output}, flags, []string{pkg})
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// linkFlags give the programs the version that a release would have: clients
// and controllers read it.
func linkFlags() string {
	const pkg = "k8s.io/component-base/version"
	major, rest, _ := strings.Cut(strings.TrimPrefix(Version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	return fmt.Sprintf("-s -w -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s",
		pkg, Version, major, minor)
}

// lockFile takes an exclusive lock on a file, waiting for other holders. The
// kernel drops the lock with its holder, so a killed build leaves none behind.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	err = wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(context.Context) (bool, error) {
		return tryLock(file)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return file, nil
}

func tryLock(file *os.File) (bool, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// exists reports whether there is something at path; it errs on the side of
// yes, because it is asked to find out whether data is gone.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

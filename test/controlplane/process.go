package controlplane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// logTail is how much of a program's log goes into an error message.
const logTail = 2 << 10

// process is a running program of the control plane.
type process struct {
	name string
	log  string
	pid  int
	// done is closed when the program has ended and was waited for.
	done chan struct{}
}

// startProcess runs a program in a process group of its own, so that a Ctrl-C
// meant for the test does not reach it before the ordered stop.
func startProcess(path, logDir string, args []string) (*process, error) {
	name := filepath.Base(path)
	p := &process{name: name, log: filepath.Join(logDir, name+".log"), done: make(chan struct{})}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	// The program outlives the context that it was started under; its end is
	// stop's business.
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = processAttributes()

	started := make(chan error)
	go func() {
		defer func() { _ = out.Close() }()
		// Linux ties "die with the parent" to the parent's thread, not to the
		// process. This goroutine keeps its thread until the program ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		p.pid = cmd.Process.Pid
		started <- nil
		// How the program ended is in its log; here only the end counts.
		_ = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

func (p *process) signal(sig syscall.Signal) error {
	select {
	case <-p.done:
		// The number may already belong to somebody else.
		return nil
	default:
	}
	if err := syscall.Kill(-p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// stop asks the program to end and kills it after the grace.
func (p *process) stop(grace time.Duration) error {
	if p == nil {
		return nil
	}
	// A paused program would sleep through a SIGTERM.
	err := errors.Join(p.signal(syscall.SIGTERM), p.signal(syscall.SIGCONT))
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return err
	case <-timer.C:
	}
	err = errors.Join(err, p.signal(syscall.SIGKILL))
	<-p.done
	return err
}

// ended is the error of a program that should still be running.
func (p *process) ended() error {
	tail := p.tail()
	if bytes.Contains(tail, []byte("address already in use")) {
		return fmt.Errorf("%s: %w", p.name, errPortTaken)
	}
	return fmt.Errorf("%s ended early, its log ends with:\n%s", p.name, tail)
}

func (p *process) tail() []byte {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return data[max(0, len(data)-logTail):]
}

// waitReady polls ready until it is true; it gives up when the program ends.
func (p *process) waitReady(ctx context.Context, ready func(context.Context) bool) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if ready(ctx) {
			return nil
		}
		select {
		case <-p.done:
			return p.ended()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; its log ends with:\n%s", p.name, ctx.Err(), p.tail())
		case <-ticker.C:
		}
	}
}

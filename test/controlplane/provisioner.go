package controlplane

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/claimref/claimref/test/controlplane/folders"
)

const provisionerBinary = "folders-provisioner"

// Provisioner is the running provisioner of volumes that are folders; see
// package folders. Storage classes name it by folders.Name.
type Provisioner struct {
	cp   *ControlPlane
	root string
}

// StartProvisioner runs the provisioner until Stop. Calling it again returns
// the one that runs.
func (cp *ControlPlane) StartProvisioner(ctx context.Context) (*Provisioner, error) {
	cp.mu.Lock()
	defer cp.mu.Unlock()
	p := &Provisioner{cp: cp, root: cp.folder.volumes()}
	if cp.provisioner != nil {
		return p, nil
	}
	program, err := ensureProvisioner(ctx)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := cp.Kubeconfig(userProvisioner)
	if err != nil {
		return nil, err
	}
	cp.provisioner, err = cp.launch(program, []string{"--kubeconfig=" + kubeconfig, "--root=" + p.root})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// ensureProvisioner builds the provisioner. Unlike the control plane's programs
// it is part of this module and may have changed, so the go command decides
// whether there is anything to do.
func ensureProvisioner(ctx context.Context) (string, error) {
	dir, err := binariesDir()
	if err != nil {
		return "", err
	}
	root, err := RepositoryRoot()
	if err != nil {
		return "", fmt.Errorf("build %s: %w", provisionerBinary, err)
	}
	lock, err := lockFile(ctx, filepath.Join(dir, ".lock-"+provisionerBinary))
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	program := filepath.Join(dir, provisionerBinary)
	if err := goBuild(ctx, filepath.Join(root, "test"), program, "./cmd/"+provisionerBinary); err != nil {
		return "", err
	}
	return program, nil
}

// Pause freezes the provisioner, as if it lagged.
func (p *Provisioner) Pause() error { return p.signal(syscall.SIGSTOP) }

// Resume lets a paused provisioner go on.
func (p *Provisioner) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Provisioner) signal(sig syscall.Signal) error {
	p.cp.mu.Lock()
	defer p.cp.mu.Unlock()
	return p.cp.provisioner.signal(sig)
}

// SentinelPath is the file that stands for the data of the volume that was
// provisioned under that name (its CSI volume handle).
func (p *Provisioner) SentinelPath(volume string) string {
	return folders.Sentinel(p.root, volume)
}

// SentinelExists reports whether the data of a volume is still there.
func (p *Provisioner) SentinelExists(volume string) bool {
	return exists(p.SentinelPath(volume))
}

// AddFolder makes a folder with a sentinel for a volume that is not
// provisioned but described by a PersistentVolume with that volume handle.
func (p *Provisioner) AddFolder(handle string) error {
	return folders.Add(p.root, handle)
}

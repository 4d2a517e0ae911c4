package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	folderPrefix = "claimref-controlplane-"
	// ownerLock is held by the process that uses a folder, so that the folder
	// of a killed test can be told from one in use.
	ownerLock = "owner.lock"
)

// folder is the temporary folder under which a control plane keeps everything.
type folder struct {
	path string
	lock *os.File
}

func newFolder() (*folder, error) {
	sweep(os.TempDir())
	path, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("create the folder of the control plane: %w", err)
	}
	f := &folder{path: path}
	if err := f.own(); err != nil {
		return nil, errors.Join(err, f.remove())
	}
	for _, sub := range []string{f.certs(), f.logs(), f.etcd(), f.volumes(), f.kubeconfigs()} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("create %s: %w", sub, err), f.remove())
		}
	}
	return f, nil
}

// own locks a file before it gets the name that sweep looks for: a sweep never
// sees the file unlocked while its owner lives.
func (f *folder) own() error {
	temporary := filepath.Join(f.path, ownerLock+".tmp")
	lock, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("own %s: %w", f.path, err)
	}
	f.lock = lock
	if locked, err := tryLock(lock); err != nil || !locked {
		return fmt.Errorf("own %s: locked=%t: %w", f.path, locked, err)
	}
	if err := os.Rename(temporary, filepath.Join(f.path, ownerLock)); err != nil {
		return fmt.Errorf("own %s: %w", f.path, err)
	}
	return nil
}

func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
		f.lock = nil
	}
	return err
}

func (f *folder) certs() string       { return filepath.Join(f.path, "certs") }
func (f *folder) logs() string        { return filepath.Join(f.path, "logs") }
func (f *folder) etcd() string        { return filepath.Join(f.path, "etcd") }
func (f *folder) volumes() string     { return filepath.Join(f.path, "volumes") }
func (f *folder) kubeconfigs() string { return filepath.Join(f.path, "kubeconfigs") }
func (f *folder) tokens() string      { return filepath.Join(f.path, "tokens.csv") }
func (f *folder) serviceKey() string  { return filepath.Join(f.path, "service-accounts.key") }
func (f *folder) caBundle() string    { return filepath.Join(f.certs(), "apiserver.crt") }

// sweep removes the folders of tests that were killed. It is a courtesy to the
// machine, so it stays silent about what it cannot remove.
func sweep(parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, folderPrefix+"*", ownerLock))
	if err != nil {
		return
	}
	for _, path := range locks {
		lock, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if free, err := tryLock(lock); err == nil && free {
			_ = os.RemoveAll(filepath.Dir(path))
		}
		_ = lock.Close()
	}
}

package kube

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadReport reads what an operation has come to, as Report has written it;
// empty when it has not come to an end on this machine.
func (b *Backups) ReadReport(path string) (string, error) {
	text, err := os.ReadFile(filepath.Join(path, reportFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", b.problem("read", path, err)
	}
	return string(text), nil
}

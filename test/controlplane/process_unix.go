//go:build unix && !linux

package controlplane

import "syscall"

// processAttributes makes a program the leader of its own process group.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

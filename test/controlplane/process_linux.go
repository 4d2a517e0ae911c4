package controlplane

import "syscall"

// processAttributes makes a program the leader of its own process group and
// has the kernel end it with the process that started it, even if that one is
// killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

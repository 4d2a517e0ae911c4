package terminal

import "syscall"

// processAttributes has the kernel end the program with the test, even if the
// test is killed.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

//go:build unix && !linux

package terminal

import "syscall"

func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{}
}

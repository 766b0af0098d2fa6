//go:build unix && !linux

package model

import "syscall"

// dieWithUs does nothing where the kernel has no such service.
func dieWithUs(*syscall.SysProcAttr) {}

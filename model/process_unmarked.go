//go:build unix && !linux

package model

import "syscall"

// dieWithUs does nothing where the kernel has no such service.
func dieWithUs(*syscall.SysProcAttr) {}

// killMarked does nothing where a process's environment cannot be read: a process that
// left its group survives.
func killMarked(string) {}

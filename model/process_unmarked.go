//go:build unix && !linux

package model

import "syscall"

// dieWithUs does nothing where the kernel has no such service.
func dieWithUs(*syscall.SysProcAttr) {}

// killMarked does nothing where the environment of a process cannot be seen: there a
// process that left its group survives.
func killMarked(string) {}

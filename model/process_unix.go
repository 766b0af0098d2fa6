//go:build unix

package model

import (
	"os/exec"
	"syscall"
)

// own makes a command the head of a session of its own: it has no terminal to ask at,
// and ends with all that it started.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	dieWithUs(cmd.SysProcAttr)
}

func terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killAll(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

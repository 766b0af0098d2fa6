//go:build unix

package pipeline

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command at the head of a process group, so that it ends with what it
// started.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

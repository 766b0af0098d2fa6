//go:build unix

package model

import (
	"io/fs"
	"os"
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

// mine reports whether a directory was made by a process of this user, for nobody else.
func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm() == 0o700
}

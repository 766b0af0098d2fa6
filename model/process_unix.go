//go:build unix

package model

import (
	"os/exec"
	"reflect"
	"syscall"
)

// own makes a command the leader of a new session: it has no terminal to prompt on, and its
// children can be ended with it.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Linux kills the program when our process is killed: otherwise it would continue to make paid requests.
	if field := reflect.ValueOf(cmd.SysProcAttr).Elem().FieldByName("Pdeathsig"); field.IsValid() {
		field.SetInt(int64(syscall.SIGKILL))
	}
}

func terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killAll(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

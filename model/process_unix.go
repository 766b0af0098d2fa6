//go:build unix

package model

import (
	"os/exec"
	"reflect"
	"syscall"
)

// own makes a command the head of a session of its own: it has no terminal to ask at,
// and ends with all that it started.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Where the system can, which is Linux, it kills the program when we are killed: nobody is
	// left to hear what it would go on asking and be paid for.
	if field := reflect.ValueOf(cmd.SysProcAttr).Elem().FieldByName("Pdeathsig"); field.IsValid() {
		field.SetInt(int64(syscall.SIGKILL))
	}
}

func terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killAll(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
